from __future__ import annotations

from pathlib import Path

import pytest

import matese
from benchmarks import off_target
from matese.annotation import Rating, Segment, SegmentKey

SOURCE = "The children have been playing in the garden since this morning and do not want to come in."
GERMAN = "Die Kinder spielen seit heute früh im Garten und wollen nicht ins Haus kommen."


def test_translations_and_their_sources_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = [(GERMAN, "en-de"), (SOURCE, "en-de"), (GERMAN, "en-xx")]
    ratings = [
        Rating(Segment(text, SOURCE, (), SegmentKey(None, pair, None, None, number)), "people", ())
        for number, (text, pair) in enumerate(pairs)
    ]
    path = tmp_path / "human.jsonl"
    matese.write(ratings, path)
    monkeypatch.setattr("sys.argv", ["off_target", "--data", str(path)])
    off_target.main()
    assert capsys.readouterr().out.splitlines()[2:] == ["| en-de | 2 | 1 | 2 |", "| all | 2 | 1 | 2 |"]
