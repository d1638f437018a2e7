"""The layer that predicts the severity of each token, as in the COMET family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor, nn

from matese.model.config import ModelConfig
from matese.model.encoder import pooling
from matese.model.heads.networks import HeadNetwork, HeadOutput
from matese.model.heads.word_labels.decoding import LabelProbabilities
from matese.model.states import BatchStates
from matese.model.texts.encoding import Encoding


@dataclass(frozen=True, slots=True)
class LabelLogits(HeadOutput):
    """What the head says.

    Attributes:
        logits: (batch, hypothesis tokens, 1 + severities), float32; special tokens around the hypothesis count too.
    """

    logits: Tensor

    def rows(self, encodings: Sequence[Encoding]) -> Sequence[LabelProbabilities]:
        """Returns the probabilities of each row."""
        values = self.logits.cpu().double().softmax(-1).numpy()
        return [LabelProbabilities(values[row, : len(encoding.ranges)]) for row, encoding in enumerate(encodings)]


class WordLabelHead(nn.Linear, HeadNetwork):
    """Says the severity of each token."""

    @classmethod
    def of(cls, config: ModelConfig, width: int, inner: int | None) -> WordLabelHead:
        """Returns the head with random weights."""
        assert config.heads.word_labels is not None
        return cls(width, 1 + len(config.heads.word_labels.severities))

    def forward(self, states: BatchStates) -> LabelLogits:  # type: ignore[override]  # not of tensors
        """Returns the logits."""
        settings = states.config.heads.word_labels
        assert settings is not None
        read = pooling.of_hypothesis(states.layers[settings.layer], states.batch.positions)
        with pooling.in_full(read):
            return LabelLogits(nn.Linear.forward(self, read.float()))
