"""Ratings of every kind that the types allow, for the formats to hold what they can."""

from __future__ import annotations

import dataclasses
from typing import Any

from hypothesis import strategies as st

from matese.annotation import (
    ErrorFree,
    ErrorSpan,
    Estimate,
    Omission,
    Overall,
    Rating,
    Segment,
    SegmentKey,
    Severity,
    UnplacedError,
    Votes,
)

LETTERS = st.one_of(
    st.sampled_from("ab c.,<v>/\t\n\r\"'\\;:|&😀👩\u200d\u0301é你של"), st.characters(exclude_categories=["Cs"])
)
TEXTS = st.one_of(st.text(LETTERS, max_size=12), st.sampled_from(["", " ", "a<v>b</v>", "😀😀", "<b>x</b> {0} %s"]))
SEVERITIES = st.one_of(st.none(), st.sampled_from(Severity))
CATEGORIES = st.one_of(st.none(), st.sampled_from(["", "Accuracy/Omission", "a: b", "Minor", "no-error\t"]))
RATERS: list[list[str | None]] = [[None], ["r1"], ["r1", "r 2"], ["matese|model:mini@1a2b3c4d"]]
CONFIDENCES = st.one_of(st.none(), st.floats(0, 1))
ERROR_FREE = st.one_of(st.none(), st.builds(ErrorFree, st.booleans(), CONFIDENCES))
VOTES = st.one_of(st.none(), st.builds(Votes, st.floats(0, 1), st.floats(0, 1)))
RULES = st.sampled_from([None, None, "numbers"])
OF_NAMES = {"category": CATEGORIES, "rule": RULES, "words": st.sampled_from([None, None, "<x 1>"])}
OF_TYPES = {
    "str": st.sampled_from([None, None, "", "a: b"]),
    "Severity": SEVERITIES,
    "Probability": CONFIDENCES,
    "Votes": VOTES,
    "ErrorFree": ERROR_FREE,
}
"""Values of the types that fields without a value may have."""


def details(kind: type, *made: str) -> st.SearchStrategy[dict[str, Any]]:
    """Values of the fields of a type that need not have one, except for those that are made elsewhere."""
    kinds = {
        field.name: str(field.type).removesuffix(" | None")
        for field in dataclasses.fields(kind)
        if str(field.type).endswith(" | None") and field.name not in made
    }
    return st.fixed_dictionaries({name: OF_NAMES.get(name, OF_TYPES[of_type]) for name, of_type in kinds.items()})


@st.composite
def spans(draw: st.DrawFn, within: str, kind: type = ErrorSpan, /, **more: object) -> tuple[Any, ...]:
    if not within:
        return ()
    spans = []
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(within) - 1))
        end = draw(st.integers(start + 1, len(within)))
        spans.append(kind(start=start, end=end, **more, **draw(details(kind, *more))))
    return tuple(spans)


@st.composite
def omissions(draw: st.DrawFn, segment: Segment) -> tuple[Omission, ...]:
    texts = [("source", None, segment.source), *(("reference", *pair) for pair in enumerate(segment.references))]
    return tuple(
        omission
        for name, number, text in texts
        for omission in draw(spans(text or "", Omission, text=name, reference=number))
    )


@st.composite
def wholes(draw: st.DrawFn) -> tuple[Overall | None, Estimate | None]:
    scale = draw(st.sampled_from([None, "mqm", "esa", "da", "z"]))
    if scale is None:
        return None, None
    value = draw(st.floats(-25, 100))
    if draw(st.booleans()):
        return Overall(value, scale), None  # type: ignore[arg-type]
    low, high, deviation = draw(st.sampled_from([(None, None, None), (0.0, 100.0, None), (0.0, 100.0, 12.5)]))
    return None, Estimate(value, scale, low, high, deviation)  # type: ignore[arg-type]


@st.composite
def ratings(draw: st.DrawFn) -> list[Rating]:
    """A few segments with one or two raters each; ratings of a segment stand together."""
    made = []
    for index in range(draw(st.integers(1, 3))):
        key = draw(
            st.one_of(
                st.builds(
                    SegmentKey,
                    st.sampled_from([None, "ted", "a b"]),
                    st.sampled_from([None, "en-de", "zh-en"]),
                    st.sampled_from([None, "", "A", "7", "system x", "😀"]),
                    st.sampled_from([None, "", "talk.1"]),
                    st.just(index),
                    st.sampled_from([None, None, "", "news"]),
                ),
                st.just(SegmentKey(None, "en-de", "A", "d", index)),
            )
        )
        source = draw(st.one_of(st.none(), TEXTS))
        segment = Segment(draw(TEXTS), source, tuple(draw(st.lists(TEXTS, max_size=2))), key)
        for rater in draw(st.sampled_from(RATERS)):
            errors = draw(st.one_of(st.none(), spans(segment.hypothesis)))
            source_errors = draw(spans(source or "")) if errors is not None else ()
            unplaced = [UnplacedError(**values) for values in draw(st.lists(details(UnplacedError), max_size=2))]
            omitted = draw(omissions(segment)) if errors is not None else ()
            overall, estimate = draw(wholes())
            of_rating = draw(details(Rating, "rater", "errors", "overall", "estimate"))
            made.append(
                Rating(
                    segment,
                    rater,
                    errors,
                    source_errors,
                    omitted,
                    tuple(unplaced),
                    overall,
                    estimate,
                    **of_rating,
                )
            )
    return made
