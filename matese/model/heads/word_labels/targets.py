"""What labels of severity learn: 0 for no error, else 1 + the number of the severity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from matese.annotation import Rating, Severity
from matese.annotation.severities import rank
from matese.model.arrays import Ints
from matese.model.heads.learning import IGNORED, ExampleWindow, LabelColumns, LossInputs, TokenTargets, within
from matese.model.heads.word_labels.network import LabelLogits
from matese.model.texts.encoding import Tokens


class WordLabelTargets(TokenTargets):
    """Learns labels of severity: see `severity_labels`."""

    name = "word_labels"
    output = LabelLogits

    def labels(self, rating: Rating, tokens: Tokens) -> Ints:
        """Returns the labels of severity."""
        assert self.config.heads.word_labels is not None
        return severity_labels(rating, tokens, self.config.heads.word_labels.severities)

    def example(self, columns: LabelColumns, place: ExampleWindow) -> Mapping[str, Any]:
        """Returns the labels of the window's tokens, and of the special tokens around the hypothesis.

        The latter are labelled as free of errors, as in released models: part of their score depends on these labels.
        """
        is_known = (columns["tag_ids"][place.segment] != IGNORED).any()
        n_special = int(place.windows[0].first > 0)
        labels = place.of_tokens(columns["tag_ids"])
        return {"tag_ids": np.pad(labels, n_special, constant_values=0 if is_known else IGNORED)}

    def weights(self, training: Any) -> Mapping[str, float]:  # noqa: ANN401
        """Returns 1."""
        return {"tag": 1.0}

    def losses(self, output: LabelLogits, targets: Mapping[str, Tensor], batch: LossInputs) -> Mapping[str, Tensor]:
        """Returns the cross-entropy of the labels."""
        weights = torch.tensor(batch.training.label_weights, device=output.logits.device)
        return {"tag": cross_entropy(output.logits, targets["tag_ids"], weights if len(weights) else None)}


def severity_labels(rating: Rating, tokens: Tokens, severities: Sequence[Severity]) -> Ints:
    """Returns the label of each token of the hypothesis: 0 for no error, else 1 + the number of the severity.

    A severity that the model lacks becomes the nearest one that it has; neutral errors are not labelled. Where errors
    overlap, the worst counts. IGNORED for errors of undecided severity, and without spans or severities.
    """
    labels = np.zeros(len(tokens.ids), dtype=np.int16)
    if rating.errors is None or not severities:
        return np.full_like(labels, IGNORED)
    for span in sorted(rating.errors, key=lambda span: rank(span.severity)):
        if span.severity is Severity.NEUTRAL:
            continue
        label = IGNORED
        if (severity := span.severity) is not None:
            distances = [abs(rank(known_severity) - rank(severity)) for known_severity in severities]
            label = 1 + distances.index(min(distances))
        labels[within(span, tokens)] = label
    return labels


def cross_entropy(logits: Tensor, label_ids: Tensor, weights: Tensor | None) -> Tensor:
    """Returns the weighted cross-entropy of the severity labels.

    Logits are (batch, tokens, labels), label ids (batch, tokens), IGNORED where unknown, and weights (labels,).
    """
    if (label_ids == IGNORED).all():
        return logits.sum() * 0
    return functional.cross_entropy(logits.flatten(0, 1), label_ids.flatten(), weights, ignore_index=IGNORED)
