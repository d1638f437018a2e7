"""What a model hardly finds, by its card."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from matese.annotation import Rating, Segment
from matese.tasks import models


def signed(model: str, inputs: str = "source") -> list[Rating]:
    return [Rating(Segment("Ja"), f"matese|model:{model}|inputs:{inputs}|version:1", ())]


@pytest.mark.parametrize(
    ("model", "inputs", "kinds"),
    [
        ("{}@1", "source", "tense, unit; "),
        ("{}@1", "reference", ""),
        ("{}@1", "both", ""),
        ("{}@2", "source", ""),  # other weights
        ("none@1", "source", ""),
    ],
)
def test_kinds_of_errors_that_are_hardly_found(tmp_path: Path, model: str, inputs: str, kinds: str) -> None:
    name = str(tmp_path)
    shares = {"source": {"tense": 0.1, "name": 0.25, "unit": 0.0}, "reference": {"tense": 0.5}}
    card = {"model": f"{name}@1", "inputs": shares}
    (tmp_path / "recall.json").write_text(json.dumps(card), encoding="utf-8")
    found = models.blind_spots([*signed(model.format(name), inputs), Rating(Segment("Ja"), "anna", ())])
    assert len(found) == bool(kinds)
    assert all(f"of these errors: {kinds}" in note for note in found)


def test_the_embedded_model_says_it() -> None:
    path = Path(models.__file__).parents[1] / "models" / "mini" / "recall.json"
    (note,) = models.blind_spots(signed(json.loads(path.read_text(encoding="utf-8"))["model"]))
    assert note.startswith("from the source alone, mini@")
