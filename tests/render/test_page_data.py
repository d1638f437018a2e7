from __future__ import annotations

from matese import mqm
from matese.annotation import ErrorSpan, Omission, Overall, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.render import page_data
from matese.render.page_data import PageSegment, Translation


def test_segment_as_json() -> None:
    key = SegmentKey(test_set="t", lang_pair="en-de", system="A", document="d", index=3)
    rating = Rating(
        Segment("😀 gut", "good", ("ja",), key, {"note": "short"}),
        "m",
        (ErrorSpan(0, 1, Severity.MAJOR, "Accuracy", 0.5), ErrorSpan(2, 5, None)),
        (ErrorSpan(0, 4, Severity.MINOR),),
        unplaced=(UnplacedError(Severity.CRITICAL),),
        overall=Overall(70.123456, "esa"),
    )
    segment = PageSegment((Translation("A", rating, ("fixed",)),), difference=-0.5)
    assert page_data.to_json(segment, ["B", "A"], weights=mqm.MATESE) == {
        "place": "t, en-de, d, segment 4",
        "source": "good",
        "references": ["ja"],
        "difference": -0.5,
        "translations": [
            {
                "system": 1,
                "hypothesis": "😀 gut",
                "errors": [
                    {"start": 0, "end": 2, "severity": 3, "category": "Accuracy", "confidence": 0.5, "change": "fixed"},
                    {"start": 3, "end": 6, "severity": 0},
                ],
                "source_errors": [{"start": 0, "end": 4, "severity": 2}],
                "unplaced": [{"severity": 4}],
                "score": -11.0,
                "whole": {"scale": "esa", "value": 70.1235},
                "key": {"index": 3, "system": "A", "test_set": "t", "lang_pair": "en-de", "document": "d"},
                "extra": {"note": "short"},
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
    assert found["translations"] == [
        {
            "system": 0,
            "hypothesis": "x",
            "errors": [],
            "score": -6.0,
            "omissions": [
                {"text": -1, "start": 3, "end": 6, "severity": 3, "confidence": 0.5},
                {"text": 0, "start": 0, "end": 5, "severity": 2},
            ],
        }
    ]


def test_rating_without_spans_has_no_score() -> None:
    found = page_data.to_json(
        PageSegment((Translation("A", Rating(Segment("x"), None, None)),)), ["A"], weights=mqm.MATESE
    )
    assert found["translations"] == [{"system": 0, "hypothesis": "x", "errors": [], "score": None}]
