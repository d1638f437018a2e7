"""Tasks that ask a language model, against an endpoint on this machine: cost, corrections, context, preferences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from matese.tasks import compare, tag
from tests.language_model.endpoint import KEY, Handler, serving
from tests.tasks.conftest import do, refusal, write

ASKED = {"hyp": ["mt.txt"], "src": ["src.txt"], "annotator": "openai:tiny", "cache": "answers"}


@pytest.fixture(autouse=True)
def texts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    write(folder / "src.txt", "It costs 15 euros.", "The house is old.", "Good.")
    write(folder / "mt.txt", "Es kostet 15 Dollar.", "Das Haus ist neu.", "Gut.")
    write(folder / "other.txt", "Es kostet 15 Euro.", "Das Haus ist alt.", "Gut.")


def answer(handler: Handler, number: int, body: dict[str, Any]) -> None:
    shown = json.loads(body["messages"][-1]["content"])
    error = {"text": "translation", "quote": "Dollar", "occurrence": 1, "category": "Accuracy/Mistranslation",
             "severity": "major", "reason": "wrong currency", "correction": "Euro"}  # fmt: skip
    is_wrong = "Dollar" in shown["translation"]
    correction = "Es kostet 16 Euro." if is_wrong else shown["translation"]
    handler.answer(json.dumps({"errors": [error] if is_wrong else [], "correction": correction}))


def test_a_dry_run_tells_the_cost_and_sends_nothing(folder: Path) -> None:
    ran = do(tag, **ASKED, base_url="http://127.0.0.1:9/v1", dry_run=True, output="out.jsonl")
    assert ran.out == ""
    assert not (folder / "out.jsonl").exists()
    assert ran.told.startswith("3 requests with about ")
    assert "--dry-run is for --annotator only" in refusal(tag, hyp=["mt.txt"], src=["src.txt"], dry_run=True)


def test_reasons_and_corrections_are_shown_and_checked(folder: Path) -> None:
    with serving(answer) as endpoint:
        ran = do(tag, **ASKED, base_url=endpoint.url, correct=True)
        do(tag, **ASKED, base_url=endpoint.url, correct=True, output="out.jsonl")
        assert len(endpoint.bodies) == 3, "answers are paid for once"
        write(folder / "more.txt", *(folder / "mt.txt").read_text("utf-8").splitlines()[:2], "Fein.")
        planned = do(tag, **{**ASKED, "hyp": ["more.txt"]}, base_url=endpoint.url, correct=True, dry_run=True)
        assert planned.told.startswith("1 request with about ")
    assert "Dollar: Major Accuracy/Mistranslation (better: Euro; wrong currency)" in ran.out
    assert "better  Es kostet 16 Euro." in ran.out
    assert "faults in corrected translations (numbers 1)" in ran.told
    first = json.loads((folder / "out.jsonl").read_text("utf-8").splitlines()[0])
    assert (first["correction"], first["hypothesis"]) == ("Es kostet 16 Euro.", "Es kostet 15 Dollar.")
    assert (first["errors"][0]["reason"], first["errors"][0]["correction"]) == ("wrong currency", "Euro")


def test_findings_of_rules_stay_where_the_model_gave_no_answer(folder: Path) -> None:
    write(folder / "mt.txt", "Es kostet 16 Euro.", "Das Haus ist neu.", "Gut.")

    def refuse_some(handler: Handler, number: int, body: dict[str, Any]) -> None:
        is_short = "Gut" in json.loads(body["messages"][-1]["content"])["translation"]
        handler.answer('{"errors": []}' if is_short else "I cannot.")

    with serving(refuse_some) as endpoint:
        ran = do(tag, **ASKED, base_url=endpoint.url, checks="also", output="out.jsonl")
    assert "2 of 3 segments got no usable answer" in ran.told
    rows = [json.loads(line) for line in (folder / "out.jsonl").read_text("utf-8").splitlines()]
    assert [row["errors"] and [error["rule"] for error in row["errors"]] for row in rows] == [["numbers"], None, []]
    assert ["openai:tiny" in row["rater"] for row in rows] == [False, True, True]


def test_a_scheme_and_terms_in_files(folder: Path) -> None:
    write(folder / "own.yaml", "severities:", "  - {name: Blocker, severity: critical, definition: must not go out}")
    write(folder / "terms.tsv", "house\tHaus")
    with serving(lambda handler, number, body: handler.answer('{"errors": []}')) as endpoint:
        do(tag, **ASKED, base_url=endpoint.url, set=["scheme=own.yaml", "terms=terms.tsv"], context=1)
    (body,) = [body for body in endpoint.bodies if "old" in json.loads(body["messages"][-1]["content"])["source"]]
    shown = json.loads(body["messages"][-1]["content"])
    assert (shown["terms"], len(shown["before"]), len(shown["after"])) == ({"house": "Haus"}, 1, 1)
    assert "Blocker (must not go out)" in body["messages"][0]["content"]
    write(folder / "none.yaml", "minor: 2")
    assert "none.yaml: no severities" in refusal(tag, **ASKED, set=["scheme=none.yaml"])
    assert "own: cannot be read" in refusal(tag, **ASKED, set=["prompt=own"])


def test_the_better_of_two_systems(folder: Path) -> None:
    def prefer(handler: Handler, number: int, body: dict[str, Any]) -> None:
        shown = json.loads(body["messages"][-1]["content"])
        better = next((side for side in "AB" if "alt" in shown[f"translation {side}"]), "A")
        handler.answer(json.dumps({"reason": "is right", "better": better}))

    options = {**ASKED, "hyp": ["mt.txt", "other.txt"], "checks": "only", "bootstrap": 0}
    with serving(prefer) as endpoint:
        ran = do(compare, **options, base_url=endpoint.url)
        preferences = json.loads(do(compare, **options, base_url=endpoint.url, json="-").out)["preferences"]
        assert len(endpoint.bodies) == 4
    assert preferences == {"mt": {"other": {
        "wins": 1, "losses": 0, "ties": 2, "unsteady": 1, "unanswered": 0, "win_rate": 2 / 3}}}  # fmt: skip
    assert ran.out.startswith("Preferences: other wins 67 % against mt (1 better, 0 worse, 2 ties, 1 of them because")
    write(folder / "other.txt", "Es kostet 15 Euro.", "Das Haus ist alt.", "Super.")
    with serving(lambda handler, number, body: handler.answer("Both are fine.")) as endpoint:
        assert "gave no usable answer" in refusal(compare, **{**options, "cache": "none"}, base_url=endpoint.url)
    assert "--base-url is for --annotator only" in refusal(
        compare, hyp=["mt.txt", "other.txt"], src=["src.txt"], base_url="http://x"
    )


def test_lines_that_differ_in_number_are_aligned(folder: Path) -> None:
    write(folder / "joined.txt", "Es kostet 15 Euro. Das Haus ist alt.", "Gut.")
    options: dict[str, Any] = {"hyp": ["joined.txt"], "src": ["src.txt"], "checks": "only"}
    assert "or be aligned (--align)" in refusal(tag, **options)
    do(tag, **options, align=True, output="out.jsonl")
    rows = [json.loads(line) for line in (folder / "out.jsonl").read_text("utf-8").splitlines()]
    assert [row["source"] for row in rows] == ["It costs 15 euros. The house is old.", "Good."]
    assert (folder / "out.jsonl.alignment.tsv").read_text(
        "utf-8"
    ) == "system\thypothesis\tother\njoined\t1\t1-2\njoined\t2\t3\n"
    write(folder / "short.txt", "Es kostet 15 Euro.", "Gut.")
    write(folder / "src.txt", "It costs 15 euros.", "Nobody has lived there since the fire of 1963.", "Good.")
    told = do(tag, **{**options, "hyp": ["short.txt"]}, align=True).told
    assert "src.txt: 1 line without a counterpart (omissions)" in told
    # Of several systems, the source is cut where all of them are.
    write(folder / "two.txt", "Es kostet 15 Euro. Niemand hat dort seit dem Brand von 1963 gelebt.", "Gut.")
    write(folder / "three.txt", "Es kostet 15 Euro.", "Niemand hat dort seit dem Brand von 1963 gelebt.", "Gut.")
    several = do(compare, hyp=["two.txt", "three.txt"], src=["src.txt"], checks="only", align=True, bootstrap=0)
    assert "2 segments " in several.out
    write(folder / "ref.txt", "Es kostet 15 Euro.")
    assert "cannot be aligned" in refusal(tag, **options, ref=["ref.txt"], align=True)
