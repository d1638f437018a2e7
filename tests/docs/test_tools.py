"""Each command in the table of docs/tools.md runs on files written by hand, and prints what the row claims."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, folder, run, write  # noqa: F401  (fixtures)
from tests.language_model.endpoint import KEY, Handler, serving

PAGE = Path(__file__).parents[2] / "docs" / "tools.md"
ROWS = dict(
    re.findall(r"^\| ([^|]+) \| (?:yes|partly)[^|]*\| `(matese [^`]+)` \|$", PAGE.read_text("utf-8"), re.MULTILINE)
)
SOURCE = ("It costs 15 euros.", "The house is old.", "Good.")
PROMPT = "Judge {{ translation | tojson }}, a translation of {{ source | tojson }}. {{ answer }}"
EXPECTED = {
    "paragraphs": r"^-?\d",
    "documents": r"better: Euro; neighbours 2",
    "another segmentation": r"src +The house is old\. It costs 15 euros\.",
    "omissions": r"%d: Major \S+ \(rule placeholders\) \(missing\)",
    "categories": r"Dollar: Critical Names \(better: Euro",
    "pairwise judgement": r"Preferences: other wins 83 % against doc \(2 better, 0 worse, 1 tie\)",
    "the newest metrics": r"ReMedy +0\.2\d+ +0\.8\d+",
    "official gold of WMT24 to WMT26": r"segment\.acc_eq",
    "a judge with reasons, and your own prompt": r"Dollar: Major Accuracy/Mistranslation \(better: Euro; own prompt\)",
    "correction": r"better  Es kostet 15 Euro\.",
    "terms": r"terms: euros",
    "a gate for changes": r"FAIL +errors 1 \(at most 0\)",
}


def answer(handler: Handler, number: int, body: dict[str, Any]) -> None:
    """A judge that knows one error, and says in its reason what it was shown."""
    content = body["messages"][-1]["content"]
    is_own = not content.startswith("{")
    shown = {"translation": content} if is_own else json.loads(content)
    if "translation A" in shown:
        sides = {side: shown[f"translation {side}"] for side in "AB"}
        better = next((side for side, text in sides.items() if "Euro" in text or "alt" in text), "tie")
        handler.answer(json.dumps({"reason": "says the same", "better": better}))
        return
    is_wrong = "Dollar" in shown["translation"]
    neighbours = len(shown.get("before", [])) + len(shown.get("after", []))
    reason = "own prompt" if is_own else f"neighbours {neighbours}"
    if "terms" in shown:
        reason = f"terms: {', '.join(shown['terms'])}"
    has_scheme = "Names" in body["messages"][0]["content"]
    error = {
        "text": "translation", "quote": "Dollar", "occurrence": 1, "reason": reason, "correction": "Euro",
        "category": "Names" if has_scheme else "Accuracy/Mistranslation",
        "severity": "Blocker" if has_scheme else "major",
    }  # fmt: skip
    correction = shown["translation"].replace("Dollar", "Euro")
    handler.answer(json.dumps({"errors": [error] if is_wrong else [], "correction": correction}))


@pytest.fixture
def files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    write(folder / "doc.src", SOURCE[1], SOURCE[0], SOURCE[2])
    write(folder / "doc.hyp", "Das Haus ist neu.", "Es kostet 15 Dollar.", "Gut.")
    write(folder / "other.hyp", "Das Haus ist alt.", "Es kostet 15 Euro.", "Gut.")
    write(folder / "joined.hyp", "Das Haus ist alt. Es kostet 15 Euro.", "Gut.")
    write(folder / "files.src", "You have %d files.")
    write(folder / "files.hyp", "Sie haben Dateien.")
    write(folder / "release.txt", "Das Haus ist alt.", "Es kostet 16 Euro.", "Gut.")
    write(folder / "paragraph.src", "It costs 15 euros. The house is old.")
    write(folder / "paragraph.hyp", "Es kostet 15 Euro. Das Haus ist alt.")
    write(folder / "terms.tsv", "euros\tEuro")
    write(folder / "own.jinja", PROMPT)
    write(folder / "scheme.yaml", "severities:", "  - {name: Blocker, severity: critical}",
          "categories:", "  - {category: Names, definition: names and currencies}")  # fmt: skip
    scores = {"doc": (0.1, 0.2, 0.5), "other": (0.9, 0.8, 0.9)}
    write(folder / "ReMedy.seg.score", *(f"{name}\t{score}" for name, of in scores.items() for score in of))
    annotated = [
        {
            "scores": {
                name: [{"score": score - number, "annotator": "a1", "errors": []}] for name, score in of.items()
            },
            "src_text": SOURCE[number],
            "tgt_text": {"refA": "Das Haus ist sehr alt.", **{name: f"Das Haus {name} {number}." for name in of}},
            "doc_id": f"en-de_DE_#_news_#_d1_#_{number}",
        }
        for number, of in enumerate([{"A": 90, "B": 50, "C": 20}] * 3)
    ]
    write(folder / "humeval.jsonl", *map(json.dumps, annotated))


def test_the_table_has_twelve_rows_with_a_command_each() -> None:
    assert ROWS.keys() == EXPECTED.keys()
    assert len(ROWS) == 12


@pytest.mark.parametrize("row", ROWS)
def test_the_command_of_a_row_prints_what_it_claims(row: str, files: None, run: Run) -> None:  # noqa: F811
    with serving(answer) as endpoint:
        _, *arguments = shlex.split(ROWS[row])
        ran = run(*arguments, *(["--base-url", endpoint.url] if "--annotator" in arguments else []))
    assert ran.code == (1 if row == "a gate for changes" else 0), ran.err
    assert re.search(EXPECTED[row], ran.out, re.MULTILINE), ran.out
