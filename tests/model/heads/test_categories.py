"""The category head: from probabilities to the categories of spans, and directories that lack it or have it unasked."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import matese
from matese import mqm
from matese.annotation import Segment
from matese.errors import ModelError
from matese.model.decoding import Decoding
from matese.model.heads.categories.decoding import Categories, CategoryScores
from matese.model.heads.tags.bio import B_MAJOR, I_MAJOR, TAGS, O
from matese.model.heads.tags.decoding import find
from matese.model.interpreter import Interpreter
from matese.model.model_input import ModelInput
from matese.model.prediction import Marks, Outputs, Prediction, TagProbabilities
from matese.model.storage import checkpoint
from tests.conftest import TinyModelFactory, make_config
from tests.model.test_annotator import random_segments

INTERPRETER = Interpreter(make_config(categories={}))
ACCURACY, FLUENCY, STYLE = (np.eye(6)[mqm.CATEGORIES.index(name)] for name in ("Accuracy", "Fluency", "Style"))


def prediction(*rows: Any) -> Prediction:
    """Two errors of two tokens each, "ab" and "ef", with the probabilities of the categories of the six tokens."""
    tags = [B_MAJOR, I_MAJOR, O, O, B_MAJOR, I_MAJOR]
    logs = np.log(np.where(np.arange(len(TAGS)) == np.array(tags)[:, None], 0.9, 0.025))
    ranges = np.array([(at, at + 1) for at in range(6)], np.int32)
    said = [TagProbabilities(logs), CategoryScores(np.array(rows)) if rows else None]
    return Prediction("abcdef", ranges, Outputs.of(said))


def categories_of(predicted: Prediction) -> list[str | None]:
    spans = find(predicted, None, least=0.5)
    model_input = ModelInput.of(Segment("abcdef", None, ("x",)), "reference")
    marks = Categories(INTERPRETER.config).mark(model_input, predicted, Marks(spans), Decoding())
    return [span.category for span in marks.errors]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ((), [None, None]),
        ((STYLE, STYLE, FLUENCY, FLUENCY, ACCURACY, ACCURACY), ["Style", "Accuracy"]),
        # The mean over the tokens of a span, not the category of most of them.
        ((0.6 * STYLE + 0.4 * FLUENCY, FLUENCY, STYLE, STYLE, STYLE, FLUENCY), ["Fluency", "Fluency"]),
    ],
)
def test_a_span_has_the_most_probable_category_of_its_tokens(rows: Any, expected: list[str | None]) -> None:
    assert categories_of(prediction(*rows)) == expected


def test_several_predictions_are_averaged() -> None:
    mostly_style = prediction(*[0.6 * STYLE + 0.4 * FLUENCY] * 6)
    mostly_fluency = prediction(*[0.9 * FLUENCY + 0.1 * STYLE] * 6)
    assert categories_of(INTERPRETER.average([mostly_style, mostly_fluency], 0.0)) == ["Fluency", "Fluency"]
    # A model of several lacks the head.
    assert categories_of(INTERPRETER.average([mostly_style, prediction()], 0.0)) == [None, None]


def test_every_span_of_a_model_with_the_head_has_a_category(tiny_model_factory: TinyModelFactory) -> None:
    segments = [*random_segments(20), Segment("a" * 300 + " b", "c", ("d",)), Segment("", "a", ("b",))]
    annotator = matese.load(tiny_model_factory(categories={}, max_tokens=64), device="cpu", precision="float32")
    categories = [span.category for rating in annotator.annotate_segments(segments) for span in rating.errors or ()]
    assert len(categories) > 20
    assert set(categories) <= set(mqm.CATEGORIES)
    assert len(set(categories)) > 1
    directory = tiny_model_factory(max_tokens=64)
    without = matese.load(directory, device="cpu", precision="float32").annotate_segments(segments)
    assert {span.category for rating in without for span in rating.errors or ()} == {None}


@pytest.mark.parametrize("n_segments", [1, None], ids=["numpy", "torch"])
@pytest.mark.parametrize("is_configured", [True, False])
def test_settings_and_weights_must_agree(
    is_configured: bool, n_segments: int | None, tiny_model_factory: TinyModelFactory
) -> None:
    directory = tiny_model_factory(**({} if is_configured else {"categories": {}}))
    path = directory / checkpoint.CONFIG
    config = json.loads(path.read_text(encoding="utf-8"))
    config["model"]["heads"]["categories"] = {} if is_configured else None
    path.write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(ModelError, match=r"settings and tensors do not make a model.*category_head"):
        matese.load(directory, n_segments=n_segments)
