from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese.annotation import ErrorSpan, Severity
from matese.model.heads.tags import decoding
from matese.model.heads.tags.bio import B_MAJOR, B_MINOR, I_MAJOR, I_MINOR, TAGS, O
from matese.model.heads.tags.decoding import Tags
from matese.model.heads.tags.marking import MarkRule
from matese.model.prediction import Outputs, Prediction, TagProbabilities
from matese.text.words import widen
from tests.conftest import make_config

MINOR = Severity.MINOR
MAJOR = Severity.MAJOR
Floats = npt.NDArray[np.float64]
FITTED = MarkRule(
    min_probability=0.1,
    worst=1.0,
    total=0.5,
    offset=0.5,
    least=0.3,
    least_of_short=0.3,
    least_of_interface=0.3,
    pieces=0.0,
    major=0.3,
)


def find(
    rows: Floats,
    ranges: list[tuple[int, int]],
    text: str,
    *,
    least: float,
    whole_words: bool = False,
    marking: MarkRule | None = None,
) -> tuple[ErrorSpan, ...]:
    prediction = Prediction(text, np.array(ranges, dtype=np.int32).reshape(-1, 2), Outputs.of([TagProbabilities(rows)]))
    return decoding.find(prediction, marking, least=least, whole_words=whole_words)


def certain(*tags: int, rest: float = 0.01) -> Floats:
    """Log-probabilities that favour the tags."""
    rows = np.full((len(tags), len(TAGS)), rest)
    rows[np.arange(len(tags)), list(tags)] = 1 - 4 * rest
    logs: Floats = np.log(rows)
    return logs


def uncertain(*errors: float, major: float = 0.5) -> Floats:
    """Log-probabilities of tokens with these error probabilities, of which this share is Major."""
    rows = np.full((len(errors), len(TAGS)), 1e-9)
    rows[:, O] = 1 - np.array(errors)
    rows[:, I_MINOR] = (1 - major) * np.array(errors)
    rows[:, B_MAJOR] = major * np.array(errors)
    logs: Floats = np.log(rows + 1e-12)
    return logs


TEXT = "Das  Haus ist blau."
RANGES = [(0, 3), (5, 7), (7, 9), (10, 13), (14, 18), (18, 19)]


@pytest.mark.parametrize(
    ("tags", "whole_words", "expected"),
    [
        ([O] * 6, False, []),
        ([B_MAJOR] + [I_MAJOR] * 5, False, [(0, 19, MAJOR)]),
        ([B_MINOR, I_MINOR, O, O, O, O], False, [(0, 7, MINOR)]),
        ([B_MINOR, I_MINOR, O, O, O, O], True, [(0, 9, MINOR)]),
        # tokens beside each other are one error, whether or not another one begins there
        ([O, O, B_MINOR, B_MINOR, O, O], False, [(7, 13, MINOR)]),
        ([O, B_MINOR, B_MAJOR, I_MAJOR, O, O], False, [(5, 13, MAJOR)]),
        # two errors in one word become one
        ([B_MINOR, O, B_MAJOR, O, O, O], True, [(0, 3, MINOR), (5, 9, MAJOR)]),
        ([O, O, O, O, O, B_MINOR], True, [(18, 19, MINOR)]),
    ],
)
def test_runs_of_erroneous_tokens_are_spans(
    tags: list[int], whole_words: bool, expected: list[tuple[int, int, Severity]]
) -> None:
    spans = find(certain(*tags), RANGES, TEXT, least=0.5, whole_words=whole_words)
    assert [(span.start, span.end, span.severity) for span in spans] == expected
    assert all(span.confidence == pytest.approx(0.96 + 0.03, abs=0.001) for span in spans)


def test_two_errors_in_a_word_are_one() -> None:
    ranges = [(0, 2), (2, 4), (4, 6)]
    (span,) = find(uncertain(0.9, 0.1, 0.6), ranges, "Häuser", least=0.5, whole_words=True)
    assert (span.start, span.end, span.confidence) == (0, 6, 0.9)


def test_no_tokens_and_white_space_give_no_spans() -> None:
    assert find(np.zeros((0, 5)), [], "", least=0.5) == ()
    assert find(certain(B_MAJOR), [(1, 1)], "  ", least=0.5) == ()


def test_bytes_of_one_character_with_two_errors_are_one_span() -> None:
    spans = find(certain(B_MINOR, O, B_MAJOR), [(0, 1), (0, 1), (0, 1)], "😀", least=0.5)
    assert [(span.start, span.end, span.confidence) for span in spans] == [(0, 1, 0.99)]


def test_less_confidence_marks_more() -> None:
    rows = uncertain(0.4, 0.05, 0.15)
    ranges = [(0, 3), (4, 6), (7, 10)]
    counts = [len(find(rows, ranges, "Das im Bad", least=least)) for least in (0.5, 0.3, 0.1, 0.01)]
    assert counts == [0, 1, 2, 1]  # at last, all three tokens are one span


@pytest.mark.parametrize(
    ("text", "start", "end", "expected"),
    [
        ("a", 0, 1, (0, 1)),
        ("Haus", 1, 2, (0, 4)),
        ("ein Haus, ja", 5, 6, (4, 8)),
        ("l'homme est", 3, 5, (0, 7)),
        ("'tis'", 2, 3, (1, 4)),
        ("हिन्दी में", 1, 2, (0, 6)),  # vowel signs and virama belong to the word
        ("你好世界", 1, 2, (1, 2)),
        ("e\u0301te\u0301", 0, 1, (0, 5)),
        ("กำลัง", 0, 3, (0, 4)),  # Thai: marks only
        ("日本GDP", 3, 4, (2, 5)),
        ("👩\u200d👧 x", 0, 1, (0, 3)),
        ("שלום עולם", 6, 7, (5, 9)),
    ],
)
def test_widen(text: str, start: int, end: int, expected: tuple[int, int]) -> None:
    assert widen(start, end, text) == expected


def test_fitted_values_decide_what_is_marked() -> None:
    rows = uncertain(0.2, 0.01, 0.2, 0.2)
    ranges = [(0, 1), (2, 3), (4, 5), (6, 7)]
    marks = [
        [(span.start, span.end, span.confidence) for span in find(rows, ranges, "a b c d", least=least, marking=FITTED)]
        for least in (0.1, 0.17, 0.4)
    ]
    short = (0, 1, FITTED.confidence(0.2, 0.2))
    long = (4, 7, FITTED.confidence(0.2, 0.4))
    assert marks == [[short, long], [long], []]


@pytest.mark.parametrize(("major", "expected"), [(0.2, MINOR), (0.9, MAJOR)])
def test_a_mark_is_major_if_it_is_likely_and_severe(major: float, expected: Severity) -> None:
    (span,) = find(uncertain(0.6, 0.5, major=major), [(0, 1), (2, 3)], "a b", least=0.1, marking=FITTED)
    assert (span.start, span.end, span.severity) == (0, 3, expected)
    (doubtful,) = find(uncertain(0.2, major=0.9), [(0, 1)], "a", least=0.1, marking=FITTED)
    assert doubtful.severity is MINOR


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.integers(0, 5), st.floats(0, 1))
def test_confidence_never_falls_where_an_error_becomes_more_probable(
    errors: list[float], place: int, rise: float
) -> None:
    """Whatever token becomes more probable: what was marked stays marked, with at least the same confidence."""
    worse = [max(error, rise) if number == place else error for number, error in enumerate(errors)]
    ranges = [(2 * number, 2 * number + 1) for number in range(len(errors))]
    before, after = (
        find(uncertain(*each), ranges, "a " * len(errors), least=0.05, marking=FITTED) for each in (errors, worse)
    )
    for span in before:
        (around,) = [wider for wider in after if wider.start <= span.start and span.end <= wider.end]
        assert (around.confidence or 0) >= (span.confidence or 0) - 1e-4


def test_thresholds_depend_on_length_and_number_of_pieces() -> None:
    marking = MarkRule(0.1, 1.0, 0.5, 0.5, least=0.4, least_of_short=0.6, least_of_interface=0.8, pieces=0.5, major=0.3)
    long = "one two three four five six seven"
    assert marking.least_confidence("one two") == 0.6
    assert marking.least_confidence(long) == 0.4
    assert 0.4 < marking.least_confidence(long, 2) < marking.least_confidence(long, 8) < 1
    assert {marking.of_interface().least_confidence(text, n) for text in ("one", long) for n in (1, 3)} == {0.8}
    assert marking.scaled(0.5).least_confidence("one two") == 0.3


def test_expected_score_of_tags() -> None:
    rows = np.log(np.array([[0.5, 0.2, 0.05, 0.2, 0.05], [0.7, 0.1, 0.1, 0.05, 0.05]]))
    head = Tags(make_config())
    scores = [head.expected_score(TagProbabilities(logs)) for logs in (np.zeros((0, 5)), rows, certain(*[B_MAJOR] * 9))]
    assert scores == pytest.approx([0, -(0.3 + 5 * 0.25), -25])
