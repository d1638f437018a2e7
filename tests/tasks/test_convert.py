from __future__ import annotations

import json
from pathlib import Path

import pytest

import matese
from matese.annotation import ErrorSpan, Omission, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.formats.registry import READ
from matese.formats.tables import jsonl
from matese.tasks import convert, info, tag
from tests.tasks.conftest import do, refusal, write
from tests.tasks.material.convert import names, write_files


@pytest.fixture(name="spans")
def _spans(folder: Path) -> Path:
    return write_files(folder)


def test_a_fault_half_way_leaves_nothing(spans: Path, folder: Path) -> None:
    with spans.open("a", encoding="utf-8") as stream:
        stream.write("{\n")
    for place, form in [("-", "csv"), ("out", "csv"), ("out", "label-studio")]:
        assert refusal(convert, to=form, input="spans.jsonl", output=place).startswith("spans.jsonl:3: not JSON")
        assert names(folder) == {"spans.jsonl"}


@pytest.mark.parametrize(
    ("form", "kept"),
    [("jsonl", 3), ("label-studio", 2), ("doccano", 1), ("po", 3)],
)
def test_what_a_format_cannot_hold_nobody_has_removed(folder: Path, form: str, kept: int) -> None:
    write(folder / "a.po", 'msgid "A red dog"', 'msgstr "Der Hund"')
    key = SegmentKey(index=0)
    missing = Omission("source", None, 2, 5, Severity.MAJOR, "Accuracy/Omission")
    span = ErrorSpan(4, 8, Severity.MAJOR, confidence=0.5)
    segment = Segment("Der Hund", "A red dog", key=key)
    rating = Rating(segment, "m", (span,), omissions=(missing,), unplaced=(UnplacedError(Severity.MINOR),))
    write(folder / "a.jsonl", jsonl.dumps(rating))
    template = {"template": "a.po"} if form == "po" else {}
    do(convert, to=form, input="a.jsonl", output="corrected", **template)
    more = {"predictions": True} if form == "label-studio" else {}
    ran = do(convert, from_=form, before="a.jsonl", input="corrected", output="b.jsonl", **more)
    assert f"of {kept} marks: {kept} kept, 0 changed" in ran.told
    assert ran.told.endswith("; 0 added; 1 of 1 ratings untouched\n")


OTHERS = [name for name in READ if name not in ("jsonl", "json", "parquet", "hf-dataset", "xliff", "po")]


@pytest.mark.parametrize("name", OTHERS)
def test_a_wrong_from_is_told_with_what_the_file_begins_like(spans: Path, folder: Path, name: str) -> None:
    said = refusal(convert, to="csv", from_=name, input="spans.jsonl", output="out")
    assert said.startswith(f"spans.jsonl: cannot be read as {name} (")
    assert said.endswith("), but begins like jsonl: must be read as jsonl")
    assert names(folder) == {"spans.jsonl"}


def test_a_wrong_from_of_other_files_and_of_folders(spans: Path, folder: Path) -> None:
    for form in ("doccano", "mqm-tsv", "label-studio"):
        do(convert, to=form, input="spans.jsonl", output=f"given-{form}")
        wrong = refusal(convert, to="csv", from_="jsonl", input=f"given-{form}", output="out")
        assert wrong.endswith(f", but begins like {form}: must be read as {form}")
        assert refusal(info, from_="jsonl", input=f"given-{form}") == wrong


def test_a_from_is_not_blamed_for_a_file_that_is_in_no_format(folder: Path) -> None:
    assert refusal(convert, to="csv", from_="jsonl", input="mt.txt", output="out").startswith("mt.txt:1: not JSON")
    # It begins like our JSONL, as which it cannot be read either.
    (folder / "other.json").write_text('{"mt": 3}', encoding="utf-8")
    assert refusal(convert, to="csv", from_="xcomet", input="other.json", output="out").startswith("other.json:1: ")
    assert refusal(convert, to="csv", from_="xcomet", input="no", output="out").startswith("no: no such file")


@pytest.mark.parametrize("name", ["parquet", "hf-dataset"])
def test_tables_that_are_none(spans: Path, folder: Path, name: str) -> None:
    pytest.importorskip("datasets")
    wrong = refusal(convert, input="spans.jsonl", output="out", to="csv", from_=name)
    assert wrong.endswith(", but begins like jsonl: must be read as jsonl")
    (folder / "empty").mkdir()
    problem = {"parquet": "empty: is a directory", "hf-dataset": "empty: no data set"}[name]
    assert refusal(convert, to="csv", from_=name, input="empty", output="out").startswith(problem)


def test_references_are_joined_to_raw_ratings(folder: Path) -> None:
    head = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
    sources = {1: "One.", 2: "Two."}
    rows = [f"A\td\t{number}\t{number}\tr\t{source}\tx\tNo-error\tNo-error" for number, source in sources.items()]
    write(folder / "raw.tsv", head, *rows)
    write(folder / "one.src", "Two.", "Three.")
    write(folder / "one.ref", "Zwei.", "Drei.")
    ran = do(convert, to="jsonl", src="one.src", ref=["one.ref"], input="raw.tsv", output="-")
    assert [json.loads(line)["references"] for line in ran.out.splitlines()] == [[], ["Zwei."]]
    assert "1 of 2 segments have no reference" in ran.told
    by_number = do(convert, to="jsonl", ref=["one.ref"], input="raw.tsv", output="-")
    assert [json.loads(line)["references"] for line in by_number.out.splitlines()] == [["Zwei."], ["Drei."]]
    write(folder / "other.src", "Four.", "Five.")
    refused = refusal(convert, src="other.src", ref=["one.ref"], input="raw.tsv", output="out.jsonl")
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
def test_what_a_reviewer_has_saved_goes_back(folder: Path, name: str, content: str) -> None:
    source = name.replace(".xlsx", ".csv")
    (folder / source).write_text(content, encoding="utf-8")
    do(tag, checks="only", input=[source], output="given.jsonl")
    # As the page writes it: two of three are reviewed, with comments.
    rows = [json.loads(line) for line in (folder / "given.jsonl").read_text(encoding="utf-8").splitlines()]
    change = {"start": 0, "end": 6, "text": "Sparen", "severity": "major", "category": "Accuracy", "confidence": None}
    saved = [
        rows[0] | {"rater": "anna", "errors": [], "unplaced": [], "estimate": None, "comment": 'Is it "es"?'},
        rows[1] | {"rater": "anna", "errors": [change], "unplaced": [], "estimate": None, "comment": None},
    ]
    (folder / "mt.anna.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in saved), encoding="utf-8")
    template = {"template": name} if name in ("app.xlf", "app.po") else {}
    ran = do(convert, input="mt.anna.jsonl", output=f"corrected-{name}", **template)
    assert "other columns" not in ran.told
    do(convert, input=f"corrected-{name}", output="back.jsonl")
    back = [json.loads(line) for line in (folder / "back.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["hypothesis"] for row in back][:2] == ["Lösche es", "Sparen"]
    assert [row["rater"] for row in back][:2] == ["anna", "anna"]
    assert [row.get("comment") or None for row in back][:2] == ['Is it "es"?', None]
    assert [row["errors"] for row in back] == [[], [change], None][: len(back)]


def test_a_csv_keeps_its_separator_mark_and_headings(folder: Path) -> None:
    (folder / "in.csv").write_text(CSV, encoding="utf-8")
    for task, fields in ((convert, {"input": "in.csv"}), (tag, {"input": ["in.csv"], "checks": "only"})):
        do(task, **fields, output="out.csv")
        header = (folder / "out.csv").read_text(encoding="utf-8").partition("\n")[0]
        assert header.startswith('\ufeff"')
        assert {'"src"', '"MT"', '"Nr"'} <= set(header.removeprefix("\ufeff").split(";"))
    do(convert, input="in.csv", output="out.tsv")
    assert "\t" in (folder / "out.tsv").read_text(encoding="utf-8").partition("\n")[0]


@pytest.mark.parametrize("form", ["csv", "tsv", "xlsx", "jsonl"])
def test_segments_keep_the_names_of_the_file_that_they_come_from(folder: Path, form: str) -> None:
    (folder / "app.po").write_text(PO, encoding="utf-8")
    write(folder / "ids.csv", "ID,source,target", "17,Save,Sparen", "18,Quit,Beenden")
    for source, name in (("app.po", "unit 'Save' (line 7)"), ("ids.csv", "ID 18")):
        do(tag, checks="only", input=[source], output=f"marked.{form}")
        do(convert, input=f"marked.{form}", output="back.jsonl")
        labels = [rating.segment.label for rating in jsonl.read(folder / "back.jsonl")]
        assert name in labels


def test_another_rater_has_no_confidences_of_the_model(folder: Path) -> None:
    span = '{"start": 0, "end": 1, "severity": "minor", "confidence": 0.5}'
    estimate = '{"value": -1.0, "scale": "mqm"}'
    line = f'{{"hypothesis": "ab", "errors": [{span}], "estimate": {estimate}, "rater": %s}}'
    for rater, kept in (('"model"', (None, None)), ("null", (0.5, -1.0)), ('"ann"', (0.5, -1.0))):
        (folder / "a.jsonl").write_text(line % rater + "\n", encoding="utf-8")
        row = json.loads(do(convert, to="jsonl", as_rater="ann", input="a.jsonl", output="-").out)
        assert (row["rater"], row["errors"][0]["confidence"], row["expected_score"]) == ("ann", *kept)


def test_a_person_who_has_reviewed_nothing(folder: Path) -> None:
    matese.write([Rating(Segment("Das Haus"), "matese|model:a|version:1", ())], folder / "marked.jsonl")
    told = refusal(convert, as_rater="Anna", input="marked.jsonl", output="anna.jsonl")
    assert told.startswith("nothing is written: left out: 1 rating of a model that nobody has reviewed")
    assert not (folder / "anna.jsonl").exists()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"rater": "ben"}, [("ben", 1)]),
        ({"merge": "union"}, [("anna+ben+cleo", 2)]),
        ({"merge": "majority"}, [("anna+ben+cleo", 1)]),
        ({"merge": "majority", "as_rater": "gold"}, [("gold", 1)]),
    ],
)
def test_raters_are_selected_or_merged(
    folder: Path, options: dict[str, object], expected: list[tuple[str, int]]
) -> None:
    segment = Segment("Das Haus ist alt.", "x", key=SegmentKey(system="A", index=0))
    first = ErrorSpan(4, 8, Severity.MAJOR)
    second = ErrorSpan(13, 16, Severity.MINOR)
    marked = {"anna": (first, second), "ben": (first,), "cleo": ()}
    matese.write([Rating(segment, name, errors) for name, errors in marked.items()], folder / "three.jsonl")
    told = do(convert, input="three.jsonl", output="gold.jsonl", **options).told
    scores = {"union": "score -6.00", "majority": "score -5.00"}
    assert ("the raters -3.67" in told) == ("merge" in options)
    assert scores.get(str(options.get("merge")), "") in told
    raters = [(rating.rater, len(rating.errors or ())) for rating in matese.read(folder / "gold.jsonl")]
    assert raters == expected
    unknown = refusal(convert, rater="dan", input="three.jsonl", output="gold.jsonl")
    assert unknown.startswith("no rating of rater 'dan' (--rater): must be anna, ben or cleo; --as-rater dan gives")
    matese.convert("three.jsonl", "merged.jsonl", raters=matese.Raters(merge="union"))
    assert [len(rating.errors or ()) for rating in matese.read("merged.jsonl")] == [2]


def test_corrections_go_back_into_a_file_of_the_same_kind_as_the_template(folder: Path) -> None:
    write(folder / "en.json", '{"a": "A river"}')
    write(folder / "de.json", '{"a": "Die Volga"}')
    segment = Segment("Die Volga", "A river", key=SegmentKey(index=0), extra={"corrected": "Die Wolga"})
    write(folder / "anna.jsonl", jsonl.dumps(Rating(segment, "anna", ())))
    do(convert, input="anna.jsonl", output="new.json", template="de.json", corrections_only=True)
    assert (folder / "new.json").read_text(encoding="utf-8") == '{"a": "Die Wolga"}\n'
