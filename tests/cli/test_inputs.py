import json
from pathlib import Path

import pytest

from matese.cli import fields, options
from matese.errors import InputError
from matese.formats.segments import system_of
from matese.tasks import tag, texts
from matese.tasks.texts import TextFiles
from tests.cli.conftest import Run, write
from tests.tasks.material.inputs import write_files


def request(*arguments: str) -> TextFiles:
    return fields.request(tag.Request, vars(options.parse(["tag", *arguments]))).texts


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("--hyp mt.txt", "nothing to compare with"),
        ("-t mt.txt -s a -s b", "--src is given 2 times"),
        ("--hyp - --ref -", "- is given 2 times"),
        ("--hyp - - --ref ref.txt", "- is given 2 times"),
        ("--hyp mt.txt -t mt.txt -r ref.txt", "mt.txt is given 2 times"),
        ("--ref ref.txt", "no translations"),
        ("--input a.csv --hyp mt.txt", "--input holds the translations"),
        ("--input a.csv --ref ref.txt", "--ref is for text files"),
        ("-t mt.txt -r ref.txt --columns hypothesis=mt", "--columns is for --input only"),
        ("-t mt.txt --test-set wmt22", "--test-set"),
        ("-t mt.txt -s src.txt --test-set wmt22 --lang-pair en-de", "--test-set has source and references"),
        ("-t empty -r ref.txt", "empty has no files"),
        ("--input a.csv --columns mt", "--columns 'mt'"),
        ("--input a.csv --columns hypotesis=mt", "unknown name 'hypotesis', did you mean 'hypothesis'"),
        ("--input a.csv --columns hypothesis=mt,source=mt", "column mt is named twice"),
    ],
)
def test_usage(folder: Path, arguments: str, problem: str) -> None:
    write(folder / "a.csv", "source,target", "a,b")
    (folder / "empty").mkdir()
    (folder / "empty" / ".hidden").touch()
    with pytest.raises(InputError, match=problem):
        texts.segments(request(*arguments.split()))


def test_files_of_a_folder_are_systems(folder: Path) -> None:
    (folder / "systems").mkdir()
    for name in ("b.txt", "a.txt", ".hidden"):
        (folder / "systems" / name).write_bytes((folder / "mt.txt").read_bytes())
    command = ("-t", "systems", "mt.txt", "-r", "ref.txt", "--lang-pair", "english-german")
    segments = texts.segments(request(*command))
    assert list(segments.counts) == ["a", "b", "mt"]
    keys = [segment.key for segment in segments]
    assert {(key.lang_pair, key.system) for key in keys if key} == {("en-de", "a"), ("en-de", "b"), ("en-de", "mt")}


def test_quiet_keeps_errors(run: Run) -> None:
    assert run("tag", "--hyp", "mt.txt", "--ref", "ref.txt", "--model", "{tiny}", "-q").err == ""
    assert "blank" in run("tag", "--hyp", "mt.txt", "--ref", "ref.txt", "--model", "{tiny}").err
    assert "check the path" in run("tag", "--hyp", "nowhere", "--ref", "ref.txt", "--quiet").refused()


@pytest.fixture
def three(folder: Path) -> None:
    write_files(folder)


@pytest.mark.usefixtures("three")
def test_a_system_is_renamed(run: Run, folder: Path) -> None:
    write(folder / "two.csv", "source,system,target", "One,A,Eins", "Two,A,Zwei")
    write(folder / "columns.csv", "source,mtA,mtB", "One,Eins,Ein")

    def systems(*arguments: str) -> set[str]:
        ran = run("tag", "--checks", "only", "--format", "jsonl", *arguments)
        return {json.loads(line)["system"] for line in ran.out.splitlines()}

    assert systems("--input", "two.csv", "--system", "B") == {"B"}
    assert systems("--hyp", "mt.txt", "--ref", "ref.txt", "--system", "B") == {"B"}
    assert systems("--input", "columns.csv", "--columns", "hypothesis=mtA") == {"mtA"}
    assert '"system": "B"' in run("convert", "two.csv", "-", "--to", "jsonl", "--system", "B").out
    columns = ("--columns", "hypothesis=mtA,mtB")
    refused = run("convert", "columns.csv", "-", "--to", "jsonl", "--system", "B", *columns).refused()
    assert refused.startswith("columns.csv: has the systems mtA and mtB, and B (--system) can name only one")
    assert "can name only one" in run("compare", "a.csv", "two.csv", "--system", "B").refused()


PO = 'msgid ""\nmsgstr "Language: de\\n"\n\nmsgid "A tree"\nmsgstr "Ein Baum"\n'


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("mt.txt", "--ref", "ref.txt"), [("mt", "line 1"), ("mt", "line 2"), ("mt", "line 3")]),
        (("mt.txt", "--src", "ref.txt", "--system", "x"), [("x", "line 1"), ("x", "line 2"), ("x", "line 3")]),
        (
            ("a.csv", "two.txt", "c.po", "--src", "src2.txt", "--system", "x"),
            [("x", "line 2"), ("x", "line 1"), ("x", "line 2"), ("x", "unit 'A tree' (line 4)")],
        ),
        (
            ("mt.txt", "two.txt", "--ref", "ref.txt", "--ref", "src2.txt", "--src", "src2.txt"),
            [("mt", "line 1"), ("mt", "line 2"), ("mt", "line 3"), ("two", "line 1"), ("two", "line 2")],
        ),
    ],
)
def test_text_files_among_others(
    run: Run, folder: Path, arguments: tuple[str, ...], expected: list[tuple[str, str]]
) -> None:
    write(folder / "a.csv", "source,target", "a house,ein Haus")
    write(folder / "two.txt", "eins", "zwei")
    write(folder / "src2.txt", "one", "two")
    (folder / "c.po").write_text(PO)
    segments = texts.segments(request("--input", *arguments))
    assert [(system_of(segment), segment.label) for segment in segments] == expected
    assert all(segment.source is not None or segment.references for segment in segments)
    assert run("tag", "--model", "{tiny}", "--input", *arguments).code == 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("mt.txt",), "mt.txt holds translations alone"),
        (("mt.txt", "a.csv", "--src", "src2.txt"), "src2.txt has 2 lines and mt.txt 3: line i of a source"),
        (("mt.txt", "--src", "ref.txt", "--src", "mt2.txt"), "ref.txt and mt2.txt have as many lines as mt.txt"),
        (("a.csv", "--src", "ref.txt"), "--src is for text files"),
        (("mt.txt", "mt.txt", "--ref", "ref.txt"), "mt.txt is given 2 times"),
    ],
)
def test_text_files_that_lack_something(run: Run, folder: Path, arguments: tuple[str, ...], problem: str) -> None:
    write(folder / "a.csv", "source,target", "a house,ein Haus")
    write(folder / "src2.txt", "one", "two")
    write(folder / "mt2.txt", "eins", "zwei", "drei")
    assert run("tag", "--input", *arguments).refused().startswith(problem)
    assert run("tag", "--checks", "only", "--input", "mt.txt").code == 0


def test_a_source_with_an_unknown_heading(run: Run, folder: Path) -> None:
    write(folder / "a.csv", "N°,Texto,mt", "1,The dog,Der Hund")
    refused = run("tag", "--model", "{tiny}", "--input", "a.csv").refused()
    assert "N°, Texto" in refused
    assert "--columns source=" in refused
