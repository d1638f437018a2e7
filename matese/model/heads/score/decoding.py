"""The expected score: a number for each row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from matese.model.encoder.numpy_layers import StoredTensors, dense, gelu, mean
from matese.model.heads.head import Head, NumpyHead, RowStates, Said
from matese.model.heads.score.settings import CONTEXTS, PieceScore
from matese.model.heads.tags.marking import probability_of
from matese.model.model_input import Row
from matese.model.prediction import check_numbers
from matese.mqm import LOWEST_SCORE


@dataclass(frozen=True, slots=True)
class ExpectedScore:
    """What the head says.

    Attributes:
        value: the MQM score, between `LOWEST_SCORE` and 0.
        whole: of a text that was read in pieces, the score of the reading of the whole, from which `value` follows;
            None for other texts and for a mean.
        pieces: and the scores of its pieces.
    """

    value: float
    whole: float | None = None
    pieces: tuple[float, ...] = ()


class Score(Head):
    """Says the expected score."""

    name = "score"
    part = "score_head"
    output = ExpectedScore
    scoring = "head"

    def layers(self, tensors: StoredTensors, width: int) -> NumpyHead:
        """Returns the head in numpy."""
        settings = self.config.heads.score
        assert settings is not None
        roles = CONTEXTS[settings.pooling]
        inner = dense(tensors, "score_head.0", (1 + len(roles)) * width, width)
        outer = dense(tensors, "score_head.3", width, 1)

        def compute(states: RowStates) -> ExpectedScore:
            contexts = [mean(states.final[states.encoding.roles > role]) for role in roles]
            pooled = np.concatenate([mean(states.final[states.hypothesis]), *contexts])
            (logit,) = outer(gelu(inner(pooled))).tolist()
            return ExpectedScore(LOWEST_SCORE * probability_of(logit + states.similarity))

        return compute

    def check(self, outputs: Sequence[ExpectedScore]) -> None:
        """Raises a ModelError if an output contains NaN."""
        check_numbers([output.value for output in outputs])

    def join(self, row: Row, parts: Said[ExpectedScore], whole: Said[ExpectedScore]) -> ExpectedScore:
        """Returns the score that follows from the whole and the pieces; without pieces, the sum of the windows' scores.

        The scores of windows are weighted by the kept shares of their tokens.
        """
        values = [said.value for _, said in whole]
        kept = [encoding.kept[1] - encoding.kept[0] for encoding, _ in whole]
        pieces = tuple([said.value for encoding, said in parts if encoding.is_piece])
        if pieces:
            joint = math.fsum(value * n for value, n in zip(values, kept, strict=True)) / sum(kept)
            rule = self.config.decoding.of(row.inputs).pieces or PieceScore()
            return ExpectedScore(rule.score(joint, pieces), joint, pieces)
        if len(whole) == 1:  # of a hypothesis that may have no tokens
            return whole[0][1]
        lengths = [len(encoding.ranges) for encoding, _ in whole]
        total = math.fsum(value * n / length for value, n, length in zip(values, kept, lengths, strict=True))
        return ExpectedScore(max(total, LOWEST_SCORE))

    def mean(self, outputs: Sequence[ExpectedScore]) -> ExpectedScore:
        """Returns the mean score."""
        return ExpectedScore(math.fsum(output.value for output in outputs) / len(outputs))

    def expected_score(self, output: ExpectedScore) -> float:
        """Returns the score itself."""
        return output.value

    def of_copy(self, output: ExpectedScore) -> ExpectedScore:
        """Returns the highest score."""
        return ExpectedScore(0.0)

    def of_untranslated(self, output: ExpectedScore) -> ExpectedScore:
        """Returns the lowest score."""
        return ExpectedScore(LOWEST_SCORE)
