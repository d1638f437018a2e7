"""The layer that predicts the severity of each token, as in the COMET family."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from matese.model.config import ModelConfig
from matese.model.encoder import pooling
from matese.model.heads.networks import HeadNetwork, Outputs
from matese.model.prediction import FloatArray
from matese.model.states import States
from matese.model.texts.encoding import Encoding


class WordLabelHead(nn.Linear, HeadNetwork):
    """Says "word_labels": (batch, hypothesis tokens, 1 + severities), logits; special tokens around it count too."""

    @classmethod
    def of(cls, config: ModelConfig, width: int, inner: int | None) -> WordLabelHead:
        """Returns the head with random weights."""
        return cls(width, 1 + len(config.severities))

    def forward(self, states: States, outputs: Outputs) -> Outputs:  # type: ignore[override]  # not of tensors
        """Returns the logits."""
        assert states.config.word_layer is not None
        read = pooling.of_hypothesis(states.layers[states.config.word_layer], states.batch.positions)
        with pooling.in_full(read):
            return {"word_labels": nn.Linear.forward(self, read.float())}

    @staticmethod
    def rows(output: Tensor, encodings: Sequence[Encoding]) -> Sequence[FloatArray]:
        """Returns the probabilities of each row."""
        probabilities = output.cpu().double().softmax(-1).numpy()
        return [probabilities[row, : len(encoding.ranges)] for row, encoding in enumerate(encodings)]
