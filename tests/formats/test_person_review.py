"""A model's marks are a person's only if somebody has reviewed or changed them, in every file that comes back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity
from matese.formats import detection, writing
from matese.formats.format import WriteOptions
from matese.formats.person_review import Reviewed

MODEL = "matese|model:mini@1|version:1"
SPAN = ErrorSpan(4, 8, Severity.MAJOR, "Style", 0.5)
RATINGS = [
    Rating(Segment("Der Hund schläft.", "The cat sleeps.", key=SegmentKey(index=number)), MODEL, errors)
    for number, errors in enumerate([(SPAN,), ()])
]
PO = """msgid ""
msgstr "Language: de\\nX-Source-Language: en\\nContent-Type: text/plain; charset=UTF-8\\n"

msgid "The cat sleeps."
msgstr "Der Hund schläft."

msgctxt "b"
msgid "The cat sleeps."
msgstr "Der Hund schläft."
"""


@pytest.mark.parametrize("form", ["jsonl", "json", "csv", "tsv", "xlsx", "po", "doccano", "pearmut"])
def test_nobody_has_looked_at_the_marks(tmp_path: Path, form: str) -> None:
    template = tmp_path / "messages.po"
    template.write_text(PO, encoding="utf-8")
    path = tmp_path / f"out.{form}"
    writing.write(RATINGS, path, form, WriteOptions(template=template if form == "po" else None))
    read = list(detection.read(path, name=form))
    reviewed = Reviewed("bob")
    assert list(reviewed.of(read)) == []
    assert reviewed.n_left_out == 2
    assert [rating.rater for rating in Reviewed("bob", is_all=True).of(read)] == ["bob", "bob"]


def test_what_counts_as_reviewed() -> None:
    ticked = Rating(Segment("a", extra={"reviewed": "x"}), MODEL, ())
    of_anna = Rating(Segment("b"), "anna", ())
    of_nobody = Rating(Segment("c"), None, (ErrorSpan(0, 1, Severity.MINOR),))
    changed = Rating(Segment("d"), MODEL, ())
    same = Rating(Segment("e"), MODEL, (ErrorSpan(0, 1, Severity.MINOR, confidence=0.5),))
    shown = {
        "d": Rating(Segment("d"), MODEL, (ErrorSpan(0, 1, Severity.MINOR),)),
        "e": Rating(Segment("e"), MODEL, (ErrorSpan(0, 1, Severity.MINOR, confidence=0.25),)),
    }
    reviewed = Reviewed("bob", lambda rating: shown.get(rating.segment.hypothesis))
    kept = list(reviewed.of([ticked, of_anna, of_nobody, changed, same]))
    assert [(rating.segment.hypothesis, rating.rater) for rating in kept] == [(name, "bob") for name in "abcd"]
    assert "left out: 1 rating of a model" in (reviewed.notice or "")


def test_who_corrects_a_translation_has_reviewed_it_and_found_an_error(tmp_path: Path) -> None:
    segment = replace(RATINGS[1].segment, extra={"corrected": "Die Katze schläft."})
    path = tmp_path / "a.jsonl"
    writing.write([RATINGS[0], replace(RATINGS[1], segment=segment)], path, "jsonl")
    reviewed = Reviewed("bob")
    (rating,) = reviewed.of(detection.read(path))
    assert (rating.rater, rating.errors) == ("bob", (ErrorSpan(0, 3, None), ErrorSpan(4, 8, None)))
    assert reviewed.n_left_out == 1
    by_bob = tmp_path / "bob.jsonl"
    writing.write([replace(RATINGS[1], rater="bob", segment=segment)], by_bob, "jsonl")
    assert [len(rating.errors or ()) for rating in detection.read(by_bob)] == [2]
