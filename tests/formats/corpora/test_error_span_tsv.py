from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity
from matese.errors import FormatError
from matese.formats import detection
from matese.formats.corpora import error_span_tsv
from matese.formats.format import ReadOptions
from tests.formats.reading import marks, read

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


def spans(rating: Rating) -> list[tuple[int, int]]:
    return [(error.start, error.end) for error in rating.errors or ()]


@pytest.mark.parametrize("header", [[], [HEADER]], ids=["bare", "header"])
def test_a_row_is_a_rating(write: Write, header: list[str]) -> None:
    path = write(*header, row("4 0", "8 3", "major Minor"), row("-1", "-1", "no-error", index="8"))
    segment = Segment("Ein Haus.", "A tree.", key=SegmentKey("ted", "en-de", "A", "talk.1", 7))
    first, second = error_span_tsv.read(path, ReadOptions(test_set="ted", lang_pair="en-de"))
    assert first == Rating(segment, "rater1", (ErrorSpan(0, 3, Severity.MINOR), ErrorSpan(4, 8, Severity.MAJOR)))
    assert second.segment.key == SegmentKey("ted", "en-de", "A", "talk.1", 8)
    packed = path.with_suffix(".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert list(error_span_tsv.read(str(packed), ReadOptions(test_set="ted", lang_pair="en-de"))) == [first, second]
    assert list(error_span_tsv.read(write(HEADER))) == []


EMPTY = "span is empty or reversed"


@pytest.mark.parametrize(
    ("faulty_row", "expected", "issue"),
    [
        (row("-1", "-1", "no-error"), "", None),
        (row("-1", "-1", "No-error"), "", None),
        (row(errors="critical"), "4-8 critical", None),
        (row(errors="CRITICAL", rater=""), "4-8 critical", None),
        (row("-1", "-1"), "- major", f"repaired, {EMPTY}"),
        (row("-1", "3"), "- major", f"repaired, {EMPTY}"),
        (row("4", "4"), "- major", f"repaired, {EMPTY}"),
        (row("2000", "6"), "- major", f"repaired, {EMPTY}"),
        (row("9", "10"), "- major", "repaired, span begins beyond the text"),
        (row("8", "10"), "8-9 major", "repaired, span ends beyond the text"),
        (row("0", "99"), "0-9 major", "repaired, span ends beyond the text"),
        ("", None, "skipped, 1 fields instead of 9"),
        (row() + "\t", None, "skipped, 10 fields instead of 9"),
        (row("4 5", "8", "major"), None, "skipped, lists of different length"),
        (row("4", "8 9", "major"), None, "skipped, lists of different length"),
        (row("4", "8", "major minor"), None, "skipped, lists of different length"),
        (row("", "", ""), None, "skipped, lists of different length"),
        (row("x", "8"), None, "skipped, offset is not a number"),
        (row("4", "8.0"), None, "skipped, offset is not a number"),
        (row(errors="bad"), "no spans", "ignored, unknown severity 'bad'"),
        (row("4 -1", "8 -1", "major no-error"), "4-8 major", "ignored, unknown severity 'no-error'"),
        (row("4", "8", "no-error"), None, "skipped, place without an error"),
    ],
)
def test_errors_and_what_is_wrong_with_them(
    write: Write, faulty_row: str, expected: str | None, issue: str | None
) -> None:
    ratings, notes = read(write(row(index="1"), faulty_row, row(index="9")))
    assert [marks(rating) for rating in ratings[1:-1]] == ([] if expected is None else [expected])
    assert [rating.segment.key and rating.segment.key.index for rating in (ratings[0], ratings[-1])] == [1, 9]
    assert notes == ([] if issue is None else [f"!2: {issue}"])


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


def test_ends_can_be_shifted(write: Write) -> None:
    path = write(row("4 0 8", "11 6 11", "major minor minor"), row("-1", "-1", "no-error"), row("5", "8"))
    ratings, notes = read(path, end_shift=-3)
    assert [marks(rating) for rating in ratings] == ["0-3 minor, 4-8 major, - minor", "", "- major"]
    shifted = "repaired, end shifted by -3"
    # What an option asks for is no fault.
    assert notes == [*[f"1: {shifted}"] * 3, f"!1: repaired, {EMPTY}", f"3: {shifted}", f"3: repaired, {EMPTY}"]


def test_an_end_equal_to_its_start_can_mark_a_character(write: Write) -> None:
    path = write(row("4 8 9 0", "4 8 9 3", "major minor minor minor"))
    (rating,), notes = read(path, single_characters=True)
    assert marks(rating) == "0-3 minor, 4-5 major, 8-9 minor, - minor"
    single = "1: repaired, end equal to start taken as one character"
    assert notes == [single, single, single, "!1: repaired, span begins beyond the text"]


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
    (rating,), notes = read(write(row(document=fields[0], index=fields[1], rater=fields[2])))
    assert notes == [f"!1: repaired, {reason}"]
    assert rating.segment.key == SegmentKey(system="A", document=document, index=index)
    assert (rating.rater, spans(rating)) == (rater, [(4, 8)])


@pytest.mark.parametrize(
    ("header", "where"),
    [
        ([HEADER + "\tcomment"], ":1"),
        ([HEADER.removesuffix("\terrors")], ":1"),
        (["mt_system"], ":1"),
        ([], ": file is empty"),
    ],
)
def test_a_header_of_another_format(write: Write, header: list[str], where: str) -> None:
    with pytest.raises(FormatError, match=rf"ted\.tsv{where}"):
        list(error_span_tsv.read(write(*header, *([row()] if header else [])), ReadOptions(report=print)))


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
    ratings, notes = read(write(HEADER, *(row(*place, target=target) for target, place in rows)))
    assert [rating.segment.hypothesis for rating in ratings] == texts
    words_read = [[rating.segment.hypothesis[start:end] for start, end in spans(rating)] for rating in ratings]
    assert words_read == [[] if words is None else [words] for words in marked]
    assert [note.partition(", ")[2] for note in notes] == reasons


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
    (rating,), _ = read(path, single_characters=single)
    assert len(rating.errors or ()) + len(rating.unplaced) == len(places)
    fitting = [place for place in places if 0 <= place[0] < place[1] <= len(target)]
    assert set(fitting) <= set(spans(rating))
