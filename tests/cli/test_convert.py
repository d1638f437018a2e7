from __future__ import annotations

import json
from pathlib import Path

import pytest

import matese
from matese.annotation import ErrorSpan, Omission, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.formats.registry import READ
from matese.formats.tables import jsonl
from tests.cli.conftest import Run, write

SEGMENT = Segment("Ein 😀 Haus.", "A tree.", ("Ein Baum.",), SegmentKey("ted", "en-de", "A", "talk", 0))
RATINGS = [
    Rating(SEGMENT, "r1", (ErrorSpan(6, 10, Severity.MAJOR, "Style", 0.5),)),
    Rating(SEGMENT, "r2", ()),
]
LOST = "references: 2; names of test sets: 2; language pairs: 2; confidences: 1"


@pytest.fixture(name="spans")
def _spans(folder: Path) -> Path:
    path = folder / "spans.jsonl"
    path.write_text("".join(f"{jsonl.dumps(one)}\n" for one in RATINGS), encoding="utf-8")
    return path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"mt.txt", "ref.txt"}


def test_losses_are_told_and_the_file_is_written(run: Run, spans: Path, folder: Path) -> None:
    ran = run("convert", "spans.jsonl", "ted.tsv", "--to", "mqm-tsv")
    assert (ran.code, ran.out, ran.err) == (0, "", f"matese: mqm-tsv: left out or changed: {LOST}\n")
    assert (folder / "ted.tsv").read_text(encoding="utf-8").splitlines()[1:] == [
        "A\ttalk\t1\t1\tr1\tA tree.\tEin 😀 <v>Haus</v>.\tStyle\tMajor",
        "A\ttalk\t1\t1\tr2\tA tree.\tEin 😀 Haus.\tNo-error\tNo-error",
    ]
    printed = run("convert", "spans.jsonl", "-", "--to", "mqm-tsv").out
    assert printed == (folder / "ted.tsv").read_text(encoding="utf-8")
    named = (
        "convert",
        "ted.tsv",
        "-",
        "--to",
        "jsonl",
        "--lang-pair",
        "en-de",
        "--test-set",
        "ted",
        "--as-rater",
        "me",
    )
    back = run(*named, "--rater", "r1")
    assert [json.loads(line)["rater"] for line in back.out.splitlines()] == ["me"]
    # The ratings of two people would be two of one.
    refused = run(*named).refused()
    assert refused.startswith("--as-rater me: ")
    assert "choose one with --rater NAME, or merge them with --merge union" in refused
    first = json.loads(back.out.splitlines()[0])
    assert (first["errors"][0]["text"], first["index"]) == ("Haus", 0)
    counted = run("convert", "ted.tsv", "-", "--to", "jsonl", "--first-segment", "0").out
    assert json.loads(counted.splitlines()[0])["index"] == 1


@pytest.mark.parametrize("place", ["out.tsv", "-"])
def test_strict_makes_a_loss_an_error_and_writes_nothing(run: Run, spans: Path, folder: Path, place: str) -> None:
    problem = run("convert", "spans.jsonl", place, "--to", "mqm-tsv", "--strict").refused()
    assert problem == f"mqm-tsv would leave out or change: {LOST}; --strict allows no loss"
    assert names(folder) == {"spans.jsonl"}
    assert run("convert", "spans.jsonl", "same.csv", "--to", "csv", "--strict").code == 0


def test_a_fault_half_way_leaves_nothing(run: Run, spans: Path, folder: Path) -> None:
    with spans.open("a", encoding="utf-8") as stream:
        stream.write("{\n")
    for place, form in [("-", "csv"), ("out", "csv"), ("out", "label-studio")]:
        assert run("convert", "spans.jsonl", place, "--to", form).refused().startswith("spans.jsonl:3: not JSON")
        assert names(folder) == {"spans.jsonl"}


def test_what_people_have_made_of_it(run: Run, spans: Path, folder: Path) -> None:
    run("convert", "spans.jsonl", "all.jsonl", "--to", "doccano")
    (folder / "all.jsonl").write_text(
        (folder / "all.jsonl").read_text(encoding="utf-8").replace("7, 11", "4, 11"), encoding="utf-8"
    )
    ran = run("convert", "all.jsonl", "back.jsonl", "--to", "jsonl", "--before", "spans.jsonl")
    assert ran.err == (
        "matese: of 2 marks: 0 kept, 1 changed (1 moved, 0 relabelled), 1 removed; 0 added; 0 of 2 ratings untouched\n"
    )


@pytest.mark.parametrize(
    ("form", "kept"),
    [("jsonl", 3), ("label-studio", 2), ("doccano", 1), ("po", 3)],
)
def test_what_a_format_cannot_hold_nobody_has_removed(run: Run, folder: Path, form: str, kept: int) -> None:
    write(folder / "a.po", 'msgid "A red dog"', 'msgstr "Der Hund"')
    key = SegmentKey(index=0)
    missing = Omission("source", None, 2, 5, Severity.MAJOR, "Accuracy/Omission")
    span = ErrorSpan(4, 8, Severity.MAJOR, confidence=0.5)
    segment = Segment("Der Hund", "A red dog", key=key)
    rating = Rating(segment, "m", (span,), omissions=(missing,), unplaced=(UnplacedError(Severity.MINOR),))
    write(folder / "a.jsonl", jsonl.dumps(rating))
    run("convert", "a.jsonl", "corrected", "--to", form, *(["--template", "a.po"] if form == "po" else []))
    more = ["--predictions"] if form == "label-studio" else []
    ran = run("convert", "corrected", "b.jsonl", "--from", form, "--before", "a.jsonl", *more)
    assert f"of {kept} marks: {kept} kept, 0 changed" in ran.err
    assert ran.err.endswith("; 0 added; 1 of 1 ratings untouched\n")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["no.jsonl", "out", "--to", "csv"], "no.jsonl: no such file or directory"),
        (["mt.txt", "out", "--to", "csv"], "mt.txt: a text file"),
        (["mt.txt", "out", "--to", "cvs"], "--to: unknown format 'cvs', did you mean 'csv'"),
        (["spans.jsonl", "out", "--to", "csv", "--from", "seg-rating"], "--from: unknown format 'seg-rating'"),
        (["spans.jsonl", "spans.jsonl", "--to", "csv"], "--output spans.jsonl is the input spans.jsonl"),
        (["spans.jsonl", "-", "--to", "word-tags"], "word-tags is a folder"),
        (["spans.jsonl", ".", "--to", "word-tags"], "output . exists: word-tags writes a folder"),
        (["spans.jsonl", "tasks.json", "--to", "label-studio"], "tasks.json: label-studio writes a folder"),
        (["spans.jsonl", ".", "--to", "csv"], "output .: is a directory"),
        (["spans.jsonl", "no/out", "--to", "csv"], "output no/out"),
        (["spans.jsonl", "out", "--to", "seg-rating"], "segment 1 of system A has two ratings"),
    ],
)
def test_bad_input(run: Run, spans: Path, folder: Path, arguments: list[str], problem: str) -> None:
    assert run("convert", *arguments).refused().startswith(problem)
    assert names(folder) == {"spans.jsonl"}


OTHERS = [name for name in READ if name not in ("jsonl", "json", "parquet", "hf-dataset", "xliff", "po")]


@pytest.mark.parametrize("name", OTHERS)
def test_a_wrong_from_is_told_with_what_the_file_begins_like(run: Run, spans: Path, folder: Path, name: str) -> None:
    said = run("convert", "spans.jsonl", "out", "--to", "csv", "--from", name).refused()
    assert said.startswith(f"spans.jsonl: cannot be read as {name} (")
    assert said.endswith("), but begins like jsonl: must be read as jsonl")
    assert names(folder) == {"spans.jsonl"}


def test_a_wrong_from_of_other_files_and_of_folders(run: Run, spans: Path, folder: Path) -> None:
    for form in ("doccano", "mqm-tsv", "label-studio"):
        assert run("convert", "spans.jsonl", f"given-{form}", "--to", form).code == 0
        wrong = run("convert", f"given-{form}", "out", "--to", "csv", "--from", "jsonl").refused()
        assert wrong.endswith(f", but begins like {form}: must be read as {form}")
        assert run("info", f"given-{form}", "--from", "jsonl").refused() == wrong


def test_a_from_is_not_blamed_for_a_file_that_is_in_no_format(run: Run, folder: Path) -> None:
    assert run("convert", "mt.txt", "out", "--to", "csv", "--from", "jsonl").refused().startswith("mt.txt:1: not JSON")
    # It begins like our JSONL, as which it cannot be read either.
    (folder / "other.json").write_text('{"mt": 3}', encoding="utf-8")
    assert run("convert", "other.json", "out", "--to", "csv", "--from", "xcomet").refused().startswith("other.json:1: ")
    assert run("convert", "no", "out", "--to", "csv", "--from", "xcomet").refused().startswith("no: no such file")


@pytest.mark.parametrize("name", ["parquet", "hf-dataset"])
def test_tables_that_are_none(run: Run, spans: Path, folder: Path, name: str) -> None:
    pytest.importorskip("datasets")
    wrong = ["convert", "spans.jsonl", "out", "--to", "csv", "--from", name]
    assert run(*wrong).refused().endswith(", but begins like jsonl: must be read as jsonl")
    (folder / "empty").mkdir()
    problem = {"parquet": "empty: is a directory", "hf-dataset": "empty: no data set"}[name]
    assert run("convert", "empty", "out", "--to", "csv", "--from", name).refused().startswith(problem)


def test_references_are_joined_to_raw_ratings(run: Run, folder: Path) -> None:
    head = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
    sources = {1: "One.", 2: "Two."}
    rows = [f"A\td\t{number}\t{number}\tr\t{source}\tx\tNo-error\tNo-error" for number, source in sources.items()]
    write(folder / "raw.tsv", head, *rows)
    write(folder / "one.src", "Two.", "Three.")
    write(folder / "one.ref", "Zwei.", "Drei.")
    ran = run("convert", "raw.tsv", "-", "--to", "jsonl", "--src", "one.src", "--ref", "one.ref")
    assert [json.loads(line)["references"] for line in ran.out.splitlines()] == [[], ["Zwei."]]
    assert "1 of 2 segments have no reference" in ran.err
    by_number = run("convert", "raw.tsv", "-", "--to", "jsonl", "--ref", "one.ref")
    assert [json.loads(line)["references"] for line in by_number.out.splitlines()] == [["Zwei."], ["Drei."]]
    write(folder / "other.src", "Four.", "Five.")
    refused = run("convert", "raw.tsv", "out.jsonl", "--src", "other.src", "--ref", "one.ref").refused()
    assert "no rating belongs" in refused
    assert not (folder / "out.jsonl").exists()


XLIFF = """<?xml version="1.0"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file original="a" source-language="en" target-language="de" datatype="plaintext"><body>
<trans-unit id="a"><source>Remove it</source><target>Lösche es</target></trans-unit>
<trans-unit id="b"><source>Save</source><target>Sparen</target></trans-unit>
<trans-unit id="c"><source>Quit</source><target>Beenden</target></trans-unit>
</body></file></xliff>
"""
PO = """msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\nLanguage: de\\n"

msgid "Remove it"
msgstr "Lösche es"

msgid "Save"
msgstr "Sparen"

msgid "Quit"
msgstr "Beenden"
"""
CSV = "\ufeffNr;src;MT\n1;Remove it;Lösche es\n2;Save;Sparen\n3;Quit;Beenden\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("app.xlf", XLIFF),
        ("app.po", PO),
        ("app.csv", CSV),
        ("app.xlsx", CSV),
    ],
)
def test_what_a_reviewer_has_saved_goes_back(run: Run, folder: Path, name: str, content: str) -> None:
    given = name.replace(".xlsx", ".csv")
    (folder / given).write_text(content, encoding="utf-8")
    assert run("tag", "--checks", "only", "--input", given, "--output", "given.jsonl").code == 0
    # As the page writes it: two of three are reviewed, with comments.
    rows = [json.loads(line) for line in (folder / "given.jsonl").read_text(encoding="utf-8").splitlines()]
    change = {"start": 0, "end": 6, "text": "Sparen", "severity": "major", "category": "Accuracy", "confidence": None}
    saved = [
        rows[0] | {"rater": "anna", "errors": [], "unplaced": [], "estimate": None, "comment": 'Is it "es"?'},
        rows[1] | {"rater": "anna", "errors": [change], "unplaced": [], "estimate": None, "comment": None},
    ]
    (folder / "mt.anna.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in saved), encoding="utf-8")
    template = ("--template", name) if name in ("app.xlf", "app.po") else ()
    ran = run("convert", "mt.anna.jsonl", f"corrected-{name}", *template)
    assert ran.code == 0, ran.err
    assert "other columns" not in ran.err
    assert run("convert", f"corrected-{name}", "back.jsonl").code == 0
    back = [json.loads(line) for line in (folder / "back.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["hypothesis"] for row in back][:2] == ["Lösche es", "Sparen"]
    assert [row["rater"] for row in back][:2] == ["anna", "anna"]
    assert [row.get("comment") or None for row in back][:2] == ['Is it "es"?', None]
    assert [row["errors"] for row in back] == [[], [change], None][: len(back)]


def test_a_csv_keeps_its_separator_mark_and_headings(run: Run, folder: Path) -> None:
    (folder / "in.csv").write_text(CSV, encoding="utf-8")
    for command in (
        ("convert", "in.csv", "out.csv"),
        ("tag", "--checks", "only", "--input", "in.csv", "--output", "out.csv"),
    ):
        assert run(*command).code == 0
        header = (folder / "out.csv").read_text(encoding="utf-8").partition("\n")[0]
        assert header.startswith('\ufeff"')
        assert {'"src"', '"MT"', '"Nr"'} <= set(header.removeprefix("\ufeff").split(";"))
    assert run("convert", "in.csv", "out.tsv").code == 0
    assert "\t" in (folder / "out.tsv").read_text(encoding="utf-8").partition("\n")[0]


@pytest.mark.parametrize("form", ["csv", "tsv", "xlsx", "jsonl"])
def test_segments_keep_the_names_of_the_file_that_they_come_from(run: Run, folder: Path, form: str) -> None:
    (folder / "app.po").write_text(PO, encoding="utf-8")
    write(folder / "ids.csv", "ID,source,target", "17,Save,Sparen", "18,Quit,Beenden")
    for given, name in (("app.po", "unit 'Save' (line 7)"), ("ids.csv", "ID 18")):
        assert run("tag", "--checks", "only", "--input", given, "--output", f"marked.{form}").code == 0
        assert run("convert", f"marked.{form}", "back.jsonl").code == 0
        labels = [rating.segment.label for rating in jsonl.read(folder / "back.jsonl")]
        assert name in labels


def test_another_rater_has_no_confidences_of_the_model(run: Run, folder: Path) -> None:
    span = '{"start": 0, "end": 1, "severity": "minor", "confidence": 0.5}'
    estimate = '{"value": -1.0, "scale": "mqm"}'
    line = f'{{"hypothesis": "ab", "errors": [{span}], "estimate": {estimate}, "rater": %s}}'
    for rater, kept in (('"model"', (None, None)), ("null", (0.5, -1.0)), ('"ann"', (0.5, -1.0))):
        (folder / "a.jsonl").write_text(line % rater + "\n", encoding="utf-8")
        row = json.loads(run("convert", "a.jsonl", "-", "--to", "jsonl", "--as-rater", "ann").out)
        assert (row["rater"], row["errors"][0]["confidence"], row["expected_score"]) == ("ann", *kept)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--rater", "ben"), [("ben", 1)]),
        (("--merge", "union"), [("anna+ben+cleo", 2)]),
        (("--merge", "majority"), [("anna+ben+cleo", 1)]),
        (("--merge", "majority", "--as-rater", "gold"), [("gold", 1)]),
    ],
)
def test_raters_are_selected_or_merged(
    run: Run, folder: Path, options: tuple[str, ...], expected: list[tuple[str, int]]
) -> None:
    segment = Segment("Das Haus ist alt.", "x", key=SegmentKey(system="A", index=0))
    first = ErrorSpan(4, 8, Severity.MAJOR)
    second = ErrorSpan(13, 16, Severity.MINOR)
    marked = {"anna": (first, second), "ben": (first,), "cleo": ()}
    matese.write([Rating(segment, name, errors) for name, errors in marked.items()], folder / "three.jsonl")
    assert run("convert", "three.jsonl", "gold.jsonl", *options).code == 0
    found = [(rating.rater, len(rating.errors or ())) for rating in matese.read(folder / "gold.jsonl")]
    assert found == expected
    unknown = run("convert", "three.jsonl", "gold.jsonl", "--rater", "dan").refused()
    assert unknown.startswith("no rating of rater 'dan' (--rater): must be anna, ben or cleo; --as-rater dan gives")
    matese.convert("three.jsonl", "merged.jsonl", merge="union")
    assert [len(rating.errors or ()) for rating in matese.read("merged.jsonl")] == [2]
