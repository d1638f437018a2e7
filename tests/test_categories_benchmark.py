"""The benchmark of categories compares a model and a majority baseline with raters, as raters with one another."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import categories
from matese.annotation import ErrorSpan, Rating, SegmentKey, Severity
from tests.conftest import TinyModelFactory
from tests.test_annotator import random_segments
from tests.training.material import write_ratings


def test_the_table(
    tiny_model_factory: TinyModelFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    segments = [
        replace(one, hypothesis=f"Das ist gut {number}.", key=SegmentKey(index=number))
        for number, one in enumerate(random_segments(12)[:12])
    ]
    given = []
    for number, segment in enumerate(segments):
        names = ("Accuracy/Addition", "Accuracy/Mistranslation" if number % 3 else "Fluency/Spelling")
        for rater, name in zip(("anna", "ben"), names, strict=True):
            marks = (ErrorSpan(0, 3, Severity.MINOR, name), ErrorSpan(8, 11, Severity.MAJOR, "Style/Awkward"))
            given.append(Rating(segment, rater, marks))
    data = write_ratings(tmp_path / "ratings.jsonl", tuple(given))
    model = tiny_model_factory(inputs=("reference",), category_head=True)
    arguments = ["categories", "--model", str(model), "--data", str(data), "--json", str(tmp_path / "out.json")]
    monkeypatch.setattr("sys.argv", arguments)
    monkeypatch.setattr(categories, "N_RESAMPLES", 20)
    categories.main()
    shown = capsys.readouterr().out
    assert "12 segments, 24 ratings; majority: every error is Style." in shown
    assert "| Accuracy | 20 |" in shown
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    raters = found["figures"]["raters"]
    assert raters["all"]["category.agreement"][0] == pytest.approx(20 / 24, abs=1e-4)
    assert raters["Accuracy"]["category.f1"][0] == pytest.approx(16 / 20, abs=1e-4)
    assert raters["Fluency"]["category.f1"][0] == 0
    low, high = raters["all"]["category.agreement"][1:]
    assert low < 20 / 24 < high
    assert found["figures"]["majority"]["all"]["category.accuracy.agreement"][0] == 0
    assert found["figures"]["majority"]["all"]["category.kappa"][0] == pytest.approx(0, abs=1e-4)
