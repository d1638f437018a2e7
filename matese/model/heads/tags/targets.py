"""What the tags learn: the tag of each token of the hypothesis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor
from torch.nn import functional

from matese.annotation import ErrorSpan, Rating
from matese.model.arrays import Ints
from matese.model.heads.learning import IGNORED, LabelColumns, LossInputs, TokenTargets, within
from matese.model.heads.tags import bio
from matese.model.heads.tags.network import TagLogits
from matese.model.texts.encoding import Tokens

ANY_ERROR = -1
"""Label of tokens in an error of undecided severity."""


class TagTargets(TokenTargets):
    """Learns the tags: see `tag_ids`."""

    name = "tags"
    output = TagLogits

    def labels(self, rating: Rating, tokens: Tokens) -> Ints:
        """Returns the tags; unknown where no error has a place."""
        is_unknown = rating.errors is None or (rating.unplaced and not rating.errors)
        return np.full(len(tokens.ids), IGNORED, np.int16) if is_unknown else tag_ids(rating.errors or (), tokens)

    def missing(self, columns: LabelColumns) -> str | None:
        """Returns what is missing if no hypothesis has known tags."""
        return "no rating has spans" if (columns["tag_ids"].values == IGNORED).all() else None

    def weights(self, training: Any) -> Mapping[str, float]:  # noqa: ANN401
        """Returns 1: the other losses are weighted against this one."""
        return {"tag": 1.0}

    def losses(self, output: TagLogits, targets: Mapping[str, Tensor], batch: LossInputs) -> Mapping[str, Tensor]:
        """Returns the cross-entropy."""
        return {"tag": cross_entropy(output.logits, targets["tag_ids"])}


def tag_ids(errors: Sequence[ErrorSpan], tokens: Tokens) -> Ints:
    """Returns the tag of each token of the hypothesis: ANY_ERROR for an error of undecided severity."""
    labels = np.array(bio.from_spans(errors, tokens.ranges.tolist()), dtype=np.int16)
    for span in errors:
        if span.severity is None:
            places = within(span, tokens)
            labels[places] = np.where(labels[places] == bio.O, ANY_ERROR, labels[places])
    return labels


def cross_entropy(logits: Tensor, gold: Tensor) -> Tensor:
    """Returns the cross-entropy of the tags from logits, (batch, tokens, tags), and gold tags, (batch, tokens).

    A tag id is IGNORED where it is unknown, and ANY_ERROR where only O is ruled out.
    """
    flat = gold.flatten()
    rows = logits.flatten(0, 1)
    is_error = flat == ANY_ERROR
    known_tags = flat.masked_fill(is_error, IGNORED)
    total = functional.cross_entropy(rows, known_tags, ignore_index=IGNORED, reduction="sum")
    any_error = rows.logsumexp(-1) - rows[:, bio.O + 1 :].logsumexp(-1)
    total = total + (any_error * is_error).sum()
    return total / (flat != IGNORED).sum().clamp(min=1)
