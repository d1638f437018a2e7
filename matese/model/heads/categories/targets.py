"""What categories learn: the error and the main MQM category of each token in an error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from matese import mqm
from matese.annotation import Rating
from matese.model.heads.categories.network import CategoryLogits
from matese.model.heads.learning import (
    IGNORED,
    Columns,
    HeadTargets,
    LossInputs,
    Place,
    Ragged,
    of_hypotheses,
    within,
)
from matese.model.inputs import padded
from matese.model.texts.encoding import Encoding, Tokens

CategoryIds = npt.NDArray[np.int16]


class CategoryTargets(HeadTargets):
    """Learns "category_ids": (batch, hypothesis tokens), int64.

    The number of the error in the segment times the number of categories, plus the category's index in
    `mqm.CATEGORIES`; IGNORED outside errors with a known category, and for padding.
    """

    name = "categories"
    output = CategoryLogits

    def columns(self, ratings: Sequence[Rating], tokens: Mapping[str, Tokens], skipped: Counter[str]) -> Columns:
        """Returns the labels of each hypothesis, and counts the errors whose category is unknown."""
        names = (span.category for rating in ratings for span in rating.errors or () if span.category)
        unknown = (name for name in names if mqm.main_category(name) is None)
        skipped.update(f"errors of the unknown category {name!r}" for name in unknown)
        labels = map(category_labels, ratings, of_hypotheses(ratings, tokens))
        return {"category_ids": Ragged.of(labels, np.zeros(0, np.int16))}

    def missing(self, columns: Columns) -> str | None:
        """Returns what is missing if no error has a known category."""
        known = ", ".join(mqm.CATEGORIES)
        is_unknown = (columns["category_ids"].values == IGNORED).all()
        return f"no error has an MQM category ({known})" if is_unknown else None

    def example(self, columns: Columns, place: Place) -> Mapping[str, Any]:
        """Returns the labels of the window's tokens."""
        return {"category_ids": place.of_tokens(columns["category_ids"])}

    def collate(self, examples: Sequence[Mapping[str, Any]], encodings: Sequence[Encoding]) -> Mapping[str, Tensor]:
        """Returns the padded labels."""
        return {"category_ids": padded([example["category_ids"] for example in examples], IGNORED)[0]}

    def weights(self, training: Any) -> Mapping[str, float]:  # noqa: ANN401
        """Returns 1."""
        return {"category": 1.0}

    def losses(self, output: CategoryLogits, targets: Mapping[str, Tensor], batch: LossInputs) -> Mapping[str, Tensor]:
        """Returns the cross-entropy of the errors."""
        weights = torch.tensor(batch.training.category_weights, device=output.logits.device)
        return {"category": cross_entropy(output.logits, targets["category_ids"], weights if len(weights) else None)}


def category_labels(rating: Rating, tokens: Tokens) -> CategoryIds:
    """Returns the error and the category of each token, see `CategoryTargets`."""
    labels = np.full(len(tokens.ids), IGNORED, dtype=np.int16)
    for number, span in enumerate(rating.errors or ()):
        category = mqm.main_category(span.category)
        if category is not None:
            labels[within(span, tokens)] = len(mqm.CATEGORIES) * number + mqm.CATEGORIES.index(category)
    return labels


def cross_entropy(logits: Tensor, gold: Tensor, weights: Tensor | None = None) -> Tensor:
    """Returns the cross-entropy of the errors' categories; an error's logits are the mean over its tokens.

    Logits are (batch, tokens, categories), gold is (batch, tokens), see `CategoryTargets`, and weights are
    (categories,).
    """
    known = gold != IGNORED
    n_categories = logits.shape[-1]
    if not known.any():
        return logits.sum() * 0
    # Two errors of one segment have different numbers.
    rows = torch.arange(len(gold), device=gold.device).unsqueeze(1)
    numbers = gold + (gold.max() // n_categories + 1) * n_categories * rows
    errors, places, counts = torch.unique(numbers[known], return_inverse=True, return_counts=True)
    totals = logits.new_zeros(len(errors), n_categories).index_add(0, places, logits[known])
    return functional.cross_entropy(totals / counts.unsqueeze(1), errors % n_categories, weights)
