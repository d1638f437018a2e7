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
from matese.annotation import ErrorSpan, Omission, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.errors import FormatError
from matese.formats import detection
from matese.formats.corpora import mqm_tsv, omission_marks
from matese.formats.format import ReadOptions, WriteOptions
from matese.formats.row_issues import RowIssue

MINOR = Severity.MINOR
MAJOR = Severity.MAJOR
NEUTRAL = Severity.NEUTRAL
HEADER = "\t".join(mqm_tsv.COLUMNS)
Write = Callable[..., Path]


def row(
    target: str = "Ein <v>Haus</v>.",
    severity: str = "Major",
    *,
    source: str = "A tree.",
    category: str = "Accuracy/Mistranslation",
    rater: str = "rater1",
    index: str = "1",
    system: str = "A",
) -> str:
    return "\t".join((system, "doc", "1", index, rater, source, target, category, severity))


@pytest.fixture(name="write")
def _write(tmp_path: Path) -> Write:
    def write(*rows: str, header: str = HEADER) -> Path:
        path = tmp_path / "ted.tsv"
        path.write_text("".join(f"{line}\n" for line in (header, *rows)), encoding="utf-8", newline="")
        return path

    return write


def lenient(path: Path) -> tuple[list[Rating], list[tuple[str, str, int]]]:
    notes: list[RowIssue] = []
    ratings = list(mqm_tsv.read(path, ReadOptions(report=notes.append)))
    assert {note.path for note in notes} <= {str(path)}
    return ratings, [(note.kind, note.reason, note.line) for note in notes]


def the_rating(path: Path) -> Rating:
    (rating,) = mqm_tsv.read(path)
    return rating


def test_a_row_is_an_error_of_its_raters_rating(write: Write) -> None:
    path = write(row())
    key = SegmentKey("ted", "en-de", "A", "doc", 1)
    segment = Segment("Ein Haus.", "A tree.", key=key)
    errors = (ErrorSpan(4, 8, MAJOR, "Accuracy/Mistranslation"),)
    assert list(mqm_tsv.read(path, ReadOptions(test_set="ted", lang_pair="en-de"))) == [
        Rating(segment, "rater1", errors)
    ]
    packed = path.with_suffix(".tsv.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert list(mqm_tsv.read(str(packed))) == list(mqm_tsv.read(path))


def test_a_header_alone_holds_no_ratings(write: Write) -> None:
    assert list(mqm_tsv.read(write())) == []


@pytest.mark.parametrize("spelling", ["no-error", "No-error", "No-Error"])
def test_no_error_is_a_rating_without_errors(write: Write, spelling: str) -> None:
    rating = the_rating(write(row("Ein Baum.", spelling, category=spelling)))
    assert (rating.errors, rating.source_errors, rating.unplaced) == ((), (), ())
    assert rating.segment.hypothesis == "Ein Baum."


def test_no_error_beside_a_neutral_remark_adds_nothing(write: Write) -> None:
    rating = the_rating(write(row("Ein Haus.", "no-error"), row(severity="Neutral")))
    assert [error.severity for error in rating.errors or ()] == [NEUTRAL]


def test_rows_become_one_rating_a_segment_and_rater_in_the_order_of_the_file(write: Write) -> None:
    ratings = list(
        mqm_tsv.read(
            write(
                row("Ein <v>Haus</v>.", "Major", rater="r2"),
                row("<v>Ein</v> Haus.", "minor", rater="r1"),
                row("Ein Haus<v>.</v>", "NEUTRAL", rater="r2"),
                row("Ein Haus.", "no-error", rater="r2", index="2"),
                row("Ein Haus.", "no-error", rater="r2", index="2", system="B"),
            )
        )
    )
    assert [(r.segment.key and (r.segment.key.system, r.segment.key.index), r.rater) for r in ratings] == [
        (("A", 1), "r2"),
        (("A", 1), "r1"),
        (("A", 2), "r2"),
        (("B", 2), "r2"),
    ]
    assert ratings[0].errors == (
        ErrorSpan(4, 8, MAJOR, "Accuracy/Mistranslation"),
        ErrorSpan(8, 9, NEUTRAL, "Accuracy/Mistranslation"),
    )
    assert ratings[1].errors == (ErrorSpan(0, 3, MINOR, "Accuracy/Mistranslation"),)


@settings(deadline=None, max_examples=40)
@given(st.permutations(range(8)))
def test_the_order_of_the_rows_does_not_matter(tmp_path_factory: pytest.TempPathFactory, order: Sequence[int]) -> None:
    rows = [
        row(target, system=system, rater=rater)
        for target in ("<v>Ein</v> Haus.", "Ein <v>Haus</v>.")
        for system in "AB"
        for rater in ("r1", "r2")
    ]
    path = tmp_path_factory.getbasetemp() / "rows_apart.tsv"
    path.write_text("\n".join((HEADER, *(rows[place] for place in order))), encoding="utf-8")
    ratings = list(mqm_tsv.read(path))
    keys = [(rating.segment.key and rating.segment.key.system, rating.rater) for rating in ratings]
    assert sorted(keys) == [("A", "r1"), ("A", "r2"), ("B", "r1"), ("B", "r2")]
    assert keys[0] == (rows[order[0]].split("\t")[0], rows[order[0]].split("\t")[4])
    assert [[(error.start, error.end) for error in rating.errors or ()] for rating in ratings] == [[(0, 3), (4, 8)]] * 4


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
    (first, second), notes = lenient(path)
    assert first.segment.source == 'He "said" no.'
    assert first.segment.hypothesis == SAID.replace("<v>", "").replace("</v>", "")
    assert first.errors == (ErrorSpan(11, 15, MAJOR, "c"),)
    assert (second.segment.hypothesis, second.errors) == ("Er ging.", ())
    assert notes == [("repaired", "quotation marks of a CSV writer removed", 3)]
    assert list(mqm_tsv.read(path)) == [first, second]


@pytest.mark.parametrize("other", ['"Ja', 'Ja, "nein"', '"Ja" und "nein"', 'a\r"b"'])
def test_one_text_that_no_csv_writer_would_write_leaves_all_quotation_marks(write: Write, other: str) -> None:
    quoted = '"Ein ""Haus""!"'
    (rating, second), notes = lenient(write(row(quoted, "no-error"), row(other, "no-error", index="2")))
    assert (rating.segment.hypothesis, second.segment.hypothesis) == (quoted, other)
    assert notes == []


def test_words_of_the_source_that_the_target_lacks(write: Write) -> None:
    marked = row("Ein Haus.", source="<v>A</v> tree.", category="Accuracy/Omission")
    rating = the_rating(write(marked, row("Ein Haus.", source="A <v>tree</v>.", category="Source error")))
    assert rating.omissions == (Omission("source", None, 0, 1, MAJOR, "Accuracy/Omission"),)
    assert rating.source_errors == (ErrorSpan(2, 6, MAJOR, "Source error"),)
    assert mqm.score(rating) == -10
    assert marked in "".join(mqm_tsv.write([rating], WriteOptions())).splitlines()


@pytest.mark.parametrize(
    ("category", "is_omission"),
    [("omission", True), ("Accuracy/Omission!", True), ("Omissions", False), ("Not/an omission", False), (None, False)],
)
def test_the_category_of_a_mark_in_the_source_decides(category: str | None, is_omission: bool) -> None:
    rating = Rating(Segment("a", "b"), None, (), (ErrorSpan(0, 1, MAJOR, category),))
    omission = replace(rating, source_errors=(), omissions=(Omission("source", None, 0, 1, MAJOR, category),))
    losses: Counter[str] = Counter()
    written = omission_marks.adapt(rating, losses)
    assert written == (omission if is_omission else rating)
    assert losses == ({"errors in the source, written as omissions": 1} if is_omission else {})
    losses.clear()
    named = replace(omission.omissions[0], category=category if is_omission else "Accuracy/Omission")
    assert omission_marks.adapt(omission, losses) == replace(omission, omissions=(named,))
    assert losses == ({} if is_omission else {"categories of omissions, written as Accuracy/Omission": 1})


def test_a_row_without_a_rater_has_none(write: Write) -> None:
    assert the_rating(write(row(rater=""))).rater is None


@pytest.mark.parametrize("category", ["Non-translation!", "Other", "", "Accuracy/Omission", "other/-"])
def test_categories_are_kept_as_written(write: Write, category: str) -> None:
    (error,) = the_rating(write(row(category=category))).errors or ()
    assert error.category == category


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
    rating = the_rating(write(row(target, category="c")))
    assert rating.segment.hypothesis == text
    assert rating.errors == (ErrorSpan(*span, MAJOR, "c"),)


def test_an_error_of_the_source(write: Write) -> None:
    rating = the_rating(write(row("Ein Haus.", "Minor", source="A <v>hose</v>.", category="Source error")))
    assert rating.segment.source == "A hose."
    assert (rating.errors, rating.source_errors) == ((), (ErrorSpan(2, 6, MINOR, "Source error"),))


UNBALANCED = ["<v>a", "a</v>", "</v>a<v>", "<v>a<v>b</v></v>", "<v>a</v></v>", "<v>a</v><v>"]


@pytest.mark.parametrize("text", UNBALANCED)
@pytest.mark.parametrize("column", ["source", "target"])
def test_unbalanced_tags_leave_an_error_without_a_place(write: Write, text: str, column: str) -> None:
    target, source = (text, "A.") if column == "target" else ("<v>B</v>.", text)
    path = write(row("ab", "no-error", index="0"), row(target, source=source, category="c"))
    ratings, notes = lenient(path)
    assert notes == [("repaired", "unbalanced tags", 3)]
    assert (ratings[1].errors, ratings[1].unplaced) == ((), (UnplacedError(MAJOR, "c"),))
    assert "v>" not in ratings[1].segment.hypothesis + (ratings[1].segment.source or "")
    with pytest.raises(FormatError, match=r"ted\.tsv:3: unbalanced tags: every <v> must have its </v>"):
        list(mqm_tsv.read(path))


def test_an_error_without_a_mark_has_no_place(write: Write) -> None:
    (rating,) = mqm_tsv.read(write(row("Ein Haus.", "Minor", source="A tree.", category="c")))
    assert (rating.errors, rating.unplaced) == ((), (UnplacedError(MINOR, "c"),))


@pytest.mark.parametrize(
    ("target", "source", "reason"),
    [
        ("Ein <v></v>Haus.", "A tree.", "marked span is empty"),
        ("Ein Haus.", "A <v></v>tree.", "marked span is empty"),
    ],
)
def test_an_error_without_a_span_counts(write: Write, target: str, source: str, reason: str) -> None:
    path = write(row(target, "Minor", source=source, category="c"))
    ratings, notes = lenient(path)
    assert notes == [("repaired", reason, 2)]
    assert ratings[0].segment.hypothesis == "Ein Haus."
    assert (ratings[0].errors, ratings[0].unplaced) == ((), (UnplacedError(MINOR, "c"),))
    with pytest.raises(FormatError, match=f"ted.tsv:2: {reason}: must"):
        list(mqm_tsv.read(path))


def test_several_spans_of_one_row_are_one_error(write: Write) -> None:
    path = write(row("<v>Ein</v> rotes <v>Haus</v>.", category="c"))
    ratings, notes = lenient(path)
    assert notes == [("repaired", "several marked spans", 2)]
    assert ratings[0].errors == (ErrorSpan(0, 14, MAJOR, "c"),)
    with pytest.raises(FormatError, match=r"ted\.tsv:2: several marked spans: must be one a row"):
        list(mqm_tsv.read(path))


def test_an_error_marked_on_both_sides_is_one_of_the_target(write: Write) -> None:
    path = write(row(source="A <v>tree</v>.", category="c"))
    ratings, notes = lenient(path)
    assert notes == [("repaired", "marked in source and target", 2)]
    assert (ratings[0].errors, ratings[0].source_errors) == ((ErrorSpan(4, 8, MAJOR, "c"),), ())
    with pytest.raises(FormatError, match=r"ted\.tsv:2: marked in source and target: must be marked in one of them"):
        list(mqm_tsv.read(path))


def test_a_text_that_a_rater_typed_into_yields_to_what_most_raters_saw(write: Write) -> None:
    path = write(
        row("Ein <v>großes Haus</v>.", category="typed inside"),
        row("Ein <v>Haus</v>, sagt er.", category="typed elsewhere"),
        row("Ein Haus.<v> Und</v>", category="typed all"),
        row("Ein <v>Haus</v>.", category="as it was"),
        row("Ein Haus.", "no-error", rater="rater2"),
    )
    ratings, notes = lenient(path)
    assert [rating.segment.hypothesis for rating in ratings] == ["Ein Haus."] * 2
    assert [(e.start, e.end, e.category) for e in ratings[0].errors or ()] == [
        (4, 8, "as it was"),
        (4, 8, "typed elsewhere"),
        (4, 8, "typed inside"),
    ]
    assert ratings[0].unplaced == (UnplacedError(MAJOR, "typed all"),)
    assert notes == [
        ("repaired", "target differs from other rows, span moved", 2),
        ("repaired", "target differs from other rows, span moved", 3),
        ("repaired", "target differs from other rows, span lost", 4),
    ]
    with pytest.raises(FormatError, match=r"ted\.tsv:2: target differs from other rows, span moved: rows of a rating"):
        list(mqm_tsv.read(path))


def test_a_rater_keeps_a_text_that_all_own_rows_have(write: Write) -> None:
    ratings = list(
        mqm_tsv.read(
            write(
                row("Das <v>Haus</v>.", rater="r1"),
                row("Ein Haus.", "no-error", rater="r2"),
                row("Ein Haus.", "no-error", rater="r3"),
            )
        )
    )
    assert [rating.segment.hypothesis for rating in ratings] == ["Das Haus.", "Ein Haus.", "Ein Haus."]


def test_a_rater_with_many_rows_does_not_outvote_the_others(write: Write) -> None:
    typed = [row("Das <v>Haus</v>.", rater="r1")] * 4
    path = write(*typed, row("Ein <v>Haus</v>.", rater="r1"), row("Ein Haus.", "no-error", rater="r2"))
    assert [rating.segment.hypothesis for rating in lenient(path)[0]] == ["Ein Haus."] * 2


def test_a_lone_raters_text_is_that_of_most_rows(write: Write) -> None:
    path = write(row("Das <v>Haus</v>."), row("<v>Ein</v> Haus."), row("Ein Haus<v>.</v>"))
    assert [rating.segment.hypothesis for rating in lenient(path)[0]] == ["Ein Haus."]


def test_an_error_of_a_source_that_differs_moves_in_the_source(write: Write) -> None:
    path = write(*[row("B.", source="A <v>tree</v>.")] * 2, row("B.", source="A green <v>tree</v>."))
    ratings, notes = lenient(path)
    assert [(e.start, e.end) for e in ratings[0].source_errors] == [(2, 6)] * 3
    assert notes == [("repaired", "source differs from other rows, span moved", 4)]


@pytest.mark.parametrize(
    ("faulty", "reason", "message"),
    [
        ("", "1 fields instead of 9", "must be one a column"),
        (row() + "\tmore", "10 fields instead of 9", "must be one a column"),
        (row(index="x"), "seg_id is not a number", "'x' must be digits"),
        (row(index=""), "seg_id is not a number", "'' must be digits"),
        (row(index="²"), "seg_id is not a number", "'²' must be digits"),
        (row(index="٣"), "seg_id is not a number", "'٣' must be digits"),
        (row(index="-1"), "seg_id is not a number", "'-1' must be digits"),
        (row(severity="bad"), "unknown severity", "'bad' must be neutral, minor, major, critical or no-error"),
        (row(severity=""), "unknown severity", "'' must be neutral, minor, major, critical or no-error"),
    ],
)
def test_a_row_that_cannot_be_used_is_left_out_and_told(write: Write, faulty: str, reason: str, message: str) -> None:
    path = write(row(), row(index="2"), faulty, row(index="3"))
    ratings, notes = lenient(path)
    assert [rating.segment.key and rating.segment.key.index for rating in ratings] == [1, 2, 3]
    assert notes == [("skipped", reason, 4)]
    with pytest.raises(FormatError, match=f"ted.tsv:4: {reason}: {message}"):
        list(mqm_tsv.read(path))


def test_a_rater_whose_rows_are_all_left_out_has_not_rated(write: Write) -> None:
    assert lenient(write(row(severity="bad")))[0] == []


@pytest.mark.parametrize(
    ("faulty", "issue"),
    [
        (row(severity="Severe"), ("skipped", "unknown severity", 2)),
        (row("<v>Ein</v> Haus.", severity="No-error"), ("skipped", "marked words without an error", 2)),
        (row("<v>Ein Haus.", severity="No-error"), ("skipped", "marked words without an error", 2)),
    ],
)
def test_what_is_not_understood_is_never_free_of_errors(write: Write, faulty: str, issue: tuple[str, str, int]) -> None:
    for others, n_errors in ((row("Ein Haus.", severity="no-error"), None), (row("<v>Ein</v> Haus."), 1)):
        (rating,), notes = lenient(write(faulty, others))
        assert (None if rating.errors is None else len(rating.errors), notes) == (n_errors, [issue])
    with pytest.raises(FormatError, match=r"ted\.tsv:2: "):
        list(mqm_tsv.read(write(faulty)))


def test_the_header_decides_which_column_is_which(write: Write) -> None:
    names = ["comment", *reversed(mqm_tsv.COLUMNS)]
    swapped = write("\t".join(["why", *reversed(row().split("\t"))]), header="\t".join(names))
    assert the_rating(swapped) == the_rating(write(row()))
    tenth = write(row() + "\twhy", row("<v>Ein</v> Haus.") + "\t", header=HEADER + "\tcomment")
    assert len(the_rating(tenth).errors or ()) == 2


MAROT = "system doc docSegId globalSegId rater source target category severity metadata".replace(" ", "\t")


@pytest.mark.parametrize("header", [MAROT, f"{MAROT}\t# Documentation: here", MAROT.lower()])
def test_the_newer_header_of_marot(write: Write, header: str) -> None:
    metadata = '\t{"timestamp": 1}'
    path = write(row() + metadata, row(index="2") + metadata, header=header)
    assert detection.detect(path) == "mqm-tsv"
    assert list(mqm_tsv.read(path)) == list(mqm_tsv.read(write(row(), row(index="2"))))


def test_marots_segments_that_are_only_numbered_in_their_documents(write: Write) -> None:
    rows = [row(index="0") + "\t{}", row(index="0").replace("doc\t1", "doc\t2") + "\t{}"]
    path = write(*rows, header=MAROT)
    assert [rating.segment.key and rating.segment.key.index for rating in mqm_tsv.read(path)] == [1, 2]
    (rating,) = mqm_tsv.read(path, ReadOptions(first_segment=0))
    assert rating.segment.key is not None
    assert rating.segment.key.index == 0


def test_a_row_of_metadata_alone_is_no_rating(write: Write) -> None:
    alone = row("Ein Haus.", "", category="", rater="")
    path = write(row() + "\t{}", alone + '\t{"segment": {}}', header=MAROT)
    ratings, notes = lenient(path)
    assert ([rating.rater for rating in ratings], notes) == (["rater1"], [("skipped", "row of metadata alone", 3)])
    assert list(mqm_tsv.read(path)) == ratings


@pytest.mark.parametrize(
    "header",
    ["", row(), HEADER.replace("\t", " "), "\t".join(mqm_tsv.COLUMNS[:6])],
)
def test_a_header_of_another_format(write: Write, header: str) -> None:
    expected = r"ted\.tsv:1: not the header of an MQM TSV: must begin with the header line system doc doc_id seg_id"
    with pytest.raises(FormatError, match=expected):
        list(mqm_tsv.read(write(row(), header=header), ReadOptions(report=print)))


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        (HEADER.removesuffix("\tseverity"), "MQM TSV lacks column severity: must begin with the header line"),
        (HEADER.replace("rater", "annotator"), "MQM TSV lacks column rater: "),
        (HEADER.replace("category", "kind").replace("rater", "who"), "MQM TSV lacks column rater and category: "),
        (HEADER + "\tseverity", "MQM TSV has several columns severity: "),
    ],
)
def test_a_missing_column_is_named_and_the_file_is_no_other_table(write: Write, header: str, problem: str) -> None:
    path = write("\t".join(row().split("\t")[: header.count("\t") + 1]), header=header)
    for name in (None, "mqm-tsv"):
        with pytest.raises(FormatError, match=rf"ted\.tsv:1: {problem}"):
            list(detection.read(path, name=name))


def test_the_case_of_the_header_does_not_matter(write: Write) -> None:
    (rating,) = detection.read(write(row(), header=HEADER.title()))
    assert rating == next(detection.read(write(row())))


def test_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").touch()
    with pytest.raises(FormatError, match=r"a\.tsv: file is empty: must begin with the header line system"):
        list(mqm_tsv.read(tmp_path / "a.tsv"))


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
        ratings, _ = lenient(path)
        scores.append([mqm.score(rating, mqm.GOOGLE) for rating in ratings])
        shuffle.shuffle(rows)
    assert scores == [[-float(len(targets))]] * 2
