"""Decoding stays quick: few Python functions are called for a segment. A count does not depend on the machine."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from types import FrameType

import numpy as np
import pytest

from matese.annotation import Segment, SegmentKey
from matese.model.decoding import Decoding
from matese.model.heads.categories.decoding import CategoryScores
from matese.model.heads.meaning.decoding import MeaningLogits
from matese.model.heads.omissions.decoding import OmissionProbabilities
from matese.model.heads.score.decoding import ExpectedScore
from matese.model.heads.settings import HeadSettings
from matese.model.heads.tags.settings import TagSettings
from matese.model.interpreter import Interpreter
from matese.model.model_input import ModelInput
from matese.model.prediction import Outputs, TagProbabilities, WindowOutput
from matese.model.storage import checkpoint
from matese.model.texts.encoding import ContextPart, Encoding
from matese.mqm import CATEGORIES

WORDS = 12
MINI = checkpoint.read_config(checkpoint.resolve("mini")).model
TAGGER = HeadSettings(tags=TagSettings())


def count_calls(function: Callable[[], object]) -> int:
    """Returns how many Python functions, generators and comprehensions a function calls."""
    n_calls = 0

    def on_event(frame: FrameType, event: str, argument: object) -> None:
        nonlocal n_calls
        n_calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(on_event)
    try:
        function()
    finally:
        sys.setprofile(before)
    return n_calls


def window(number: int, *, has_error: bool) -> WindowOutput:
    """Returns what a network says of a hypothesis of some words beside a reference of as many."""
    ranges = np.array([[5 * word, 5 * word + 4] for word in range(WORDS)], np.int32)
    ids = np.zeros(2 * WORDS + 4, np.int32)
    context = ContextPart(WORDS + 3, 0, ranges, 0)
    encoding = Encoding(ids, ids, None, 1, ranges, (0, WORDS), context)
    probabilities = np.full((WORDS, 5), 0.001)
    probabilities[:, 0] = 0.996
    if has_error:
        probabilities[3:5] = 0.02, 0.01, 0.01, 0.5, 0.46
    said = (
        TagProbabilities(np.log(probabilities)),
        ExpectedScore(-5.0 - number % 5),
        OmissionProbabilities(0, ranges, np.full(WORDS, 0.01)),
        CategoryScores(np.ones((WORDS, len(CATEGORIES)))),
        MeaningLogits(-3.0, np.zeros(WORDS)),
    )
    return WindowOutput(encoding, Outputs.of(said))


def decode(interpreter: Interpreter, decoding: Decoding, n_segments: int, *, has_error: bool) -> Callable[[], object]:
    """Returns a function that makes ratings of what a network says of some segments."""
    key = SegmentKey(lang_pair="en-de")
    texts = [" ".join([f"{number:04}"] * WORDS) for number in range(n_segments)]
    inputs = [ModelInput.of(Segment(text, None, (f"{text[:-1]}x",), key), "reference") for text in texts]
    said = [window(number, has_error=has_error) for number in range(n_segments)]

    def run() -> None:
        rows = [model_input.readings[0].rows(interpreter.config.texts.layout)[0] for model_input in inputs]
        joined = interpreter.join({row: [output] for row, output in zip(rows, said, strict=True)})
        predictions = interpreter.predict(inputs, joined, decoding)
        ratings = [
            interpreter.decode(model_input, interpreter.change(model_input, prediction, decoding), decoding)
            for model_input, prediction in zip(inputs, predictions, strict=True)
        ]
        assert all(bool(rating.errors) == has_error for rating in ratings)

    return run


@pytest.mark.parametrize(
    ("heads", "has_error", "most"),
    [(TAGGER, False, 80), (TAGGER, True, 110), (MINI.heads, False, 170), (MINI.heads, True, 190)],
    ids=["a tagger, without errors", "a tagger, an error", "all heads, without errors", "all heads, an error"],
)
def test_calls_for_each_further_segment(heads: HeadSettings, has_error: bool, most: int) -> None:
    decoding = MINI.decoding
    if heads == TAGGER:
        decoding = dataclasses.replace(decoding, fitted=())
    interpreter = Interpreter(dataclasses.replace(MINI, heads=heads, decoding=decoding))
    decode(interpreter, decoding, 1, has_error=has_error)()  # fills caches
    few, many = (count_calls(decode(interpreter, decoding, n, has_error=has_error)) for n in (50, 150))
    assert (many - few) / 100 <= most
