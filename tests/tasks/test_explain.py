"""Explanations on the command line: what is written, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from matese.formats.tables import jsonl
from matese.tasks import explain
from tests.tasks.conftest import do, refusal, write


@pytest.fixture
def texts(folder: Path) -> dict[str, list[str]]:
    write(folder / "a.txt", "Er kommt nicht heute.", "")
    write(folder / "b.txt", "Er kommt heute.", "Das ist gut.")
    return {"hyp": ["a.txt"], "ref": ["b.txt"]}


def test_jsonl_holds_the_rating_and_the_weights(texts: dict[str, list[str]], folder: Path) -> None:
    ran = do(explain, format="jsonl", min_weight=0.5, output="out.jsonl", **texts)
    assert ran.out == ""
    lines = [json.loads(line) for line in (folder / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    explanation = lines[0]["explanation"]
    assert explanation["method"] == "leave-one-out"
    assert [one["text"] for one in explanation["texts"]] == ["hypothesis", "reference"]
    assert lines[1]["explanation"]["texts"] == []
    rating, blank = jsonl.read(folder / "out.jsonl")
    assert any("nicht" in rating.segment.hypothesis[one.start : one.end] for one in rating.errors or ())
    assert "explained:leave-one-out>=0.5" in (rating.rater or "")
    assert blank.errors == ()


def test_a_page_holds_a_heat_map(texts: dict[str, list[str]], folder: Path) -> None:
    do(explain, by=["attention:2"], format="html", output="heat.html", **texts)
    page = (folder / "heat.html").read_text(encoding="utf-8")
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    heat = dict(data["rows"][0]["translations"][0]["heat"])
    assert set(heat) == {-2, 0}
    assert all(1 <= shade <= 4 and 0 <= start < end <= 21 for start, end, shade in heat[-2])


def test_hardware_with_bf16_looks_inside_in_float32(
    texts: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: True, raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert "precision:float32" in do(explain, by=["attention-gradient"], format="jsonl", **texts).out


def test_a_fit_names_the_best_place(folder: Path) -> None:
    errors = [{"start": 9, "end": 14, "severity": "major"}]
    write(
        folder / "gold.jsonl",
        json.dumps({"hypothesis": "Er kommt nicht heute.", "references": ["Er kommt heute."], "errors": errors}),
    )
    ran = do(explain, fit="gold.jsonl", by=["attention", "leave-one-out"])
    rows = [line.split() for line in ran.out.splitlines() if line]
    assert rows[0][:2] == ["method", "AUC"]
    assert rows[1][0].startswith("attention:")
    assert rows[2][:2] == ["leave-one-out", "1.0000"]


def test_a_fit_needs_errors(folder: Path) -> None:
    write(folder / "gold.jsonl", '{"hypothesis": "a b", "references": ["a b"], "errors": []}')
    assert "no segment has both" in refusal(explain, fit="gold.jsonl")
