from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese import merging
from matese.annotation import ErrorSpan, Estimate, Omission, Overall, Rating, Segment, Severity, UnplacedError

TEXT = "Das ist ein guter Satz."
SEGMENT = Segment(TEXT, "This is a good sentence.")
RANKS: dict[Severity | None, int] = {None: 0, **{severity: rank for rank, severity in enumerate(Severity, start=1)}}

spans = st.builds(
    lambda start, length, severity, category: ErrorSpan(start, min(start + length, len(TEXT)), severity, category),
    st.integers(0, len(TEXT) - 1),
    st.integers(1, len(TEXT)),
    st.sampled_from([None, *Severity]),
    st.sampled_from([None, "Style/Awkward", "Fluency/Grammar"]),
)
ratings = st.lists(st.lists(spans, max_size=4), min_size=1, max_size=4).map(
    lambda marks: [rating(f"r{number}", *errors) for number, errors in enumerate(marks)]
)


def minor(start: int, end: int, category: str | None = None) -> ErrorSpan:
    return ErrorSpan(start, end, Severity.MINOR, category)


def major(start: int, end: int, category: str | None = None) -> ErrorSpan:
    return ErrorSpan(start, end, Severity.MAJOR, category)


def rating(rater: str | None, *errors: ErrorSpan, **others: Any) -> Rating:
    return Rating(SEGMENT, rater, errors, **others)


def merge(*given: Rating, method: merging.MergeMethod = "union", seed: int = 0) -> Rating:
    return merging.merge(given, method=method, rng=random.Random(seed))


def overlap(one: ErrorSpan, other: ErrorSpan) -> bool:
    return bool(set(range(one.start, one.end)) & set(range(other.start, other.end)))


@pytest.mark.parametrize(
    ("given_spans", "expected"),
    [
        ([], []),
        ([minor(0, len(TEXT))], [minor(0, len(TEXT))]),
        ([minor(0, 3), minor(3, 5)], [minor(0, 3), minor(3, 5)]),
        ([minor(0, 3), minor(0, 3)], [minor(0, 3)]),
        ([minor(0, 9), major(8, 11)], [major(8, 11)]),
        ([minor(2, 3), major(0, len(TEXT))], [major(0, len(TEXT))]),
        ([ErrorSpan(0, 3, None), minor(2, 4)], [minor(2, 4)]),
        ([major(0, 3), ErrorSpan(2, 4, Severity.CRITICAL)], [ErrorSpan(2, 4, Severity.CRITICAL)]),
        ([major(8, 11), minor(12, 17), minor(0, 3)], [minor(0, 3), major(8, 11), minor(12, 17)]),
    ],
    ids=["none", "whole", "touching", "equal", "part", "inside", "undecided", "critical", "sorted"],
)
def test_of_overlapping_spans_the_more_severe_stays(given_spans: list[ErrorSpan], expected: list[ErrorSpan]) -> None:
    for seed in range(5):
        assert merging.resolve_overlaps(given_spans, rng=random.Random(seed)) == tuple(expected)


def test_of_two_with_one_severity_either_may_stay() -> None:
    one = major(0, 5)
    other = major(4, 9)
    kept = {merging.resolve_overlaps([one, other], rng=random.Random(seed)) for seed in range(20)}
    assert kept == {(one,), (other,)}


def test_a_minor_stays_where_the_major_it_overlaps_has_gone() -> None:
    # A chain: of the Majors the second is drawn for some seed, and then nothing that stays overlaps the Minor.
    chain = [minor(0, 3), major(2, 6), major(5, 9)]
    assert (minor(0, 3), major(5, 9)) in {
        merging.resolve_overlaps(chain, rng=random.Random(seed)) for seed in range(20)
    }


@given(st.lists(spans, max_size=8), st.integers())
def test_what_stays_is_disjoint_and_what_goes_overlaps_it(marked: list[ErrorSpan], seed: int) -> None:
    kept = merging.resolve_overlaps(marked, rng=random.Random(seed))
    assert all(not overlap(one, other) for i, one in enumerate(kept) for other in kept[:i])
    assert set(kept) <= set(marked)
    for span in marked:
        assert any(overlap(span, other) and RANKS[span.severity] <= RANKS[other.severity] for other in kept)


@given(ratings, st.randoms(use_true_random=False), st.integers(), st.sampled_from(["union", "majority"]))
def test_the_order_of_the_raters_does_not_matter(
    given_ratings: list[Rating], shuffler: random.Random, seed: int, method: merging.MergeMethod
) -> None:
    shuffled = [
        replace(one, errors=tuple(shuffler.sample(one.errors or (), len(one.errors or ())))) for one in given_ratings
    ]
    shuffler.shuffle(shuffled)
    assert merge(*given_ratings, method=method, seed=seed) == merge(*shuffled, method=method, seed=seed)


@given(ratings, st.integers())
def test_a_majority_is_part_of_the_union_of_all(given_ratings: list[Rating], seed: int) -> None:
    marked = {span for one in given_ratings for span in one.errors or ()}
    kept = merge(*given_ratings, method="majority", seed=seed).errors or ()
    for span in kept:
        agreeing = [one for one in given_ratings if any(overlap(span, other) for other in one.errors or ())]
        assert span in marked
        assert len(agreeing) > len(given_ratings) / 2


def test_union_is_the_errors_of_all() -> None:
    merged = merge(rating("r2", major(8, 11)), rating("r1", minor(0, 3), minor(9, 17)), rating("r3"))
    assert merged == rating("r1+r2+r3", minor(0, 3), major(8, 11))


@pytest.mark.parametrize(
    ("raters", "expected"),
    [
        ([[minor(0, 3)]], [minor(0, 3)]),
        ([[minor(0, 3)], []], []),
        ([[minor(0, 3)], [major(2, 4)]], [major(2, 4)]),
        ([[minor(0, 3)], [minor(2, 4)], [minor(12, 17)]], None),
        ([[minor(0, 3), minor(1, 2)], [], []], []),
    ],
    ids=["one rater", "half", "part of it", "two of three", "one rater twice"],
)
def test_majority(raters: list[list[ErrorSpan]], expected: list[ErrorSpan] | None) -> None:
    merged = merge(*(rating(f"r{i}", *errors) for i, errors in enumerate(raters)), method="majority")
    if expected is None:
        assert merged.errors in ((minor(0, 3),), (minor(2, 4),))
    else:
        assert merged.errors == tuple(expected)


@pytest.mark.parametrize(
    ("method", "expected"), [("union", "mmM"), ("majority", "m")], ids=["most of one rater", "what two of three have"]
)
def test_errors_without_a_place_are_counted_by_kind(method: merging.MergeMethod, expected: str) -> None:
    small = UnplacedError(Severity.MINOR, "Other")
    great = UnplacedError(Severity.MAJOR)
    raters: Sequence[tuple[UnplacedError, ...]] = [(small, small), (great, small), ()]
    merged = merge(*(rating(f"r{i}", unplaced=unplaced) for i, unplaced in enumerate(raters)), method=method)
    assert merged.unplaced == tuple({"m": small, "M": great}[letter] for letter in expected)


def test_source_errors_are_merged_alike() -> None:
    merged = merge(rating("a", source_errors=(minor(0, 4),)), rating("b", source_errors=(major(3, 6),)))
    assert merged.source_errors == (major(3, 6),)


@pytest.mark.parametrize(
    ("method", "expected"),
    [("union", ["source 0..6", "reference 0 0..4"]), ("majority", ["source 0..6"])],
)
def test_omissions_are_merged_by_text(method: merging.MergeMethod, expected: list[str]) -> None:
    segment = Segment("a", "bcdefg", ("hijk",))
    first = Omission("source", None, 0, 3, Severity.MINOR), Omission("reference", 0, 0, 4, Severity.MAJOR)
    raters = [first, (Omission("source", None, 0, 6, Severity.MAJOR),), ()]
    ratings = [Rating(segment, f"r{i}", (), omissions=omissions) for i, omissions in enumerate(raters)]
    merged = merge(*ratings, method=method)
    assert [f"{one.text_name} {one.start}..{one.end}" for one in merged.omissions] == expected


@pytest.mark.parametrize(
    ("overalls", "expected"),
    [
        ([None, None], None),
        ([Overall(-1.0, "mqm"), None], None),
        ([Overall(-1.0, "mqm"), Overall(50.0, "esa")], None),
        ([Overall(-1.0, "mqm"), Overall(-4.0, "mqm")], Overall(-2.5, "mqm")),
    ],
)
def test_overall_is_the_mean_on_one_scale(overalls: list[Overall | None], expected: Overall | None) -> None:
    merged = merge(*(rating(f"r{i}", overall=overall) for i, overall in enumerate(overalls)))
    assert merged.overall == expected


def test_estimates_are_merged_apart_from_people_s_judgements() -> None:
    estimates = [Estimate(-1.0, "mqm", -2.0, 0.0), Estimate(-4.0, "mqm", -5.0, 0.0)]
    both = [rating(f"r{i}", overall=Overall(0.0, "mqm"), estimate=one) for i, one in enumerate(estimates)]
    assert (merge(*both).overall, merge(*both).estimate) == (Overall(0.0, "mqm"), Estimate(-2.5, "mqm"))
    assert merge(both[0]).estimate == estimates[0]


def test_a_rating_without_overlaps_alone_is_itself() -> None:
    alone = rating("r1", minor(0, 3), major(4, 7), unplaced=(UnplacedError(Severity.MINOR),))
    assert merge(alone) == alone
    assert merge(rating(None, minor(0, 3))).rater is None


def test_what_cannot_be_merged() -> None:
    rng = random.Random(0)
    with pytest.raises(ValueError, match=r"cannot merge ratings of 0 segments; give ratings of one"):
        merging.merge([], rng=rng)
    with pytest.raises(ValueError, match=r"cannot merge ratings of 2 segments"):
        merging.merge([rating("a"), Rating(Segment("other"), "b", ())], rng=rng)
    with pytest.raises(ValueError, match=r"rating of a without spans \(errors is None\): only spans can be merged"):
        merging.merge([Rating(SEGMENT, "a", None)], rng=rng)
    with pytest.raises(ValueError, match=r"merging method 'most': must be one of union, majority"):
        merging.merge([rating("a")], method="most", rng=rng)  # type: ignore[arg-type]
