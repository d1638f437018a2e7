"""What errors of meaning learn: from contrasts, and from translations that people found to mean the same."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from matese.annotation import Rating, Severity
from matese.model.heads import losses
from matese.model.heads.learning import (
    IGNORED,
    ExampleWindow,
    HeadTargets,
    LabelColumns,
    LossInputs,
    Ragged,
    of_hypotheses,
    within,
)
from matese.model.heads.meaning.network import MeaningTensors
from matese.model.inputs import padded
from matese.model.texts.encoding import Encoding, Tokens


class MeaningTargets(HeadTargets):
    """Learns "meaning_ids" and "has_meaning_error".

    The first is (batch, hypothesis tokens), int64, 1 in an error of meaning, else 0, IGNORED where unknown and for
    padding. The second is (batch,), float32, 1 with an error of meaning, 0 without one, nan where unknown.
    """

    name = "meaning"
    output = MeaningTensors

    def columns(self, ratings: Sequence[Rating], tokens: Mapping[str, Tokens], skipped: Counter[str]) -> LabelColumns:
        """Returns the labels of each hypothesis and of each segment."""
        pairs = zip(ratings, of_hypotheses(ratings, tokens), strict=True)
        labels = [meaning_labels(rating, each) for rating, each in pairs]
        return {
            "meaning_ids": Ragged.of((of_tokens for of_tokens, _ in labels), np.zeros(0, np.int8)),
            "has_meaning_error": np.array([has_error for _, has_error in labels], dtype=np.float32),
        }

    def missing(self, columns: LabelColumns) -> str | None:
        """Returns what is missing if no text has an error of meaning: all would mean the same."""
        return None if (columns["has_meaning_error"] == 1).any() else "no rating teaches errors of meaning"

    def example(self, columns: LabelColumns, place: ExampleWindow) -> Mapping[str, Any]:
        """Returns the labels of the window's tokens and, of a whole segment, whether it has an error of meaning."""
        has_error = float(columns["has_meaning_error"][place.segment]) if place.is_whole else math.nan
        return {"meaning_ids": place.of_tokens(columns["meaning_ids"]), "has_meaning_error": has_error}

    def collate(self, examples: Sequence[Mapping[str, Any]], encodings: Sequence[Encoding]) -> Mapping[str, Tensor]:
        """Returns the padded labels and those of the segments."""
        has_error = [example["has_meaning_error"] for example in examples]
        return {
            "meaning_ids": padded([example["meaning_ids"] for example in examples], IGNORED)[0],
            "has_meaning_error": torch.tensor(has_error, dtype=torch.float32),
        }

    def weights(self, training: Any) -> Mapping[str, float]:  # noqa: ANN401
        """Returns the weight of the settings for each loss."""
        return dict.fromkeys(("meaning", "meaning_pairs", "meaning_tokens"), training.meaning_loss_weight)

    def losses(self, output: MeaningTensors, targets: Mapping[str, Tensor], batch: LossInputs) -> Mapping[str, Tensor]:
        """Returns the losses of segments, of their order among translations of one source, and of tokens."""
        has_error = targets["has_meaning_error"]
        return {
            "meaning": losses.binary(output.segment_logits, has_error),
            "meaning_pairs": losses.ranking(-output.segment_logits, -has_error, batch.groups),
            "meaning_tokens": losses.binary(output.token_logits, targets["meaning_ids"]),
        }


def means_the_same(rating: Rating) -> bool:
    """Whether people found a translation free of errors, or with Minor ones alone.

    Minor errors "don't lead to loss of meaning" by the guidelines of WMT's MQM raters (Freitag et al. 2021).
    """
    return rating.errors is not None and all(
        error.severity in (Severity.NEUTRAL, Severity.MINOR) for error in rating.all_errors
    )


def meaning_labels(rating: Rating, tokens: Tokens) -> tuple[npt.NDArray[np.int8], float]:
    """Returns whether each token is in an error of meaning, and whether the segment has one; all errors are such."""
    if rating.errors is None:
        return np.full(len(tokens.ids), IGNORED, dtype=np.int8), math.nan
    n_errors = len(rating.all_errors)
    labels = np.zeros(len(tokens.ids), dtype=np.int8)
    if len(rating.errors) < n_errors:
        labels[:] = IGNORED  # some errors have no place
    for span in rating.errors:
        labels[within(span, tokens)] = 1
    return labels, float(n_errors > 0)
