from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese.annotation import ErrorSpan, Severity
from matese.model.heads.tags import decoding
from matese.model.heads.tags.bio import B_MAJOR, B_MINOR, I_MAJOR, I_MINOR, TAGS, O, may_follow
from matese.model.heads.tags.confidence import SpanConfidence
from matese.model.heads.tags.decoding import scores_of_tags
from matese.model.prediction import Outputs, Prediction, TagProbabilities
from matese.text.words import widen

MINOR = Severity.MINOR
MAJOR = Severity.MAJOR
Floats = npt.NDArray[np.float64]


def decode(
    rows: Floats, ranges: list[tuple[int, int]], text: str, *, min_confidence: float, whole_words: bool = False
) -> tuple[ErrorSpan, ...]:
    prediction = Prediction(text, np.array(ranges, dtype=np.int32).reshape(-1, 2), Outputs.of([TagProbabilities(rows)]))
    (spans,) = decoding.decode([prediction], min_confidences=[min_confidence], whole_words=whole_words)
    return spans


def certain(*tags: int, rest: float = 0.01) -> Floats:
    """Log-probabilities that favour the tags."""
    rows = np.full((len(tags), len(TAGS)), rest)
    rows[np.arange(len(tags)), list(tags)] = 1 - 4 * rest
    logs: Floats = np.log(rows)
    return logs


def best_tags(hypotheses: list[Floats]) -> list[list[int]]:
    starts = [0, *itertools.accumulate(map(len, hypotheses))]
    tags = decoding.best_tags(np.concatenate([np.zeros((0, 5)), *hypotheses]), starts).tolist()
    return [tags[start:end] for start, end in itertools.pairwise(starts)]


log_probabilities = st.lists(st.lists(st.floats(-6, 0), min_size=5, max_size=5), min_size=1, max_size=5).map(
    lambda rows: np.array(rows) - np.log(np.exp(np.array(rows)).sum(1, keepdims=True))
)


@given(log_probabilities)
def test_best_tags_is_the_best_of_all_legal_sequences(rows: Floats) -> None:
    def value(tags: tuple[int, ...]) -> float:
        return float(sum(row[tag] for row, tag in zip(rows, tags, strict=True)))

    legal = (
        tags
        for tags in itertools.product(range(len(TAGS)), repeat=len(rows))
        if all(map(may_follow, [None, *tags], tags))
    )
    assert value(tuple(best_tags([rows])[0])) == pytest.approx(max(map(value, legal)))


@pytest.mark.parametrize(
    ("favoured", "expected"),
    [
        ([], []),
        ([I_MINOR], [O]),
        ([O, I_MAJOR, I_MAJOR], [O, B_MAJOR, I_MAJOR]),
        ([B_MINOR, I_MINOR, O, B_MAJOR], [B_MINOR, I_MINOR, O, B_MAJOR]),
    ],
)
def test_best_tags(favoured: list[int], expected: list[int]) -> None:
    (found,) = best_tags([certain(*favoured)])
    assert found == expected


def one_by_one(rows: Floats) -> list[int]:
    """Viterbi's algorithm as it is told in books; of equal paths the one with the least tag."""
    scores = [value if may_follow(None, tag) else -math.inf for tag, value in enumerate(rows[0])]
    origins = []
    for row in rows[1:]:
        paths = [[scores[b] if may_follow(b, tag) else -math.inf for b in range(len(TAGS))] for tag in range(len(TAGS))]
        origins.append([path.index(max(path)) for path in paths])
        scores = [max(path) + value for path, value in zip(paths, row, strict=True)]
    tags = [scores.index(max(scores))]
    for origin in reversed(origins):
        tags.append(origin[tags[-1]])
    return tags[::-1]


# few values, so that many paths are equal
coarse = st.lists(st.lists(st.sampled_from([-2.0, -1.0, -0.5]), min_size=5, max_size=5), min_size=1, max_size=7).map(
    np.array
)


@given(st.lists(coarse, max_size=6), st.integers(1, 20))
def test_tags_of_one_hypothesis_do_not_depend_on_the_others(hypotheses: list[Floats], together: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "_PADDED_TOKENS", together)
        found = best_tags(hypotheses)
    assert found == [one_by_one(rows) for rows in hypotheses]


def test_hypotheses_without_tokens_stand_among_others() -> None:
    rows = [np.zeros((0, 5)), certain(B_MINOR), np.zeros((0, 5))]
    assert best_tags(rows) == [[], [B_MINOR], []]


TEXT = "Das  Haus ist blau."
RANGES = [(0, 3), (5, 7), (7, 9), (10, 13), (14, 18), (18, 19)]


@pytest.mark.parametrize(
    ("tags", "whole_words", "expected"),
    [
        ([O] * 6, False, []),
        ([B_MAJOR] + [I_MAJOR] * 5, False, [(0, 19, MAJOR)]),
        ([B_MINOR, I_MINOR, O, O, O, O], False, [(0, 7, MINOR)]),
        ([B_MINOR, I_MINOR, O, O, O, O], True, [(0, 9, MINOR)]),
        # two errors in one word become one, at the worse severity
        ([O, B_MINOR, B_MAJOR, O, O, O], True, [(5, 9, MAJOR)]),
        ([O, B_MINOR, B_MAJOR, O, O, O], False, [(5, 7, MINOR), (7, 9, MAJOR)]),
        ([O, O, O, O, O, B_MINOR], True, [(18, 19, MINOR)]),
    ],
)
def test_decode(tags: list[int], whole_words: bool, expected: list[tuple[int, int, Severity]]) -> None:
    spans = decode(certain(*tags), RANGES, TEXT, min_confidence=0.5, whole_words=whole_words)
    assert [(span.start, span.end, span.severity) for span in spans] == expected
    assert all(span.confidence == pytest.approx(0.96 + 0.03, abs=0.001) for span in spans)


def test_no_tokens_and_white_space_give_no_spans() -> None:
    assert decode(np.zeros((0, 5)), [], "", min_confidence=0.5) == ()
    assert decode(certain(B_MAJOR), [(1, 1)], "  ", min_confidence=0.5) == ()


def test_bytes_of_one_character_with_two_errors_are_one_span() -> None:
    assert decode(certain(B_MINOR, B_MAJOR), [(0, 1), (0, 1)], "😀", min_confidence=0.5) == (
        ErrorSpan(0, 1, MAJOR, confidence=0.99),
    )


def test_less_confidence_marks_more() -> None:
    rows = np.log(np.array([[0.6, 0.3, 0.02, 0.06, 0.02], [0.85, 0.12, 0.01, 0.01, 0.01]]))
    ranges = [(0, 3), (4, 7)]
    text = "Das Bad"
    counts = [len(decode(rows, ranges, text, min_confidence=least)) for least in (0.5, 0.3, 0.1, 0.01)]
    assert counts == [0, 1, 2, 2]


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


def test_fitted_confidences_decide_what_is_marked() -> None:
    rows = np.log(
        np.array([[0.8, 0.2, 0, 0, 0], [0.99, 0.01, 0, 0, 0], [0.8, 0.2, 0, 0, 0], [0.8, 0, 0.2, 0, 0]]) + 1e-9
    )
    prediction = Prediction(
        "a b c d", np.array([(0, 1), (2, 3), (4, 5), (6, 7)], dtype=np.int32), Outputs.of([TagProbabilities(rows)])
    )
    fitted = SpanConfidence("source", 0.1, 1.0, 1.0, 0.0)
    found = [
        [(span.start, span.end, span.confidence) for span in spans]
        for least in (0.1, 0.25, 0.4)
        for spans in decoding.decode([prediction], min_confidences=[least], confidences=[fitted])
    ]
    short = (0, 1, 0.2)
    long = (4, 7, 0.3333)
    assert found == [[short, long], [long], []]
    # Without a fit, the least confidence also decides which tokens are marked.
    (plain,) = decoding.decode([prediction], min_confidences=[0.1], confidences=[None])
    assert [span.confidence for span in plain] == [0.2, 0.2]
    assert decoding.decode([prediction], min_confidences=[0.25], confidences=[None]) == [()]


@pytest.mark.parametrize(("major", "expected"), [(None, "minor"), (0.3, "minor"), (0.25, "major")])
def test_the_fitted_probability_of_a_major_span_decides_the_severity(major: float | None, expected: str) -> None:
    rows = np.log(np.array([[0.5, 0.2, 0.1, 0.1, 0.1], [0.5, 0.1, 0.2, 0.1, 0.1]]))
    prediction = Prediction("a b", np.array([(0, 1), (2, 3)], dtype=np.int32), Outputs.of([TagProbabilities(rows)]))
    fitted = SpanConfidence("source", 0.1, 1.0, 1.0, 0.0, major=major)
    ((span,),) = decoding.decode([prediction], min_confidences=[0.1], confidences=[fitted])
    assert (span.start, span.end, span.severity) == (0, 3, Severity(expected))


def test_expected_score_of_tags() -> None:
    rows = np.log(np.array([[0.5, 0.2, 0.05, 0.2, 0.05], [0.7, 0.1, 0.1, 0.05, 0.05]]))
    no_tokens = np.zeros((0, 5))
    found = scores_of_tags([no_tokens, rows, no_tokens, certain(*[B_MAJOR] * 9), no_tokens])
    assert found == pytest.approx([0, -(0.3 + 5 * 0.25), 0, -25, 0])
    assert scores_of_tags([no_tokens]) == [0]
    assert scores_of_tags([]) == []


@pytest.mark.parametrize(
    ("errors", "marked"),
    [
        ([0.15, 0.9, 0.2, 0.05, 0.15], [(2, 3), (8, 9)]),  # beside a clear error, doubtful words are not marked
        ([0.15, 0.3, 0.2, 0.05, 0.15], [(0, 5), (8, 9)]),
        ([0.15, 0.9, 0.3, 0.05, 0.05], [(2, 5)]),
    ],
)
def test_a_clear_error_is_not_marked_with_its_neighbours(errors: list[float], marked: list[tuple[int, int]]) -> None:
    rows = np.full((5, len(TAGS)), 1e-9)
    rows[:, O] = 1 - np.array(errors)
    rows[:, I_MAJOR] = np.array(errors)
    rows[:, B_MAJOR] = 0.99 * np.array(errors)  # so that a span goes on rather than begins anew
    prediction = Prediction(
        "a b c d e", np.array([(at, at + 1) for at in range(0, 9, 2)]), Outputs.of([TagProbabilities(np.log(rows))])
    )
    fitted = SpanConfidence("source", 0.1, 1.0, 1.0, 0.0)
    (spans,) = decoding.decode([prediction], min_confidences=[0.01], confidences=[fitted])
    assert [(span.start, span.end) for span in spans] == marked
