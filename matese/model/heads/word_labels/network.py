"""The layer that predicts the severity of each token, as in the COMET family."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from matese.model.config import RegressionConfig
from matese.model.encoder import pooling
from matese.model.heads.networks import HeadNetwork, Outputs, PooledStates
from matese.model.prediction import FloatArray
from matese.model.texts.encoding import Encoding


class WordLabelHead(nn.Linear, HeadNetwork):
    """Says "word_labels": (batch, hypothesis tokens, 1 + severities), logits; special tokens around it count too."""

    @classmethod
    def of(cls, config: RegressionConfig, width: int, inner: int | None) -> WordLabelHead:
        """Returns the head with random weights."""
        return cls(width, 1 + len(config.severities))

    def forward(self, states: PooledStates, outputs: Outputs) -> Outputs:  # type: ignore[override]  # not of tensors
        """Returns the logits."""
        assert states.config.word_layer is not None
        read = pooling.of_hypothesis(states.layers[states.config.word_layer], states.batch.positions)
        return {"word_labels": nn.Linear.forward(self, read.float())}

    @staticmethod
    def rows(output: Tensor, encodings: Sequence[Encoding]) -> Sequence[FloatArray]:
        """Returns the probabilities of each row."""
        probabilities = output.cpu().double().softmax(-1).numpy()
        return [probabilities[row, : len(encoding.ranges)] for row, encoding in enumerate(encodings)]
