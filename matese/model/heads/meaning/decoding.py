"""Errors of meaning have no part of a prediction: the head changes what tags and score say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from matese.model.encoder.numpy_layers import Array, Tensors, dense, extra_layer, gelu, mean
from matese.model.heads.head import Head, NumpyHead, Outputs, RowStates
from matese.model.heads.tags.bio import IS_MAJOR
from matese.model.texts.encoding import ROLES
from matese.mqm import LOWEST_SCORE

SHARE = 0.4
"""How far a certain error of meaning moves the score towards the lowest one: from -2.5 to -11.5. A smaller share leaves
it above the score of a correct wording that is unlike the reference (`benchmarks.ruler`)."""
RAMP = 2.0
"""The score begins to fall where the logit is this far below the threshold, and has fallen by its whole share as far
above it. Words are only marked above the threshold; a score that fell there at once would tear similar translations
apart: with the ramp, `benchmarks.ruler` orders more pairs of meaning right and no real translations worse."""


class Meaning(Head):
    """Lowers the score and marks words as Major where the hypothesis says something else than the other texts."""

    name = "meaning"
    part = "meaning_head"
    n_layers = 1

    def layers(self, tensors: Tensors, width: int) -> NumpyHead:
        """Returns the head in numpy, as `network.MeaningHead` in prediction."""
        layer = extra_layer(tensors, "meaning_head.layer", width, self.config.extra_heads)
        of_tokens = dense(tensors, "meaning_head.tokens", width, 1)
        inner = dense(tensors, "meaning_head.segment.0", 4 * width, width)
        outer = dense(tensors, "meaning_head.segment.3", width, 1)
        thresholds = dict(zip(self.config.inputs, self.config.meaning_thresholds, strict=False))  # or none

        def compute(states: RowStates, outputs: Outputs) -> Outputs:
            roles = states.encoding.roles
            texts = [name for name in ("source", "reference") if (roles == ROLES.index(name)).any()]
            threshold = {str(inputs): value for inputs, value in thresholds.items()}.get("+".join(texts))
            if threshold is None:
                return {}
            read = layer(states.encoded)
            hypothesis = read[states.hypothesis]
            contexts = read[roles > 1]
            pooled = [mean(hypothesis), mean(contexts), _largest(hypothesis), _largest(contexts)]
            (logit,) = outer(gelu(inner(np.concatenate(pooled)))).tolist()
            above = logit - threshold
            changed: dict[str, Any] = {}
            if above > 0:
                share = math.tanh(above) / (1 + np.exp(-of_tokens(hypothesis).astype(np.float64)))  # (tokens, 1)
                probabilities = np.exp(outputs["tags"])
                major = probabilities * np.array(IS_MAJOR)
                mixed = (1 - share) * probabilities + share * major / major.sum(-1, keepdims=True)
                changed["tags"] = np.log(np.maximum(mixed, np.finfo(np.float32).tiny))
            if above > -RAMP and "score" in outputs:
                fall = SHARE * min(1.0, (above + RAMP) / (2 * RAMP))
                changed["score"] = outputs["score"] + (LOWEST_SCORE - outputs["score"]) * fall
            return changed

        return compute


def _largest(states: Array) -> Array:
    """Returns the largest values over the tokens, 0 without any: (width,)."""
    largest: Array = states.max(0) if len(states) else np.zeros(states.shape[1], states.dtype)
    return largest
