"""What a reader does not understand is counted, and an error in strict reading; it is never "free of errors".

Every readable format has a file here with an error that is understood, to which an unknown region, label, note or state
is added, or stands in `UNABLE` with the reason why it cannot hold one.
"""

from __future__ import annotations

import contextlib
import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from matese.errors import FormatError
from matese.formats import detection
from matese.formats.corpora import error_span_tsv, mqm_tsv, wmt_span_submission
from matese.formats.format import ReadOptions
from matese.formats.registry import READ
from matese.formats.row_issues import RowIssue
from tests.formats.score_files import make

SOURCE = "The cat sleeps."
TEXT = "Der Hund schläft."
Kind = Literal["region", "label", "note", "state", "key", "column"]
MARKED = {"start": 4, "end": 8, "text": "Hund"}


@dataclass(frozen=True)
class Case:
    """A file in three states.

    Attributes:
        form: the format.
        kind: what is unknown.
        template: the text of the file, with "@" for the annotations.
        known: annotations with one error that is understood.
        both: the same and the unknown one.
        alone: the unknown one alone.
    """

    form: str
    kind: Kind
    template: str
    known: str
    both: str
    alone: str


def in_list(form: str, kind: Kind, template: str, *, known: str, unknown: str) -> Case:
    """A case in which annotations are the items of a JSON list."""
    return Case(form, kind, template, known, f"{known}, {unknown}", unknown)


def span(severity: str, **more: object) -> str:
    return json.dumps({**MARKED, "severity": severity, **more})


def seg_rating(severity: str) -> str:
    return json.dumps({"start": 4, "end": 8, "category": "Style", "severity": severity, "is_source_error": False})


def mqm_row(severity: str) -> str:
    return "\t".join(("A", "doc", "1", "1", "r", SOURCE, "Der <v>Hund</v> schläft.", "Style", severity)) + "\n"


def label_studio(**result: object) -> str:
    return json.dumps({"id": "r", "from_name": "x", "to_name": "hypothesis", **result})


REGION = label_studio(type="labels", value={**MARKED, "labels": ["Major"]})
RATING = f'{{"hypothesis": "{TEXT}", "source": "{SOURCE}", "errors": [@]}}'
TASK = f'[{{"id": 1, "data": {{"hypothesis": "{TEXT}"}}, "annotations": [{{"id": 2, "result": [@]}}]}}]'
SPANS_2023 = "\t".join(error_span_tsv.COLUMNS) + f"\nA\tdoc\t1\tr\t{SOURCE}\t{TEXT}\t@\n"
SPANS_2025 = "\t".join(wmt_span_submission.COLUMNS) + f"\ndoc\t1\ten\tde\tted\tA\t{SOURCE}\t{TEXT}\t\tnews\tx\t@\n"
LISTS = ("4\t8\tmajor", "4 0\t8 3\tmajor serious", "0\t3\tserious")

NOTE = "# [matese]\n# Major error: »Hund« [4..8]\n"
PO = f'''# [matese] null (translations without a note have no errors)
msgid ""
msgstr "Language: de\\nContent-Type: text/plain; charset=UTF-8\\n"

@msgid "{SOURCE}"
msgstr "{TEXT}"
'''
XLIFF = (
    '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">'
    '<file original="x" source-language="en" target-language="de" datatype="plaintext">'
    '<header><note from="matese">[matese] null (translations without a note have no errors)</note></header><body>'
    f'<trans-unit id="1"><source>{SOURCE}</source><target>{TEXT}</target>@</trans-unit></body></file></xliff>'
)
VTT = f"""WEBVTT

NOTE
[matese] null (translations without a note have no errors)

@00:01.000 --> 00:02.000
{TEXT}
"""
PEARMUT = (
    f'{{"pilot": [{{"user_id": "r", "item_i": 0, "item": [{{"tgt": {{"A": "{TEXT}"}}, "src": "{SOURCE}", '
    '"index": 0, "document": "d"}], "annotation": [{"A": {"score": 70, "error_spans": [@]}}]}]}'
)
ESA = (
    f'{{"langs": "en-de", "line_id": 0, "src": "{SOURCE}", "tgt": "{TEXT}", "system": "A", "esa_spans": [@], '
    '"esa_score": 70}'
)
APPRAISE = json.dumps([{"task": {}, "items": [{
    "itemID": 0, "itemType": "TGT", "sourceID": "en-de", "sourceText": SOURCE, "targetID": "A", "targetText": TEXT,
    "documentID": "d", "isCompleteDocument": False, "mqm": "@"}]}]).replace('"@"', "[@]")  # fmt: skip


def mark(**more: str) -> str:
    return json.dumps({"start_i": 4, "end_i": 7, "category": None, **more})


def in_xliff(note: str) -> str:
    """A note of PO as one of XLIFF."""
    return f'<note from="matese">{note.replace("# ", "").rstrip()}</note>'


KNOWN_SPANS = f'"error_spans": [{mark(severity="major")}]'


def in_vtt(note: str) -> str:
    """A note of PO as one of VTT."""
    return f"NOTE\n{note.replace('# ', '')}\n"


REFUSED: list[tuple[Kind, str]] = [("label", span("serious")), ("note", span("minor", note="Really?"))]

CASES = [
    Case("mqm-tsv", "label", "\t".join(mqm_tsv.COLUMNS) + "\n@",
         mqm_row("Major"), mqm_row("Major") + mqm_row("Serious"), mqm_row("Serious")),
    Case("error-spans", "label", SPANS_2023, *LISTS),
    Case("wmt25-spans", "label", SPANS_2025, *LISTS),
    Case("error-spans", "state", SPANS_2023, LISTS[0], "4 0\t8\tmajor no-error", "0\t3\tno-error"),
    Case("wmt25-spans", "state", SPANS_2025, LISTS[0], "4 0\t8\tmajor no-error", "0\t3\tno-error"),
    Case("word-tags", "label", "@\n", "OK BAD OK", "OK BAD MAYBE", "OK MAYBE OK"),
    *(
        in_list(form, kind, RATING, known=span("major"), unknown=unknown)
        for form in ("jsonl", "json", "csv", "tsv", "xlsx", "parquet", "hf-dataset")
        for kind, unknown in REFUSED
    ),
    in_list("mtme", "label", 'A\t{"errors": [@]}\n', known=seg_rating("major"), unknown=seg_rating("serious")),
    in_list("xcomet", "label", f'{{"mt.txt": [{{"src": "", "mt": "{TEXT}", "COMET": 0.5, "errors": [@]}}]}}',
            known=span("major"), unknown=span("serious")),
    in_list("label-studio", "region", TASK, known=REGION, unknown=label_studio(
        id="s", to_name="image", type="rectanglelabels", value={"x": 1, "y": 2, "rectanglelabels": ["Major"]})),
    in_list("label-studio", "label", TASK, known=REGION, unknown=label_studio(
        id="s", type="labels", to_name="nowhere", value={"start": 0, "end": 3, "text": "Cat", "labels": ["Major"]})),
    in_list("label-studio", "note", TASK, known=REGION, unknown=label_studio(
        id="s", type="textarea", value={"text": ["All wrong."]})),
    in_list("label-studio", "state", TASK, known=REGION, unknown=label_studio(
        id="s", type="choices", value={"choices": ["Unusable"]})),
    in_list("doccano", "label", f'{{"text": "{TEXT}", "label": [@]}}', known='[4, 8, "Major"]', unknown="[0, 3, 12]"),
    in_list("pearmut", "label", PEARMUT, known=mark(severity="major"), unknown=mark(severity="odd")),
    in_list("esa", "label", ESA, known=mark(severity="major"), unknown=mark(severity="odd")),
    in_list("appraise", "label", APPRAISE, known=mark(severity="major"), unknown=mark(severity="odd")),
    Case("po", "note", PO, NOTE, NOTE + "# Really bad.\n", "# [matese]\n# Really bad.\n"),
    Case("xliff", "note", XLIFF, in_xliff(NOTE), in_xliff(NOTE + "# Really bad.\n"),
         in_xliff("# [matese]\n# Really bad.\n")),
    Case("vtt", "note", VTT, in_vtt(NOTE), in_vtt(NOTE + "# Really bad.\n"), in_vtt("# [matese]\n# Really bad.\n")),
    Case("pearmut", "key", PEARMUT.replace('"error_spans": [@]', "@"), KNOWN_SPANS,
         KNOWN_SPANS + ', "rejected": true', '"error_spans": [], "comment": "All wrong."'),
    Case("xliff", "state", XLIFF.replace("<target>", "<target @>").replace("@</trans", in_xliff(NOTE) + "</trans"),
         "", 'state="odd"', 'state="odd"'),
    Case("doccano", "state", f'{{"text": "{TEXT}", @}}',
         '"entities": [{"start_offset": 4, "end_offset": 8, "label": "Major"}]',
         '"entities": [{"start_offset": 4, "end_offset": 8, "label": "Major"}], "cats": ["Unusable"]',
         '"entities": [], "cats": ["Unusable"]'),
    Case("doccano", "note", f'{{"text": "{TEXT}", @}}', '"label": [[4, 8, "Major"]]',
         '"label": [[4, 8, "Major"]], "Comments": ["All wrong."]', '"label": [], "Comments": ["All wrong."]'),
]  # fmt: skip

UNABLE = {
    "tmx": "no errors are read from a translation memory",
    "srt": "subtitles in SRT have no place for notes",
    **dict.fromkeys(("android", "i18n-json", "xcstrings"), "files of texts by keys have no place for notes"),
    "wmt26": "read with a second file, the test set: tests/formats/corpora/test_wmt26.py has its unknown annotations",
}
"""Formats that cannot hold an unknown annotation, and why."""


def _as_table(delimiter: str) -> Callable[[str, Path], Path]:
    def put(text: str, path: Path) -> Path:
        row = json.loads(text)
        cells = [json.dumps(value) if isinstance(value, list) else value for value in row.values()]
        with open(path, "w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([list(row), cells])
        return path

    return put


def _as_workbook(text: str, path: Path) -> Path:
    book = pytest.importorskip("openpyxl").Workbook()
    row = json.loads(text)
    book.active.append(list(row))
    book.active.append([json.dumps(value) if isinstance(value, list) else value for value in row.values()])
    book.save(path)
    return path


def _as_parquet(text: str, path: Path) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.Table.from_pylist([json.loads(text)]), path)
    return path


def _as_data_set(text: str, path: Path) -> Path:
    pytest.importorskip("datasets").Dataset.from_list([json.loads(text)]).save_to_disk(path)
    return path


def _as_tags(text: str, path: Path) -> Path:
    path.mkdir()
    for suffix, content in (("tags", text), ("mt", TEXT + "\n"), ("src", SOURCE + "\n")):
        (path / f"ratings.{suffix}").write_text(content, encoding="utf-8")
    return path


def _as_batch(text: str, path: Path) -> Path:
    path.mkdir()
    (path / "batches.json").write_text(text, encoding="utf-8")
    return path


def _as_test_set(text: str, path: Path) -> Path:
    make(path)
    (path / "sources").mkdir()
    (path / "sources" / "en-de.txt").write_text(f"{SOURCE}\ntwo\nthree\n", encoding="utf-8")
    (path / "system-outputs" / "en-de" / "A.txt").write_text(f"{TEXT}\nzwei\ndrei\n", encoding="utf-8")
    (path / "human-scores" / "en-de.mqm.seg.rating").write_text(text + "A\tNone\nA\tNone\n", encoding="utf-8")
    return path


PUT: dict[str, Callable[[str, Path], Path]] = {
    "csv": _as_table(","),
    "tsv": _as_table("\t"),
    "xlsx": _as_workbook,
    "parquet": _as_parquet,
    "hf-dataset": _as_data_set,
    "word-tags": _as_tags,
    "appraise": _as_batch,
    "mtme": _as_test_set,
}


def _as_text(text: str, path: Path) -> Path:
    path.write_text(f"[{text}]" if path.name == "json" else text, encoding="utf-8")
    return path


def put(case: Case, annotations: str, folder: Path) -> Path:
    """Writes the file of a case with these annotations."""
    return PUT.get(case.form, _as_text)(case.template.replace("@", annotations), folder / case.form)


def test_every_format_that_can_be_read_has_a_case() -> None:
    assert {case.form for case in CASES} | UNABLE.keys() == set(READ)
    assert not {case.form for case in CASES} & UNABLE.keys()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.form}-{case.kind}")
def test_an_unknown_annotation_is_reported(case: Case, tmp_path: Path) -> None:
    (tmp_path / "known").mkdir()
    known = list(detection.read(put(case, case.known, tmp_path / "known"), name=case.form))
    assert [len(rating.all_errors) for rating in known] == [1]
    for name, text in (("both", case.both), ("alone", case.alone)):
        (tmp_path / name).mkdir()
        path = put(case, text, tmp_path / name)
        with pytest.raises(FormatError):
            list(detection.read(path, name=case.form))
        issues: list[RowIssue] = []
        with contextlib.suppress(FormatError):  # some refuse the file, too, when they may report what is wrong
            ratings = list(detection.read(path, ReadOptions(issues.append), name=case.form))
            assert issues
            assert all(rating.errors is None or rating.all_errors for rating in ratings)
            assert {issue.kind for issue in issues} <= {"ignored", "skipped", "assumed"}


def test_a_known_error_beside_an_unknown_one_is_kept(tmp_path: Path) -> None:
    issues: list[RowIssue] = []
    path = tmp_path / "spans.tsv"
    path.write_text(SPANS_2023.replace("@", LISTS[1]), encoding="utf-8")
    (rating,) = detection.read(path, ReadOptions(issues.append))
    assert ([str(error.severity) for error in rating.all_errors], len(issues)) == (["Severity.MAJOR"], 1)


@pytest.mark.parametrize("state", ['state="odd"', 'state="translated" state-qualifier="rejected-grammar"'])
def test_a_note_makes_no_unit_free_of_errors_whose_state_is_not_understood(tmp_path: Path, state: str) -> None:
    path = tmp_path / "a.xlf"
    note = in_xliff('# [matese] "anna": no errors')
    path.write_text(XLIFF.replace("<target>", f"<target {state}>").replace("@", note), encoding="utf-8")
    issues: list[RowIssue] = []
    ratings = list(detection.read(path, ReadOptions(issues.append)))
    assert issues
    assert [rating.errors for rating in ratings] == [None] * len(ratings)


@pytest.mark.parametrize("form", ["jsonl", "json", "csv", "tsv", "xlsx", "parquet"])
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("esa_spans", [{"start_i": 4, "end_i": 7, "severity": "major"}]),
        ("completion", [{"span_no": 0, "span_severity": "Very High"}]),
        ("label", [MARKED | {"labels": ["Major"]}]),
    ],
)
def test_errors_in_a_column_of_another_name_are_reported(
    tmp_path: Path, form: str, column: str, value: list[object]
) -> None:
    row = json.dumps({"mt": TEXT, "src": SOURCE, column: value})
    path = PUT.get(form, _as_text)(row, tmp_path / form)
    with pytest.raises(FormatError, match=f"{column} not read as errors"):
        list(detection.read(path, name=form))
    issues: list[RowIssue] = []
    (rating,) = detection.read(path, ReadOptions(issues.append), name=form)
    assert (rating.errors, [(issue.kind, issue.reason) for issue in issues]) == (
        None,
        [("ignored", f"{column} not read as errors")],
    )
    assert len(list(detection.read(path, ReadOptions(only_texts=True), name=form))) == 1


@pytest.mark.parametrize(
    ("columns", "is_error"),
    [
        ({"start": 4, "end": 7, "severity": "major", "rater": "anna"}, True),
        ({"Severity": "major"}, True),
        ({"start": "00:00:01", "end": "00:00:02"}, False),  # of subtitles
        ({"rater": "anna"}, False),
    ],
)
def test_columns_with_a_row_for_each_error_are_reported(
    tmp_path: Path, columns: dict[str, object], *, is_error: bool
) -> None:
    path = PUT["csv"](json.dumps({"mt": TEXT, "src": SOURCE, **columns}), tmp_path / "csv")
    issues: list[RowIssue] = []
    (rating,) = detection.read(path, ReadOptions(issues.append), name="csv")
    assert rating.errors is None
    expected = [("ignored", f"{name} not read as errors") for name in columns]
    assert [(issue.kind, issue.reason) for issue in issues] == expected
    with pytest.raises(FormatError, match="everity not read as errors") if is_error else contextlib.nullcontext():
        assert len(list(detection.read(path, name="csv"))) == 1
    assert len(list(detection.read(path, ReadOptions(only_texts=True), name="csv"))) == 1


MARKS = {case.form: case for case in CASES if case.known.startswith("{")}


@pytest.mark.parametrize("form", MARKS)
def test_a_mark_with_an_unknown_key_is_still_an_error(form: str, tmp_path: Path) -> None:
    """Or the file is refused; tools add keys of their own, such as colours, to what they mark."""
    case = MARKS[form]
    path = put(case, json.dumps({**json.loads(case.known), "rejected": True}), tmp_path)
    with contextlib.suppress(FormatError):
        (rating, *_) = detection.read(path, ReadOptions(lambda issue: None), name=form)
        assert len(rating.all_errors) == 1


@pytest.mark.parametrize("form", ["xcomet", "pearmut", "appraise", "label-studio"])
def test_an_unknown_key_of_a_mark_is_named(form: str, tmp_path: Path) -> None:
    case = MARKS[form]
    path = put(case, json.dumps({**json.loads(case.known), "odd": 1}), tmp_path)
    issues: list[RowIssue] = []
    (rating,) = detection.read(path, ReadOptions(issues.append), name=form)
    assert (len(rating.all_errors), [issue.reason for issue in issues]) == (1, ["unknown key 'odd' of an error"])
    with pytest.raises(FormatError, match="unknown key 'odd' of an error: must be "):
        list(detection.read(path, name=form))


def test_an_unknown_key_in_the_value_of_a_region_is_named(tmp_path: Path) -> None:
    path = put(MARKS["label-studio"], label_studio(type="labels", value={**MARKED, "odd": 1, "labels": []}), tmp_path)
    issues: list[RowIssue] = []
    (rating,) = detection.read(path, ReadOptions(issues.append))
    assert (len(rating.all_errors), [issue.reason for issue in issues]) == (1, ["unknown key 'odd' of an error"])
