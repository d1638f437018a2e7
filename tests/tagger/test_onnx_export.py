from __future__ import annotations

import builtins
import shutil
from pathlib import Path
from typing import Any

import pytest

import matese
from matese.encoder import checkpoint
from matese.errors import ModelError
from matese.tagger import onnx_export
from matese.tagger.loading import load_tagger
from tests.conftest import TinyModelFactory
from tests.test_annotator import places, random_segments

onnxruntime = pytest.importorskip("onnxruntime", reason="pip install 'matese[onnx]'")
pytest.importorskip("onnxscript", reason="pip install 'matese[onnx]'")

SETTINGS: tuple[dict[str, Any], ...] = (
    {"score_head": True, "score_pooling": "texts", "omission_head": True, "max_tokens": 100},
    {"layer_mix": "sum-last-4", "extra_layers": 2, "category_head": True},
    {"separate_layers": 1, "score_head": True},
)


@pytest.fixture(scope="module")
def pair(tiny_model_factory: TinyModelFactory, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A model and what was exported of it."""
    directory = tiny_model_factory(inputs=("reference", "source"), **SETTINGS[0])
    output = tmp_path_factory.mktemp("exported") / "tiny-onnx"
    onnx_export.export(directory, output)
    return directory, output


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_spans_are_those_of_torch(
    settings: dict[str, Any], tiny_model_factory: TinyModelFactory, tmp_path: Path
) -> None:
    directory = tiny_model_factory(inputs=("reference", "source"), **settings)
    onnx_export.export(directory, tmp_path / "out")
    segments = random_segments(60)
    in_torch = list(matese.load(directory, precision="float32").annotate_segments(segments))
    runtime = matese.load(tmp_path / "out", batch_tokens=700)
    assert not list(tmp_path.glob(".*"))
    in_onnx = list(runtime.annotate_segments(segments))
    assert places(in_onnx) == places(in_torch)
    assert sum(map(len, places(in_onnx))) > 50
    for one, other in zip(in_torch, in_onnx, strict=True):
        assert one.estimate is not None
        assert other.estimate is not None
        assert other.estimate.value == pytest.approx(one.estimate.value, abs=2e-3)
        assert [omission.start for omission in other.omissions] == [omission.start for omission in one.omissions]


def test_the_signature_tells_them_apart(pair: tuple[Path, Path]) -> None:
    directory, output = pair
    assert checkpoint.fingerprint(output) != checkpoint.fingerprint(directory)
    signature = matese.load(output).signature("source")
    assert signature.startswith(f"matese|model:tiny-onnx@{checkpoint.fingerprint(output)}|")
    assert "|precision:float32|" in signature


@pytest.mark.parametrize("option", [{"precision": "bf16"}, {"device": "meta"}])
def test_it_has_one_device_and_one_precision(option: dict[str, Any], pair: tuple[Path, Path]) -> None:
    with pytest.raises(ValueError, match=r"(must be cpu|not available on this machine)"):
        matese.load(pair[1], **option)


def test_it_is_not_to_be_trained_or_exported_again(pair: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="was exported for ONNX Runtime; give the model directory that was exported"):
        load_tagger(pair[1], is_trainable=True)
    with pytest.raises(ModelError, match="was exported for ONNX Runtime; give the model directory that was exported"):
        onnx_export.export(pair[1], tmp_path / "again")
    assert list(tmp_path.iterdir()) == []


def test_other_encoders_are_refused(tiny_model_factory: TinyModelFactory, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="model_type must be roberta or xlm-roberta"):
        onnx_export.export(tiny_model_factory(kind="mbart"), tmp_path / "out")


def test_a_corrupt_graph_is_refused(pair: tuple[Path, Path], tmp_path: Path) -> None:
    broken = Path(shutil.copytree(pair[1], tmp_path / "broken"))
    (broken / checkpoint.GRAPH).write_bytes(b"nothing")
    with pytest.raises(ModelError, match=r"model.onnx is corrupt: .*; export the model again"):
        matese.load(broken)


def test_what_is_not_installed_is_told(pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any, **options: Any) -> Any:
        if name == "onnxruntime":
            raise ModuleNotFoundError(name=name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(
        ModelError, match=r"onnxruntime is not installed, but .* needs it: run pip install 'matese\[onnx\]'"
    ):
        matese.load(pair[1])
