"""Notes of errors, as we write them and as people change them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis.strategies import sampled_from

from matese.annotation import ErrorSpan, Omission, Rating, Segment, Severity, UnplacedError
from matese.errors import FormatError
from matese.formats.capabilities import Reducer
from matese.formats.format import rating_of
from matese.formats.localisation import notes, translation_files
from matese.formats.localisation.notes import Note
from matese.formats.row_issues import RowIssue, RowIssues
from tests.formats.made_ratings import ratings

SEGMENT = Segment("Ein Haus, ein\nBaum", "A house, a tree")
MINOR = Severity.MINOR
MAJOR = Severity.MAJOR
STRICT = RowIssues("a.po", None, 1)


def read(*lines: str) -> tuple[Rating, list[tuple[str, str]]]:
    """The rating of a note with these lines, and the issues that reading reports."""
    issues: list[RowIssue] = []
    rating = notes.read(Note(None, '"ann"', lines), SEGMENT, RowIssues("a.po", issues.append, 1))
    return rating, [(issue.kind, issue.reason) for issue in issues]


@settings(max_examples=50)
@given(made=ratings(), form=sampled_from([None, 0, 3]))
def test_what_is_written_is_read_again(made: list[Rating], form: int | None) -> None:
    reducer = Reducer(translation_files.CAPABILITIES, adapt=translation_files.adapt)
    reduced = [rating for rating in map(reducer.reduce, made) if rating is not None and rating.errors is not None]
    lines = [line for rating in reduced for line in notes.write(rating, form).split("\n")]
    noted = list(notes.split(["before", *lines, "", "after"]))
    assert [note.form for note in noted] == [form] * len(reduced)
    assert [notes.read(note, rating.segment, STRICT) for note, rating in zip(noted, reduced, strict=True)] == reduced


HOUSE = (4, 8)
TREE = (11, 15)
MISSING = Omission("source", None, *TREE, MAJOR, "Accuracy/Omission", 0.61)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("Error: »Haus« [4..8]", ErrorSpan(*HOUSE, None)),
        ("Remark: »Haus« [4..8]", ErrorSpan(*HOUSE, Severity.NEUTRAL)),
        ("Minor error: »Haus« (confidence 44 %) [4..8]", ErrorSpan(*HOUSE, MINOR, None, 0.44)),
        ("Critical error: »Haus« (confidence 100 %) [4..8]", ErrorSpan(*HOUSE, Severity.CRITICAL, None, 1.0)),
        ('Error ("\\u00e9\\"): \\u00bb"): »Haus« [4..8]', ErrorSpan(*HOUSE, None, 'é"): »')),
        ("Major error, missing in the translation (Accuracy/Omission): »tree« (confidence 61 %) [11..15]", MISSING),
        ("Minor error without a place (Accuracy/Omission)", UnplacedError(MINOR, "Accuracy/Omission")),
        ("Remark without a place", UnplacedError(Severity.NEUTRAL)),
        ("Error without a place", UnplacedError(None)),
        ("Major error (Style)", UnplacedError(MAJOR, "Style")),
        # Written by people, who count no characters.
        ("Major error: »Haus«", ErrorSpan(*HOUSE, MAJOR)),
        ("Major error (Flüssigkeit): »ein Baum«", ErrorSpan(10, 18, MAJOR, "Flüssigkeit")),
        ("Major error, missing in the translation: »tree«", Omission("source", None, *TREE, MAJOR)),
    ],
)
def test_lines(line: str, error: ErrorSpan | Omission | UnplacedError) -> None:
    assert read(line) == (rating_of(SEGMENT, "ann", [error]), [])


def test_errors_in_the_source() -> None:
    for offsets in (" [11..15]", ""):
        rating, issues = read(f"Error in the source: »tree«{offsets}")
        assert (rating.errors, rating.source_errors, issues) == ((), (ErrorSpan(*TREE, None),), [])


@pytest.mark.parametrize("offsets", ["[0..4]", "[5..9]", "[4..9]", "[8..4]", "[400..404]"])
def test_shifted_offsets_are_found_by_their_words(offsets: str) -> None:
    rating, issues = read(f"Major error: »Haus« {offsets}")
    assert rating.errors == (ErrorSpan(*HOUSE, MAJOR),)
    assert issues == [("repaired", "offsets of a note that are not those of its words")]


@pytest.mark.parametrize(
    "line", ["Error: »Hut« [4..7]", "Error: »Hut«", "Error: »a« [0..1]", "Error in the source: »Haus«"]
)
def test_words_that_are_not_in_the_text_once(line: str) -> None:
    with pytest.raises(notes.OutdatedNoteError):
        read(line)


@pytest.mark.parametrize(
    "line",
    [
        "Majr error: »Haus« [4..8]",
        "major error: Haus",
        "Major error in the source",
        "Major error without a place: »Haus« [4..8]",
        "Major error: »« [4..4]",
        "Major error: »Haus« [4..x]",
        "please look at this again",
    ],
)
def test_a_line_that_is_not_understood(line: str) -> None:
    for further_lines, errors in (((), None), (("Minor error: »Haus«",), (ErrorSpan(*HOUSE, MINOR),))):
        rating, issues = read(line, *further_lines)
        assert (rating.errors, issues) == (errors, [("ignored", "line of a note")])
        with pytest.raises(FormatError, match=r"a\.po:1: "):
            notes.read(Note(None, '"ann"', (line, *further_lines)), SEGMENT, STRICT)


@pytest.mark.parametrize(
    "comment",
    ["Verb or noun?", "two\nlines", "one\n\nthree", ' "quoted" ', '"', "Major error: »Haus« [4..8]", "\x1b\u2028é"],
)
def test_comments(comment: str) -> None:
    segment = replace(SEGMENT, extra={"comment": comment, "id": 7})
    for errors in ((), (ErrorSpan(*HOUSE, MINOR),)):
        (note,) = notes.split(notes.write(Rating(segment, "ann", errors)).split("\n"))
        rating = notes.read(note, SEGMENT, STRICT)
        assert rating == Rating(SEGMENT, "ann", errors)
        assert rating.segment.extra == {"comment": "\n".join(comment.splitlines())}


def test_comments_as_people_write_them() -> None:
    rating, issues = read('Comment: "so" said "he"', "Comment:more", "Minor error: »Haus«")
    assert rating.segment.extra == {"comment": '"so" said "he"\nmore'}
    assert (len(rating.all_errors), issues) == (1, [])


def test_where_a_note_ends() -> None:
    lines = ["old", '[matese] "a"', "Error", "odd", "", "a comment", "[matese form 1] null", "[matese]", "Remark"]
    assert list(notes.split(lines)) == [
        Note(None, '"a"', ("Error", "odd")),
        Note(1, "null"),
        Note(None, "", ("Remark",)),
    ]


@pytest.mark.parametrize("rater", ["", ' "ann"', " null"])
@pytest.mark.parametrize("free", ["", ": no errors"])
def test_headers(rater: str, free: str) -> None:
    (note,) = notes.split([f"[matese form 1]{rater}{free}"])
    assert (note.form, note.rater, note.lines) == (1, rater.strip(), ())


def test_a_note_says_that_there_are_no_errors() -> None:
    free = Rating(Segment("a", extra={"comment": "b"}), "ann", ())
    assert notes.write(free, 1).splitlines() == ['[matese form 1] "ann": no errors', "Comment: b"]
    assert notes.write(free, names_rater=False).splitlines()[0] == "[matese]: no errors"
    assert "no errors" not in notes.write(replace(free, errors=(ErrorSpan(0, 1, None),)))
