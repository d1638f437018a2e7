"""Smaller copies of models: what scores do not depend on is removed first."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

import matese
from matese.annotation import Rating, Segment
from matese.cli import main
from matese.model import loading
from matese.model.loading import AnyNetwork
from matese.model.network import Network
from matese.training import shrinking
from tests.conftest import TinyModelFactory
from tests.training.material import RATINGS, write_ratings

COMET = Path(__file__).parent.parent / "model" / "released" / "comet"
SEGMENTS = tuple(Segment(one.segment.hypothesis, one.segment.source, one.segment.references[:1]) for one in RATINGS)


def scores(model: Path) -> list[float]:
    annotator = matese.load(model, precision="float32", device="cpu", threads=1)
    return [rating.estimate.value for rating in annotator.annotate_segments(SEGMENTS) if rating.estimate]


def write(directory: Path, network: AnyNetwork, tokenizer: Any) -> Path:
    loading.save(directory, network, tokenizer, card="# A model\n")
    return directory


@pytest.fixture
def texts(tmp_path: Path) -> str:
    return str(write_ratings(tmp_path / "texts.jsonl", tuple(Rating(segment, None, None) for segment in SEGMENTS)))


def without_use(whole: Path) -> list[int]:
    """Takes the influence from all heads but the last one and from every second unit; returns the other units."""
    with safe_open(whole / "model.safetensors", "pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        metadata = file.metadata()
    encoder = json.loads((whole / "config.json").read_text())["encoder"]
    width = encoder["hidden_size"] // encoder["num_attention_heads"]
    for name, tensor in tensors.items():
        if name.startswith("encoder.encoder.layer.") and name.endswith("attention.output.dense.weight"):
            tensor[:, : encoder["hidden_size"] - width] = 0
        elif name.startswith("encoder.encoder.layer.") and name.endswith(".output.dense.weight"):
            tensor[:, ::2] = 0
    save_file(tensors, whole / "model.safetensors", metadata)
    return list(range(1, encoder["intermediate_size"], 2))


@pytest.mark.parametrize("name", ["estimator", "referenceless", "ranking", "unite", "unified-words", "tagger"])
def test_heads_and_units_without_influence_are_removed(
    name: str, tmp_path: Path, texts: str, tiny_model_factory: TinyModelFactory
) -> None:
    whole = tmp_path / "whole"
    if name == "tagger":
        shutil.copytree(tiny_model_factory("t", score={}, separate_layers=1, inputs=["source+reference"]), whole)
    else:
        write(whole, *loading.load(COMET / name))
    units = without_use(whole)
    importance = shrinking.measure(matese.load(whole, precision="float32", device="cpu"), SEGMENTS)
    for layer_heads in importance.heads:
        assert [number for number, value in enumerate(layer_heads.tolist()) if value > 1e-9] == [len(layer_heads) - 1]
    assert all(set(np.flatnonzero(layer_heads.numpy() > 1e-12)) <= set(units) for layer_heads in importance.units)
    options = ["--heads", "1", "--inner-width", str(len(units)), "--data", texts, "--output", str(tmp_path / "small")]
    assert main(["shrink", str(whole), *options]) == 0
    np.testing.assert_allclose(scores(tmp_path / "small"), scores(whole), atol=2e-6)
    smaller, larger = (path.joinpath("model.safetensors").stat().st_size for path in (tmp_path / "small", whole))
    assert smaller < larger
    assert (tmp_path / "small" / "README.md").read_text().startswith("# Smaller copy of ")
    if name == "tagger":  # a few segments are computed by numpy
        few = matese.load(tmp_path / "small", n_segments=3).annotate_segments(SEGMENTS[:3])
        expected = scores(whole)[:3]
        assert [rating.estimate.value for rating in few if rating.estimate] == pytest.approx(expected, abs=1e-4)


def test_the_lowest_layers_of_a_tagger_are_kept(tmp_path: Path, tiny_model_factory: TinyModelFactory) -> None:
    whole = tiny_model_factory("layers", separate_layers=2, inputs=["source"])
    small = tmp_path / "small"
    assert main(["shrink", str(whole), "--layers", "1", "--output", str(small)]) == 0
    config = json.loads((small / "config.json").read_text())
    assert (config["encoder"]["num_hidden_layers"], config["model"]["texts"]["separate_layers"]) == (1, 1)
    assert len(scores(small)) == len(SEGMENTS)


def test_the_mean_of_two_models(
    tmp_path: Path, tiny_model_factory: TinyModelFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    first = tiny_model_factory("one", separate_layers=2, inputs=["source"])
    second = tmp_path / "other"
    shutil.copytree(first, second)
    with safe_open(first / "model.safetensors", "pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        metadata = file.metadata()
    save_file({name: tensor + 1 for name, tensor in tensors.items()}, second / "model.safetensors", metadata)
    mixed = tmp_path / "mixed"
    assert main(["shrink", str(first), "--mean-with", str(second), "--share", "0.25", "--output", str(mixed)]) == 0
    with safe_open(mixed / "model.safetensors", "pt") as file:
        for name, tensor in tensors.items():
            torch.testing.assert_close(file.get_tensor(name), tensor + 0.25)
    assert "mean with other" in (mixed / "README.md").read_text()
    shallow = tiny_model_factory("shallow", separate_layers=1, inputs=["source"], extra=2)
    assert main(["shrink", str(first), "--mean-with", str(shallow), "--output", str(mixed)]) == 2
    assert "a mean needs two models of one shape" in capsys.readouterr().err


def test_layers_that_are_not_mixed_are_dropped(tmp_path: Path) -> None:
    network, tokenizer = loading.load(COMET / "estimator")
    assert isinstance(network, Network)
    mix = network.mix
    assert mix is not None
    with torch.no_grad():
        mix.weights[-1] = -1e4
    whole = write(tmp_path / "whole", network, tokenizer)
    n_layers = network.encoder.config.num_hidden_layers
    small = tmp_path / "small"
    assert main(["shrink", str(whole), "--layers", str(n_layers - 1), "--output", str(small)]) == 0
    np.testing.assert_allclose(scores(small), scores(whole), atol=2e-6)
    assert json.loads((small / "config.json").read_text())["encoder"]["num_hidden_layers"] == n_layers - 1


def test_bytes_instead_of_floats_change_scores_little(tmp_path: Path) -> None:
    small = tmp_path / "small"
    assert main(["shrink", str(COMET / "estimator"), "--int8", "--output", str(small)]) == 0
    whole = np.array(scores(COMET / "estimator"))
    assert np.abs(np.array(scores(small)) - whole).max() <= 0.05 * max(1e-6, np.ptp(whole))


@pytest.mark.parametrize(
    ("model", "options", "problem"),
    [
        ("estimator", [], "no size is given"),
        ("estimator", ["--heads", "1"], "--heads, --inner-width and --pieces"),
        ("estimator", ["--layers", "99"], "layers 99"),
        ("estimator", ["--layers", "0"], "--layers: '0'"),
        ("unite-bert", ["--layers", "1"], "a model with an encoder of type bert cannot be shrunk"),
        ("mini", ["--layers", "13"], "layers 13"),
        ("nowhere", ["--layers", "1"], "no model "),
    ],
)
def test_what_cannot_be_made_smaller(
    model: str, options: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = model if model == "mini" else str(COMET / model)
    assert main(["shrink", name, *options, "--output", str(tmp_path / "small")]) == 2
    assert problem in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "small").exists()


def test_a_text_must_have_what_the_model_reads() -> None:
    annotator = matese.load(COMET / "estimator", precision="float32", device="cpu")
    lacking = Segment("a", "b")
    whole = Segment("a", "b", ("c",))
    long = Segment("a " * 600, "b", ("c",))
    for texts in ([lacking], []):
        with pytest.raises(ValueError, match=r"none of [01] texts can be read at once; .* with source\+refer"):
            shrinking.measure(annotator, texts)
    importance = shrinking.measure(annotator, [lacking, whole, long])
    alone = shrinking.measure(annotator, [whole])
    assert (importance.n_skipped, torch.equal(importance.heads, alone.heads)) == (2, True)
