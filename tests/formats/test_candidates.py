"""N-best lists of both forms, and what is wrong with others."""

from __future__ import annotations

from pathlib import Path

import pytest

from matese.errors import FormatError
from matese.formats import candidates
from tests.cli.conftest import write

MOSES = ("0 ||| ein Haus ||| LM0= -9 ||| -1.5", "0 ||| das Haus ||| LM0= -8 ||| -2", "1 |||  ||| LM0= 0 ||| -0.5")


def test_moses(tmp_path: Path) -> None:
    first, two = candidates.read(str(write(tmp_path / "n", *MOSES)), ["house", "x"], [("Haus",), ("y", "z")])
    assert (first.texts, first.model_scores, first.source) == (("ein Haus", "das Haus"), (-1.5, -2.0), "house")
    assert (two.texts, two.references) == (("",), ("y", "z"))
    # A number after the text is the score.
    for line, scores in (("", ()), (" ||| LM0= -9", ()), (" ||| -3e-1", (-0.3,))):
        (only,) = candidates.read(str(write(tmp_path / "n", f"0 ||| ein Haus{line}")))
        assert (only.texts, only.model_scores) == (("ein Haus",), scores)


def test_json(tmp_path: Path) -> None:
    lines = (
        '{"source": "house", "references": ["Haus"], "candidates": [{"text": "ein\\nHaus", "score": -1}]}',
        '{"candidates": ["a", {"text": "b"}]}',
    )
    first, two = candidates.read(str(write(tmp_path / "n", *lines)))
    assert (first.texts, first.source, first.references) == (("ein\nHaus",), "house", ("Haus",))
    assert first.model_scores == (-1.0,)
    assert (two.texts, two.source, two.model_scores) == (("a", "b"), None, ())


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ((), "n: file is empty: must be lines of"),
        (("Das Haus",), "n:1: not a line of an n-best list: must be 'INDEX |||"),
        (("²  ||| a",), "n:1: not a line of an n-best list"),
        ((f"{'9' * 5000} ||| a",), "n:1: not a line of an n-best list"),
        ((*MOSES, "0 ||| Haus ||| ||| 1"), "n:4: source 0 after source 1; the candidates of a source must follow"),
        (("1 ||| a",), "n:1: the first candidate is of source 1; sources are numbered from 0"),
        (("0 ||| a", "2 ||| b"), "n:2: source 2 after source 0; every source needs candidates, numbered without g"),
        (("0 ||| a ||| f ||| x",), "n:1: score is 'x': must be a number"),
        (("0 ||| a ||| f ||| nan",), "n:1: score is nan: must be a finite number"),
        ((MOSES[0], "0 ||| a"), "n:2: 1 of 2 candidates of source 0 have no score; all or none"),
        (('{"candidates": []}',), "n:1: a source has no candidates; it needs one or more"),
        (('{"candidates": ["a"]}', "0 ||| a"), "n:2: not JSON"),
        (('{"candidates": ["a"], "scores": [1]}',), "n:1: .*unknown.*scores"),
        (('{"candidates": ["a", {"text": "b", "score": 1}]}',), "n:1: 2 candidates and 1 model scores; every"),
    ],
)
def test_faulty_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: tuple[str, ...], problem: str) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("n"), *lines)
    with pytest.raises(FormatError, match=problem.replace("|||", r"\|\|\|")):
        candidates.read("n")


def test_numbers_of_sources_differ(tmp_path: Path) -> None:
    path = str(write(tmp_path / "n", *MOSES))
    with pytest.raises(FormatError, match="candidates of 2 sources, and 1 sources are given: every source needs"):
        candidates.read(path, ["house"])
    path = str(write(tmp_path / "m", '{"source": "house", "candidates": ["Haus"]}'))
    with pytest.raises(FormatError, match="m:1: source differs from that of the source file: must be the same"):
        candidates.read(path, ["horse"])
