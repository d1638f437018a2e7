from __future__ import annotations

import pytest

from matese import mqm
from matese.annotation import ErrorSpan, Omission, Overall, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.render import page_data
from matese.render.page_data import PageSegment, Translation


@pytest.mark.parametrize(
    ("text", "offset", "units"),
    [("", 0, 0), ("ab", 2, 2), ("😀", 1, 2), ("a😀b", 1, 1), ("a😀b", 3, 4), ("e\u0301", 2, 2)],
)
def test_offsets_count_utf16_units(text: str, offset: int, units: int) -> None:
    assert page_data.utf16_offsets(text)(offset) == units == len(text[:offset].encode("utf-16-le")) // 2


def test_segment_as_json() -> None:
    key = SegmentKey(test_set="t", lang_pair="en-de", system="A", document="d", index=3)
    rating = Rating(
        Segment("😀 gut", "good", ("ja",), key),
        "m",
        (ErrorSpan(0, 1, Severity.MAJOR, "Accuracy", 0.5), ErrorSpan(2, 5, None)),
        (ErrorSpan(0, 4, Severity.MINOR),),
        unplaced=(UnplacedError(Severity.CRITICAL),),
        overall=Overall(70.123456, "esa"),
    )
    segment = PageSegment((Translation("A", rating, ("fixed",)),), difference=-0.5)
    assert page_data.to_json(segment, ["B", "A"], weights=mqm.MATESE) == {
        "p": "t, en-de, d, segment 4",
        "s": "good",
        "q": [[0, 4, 2]],
        "r": ["ja"],
        "d": -0.5,
        "t": [
            {
                "n": 1,
                "h": "😀 gut",
                "e": [[0, 2, 3, "Accuracy", 0.5, "fixed"], [3, 6, 0]],
                "u": [[4, None]],
                "m": -11.0,
                "o": ["esa", 70.1235],
            }
        ],
    }


def test_missing_words_name_their_text() -> None:
    segment = Segment("x", "😀 not", ("nicht",))
    omissions = (
        Omission("source", None, 2, 5, Severity.MAJOR, None, 0.5),
        Omission("reference", 0, 0, 5, Severity.MINOR),
    )
    translation = Translation("A", Rating(segment, None, (), omissions=omissions))
    found = page_data.to_json(PageSegment((translation,)), ["A"], weights=mqm.MATESE)
    assert found["t"] == [
        {"n": 0, "h": "x", "e": [], "u": [], "m": -6.0, "x": [[-1, 3, 6, 3, None, 0.5], [0, 0, 5, 2]]}
    ]


def test_rating_without_spans_has_no_score() -> None:
    found = page_data.to_json(
        PageSegment((Translation("A", Rating(Segment("x"), None, None)),)), ["A"], weights=mqm.MATESE
    )
    assert found == {"p": "", "s": None, "q": [], "r": [], "t": [{"n": 0, "h": "x", "e": [], "u": [], "m": None}]}
