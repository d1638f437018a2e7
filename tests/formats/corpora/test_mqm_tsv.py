from __future__ import annotations

import csv
import gzip
import io
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matese import mqm
from matese.annotation import ErrorSpan, Omission, Rating, Segment, SegmentKey, Severity
from matese.errors import FormatError
from matese.formats import detection
from matese.formats.corpora import mqm_tsv, omission_marks
from matese.formats.format import ReadOptions, WriteOptions
from tests.formats.reading import marks, read, shown

MAJOR = Severity.MAJOR
HEADER = "\t".join(mqm_tsv.COLUMNS)
Write = Callable[..., Path]


def row(
    target: str = "Ein <v>Haus</v>.",
    severity: str = "Major",
    *,
    source: str = "A tree.",
    category: str | None = None,
    rater: str = "r1",
    index: str = "1",
    system: str = "A",
) -> str:
    if category is None:
        category = "No-error" if severity.casefold() == "no-error" else "c"
    return "\t".join((system, "doc", "1", index, rater, source, target, category, severity))


def free(text: str = "Ein Haus.", **key: str) -> str:
    return row(text, "no-error", **key)


@pytest.fixture(name="write")
def _write(tmp_path: Path) -> Write:
    def write(*rows: str, header: str = HEADER) -> Path:
        path = tmp_path / "ted.tsv"
        path.write_text("".join(f"{line}\n" for line in (header, *rows)), encoding="utf-8", newline="")
        return path

    return write


def test_a_row_is_an_error_of_its_raters_rating(write: Write) -> None:
    path = write(row())
    segment = Segment("Ein Haus.", "A tree.", key=SegmentKey("ted", "en-de", "A", "doc", 1))
    expected = Rating(segment, "r1", (ErrorSpan(4, 8, MAJOR, "c"),))
    assert list(mqm_tsv.read(path, ReadOptions(test_set="ted", lang_pair="en-de"))) == [expected]
    packed = path.with_suffix(".tsv.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert list(mqm_tsv.read(str(packed))) == list(mqm_tsv.read(path))
    assert list(mqm_tsv.read(write())) == []
    assert list(mqm_tsv.read(write(row(severity="bad")), ReadOptions(report=lambda _: None))) == []


def test_a_column_of_test_sets_tells_segments_apart(write: Write) -> None:
    rows = (f"{row()}\twmt20", f"{free()}\twmt21", f"{free(index='2')}\t")
    ratings = list(mqm_tsv.read(write(*rows, header=f"{HEADER}\tTest_Set"), ReadOptions(test_set="ted")))
    errors_by_test_set = [
        (rating.segment.key and rating.segment.key.test_set, len(rating.errors or ())) for rating in ratings
    ]
    assert errors_by_test_set == [("wmt20", 1), ("wmt21", 0), ("ted", 0)]


HOUSE = "r1: Ein Haus. | "
MOVED = "repaired, target differs from other rows, span moved"


@pytest.mark.parametrize(
    ("rows", "ratings", "notes"),
    [
        ([free()], [HOUSE], []),
        ([row("Ein Haus.", "No-error"), free(index="2")], [HOUSE, HOUSE], []),
        ([row("Ein Haus.", "No-Error", rater="")], ["None: Ein Haus. | "], []),
        ([free(), row(severity="Neutral")], [f"{HOUSE}4-8 neutral c"], []),
        ([row(category="")], [f"{HOUSE}4-8 major "], []),
        ([row(category="Non-translation!")], [f"{HOUSE}4-8 major Non-translation!"], []),
        ([row("Ein Haus.", "Minor")], [f"{HOUSE}- minor c"], []),
        ([row("Ein Haus.", "Minor", source="A <v>hose</v>.")], [f"{HOUSE}source 2-6 minor c"], []),
        ([row("Ein Haus.", source="<v>A</v>", category="Accuracy/Omission")],
         [f"{HOUSE}missing source 0-1 major Accuracy/Omission"], []),
        # A rating is of a segment and a rater; it stands where its first row does.
        ([row(rater="r2"), row("<v>Ein</v> Haus.", "minor"), row("Ein Haus<v>.</v>", "NEUTRAL", rater="r2"),
          free(rater="r2", index="2"), free(rater="r2", index="2", system="B")],
         ["r2: Ein Haus. | 4-8 major c, 8-9 neutral c", f"{HOUSE}0-3 minor c", *["r2: Ein Haus. | "] * 2], []),
        # What is marked otherwise than once on one side.
        *(([row(text)], [f"r1: {text} | - major c"], ["!2: repaired, tags other than <v> and </v> taken as text"])
          for text in ("Ein <V>Haus</V>.", "Ein &lt;v&gt;Haus&lt;/v&gt;.")),
        ([row("Ein <v></v>Haus.")], [f"{HOUSE}- major c"], ["!2: repaired, marked span is empty"]),
        ([row("Ein Haus.", source="A <v></v>")], [f"{HOUSE}- major c"], ["!2: repaired, marked span is empty"]),
        ([row("<v>Ein</v> <v>Haus</v>.")], [f"{HOUSE}0-8 major c"], ["!2: repaired, several marked spans"]),
        ([row(source="A <v>b</v>")], [f"{HOUSE}4-8 major c"], ["!2: repaired, marked in source and target"]),
        # A text that a rater typed into yields to what most raters saw, then to what most rows have.
        ([row("Ein <v>großes Haus</v>.", category="in"), row("Ein <v>Haus</v>, sagt er.", category="near"),
          row("Ein Haus.<v> Und</v>", category="all"), row(category="own"), free(rater="r2")],
         [f"{HOUSE}4-8 major in, 4-8 major near, 4-8 major own, - major all", "r2: Ein Haus. | "],
         [f"!2: {MOVED}", f"3: {MOVED}", "4: repaired, target differs from other rows, span lost"]),
        ([row("Das <v>Haus</v>."), free(rater="r2"), free(rater="r3")],
         ["r1: Das Haus. | 4-8 major c", "r2: Ein Haus. | ", "r3: Ein Haus. | "], []),
        ([*[row("Das <v>Haus</v>.")] * 2, row(), free(rater="r2")],
         [f"{HOUSE}{', '.join(['4-8 major c'] * 3)}", "r2: Ein Haus. | "], [f"!2: {MOVED}", f"3: {MOVED}"]),
        ([row("Das <v>Haus</v>."), row("<v>Ein</v> Haus."), row("Ein Haus<v>.</v>")],
         [f"{HOUSE}0-3 major c, 4-8 major c, 8-9 major c"], [f"!2: {MOVED}"]),
        ([*[row("B.", source="A <v>tree</v>.")] * 2, row("B.", source="A green <v>tree</v>.")],
         [f"r1: B. | {', '.join(['source 2-6 major c'] * 3)}"],
         ["!4: repaired, source differs from other rows, span moved"]),
        # A text without a span to move.
        *(([row(), row(target, severity)], [f"{HOUSE}4-8 major c{more}"],
           ["!3: repaired, target differs from other rows"])
          for target, severity, more in (("Ein Heim.", "No-error", ""), ("Ein Hof.", "Minor", ", - minor c"))),
        *(([row(), row(target, severity, source="A cat.")], [f"{HOUSE}4-8 major c{more}"],
           ["!3: repaired, source differs from other rows"])
          for target, severity, more in (("Ein Haus.", "No-error", ""), ("Ein Haus.", "Minor", ", - minor c"))),
        # A row that cannot be used.
        ([row(), ""], [f"{HOUSE}4-8 major c"], ["!3: skipped, 1 fields instead of 9"]),
        ([row(), row() + "\tmore"], [f"{HOUSE}4-8 major c"], ["!3: skipped, 10 fields instead of 9"]),
        *(([row(), row(index=index)], [f"{HOUSE}4-8 major c"], ["!3: skipped, seg_id is not a number"])
          for index in ("x", "", "²", "٣", "-1")),
        *(([row(), row(severity=severity)], [f"{HOUSE}4-8 major c"], [f"!3: skipped, unknown severity {severity!r}"])
          for severity in ("bad", "")),
    ],
)  # fmt: skip
def test_rows_and_their_ratings(write: Write, rows: list[str], ratings: list[str], notes: list[str]) -> None:
    assert shown(write(*rows)) == (ratings, notes)


@pytest.mark.parametrize(
    ("target", "text", "span"),
    [
        ("<v>a</v>", "a", (0, 1)),
        ("<v> </v>a", " a", (0, 1)),
        ("a <v> b </v> c", "a  b  c", (2, 5)),
        ('"a" <v>"</v>', '"a" "', (4, 5)),
        ("<v>👩‍👧</v>", "👩‍👧", (0, 3)),
        ("e\u0301<v>\u0301</v>", "e\u0301\u0301", (2, 3)),
        ("שלום <v>עולם</v>", "שלום עולם", (5, 9)),
        ("这<v>是\u2028</v>\x00", "这是\u2028\x00", (1, 3)),
        ("a </ v> <V> v> <v>b</v>", "a </ v> <V> v> b", (15, 16)),
    ],
)
def test_spans_stand_where_the_tags_stood(write: Write, target: str, text: str, span: tuple[int, int]) -> None:
    (rating,) = mqm_tsv.read(write(row(target)))
    assert rating.segment.hypothesis == text
    assert rating.errors == (ErrorSpan(*span, MAJOR, "c"),)


@pytest.mark.parametrize("text", ["<v>a", "a</v>", "</v>a<v>", "<v>a<v>b</v></v>", "<v>a</v></v>", "<v>a</v><v>"])
@pytest.mark.parametrize("column", ["source", "target"])
def test_unbalanced_tags_leave_an_error_without_a_place(write: Write, text: str, column: str) -> None:
    faulty = row(text) if column == "target" else row("<v>B</v>.", source=text)
    (_, rating), notes = read(write(free("ab", index="0"), faulty), first_segment=0)
    assert (marks(rating), notes) == ("- major c", ["!3: repaired, unbalanced tags"])
    assert "v>" not in rating.segment.hypothesis + (rating.segment.source or "")


def test_rows_from_a_pipe_may_be_apart_too(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row("<v>Ein</v> Haus."), row(index="2"), row()]
    stream = io.TextIOWrapper(io.BytesIO("\n".join((HEADER, *rows)).encode()))
    monkeypatch.setattr("sys.stdin", stream)
    assert [len(rating.errors or ()) for rating in mqm_tsv.read("-")] == [2, 1]


SAID = 'Er sagte:\t"<v>Nein</v>"\nund ging.'
ROW = ["A", "doc", "1", "1", "r1", 'He "said" no.', SAID, "c", "Major"]


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_a_file_that_a_csv_writer_has_written(tmp_path: Path, quoting: Literal[0, 1]) -> None:
    path = tmp_path / "written.tsv"
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter="\t", quoting=quoting)
        writer.writerows([mqm_tsv.COLUMNS, ROW, [*ROW[:4], "r2", "He said no.", "Er ging.", "", "no-error"]])
    assert detection.detect(path) == "mqm-tsv"
    (first, second), notes = read(path)
    assert first.segment.source == 'He "said" no.'
    assert first.segment.hypothesis == SAID.replace("<v>", "").replace("</v>", "")
    assert marks(first) == "11-15 major c"
    assert (second.segment.hypothesis, second.errors) == ("Er ging.", ())
    assert notes == ["3: repaired, quotation marks of a CSV writer removed"]


@pytest.mark.parametrize("unquoted", ['"Ja', 'Ja, "nein"', '"Ja" und "nein"', 'a\r"b"'])
def test_one_text_that_no_csv_writer_would_write_leaves_all_quotation_marks(write: Write, unquoted: str) -> None:
    quoted = '"Ein ""Haus""!"'
    assert shown(write(free(quoted), free(unquoted, index="2"))) == ([f"r1: {quoted} | ", f"r1: {unquoted} | "], [])


@pytest.mark.parametrize(
    ("category", "is_omission"),
    [("omission", True), ("Accuracy/Omission!", True), ("Omissions", False), ("Not/an omission", False), (None, False)],
)
def test_the_category_of_a_mark_in_the_source_decides(category: str | None, is_omission: bool) -> None:
    rating = Rating(Segment("a", "b"), None, (), (ErrorSpan(0, 1, MAJOR, category),))
    omission = replace(rating, source_errors=(), omissions=(Omission("source", None, 0, 1, MAJOR, category),))
    losses: Counter[str] = Counter()
    assert omission_marks.adapt(rating, losses) == (omission if is_omission else rating)
    assert losses == ({"errors in the source, written as omissions": 1} if is_omission else {})
    losses.clear()
    named = replace(omission.omissions[0], category=category if is_omission else "Accuracy/Omission")
    assert omission_marks.adapt(omission, losses) == replace(omission, omissions=(named,))
    assert losses == ({} if is_omission else {"categories of omissions, written as Accuracy/Omission": 1})


def test_words_that_the_target_lacks_are_written_and_count(write: Write) -> None:
    marked = row("Ein Haus.", source="<v>A</v> tree.", category="Accuracy/Omission")
    (rating,) = mqm_tsv.read(write(marked, row("Ein Haus.", source="A <v>tree</v>.")))
    assert mqm.score(rating) == -10
    assert marked in "".join(mqm_tsv.write([rating], WriteOptions())).splitlines()


@pytest.mark.parametrize(
    ("faulty", "reason"),
    [
        (row(severity="Severe"), "unknown severity 'Severe'"),
        (row("<v>Ein</v> Haus.", severity="No-error"), "marked words without an error"),
        (row("<v>Ein Haus.", severity="No-error"), "marked words without an error"),
        (row("Ein Haus.", severity="No-error", category="Style"), "category without an error"),
    ],
)
def test_what_is_not_understood_is_never_free_of_errors(write: Write, faulty: str, reason: str) -> None:
    for further_row, errors in ((free(), "no spans"), (row("<v>Ein</v> Haus."), "0-3 major c")):
        assert shown(write(faulty, further_row)) == ([f"r1: Ein Haus. | {errors}"], [f"!2: skipped, {reason}"])


def test_the_header_decides_which_column_is_which(write: Write) -> None:
    names = ["comment", *reversed(mqm_tsv.COLUMNS)]
    expected = list(mqm_tsv.read(write(row())))
    assert (
        list(mqm_tsv.read(write("\t".join(["why", *reversed(row().split("\t"))]), header="\t".join(names)))) == expected
    )
    assert list(mqm_tsv.read(write(row(), header=HEADER.title()))) == expected
    tenth = write(row() + "\twhy", row("<v>Ein</v> Haus.") + "\t", header=HEADER + "\tcomment")
    assert shown(tenth) == ([f"{HOUSE}0-3 major c, 4-8 major c"], [])


MAROT = "system doc docSegId globalSegId rater source target category severity metadata".replace(" ", "\t")


@pytest.mark.parametrize("header", [MAROT, f"{MAROT}\t# Documentation: here", MAROT.lower()])
def test_the_newer_header_of_marot(write: Write, header: str) -> None:
    path = write(row() + '\t{"timestamp": 1}', row(index="2") + "\t{}", header=header)
    assert detection.detect(path) == "mqm-tsv"
    assert list(mqm_tsv.read(path)) == list(mqm_tsv.read(write(row(), row(index="2"))))


def test_rows_of_marot(write: Write) -> None:
    # Segments may be numbered in their documents only.
    path = write(row(index="0") + "\t{}", row(index="0").replace("doc\t1", "doc\t2") + "\t{}", header=MAROT)
    assert [rating.segment.key and rating.segment.key.index for rating in mqm_tsv.read(path)] == [1, 2]
    (rating,) = mqm_tsv.read(path, ReadOptions(first_segment=0))
    assert (rating.segment.key or SegmentKey()).index == 0
    alone = row("Ein Haus.", "", category="", rater="") + '\t{"segment": {}}'
    path = write(row() + "\t{}", alone, header=MAROT)
    assert shown(path) == ([f"{HOUSE}4-8 major c"], ["3: skipped, row of metadata alone"])


@pytest.mark.parametrize("header", ["", row(), HEADER.replace("\t", " "), "\t".join(mqm_tsv.COLUMNS[:6])])
def test_a_header_of_another_format(write: Write, header: str) -> None:
    with pytest.raises(FormatError, match=r"ted\.tsv:1: "):
        list(mqm_tsv.read(write(row(), header=header), ReadOptions(report=print)))
    empty = write(header=HEADER)
    empty.write_bytes(b"")
    with pytest.raises(FormatError, match=r"ted\.tsv: file is empty"):
        list(mqm_tsv.read(empty))


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        (HEADER.removesuffix("\tseverity"), "severity"),
        (HEADER.replace("rater", "annotator"), "rater"),
        (HEADER.replace("category", "kind").replace("rater", "who"), "rater and category"),
        (HEADER + "\tseverity", "several columns severity"),
    ],
)
def test_a_missing_column_is_named_and_the_file_is_no_other_table(write: Write, header: str, problem: str) -> None:
    path = write("\t".join(row().split("\t")[: header.count("\t") + 1]), header=header)
    for name in (None, "mqm-tsv"):
        with pytest.raises(FormatError, match=rf"ted\.tsv:1: MQM TSV .*{problem}"):
            list(detection.read(path, name=name))


tagged_texts = st.lists(st.sampled_from(["a", " ", "<v>", "</v>"]), max_size=8).map("".join)


@settings(deadline=None)
@given(st.lists(tagged_texts, min_size=1, max_size=5), st.randoms())
def test_every_row_counts_once_whatever_its_tags(
    tmp_path_factory: pytest.TempPathFactory, targets: Sequence[str], shuffle: random.Random
) -> None:
    path = tmp_path_factory.getbasetemp() / "every_row.tsv"
    rows = [row(target, "Minor") for target in targets]
    scores = []
    for _ in range(2):
        path.write_text("\n".join((HEADER, *rows)), encoding="utf-8")
        ratings = mqm_tsv.read(path, ReadOptions(report=lambda _: None))
        scores.append([mqm.score(rating, mqm.GOOGLE) for rating in ratings])
        shuffle.shuffle(rows)
    assert scores == [[-float(len(targets))]] * 2


@pytest.mark.parametrize("delimiter", [",", ";"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_a_file_that_a_spreadsheet_has_saved_as_csv(tmp_path: Path, delimiter: str, quoting: Literal[0, 1]) -> None:
    rows = [
        mqm_tsv.COLUMNS,
        ["A", "d", "1", "1", "r", 'The "cat", she; sleeps.', 'Der <v>Hund</v>, "sie"; schläft.', "Accuracy", "Major"],
        ["A", "d", "2", "2", "r", "Yes.", "Ja.", "No-error", "No-error"],
    ]
    tab = tmp_path / "a.tsv"
    tab.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    path = tmp_path / "a.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        csv.writer(stream, delimiter=delimiter, quoting=quoting, lineterminator="\r\n").writerows(rows)
    assert detection.detect(path) == "mqm-tsv"
    how = ReadOptions(lambda issue: None)
    assert list(detection.read(path, how)) == list(detection.read(tab, how))
