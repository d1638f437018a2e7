"""`matese rerank` and `matese mbr`, from n-best lists, systems, tables and ratings."""

from __future__ import annotations

from pathlib import Path

import pytest

import matese
from tests.cli.conftest import Run, write
from tests.tasks.material.choosing import write_files

TINY = ("--model", "{tiny}")


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write_files(folder)


def test_rerank_is_that_of_python(run: Run, tiny_model_dir: Path) -> None:
    ran = run("rerank", "--nbest", "nbest", "--src", "src", *TINY)
    texts = [["Das ist gut.", "Das ist nicht gut.", "Das ist gut"], ["etwas", "irgendetwas"]]
    choices = matese.rerank(texts, ["That is good.", "something"], model=tiny_model_dir)
    assert ran.code == 0
    assert ran.out.splitlines() == [choice.text for choice in choices]
    assert ran.err.startswith("matese: chosen for 2 sources: ")


def test_mbr_writes_one_line_a_source(run: Run) -> None:
    ran = run("mbr", "--hyp", "a", "b", "ref")
    assert (ran.code, ran.out) == (0, "Das ist gut.\nirgendetwas\n")
    assert ran.err == "matese: chosen for 2 sources: a 1, b 1\n"


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
