"""`matese rerank` and `matese mbr`, from n-best lists, systems, tables and ratings."""

from __future__ import annotations

from pathlib import Path

import pytest

import matese
from matese.tasks import mbr, rerank, tag
from tests.tasks.conftest import do, write
from tests.tasks.material.choosing import lines, write_files

TINY = {"model": "{tiny}"}


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write_files(folder)


def test_fixed_weights_and_jsonl(folder: Path) -> None:
    command = {"nbest": "nbest", "src": ["src"], "format": "jsonl", **TINY}
    first, second = lines(do(rerank, **command, feature_weights=["length=1", "model_score=-0.1"]).out)
    assert (first["index"], first["choice"], first["text"], first["system"]) == (0, 1, "Das ist nicht gut.", None)
    assert (second["source"], second["text"]) == ("something", "irgendetwas")
    candidates = first["candidates"]
    assert isinstance(candidates, list)
    assert [candidate["model_score"] for candidate in candidates] == [-1, -2, -3]
    assert [candidate["score"] for candidate in candidates] == pytest.approx([3.1, 4.2, 3.3])
    assert set(candidates[0]["features"]) == {"expected_score", "minor", "major", "model_score", "length"}
    assert str(first["signature"]).endswith("|choice:rerank|features:model_score*-0.1+length*1")
    assert "inputs:source|" in str(first["signature"])
    write(folder / "w.yaml", "length: 1", "model_score: -0.1")
    assert lines(do(rerank, **command, feature_weights=["w.yaml"]).out) == [first, second]


def test_ratings_are_used_as_they_are() -> None:
    for name in ("a", "b"):
        do(tag, hyp=[name], src=["src"], format="jsonl", output=f"{name}.jsonl", **TINY)
    direct = do(rerank, hyp=["a", "b"], src=["src"], format="jsonl", **TINY)
    rated = do(rerank, format="jsonl", ratings=["a.jsonl", "b.jsonl"])
    assert lines(rated.out) == lines(direct.out)
    assert rated.told == direct.told


def test_tune(folder: Path) -> None:
    ran = do(rerank, nbest="nbest", src=["src"], ref=["ref"], tune="w.yaml", **TINY)
    assert ran.out == ""
    assert "mean chrF of the candidates chosen for 2 sources: first " in ran.told
    figures = dict(part.split() for part in ran.told.rpartition(": ")[2].strip().split(", "))
    assert float(figures["first"]) <= float(figures["best"]) == 100
    do(rerank, nbest="nbest", src=["src"], feature_weights=["w.yaml"], **TINY)
    gold = [
        '{"source": "something", "hypothesis": "etwas", "errors": [{"start": 0, "end": 5, "severity": "major"}]}',
        '{"source": "something", "hypothesis": "irgendetwas", "errors": []}',
    ]
    write(folder / "gold.jsonl", *gold)
    ran = do(rerank, nbest="nbest", src=["src"], gold="gold.jsonl", tune="v.yaml", **TINY)
    assert "gold.jsonl does not rate 3 of 5 candidates: not used" in ran.told
    assert "mean score of the ratings of the candidates chosen for 1 source: first -5, " in ran.told
    assert (folder / "v.yaml").read_text() != (folder / "w.yaml").read_text()


def test_further_models(folder: Path) -> None:
    command = {"nbest": "nbest", "src": ["src"], "more_models": ["{tiny}"], **TINY}
    do(rerank, **command, ref=["ref"], tune="w.yaml", feature_weights=["major_2=-1"])
    (first, _) = lines(do(rerank, **command, format="jsonl", feature_weights=["expected_score_2=2"]).out)
    candidates = first["candidates"]
    assert isinstance(candidates, list)
    assert candidates[0]["score"] == pytest.approx(2 * candidates[0]["features"]["expected_score"])
    assert "|with:" in str(first["signature"])


def test_mbr_is_that_of_python(tiny_model_dir: Path) -> None:
    ran = do(mbr, hyp=["a", "b", "ref"])
    texts = [["Das ist gut.", "Das ist schlecht.", "Das ist gut."], ["etwas", "irgendetwas", "irgendetwas"]]
    assert ran.out.splitlines() == [choice.text for choice in matese.mbr(texts)] == ["Das ist gut.", "irgendetwas"]
    assert ran.told == "chosen for 2 sources: a 1, b 1\n"
    rows = lines(do(mbr, hyp=["a", "b", "ref"], src=["src"], utility="model", format="jsonl", **TINY).out)
    sources = ["That is good.", "something"]
    for row, choice in zip(rows, matese.mbr(texts, sources, utility=tiny_model_dir), strict=True):
        assert row["choice"] == choice.index


def test_mbr_in_two_stages() -> None:
    command = {"nbest": "nbest", "src": ["src"], "prune": 2, "prune_model": "{tiny}", "aggregate": True}
    first, second = lines(do(mbr, format="jsonl", **command).out)
    counts = [[candidate["score"] is None for candidate in row["candidates"]].count(True) for row in (first, second)]  # type: ignore[attr-defined]
    assert counts == [1, 0]
    assert str(first["signature"]).startswith("matese|choice:mbr|utility:chrF2+aggregated|prune:2|by:tiny@")


def test_some_sources_with_a_single_candidate(folder: Path) -> None:
    write(folder / "some", "0 ||| a", "1 ||| b", "1 ||| c")
    ran = do(mbr, nbest="some")
    assert ran.out == "a\nb\n"
    assert ran.told.startswith("1 of 2 sources have a single candidate, which is chosen\n")
