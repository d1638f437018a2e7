from __future__ import annotations

import dataclasses
import math
import operator
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matese.annotation import (
    AnnotationError,
    ErrorSpan,
    Estimate,
    Omission,
    Overall,
    Rating,
    Segment,
    SegmentKey,
    Severity,
    TextWeights,
    TokenScores,
    UnplacedError,
    Votes,
)

MINOR = Severity.MINOR
MAJOR = Severity.MAJOR


def test_severities_are_ordered() -> None:
    ordered = [Severity.NEUTRAL, Severity.MINOR, Severity.MAJOR, Severity.CRITICAL]
    assert sorted([MAJOR, Severity.CRITICAL, Severity.NEUTRAL, MINOR]) == ordered == list(Severity)
    assert MINOR <= MINOR
    assert not MINOR < MINOR
    assert not MAJOR <= MINOR
    others: tuple[Any, ...] = ("major", 1, None)
    for other in others:
        with pytest.raises(TypeError, match="not supported between"):
            operator.lt(MINOR, other)


@pytest.mark.parametrize(("start", "end"), [(0, 0), (3, 3), (4, 3), (-1, 1), (-2, -1)])
def test_a_span_holds_a_character_or_more(start: int, end: int) -> None:
    with pytest.raises(ValueError, match=rf"error span {start}\.\.{end}: must have 0 <= start < end"):
        ErrorSpan(start, end, MINOR)


@pytest.mark.parametrize("confidence", [-0.1, 1.1, math.nan, math.inf])
def test_confidence_is_between_0_and_1(confidence: float) -> None:
    with pytest.raises(ValueError, match=rf"confidence {confidence}: must be between 0 and 1"):
        ErrorSpan(0, 1, MINOR, confidence=confidence)


@pytest.mark.parametrize(
    ("severity", "allowed"), [("minor", "Severity.MINOR"), (1, "a Severity or None"), ("Major", "a Severity or None")]
)
def test_a_severity_is_no_string(severity: Any, allowed: str) -> None:
    for make in (lambda: ErrorSpan(0, 1, severity), lambda: UnplacedError(severity)):
        with pytest.raises(TypeError, match=rf"severity {severity!r}: must be {allowed}$"):
            make()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (("hypothesis", None, 0, 1, MAJOR), r"text 'hypothesis' of an omission: must be source or reference"),
        (("source", 0, 0, 1, MAJOR), r"reference 0 of an omission: must be None, since text is source"),
        (("reference", None, 0, 1, MAJOR), r"reference None of an omission: must be the number of a reference, from 0"),
        (("reference", -1, 0, 1, MAJOR), r"reference -1 of an omission: must be the number of a reference, from 0"),
        (("source", None, 1, 1, MAJOR), r"omission 1\.\.1: must have 0 <= start < end"),
        (("source", None, -1, 1, MAJOR), r"omission -1\.\.1: must have 0 <= start < end"),
        (("source", None, 0, 1, MAJOR, None, 1.1), r"confidence 1\.1: must be between 0 and 1"),
    ],
)
def test_an_omission_is_words_of_a_text(values: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Omission(*values)
    severity: Any = "major"
    with pytest.raises(TypeError, match=r"severity 'major': must be Severity\.MAJOR"):
        Omission("source", None, 0, 1, severity)


@pytest.mark.parametrize(
    ("omission", "message"),
    [
        (Omission("source", None, 0, 3, MAJOR), r"omission 0\.\.3: must end within source \(2 characters\)"),
        (Omission("reference", 1, 0, 3, MAJOR), r"omission 0\.\.3: must end within reference 1 \(2 characters\)"),
        (Omission("reference", 0, 0, 1, MAJOR), r"omission 0\.\.1: must end within reference 0 \(0 characters\)"),
        (Omission("reference", 2, 0, 1, MAJOR), r"omission from reference 2: .* \(a source and 2 references\)"),
    ],
)
def test_an_omission_lies_within_its_text(omission: Omission, message: str) -> None:
    segment = Segment("", "👩s", ("", "é!"))
    with pytest.raises(ValueError, match=message):
        Rating(segment, None, (), omissions=(omission,))
    with pytest.raises(ValueError, match=r"omission from source: must be .* \(no source and 0 references\)"):
        Rating(Segment(""), None, None, omissions=(Omission("source", None, 0, 1, None),))


def test_omissions_are_sorted_and_have_words() -> None:
    segment = Segment("", "👩s", ("ab", "é!"))
    ordered = [
        Omission("source", None, 0, 1, MINOR),
        Omission("source", None, 0, 1, MAJOR),
        Omission("source", None, 1, 2, None),
        Omission("reference", 0, 0, 2, MINOR),
        Omission("reference", 1, 1, 2, MINOR),
    ]
    omissions: Any = ordered[::-1]
    rating = Rating(segment, None, (), omissions=omissions)
    assert rating.omissions == rating.all_errors == tuple(ordered)
    assert [one.words(segment) for one in rating.omissions] == ["👩", "👩", "s", "ab", "!"]
    assert [one.text_name for one in rating.omissions[-2:]] == ["reference 0", "reference 1"]


def test_texts_of_numpy_are_plain_strings() -> None:
    segment = Segment(numpy.str_("a"), numpy.str_("b"), (numpy.str_("c"), "d"))
    assert [type(text) for text in (segment.hypothesis, segment.source, *segment.references)] == [str] * 4
    assert segment == Segment("a", "b", ("c", "d"))


def test_references_are_not_one_string() -> None:
    with pytest.raises(TypeError, match="references is a str; it must be a tuple with one string for each reference"):
        Segment("a", references="abc")  # type: ignore[arg-type]


@pytest.mark.parametrize("scale", ["MQM", "", "stars", None])
def test_a_scale_is_a_known_one(scale: Any) -> None:
    with pytest.raises(ValueError, match=rf"scale {scale!r}: must be one of mqm, esa, da, z, hter, 0-1"):
        Overall(1, scale)
    with pytest.raises(ValueError, match=rf"scale {scale!r}: must be one of mqm, esa, da, z, hter, 0-1"):
        Estimate(1, scale)


@pytest.mark.parametrize(
    "make",
    [
        *(lambda value=value: Estimate(value, "da") for value in (math.nan, math.inf)),
        lambda: Estimate(1, "da", math.nan),
        lambda: Estimate(1, "da", None, -math.inf),
        *(lambda value=value: Estimate(-1, "mqm", -2, 0, value) for value in (-1.0, math.nan, math.inf)),
        *(lambda value=value: Overall(value, "da") for value in (math.nan, -math.inf)),
        *(lambda share=share: Votes(share, 0.0) for share in (-0.1, 1.1, math.nan)),
        lambda: Votes(0.5, 2.0),
        lambda: TokenScores(((0, 1),), ()),
        lambda: TextWeights("hypothesis", None, ((0, 1), (1, 2)), (0.5,)),
    ],
)
def test_numbers_are_finite_within_their_bounds_and_one_for_each_token(make: Callable[[], object]) -> None:
    with pytest.raises(AnnotationError):
        make()


def test_a_person_s_judgement_of_the_whole_precedes_a_model_s() -> None:
    both = Rating(Segment(""), None, None, overall=Overall(0, "da"), estimate=Estimate(-1, "mqm"))
    assert both.whole == both.overall
    assert dataclasses.replace(both, overall=None).whole == both.estimate
    assert Rating(Segment(""), None, ()).whole is None


@pytest.mark.parametrize(
    ("hypothesis", "end"), [("", 1), ("a", 2), ("👩‍👧", 4), ("e\u0301", 3)], ids=["empty", "one", "emoji", "combining"]
)
def test_spans_end_within_their_text(hypothesis: str, end: int) -> None:
    length = len(hypothesis)
    if length:
        Rating(Segment(hypothesis), None, (ErrorSpan(0, length, MINOR),))
    with pytest.raises(
        ValueError, match=rf"error span 0\.\.{end}: must end within the hypothesis \({length} characters"
    ):
        Rating(Segment(hypothesis), None, (ErrorSpan(0, end, MINOR),))
    with pytest.raises(ValueError, match=rf"error span 0\.\.{end}: must end within the source \({length} characters"):
        Rating(Segment("", hypothesis), None, (), (ErrorSpan(0, end, MINOR),))


def test_spans_are_sorted_and_may_touch_and_overlap() -> None:
    spans = (
        ErrorSpan(0, 1, MINOR),
        ErrorSpan(0, 3, None),
        ErrorSpan(0, 3, MINOR, "b"),
        ErrorSpan(0, 3, MAJOR),
        ErrorSpan(0, 3, MAJOR, "a"),
        ErrorSpan(1, 3, MINOR),
    )
    rating = Rating(Segment("abc", "abc"), "r", spans[::-1], spans[::-1])
    assert rating.errors == rating.source_errors == spans


def test_lists_become_tuples_and_are_not_changed() -> None:
    spans: Any = [ErrorSpan(1, 2, MINOR), ErrorSpan(0, 1, MINOR)]
    unplaced: Any = [UnplacedError(MINOR)]
    rating = Rating(Segment("ab", "ab"), None, spans, spans, unplaced=unplaced)
    assert rating.errors == rating.source_errors == (spans[1], spans[0])
    assert rating.unplaced == (UnplacedError(MINOR),)
    assert [span.start for span in spans] == [1, 0]


def test_the_types_are_frozen_hashable_and_can_be_pickled() -> None:
    rating = Rating(
        Segment("a", "b", ("c",), SegmentKey("t", "en-de", "s", "d", 1)),
        "r",
        (ErrorSpan(0, 1, MAJOR, "c", 0.5),),
        omissions=(Omission("reference", 0, 0, 1, MAJOR),),
        unplaced=(UnplacedError(MINOR),),
        overall=Overall(1, "z"),
        estimate=Estimate(1, "z", 0, 2),
    )
    assert pickle.loads(pickle.dumps(rating)) == rating
    assert len({rating, pickle.loads(pickle.dumps(rating))}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        rating.rater = "other"  # type: ignore[misc]
    # `replace` checks again.
    with pytest.raises(ValueError, match="must end within the hypothesis"):
        dataclasses.replace(rating, segment=Segment("", "b"))


spans = st.builds(
    lambda start, length, severity, category: ErrorSpan(start, start + length, severity, category),
    st.integers(0, 6),
    st.integers(1, 4),
    st.none() | st.sampled_from(Severity),
    st.none() | st.sampled_from(["Accuracy", "Fluency"]),
)


@settings(deadline=None)
@given(st.lists(spans, max_size=6), st.randoms())
def test_a_rating_does_not_depend_on_the_order_of_its_spans(errors: list[ErrorSpan], shuffle: random.Random) -> None:
    shuffled = shuffle.sample(errors, len(errors))
    rating = Rating(Segment("0123456789"), None, tuple(errors))
    assert rating == Rating(Segment("0123456789"), None, tuple(shuffled))
    starts = [span.start for span in rating.errors or ()]
    assert starts == sorted(starts)


@pytest.mark.parametrize("blank", ["", " ", "\t", "\u3000", "\u00a0", "\ufeff", "\u200b\u2009"])
def test_a_blank_text_is_a_missing_one(blank: str) -> None:
    for segment, expected in [
        (Segment("h", "s", ("r",)), Segment("h", "s", ("r",))),
        (Segment("h", blank, ("r",)), Segment("h", None, ("r",))),
        (Segment("h", "s", (blank,)), Segment("h", "s")),
        (Segment("h", None, (blank, "r", blank)), Segment("h", None, ("r",))),
        (Segment("h", blank, (blank,)), Segment("h")),
        (Segment(blank, "s", (blank,)), Segment(blank, "s")),
        # Nothing to translate.
        (Segment(blank, blank, (blank,)), Segment(blank, blank, (blank,))),
        (Segment(blank), Segment(blank)),
    ]:
        assert segment.without_blanks() == expected
