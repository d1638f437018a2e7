from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from matese.annotation import Rating
from tests.cli.conftest import Run
from tests.tasks.material.comparison import (
    OLD,
    OLD_ERRORS,
    SOURCES,
    ratings,
    save,
    write_files,
)

FEW = "matese: 4 segments: too few for any difference to be significant, whatever the intervals show\n"


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write_files(folder)


def compare(run: Run, *options: str) -> Any:
    ran = run("compare", "old.jsonl", "new.jsonl", "--bootstrap", "100", "--json", "-", *options)
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def test_tables(run: Run) -> None:
    ran = run("compare", "old.jsonl", "new.jsonl", "--bootstrap", "100", "--all")
    assert (ran.code, ran.err) == (0, FEW)
    rows = {line.split("  ")[0]: line.split() for line in ran.out.splitlines() if line}
    assert rows["4 segments"][-2:] == ["old", "new"]
    assert rows["Major"][1:] == ["2", "2"]
    assert rows["new: score"][2] == "+0.5000"
    assert rows["new"][1:6] == ["2", "0", "0", "1", "1"]
    assert rows["new: introduced minus fixed"][4] == rows["new: errors"][2] == "-0.5000"
    assert rows["new: more severe minus less severe"][6] == "+0.2500"
    listed = ran.out.splitlines()
    assert listed[listed.index("largest differences") :][:4] == [
        "largest differences",
        "segment 3: +5.00 (old -10.00, new -5.00)",
        '    fixed in new: Major "Hanna"',
        '    unchanged in new: Major "1999"',
    ]


def test_systems_of_one_stream(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `matese tag --format jsonl` says of two systems is compared without a file between."""
    tagged = run("tag", "--hyp", "mt.txt", "ref.txt", "--ref", "ref.txt", "--model", "{tiny}", "--format", "jsonl").out
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(tagged.encode()), encoding="utf-8"))
    report = json.loads(run("compare", "-", "--bootstrap", "0", "--json", "-").out)
    assert (list(report["versus"]["mt"]), report["segments"]) == (["ref"], 3)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("old.jsonl",), "old is the only system"),
        (("old.jsonl", "old.jsonl"), "old.jsonl is given 2 times"),
        (("old.jsonl", "short.jsonl"), "old has 4 ratings and short 3"),
        (("old.jsonl", "else.jsonl"), "rating 2 is of different segments: source is 'It rains.' in old and 'It"),
        (("old.jsonl", "new.jsonl", "--filter", "length=100:"), "the filters leave none of 4 segments"),
        (("old.jsonl", "new.jsonl", "--filter", "length=7"), "filter length=7: '7'"),
        (("old.jsonl", "new.jsonl", "--filter", "errors=5:2"), "filter errors=5:2: '5:2'"),
        (("old.jsonl", "new.jsonl", "--filter", "severity=major,mino"), "filter severity: unknown severity 'mino'"),
        (("old.jsonl", "new.jsonl", "--filter", "lenght=3:"), "filter lenght=3:: unknown filter, did you mean"),
        (("old.jsonl", "new.jsonl", "--filter", "glossary=bad.txt"), "bad.txt:2: not a line of a glossary"),
        (("old.jsonl", "new.jsonl", "--filter", "glossary=no.txt"), "no.txt: no such file or directory"),
        (("old.jsonl", "new.jsonl", "--filter", "number"), "1 segment"),
        (("old.jsonl", "da.jsonl"), "da.jsonl holds translations without ratings"),
        (("old.jsonl", "new.jsonl", "--html", "old.jsonl"), "--html old.jsonl is the input old.jsonl"),
        (("old.jsonl", "new.jsonl", "--html", "no/c.html"), "--html no/c.html"),
        (("old.jsonl", "new.jsonl", "--html", "-", "--json", "-"), "--json and --html are both -"),
        (("old.jsonl", "new.jsonl", "--html", "c", "--json", "./c"), "--json and --html are both c"),
    ],
)
def test_bad_input(run: Run, folder: Path, arguments: tuple[str, ...], problem: str) -> None:
    save(folder / "short.jsonl", ratings(OLD[:3], OLD_ERRORS[:3], "short", SOURCES[:3]))
    save(folder / "else.jsonl", ratings(OLD, OLD_ERRORS, "else", (SOURCES[0], "It snows.", *SOURCES[2:])))
    save(folder / "da.jsonl", [Rating(rating.segment, "da", None) for rating in ratings(OLD, OLD_ERRORS, "da")])
    # What is written is written whole or not at all.
    written = ("--json", "f.json") if "--json" not in arguments else ()
    assert run("compare", *arguments, *written).refused().startswith(problem)
    assert not (folder / "f.json").exists()
    assert list(folder.glob(".matese*")) == []
