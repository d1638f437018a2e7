"""What a model hardly finds, by its card."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from matese.annotation import Rating, Segment
from matese.model import recall
from matese.model.recall import Found, OfInput, Recall
from matese.tasks import models


def signed(model: str, inputs: str = "source") -> list[Rating]:
    return [Rating(Segment("Ja"), f"matese|model:{model}|inputs:{inputs}|version:1", ())]


@pytest.mark.parametrize(
    ("model", "inputs", "kinds"),
    [
        ("{}@1", "source", "tense, unit; 20 %, 10 % of all errors in texts of 1, 4 sentences; "),
        ("{}@1", "reference", ""),
        ("{}@1", "both", ""),
        ("{}@2", "source", ""),  # other weights
        ("none@1", "source", ""),
    ],
)
def test_kinds_of_errors_that_are_hardly_found(tmp_path: Path, model: str, inputs: str, kinds: str) -> None:
    name = str(tmp_path)
    kinds_of_source = {"tense": Found.of(100, 10), "name": Found.of(10, 1), "unit": Found.of(90, 0)}
    lengths = {"1": Found.of(50, 10), "4": Found.of(50, 5)}
    of_inputs = {"source": OfInput(kinds_of_source, {}, lengths), "reference": OfInput({"tense": Found.of(2, 1)}, {})}
    (tmp_path / recall.FILE).write_bytes(msgspec.json.encode(Recall(f"{name}@1", of_inputs)))
    notes = models.blind_spots([*signed(model.format(name), inputs), Rating(Segment("Ja"), "anna", ())])
    assert len(notes) == bool(kinds)
    assert all(f"of these errors: {kinds}" in note for note in notes)


def test_the_embedded_model_says_it() -> None:
    path = Path(models.__file__).parents[1] / "models" / "mini" / "recall.json"
    (note,) = models.blind_spots(signed(json.loads(path.read_text(encoding="utf-8"))["model"]))
    assert note.startswith("from the source alone, mini@")
