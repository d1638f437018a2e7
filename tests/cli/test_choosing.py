"""`matese rerank` and `matese mbr`, from n-best lists, systems, tables and ratings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import matese
from tests.cli.conftest import Run, write

TINY = ("--model", "{tiny}")
NBEST = (
    "0 ||| Das ist gut. ||| f ||| -1",
    "0 ||| Das ist nicht gut. ||| f ||| -2",
    "0 ||| Das ist gut ||| f ||| -3",
    "1 ||| etwas ||| f ||| -1",
    "1 ||| irgendetwas ||| f ||| -4",
)


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write(folder / "nbest", *NBEST)
    write(folder / "src", "That is good.", "something")
    write(folder / "ref", "Das ist gut.", "irgendetwas")
    write(folder / "a", "Das ist gut.", "etwas")
    write(folder / "b", "Das ist schlecht.", "irgendetwas")


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_rerank_is_that_of_python(run: Run, tiny_model_dir: Path) -> None:
    ran = run("rerank", "--nbest", "nbest", "--src", "src", *TINY)
    texts = [["Das ist gut.", "Das ist nicht gut.", "Das ist gut"], ["etwas", "irgendetwas"]]
    chosen = matese.rerank(texts, ["That is good.", "something"], model=tiny_model_dir)
    assert ran.code == 0
    assert ran.out.splitlines() == [choice.text for choice in chosen]
    assert ran.err.startswith("matese: chosen for 2 sources: ")


def test_fixed_weights_and_jsonl(run: Run, folder: Path) -> None:
    command = ("rerank", "--nbest", "nbest", "--src", "src", *TINY, "--format", "jsonl")
    one, two = lines(run(*command, "--feature-weights", "length=1", "model_score=-0.1").out)
    assert (one["index"], one["choice"], one["text"], one["system"]) == (0, 1, "Das ist nicht gut.", None)
    assert (two["source"], two["text"]) == ("something", "irgendetwas")
    found = one["candidates"]
    assert isinstance(found, list)
    assert [own["model_score"] for own in found] == [-1, -2, -3]
    assert [own["score"] for own in found] == pytest.approx([3.1, 4.2, 3.3])
    assert set(found[0]["features"]) == {"expected_score", "minor", "major", "model_score", "length"}
    assert str(one["signature"]).endswith("|choice:rerank|features:model_score*-0.1+length*1")
    assert "inputs:source|" in str(one["signature"])
    write(folder / "w.yaml", "length: 1", "model_score: -0.1")
    assert lines(run(*command, "--feature-weights", "w.yaml").out) == [one, two]


def test_ratings_are_used_as_they_are(run: Run) -> None:
    for name in ("a", "b"):
        run("tag", "--hyp", name, "--src", "src", *TINY, "--format", "jsonl", "--output", f"{name}.jsonl")
    direct = run("rerank", "--hyp", "a", "b", "--src", "src", *TINY, "--format", "jsonl")
    rated = run("rerank", "a.jsonl", "b.jsonl", "--format", "jsonl")
    assert lines(rated.out) == lines(direct.out)
    assert rated.err == direct.err


def test_tune(run: Run, folder: Path) -> None:
    ran = run("rerank", "--nbest", "nbest", "--src", "src", "--ref", "ref", "--tune", "w.yaml", *TINY)
    assert (ran.code, ran.out) == (0, "")
    assert "mean chrF of the candidates chosen for 2 sources: first " in ran.err
    figures = dict(part.split() for part in ran.err.rpartition(": ")[2].strip().split(", "))
    assert float(figures["first"]) <= float(figures["best"]) == 100
    assert run("rerank", "--nbest", "nbest", "--src", "src", *TINY, "--feature-weights", "w.yaml").code == 0
    gold = [
        '{"source": "something", "hypothesis": "etwas", "errors": [{"start": 0, "end": 5, "severity": "major"}]}',
        '{"source": "something", "hypothesis": "irgendetwas", "errors": []}',
    ]
    write(folder / "gold.jsonl", *gold)
    ran = run("rerank", "--nbest", "nbest", "--src", "src", "--gold", "gold.jsonl", "--tune", "v.yaml", *TINY)
    assert "gold.jsonl does not rate 3 of 5 candidates: not used" in ran.err
    assert "mean score of the ratings of the candidates chosen for 1 source: first -5, " in ran.err
    assert (folder / "v.yaml").read_text() != (folder / "w.yaml").read_text()


def test_mbr_is_that_of_python(run: Run, tiny_model_dir: Path) -> None:
    ran = run("mbr", "--hyp", "a", "b", "ref")
    texts = [["Das ist gut.", "Das ist schlecht.", "Das ist gut."], ["etwas", "irgendetwas", "irgendetwas"]]
    assert ran.out.splitlines() == [choice.text for choice in matese.mbr(texts)] == ["Das ist gut.", "irgendetwas"]
    assert ran.err == "matese: chosen for 2 sources: a 1, b 1\n"
    found = lines(
        run("mbr", "--hyp", "a", "b", "ref", "--src", "src", "--utility", "model", *TINY, "--format", "jsonl").out
    )
    sources = ["That is good.", "something"]
    for one, choice in zip(found, matese.mbr(texts, sources, utility=tiny_model_dir), strict=True):
        assert one["choice"] == choice.index


def test_mbr_in_two_stages(run: Run) -> None:
    command = ("mbr", "--nbest", "nbest", "--src", "src", "--prune", "2", "--prune-model", "{tiny}", "--aggregate")
    one, two = lines(run(*command, "--format", "jsonl").out)
    counts = [[own["score"] is None for own in found["candidates"]].count(True) for found in (one, two)]  # type: ignore[attr-defined]
    assert counts == [1, 0]
    assert str(one["signature"]).startswith("matese|choice:mbr|utility:chrF2+aggregated|prune:2|by:tiny@")


NO_SOURCE = "the candidates have no sources; give --src FILE, or `source` in JSON"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("mbr",), "0 of --nbest, --hyp and --input are given"),
        (("mbr", "--nbest", "nbest", "--hyp", "a"), "2 of --nbest, --hyp and --input are given"),
        (("mbr", "--hyp", "a", "mt.txt"), "a has 2 lines and mt.txt 3: line i of each"),
        (("mbr", "--hyp", "a"), "a is a single candidate of each source"),
        (("mbr", "--nbest", "single"), "single has a single candidate of each source"),
        (("mbr", "--nbest", "ungrouped"), "ungrouped:3: source 0 after source 1"),
        (("mbr", "--nbest", "nbest", "--src", "mt.txt"), "nbest: candidates of 2 sources"),
        (("mbr", "--nbest", "absent"), "absent: no such file or directory"),
        (("mbr", "--hyp", "a", "b", "--prune", "0"), "--prune: '0'"),
        (("mbr", "--hyp", "a", "b", "--prune", "2"), "--prune"),
        (("mbr", "--hyp", "a", "b", "--utility", "bleu"), "--utility: unknown utility 'bleu'"),
        (("mbr", "--nbest", "breaks"), "candidate of source 0 has a line break"),
        (("rerank", "--hyp", "a", "b"), NO_SOURCE),
        (("rerank", "--nbest", "nbest"), NO_SOURCE),
        (("rerank", "--hyp", "a", "b", "--src", "src", "--ref", "ref"), "--ref and --gold are for --tune only"),
        (("rerank", "--hyp", "a", "b", "--src", "src", "--tune", "w"), "--tune"),
        (("rerank", "--nbest", "nbest", "--src", "src", "--feature-weights", "lenght=1"), "unknown feature 'lenght'"),
        (("rerank", "--nbest", "nbest", "--src", "src", "--feature-weights", "length=x"), "--feature-weights"),
        (("rerank", "--nbest", "nbest", "--src", "src", "--feature-weights", "bad.yaml"), "bad.yaml:1: unknown key"),
        (("rerank", "one.jsonl"), "A is a single candidate of each source"),
        (("rerank", "one.jsonl", "two.jsonl"), "A has 2 ratings and B 1"),
        (("rerank", "one.jsonl", "--src", "src"), "RATINGS are used as they are"),
        (("rerank", "--nbest", "nbest", "--src", "src", "--tune", "w", "--gold", "one.jsonl"), "one.jsonl: rates none"),
    ],
)
def test_bad_input(run: Run, folder: Path, arguments: tuple[str, ...], problem: str) -> None:
    write(folder / "single", "0 ||| a", "1 ||| b")
    write(folder / "ungrouped", "0 ||| a", "1 ||| b", "0 ||| c")
    write(folder / "breaks", '{"candidates": ["a\\nb", "a\\nb"]}')
    write(folder / "bad.yaml", "lenght: 1")
    row = '{{"hypothesis": "x", "system": "{}", "errors": []}}'
    write(folder / "one.jsonl", row.format("A"), row.format("A").replace("x", "y"))
    write(folder / "two.jsonl", row.format("B"))
    assert run(*arguments, "--model", "{tiny}").refused().startswith(problem)


def test_some_sources_with_a_single_candidate(run: Run, folder: Path) -> None:
    write(folder / "some", "0 ||| a", "1 ||| b", "1 ||| c")
    ran = run("mbr", "--nbest", "some")
    assert (ran.out, ran.code) == ("a\nb\n", 0)
    assert ran.err.startswith("matese: 1 of 2 sources have a single candidate, which is chosen\n")
