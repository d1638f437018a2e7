"""The main category of each error."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from matese import mqm
from matese.model.arrays import Floats
from matese.model.decoding import Decoding
from matese.model.encoder.numpy_layers import StoredTensors, two_layers
from matese.model.heads.head import NumpyHead, RowStates, TokenHead
from matese.model.heads.tags.decoding import tokens_of
from matese.model.model_input import ModelInput
from matese.model.prediction import Marks, Prediction
from matese.mqm import CATEGORIES


@dataclass(frozen=True, slots=True)
class CategoryScores:
    """What the head says.

    Attributes:
        values: (tokens, categories), logits of `mqm.CATEGORIES` for each token, given that it is in an error.
    """

    values: Floats


class Categories(TokenHead):
    """Says the category of an error; the largest mean over its tokens decides."""

    name = "categories"
    part = "category_head"
    output = CategoryScores

    def layers(self, tensors: StoredTensors, width: int) -> NumpyHead:
        """Returns the head in numpy."""
        head = two_layers(tensors, ("category_head.0", "category_head.2"), (3 * width, width, len(CATEGORIES)))

        def compute(states: RowStates) -> CategoryScores:
            place = states.hypothesis
            read = [states.final[place], states.encoded[place], states.embed(states.encoding.ids[place])]
            return CategoryScores(head(np.concatenate(read, -1)))

        return compute

    def mark(self, model_input: ModelInput, prediction: Prediction, marks: Marks, decoding: Decoding) -> Marks:
        """Returns the marks with a category for each error of the hypothesis."""
        said = prediction.outputs.get(CategoryScores)
        if said is None or not marks.errors:
            return marks
        totals = [said.values[tokens_of(span, prediction.ranges)].sum(0) for span in marks.errors]
        categories = [mqm.CATEGORIES[total.argmax()] for total in totals]
        errors = (replace(span, category=name) for span, name in zip(marks.errors, categories, strict=True))
        return marks._replace(errors=tuple(errors))
