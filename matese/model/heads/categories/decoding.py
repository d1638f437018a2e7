"""Categories: logits of `mqm.CATEGORIES` for each token, (tokens, categories), given that it is in an error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from matese import mqm
from matese.annotation import ErrorSpan
from matese.model.encoder.numpy_layers import Tensors, two_layers
from matese.model.heads.head import Head, NumpyHead, Outputs, RowStates
from matese.model.heads.tags.decoding import tokens_of
from matese.model.model_input import ModelInput
from matese.model.options import Options
from matese.model.prediction import Marks, Prediction
from matese.mqm import CATEGORIES


class Categories(Head):
    """Says the category of an error; the largest mean over its tokens decides."""

    name = "categories"
    part = "category_head"

    def layers(self, tensors: Tensors, width: int) -> NumpyHead:
        """Returns the head in numpy."""
        head = two_layers(tensors, ("category_head.0", "category_head.2"), (3 * width, width, len(CATEGORIES)))

        def compute(states: RowStates, outputs: Outputs) -> Outputs:
            place = states.hypothesis
            read = [states.final[place], states.encoded[place], states.embed(states.encoding.ids[place])]
            return {"categories": head(np.concatenate(read, -1))}

        return compute

    def mark(
        self,
        model_inputs: Sequence[ModelInput],
        predictions: Sequence[Prediction],
        marks: Sequence[Marks],
        options: Options,
    ) -> Sequence[Marks]:
        """Returns the marks with a category for each error of the hypothesis."""
        return [
            each._replace(errors=tuple(with_categories(prediction, each.errors)))
            for prediction, each in zip(predictions, marks, strict=True)
        ]


def with_categories(prediction: Prediction, spans: Sequence[ErrorSpan]) -> Iterator[ErrorSpan]:
    """Yields the spans with the main category whose mean logit over the span's tokens is the largest."""
    logits = prediction.outputs.get("categories")
    for span in spans:
        if logits is None:
            yield span
        else:
            total = logits[tokens_of(span, prediction.ranges)].sum(0)
            yield replace(span, category=mqm.CATEGORIES[total.argmax()])
