"""Raw ratings of several raters made into training data; the whole through the command is in `cli/test_prepare.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from matese import preparation
from matese.annotation import ErrorSpan, Omission, Overall, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.errors import InputError

MINOR = Severity.MINOR
MAJOR = Severity.MAJOR


def rating(hypothesis: str, *errors: ErrorSpan, source: str | None = None, rater: str = "r") -> Rating:
    return Rating(Segment(hypothesis, source), rater, errors)


def counter() -> tuple[Counter[str], Callable[[str], None]]:
    counts: Counter[str] = Counter()

    def count(reason: str) -> None:
        counts[reason] += 1

    return counts, count


HAD = [rating("Yuan hadhad a field", ErrorSpan(8, 11, MINOR)), *[rating("Yuan had a field")] * 2]
ALL = [rating("I saw all cars", ErrorSpan(6, 10, MINOR, "Accuracy/Omission")), rating("I saw cars")]


@pytest.mark.parametrize(
    ("raters", "text", "errors", "unplaced", "reason"),
    [
        (HAD, "Yuan had a field", [ErrorSpan(5, 8, MINOR)], [], "rating moved to the text of the other raters"),
        ([rating("I saw cars"), *[rating("I saw red cars")] * 2], "I saw red cars", [], [], None),  # though longer
        # Of equally frequent texts the shortest counts, whatever the order.
        *((raters, "I saw cars", [], [UnplacedError(MINOR, "Accuracy/Omission")],
           "error without a place in the unified text") for raters in (ALL, ALL[::-1])),
    ],
)  # fmt: skip
def test_the_text_of_most_raters_counts(
    raters: list[Rating], text: str, errors: list[ErrorSpan], unplaced: list[UnplacedError], reason: str | None
) -> None:
    counts, count = counter()
    unified = preparation.unify_texts(raters, count)
    assert {one.segment for one in unified} == {Segment(text)}
    assert [error for one in unified for error in one.errors or ()] == errors
    assert [error for one in unified for error in one.unplaced] == unplaced
    assert reason is None or counts[reason] == 1


def test_sources_are_unified_and_their_spans_moved() -> None:
    _, count = counter()
    typed = Rating(Segment("b", "aa so"), "r1", (), source_errors=(ErrorSpan(3, 5, MINOR),))
    unified = preparation.unify_texts([typed, rating("b", source="a so"), rating("b", source="a so")], count)
    assert unified[0].segment.source == "a so"
    assert unified[0].source_errors == (ErrorSpan(2, 4, MINOR),)


@pytest.mark.parametrize(
    ("text", "span", "expected"),
    [
        ("a b", (0, 3), (0, 3)),
        (" a ", (0, 3), (1, 2)),
        ("a b c", (1, 4), (2, 3)),
        ("a  b", (1, 3), None),
        ("a\u3000b", (1, 2), None),
        ("a\u3000b", (1, 3), (2, 3)),
    ],
)
def test_spans_are_trimmed(text: str, span: tuple[int, int], expected: tuple[int, int] | None) -> None:
    counts, count = counter()
    given = Rating(Segment(text, text), "r", (ErrorSpan(*span, MINOR),), source_errors=(ErrorSpan(*span, MAJOR),))
    trimmed = preparation.trim(given, count)
    if expected is None:
        assert (trimmed.errors, trimmed.source_errors) == ((), ())
        assert trimmed.unplaced == (UnplacedError(MINOR), UnplacedError(MAJOR))
        assert counts == {"error on white space only, kept without a place": 2}
    else:
        assert trimmed.errors == (ErrorSpan(*expected, MINOR),)
        assert trimmed.source_errors == (ErrorSpan(*expected, MAJOR),)
        assert counts == ({} if span == expected else {"white space at the ends of a span trimmed": 2})


@pytest.mark.parametrize(
    ("category", "severity", "reason"),
    [
        ("Accuracy/Omission", MAJOR, "Accuracy/Omission"),
        ("accuracy/omission", MINOR, "Accuracy/Omission"),
        ("Source error", MINOR, "Source error"),
        ("Source error/Grammar", MAJOR, "Source error"),
        ("Non-translation!", MAJOR, "Non-translation"),
        ("non-translation", MAJOR, "Non-translation"),
        ("Style/Awkward", Severity.NEUTRAL, "Neutral"),
        (None, Severity.NEUTRAL, "Neutral"),
        ("Accuracy/Addition", MINOR, None),
        (None, None, None),
    ],
)
def test_what_is_left_out(category: str | None, severity: Severity | None, reason: str | None) -> None:
    left_out, leave_out = counter()
    changed, change = counter()
    span = ErrorSpan(0, 1, severity, category)
    unplaced = UnplacedError(severity, category)
    given = Rating(Segment("a", "b"), "r", (span,), (span,), unplaced=(unplaced,))
    cleaned = preparation.clean(given, leave_out, change)
    kept = (cleaned.errors, cleaned.source_errors, cleaned.unplaced)
    assert kept == (((span,), (span,), (unplaced,)) if reason is None else ((), (), ()))
    assert left_out == ({} if reason is None else {reason: 3})
    assert not changed


KEY = SegmentKey("t", "en-de", "A", "d", 0)
SEGMENT = Segment("eins zwei drei", "one two three", (), KEY)


def rated(rater: str, *errors: ErrorSpan, segment: Segment = SEGMENT, overall: Overall | None = None) -> Rating:
    return Rating(segment, rater, errors, overall=overall)


def test_nothing_is_nothing() -> None:
    prepared = preparation.prepare([])
    assert (prepared.ratings, prepared.notices("a")) == ((), [])


def test_prepared_ratings_stay_as_they_are() -> None:
    raw = [rated("a", ErrorSpan(0, 4, MINOR)), rated("b", ErrorSpan(2, 9, Severity.CRITICAL))]
    once = preparation.prepare(raw)
    twice = preparation.prepare(once.ratings)
    assert once.is_changed
    assert not twice.is_changed
    assert list(twice.ratings) == list(once.ratings)


def test_spans_of_too_few_raters_are_counted() -> None:
    prepared = preparation.prepare([rated("a", ErrorSpan(0, 4, MINOR)), rated("b")], merge="majority")
    assert prepared.left_out == {"marked by too few raters, or overlapping another one": 1}
    assert prepared.notices("a.tsv")[1] == (
        "a.tsv: left out: marked by too few raters, or overlapping another one (1); changed: nothing"
    )


def test_of_overlapping_errors_of_one_rater_the_more_severe_stays_and_the_others_are_counted() -> None:
    minor = ErrorSpan(0, 6, MINOR)
    major = ErrorSpan(5, 9, MAJOR)
    prepared = preparation.prepare([rated("a", minor, major)])
    assert [rating.errors for rating in prepared.ratings] == [(major,)]
    assert prepared.ratings[0].overall == Overall(-6, "mqm")
    assert prepared.left_out == {"overlapping another one": 1}


@pytest.mark.parametrize(
    "raw",
    [
        [rated("contrasts"), rated("contrasts", segment=replace(SEGMENT, hypothesis="eins vier drei"))],
        [rated("contrasts"), rated("contrasts")],  # the same text twice is not a second rater
        [Rating(SEGMENT, "a", None, overall=Overall(50, "da")), Rating(SEGMENT, "b", None, overall=Overall(60, "da"))],
        [Rating(SEGMENT, "a", (), unplaced=(UnplacedError(MAJOR, "Accuracy/Omission"),))],
    ],
    ids=["variants", "twice", "no-spans", "unplaced"],
)
def test_what_is_not_raw(raw: list[Rating]) -> None:
    assert list(preparation.prepare(raw).ratings) == raw


def test_one_number_with_two_sources_stands_for_two_segments() -> None:
    other = Segment("Anderes.", "Other.", (), KEY)
    prepared = preparation.prepare([rated("a"), rated("b", segment=other), rated("c")])
    assert [one.rater for one in prepared.ratings] == ["a+c", "b"]


def test_segments_without_numbers_are_those_with_the_same_texts() -> None:
    texts = Segment("eins", "one")
    prepared = preparation.prepare([rated("a", segment=texts), rated("b", segment=texts), rated("b", segment=SEGMENT)])
    assert [one.rater for one in prepared.ratings] == ["a+b", "b"]


@pytest.mark.parametrize("names", [(None, None), (None, "a"), (None, "a", None)])
def test_one_text_by_unnamed_raters_is_one_segment(names: tuple[str | None]) -> None:
    (merged,) = preparation.prepare([replace(rated("a"), rater=name) for name in names]).ratings
    assert merged.rater == ("+".join(sorted({name for name in names if name})) or None)


def test_no_rater_counts_twice_in_a_segment() -> None:
    without_number = replace(SEGMENT, key=None)
    marked = rated("a", ErrorSpan(0, 4, MAJOR), segment=without_number)
    prepared = preparation.prepare([marked, marked, rated("b", segment=without_number)])
    means = [(one.rater, one.overall and one.overall.value) for one in prepared.ratings]
    assert means == [("a+b", -2.5), ("a", -5.0)]


def test_references_are_those_of_the_raters_who_have_some() -> None:
    with_reference = replace(SEGMENT, references=("eins zwei vier",))
    prepared = preparation.prepare([rated("a"), rated("b", segment=with_reference), rated("c")])
    assert [(one.rater, one.segment) for one in prepared.ratings] == [("a+b+c", with_reference)]
    assert prepared.changed == {"references taken from another rating of the segment": 2}
    other = rated("a", segment=replace(SEGMENT, references=("Anderes",)))
    with pytest.raises(InputError, match=r"segment 1 \('eins zwei drei'\) has ratings with different references"):
        preparation.prepare([other, rated("b", segment=with_reference)])


def test_variants_by_unnamed_raters_are_several_segments() -> None:
    other = replace(SEGMENT, hypothesis="eins vier drei")
    raw = [replace(rated("", segment=segment), rater=None) for segment in (SEGMENT, other)]
    assert list(preparation.prepare(raw).ratings) == raw


@pytest.mark.parametrize(
    ("raters", "expected"),
    [
        # Errors that are left out count in the score.
        ([rated("a", ErrorSpan(0, 4, MAJOR, "Source error")), rated("b")], Overall(-2.5, "mqm")),
        ([rated("a", overall=Overall(80, "esa")), rated("b", overall=Overall(60, "esa"))], Overall(70, "esa")),
        ([rated("a", overall=Overall(80, "esa")), rated("b", ErrorSpan(0, 4, MINOR))], Overall(-0.5, "mqm")),
        ([rated("a", ErrorSpan(0, 4, None)), rated("b", ErrorSpan(0, 4, MINOR))], Overall(-1, "mqm")),
        ([rated("a", ErrorSpan(0, 4, None)), rated("b", ErrorSpan(0, 4, None))], None),
    ],
)
def test_the_score_is_the_mean_of_the_raters(raters: list[Rating], expected: Overall | None) -> None:
    (merged,) = preparation.prepare(raters).ratings
    assert merged.overall == expected


def test_omissions_stay_with_major_in_place_of_critical() -> None:
    def omission(severity: Severity) -> Omission:
        return Omission("source", None, 4, 7, severity, "Accuracy/Omission")

    given = [
        replace(rated("a"), omissions=(omission(Severity.CRITICAL),)),
        replace(rated("b"), omissions=(omission(Severity.NEUTRAL),)),
    ]
    (merged,) = preparation.prepare(given).ratings
    assert merged.omissions == (omission(MAJOR),)


def test_each_source_is_in_one_part_and_splits_differ() -> None:
    ratings = [rated("a", segment=replace(SEGMENT, source=f"source {n % 20}")) for n in range(60)]
    splits = [preparation.split(ratings, {"dev": 0.1, "test": 0.2}, seed=0, number=number) for number in (1, 2)]
    for parts in splits:
        sources = {name: {one.segment.source for one in part} for name, part in parts.items()}
        assert {name: len(found) for name, found in sources.items()} == {"train": 14, "dev": 2, "test": 4}
        assert len(set().union(*sources.values())) == 20
    assert splits[0]["dev"] != splits[1]["dev"]
