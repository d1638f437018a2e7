"""Training examples of a tagger, and their targets as tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from matese.model.inputs import Inputs, Tensors, padded
from matese.model.inputs import collate as collate_inputs
from matese.model.texts.encoding import Encoding, IntArray

IGNORED = -100
"""Tag id of tokens that the loss ignores: the default of torch's cross-entropy loss."""
ANY_ERROR = -1
"""Tag id of tokens in an error of undecided severity."""


@dataclass(frozen=True, slots=True)
class Example:
    """A row to learn from.

    Attributes:
        encoding: encoding of a segment or window.
        tag_ids: (hypothesis tokens,).
        score: MQM score of the segment; nan without one.
        group: number shared by translations of one source that are read alike; -1 for none.
        rater_group: number of the group of raters, see `matese.training.rater_bias`; 0 for no group.
        omissions: (tokens of the last context,), 1 where the hypothesis lacks a token, else 0; None where unknown.
        category_ids: (hypothesis tokens,), the number of the error in the segment times the number of categories, plus
            the category's index in `mqm.CATEGORIES`; IGNORED outside errors with a known category; None if not learned.
        meaning_ids: (hypothesis tokens,), 1 in an error of meaning, else 0, IGNORED where unknown; None if not learned.
        has_meaning_error: 1 with an error of meaning, 0 without one, nan where unknown.
    """

    encoding: Encoding
    tag_ids: IntArray
    score: float = math.nan
    group: int = -1
    rater_group: int = 0
    omissions: IntArray | None = None
    category_ids: IntArray | None = None
    meaning_ids: IntArray | None = None
    has_meaning_error: float = math.nan


@dataclass(frozen=True, slots=True)
class Targets(Tensors):
    """The targets of a batch, for each head and loss.

    Attributes:
        tag_ids: (batch, hypothesis tokens), int64, IGNORED for padding.
        scores: (batch,), float32, nan without a score.
        groups: (batch,), int64, see `Example`.
        rater_groups: (batch,), int64, see `Example`.
        omissions: (batch, tokens), int64, 1 for tokens of the last context that the hypothesis lacks, 0 for its other
            tokens, IGNORED elsewhere and where unknown; None if nothing is known.
        category_ids: (batch, hypothesis tokens), int64, see `Example`, IGNORED for padding; None if not learned.
        meaning_ids: (batch, hypothesis tokens), int64, see `Example`, IGNORED for padding; None if not learned.
        has_meaning_error: (batch,), float32, see `Example`; None if not learned.
    """

    tag_ids: Tensor
    scores: Tensor
    groups: Tensor
    rater_groups: Tensor
    omissions: Tensor | None
    category_ids: Tensor | None
    meaning_ids: Tensor | None = None
    has_meaning_error: Tensor | None = None


@dataclass(frozen=True, slots=True)
class Batch(Tensors):
    """Inputs of a model and their targets."""

    inputs: Inputs
    targets: Targets


def collate(examples: Sequence[Example], *, pad_id: int) -> Batch:
    """Returns a batch of examples; all or none must have category ids."""
    inputs = collate_inputs([example.encoding for example in examples], pad_id=pad_id)
    category_ids = None
    if examples[0].category_ids is not None:
        category_ids, _ = padded([example.category_ids for example in examples], IGNORED)
    meaning_ids = None
    has_meaning_error = None
    if examples[0].meaning_ids is not None:
        meaning_ids, _ = padded([example.meaning_ids for example in examples], IGNORED)
        has_meaning_error = torch.tensor([example.has_meaning_error for example in examples], dtype=torch.float32)
    targets = Targets(
        tag_ids=padded([example.tag_ids for example in examples], IGNORED)[0],
        scores=torch.tensor([example.score for example in examples], dtype=torch.float32),
        groups=torch.tensor([example.group for example in examples]),
        rater_groups=torch.tensor([example.rater_group for example in examples]),
        omissions=_omissions(examples, inputs.ids.shape),
        category_ids=category_ids,
        meaning_ids=meaning_ids,
        has_meaning_error=has_meaning_error,
    )
    return Batch(inputs, targets)


def _omissions(examples: Sequence[Example], shape: torch.Size) -> Tensor | None:
    """Returns `Targets.omissions`; None if nothing is known of any example."""
    if all(example.omissions is None for example in examples):
        return None
    known = torch.full(shape, IGNORED)
    for row, example in enumerate(examples):
        if example.omissions is not None and example.encoding.context is not None:
            first = example.encoding.context.first
            known[row, first : first + len(example.omissions)] = torch.from_numpy(example.omissions)
    return known
