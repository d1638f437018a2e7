"""Decisions whether a translation is free of errors: by rule, and by the fitted probability and its threshold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese.annotation import ErrorFree, ErrorSpan, Omission, Segment, SegmentKey, Severity
from matese.errors import InputError
from matese.model import error_free
from matese.model.decoding import DecodingChoice
from matese.model.error_free import ErrorFreeDetector, LangPairThreshold
from matese.model.heads.tags.bio import TAGS, O
from matese.model.interpreter import Interpreter
from matese.model.model_input import ModelInput
from matese.model.prediction import Outputs, Prediction, TagProbabilities
from matese.model.texts.encoding import InputKind
from tests.conftest import make_config

DETECTOR = ErrorFreeDetector("source", 0.0, -1.0, 0.0, 1.0, 0.5, (LangPairThreshold("en-de", 0.75),))
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


@pytest.mark.parametrize(
    ("lang_pair", "label"),
    [("en-de", False), ("eng_Latn-deu_Latn", False), ("en-de_AT", False), ("en-cs", True), (None, True)],
)
def test_a_language_pair_may_have_a_threshold_of_its_own(lang_pair: str | None, label: bool) -> None:
    segment = Segment("Das Museum", SOURCE, key=SegmentKey(lang_pair=lang_pair))
    assert error_free.decide(DETECTOR, segment, (1.0, 0.5, 0.0)) == ErrorFree(label, 0.6225)


def test_features_are_on_logarithmic_scales() -> None:
    features = error_free.features_of(-2.0, [0.25, 0.5])
    assert features == pytest.approx((np.log(3), np.log(1.75), 0.0))
    assert error_free.features_of(0.0, [0.0, 1.0])[2] == pytest.approx(np.log(9999))


@given(st.floats(-25, 0), st.lists(st.floats(0, 1), max_size=5), st.floats(0, 5), st.integers(0, 4), st.floats(0, 1))
def test_more_evidence_never_makes_a_segment_free_of_errors(
    score: float, errors: list[float], fall: float, place: int, rise: float
) -> None:
    detector = ErrorFreeDetector("source", -0.5, -1.3, -0.2, 2.0, 0.5)
    worse = [max(error, rise) if number == place else error for number, error in enumerate(errors)]
    before = detector.probability(error_free.features_of(score, errors))
    assert detector.probability(error_free.features_of(score - fall, worse)) <= before


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
    marks = (ErrorSpan(0, 3, Severity.MINOR), ErrorSpan(4, 6, severity))
    found = error_free.decide(DETECTOR, Segment("Das Museum", SOURCE), (0.0, 0.0, -9.0), marks)
    assert found == (ErrorFree(True, 0.7311) if expected else ErrorFree(False, 0.0))


def test_a_segment_that_lacks_words_of_a_major_omission_is_never_free_of_errors() -> None:
    missing = (Omission("source", None, 0, 3, Severity.MAJOR),)
    assert not error_free.decide(DETECTOR, Segment("Das Museum", SOURCE), (0.0, 0.0, -9.0), missing).label


@pytest.mark.parametrize(
    ("inputs", "lang_pair", "expected"),
    [
        ("source", "en-de", 1),
        ("source", "eng_Latn-deu_Latn", 1),
        ("source", "en-cs", 0),
        ("source", None, 0),
        ("reference", "en-de", 2),
        ("reference", "en-cs", None),
        ("source+reference", "en-de", None),
    ],
)
def test_a_language_pair_may_have_a_detector_of_its_own(
    inputs: InputKind, lang_pair: str | None, expected: int | None
) -> None:
    own = replace(DETECTOR, lang_pairs=("zh-en", "en-de"))
    detectors = [DETECTOR, own, replace(own, inputs="reference")]
    found = error_free.find(detectors, inputs, lang_pair)
    assert found is (None if expected is None else detectors[expected])


def test_a_threshold_is_a_probability() -> None:
    with pytest.raises(InputError):
        replace(DETECTOR, thresholds=(LangPairThreshold("en-de", 1.5),))


@pytest.mark.parametrize(
    ("inputs", "is_asked", "expected"),
    [("source", True, ErrorFree(True, 0.6601)), ("source", False, None), ("reference", True, None)],
)
def test_an_interpreter_decides_where_it_has_a_detector(
    inputs: str, is_asked: bool, expected: ErrorFree | None
) -> None:
    config = make_config(inputs=("reference", "source"), error_free=(DETECTOR,))
    segment = Segment("ein Haus", "a house", ("ein Bau",))
    rows = np.full((2, len(TAGS)), 0.05)
    rows[:, O] = 0.8
    ranges = np.array([[0, 3], [4, 8]], dtype=np.int32)
    prediction = Prediction("ein Haus", ranges, Outputs.of([TagProbabilities(np.log(rows))]), -1.0)
    model_input = ModelInput.of(segment, inputs)  # type: ignore[arg-type]
    decoding = config.decoding.varied(DecodingChoice(error_free=is_asked))
    (rating,) = Interpreter(config).decode([model_input], [prediction], decoding)
    assert rating.error_free == expected
