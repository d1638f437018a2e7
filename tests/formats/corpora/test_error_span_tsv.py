from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.errors import FormatError
from matese.formats import detection
from matese.formats.corpora import error_span_tsv
from matese.formats.format import ReadOptions
from matese.formats.row_issues import RowIssue

MINOR = Severity.MINOR
MAJOR = Severity.MAJOR
HEADER = "\t".join(error_span_tsv.COLUMNS)
Write = Callable[..., Path]


def row(
    starts: str = "4",
    ends: str = "8",
    errors: str = "major",
    *,
    target: str = "Ein Haus.",
    document: str = "talk.1",
    index: str = "7",
    rater: str = "rater1",
) -> str:
    return "\t".join(("A", document, index, rater, "A tree.", target, starts, ends, errors))


@pytest.fixture(name="write")
def _write(tmp_path: Path) -> Write:
    def write(*lines: str) -> Path:
        path = tmp_path / "ted.tsv"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")
        return path

    return write


def lenient(path: Path, **options: Any) -> tuple[list[Rating], list[tuple[str, str, int]]]:
    notes: list[RowIssue] = []
    ratings = list(error_span_tsv.read(path, ReadOptions(report=notes.append, **options)))
    assert {note.path for note in notes} <= {str(path)}
    return ratings, [(note.kind, note.reason, note.line) for note in notes]


def spans(rating: Rating) -> list[tuple[int, int]]:
    return [(error.start, error.end) for error in rating.errors or ()]


@pytest.mark.parametrize("header", [[], [HEADER]], ids=["bare", "header"])
def test_a_row_is_a_rating(write: Write, header: list[str]) -> None:
    path = write(*header, row("4 0", "8 3", "major Minor"), row("-1", "-1", "no-error", index="8"))
    segment = Segment("Ein Haus.", "A tree.", key=SegmentKey("ted", "en-de", "A", "talk.1", 7))
    first, second = error_span_tsv.read(path, ReadOptions(test_set="ted", lang_pair="en-de"))
    assert first == Rating(segment, "rater1", (ErrorSpan(0, 3, MINOR), ErrorSpan(4, 8, MAJOR)))
    assert second.segment.key == SegmentKey("ted", "en-de", "A", "talk.1", 8)
    assert (second.errors, second.unplaced) == ((), ())
    packed = path.with_suffix(".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert list(error_span_tsv.read(str(packed), ReadOptions(test_set="ted", lang_pair="en-de"))) == [first, second]


@pytest.mark.parametrize("name", ["no-error", "No-error"])
def test_no_error_is_a_rating_without_errors(write: Write, name: str) -> None:
    (rating,) = error_span_tsv.read(write(row("-1", "-1", name)))
    assert (rating.errors, rating.unplaced) == ((), ())


def test_a_header_alone_holds_no_ratings(write: Write) -> None:
    assert list(error_span_tsv.read(write(HEADER))) == []


@pytest.mark.parametrize("name", ["critical", "CRITICAL", "Critical"])
def test_severities_are_read_in_any_case(write: Write, name: str) -> None:
    (rating,) = error_span_tsv.read(write(row(errors=name)))
    assert rating.errors == (ErrorSpan(4, 8, Severity.CRITICAL),)


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("a", ("0", "1")),
        (" ", ("0", "1")),
        ("a b", ("1", "2")),
        ('"a"', ("0", "3")),
        ("👩‍👧 e\u0301", ("2", "5")),
        ("שלום\u2028\x00", ("4", "6")),
        ("这是", ("0", "2")),
    ],
)
def test_offsets_count_code_points_of_the_text_as_it_is(write: Write, target: str, place: tuple[str, str]) -> None:
    (rating,) = error_span_tsv.read(write(row(*place, target=target)))
    assert rating.segment.hypothesis == target
    assert spans(rating) == [(int(place[0]), int(place[1]))]


def test_a_row_without_a_rater_has_none(write: Write) -> None:
    (rating,) = error_span_tsv.read(write(row(rater="")))
    assert rating.rater is None


@pytest.mark.parametrize(
    ("place", "reason", "left"),
    [
        (("-1", "-1"), "span is empty or reversed", None),
        (("-1", "3"), "span is empty or reversed", None),
        (("4", "4"), "span is empty or reversed", None),
        (("2000", "6"), "span is empty or reversed", None),
        (("9", "10"), "span begins beyond the text", None),
        (("8", "10"), "span ends beyond the text", (8, 9)),
        (("0", "99"), "span ends beyond the text", (0, 9)),
    ],
)
def test_offsets_that_do_not_fit_the_text(
    write: Write, place: tuple[str, str], reason: str, left: tuple[int, int] | None
) -> None:
    path = write(row(), row(*place, "minor"))
    (_, rating), notes = lenient(path)
    assert notes == [("repaired", reason, 2)]
    assert rating.errors == (() if left is None else (ErrorSpan(*left, MINOR),))
    assert rating.unplaced == ((UnplacedError(MINOR),) if left is None else ())
    with pytest.raises(FormatError, match=rf"ted\.tsv:2: {reason}: .+ must have 0 <= start < end <= 9, the length"):
        list(error_span_tsv.read(path))


def test_ends_can_be_shifted(write: Write) -> None:
    path = write(row("4 0 8", "11 6 11", "major minor minor"), row("-1", "-1", "no-error"), row("5", "8"))
    ratings, notes = lenient(path, end_shift=-3)
    assert [spans(rating) for rating in ratings] == [[(0, 3), (4, 8)], [], []]
    assert ratings[0].unplaced == (UnplacedError(MINOR),)
    assert ratings[2].unplaced == (UnplacedError(MAJOR),)
    shifted = ("repaired", "end shifted by -3")
    lost = ("repaired", "span is empty or reversed")
    assert notes == [(*shifted, 1), (*shifted, 1), (*shifted, 1), (*lost, 1), (*shifted, 3), (*lost, 3)]
    # What an option asks for is no fault.
    (first,) = error_span_tsv.read(write(row("4", "11")), ReadOptions(end_shift=-3))
    assert spans(first) == [(4, 8)]


def test_an_end_equal_to_its_start_can_mark_a_character(write: Write) -> None:
    path = write(row("4 8 9 0", "4 8 9 3", "major minor minor minor"))
    (rating,), notes = lenient(path, single_characters=True)
    assert spans(rating) == [(0, 3), (4, 5), (8, 9)]
    assert rating.unplaced == (UnplacedError(MINOR),)
    single = ("repaired", "end equal to start taken as one character", 1)
    assert notes == [single, single, single, ("repaired", "span begins beyond the text", 1)]
    (first,) = error_span_tsv.read(write(row("4", "4")), ReadOptions(single_characters=True))
    assert spans(first) == [(4, 5)]


@pytest.mark.parametrize(
    ("faulty", "reason", "message"),
    [
        ("", "1 fields instead of 9", "must be mt_system doc_id"),
        (row() + "\t", "10 fields instead of 9", "must be mt_system doc_id"),
        (row("4 5", "8", "major"), "lists of different length", "2 start_ids, 1 end_ids and 1 errors must be one for"),
        (row("4", "8 9", "major"), "lists of different length", "1 start_ids, 2 end_ids and 1 errors must be one for"),
        (row("4", "8", "major minor"), "lists of different length", "1 start_ids, 1 end_ids and 2 errors must be one"),
        (row("", "", ""), "lists of different length", "0 start_ids, 0 end_ids and 0 errors must be one for each"),
        (row("x", "8"), "offset is not a number", "start_ids and end_ids must be integers"),
        (row("4", "8.0"), "offset is not a number", "start_ids and end_ids must be integers"),
        (row(errors="bad"), "unknown severity", "'bad' must be neutral, minor, major or critical, or no-error alone"),
        (row("4 -1", "8 -1", "major no-error"), "unknown severity", "'no-error' must be neutral, minor"),
    ],
)
def test_a_row_that_cannot_be_used_is_left_out_and_told(write: Write, faulty: str, reason: str, message: str) -> None:
    path = write(row(index="1"), faulty, row(index="2"))
    ratings, notes = lenient(path)
    assert [rating.segment.key and rating.segment.key.index for rating in ratings] == [1, 2]
    assert notes == [("skipped", reason, 2)]
    with pytest.raises(FormatError, match=rf"ted\.tsv:2: {reason}: .*{message}"):
        list(error_span_tsv.read(path))


@pytest.mark.parametrize(
    ("fields", "reason", "document", "index", "rater"),
    [
        (("talk", "", "r1"), "no seg_id", "talk", None, "r1"),
        (("seattle", "times.2", "12"), "document's name split at its hyphens", "seattle-times.2", 12, None),
        (("jingji", "guancha", "bao.1"), "document's name split at its hyphens", "jingji-guancha-bao.1", None, None),
    ],
)
def test_a_row_whose_place_is_damaged_keeps_what_it_says(
    write: Write, fields: tuple[str, str, str], reason: str, document: str, index: int | None, rater: str | None
) -> None:
    path = write(row(document=fields[0], index=fields[1], rater=fields[2]))
    (rating,), notes = lenient(path)
    assert notes == [("repaired", reason, 1)]
    assert rating.segment.key == SegmentKey(system="A", document=document, index=index)
    assert (rating.rater, spans(rating)) == (rater, [(4, 8)])
    with pytest.raises(FormatError, match=rf"ted\.tsv:1: {reason}: .*must be digits"):
        list(error_span_tsv.read(path))


@pytest.mark.parametrize("header", [HEADER + "\tcomment", HEADER.removesuffix("\terrors"), "mt_system"])
def test_a_header_of_another_format(write: Write, header: str) -> None:
    with pytest.raises(FormatError, match=r"ted\.tsv:1: not the header of an error-span TSV: must be the columns mt_s"):
        list(error_span_tsv.read(write(header, row()), ReadOptions(report=print)))


def test_an_empty_file(write: Write) -> None:
    with pytest.raises(FormatError, match=r"ted\.tsv: file is empty: must hold the columns mt_system doc_id"):
        list(error_span_tsv.read(write()))


PLAIN = 'Er sagt "ja" und geht.'
QUOTED = '"Er sagt ""ja"" und geht."'
UNCOUNTED = ("8", "12")  # of '"ja"' in the text without the marks of the CSV writer
COUNTED = ("16", "19")  # of "und" in the text with them
REMOVED = "quotation marks of a CSV writer removed; offsets had {} them"


@pytest.mark.parametrize(
    ("rows", "texts", "marked", "reasons"),
    [
        ([(QUOTED, UNCOUNTED)], [PLAIN], ['"ja"'], [REMOVED.format("not counted")]),
        ([(QUOTED, COUNTED)], [PLAIN], ["und"], [REMOVED.format("counted")]),
        # A text that no CSV writer would write shows that nothing is quoted, if the offsets agree.
        ([('"Ja" und "nein".', ("0", "4")), (QUOTED, COUNTED)], ['"Ja" und "nein".', QUOTED], ['"Ja"', "und"], []),
        (
            [(QUOTED, UNCOUNTED), ('Er sagt: ""Ja".', ("3", "7"))],
            [PLAIN, 'Er sagt: ""Ja".'],
            ['"ja"', None],
            [REMOVED.format("not counted"), "target not quoted as in other rows, its errors have no place"],
        ),
        (
            [(QUOTED, ("0", "1")), (QUOTED, COUNTED)],
            [PLAIN, PLAIN],
            [None, "und"],
            [REMOVED.format("counted"), "span of quotation marks of a CSV writer", REMOVED.format("counted")],
        ),
        # Without spaces, offsets say nothing.
        ([('"他说""是""。"', ("3", "4"))], ['他说"是"。'], ["是"], [REMOVED.format("not counted")]),
        ([('"Er geht."', ("4", "8"))], ['"Er geht."'], ["geht"], []),
        ([('"a bc d"', ("1", "4"))], ['"a bc d"'], ["a b"], []),
    ],
)
def test_quoting_is_decided_by_where_the_offsets_fall(
    write: Write,
    rows: list[tuple[str, tuple[str, str]]],
    texts: list[str],
    marked: list[str | None],
    reasons: list[str],
) -> None:
    path = write(HEADER, *(row(*place, target=target) for target, place in rows))
    ratings, notes = lenient(path)
    assert [rating.segment.hypothesis for rating in ratings] == texts
    assert [
        next((rating.segment.hypothesis[start:end] for start, end in spans(rating)), None) for rating in ratings
    ] == marked
    assert [reason for _, reason, _ in notes] == reasons


def test_a_file_of_which_every_cell_is_quoted(write: Write) -> None:
    lines = (HEADER, row(*UNCOUNTED, target=PLAIN.replace('"', '""')), row("0", "2", target="Er geht."))
    path = write(*('"' + line.replace("\t", '"\t"') + '"' for line in lines))
    assert detection.detect(path) == "error-spans"
    first, second = error_span_tsv.read(path)
    assert (first.segment.hypothesis, spans(first)) == (PLAIN, [(8, 12)])
    assert (second.segment.hypothesis, spans(second)) == ("Er geht.", [(0, 2)])


offsets = st.integers(-2, 12)


@settings(deadline=None)
@given(st.text("ab é", max_size=6), st.lists(st.tuples(offsets, offsets), min_size=1, max_size=4), st.booleans())
def test_every_error_counts_once_whatever_its_offsets(
    tmp_path_factory: pytest.TempPathFactory, target: str, places: list[tuple[int, int]], single: bool
) -> None:
    starts, ends = (" ".join(str(place[side]) for place in places) for side in (0, 1))
    path = tmp_path_factory.getbasetemp() / "every_error.tsv"
    path.write_text(row(starts, ends, " ".join(["minor"] * len(places)), target=target), encoding="utf-8")
    (rating,), _ = lenient(path, single_characters=single)
    assert len(rating.errors or ()) + len(rating.unplaced) == len(places)
    fitting = [place for place in places if 0 <= place[0] < place[1] <= len(target)]
    assert set(fitting) <= set(spans(rating))
