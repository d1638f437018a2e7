"""The benchmark's own arithmetic and texts; what it measures is not looked at here."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import bench
from benchmarks.speed import runs, texts
from benchmarks.speed.runs import Entry
from matese.model.storage import checkpoint

TOKENIZER = checkpoint.resolve("mini") / "tokenizer.json"


def test_made_texts_have_the_lengths_that_are_asked_for() -> None:
    assert [*texts.generate(TOKENIZER, 20)] == [*texts.generate(TOKENIZER, 20)]
    made = list(texts.generate(TOKENIZER, 400))
    lengths = sorted(len(text["hypothesis"].split()) for text in made)
    assert lengths[0] >= 4
    assert lengths[-1] <= 308
    assert 30 <= lengths[200] <= 42
    (text,) = texts.generate(TOKENIZER, 1, length=500)
    assert {len(words.split()) for words in text.values()} == {500}


def test_texts_of_ratings(tmp_path: Path) -> None:
    row = {"hypothesis": "a", "source": "b", "references": ["c", "d"]}
    rows = [row, {**row, "source": None}, {**row, "hypothesis": "e"}, {**row, "references": []}]
    path = tmp_path / "ratings.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    assert [text["hypothesis"] for text in texts.of_ratings(path, 2)] == ["a", "e"]
    with pytest.raises(ValueError, match="has 2 segments with source and reference: must have 3"):
        texts.of_ratings(path, 3)


def test_a_contestant_runs_and_one_that_cannot_is_told_of(tmp_path: Path) -> None:
    written = tmp_path / "texts.jsonl"
    texts.write(written, texts.generate(TOKENIZER, 3))
    good = Entry("mini", "TER", "ter", str(written))
    bad = replace(good, maker="nobody")
    absent = replace(good, python=str(tmp_path / "python"))
    first, second, third, last = runs.run_all([good, bad, absent], 2)
    assert (first.n_segments, len(first.seconds), first.problem) == (3, 1, "")
    assert last.seconds[:1] == first.seconds
    assert len(last.seconds) == 2
    assert last.peak_bytes > 1_000_000
    assert second.problem.startswith("exit code 1: KeyError: 'nobody'")
    assert "No such file or directory" in third.problem


def test_figures_are_shown_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "figures" / "bench.json"
    options = ["--quick", "--segments", "3", "--json", str(path), "--only", "mini/TER"]
    monkeypatch.setattr("sys.argv", ["bench", *options])
    bench.main()
    out, err = capsys.readouterr()
    assert err.startswith("mini/TER: ")
    assert "| mini/TER |" in out
    written = json.loads(path.read_text(encoding="utf-8"))
    assert [row["name"] for row in written["results"]] == ["mini/TER"]


def test_contestants_are_chosen_by_name(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["bench", "--list", "--only", "xlmr-large/comet*", "length/*"])
    bench.main()
    names = ["xlmr-large/comet regression", "xlmr-large/comet unified", *(f"length/{2**n}" for n in range(5, 13))]
    assert capsys.readouterr().out.splitlines() == names
    monkeypatch.setattr("sys.argv", ["bench", "--list"])
    bench.main()
    every = capsys.readouterr().out.splitlines()
    assert len(every) == len(set(every))
