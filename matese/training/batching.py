"""Which segments stand in which batch: a pure function of the seed, the pass over the data and the device.

Nothing is remembered between batches but their number, so that a resumed run meets the batches it would have met.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, Sampler

from matese.encoder.encoding import Encoding
from matese.tagger.batch import Batch, Example, collate
from matese.training.data import Corpus, Draw
from matese.training.texts import Ints


@dataclass(frozen=True)
class Plan:
    """One pass over the data.

    Attributes:
        draws: how each segment is read, in the order of length.
        batches: (batches, 2): first and one past the last of the draws of each, in the order of training.
    """

    draws: tuple[Ints, Ints, Ints, np.ndarray[Any, np.dtype[np.float64]], Ints]
    batches: Ints

    def __getitem__(self, batch: int) -> list[Draw]:
        part = slice(*self.batches[batch])
        columns = [column[part].tolist() for column in self.draws]
        return [Draw(*row) for row in zip(*columns, strict=True)]


def widths(corpus: Corpus, kinds: Ints, references: Ints, longest: int) -> Ints:
    """Returns how many tokens the model reads of each segment: (segments,)."""
    lengths = corpus.texts.lengths
    total = lengths[corpus.hypotheses].copy()
    for number, kind in enumerate(corpus.inputs):
        chosen = np.flatnonzero(kinds == number)
        if not len(chosen):
            continue
        if "source" in kind:
            total[chosen] += lengths[corpus.sources[chosen]]
        if "reference" in kind:
            total[chosen] += lengths[corpus.references[corpus.reference_starts[chosen] + references[chosen]]]
        shortest = chosen[total[chosen].argmin()]
        window = corpus.windows(Draw(int(shortest), number, int(references[shortest]), 0.0))[0]
        # Special tokens are the same in number for all segments.
        total[chosen] += max(0, _n_tokens(window) - total[shortest])
    return np.minimum(total, longest)


def _n_tokens(encoding: Encoding) -> int:
    return len(encoding.ids) + (0 if encoding.decoder_ids is None else len(encoding.decoder_ids))


def cut(sorted_widths: Ints, batch_tokens: int) -> Ints:
    """Returns first and one past the last row of each batch, so that padded batches keep within a budget.

    A row wider than the budget is a batch of its own.

    Args:
        sorted_widths: tokens of each row, ascending.
        batch_tokens: the budget.

    >>> cut(np.array([2, 2, 3, 9]), 6).tolist()
    [[0, 2], [2, 3], [3, 4]]
    """
    cuts = [0]
    for row, width in enumerate(sorted_widths.tolist()):
        if row > cuts[-1] and width * (row + 1 - cuts[-1]) > batch_tokens:
            cuts.append(row)
    return np.array(list(zip(cuts, [*cuts[1:], len(sorted_widths)], strict=True)))


def units(groups: Ints, siblings: Ints, size: int, rng: np.random.Generator) -> Ints:
    """Returns which segments are drawn together: (segments,), a number for each unit of at most `size` of one group.

    Siblings, which are of one group, stand side by side in it.

    >>> sorted(np.bincount(units(np.array([7, 7, 7, 8]), np.arange(4), 2, np.random.default_rng(0))).tolist())
    [1, 1, 2]
    """
    of_siblings = rng.random(int(siblings.max(initial=-1)) + 1)[siblings]
    order = np.lexsort((rng.random(len(groups)), of_siblings, groups))
    is_first = np.diff(groups[order], prepend=-1) != 0
    places = np.arange(len(order))
    inside = places - np.maximum.accumulate(np.where(is_first, places, 0))
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = (inside % size == 0).cumsum() - 1
    return numbers


def plan(
    corpus: Corpus, *, batch_tokens: int, longest: int, seed: int, epoch: int, n_devices: int, group_size: int = 1
) -> Plan:
    """Returns one pass over the data: for each segment one kind of input and one reference, both at random.

    Segments that are drawn together have both in common. Batches of similar length stand together, one for each device;
    the order of these groups is random.
    """
    rng = np.random.default_rng([seed, epoch])
    usable = corpus.usable()
    unit = units(corpus.groups, corpus.siblings, group_size, rng)
    n_units = int(unit.max()) + 1
    # The drawn number among the usable kinds: the first column whose running count exceeds it.
    number = (rng.random(n_units)[unit] * usable.sum(1)).astype(np.int64)
    kinds = (usable.cumsum(1) > number[:, None]).argmax(1)
    references = (rng.random(n_units)[unit] * corpus.n_references).astype(np.int64)
    windows = rng.random(len(corpus))
    lengths = np.zeros(n_units, dtype=np.int64)
    np.maximum.at(lengths, unit, widths(corpus, kinds, references, longest))
    # Units of one length stand in a random order, so that they meet others each time.
    order = np.lexsort((rng.random(n_units)[unit], lengths[unit]))
    batches = cut(lengths[unit][order], batch_tokens)
    # The last batch is repeated until each device has one.
    filled = np.concatenate([batches, np.repeat(batches[-1:], -len(batches) % n_devices, axis=0)])
    groups = filled.reshape(-1, n_devices, 2)
    shuffled = groups[rng.permutation(len(groups))].reshape(-1, 2)
    return Plan((order, kinds[order], references[order], windows[order], unit[order]), shuffled)


class BatchStream(Sampler[list[Draw]]):
    """One device's batches, pass after pass without end, dealt out in periods of equal length.

    A period is what lies between two validations. The number of batches of a pass varies a little with what is
    drawn, that of a period does not.
    """

    def __init__(
        self,
        corpus: Corpus,
        *,
        batch_tokens: int,
        longest: int,
        seed: int,
        rank: int = 0,
        n_devices: int = 1,
        group_size: int = 1,
    ) -> None:
        self._corpus, self._batch_tokens, self._longest, self._seed = corpus, batch_tokens, longest, seed
        self._group_size = group_size
        self._rank, self._n_devices = rank, n_devices
        self._ends: list[int] = []
        self._planned: tuple[int, Plan] | None = None
        self.period_length = self.epoch_length
        self.period = self.done = 0

    @property
    def epoch_length(self) -> int:
        """Batches of the first pass on each device."""
        return self._end(0)

    def set_epoch(self, epoch: int) -> None:
        """Goes to the beginning of a period, if not already within; Lightning takes a period for an epoch."""
        if epoch != self.period:
            self.period, self.done = epoch, 0

    def __len__(self) -> int:
        return self.period_length

    def __iter__(self) -> Iterator[list[Draw]]:
        start = self.period * self.period_length
        for number in range(start + self.done, start + self.period_length):
            yield self.batch(number)

    def batch(self, number: int) -> list[Draw]:
        """Returns a batch of the stream."""
        epoch = 0
        while number >= self._end(epoch):
            epoch += 1
        inside = number - (self._end(epoch - 1) if epoch else 0)
        return self._plan(epoch)[inside * self._n_devices + self._rank]

    def _end(self, epoch: int) -> int:
        """Returns one past the number of the last batch of a pass."""
        while len(self._ends) <= epoch:
            n_batches = len(self._plan(len(self._ends)).batches) // self._n_devices
            self._ends.append((self._ends[-1] if self._ends else 0) + n_batches)
        return self._ends[epoch]

    def _plan(self, epoch: int) -> Plan:
        if self._planned is None or self._planned[0] != epoch:
            made = plan(
                self._corpus,
                batch_tokens=self._batch_tokens,
                longest=self._longest,
                seed=self._seed,
                epoch=epoch,
                n_devices=self._n_devices,
                group_size=self._group_size,
            )
            self._planned = epoch, made
        return self._planned[1]


class _Collated(Dataset[Batch]):
    """Makes batches of draws."""

    def __init__(self, corpus: Corpus, pad_id: int) -> None:
        self._corpus, self._pad_id = corpus, pad_id

    def __getitem__(self, draws: Sequence[Draw]) -> Batch:
        examples: list[Example] = [self._corpus.example(draw) for draw in draws]
        return collate(examples, pad_id=self._pad_id)


class TrainingLoader:
    """Batches to learn from, with the state by which Lightning resumes in the middle of a period."""

    def __init__(self, corpus: Corpus, stream: BatchStream, *, pad_id: int, workers: int = 0) -> None:
        self.sampler = stream
        self._loader = DataLoader(
            _Collated(corpus, pad_id),
            sampler=stream,
            batch_size=None,
            num_workers=workers,
            pin_memory=torch.cuda.is_available(),
        )

    def __len__(self) -> int:
        return len(self.sampler)

    def __iter__(self) -> Iterator[Batch]:
        # A generator, so that workers start when the first batch is asked for: Lightning sets the period after iter().
        for batch in self._loader:
            self.sampler.done += 1
            yield batch

    def state_dict(self) -> dict[str, int]:
        """Returns where in the stream the trainer is."""
        return {"period": self.sampler.period, "done": self.sampler.done}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Goes where another loader was."""
        self.sampler.period, self.sampler.done = state["period"], state["done"]
