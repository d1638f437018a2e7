"""Decisions whether a translation is free of errors: by what the texts say, and by the fitted probability."""

from __future__ import annotations

from dataclasses import astuple, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese.annotation import ErrorFree, ErrorSpan, Omission, Segment, SegmentKey, Severity
from matese.errors import InputError
from matese.model import error_free
from matese.model.decoding import Fitted
from matese.model.decoding_choice import DecodingChoice
from matese.model.error_free import DecisionWeights, ErrorFreeRule
from matese.model.heads.tags.bio import B_MINOR, TAGS, O
from matese.model.interpreter import Interpreter
from matese.model.model_input import ModelInput
from matese.model.prediction import Marks, Outputs, Prediction, TagProbabilities
from matese.validation import plain_values
from tests.conftest import make_config

RULE = ErrorFreeRule(DecisionWeights(0.0, -1.0, 0.0, 0.0, 0.0), offset=1.0, threshold=0.5)
SOURCE = "The old museum is closed today."


@pytest.mark.parametrize(
    ("hypothesis", "source", "lang_pair", "expected"),
    [
        ("", "", "en-de", ErrorFree(True, 1.0)),  # there was nothing to translate
        (" \u3000", SOURCE, "en-de", ErrorFree(False, 0.0)),
        (SOURCE, SOURCE, "en-de", ErrorFree(False, 0.0)),
        (SOURCE, SOURCE, None, ErrorFree(False, 0.0)),
        (SOURCE, SOURCE, "en_US-en_GB", None),  # the wording of one is right in the other
        ("Rock am Ring", "Rock am Ring", "en-de", None),
        ("12:30", "12:30", "en-de", None),
        ("Das alte Museum ist zu.", SOURCE, "en-de", None),
        ("Das alte Museum ist zu.", None, None, None),
    ],
)
def test_rules(hypothesis: str, source: str | None, lang_pair: str | None, expected: ErrorFree | None) -> None:
    segment = Segment(hypothesis, source, key=SegmentKey(lang_pair=lang_pair))
    assert error_free.decide_by_rule(segment) == expected


def prediction(*errors: float, score: float = -1.0) -> Prediction:
    """Returns a prediction for "ein Haus" with these error probabilities of its tokens."""
    rows = np.full((len(errors), len(TAGS)), 1e-9)
    rows[:, O] = 1 - np.array(errors)
    rows[:, B_MINOR] = errors
    ranges = np.array([[0, 3], [4, 8]] * 3, dtype=np.int32)[: len(errors)]
    return Prediction("ein Haus", ranges, Outputs.of([TagProbabilities(np.log(rows + 1e-9))]), score)


def test_features_are_on_logarithmic_scales() -> None:
    marks = Marks(
        (ErrorSpan(0, 3, Severity.MINOR, confidence=0.5), ErrorSpan(4, 8, Severity.MINOR)),
        (Omission("source", None, 0, 3, Severity.MAJOR, confidence=0.75),),
    )
    features = error_free.features_of(prediction(0.25, 0.5, score=-2.0), marks)
    expected = (np.log(3), np.log(1.75), 0.0, np.log(2.25), np.log(3))
    assert astuple(features) == pytest.approx(expected, abs=1e-6)
    assert error_free.features_of(prediction(0.0, 1.0), Marks()).worst == pytest.approx(np.log(9999))
    assert error_free.features_of(prediction(), Marks()).errors == 0


@given(st.floats(-25, 0), st.lists(st.floats(0, 1), max_size=5), st.floats(0, 5), st.integers(0, 4), st.floats(0, 1))
def test_more_evidence_never_makes_a_segment_free_of_errors(
    score: float, errors: list[float], fall: float, place: int, rise: float
) -> None:
    rule = ErrorFreeRule(DecisionWeights(-0.5, -1.3, -0.2, -0.1, 0.3), 2.0, 0.5)
    worse = [max(error, rise) if number == place else error for number, error in enumerate(errors)]
    before, after = (
        rule.probability(error_free.features_of(prediction(*each, score=of_segment), Marks()))
        for each, of_segment in ((errors, score), (worse, score - fall))
    )
    assert after <= before + 1e-9


@pytest.mark.parametrize(
    ("severity", "expected"),
    [
        (Severity.NEUTRAL, True),
        (Severity.MINOR, True),
        (None, True),
        (Severity.MAJOR, False),
        (Severity.CRITICAL, False),
    ],
)
def test_a_segment_with_a_major_mark_is_never_free_of_errors(severity: Severity | None, expected: bool) -> None:
    marks = Marks((ErrorSpan(0, 3, Severity.MINOR), ErrorSpan(4, 6, severity)))
    decided = error_free.decide(RULE, Segment("ein Haus", SOURCE), prediction(0.0, 0.0), marks)
    assert decided == (ErrorFree(True, 0.7311) if expected else ErrorFree(False, 0.0))


def test_a_segment_that_lacks_words_of_a_major_omission_is_never_free_of_errors() -> None:
    missing = Marks(omissions=(Omission("source", None, 0, 3, Severity.MAJOR),))
    assert not error_free.decide(RULE, Segment("ein Haus", SOURCE), prediction(0.0, 0.0), missing).label


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"threshold": 1.5}, "threshold: Expected `float` <= 1.0"),
        ({"weights": DecisionWeights(0, 0.5, 0, 0, 0)}, "weights.errors: Expected `float` <= 0.0"),
    ],
)
def test_impossible_rules_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        plain_values.convert(plain_values.to_plain(replace(RULE, **change)), ErrorFreeRule)


@pytest.mark.parametrize(
    ("inputs", "is_asked", "expected"),
    [("source", True, ErrorFree(True, 0.6601)), ("source", False, None), ("reference", True, None)],
)
def test_an_interpreter_decides_where_it_has_a_rule(inputs: str, is_asked: bool, expected: ErrorFree | None) -> None:
    config = make_config(inputs=("reference", "source"), fitted=(Fitted("source", error_free=RULE),))
    model_input = ModelInput.of(Segment("ein Haus", "a house", ("ein Bau",)), inputs)  # type: ignore[arg-type]
    decoding = config.decoding.varied(DecodingChoice(error_free=is_asked))
    rating = Interpreter(config).decode(model_input, prediction(0.2, 0.2), decoding)
    assert rating.error_free == expected
