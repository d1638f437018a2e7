"""What the batch engine leaves out: padding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import matese
from matese.model.annotator import Annotator
from matese.model.engines import runners
from matese.model.engines.batch_engine import BatchEngine
from matese.model.engines.runners import TorchRunner
from matese.model.interpreter import Interpreter
from matese.model.loading import load_tagger
from matese.model.network import Network
from matese.model.predictor import Predictor
from matese.model.storage import checkpoint
from tests.conftest import TinyModelFactory
from tests.model.test_annotator import places, random_segments

SETTINGS: tuple[dict[str, Any], ...] = (
    {"inputs": ("source+reference", "source"), "score": {}, "mix": "sum-last-4"},
    {"extra": 0, "score": {"pooling": "texts"}},
)


def predictor_of(tagger: Network, tokenizer: Any, runner: TorchRunner, *, batch_tokens: int) -> Predictor:
    texts = tagger.text_encoder(tokenizer)
    engine = BatchEngine(runner, pad_id=texts.pad_id, batch_tokens=batch_tokens)
    return Predictor(Interpreter(tagger.config), engine, texts)


def annotator_of(name: Any, runner: TorchRunner) -> Annotator:
    base = matese.load(name, precision="float32")
    tagger, tokenizer = load_tagger(checkpoint.resolve(name))
    return Annotator(predictor_of(tagger, tokenizer, runner, batch_tokens=700), base.decoding, name=base.name)


@pytest.mark.parametrize("settings", SETTINGS)
def test_spans_without_padding_are_the_same(settings: dict[str, Any], tiny_model_factory: TinyModelFactory) -> None:
    directory = tiny_model_factory(**settings)
    segments = random_segments(24)
    tagger = load_tagger(directory)[0]
    ratings = {
        packs: list(annotator_of(directory, TorchRunner(tagger, "float32", packs=packs)).annotate_segments(segments))
        for packs in (False, True)
    }
    assert places(ratings[True]) == places(ratings[False])
    assert sum(map(len, places(ratings[True]))) > 20
    for packed, padded in zip(ratings[True], ratings[False], strict=True):
        assert packed.estimate is not None
        assert padded.estimate is not None
        assert packed.estimate.value == pytest.approx(padded.estimate.value, abs=2e-3)


def test_a_cpu_computes_padding(tiny_model_dir: Path) -> None:
    assert not TorchRunner(load_tagger(tiny_model_dir)[0], "bf16").packs


@pytest.mark.parametrize("settings", [*SETTINGS, {"kind": "mbart"}])
def test_weights_that_are_rounded_once_say_what_autocast_says(
    settings: dict[str, Any], tiny_model_factory: TinyModelFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tiny_model_factory(**settings)
    segments = random_segments(12)
    once = list(matese.load(directory, precision="bf16").annotate_tokens(segments))
    monkeypatch.setattr(runners, "_round_weights", lambda tagger: None)
    assert once == list(matese.load(directory, precision="bf16").annotate_tokens(segments))
