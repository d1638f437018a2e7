"""Errors of meaning lower the expected score of a segment, and mark words of it as Major."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from matese.model.decoding import Decoding
from matese.model.encoder.numpy_layers import Array, StoredTensors, dense, extra_layer, gelu, mean
from matese.model.heads.head import Head, NumpyHead, RowStates
from matese.model.heads.meaning.settings import MeaningRule
from matese.model.heads.score.decoding import ExpectedScore
from matese.model.heads.tags.bio import IS_MAJOR
from matese.model.model_input import ModelInput, Row
from matese.model.prediction import FloatArray, Prediction, TagProbabilities, check_numbers
from matese.model.texts.encoding import Encoding, InputKind
from matese.mqm import LOWEST_SCORE

_LEAST = np.finfo(np.float32).tiny
"""Lower bound of probabilities, so that all logarithms are finite."""


@dataclass(frozen=True, slots=True)
class MeaningLogits:
    """What the head says.

    Attributes:
        segment: that the segment has an error of meaning.
        tokens: (tokens,), that a token belongs to one.
    """

    segment: float
    tokens: FloatArray


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

    def join(self, row: Row, windows: Sequence[tuple[Encoding, MeaningLogits]]) -> MeaningLogits:
        """Returns the logits of the kept tokens, and the largest of the segments: a part with an error suffices."""
        for _, said in windows:
            check_numbers(said.segment)
            check_numbers(said.tokens)
        tokens = np.concatenate([said.tokens[slice(*encoding.kept)] for encoding, said in windows])
        return MeaningLogits(max(said.segment for _, said in windows), tokens)

    def mean(self, outputs: Sequence[MeaningLogits]) -> MeaningLogits:
        """Returns the mean logits."""
        tokens = np.mean([output.tokens for output in outputs], axis=0)
        return MeaningLogits(float(np.mean([output.segment for output in outputs])), tokens)

    def of_copy(self, output: MeaningLogits) -> None:
        """Returns None: a copy has no error."""

    def change(
        self, model_inputs: Sequence[ModelInput], predictions: Sequence[Prediction], decoding: Decoding
    ) -> Sequence[Prediction]:
        """Returns the predictions with the tags and scores that follow from the rules for their kinds of input."""
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
        effects = "".join(f"@{effect.n_characters}:{effect.points:g}" for effect in rule.mean_effects)
        return [f"meaning{rule.threshold:g}*{rule.share:g}~{rule.ramp:g}{effects}"]


def apply(rule: MeaningRule, predictions: Sequence[Prediction]) -> list[Prediction]:
    """Returns the predictions of segments with a lower score, and words as Major, where the head exceeds a threshold.

    Args:
        rule: for the kind of input of the segments.
        predictions: of taggers with a meaning head; without a score head, only the tags change.
    """
    if not predictions:
        return []
    said = [prediction.outputs[MeaningLogits] for prediction in predictions]
    above = np.array([one.segment for one in said]) - rule.threshold  # (segments,)
    ends = np.cumsum([len(one.tokens) for one in said])
    logs = mark_words(
        np.concatenate([prediction.log_probabilities for prediction in predictions]),
        np.repeat(above, [len(one.tokens) for one in said]),
        np.concatenate([one.tokens for one in said]),
    )
    lengths = np.array([len(prediction.hypothesis) for prediction in predictions])
    scores = lower_scores(rule, np.array([prediction.score or 0.0 for prediction in predictions]), above, lengths)
    changed = []
    for prediction, of_tokens, score in zip(predictions, np.split(logs, ends[:-1]), scores.tolist(), strict=True):
        outputs = prediction.outputs.changed(TagProbabilities(of_tokens))
        if prediction.outputs.get(ExpectedScore) is None:
            changed.append(replace(prediction, outputs=outputs))
        else:
            changed.append(replace(prediction, outputs=outputs.changed(ExpectedScore(score)), score=score))
    return changed


def mark_words(logs: FloatArray, above: FloatArray, token_logits: FloatArray) -> FloatArray:
    """Returns the log-probabilities of the tags, in which tokens of an error of meaning become Major.

    Args:
        logs: (tokens, tags), before.
        above: (tokens,), how far the logit of the token's segment is above the threshold.
        token_logits: (tokens,), that the token belongs to an error of meaning.
    """
    is_above = above > 0
    share = np.tanh(above[is_above]) / (1 + np.exp(-token_logits[is_above].astype(np.float64)))
    probabilities = np.exp(logs[is_above])
    major = probabilities * np.array(IS_MAJOR)
    major /= major.sum(-1, keepdims=True)
    mixed = (1 - share[:, None]) * probabilities + share[:, None] * major
    changed = np.array(logs, dtype=np.float64)
    changed[is_above] = np.log(np.maximum(mixed, _LEAST))
    return changed


def lower_scores(rule: MeaningRule, scores: FloatArray, above: FloatArray, lengths: FloatArray) -> FloatArray:
    """Returns the scores, (segments,), between `LOWEST_SCORE` and 0, after an error of meaning has lowered them.

    A score falls by up to `rule.share` of its distance from the lowest one, along `rule.ramp` around the threshold.

    Args:
        rule: the rule.
        scores: (segments,), before.
        above: (segments,), how far the logits of the segments are above the threshold.
        lengths: (segments,), of the hypotheses, in characters.
    """
    fall = rule.share * np.clip((above + rule.ramp) / (2 * rule.ramp), 0, 1)
    lowered = scores + (LOWEST_SCORE - scores) * fall
    if rule.mean_effects:
        known = [effect.n_characters for effect in rule.mean_effects]
        lowered = lowered + np.interp(lengths, known, [effect.points for effect in rule.mean_effects])
    bounded: FloatArray = np.clip(lowered, LOWEST_SCORE, 0.0)
    return bounded


def _largest(states: Array) -> Array:
    """Returns the largest values over the tokens, 0 without any: (width,)."""
    largest: Array = states.max(0) if len(states) else np.zeros(states.shape[1], states.dtype)
    return largest
