"""Training examples, and their targets as tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from matese.model.heads.learning import HeadTargets
from matese.model.inputs import Inputs
from matese.model.inputs import collate as collate_inputs
from matese.model.texts.encoding import Encoding


class Example(NamedTuple):
    """A row to learn from.

    Attributes:
        encoding: encoding of a segment or window.
        labels: labels of all heads, by name, see their `targets`.
        group: number shared by translations of one source that are read alike; -1 for none.
        rater_group: number of the group of raters, see `matese.training.rater_bias`; 0 for no group.
    """

    encoding: Encoding
    labels: Mapping[str, Any]
    group: int = -1
    rater_group: int = 0


class Targets(NamedTuple):
    """The targets of a batch.

    Attributes:
        labels: targets of all heads, by name, see their `targets`.
        groups: (batch,), int64, see `Example`; (segments,) if examples are whole segments.
        rater_groups: (batch,), int64, see `Example`.
        shares: (texts, segments, rows), float32, share of each row in the hypothesis, and in each other text that is
            read alone, of each segment; the shares of a text add up to 1. None if each row is an example.
    """

    labels: dict[str, Tensor]
    groups: Tensor
    rater_groups: Tensor
    shares: Tensor | None = None


class Batch(NamedTuple):
    """Inputs of a model and their targets."""

    inputs: Inputs
    targets: Targets


def collate(examples: Sequence[Example], heads: Sequence[HeadTargets], *, pad_id: int) -> Batch:
    """Returns a batch of examples, which have the labels of these heads."""
    encodings = [example.encoding for example in examples]
    labels: dict[str, Tensor] = {}
    for head in heads:
        labels |= head.collate([example.labels for example in examples], encodings)
    targets = Targets(
        labels=labels,
        groups=torch.tensor([example.group for example in examples]),
        rater_groups=torch.tensor([example.rater_group for example in examples]),
    )
    return Batch(collate_inputs(encodings, pad_id=pad_id), targets)
