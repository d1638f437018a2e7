"""Directories of format 3 are read as they were: a tagger with every head, in both engines, and models of COMET.

    python -m tests.model.storage.test_format_3

writes what the code at hand says about the tagger to `format-3.json`. Its directory was written by `make_tiny_model` of
`tests/conftest.py` with all heads, at the revision that first had the head for errors of meaning. The others were
written by `matese export` from the models of the same name in `tests/model/released/comet`, at the last revision that
wrote format 3.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import matese
from matese.annotation import Rating, Segment
from matese.model import loading

HERE = Path(__file__).parent
DIRECTORY = HERE / "format-3"
EXPECTED = HERE / "format-3.json"
LONG = "der gute Hund schläft und das Haus ist alt, "
SEGMENTS = (
    Segment("the good thing is 12.", "a bad thing", ("a good thing, the 13!",)),
    Segment("Das ist 你好 gut", "it is good"),
    Segment("Das ist gut", None, ("Das ist sehr gut", "Das ist gut hier")),
    Segment("", "a", ("b",)),
    Segment("abc", "a", ("abc",)),
    Segment(2 * LONG, LONG, (3 * LONG,)),
)


def plain(rating: Rating) -> dict[str, Any]:
    """Returns what a model says in a rating."""
    assert rating.estimate is not None
    return {
        "score": rating.estimate.value,
        "errors": [[*_place(error), error.category, error.confidence] for error in rating.errors or ()],
        "omissions": [[*_place(one), one.text, one.reference, one.confidence] for one in rating.omissions],
        "unplaced": [error.category for error in rating.unplaced],
    }


def _place(error: Any) -> tuple[int, int, str]:
    return error.start, error.end, error.severity.value


@pytest.mark.parametrize("options", [{"n_segments": 1}, {"precision": "float32", "device": "cpu"}])
def test_it_says_what_it_said(options: dict[str, Any]) -> None:
    made = [plain(rating) for rating in matese.load(DIRECTORY, **options).annotate_segments(SEGMENTS)]
    for found, expected in zip(made, json.loads(EXPECTED.read_text(encoding="utf-8")), strict=True):
        assert found["score"] == pytest.approx(expected["score"], abs=2e-4)
        assert found["unplaced"] == expected["unplaced"]
        for marks in ("errors", "omissions"):
            assert [mark[:-1] for mark in found[marks]] == [mark[:-1] for mark in expected[marks]]
            confidences = [mark[-1] for mark in expected[marks]]
            assert [mark[-1] for mark in found[marks]] == pytest.approx(confidences, abs=2e-4)


@pytest.mark.parametrize("name", ["xcomet", "estimator-layer"])
def test_a_model_of_comet_says_what_the_released_one_says(name: str, tmp_path: Path) -> None:
    directory = HERE / f"format-3-{name}"
    (tmp_path / "new").mkdir()
    network, tokenizer = loading.load(directory)
    loading.save(tmp_path / "new", network, tokenizer)
    released = HERE.parent / "released" / "comet" / name
    segments = [Segment("Das Haus ist gut.", "the house", ("Das Haus",)), *SEGMENTS[:1], SEGMENTS[-1]]
    found = [
        list(map(plain, matese.load(place, precision="float32", device="cpu").annotate_segments(segments)))
        for place in (released, directory, tmp_path / "new")
    ]
    assert found[1:] == found[:1] * 2
    assert matese.load(directory).config == matese.load(released).config


if __name__ == "__main__":
    ratings = matese.load(DIRECTORY, n_segments=1).annotate_segments(SEGMENTS)
    EXPECTED.write_text(json.dumps(list(map(plain, ratings)), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
