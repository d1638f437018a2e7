"""Released COMET models against what unbabel-comet 2.2.7 computes with them (`comet/make.py`), and broken ones."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

import matese
from matese.annotation import Severity
from matese.errors import ModelError
from matese.model import loading
from matese.model.heads.word_labels import decoding as spans
from matese.model.model_input import ModelInput
from matese.model.released import comet_checkpoint
from matese.model.storage import checkpoint
from tests.model.released.compare import read_expected, segments

COMET = Path(__file__).parent / "comet"
EXPECTED = read_expected(COMET)
CASES = [(name, inputs) for name, found in EXPECTED["models"].items() for inputs in found]
MARKING = [(name, inputs) for name, inputs in CASES if "labels" in EXPECTED["models"][name][inputs]]


def load(directory: Path) -> matese.Annotator:
    return matese.load(directory, precision="float32", device="cpu")


@lru_cache(maxsize=1)  # the cases of a model follow each other
def released(name: str) -> matese.Annotator:
    return load(COMET / name)


@pytest.mark.parametrize(("name", "inputs"), CASES)
def test_scores_are_those_of_unbabel_comet(name: str, inputs: str) -> None:
    ratings = list(released(name).annotate_segments(segments(EXPECTED["texts"], inputs)))
    scores = [rating.estimate.value for rating in ratings if rating.estimate]
    np.testing.assert_allclose(scores, EXPECTED["models"][name][inputs]["scores"], atol=2e-6)
    assert {rating.estimate.scale for rating in ratings if rating.estimate} == {"comet"}
    assert {rating.errors is None for rating in ratings} == {(name, inputs) not in MARKING}


@pytest.mark.parametrize(("name", "inputs"), MARKING)
def test_labels_are_those_of_unbabel_comet_and_spans_are_exact(name: str, inputs: Any) -> None:
    annotator = released(name)
    texts = segments(EXPECTED["texts"], inputs)
    expected = EXPECTED["models"][name][inputs]
    seen: list[list[int]] = []
    choose = spans.choose_labels

    def note(probabilities: Any, min_confidence: float | None) -> list[int]:
        seen.append(choose(probabilities, min_confidence))
        return seen[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spans, "choose_labels", note)
        for segment, labels in zip(texts, expected["labels"], strict=True):
            seen.clear()
            assert ModelInput.of(segment, inputs)
            (rating,) = annotator.annotate_segments([segment])
            assert all(seen_labels == labels for seen_labels in seen)
            text = segment.hypothesis
            for error in rating.errors or ():
                assert text[error.start : error.end].strip() == text[error.start : error.end] != ""
            # Two touching spans are of different severity.
            pairs = zip((rating.errors or ())[:-1], (rating.errors or ())[1:], strict=True)
            assert all(a.end < b.start or a.severity != b.severity or text[a.end : b.start] for a, b in pairs)
    severities = {error.severity for rating in annotator.annotate_segments(texts) for error in rating.errors or ()}
    assert severities == {Severity.MINOR, Severity.MAJOR, *([Severity.CRITICAL] if name == "xcomet" else [])}


def test_the_threshold_marks_more_or_less() -> None:
    texts = segments(EXPECTED["texts"], "source+reference")
    n_errors = {}
    for threshold in (None, 0.05, 0.95):
        annotator = matese.load(
            COMET / "xcomet", precision="float32", choice=matese.DecodingChoice(min_confidence=threshold)
        )
        n_errors[threshold] = sum(len(rating.errors or ()) for rating in annotator.annotate_segments(texts))
        expected = "argmax" if threshold is None else f"{threshold:g}"
        assert f"decode:{expected}+inputs0.1667+0.3333+0.5|" in annotator.signature("source+reference")
    assert n_errors[0.95] < n_errors[None]


def test_a_converted_model_is_the_same_and_needs_no_other_file(tmp_path: Path) -> None:
    for name in ("estimator", "estimator-norm", "xcomet"):
        source = tmp_path / name
        shutil.copytree(COMET / name, source)
        shutil.copytree(COMET / "encoders", tmp_path / "encoders", dirs_exist_ok=True)
        (source / "README.md").write_text("---\nlicense: cc-by-nc-sa-4.0\n---\n# Model\n", encoding="utf-8")
        target = tmp_path / f"{name}-converted"
        loading.convert(source, target, name=f"Org/{name}")
        shutil.rmtree(tmp_path / "encoders")
        card = (target / "README.md").read_text(encoding="utf-8")
        assert "license: cc-by-nc-sa-4.0" in card
        assert "| Licence | cc-by-nc-sa-4.0 |" in card
        texts = segments(EXPECTED["texts"], "source+reference")
        ratings = list(load(target).annotate_segments(texts))
        scores = [rating.estimate.value for rating in ratings if rating.estimate]
        np.testing.assert_allclose(scores, EXPECTED["models"][name]["source+reference"]["scores"], atol=2e-6)
        with pytest.raises(ModelError, match="is a model of matese already; give a released model"):
            loading.convert(target, tmp_path / "again", name="again")


def test_settings_of_a_converted_model_can_be_changed(tmp_path: Path) -> None:
    loading.convert(COMET / "xcomet", tmp_path / "own", name="xcomet")
    path = tmp_path / "own" / checkpoint.CONFIG
    config = json.loads(path.read_text(encoding="utf-8"))
    config["model"]["heads"]["quality"]["score_weights"] = [0, 0, 1, 0]
    config["model"]["heads"]["word_labels"]["input_weights"] = [0, 0, 1]
    config["model"]["decoding"]["min_confidence"] = 0.3
    path.write_text(json.dumps(config), encoding="utf-8")
    annotator = load(tmp_path / "own")
    texts = segments(EXPECTED["texts"], "source+reference")
    list(annotator.annotate_segments(texts))
    signature = annotator.signature("source+reference")
    assert "decode:0.3+inputs0+0+1|" in signature
    assert "score:unified0+0+1+0|" in signature


Breaker = Callable[[Path], object]


def change_hparams(**changes: object) -> Breaker:
    """Returns what changes hyperparameters in hparams.yaml and in the checkpoint."""

    def change(directory: Path) -> None:
        path = directory / "hparams.yaml"
        path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), **changes}), encoding="utf-8")
        stored = torch.load(directory / "checkpoints" / "model.ckpt", weights_only=True)
        stored["hyper_parameters"] |= changes
        torch.save(stored, directory / "checkpoints" / "model.ckpt")

    return change


class Harmful:
    def __reduce__(self) -> tuple[Any, ...]:
        return print, ("code of the checkpoint runs",)


def add_code(directory: Path) -> None:
    path = directory / "checkpoints" / "model.ckpt"
    torch.save({**torch.load(path, weights_only=True), "callbacks": Harmful()}, path)


def cut(directory: Path) -> None:
    path = directory / "checkpoints" / "model.ckpt"
    path.write_bytes(path.read_bytes()[:5000])


def keep_a_pickle(directory: Path) -> None:
    (directory / "checkpoints" / "model.ckpt").write_bytes(pickle.dumps({"state_dict": Harmful()}))


def empty_state(directory: Path) -> None:
    torch.save({"weights": {}}, directory / "checkpoints" / "model.ckpt")


LAUGHS = "a: &a [1, 1]\n" + "".join(f"{n}: &{n} [{', '.join([f'*{m}'] * 9)}]\n" for m, n in pairwise("abcdefgh"))


def hparams(text: str) -> Breaker:
    """Returns what replaces hparams.yaml."""
    return lambda directory: (directory / "hparams.yaml").write_text(text, encoding="utf-8")


def without(name: str) -> Breaker:
    return lambda directory: (directory / name).unlink()


BROKEN: dict[str, tuple[Breaker, str]] = {
    "unknown class": (change_hparams(class_identifier="unified_metrics"), "'unified_metrics', did you mean 'unified_"),
    "another class": (change_hparams(class_identifier="ranking_metric"), "missing or unexpected, such as quality_head"),
    "head of other sizes": (
        change_hparams(hidden_sizes=[24, 13]),
        r"quality_head.2.weight is \(12, 24\): must be \(13",
    ),
    "more layers": (change_hparams(hidden_sizes=[24, 12, 6]), "2 tensors are missing .* quality_head.6"),
    "layer beyond the encoder": (change_hparams(layer=9), "layers.mix 9: must be from 0 to 3"),
    "layer that is none": (change_hparams(layer="best"), "layer 'best'"),
    "one layer instead of the mix": (change_hparams(layer=2), "2 tensors are missing .* mix.gamma"),
    "unknown pooling": (change_hparams(pool="sum"), "pool 'sum'"),
    "unknown activation": (change_hparams(activations="Softmax"), "activation: Invalid enum value 'Softmax'"),
    "unknown encoder": (change_hparams(encoder_model="T5"), "encoder_model 'T5'"),
    "other encoder": (change_hparams(encoder_model="BERT"), "model_type 'xlm-roberta'; must be 'bert'"),
    "a path of Windows": (
        change_hparams(pretrained_model=r"C:\models\xlmr-of-mine"),
        "estimator/xlmr-of-mine",
    ),
    "a path of another machine": (change_hparams(pretrained_model="../../other/xlmr2/"), "encoder ../../other/xlmr2/"),
    "code": (add_code, "holds more than tensors and plain values"),
    "a bare pickle": (keep_a_pickle, "holds more than tensors and plain values|is corrupt or incomplete"),
    "half a checkpoint": (cut, "model.ckpt is corrupt or incomplete"),
    "no state": (empty_state, "model.ckpt has no state_dict"),
    "half a download": (without("checkpoints/model.ckpt"), "model.ckpt is missing"),
    "no YAML": (hparams("a: ["), "hparams.yaml is corrupt"),
    "nested thousands of times": (hparams("[" * 5000), "hparams.yaml is corrupt"),
    "aliases of aliases": (hparams(LAUGHS), "hparams.yaml is corrupt: more than 100,000 values"),
    "a list": (hparams("- a"), "hparams.yaml: must map"),
    "no model at all": (without("hparams.yaml"), "hparams.yaml is missing: the download is incomplete"),
}


@pytest.mark.parametrize(("breaker", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_models_are_refused_with_the_reason(
    breaker: Breaker, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(COMET / "encoders", tmp_path / "encoders")
    directory = tmp_path / "estimator"
    shutil.copytree(COMET / "estimator", directory)
    breaker(directory)
    with pytest.raises(ModelError, match=message) as caught:
        load(directory)
    assert "\n" not in str(caught.value)
    assert capsys.readouterr().out == ""


def test_an_encoder_of_another_machine_may_stand_beside_the_checkpoint(tmp_path: Path) -> None:
    shutil.copytree(COMET / "estimator", tmp_path / "estimator")
    change_hparams(pretrained_model=r"D:\own\tiny")(tmp_path / "estimator")
    shutil.copytree(COMET / "encoders" / "xlmr", tmp_path / "estimator" / "tiny")
    release = comet_checkpoint.read(tmp_path / "estimator")
    assert release.tokenizer == tmp_path / "estimator" / "tiny"


@pytest.mark.parametrize(
    ("name", "inputs", "message"),
    [
        ("estimator", "reference", "model estimator@.* needs a source and a reference"),
        ("referenceless", "reference", "needs a source: given reference"),
        ("kiwi", "reference", "needs a source: given reference"),
        ("ranking", "source", "needs a source and a reference: given source"),
    ],
)
def test_a_missing_text_is_named(name: str, inputs: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        list(released(name).annotate_segments(segments(EXPECTED["texts"][:1], inputs)))
