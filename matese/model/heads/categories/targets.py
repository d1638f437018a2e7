"""What categories learn: the error and the main MQM category of each token in an error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from matese import mqm
from matese.annotation import Rating
from matese.model.arrays import Ints
from matese.model.heads.categories.network import CategoryLogits
from matese.model.heads.learning import IGNORED, LabelColumns, LossInputs, TokenTargets, within
from matese.model.texts.encoding import Encoding, Tokens


class CategoryTargets(TokenTargets):
    """Learns the error and the category of each token in one.

    It is the number of the error in the segment times the number of categories, plus the category's index in
    `mqm.CATEGORIES`; IGNORED outside errors with a known category, and for padding.
    """

    name = "categories"
    column = "category_ids"
    output = CategoryLogits

    def columns(self, ratings: Sequence[Rating], tokens: Mapping[str, Tokens], skipped: Counter[str]) -> LabelColumns:
        """Returns the labels of each hypothesis, and counts the errors whose category is unknown."""
        names = (span.category for rating in ratings for span in rating.errors or () if span.category)
        unknown = (name for name in names if mqm.main_category(name) is None)
        skipped.update(f"errors of the unknown category {name!r}" for name in unknown)
        return super().columns(ratings, tokens, skipped)

    def labels(self, rating: Rating, tokens: Tokens) -> Ints:
        """Returns the error and the category of each token."""
        labels = np.full(len(tokens.ids), IGNORED, dtype=np.int16)
        for number, span in enumerate(rating.errors or ()):
            category = mqm.main_category(span.category)
            if category is not None:
                labels[within(span, tokens)] = len(mqm.CATEGORIES) * number + mqm.CATEGORIES.index(category)
        return labels

    def missing(self, columns: LabelColumns) -> str | None:
        """Returns what is missing if no error has a known category."""
        categories = ", ".join(mqm.CATEGORIES)
        is_unknown = (columns["category_ids"].values == IGNORED).all()
        return f"no error has an MQM category ({categories})" if is_unknown else None

    def collate(self, examples: Sequence[Mapping[str, Any]], encodings: Sequence[Encoding]) -> Mapping[str, Tensor]:
        """Returns the padded labels, with the errors of each window numbered from 0."""
        return super().collate([{self.column: _renumbered(example[self.column])} for example in examples], encodings)

    def weights(self, training: Any) -> Mapping[str, float]:  # noqa: ANN401
        """Returns 1."""
        return {"category": 1.0}

    def losses(self, output: CategoryLogits, targets: Mapping[str, Tensor], batch: LossInputs) -> Mapping[str, Tensor]:
        """Returns the cross-entropy of the errors."""
        return {"category": cross_entropy(output.logits, targets["category_ids"])}


def _renumbered(labels: Ints) -> Ints:
    """Returns the labels of a window with its errors numbered from 0, so that there are fewer numbers than tokens."""
    n_categories = len(mqm.CATEGORIES)
    is_known = labels != IGNORED
    changed = labels.copy()
    _, numbers = np.unique(labels[is_known] // n_categories, return_inverse=True)
    changed[is_known] = n_categories * numbers + labels[is_known] % n_categories
    return changed


def cross_entropy(logits: Tensor, gold: Tensor) -> Tensor:
    """Returns the cross-entropy of the errors' categories; an error's logits are the mean over its tokens.

    Logits are (batch, tokens, categories), gold is (batch, tokens), see `CategoryTargets`. It is 0 without any error.
    """
    batch, length, n_categories = logits.shape
    is_known = gold != IGNORED
    # The place of each token's error among all errors of the batch. No value is read from the device, which would make
    # the host wait.
    rows = torch.arange(batch, device=gold.device).unsqueeze(1)
    places = (length * rows + gold.clamp(min=0) // n_categories).flatten()
    totals = logits.new_zeros(batch * length, n_categories)
    totals = totals.index_add(0, places, (logits * is_known.unsqueeze(2)).flatten(0, 1))
    counts = logits.new_zeros(batch * length).index_add(0, places, is_known.flatten().to(logits.dtype))
    categories = torch.where(is_known, gold % n_categories, IGNORED).flatten()
    labels = torch.full_like(places, IGNORED).scatter_reduce(0, places, categories, "amax")
    means = totals / counts.clamp(min=1).unsqueeze(1)
    total = functional.cross_entropy(means, labels, ignore_index=IGNORED, reduction="sum")
    return total / (labels != IGNORED).sum().clamp(min=1)
