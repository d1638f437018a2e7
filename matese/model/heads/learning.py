"""The interface of what a head learns: its labels from ratings, its targets in a batch, and its losses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from matese.annotation import ErrorSpan, Omission, Rating
from matese.model.arrays import Int32Array, Ints
from matese.model.config import ModelConfig
from matese.model.heads.tags import bio
from matese.model.inputs import Inputs, padded
from matese.model.texts.encoding import Encoding, Tokens

IGNORED = -100
"""Label of tokens that the loss ignores: the default of torch's cross-entropy loss."""


@dataclass(frozen=True)
class Ragged:
    """Rows of different lengths, one after the other.

    Attributes:
        values: values of all rows, concatenated.
        starts: (rows + 1,), int64, index of each row's first value, and the number of values.
    """

    values: Ints
    starts: Ints

    @classmethod
    def of(cls, rows: Iterable[npt.ArrayLike], empty: Ints) -> Ragged:
        """Returns the rows; `empty` determines type and shape if there are no rows."""
        arrays = [empty, *(np.asarray(row, dtype=empty.dtype) for row in rows)]
        return cls(np.concatenate(arrays), np.array([len(array) for array in arrays], dtype=np.int64).cumsum())

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> Ints:
        return self.values[self.starts[row] : self.starts[row + 1]]

    @property
    def lengths(self) -> Ints:
        """Number of values of each row: (rows,)."""
        return np.diff(self.starts)


LabelColumns = Mapping[str, Any]
"""The labels of all segments by name, each a `Ragged` or an array; those of all heads share one mapping."""


class ExampleWindow(NamedTuple):
    """The segment and the window of it that becomes an example.

    Attributes:
        segment: number of the segment.
        reference: number of the reference that is the last context; None for the source.
        windows: the windows of the segment.
        number: which of them.
    """

    segment: int
    reference: int | None
    windows: Sequence[Encoding]
    number: int

    @property
    def encoding(self) -> Encoding:
        """The window."""
        return self.windows[self.number]

    @property
    def is_whole(self) -> bool:
        """Whether the window holds the whole hypothesis."""
        return len(self.windows) == 1

    def of_tokens(self, labels: Ragged) -> Int32Array:
        """Returns the labels of the window's tokens from those of all hypotheses."""
        return labels_of_windows(labels[self.segment], self.windows)[self.number]


class LossInputs(NamedTuple):
    """What losses depend on besides output and targets.

    Attributes:
        inputs: the model's input.
        groups: (batch,), int64, number shared by translations of one source that are read alike; -1 for none.
        training: settings of the training, see `matese.training.config.TrainingConfig`.
        shares: see `vectors_of`; None if each row is an example.
        score: returns the scores of segments from such vectors, see `matese.model.network.Network.score`.
    """

    inputs: Inputs
    groups: Tensor
    training: Any
    shares: Tensor | None
    score: Callable[[Tensor], Tensor]


def vectors_of(rows: Tensor, shares: Tensor | None) -> Tensor:
    """Returns the vector of each text of each segment, (texts, segments, n), with windows joined as in prediction.

    Args:
        rows: the vector of each row, (rows, n).
        shares: (texts, segments, rows), share of each row in the hypothesis, and in each other text that is read alone.
    """
    assert shares is not None
    with torch.autocast(rows.device.type, enabled=False):
        return shares @ rows


class HeadTargets(ABC):
    """What a head learns.

    Attributes:
        name: of the head.
        output: type of what the head says of a batch, in torch.
        reads_segments: whether an example is a whole segment, of one or more rows; otherwise, it is one row.
        config: settings of the model.
    """

    name: ClassVar[str]
    output: ClassVar[type]
    reads_segments: ClassVar[bool] = False
    config: ModelConfig

    def __init__(self, config: ModelConfig) -> None:
        self.config = config

    def judges(self, rating: Rating) -> bool:
        """Whether a rating without spans teaches the head something."""
        return False

    @abstractmethod
    def columns(self, ratings: Sequence[Rating], tokens: Mapping[str, Tokens], skipped: Counter[str]) -> LabelColumns:
        """Returns the labels of all segments.

        Args:
            ratings: the ratings; one that must not teach the head has neither errors (None) nor a judgement.
            tokens: of each text.
            skipped: counts of what is not learned, by reason; the head adds its own.
        """

    def missing(self, columns: LabelColumns) -> str | None:
        """Returns what the training data lack if the head can learn nothing from them; None if it can."""
        return None

    def example(self, columns: LabelColumns, place: ExampleWindow) -> Mapping[str, Any]:
        """Returns the labels of a row, by name; none by default."""
        return {}

    def collate(self, examples: Sequence[Mapping[str, Any]], encodings: Sequence[Encoding]) -> Mapping[str, Tensor]:
        """Returns the targets of a batch of rows, by name; none by default."""
        return {}

    def of_segments(self, columns: LabelColumns, segments: Sequence[int]) -> Mapping[str, Tensor]:
        """Returns the targets of a batch of whole segments, by name; none by default."""
        return {}

    @abstractmethod
    def weights(self, training: Any) -> Mapping[str, float]:  # noqa: ANN401  (TrainingConfig, which is above)
        """Returns the weight of each loss, by name."""

    @abstractmethod
    def losses(self, output: Any, targets: Mapping[str, Tensor], batch: LossInputs) -> Mapping[str, Tensor]:  # noqa: ANN401
        """Returns each loss, in the order of `weights`.

        Args:
            output: what the head says.
            targets: of all heads, by name.
            batch: what else the losses depend on.
        """


class TokenTargets(HeadTargets):
    """Learns a label of each token of the hypothesis: (batch, hypothesis tokens), int64.

    It is IGNORED where it is unknown, and for padding.

    Attributes:
        column: name of the labels.
    """

    column: ClassVar[str] = "tag_ids"

    @abstractmethod
    def labels(self, rating: Rating, tokens: Tokens) -> Ints:
        """Returns the labels of a hypothesis: (tokens,)."""

    def columns(self, ratings: Sequence[Rating], tokens: Mapping[str, Tokens], skipped: Counter[str]) -> LabelColumns:
        """Returns the labels of each hypothesis."""
        labels = map(self.labels, ratings, of_hypotheses(ratings, tokens))
        return {self.column: Ragged.of(labels, np.zeros(0, np.int16))}

    def example(self, columns: LabelColumns, place: ExampleWindow) -> Mapping[str, Any]:
        """Returns the labels of the window's tokens."""
        return {self.column: place.of_tokens(columns[self.column])}

    def collate(self, examples: Sequence[Mapping[str, Any]], encodings: Sequence[Encoding]) -> Mapping[str, Tensor]:
        """Returns the padded labels."""
        return {self.column: padded([example[self.column] for example in examples], IGNORED)[0]}


def labels_of_windows(labels: Ints, windows: Sequence[Encoding]) -> list[Int32Array]:
    """Returns the labels of each window's tokens, IGNORED for tokens whose labels are used in another window.

    The labels are those of the whole hypothesis, (tokens,).
    """
    window_labels = []
    start = 0
    for window in windows:
        first, last = window.kept
        of_window = np.full(len(window.ranges), IGNORED, dtype=np.int32)
        of_window[first:last] = labels[start : start + last - first]
        window_labels.append(of_window)
        start += last - first
    return window_labels


def within(span: ErrorSpan | Omission, tokens: Tokens) -> list[int]:
    """Returns the positions of a span's tokens."""
    return list(bio.tokens_within(span.start, span.end, tokens.ranges.tolist()))


def of_hypotheses(ratings: Iterable[Rating], tokens: Mapping[str, Tokens]) -> list[Tokens]:
    """Returns the tokens of each rated hypothesis."""
    return [tokens[rating.segment.hypothesis] for rating in ratings]
