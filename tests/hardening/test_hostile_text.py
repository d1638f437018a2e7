"""Texts and names that would act on a terminal or a page: every command shows them, and none obeys."""

from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from matese.annotation import ErrorSpan, Omission, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.formats.tables import jsonl
from tests.cli.conftest import Run, folder, run  # noqa: F401

ACTS = "\x1b[2J\x9b31m\u202e\r\x07"
HOSTILE = f"{ACTS}<img src=x onerror=alert(1)></script><script>alert(2)</script>{{{{7*7}}}}'\"=1+1"
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
FILE = f"{ACTS}.jsonl"


class Elements(HTMLParser):
    """What a browser would make of a page: its elements and their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags = set[str]()
        self.attributes = set[str]()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def ratings(rater: str, system: str) -> list[Rating]:
    texts = [f"{HOSTILE} {number}" for number in range(4)]
    return [
        Rating(
            Segment(text, text, (text,), SegmentKey(HOSTILE, "en-de", system, HOSTILE, number)),
            rater,
            (ErrorSpan(0, 5 + number, Severity.MAJOR if number % 2 else Severity.MINOR, f"{HOSTILE}/{HOSTILE}"),),
            omissions=(Omission("source", None, 0, 9, Severity.MINOR, HOSTILE),),
            unplaced=(UnplacedError(Severity.MAJOR, HOSTILE),),
        )
        for number, text in enumerate(texts)
    ]


@pytest.fixture
def hostile(folder: Path, tiny_model_dir: Path) -> Path:  # noqa: F811
    for name, rater, system in (("a.jsonl", "", "A"), ("b.jsonl", "2", "A"), ("c.jsonl", "", "B"), (FILE, "", "C")):
        lines = map(jsonl.dumps, ratings(f"{HOSTILE}{rater}", f"{HOSTILE}{system}"))
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (folder / f"{ACTS}.txt").write_text(f"{HOSTILE.replace(chr(13), '')}\n", encoding="utf-8", newline="")
    model = Path(shutil.copytree(tiny_model_dir, folder / "model"))
    (model / "README.md").write_text(HOSTILE, encoding="utf-8")
    return folder


COMMANDS = [
    ("score", "a.jsonl", "c.jsonl"),
    ("score", "a.jsonl", FILE, "--segments"),
    ("evaluate", "a.jsonl", FILE, "--by", "category"),
    ("agreement", "a.jsonl", "b.jsonl"),
    ("compare", "a.jsonl", FILE, "--html", "page.html"),
    ("gate", "c.jsonl", "--baseline", FILE),
    ("info", FILE),
    ("info", f"{ACTS}.none"),
    ("report", "a.jsonl", FILE, "--output", "page.html", "--title", HOSTILE),
    ("models", "model"),
    ("convert", FILE, "out.csv", "--strict"),
    ("convert", "a.jsonl", f"{ACTS}.{ACTS}"),
    ("tag", "--input", FILE, "--model", "{tiny}"),
    ("tag", "--input", FILE, "--model", "{tiny}", "--format", "html", "--output", "page.html"),
    ("tag", "--hyp", f"{ACTS}.txt", "--src", f"{ACTS}.txt", "--model", "{tiny}", "--explain"),
    ("tag", "--hyp", f"{ACTS}.txt", "--src", "mt.txt", "--model", f"./{ACTS}"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: f"{command[0]}-{COMMANDS.index(command)}")
def test_nothing_acts(hostile: Path, run: Run, command: tuple[str, ...]) -> None:  # noqa: F811
    ran = run(*command)
    assert ran.code in (0, 1, 2), ran.err
    assert not ACTING.search(ran.out), ascii(ran.out)
    assert not ACTING.search(ran.err), ascii(ran.err)
    if "page.html" in command:
        assert ran.code < 2, ran.err
        page = (hostile / "page.html").read_text(encoding="utf-8")
        assert not ACTING.search(re.sub(r'(?s)<script type="application/json".*?</script>', "", page))
        found = Elements(page)
        assert not found.tags & {"img", "iframe", "object", "embed", "base"}
        assert not {name for name in found.attributes if name.startswith("on")}, "no inline handler"
        assert page.count("<script") == page.count("</script>") <= 2
        assert "{{7*7}}" in page, "no template is computed"
