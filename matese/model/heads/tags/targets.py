"""What the tags learn: the tag of each token of the hypothesis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor
from torch.nn import functional

from matese.annotation import Rating
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
from matese.model.heads.tags import bio
from matese.model.heads.tags.network import TagLogits
from matese.model.inputs import padded
from matese.model.texts.encoding import Encoding, Tokens

ANY_ERROR = -1
"""Label of tokens in an error of undecided severity."""
TagIds = npt.NDArray[np.int8]


class TagTargets(HeadTargets):
    """Learns "tag_ids": (batch, hypothesis tokens), int64, IGNORED where unknown and for padding."""

    name = "tags"
    output = TagLogits

    def columns(self, ratings: Sequence[Rating], tokens: Mapping[str, Tokens], skipped: Counter[str]) -> LabelColumns:
        """Returns the tags of each hypothesis; unknown where no error has a place."""
        labels = (
            np.full(len(each.ids), IGNORED, np.int8) if rating.unplaced and not rating.errors else tag_ids(rating, each)
            for rating, each in zip(ratings, of_hypotheses(ratings, tokens), strict=True)
        )
        return {"tag_ids": Ragged.of(labels, np.zeros(0, np.int8))}

    def missing(self, columns: LabelColumns) -> str | None:
        """Returns what is missing if no hypothesis has known tags."""
        return "no rating has spans" if (columns["tag_ids"].values == IGNORED).all() else None

    def example(self, columns: LabelColumns, place: ExampleWindow) -> Mapping[str, Any]:
        """Returns the tags of the window's tokens."""
        return {"tag_ids": place.of_tokens(columns["tag_ids"])}

    def collate(self, examples: Sequence[Mapping[str, Any]], encodings: Sequence[Encoding]) -> Mapping[str, Tensor]:
        """Returns the padded tags."""
        return {"tag_ids": padded([example["tag_ids"] for example in examples], IGNORED)[0]}

    def weights(self, training: Any) -> Mapping[str, float]:  # noqa: ANN401
        """Returns 1: the other losses are weighted against this one."""
        return {"tag": 1.0}

    def losses(self, output: TagLogits, targets: Mapping[str, Tensor], batch: LossInputs) -> Mapping[str, Tensor]:
        """Returns the cross-entropy."""
        return {"tag": cross_entropy(output.logits, targets["tag_ids"])}


def tag_ids(rating: Rating, tokens: Tokens) -> TagIds:
    """Returns the tag of each token of the hypothesis: ANY_ERROR for an error of undecided severity.

    IGNORED in a rating without spans.
    """
    if rating.errors is None:
        return np.full(len(tokens.ids), IGNORED, dtype=np.int8)
    labels = np.array(bio.from_spans(rating.errors, tokens.ranges.tolist()), dtype=np.int8)
    for span in rating.errors:
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
    known = flat.masked_fill(is_error, IGNORED)
    total = functional.cross_entropy(rows, known, ignore_index=IGNORED, reduction="sum")
    any_error = rows.logsumexp(-1) - rows[:, bio.O + 1 :].logsumexp(-1)
    total = total + (any_error * is_error).sum()
    return total / (flat != IGNORED).sum().clamp(min=1)
