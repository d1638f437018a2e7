"""Ratings are taken in any form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import matese
from matese import ErrorSpan, Estimate, Rating, Ratings, Segment, SegmentKey, Severity


def rating(system: str, index: int, *severities: Severity) -> Rating:
    segment = Segment("Das Haus", "The house", key=SegmentKey(system=system, index=index))
    errors = tuple(ErrorSpan(number, number + 1, severity) for number, severity in enumerate(severities))
    return Rating(segment, "anna", errors, estimate=Estimate(-1.0 - len(errors), "mqm"))


GIVEN = Ratings(
    [rating("A", 0), rating("A", 1, Severity.MINOR), rating("B", 0, Severity.MAJOR), rating("B", 1, Severity.MINOR)]
)


@pytest.fixture(params=["list", "file", "pandas", "polars", "dataset"])
def form(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "list":
        return list(GIVEN)
    if request.param == "file":
        GIVEN.write(tmp_path / "ratings.jsonl")
        return tmp_path / "ratings.jsonl"
    pytest.importorskip({"dataset": "datasets"}.get(request.param, request.param))
    return getattr(GIVEN, f"to_{request.param}")()


def test_every_form_has_the_same_scores(form: Any, tmp_path: Path) -> None:
    assert matese.score(form) == [0.0, -1.0, -5.0, -1.0]
    assert matese.expected_score(form) == [-1.0, -2.0, -2.0, -2.0]
    assert matese.corpus_score(form) == -1.75
    assert matese.worst_first(form)[-1] == GIVEN[0]
    matese.write(form, tmp_path / "written.csv")
    assert matese.read(tmp_path / "written.csv") == GIVEN


def test_weights_are_those_of_a_name() -> None:
    span = matese.ErrorSpan(4, 5, matese.Severity.MINOR, "Fluency/Punctuation")
    ratings = [matese.Rating(matese.Segment("Gut ,"), None, (span,)), matese.Rating(matese.Segment("Gut"), None, ())]
    assert (matese.score(ratings), matese.corpus_score(ratings), matese.corpus_score([-1, 0])) == ([-1, 0], -0.5, -0.5)
    assert matese.corpus_score(ratings, weights="google") == -0.05
    for function in (matese.score, matese.corpus_score):
        with pytest.raises(matese.UsageError, match="google"):
            function([], weights="gogle")


def test_every_form_can_be_compared(form: Any) -> None:
    assert list(matese.compare(form, sampling=matese.Sampling(bootstrap=0, permutations=1)).ratings) == ["A", "B"]
    assert "Das Haus" in matese.report(form)


def test_a_comparison_is_a_table() -> None:
    comparison = matese.compare(GIVEN, sampling=matese.Sampling(bootstrap=0, permutations=1))
    table = comparison.to_pandas()
    assert list(table.index) == ["A", "B"]
    assert table.loc["A", "score"] == comparison.figures["A"]["score"].value


@pytest.mark.parametrize("given", [7, ["a"], [GIVEN]])
def test_what_are_no_ratings(given: Any) -> None:
    with pytest.raises(matese.UsageError, match=r"must be (ratings|a file, a table or)") as caught:
        matese.score(given)
    assert len(str(caught.value)) < 400


def test_messages_have_the_names_of_python_and_are_short() -> None:
    with pytest.raises(matese.UsageError, match="error_free needs a model: leave out checks only"):
        matese.tag(matese.TextFiles(["missing.txt"]), marking=matese.Marking(checks="only", error_free=True))
    with pytest.raises(matese.UsageError, match="by the name of a metric") as caught:
        matese.correlate(gold=GIVEN, metric=[GIVEN * 1000])  # type: ignore[list-item]
    assert len(str(caught.value)) < 400
