"""Errors of meaning lower the expected score of a segment."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from matese.model.arrays import Floats, reduce_parts
from matese.model.decoding import Decoding
from matese.model.encoder.numpy_layers import Array, StoredTensors, dense, extra_layer, gelu, mean
from matese.model.heads.head import Head, NumpyHead, RowStates, Said
from matese.model.heads.meaning.settings import MeaningRule
from matese.model.heads.score.decoding import ExpectedScore
from matese.model.heads.tags import bio
from matese.model.model_input import ModelInput, Row
from matese.model.prediction import Prediction, check_numbers
from matese.model.texts.encoding import InputKind

LEAST = 1e-4
"""Lower bound of probabilities, which bounds their log odds."""


@dataclass(frozen=True, slots=True)
class MeaningLogits:
    """What the head says.

    Attributes:
        segment: that the segment has an error of meaning.
        tokens: (tokens,), that a token belongs to one.
    """

    segment: float
    tokens: Floats


class Meaning(Head):
    """Says whether the hypothesis says something else than the other texts; what follows is a rule of decoding."""

    name = "meaning"
    part = "meaning_head"
    output = MeaningLogits
    n_layers = 1

    def layers(self, tensors: StoredTensors, width: int) -> NumpyHead:
        """Returns the head in numpy."""
        layer = extra_layer(tensors, "meaning_head.layer", width, self.config.layers.extra_heads)
        of_tokens = dense(tensors, "meaning_head.tokens", width, 1)
        inner = dense(tensors, "meaning_head.segment.0", 4 * width, width)
        outer = dense(tensors, "meaning_head.segment.3", width, 1)

        def compute(states: RowStates) -> MeaningLogits:
            read = layer(states.encoded)
            hypothesis = read[states.hypothesis]
            contexts = read[states.encoding.roles > 1]
            pooled = [mean(hypothesis), mean(contexts), _largest(hypothesis), _largest(contexts)]
            (logit,) = outer(gelu(inner(np.concatenate(pooled)))).tolist()
            return MeaningLogits(logit, of_tokens(hypothesis)[:, 0])

        return compute

    def check(self, outputs: Sequence[MeaningLogits]) -> None:
        """Raises a ModelError if an output contains NaN."""
        check_numbers([output.segment for output in outputs])
        check_numbers([output.tokens for output in outputs])

    def join(self, row: Row, parts: Said[MeaningLogits], whole: Said[MeaningLogits]) -> MeaningLogits:
        """Returns the logits of the kept tokens, and the largest of all texts: a part with an error suffices."""
        tokens = np.concatenate([said.tokens[slice(*encoding.kept)] for encoding, said in parts])
        return MeaningLogits(max(said.segment for _, said in (*parts, *whole)), tokens)

    def mean(self, outputs: Sequence[MeaningLogits]) -> MeaningLogits:
        """Returns the mean logits."""
        tokens = np.mean([output.tokens for output in outputs], axis=0)
        return MeaningLogits(float(np.mean([output.segment for output in outputs])), tokens)

    def of_copy(self, output: MeaningLogits) -> None:
        """Returns None: a copy has no error."""

    def change(
        self, model_inputs: Sequence[ModelInput], predictions: Sequence[Prediction], decoding: Decoding
    ) -> Sequence[Prediction]:
        """Returns the predictions with the scores that follow from the rules for their kinds of input."""
        changed = list(predictions)
        for rule in decoding.meaning:
            numbers = [
                number
                for number, (model_input, prediction) in enumerate(zip(model_inputs, predictions, strict=True))
                if model_input.inputs == rule.inputs and prediction.outputs.get(MeaningLogits) is not None
            ]
            of_rule = apply(rule, [predictions[number] for number in numbers])
            for number, prediction in zip(numbers, of_rule, strict=True):
                changed[number] = prediction
        return changed

    def signature(self, inputs: InputKind, decoding: Decoding) -> Sequence[str]:
        """Returns the rule where it is not the model's own, which the name of the model stands for."""
        rule = decoding.meaning_rule(inputs)
        if rule == self.config.decoding.meaning_rule(inputs):
            return []
        if rule is None:
            return ["meaning-off"]
        return [f"meaning{rule.threshold:g}~{rule.ramp:g}>{rule.floor:g}"]


def apply(rule: MeaningRule, predictions: Sequence[Prediction]) -> list[Prediction]:
    """Returns the predictions of segments, with a lower score where there is evidence of an error of meaning.

    Args:
        rule: for the kind of input of the segments.
        predictions: of taggers with a meaning head; those without a score head stay as they are.
    """
    scored = np.array([prediction.score or 0.0 for prediction in predictions])
    scores = lower_scores(rule, scored, np.array(evidence(predictions))).tolist()
    return [
        _with_score(prediction, score) if score != before else prediction
        for prediction, before, score in zip(predictions, scored.tolist(), scores, strict=True)
    ]


def _with_score(prediction: Prediction, score: float) -> Prediction:
    if prediction.outputs.get(ExpectedScore) is None:
        return prediction
    return prediction._replace(outputs=prediction.outputs.changed(ExpectedScore(score)), score=score)


def evidence(predictions: Sequence[Prediction]) -> list[float]:
    """Returns the logit of each segment plus the log odds of its most probable Major tag, bounded."""
    rows = [prediction.log_probabilities for prediction in predictions]
    majors = np.exp(np.concatenate([row[:, bio.B_MAJOR :] for row in rows])).sum(-1) if rows else np.zeros(0)
    highest = reduce_parts(np.maximum, majors, [len(row) for row in rows])
    return [
        prediction.outputs[MeaningLogits].segment + math.log(major / (1 - major))
        for prediction, major in zip(predictions, np.clip(highest, LEAST, 1 - LEAST).tolist(), strict=True)
    ]


def lower_scores(rule: MeaningRule, scores: Floats, found: Floats) -> Floats:
    """Returns the scores, (segments,), after errors of meaning have lowered them.

    Args:
        rule: the rule.
        scores: (segments,), before.
        found: (segments,), `evidence` of each segment.
    """
    share = np.clip((found - rule.threshold + rule.ramp) / (2 * rule.ramp), 0, 1)
    lowered: Floats = scores + np.minimum(rule.floor - scores, 0.0) * share
    return lowered


def _largest(states: Array) -> Array:
    """Returns the largest values over the tokens, 0 without any: (width,)."""
    largest: Array = states.max(0) if len(states) else np.zeros(states.shape[1], states.dtype)
    return largest
