"""What people did in their first hour: what they typed, what came of it, and the exit code."""

from __future__ import annotations

import gzip
import shlex
from dataclasses import dataclass, field
from pathlib import Path

import openpyxl
import pytest

import matese
from tests.cli.conftest import Run, write


@dataclass(frozen=True)
class Situation:
    """A command and what came of it.

    Attributes:
        command: as in a shell, without `matese`.
        err: parts of standard error; of an error, the whole of it is one line.
        out: parts of standard output.
        files: how written files begin, by name.
        code: the exit code.
    """

    command: str
    err: tuple[str, ...] = ()
    out: tuple[str, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    code: int = 0


TEXTS = "--hyp mt.txt --ref ref.txt"
ENDINGS = [
    Situation(f"tag {TEXTS} --output x.jsonl", files={"x.jsonl": '{"index": 0'}),
    Situation(f"tag {TEXTS} --output x.JSON", files={"x.JSON": '[\n{"index": 0'}),
    Situation(f"tag {TEXTS} --output x.csv", files={"x.csv": '"index","system"'}),
    Situation(f"tag {TEXTS} --output x.csv.gz", files={"x.csv.gz": '"index","system"'}),
    Situation(f"tag {TEXTS} --output x.tsv", files={"x.tsv": '"index"\t"system"'}),
    Situation(f"tag {TEXTS} --output x.html", files={"x.html": "<!doctype html>"}),
    Situation(f"tag {TEXTS} --output x.txt", files={"x.txt": "[[Major]]"}),
    Situation(f"tag {TEXTS} --output x.tsv --format mqm-tsv", files={"x.tsv": "system\tdoc"}),
    Situation(f"tag {TEXTS} --output x --format jsonl", files={"x": '{"index": 0'}),
    Situation(
        f"tag {TEXTS} --output x.jsnl",
        ("x.jsnl: the name has no ending that stands for a format, did you mean '.jsonl'? use .",),
        code=2,
    ),
    Situation(f"tag {TEXTS} --output x", (".html or .txt, or name the format with --format",), code=2),
    Situation(
        f"tag {TEXTS} --output x.csv --format html",
        ("x.csv: .csv stands for csv, but the format is html: use a name in .html, or another format",),
        code=2,
    ),
    Situation(f"explain {TEXTS} --output x.csv", ("use .txt, .jsonl or .html, or name",), code=2),
    Situation("mbr --hyp mt.txt ref.txt --output x.jsonl", files={"x.jsonl": '{"index": 0'}),
    Situation("mbr --hyp mt.txt ref.txt --output x.de", files={"x.de": ""}),
    Situation("mbr --hyp mt.txt ref.txt --output x.csv", ("x.csv: the name has no ending",), code=2),
    Situation("convert spans.jsonl x.csv", files={"x.csv": '"index","system"'}),
    Situation("convert spans.jsonl o.tmx", ("o.tmx: .tmx files can only be read; choose .",), code=2),
    Situation(f"tag {TEXTS} --output o.tmx", ("o.tmx: .tmx files can only be read; choose .",), code=2),
    Situation("convert spans.jsonl -", ("no output format: give --to, one of mqm-tsv",), code=2),
    Situation("report spans.jsonl --output x.csv", (".csv stands for csv, but the format is html",), code=2),
    Situation(f"stress {TEXTS} --output x.csv", ("but the format is jsonl",), code=2),
    Situation("score --hyp mt.txt.gz --ref ref.txt", out=("mt\t",)),
]
COMPARING = [
    Situation("gate --hyp mt.txt --baseline ref.txt --ref ref.txt --max-blank 1", out=("PASS  expected score minus",)),
    Situation("gate --hyp mt.txt --ref ref.txt --min-score -0.1", out=("FAIL  expected score",), code=1),
    Situation("gate --input table.csv --baseline old --max-blank 1", out=("expected score minus that of old",)),
    Situation("gate --input table.csv --min-score -3", out=("\nnew            2       0         0  PASS\nold ",)),
    Situation("gate spans.jsonl --max-errors-per 3", ("did you mean '--max-errors-per-1k'?",), code=2),
    Situation(
        "gate --input half.po --min-score -3",
        out=("FAIL  blank translations 2 (at most 0)", "\n      unit '"),
        code=1,
    ),
    Situation("gate table.csv", ("no limit to check: give --max-major-per-1k",), code=2),
    Situation("gate spans.jsonl --max-blank 0", out=("PASS  blank translations 0 (at most 0)",)),
    Situation("compare one.jsonl spans.jsonl", ("1 in one and 0 in spans)",), code=2),
    Situation(
        "compare one.jsonl empty.jsonl",
        ("2 segments: too few for any difference to be significant",),
        ("and one: empty -",),
    ),
    Situation(
        "report mt.txt --output x.html",
        ("mt.txt: a text file: give it with --hyp, --src or --ref; where ratings are expected, mark it with",),
        code=2,
    ),
    Situation("gate marked.xlf --min-score -20", out=("FAIL  blank translations 1 (at most 0)",), code=1),
    Situation(
        "tag --input half.po --checks only --output x.po", ("half.po: 2 rows skipped: unit without a translation",)
    ),
    Situation(
        "gate comet.jsonl --min-score -3",
        ("comet.jsonl holds translations without ratings; mark them first with matese tag --input comet.jsonl",),
        code=2,
    ),
    Situation("compare comet.jsonl spans.jsonl", ("comet.jsonl holds translations without ratings",), code=2),
    Situation("compare --hyp mt.txt ref.txt --ref ref.txt", out=("difference between ref and mt",)),
    Situation("compare --hyp mt.txt ref.txt --ref ref.txt --baseline ref.txt", out=("between mt and ref",)),
    Situation("compare --hyp mt.txt ref.txt src.txt --src src.txt --baseline mt --all", out=("minus mt ",)),
    Situation(
        "compare --hyp mt.txt ref.txt src.txt --src src.txt --all", out=("src minus ref: score", "src minus mt: score")
    ),
    Situation(
        "compare --hyp mt.txt ref.txt --ref ref.txt --baseline tm",
        ("--baseline tm: no such file or system: must be a file or one of the systems: mt, ref",),
        code=2,
    ),
    Situation(
        "compare --hyp mt.txt ref.txt --ref ref.txt --metrics ter chrf",
        out=("TER: nrefs:1|case:lc", "|negated:yes", "chrF: nrefs:1|"),
    ),
    Situation(
        "compare --input table.csv --filter length=2:5 unique --bootstrap 0", out=("length 2:5", "no duplicates")
    ),
    Situation("compare one.jsonl spans.jsonl --filter nubmer", ("did you mean 'number'? must be number,",), code=2),
    Situation("compare one.jsonl empty.jsonl --bootstrap 0", out=("; found: 0 errors fixed, 2 introduced",)),
    Situation("compare empty.jsonl one.jsonl --bootstrap 0", out=("2 errors fixed, 2 introduced",)),
]
_THAI = "the model was not trained on the Thai script: do not rely on its marks and scores there"
_SWAHILI = "fewer than 50 errors were measured in sw: how many the model finds there is unknown"
UNTRAINED = [
    Situation("tag --hyp thai.txt --src src.txt", (_THAI,)),
    Situation("tag --hyp mt.txt --src src.txt --lang-pair en-sw --output x.html", (_SWAHILI,)),
    Situation("gate --hyp thai.txt --src src.txt --min-score -30", (_THAI,)),
    Situation("rerank --hyp thai.txt mt.txt --src src.txt", (_THAI,)),
    Situation("mbr --hyp thai.txt mt.txt --utility model", (_THAI,)),
    Situation("stress --hyp thai.txt --src src.txt --kinds repetition", (_THAI,)),
]
EXPORTS = [
    Situation("convert expected.jsonl x --to mtme-scores", files={"x/en-de/matese-src.seg.score": "mt\t-3\n"}),
    Situation(
        "convert expected.jsonl x --to mtme-scores --score spans", files={"x/en-de/matese-src.seg.score": "mt\t-1\n"}
    ),
    Situation("convert one.jsonl x --to wmt-scores --system mt", files={"x/matese.sys.score": "matese\t\t\tall\t"}),
    Situation("convert one.jsonl x --to wmt-scores", ("the ratings name no system", "with --system NAME"), code=2),
    Situation(
        "convert one.jsonl x --to mtme-scores --score expected --system mt",
        ("line 1 has no expected score: all need one, or use --score spans",),
        code=2,
    ),
    Situation(
        "convert export.json x.jsonl",
        ("export.json: 2 rows skipped: task without a finished annotation", "1 row skipped: annotation was cancelled"),
        files={"x.jsonl": '{"index": null, "system": null, "hypothesis": "Haus"'},
    ),
    Situation("convert export.json x.jsonl --predictions", files={"x.jsonl": "{"}),
    Situation("convert own.tsv x.jsonl --strict", files={"x.jsonl": '{"index": 0'}),
    Situation(
        "convert unfinished.json x.jsonl",
        ("unfinished.json:1: every row is skipped: task without a finished annotation (--predictions",),
        code=2,
    ),
    Situation(f"tag {TEXTS} --checks only", out=("[[Major]]  [Minor]  ",)),
    Situation(f"tag {TEXTS} --min-confidence 0.26 --output a.jsonl", files={"a.jsonl": "{"}),
]
NUMBERS = [
    Situation("score anna.jsonl --quiet", out=("-1\n",)),
    Situation("score anna.jsonl --quiet --segments", out=("-2\n0\n",)),
    Situation("score anna.jsonl", out=("system\tscore\texpected_score\tsegments\t",)),
    Situation("score anna.jsonl --segments", out=("system\tdocument\tsegment\tscore\t",)),
    Situation(f"tag {TEXTS} --quiet", out=("-",)),
    Situation("completion bash", out=("model_choices=(mini", "weights_choices=(matese google")),
    Situation(f"tag {TEXTS} --model runs/no", ("no model runs/no: no such directory, and",), code=2),
    Situation(f"tag {TEXTS} --model ./no", ("no model ./no: no such directory; use an embedded",), code=2),
    Situation("tag --hyp mt.txt --ref short.txt", ("mt.txt has 3 lines", "short.txt"), code=2),
]
LOOKING = [
    Situation(f"tag {TEXTS} --sort worst --limit 1", out=("mt, line 2 ", "1 of 3 segments are shown")),
    Situation(f"tag {TEXTS} --sort worst --output x.csv --limit 1", files={"x.csv": '"index","system"'}),
    Situation(f"tag {TEXTS} --quiet --format terminal", out=("[[Major]]",)),
    Situation(f"tag {TEXTS} --format html --limit 1", out=("1 of 3 segments are on this page (--limit)",)),
    Situation(f"tag {TEXTS} --sort best", ("unknown order 'best': must be file or worst",), code=2),
    Situation(f"tag {TEXTS} --sort worst --format jsonl --tokens", ("--sort cannot be used with --tokens",), code=2),
]
TABLES = [
    Situation("score --input hub.jsonl --lang-pair en-de", out=("hub\t",)),
    Situation("score --input hub.jsonl", ("translation holds texts in en and de",), code=2),
    Situation("score --input hub.jsonl --lang-pair en-fr", ("must be of these, not en-fr",), code=2),
    Situation("convert predicted.jsonl - --to jsonl --lang-pair en-de", out=('"references": ["Das Haus"]',)),
    Situation("score --input tgt.csv", out=("tgt\t",)),
    Situation("score --input odd.csv --columns mt=google src=en", out=("\ngoogle\t",)),
    Situation("score --input utf16.txt", out=("utf16\t",)),
    Situation("score --hyp utf16-lines.txt --src src.txt", out=("utf16-lines\t",)),
    Situation(
        "score --input latin.csv",
        ("latin.csv:2: byte 0xfc at position 9 is not UTF-8; the file may be windows-1252: convert it, for example",),
        code=2,
    ),
    Situation("score --hyp latin.txt --src src.txt", ("latin.txt:1: byte 0xfc at position 1 is not UTF-8",), code=2),
    Situation("tag --input ids.csv", out=("\nid 7 ", "\nid 9 ")),
    Situation("tag --input twice.csv", ("two translations of id 7: must differ in system, document",), code=2),
    Situation("tag --input tgt.csv --output x.xlsx", files={"x.xlsx": "PK"}),
    Situation("convert book.xlsx - --to jsonl", out=('"hypothesis": "Das Haus"',)),
]


def write_workbook(path: Path, *rows: tuple[object, ...]) -> None:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write(folder / "spans.jsonl", '{"hypothesis": "Das Haus", "index": 0, "errors": []}')
    write(folder / "comet.jsonl", '{"src": "The house", "mt": "Das Haus", "ref": "Das Haus"}')
    write(folder / "studio.csv", "mt,label,n", 'Das Haus,"[{""start"":0,""end"":3,""labels"":[""Major""]}]",[1]')
    write(folder / "src.txt", "That is good.", "something", "a text")
    rows = ("The house,Das Haus,new", "A cat,Eine Katze,new", "The house,Das Maus,old", "A cat,Ein Hund,old")
    write(folder / "table.csv", "src,mt,system", *rows)
    error = '{"start": 0, "end": 3, "severity": "minor"}'
    write(folder / "one.jsonl", *[f'{{"hypothesis": "Das Haus", "source": "The house", "errors": [{error}]}}'] * 2)
    expected = f'"estimate": {{"value": -3, "scale": "mqm"}}, "lang_pair": "en-de", "system": "mt", "errors": [{error}]'
    write(folder / "expected.jsonl", f'{{"hypothesis": "Das Haus", {expected}}}')
    haus = '{"data": {"hypothesis": "Haus"}'
    model = '[{"result": [], "model_version": "matese|m"}]'
    undone = f'{haus}, "annotations": []}}'
    annotations = '[{"result": []}, {"result": [], "was_cancelled": true}]'
    done = f'{haus}, "annotations": {annotations}, "predictions": {model}}}'
    write(folder / "export.json", f'[{done}, {undone}, {haus}, "predictions": {model}}}]')
    write(folder / "unfinished.json", f'[{haus}, "predictions": {model}}}]')
    minor = '"errors": [{"start": 0, "end": 3, "severity": "minor"}, {"start": 4, "end": 8, "severity": "minor"}]'
    none = '"errors": []'
    write(
        folder / "anna.jsonl", *(f'{{"hypothesis": "Das Haus", "rater": "anna", {errors}}}' for errors in (minor, none))
    )
    write(folder / "short.txt", "one")
    write(folder / "thai.txt", *["บ้านหลังนี้สวยมาก"] * 3)
    texts = '"translation": {"en": "The house", "de": "Das Haus"}'
    write(folder / "hub.jsonl", f"{{{texts}}}")
    write(folder / "predicted.jsonl", f'{{{texts}, "prediction": "Das Maus"}}')
    write(folder / "tgt.csv", "src_text,tgt", "The house,Das Haus")
    write(folder / "ids.csv", "id,source,target", "7,The house,Das Haus", "9,A cat,Eine Maus")
    write(folder / "twice.csv", "id,source,target", "7,The house,Das Haus", "7,A cat,Eine Maus")
    write(folder / "odd.csv", "en,google", "The house,Das Haus")
    (folder / "utf16.txt").write_bytes("src\tmt\r\nThe house\tDas Häuschen\r\n".encode("utf-16"))
    (folder / "utf16-lines.txt").write_bytes("Das\nist\nso\n".encode("utf-16"))
    (folder / "latin.csv").write_bytes("src,mt\nThe door,Tür\n".replace("Tür", "ür").encode("latin-1"))
    (folder / "latin.txt").write_bytes("für\n".encode("latin-1"))
    empty = ('msgid "A cat"', 'msgstr ""', "", 'msgid "Some water"', 'msgstr ""')
    write(folder / "half.po", 'msgid "The house"', 'msgstr "Das Haus"', "", *empty)
    note = '<note>[matese] "m" (translations without a note have no errors)</note>'
    units = '<trans-unit id="1"><source>A</source><target>B</target></trans-unit><trans-unit id="2"><source>C</source>'
    write(
        folder / "marked.xlf", f"<xliff><file><header>{note}</header><body>{units}</trans-unit></body></file></xliff>"
    )
    write_workbook(folder / "book.xlsx", ("src", "mt", None), ("The house", "Das Haus", 3), (None, None, None))
    blank = '{"hypothesis": "", "source": "The house", "errors": [], "unplaced": [{"severity": "major"}]}'
    write(folder / "empty.jsonl", blank, blank)
    matese.write(matese.read("empty.jsonl"), "own.tsv", format="mqm-tsv")
    (folder / "mt.txt.gz").write_bytes(gzip.compress((folder / "mt.txt").read_bytes()))


@pytest.mark.parametrize(
    "command", ["compare --hyp thai.txt mt.txt --html x.html", "explain --hyp thai.txt --limit 1 --output x.html"]
)
def test_pages_warn_of_untrained_languages(run: Run, folder: Path, command: str) -> None:
    ran = run(*shlex.split(command), "--src", "src.txt")
    assert ran.code == 0
    for told in (ran.err, (folder / "x.html").read_text(encoding="utf-8")):
        assert _THAI in told


def test_a_column_that_may_hold_errors_is_named(run: Run, folder: Path) -> None:
    ran = run("score", "studio.csv")
    assert (ran.code, ran.out) == (2, "")
    ignored, problem = ran.err.splitlines()
    assert ignored == "matese: studio.csv: 1 annotation ignored: label not read as errors (line 2)"
    assert problem.startswith("matese: studio.csv holds translations without ratings; mark them first with matese tag")


@pytest.mark.parametrize(
    "situation", [*ENDINGS, *COMPARING, *UNTRAINED, *EXPORTS, *NUMBERS, *LOOKING, *TABLES], ids=lambda one: one.command
)
def test_what_came_of_it(run: Run, folder: Path, situation: Situation) -> None:
    ran = run(*shlex.split(situation.command))
    assert ran.code == situation.code, ran.err
    for part in situation.err:
        assert part in (ran.refused() if situation.code == 2 else ran.err)
    for part in situation.out:
        assert part in ran.out
    for name, beginning in situation.files.items():
        written = (folder / name).read_bytes()
        text = gzip.decompress(written) if name.endswith(".gz") else written
        assert text.startswith(beginning.encode()), text[:100]
