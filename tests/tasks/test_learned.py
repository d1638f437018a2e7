"""Notices about texts that a model has learned from."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from matese.annotation import Rating, Segment, SegmentKey
from matese.errors import ModelError
from matese.model import training_data
from matese.model.storage import checkpoint
from matese.tasks import correlate, evaluate, learned, notices
from tests.conftest import TinyModelFactory
from tests.evaluation.material import minor
from tests.tasks.conftest import Listener, do

LEARNED = [f"He saw {number} trees." for number in range(6)]


@pytest.fixture
def embedded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the directory of an embedded model of the name `own`, which has learned from some sources."""
    directory = tmp_path / "own"
    directory.mkdir()
    (directory / checkpoint.CONFIG).write_text("{}")
    (directory / checkpoint.TRAINING_DATA).write_text(json.dumps({"sources": training_data.hashed(LEARNED)}))
    monkeypatch.setattr(checkpoint, "_EMBEDDED", tmp_path)
    return directory


def told(sources: list[str], rater: str | None = "matese|model:own@12345678|inputs:source") -> list[str]:
    listener = Listener()
    with notices.heard_by(listener):
        learned.tell({rater: sources})
    return listener.heard


@pytest.mark.parametrize(
    ("sources", "n_learned"),
    [
        ([], None),
        (["a", "b", "c"], None),
        (LEARNED[:2], None),  # too few to say so
        (LEARNED[:3], 3),
        (["he saw 0 trees", "“He saw 1 trees!”", "He saw  2 trees."], 3),  # as it is written elsewhere
        ([*LEARNED[:3], *map(str, range(12))], 3),
        ([*LEARNED[:3], *map(str, range(13))], None),
    ],
)
@pytest.mark.usefixtures("embedded")
def test_a_notice_counts_the_sources_that_were_learned(sources: list[str], n_learned: int | None) -> None:
    wanted = f"own has learned from {n_learned} of these {len(sources)} sources: its figures are too good"
    assert told(sources) == ([] if n_learned is None else [wanted])


@pytest.mark.parametrize("rater", [None, "anna", "matese|model:other@12345678|inputs:source"])
@pytest.mark.usefixtures("embedded")
def test_of_others_nothing_is_known(rater: str | None) -> None:
    assert told(LEARNED, rater) == []


@pytest.mark.usefixtures("embedded")
def test_both_models_of_an_ensemble_are_known() -> None:
    assert len(told(LEARNED, "matese|model:other@12345678+own@87654321|inputs:source")) == 1


@pytest.mark.usefixtures("embedded")
def test_evaluation_tells_so_without_a_test_set() -> None:
    gold = [Rating(Segment("Er sah Bäume.", source), "anna", (minor(0, 2),)) for source in LEARNED]
    predicted = [replace(rating, rater="matese|model:own@12345678") for rating in gold]
    assert "own has learned from 6 of these 6 sources" in do(evaluate, gold=gold, predicted=predicted).told
    assert "learned" not in do(evaluate, gold=gold, predicted=gold).told


def test_correlation_tells_so_of_a_directory(tiny_model_factory: TinyModelFactory) -> None:
    directory = tiny_model_factory("known")
    (directory / checkpoint.TRAINING_DATA).write_text(json.dumps({"sources": training_data.hashed(LEARNED[:4])}))
    gold = [
        Rating(
            Segment(f"Er sah {name}.", source, (f"Er sah {number}",), SegmentKey(None, "en-de", name, None, number)),
            "anna",
            (minor(0, 2),) * n,
        )
        for n, name in enumerate("ABC")
        for number, source in enumerate(LEARNED)
    ]
    ran = do(correlate, gold=gold, baseline=[str(directory), "chrf"], samples=10)
    assert f"{directory} has learned from 4 of these 6 sources" in ran.told


def test_hashes_that_are_none_are_an_error() -> None:
    for text in ("?", "aGFsbG8="):
        with pytest.raises(ModelError, match="the hashes of training sources are corrupt"):
            training_data.TrainingData(sources=text).learned(["a"])
