"""What the batch engine leaves out: padding, and contexts that were read before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import matese
from matese.annotation import Segment
from matese.model.annotator import Annotator
from matese.model.engines import batch_engine, runners
from matese.model.engines.batch_engine import BatchEngine
from matese.model.engines.runners import TorchRunner
from matese.model.inputs import collate
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
    found = {
        packs: list(annotator_of(directory, TorchRunner(tagger, "float32", packs=packs)).annotate_segments(segments))
        for packs in (False, True)
    }
    assert places(found[True]) == places(found[False])
    assert sum(map(len, places(found[True]))) > 20
    for one, other in zip(found[True], found[False], strict=True):
        assert one.estimate is not None
        assert other.estimate is not None
        assert one.estimate.value == pytest.approx(other.estimate.value, abs=2e-3)


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


def of_systems(n_systems: int) -> list[Segment]:
    """The same texts translated by several systems, system after system."""
    sources = [f"the good thing {'a' * number}" for number in range(8)]
    return [Segment(f"Das ist {system} {source[5:]}", source) for system in range(n_systems) for source in sources]


def test_an_encoder_reads_the_context_of_several_systems_once(
    tiny_model_factory: TinyModelFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tiny_model_factory(kind="mbart", inputs=("source",), score={})
    tagger = load_tagger(directory)[0]
    read: list[list[tuple[int, ...]]] = []
    hypotheses: list[int] = []

    def note(_: object, __: object, given: dict[str, Any]) -> None:
        read.append([tuple(row[row != 1].tolist()) for row in given["input_ids"]])

    tagger.encoder.get_encoder().register_forward_pre_hook(note, with_kwargs=True)
    tagger.encoder.get_decoder().register_forward_pre_hook(
        lambda _, __, given: hypotheses.append(len(given["input_ids"])), with_kwargs=True
    )
    segments = of_systems(5)
    shared = list(annotator_of(directory, TorchRunner(tagger, "float32")).annotate_segments(segments))
    assert all(len(set(rows)) == len(rows) for rows in read)
    assert len(read) > 1, "several batches"
    assert sum(hypotheses) == len(segments)
    # Contexts meet: besides the 8 at most one more is read again for each border of two batches.
    assert 8 <= sum(map(len, read)) <= 8 + len(read) - 1

    monkeypatch.setattr(batch_engine, "collate", lambda *args, **options: collate(*args, pad_id=options["pad_id"]))
    read.clear()
    apart = list(annotator_of(directory, TorchRunner(tagger, "float32")).annotate_segments(segments))
    assert sum(map(len, read)) == len(segments)
    assert places(shared) == places(apart)
    assert [one.estimate for one in shared] == [one.estimate for one in apart]
    assert sum(map(len, places(shared))) > 10
