"""The layers that predict whether the hypothesis lacks a token of another text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor, nn

from matese.model.config import ModelConfig
from matese.model.encoder.pooling import in_full
from matese.model.heads.networks import HeadNetwork, HeadOutput, in_sequence
from matese.model.heads.omissions.decoding import OmissionProbabilities
from matese.model.states import BatchStates
from matese.model.texts.encoding import Encoding


@dataclass(frozen=True, slots=True)
class OmissionLogits(HeadOutput):
    """What the head says.

    Attributes:
        logits: (batch, tokens), float32, that the hypothesis lacks a token; meaningless for its own tokens.
    """

    logits: Tensor

    def rows(self, encodings: Sequence[Encoding]) -> Sequence[OmissionProbabilities | None]:
        """Returns the probability of each token of each row's last context; None for a row without one."""
        probabilities = self.logits.cpu().sigmoid().double().numpy()
        parts = [encoding.context for encoding in encodings]
        return [
            None
            if part is None
            else OmissionProbabilities(
                part.reference, part.ranges, probabilities[row, part.first : part.first + len(part.ranges)]
            )
            for row, part in enumerate(parts)
        ]


class OmissionHead(nn.Sequential, HeadNetwork):
    """Says how probably the hypothesis lacks each token of the other texts.

    It reads detached states, so that what it learns changes neither marks nor scores.
    """

    is_detached = True

    @classmethod
    def of(cls, config: ModelConfig, width: int, inner: int | None) -> OmissionHead:
        """Returns the head with random weights; it starts near the share of omitted words, a few percent."""
        last = nn.Linear(width, 1)
        nn.init.constant_(last.bias, -4.0)
        return cls(nn.Linear(width, width), nn.GELU(), last)

    def forward(self, states: BatchStates) -> OmissionLogits:
        """Returns the logits."""
        with in_full(states.final):
            return OmissionLogits(in_sequence(self, states.final.detach().float()).squeeze(-1))
