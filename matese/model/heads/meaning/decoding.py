"""Errors of meaning change the expected score of a segment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass

import numpy as np

from matese.model.arrays import Floats
from matese.model.decoding import Decoding
from matese.model.encoder.numpy_layers import Array, StoredTensors, dense, extra_layer, gelu, mean
from matese.model.heads.head import Head, NumpyHead, RowStates, Said
from matese.model.heads.meaning.settings import LONG
from matese.model.heads.score.decoding import ExpectedScore
from matese.model.model_input import ModelInput, Reading, Row
from matese.model.prediction import Prediction, check_numbers
from matese.model.texts.encoding import InputKind
from matese.text.words import count_words


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

    def change(self, model_input: ModelInput, prediction: Prediction, decoding: Decoding) -> Prediction:
        """Returns the prediction with the score that follows from the rule for its kind of input."""
        rule = decoding.of(model_input.inputs).meaning
        said = prediction.outputs.get(MeaningLogits)
        if rule is None or said is None or prediction.outputs.get(ExpectedScore) is None:
            return prediction
        score = rule.score(prediction.score or 0.0, said.segment, words_of_longest(model_input.readings))
        return prediction._replace(outputs=prediction.outputs.changed(ExpectedScore(score)), score=score)

    def signature(self, inputs: InputKind, decoding: Decoding) -> Sequence[str]:
        """Returns the rule where it is not the model's own, which the name of the model stands for."""
        rule = decoding.of(inputs).meaning
        if rule == self.config.decoding.of(inputs).meaning:
            return []
        return ["meaning-off"] if rule is None else ["meaning" + "~".join(f"{value:g}" for value in astuple(rule))]


def words_of_longest(readings: Iterable[Reading]) -> int:
    """Returns the number of words of the longest text that is read, at most `LONG`."""
    texts = (text for reading in readings for text in (reading.hypothesis, *reading.contexts))
    return max((count_words(text, most=LONG) for text in texts), default=0)


def _largest(states: Array) -> Array:
    """Returns the largest values over the tokens, 0 without any: (width,)."""
    largest: Array = states.max(0) if len(states) else np.zeros(states.shape[1], states.dtype)
    return largest
