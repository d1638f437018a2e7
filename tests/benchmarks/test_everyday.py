"""The arithmetic of `benchmarks.everyday`, on ratings written by hand, and its items."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest

from benchmarks import everyday
from matese.annotation import ErrorFree, ErrorSpan, Rating, Segment, Severity

CORRECT, WRONG = (
    everyday.Item("x", "en-de", "interface", "Open", "Auf", text, span, severity)  # type: ignore[arg-type]
    for text, span, severity in (("Öffnen", None, None), ("Jetzt zu", (6, 8), "major"))
)


def test_items() -> None:
    items = everyday.read()
    assert len({item.id for item in items}) == len(items) == 158
    assert [item.span is None for item in items].count(True) == 83
    for item in items:
        texts = (item.source, item.reference, item.hypothesis)
        assert len(set(texts)) == 3
        assert all(unicodedata.normalize("NFC", text.strip()) == text for text in texts)
        assert (item.span is None) == (item.severity is None)
        assert item.span is None or item.hypothesis[slice(*item.span)].strip()


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        ((), (0, 0, None, 0, 1)),
        ((ErrorSpan(0, 5, Severity.MINOR),), (1, 1, 0, 0, 1)),
        ((ErrorSpan(0, 6, Severity.MINOR), ErrorSpan(7, 8, Severity.MAJOR)), (2, 1, 0.5, 1, 1)),
    ],
)
def test_marks_in_a_wrong_translation(errors: tuple[ErrorSpan, ...], expected: tuple[float | None, ...]) -> None:
    ratings = [Rating(CORRECT.segment, "m", ()), Rating(WRONG.segment, "m", errors)]
    assert tuple(everyday.measure([CORRECT, WRONG], ratings).values())[:5] == expected


def test_decisions_and_contradictions() -> None:
    free = ErrorFree(True, 0.9)
    major = (ErrorSpan(0, 2, Severity.MAJOR),)
    ratings = [
        Rating(CORRECT.segment, "m", major, error_free=free),
        Rating(CORRECT.segment, "m", (), error_free=ErrorFree(False, 0.1)),
        Rating(WRONG.segment, "m", (), error_free=free),
    ]
    measured = everyday.measure([CORRECT, CORRECT, WRONG], ratings)
    assert list(measured.values())[3:] == [0, 0.5, 0.5, 1, 1]
    undecided = everyday.measure([CORRECT], [Rating(Segment("Öffnen", "Open"), "m", ())])
    assert list(undecided.values())[5:] == [None, None, 0]


def test_no_item_is_trained_on() -> None:
    folder = Path(everyday.__file__).parents[1] / "data_prep" / "contrasts"
    trained = {cell for path in folder.glob("*.tsv") for cell in re.split(r"[\t\n]", path.read_text("utf-8"))}
    assert trained.isdisjoint(text for item in everyday.read() for text in (item.source, item.hypothesis))
