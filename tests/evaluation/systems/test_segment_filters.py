from __future__ import annotations

import pytest

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity
from matese.evaluation.systems import segment_filters
from matese.evaluation.systems.segment_filters import Filter
from tests.evaluation.material import major, minor


def rows(*texts: str) -> list[tuple[Rating, ...]]:
    return [(Rating(Segment("x", source=text), None, ()),) for text in texts]


@pytest.mark.parametrize(
    ("selected_by", "texts", "kept"),
    [
        (segment_filters.by_length(0, None), ("", "a"), [True, True]),
        (segment_filters.by_length(1, 2), ("", "a", "a b", "a b c", "很好吃"), [False, True, True, False, False]),
        (segment_filters.by_length(0, 0), ("", "a"), [True, False]),
        (segment_filters.without_duplicates(), ("a", "b", "a", "A"), [True, True, False, True]),
        (segment_filters.with_number(), ("", "no", "14,500", "٣"), [False, False, True, True]),
        (
            segment_filters.with_name(),
            ("", "In Rom", "Rom", "He saw McDonald", "i. Am", "und I", "好"),
            [0, 1, 0, 1, 0, 0, 0],
        ),
        (segment_filters.with_name(), ("so I'm", "so I’ll go", "so I'm Ina", "in Irland"), [0, 0, 1, 1]),
        (segment_filters.with_terms({"Haus", "c++"}), ("das HAUS.", "Haustür", "C++!", ""), [True, False, True, False]),
        (segment_filters.with_terms({"cafe\u0301"}), ("Café", "cafe"), [True, False]),
        (segment_filters.with_terms({"博物馆"}), ("去博物馆吧", "去图书馆"), [True, False]),
    ],
)
def test_by_source(selected_by: Filter, texts: tuple[str, ...], kept: list[bool]) -> None:
    assert selected_by.keep(rows(*texts)) == [bool(one) for one in kept]


def test_a_source_in_two_language_pairs_is_no_duplicate() -> None:
    segments = [
        (Rating(Segment("x", source="a", key=SegmentKey(lang_pair=pair)), None, ()),)
        for pair in ("en-de", "en-ru", "en-de")
    ]
    assert segment_filters.without_duplicates().keep(segments) == [True, True, False]


def judged(*errors: ErrorSpan) -> Rating:
    return Rating(Segment("Das Haus"), None, errors)


SEGMENTS = [
    (judged(), judged()),
    (judged(minor(0, 3)), judged(major(0, 3), major(4, 8))),
    (judged(ErrorSpan(0, 3, Severity.CRITICAL)), judged(minor(0, 3))),
]


@pytest.mark.parametrize(
    ("selected_by", "kept"),
    [
        (segment_filters.with_severity("none"), [True, False, False]),
        (segment_filters.with_severity("major"), [False, True, False]),
        (segment_filters.with_severity("minor", "none"), [True, True, True]),
        (segment_filters.with_severity("critical"), [False, False, True]),
        (segment_filters.by_errors(2, None), [False, True, False]),
        (segment_filters.by_errors(0, 0), [True, False, False]),
    ],
)
def test_by_errors_of_any_system(selected_by: Filter, kept: list[bool]) -> None:
    assert selected_by.keep(SEGMENTS) == kept


def test_text_of_a_segment() -> None:
    assert segment_filters.judged_text(Segment("h", "s", ("r",))) == "s"
    assert segment_filters.judged_text(Segment("h", None, ("r",))) == "r"
    assert segment_filters.judged_text(Segment("h")) == "h"
