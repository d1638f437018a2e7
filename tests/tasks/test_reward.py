"""A reward that what is easy to write does not raise."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import matese
from matese.errors import UsageError

SOURCE = "The house is big."
GOOD = "Das Haus ist groß."


@pytest.fixture
def model(tiny_model_dir: Path) -> str:
    return str(tiny_model_dir)


def test_one_bad_row_costs_that_row(model: str) -> None:
    texts = [GOOD, "\ud800", "", GOOD]
    first, surrogate, blank, last = matese.reward(texts, sources=[SOURCE] * 4, references=[GOOD] * 4, model=model)
    assert first == last
    assert surrogate == -25
    assert all(map(math.isfinite, (first, blank)))
    assert matese.reward([], model=model) == []


@pytest.mark.parametrize("text", [f"{GOOD} {GOOD}", f"{GOOD}\n{GOOD}", "eins zwei eins zwei", "大家好大家好"])
def test_a_text_that_is_written_twice_has_the_lowest_reward(model: str, text: str) -> None:
    assert matese.reward([text], sources=[SOURCE], references=[GOOD], model=model)[0] <= -25
    (of_source_too,) = matese.reward([text], sources=[f"{SOURCE} {SOURCE}"], references=[text], model=model)
    assert of_source_too > -25


def test_a_copy_costs_what_the_rule_says(model: str) -> None:
    copy = "The museum in the old town is closed on Mondays."
    (reward,) = matese.reward([copy], sources=[copy], references=["Das Museum ist montags zu."], model=model)
    (rating,) = matese.annotate(
        [copy], sources=[copy], references=["Das Museum ist montags zu."], checks="untranslated", model=model
    )
    assert [error.rule for error in rating.all_errors if error.rule] == ["untranslated"]
    expected = matese.expected_score(rating)
    assert expected is not None
    assert reward <= expected - 5


def test_two_ways_give_equal_ratings(model: str) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"mt": [GOOD, "Es kostet 15 €."], "ref": [GOOD, "Es kostet 17 €."]})
    frame["src"] = [SOURCE, "It costs €17."]
    annotator = matese.load(model)
    texts: list[str] = list(frame["mt"])
    texts_read: dict[str, Any] = {"references": list(frame["ref"]), "sources": list(frame["src"])}
    listed = annotator.annotate(texts, **texts_read, lang_pair="en-de", checks="numbers")
    marked = annotator.annotate(frame, lang_pair="en-de", checks="numbers")
    assert matese.Ratings.from_frame(marked) == listed
    of_column = annotator.annotate(frame.assign(lp="en-de"), checks="numbers")
    assert matese.Ratings.from_frame(of_column) == listed
    assert [error.rule for error in listed[1].all_errors if error.rule] == ["numbers"]
    alone = annotator.annotate(texts, **texts_read, checks="only,numbers")
    assert [len(rating.all_errors) for rating in alone] == [0, 1]


def test_a_minimum_confidence_is_loaded(model: str) -> None:
    assert (
        matese.load(model, min_confidence=0.2).decoding
        == matese.load(model, choice=matese.DecodingChoice(min_confidence=0.2)).decoding
    )
    with pytest.raises(UsageError, match="min_confidence is given twice"):
        matese.load(model, min_confidence=0.2, choice=matese.DecodingChoice(min_confidence=0.2))
