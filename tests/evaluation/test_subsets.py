from __future__ import annotations

import pytest

from matese.annotation import ErrorSpan, Rating, Segment, Severity
from matese.evaluation import subsets
from matese.evaluation.subsets import Subset
from tests.evaluation.material import major, minor


def rows(*texts: str) -> list[tuple[Rating, ...]]:
    return [(Rating(Segment("x", source=text), None, ()),) for text in texts]


@pytest.mark.parametrize(
    ("subset", "texts", "kept"),
    [
        (subsets.by_length(0, None), ("", "a"), [True, True]),
        (subsets.by_length(1, 2), ("", "a", "a b", "a b c", "很好吃"), [False, True, True, False, False]),
        (subsets.by_length(0, 0), ("", "a"), [True, False]),
        (subsets.without_duplicates(), ("a", "b", "a", "A"), [True, True, False, True]),
        (subsets.with_number(), ("", "no", "14,500", "٣"), [False, False, True, True]),
        (subsets.with_name(), ("", "In Rom", "Rom", "He saw McDonald", "i. Am", "und I", "好"), [0, 1, 0, 1, 0, 0, 0]),
        (subsets.with_name(), ("so I'm", "so I’ll go", "so I'm Ina", "in Irland"), [0, 0, 1, 1]),
        (subsets.with_terms({"Haus", "c++"}), ("das HAUS.", "Haustür", "C++!", ""), [True, False, True, False]),
        (subsets.with_terms({"cafe\u0301"}), ("Café", "cafe"), [True, False]),
        (subsets.with_terms({"博物馆"}), ("去博物馆吧", "去图书馆"), [True, False]),
    ],
)
def test_by_source(subset: Subset, texts: tuple[str, ...], kept: list[bool]) -> None:
    assert subset.keeps(rows(*texts)) == [bool(one) for one in kept]


def judged(*errors: ErrorSpan) -> Rating:
    return Rating(Segment("Das Haus"), None, errors)


SEGMENTS = [
    (judged(), judged()),
    (judged(minor(0, 3)), judged(major(0, 3), major(4, 8))),
    (judged(ErrorSpan(0, 3, Severity.CRITICAL)), judged(minor(0, 3))),
]


@pytest.mark.parametrize(
    ("subset", "kept"),
    [
        (subsets.with_severity(("none",)), [True, False, False]),
        (subsets.with_severity(("major",)), [False, True, False]),
        (subsets.with_severity(("minor", "none")), [True, True, True]),
        (subsets.with_severity(("critical",)), [False, False, True]),
        (subsets.by_errors(2, None), [False, True, False]),
        (subsets.by_errors(0, 0), [True, False, False]),
    ],
)
def test_by_errors_of_any_system(subset: Subset, kept: list[bool]) -> None:
    assert subset.keeps(SEGMENTS) == kept


def test_text_of_a_segment() -> None:
    assert subsets.judged_text(Segment("h", "s", ("r",))) == "s"
    assert subsets.judged_text(Segment("h", None, ("r",))) == "r"
    assert subsets.judged_text(Segment("h")) == "h"
