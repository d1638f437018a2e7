"""The layers that predict whether the hypothesis lacks a token of another text."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from matese.model.config import ModelConfig
from matese.model.encoder.pooling import in_full
from matese.model.heads.networks import HeadNetwork, Outputs, in_sequence
from matese.model.prediction import FloatArray
from matese.model.states import States
from matese.model.texts.encoding import Encoding


class OmissionHead(nn.Sequential, HeadNetwork):
    """Says "omissions": (batch, tokens), logits that the hypothesis lacks a token; meaningless for its own tokens."""

    @classmethod
    def of(cls, config: ModelConfig, width: int, inner: int | None) -> OmissionHead:
        """Returns the head with random weights; it starts near the share of omitted words, a few percent."""
        last = nn.Linear(width, 1)
        nn.init.constant_(last.bias, -4.0)
        return cls(nn.Linear(width, width), nn.GELU(), last)

    def forward(self, states: States, outputs: Outputs) -> Outputs:  # type: ignore[override]  # not of tensors
        """Returns the logits."""
        with in_full(states.final):
            return {"omissions": in_sequence(self, states.final.float()).squeeze(-1)}

    @staticmethod
    def rows(output: Tensor, encodings: Sequence[Encoding]) -> Sequence[FloatArray | None]:
        """Returns the probability of each token of each row's last context; None for a row without one."""
        probabilities = output.cpu().sigmoid().numpy()
        parts = [encoding.context for encoding in encodings]
        return [
            None if part is None else probabilities[row, part.first : part.first + len(part.ranges)]
            for row, part in enumerate(parts)
        ]
