"""`matese tag --annotator`: its report, its output, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, write
from tests.language_model.endpoint import KEY, serving
from tests.language_model.test_llm_annotator import answering, error

TAG = ("tag", "--hyp", "mt.txt", "--src", "ref.txt")


def test_ratings_are_like_any_others(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(answering(error("gut"), error("nowhere"))) as endpoint:
        ask = (*TAG, "--annotator", "openai:tiny", "--base-url", endpoint.url, "--cache", "answers")
        ran = run(*ask, "--format", "jsonl", "--output", "own.jsonl")
        assert ran.code == 0
        assert "3 of 4 quotes occur nowhere: their errors have no place" in ran.err
        assert "3 segments, 0 of them answered before; 220 tokens; 0 requests repeated; answered by tiny-2" in ran.err
        assert KEY not in ran.err + (folder / "own.jsonl").read_text()
        shown = run(*ask)
        assert shown.code == 0
        assert "confidence" not in shown.out
        assert len(endpoint.bodies) == 2
    rows = [json.loads(line) for line in (folder / "own.jsonl").read_text().splitlines()]
    assert [one["text"] for one in rows[0]["errors"]] == ["gut"]
    assert rows[0]["rater"].startswith("matese|annotator:openai:tiny|endpoint:127.0.0.1:")
    for command in (("score", "own.jsonl"), ("evaluate", "own.jsonl", "own.jsonl")):
        assert run(*command).code == 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--annotator", "gpt"), "--annotator gpt"),
        (("--base-url", "http://x"), "--base-url is for --annotator only"),
        (("--annotator", "openai:a", "--model", "b"), "--annotator and --model are both given"),
        (("--annotator", "openai:a", "--min-confidence", "0.5"), "--min-confidence is for --model"),
        (("--annotator", "openai:a", "--uncertainty", "dropout:3"), "--uncertainty is for --model"),
        (("--annotator", "openai:a", "--set", "x"), "--set x"),
        (("--annotator", "openai:a", "--set", "promt=esa"), "--set promt=esa: unknown key 'promt', did you mean"),
        (("--annotator", "openai:a", "--set", "timeout=0"), "--set timeout=0: timeout: Expected `float` > 0.0"),
        (("--set", "prompt=esa"), "--set is for --annotator only"),
        (("--annotator", "openai:a", "--base-url", "x"), "base URL 'x'"),
        (
            ("--annotator", "openai:a", "--set", "n_retries=0", "--base-url", "http://127.0.0.1:9/v1"),
            "http://127.0.0.1:9/v1 cannot be reached",
        ),
    ],
)
def test_bad_usage(run: Run, folder: Path, arguments: tuple[str, ...], problem: str) -> None:
    write(folder / "out.jsonl", "old")
    cache = () if "--base-url" in arguments[:1] else ("--cache", "answers")
    assert run(*TAG, *arguments, *cache, "--output", "out.jsonl").refused().startswith(problem)
    assert (folder / "out.jsonl").read_text() == "old\n"
