"""Assign segments to batches, as a pure function of the seed, the pass over the data and the device.

The only state is the number of finished batches, so a resumed run gets the same batches as an uninterrupted one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.utils.data import DataLoader, Dataset, Sampler

from matese.model.arrays import Ints
from matese.model.texts.encoding import InputKind, with_special_tokens
from matese.training.corpus import Corpus, Draw
from matese.training.targets import Batch, Example, collate


@dataclass(frozen=True)
class BatchLimits:
    """The size of batches, and this device's share of them.

    Attributes:
        batch_tokens: most padded tokens of a batch.
        longest: longest model input, in tokens.
        rank: number of the device.
        n_devices: number of devices.
    """

    batch_tokens: int
    longest: int
    rank: int = 0
    n_devices: int = 1


@dataclass(frozen=True)
class EpochPlan:
    """The batches of one pass over the data.

    Attributes:
        draws: the fields of `Draw` as columns of (segments,), sorted by length.
        batches: (batches, 2), first draw of each batch and one past its last, in training order.
    """

    draws: tuple[npt.NDArray[Any], ...]
    batches: Ints

    def __getitem__(self, batch: int) -> list[Draw]:
        part = slice(*self.batches[batch])
        return list(map(Draw, *(column[part].tolist() for column in self.draws)))


def input_lengths(corpus: Corpus, kinds: Ints, references: Ints, longest: int) -> Ints:
    """Returns the number of tokens that the model reads of each segment, at most `longest`: (segments,).

    Kinds are indices into the corpus' `inputs`, -1 for segments that are not read, references those of the references
    that are read; both are (segments,).
    """
    texts = corpus.texts
    lengths = corpus.texts.ids.lengths
    total = lengths[texts.hypotheses].copy()
    for number, kind in enumerate(corpus.inputs):
        rows = np.flatnonzero(kinds == number)
        if not len(rows):
            continue
        if "source" in kind:
            total[rows] += lengths[texts.sources[rows]]
        if "reference" in kind:
            places = texts.references.starts[rows] + references[rows]
            total[rows] += lengths[texts.references.values[places]]
        shortest = rows[total[rows].argmin()]
        window = corpus.windows(Draw(int(shortest), number, int(references[shortest]), 0.0))[0]
        # All segments have the same number of special tokens.
        total[rows] += max(0, len(window.ids) + window.n_decoded - total[shortest])
    return np.minimum(total, longest)


def cut_batches(sorted_lengths: Ints, batch_tokens: int) -> Ints:
    """Returns the first row and one past the last row of each batch: (batches, 2).

    A padded batch has at most `batch_tokens` tokens; a longer row gets a batch to itself. Lengths are (rows,).

    >>> cut_batches(np.array([2, 2, 3, 9]), 6).tolist()
    [[0, 2], [2, 3], [3, 4]]
    """
    cuts = [0]
    for row, length in enumerate(sorted_lengths.tolist()):
        if row > cuts[-1] and length * (row + 1 - cuts[-1]) > batch_tokens:
            cuts.append(row)
    return np.array(list(zip(cuts, [*cuts[1:], len(sorted_lengths)], strict=True)))


def draw_units(groups: Ints, originals: Ints, size: int, rng: np.random.Generator) -> Ints:
    """Returns the number of each segment's unit: (segments,). The segments of a unit are drawn together.

    A unit holds at most `size` segments of one group. A translation and its variants share a unit if they fit.

    >>> sorted(np.bincount(draw_units(np.array([7, 7, 7, 8]), np.arange(4), 2, np.random.default_rng(0))).tolist())
    [1, 1, 2]
    """
    by_original = rng.random(int(originals.max(initial=-1)) + 1)[originals]
    order = np.lexsort((rng.random(len(groups)), by_original, groups))
    is_first = np.diff(groups[order], prepend=-1) != 0
    places = np.arange(len(order))
    inside = places - np.maximum.accumulate(np.where(is_first, places, 0))
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = (inside % size == 0).cumsum() - 1
    return numbers


def plan_epoch(
    corpus: Corpus, limits: BatchLimits, *, seed: int, epoch: int, group_size: int = 1, part: int = 0
) -> EpochPlan:
    """Returns one pass over the data, with a random kind of input and a random reference for each segment.

    Segments that may not be read are left out. Segments that are drawn together share both. Batches of similar length
    are grouped, one for each device; the order of the groups is random. A part is that of `BatchStream.go_on`.
    """
    rng = np.random.default_rng([seed, part, epoch])
    usable = corpus.usable()
    is_read = usable.max(axis=1)
    unit = draw_units(corpus.groups, corpus.originals, group_size, rng)
    n_units = int(unit.max()) + 1
    # Choose a usable kind: the first column whose running count exceeds the drawn number.
    number = (rng.random(n_units)[unit] * usable.sum(1)).astype(np.int64)
    kinds = np.where(is_read, (usable.cumsum(1) > number[:, None]).argmax(1), -1)
    references = (rng.random(n_units)[unit] * corpus.n_references).astype(np.int64)
    windows = rng.random(len(corpus))
    lengths = np.zeros(n_units, dtype=np.int64)
    np.maximum.at(lengths, unit, input_lengths(corpus, kinds, references, limits.longest))
    # Units of one length are shuffled, so that batches differ from pass to pass.
    order = np.lexsort((rng.random(n_units)[unit], lengths[unit]))
    order = order[is_read[order]]
    batches = cut_batches(lengths[unit][order], limits.batch_tokens)
    # The last batch is repeated until every device has one.
    filled = np.concatenate([batches, np.repeat(batches[-1:], -len(batches) % limits.n_devices, axis=0)])
    groups = filled.reshape(-1, limits.n_devices, 2)
    shuffled = groups[rng.permutation(len(groups))].reshape(-1, 2)
    return EpochPlan((order, kinds[order], references[order], windows[order], unit[order]), shuffled)


class BatchStream(Sampler[list[Draw]]):
    """An endless stream of one device's batches, pass after pass, divided into periods of equal length.

    A period lies between two validations and is an epoch for Lightning. Its number of batches is fixed; that of a pass
    varies a little with the draws. From a batch on, the stream may go on with other data.

    Attributes:
        next_part: number of the first batch that needs other data, see `go_on`; None if no more are needed.
    """

    def __init__(self, corpus: Corpus, limits: BatchLimits, *, seed: int, group_size: int = 1) -> None:
        self._corpus = corpus
        self._limits = limits
        self._seed = seed
        self._group_size = group_size
        self._ends: list[int] = []
        self._planned: tuple[int, EpochPlan] | None = None
        self._part = 0
        self._first = 0
        self.next_part: int | None = None
        self.period_length = self.epoch_length
        self.period = self.done = 0

    @property
    def epoch_length(self) -> int:
        """Number of batches in the first pass, on each device."""
        return self._end(0)

    def set_epoch(self, epoch: int) -> None:
        """Moves to the start of a period unless the stream is already within it; called by Lightning."""
        if epoch != self.period:
            self.period = epoch
            self.done = 0

    @property
    def position(self) -> int:
        """Number of the next batch in the stream."""
        return self.period * self.period_length + self.done

    def go_on(self, corpus: Corpus) -> None:
        """Takes the batches from `next_part` on from other data."""
        assert self.next_part is not None
        self._corpus = corpus
        self._first = self.next_part
        self._part += 1
        self.next_part = None
        self._ends.clear()
        self._planned = None

    def __len__(self) -> int:
        return self.period_length

    def __iter__(self) -> Iterator[list[Draw]]:
        """Yields the batches up to the end of the period, or up to the first one that needs other data."""
        end = (self.period + 1) * self.period_length
        if self.next_part is not None:
            end = min(end, self.next_part)
        for number in range(self.position, end):
            yield self.batch(number)

    def batch(self, number: int) -> list[Draw]:
        """Returns the batch with this number in the stream."""
        number -= self._first
        epoch = 0
        while number >= self._end(epoch):
            epoch += 1
        inside = number - (self._end(epoch - 1) if epoch else 0)
        return self._plan(epoch)[inside * self._limits.n_devices + self._limits.rank]

    def _end(self, epoch: int) -> int:
        """Returns the number of the first batch after a pass."""
        while len(self._ends) <= epoch:
            n_batches = len(self._plan(len(self._ends)).batches) // self._limits.n_devices
            self._ends.append((self._ends[-1] if self._ends else 0) + n_batches)
        return self._ends[epoch]

    def _plan(self, epoch: int) -> EpochPlan:
        if self._planned is None or self._planned[0] != epoch:
            planned = plan_epoch(
                self._corpus,
                self._limits,
                seed=self._seed,
                epoch=epoch,
                group_size=self._group_size,
                part=self._part,
            )
            self._planned = epoch, planned
        return self._planned[1]


def make_batch(corpus: Corpus, draws: Sequence[Draw]) -> Batch:
    """Returns a batch of one row of each segment or, if a head reads whole segments, of all their rows."""
    if any(head.reads_segments for head in corpus.heads):
        return _whole_segments(corpus, draws)
    return collate([corpus.example(draw) for draw in draws], corpus.heads, pad_id=corpus.encoder.pad_id)


def _whole_segments(corpus: Corpus, draws: Sequence[Draw]) -> Batch:
    if corpus.config.texts.layout == "alone":
        # Each distinct text is read once.
        numbers: dict[int, int] = {}
        texts_of = [[numbers.setdefault(text, len(numbers)) for text in corpus.read(draw)] for draw in draws]
        tokens = map(corpus.texts.tokens, numbers)
        windows_of = [[Example(window, {}) for window in corpus.encoder.join(each, [], None)] for each in tokens]
    else:
        texts_of = [[number] for number in range(len(draws))]
        windows_of = list(map(corpus.examples, draws))
    texts = list(map(_with_special_tokens, windows_of))  # as in prediction
    shares = np.zeros((len(texts), sum(map(len, texts))), np.float32)
    start = 0
    for number, windows in enumerate(texts):
        lengths = np.array([window.encoding.kept[1] - window.encoding.kept[0] for window in windows], np.float32)
        shares[number, start : start + len(windows)] = lengths / lengths.sum() if len(windows) > 1 else 1
        start += len(windows)
    batch = collate([window for windows in texts for window in windows], corpus.heads, pad_id=corpus.encoder.pad_id)
    labels = dict(batch.targets.labels)
    for head in corpus.heads:
        labels |= head.of_segments(corpus.labels, [draw.segment for draw in draws])
    targets = batch.targets._replace(
        labels=labels,
        groups=torch.tensor([draw.group for draw in draws]),
        shares=torch.from_numpy(shares[np.array(texts_of).T]),
    )
    return batch._replace(targets=targets)


def _with_special_tokens(windows: Sequence[Example]) -> list[Example]:
    encodings = with_special_tokens([example.encoding for example in windows])
    return [example._replace(encoding=encoding) for example, encoding in zip(windows, encodings, strict=True)]


class _Batches(Dataset[Batch]):
    """Batches of a corpus by their draws, made on access."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    def __getitem__(self, draws: Sequence[Draw]) -> Batch:
        return make_batch(self.corpus, draws)


class TrainingLoader(DataLoader[Batch]):
    """Loads training batches and keeps the state that Lightning needs to resume within a period."""

    dataset: _Batches
    sampler: BatchStream

    def __init__(
        self,
        corpus: Corpus,
        stream: BatchStream,
        *,
        workers: int = 0,
        next_part: Callable[[int], Corpus] | None = None,
    ) -> None:
        """Creates the loader; `next_part` returns the data from `stream.next_part` on, given the next batch's number.

        It is called after the optimizer step of the batch before.
        """
        pins = torch.cuda.is_available()
        super().__init__(_Batches(corpus), sampler=stream, batch_size=None, num_workers=workers, pin_memory=pins)
        self._next_part = next_part

    def __iter__(self) -> Iterator[Batch]:  # type: ignore[override]  # no iterator of torch
        # A generator, so that workers start with the first batch: Lightning sets the period after iter(). It asks for a
        # batch when the step of the one before is over, because it knows the length.
        stream = self.sampler
        while stream.done < stream.period_length:
            if self._next_part is not None and stream.next_part is not None and stream.position >= stream.next_part:
                self.dataset.corpus = self._next_part(stream.position)
                stream.go_on(self.dataset.corpus)
            for batch in super().__iter__():
                stream.done += 1
                yield batch

    def state_dict(self) -> dict[str, int]:
        """Returns the position in the stream."""
        return {"period": self.sampler.period, "done": self.sampler.done}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Moves to a saved position."""
        self.sampler.period = state["period"]
        self.sampler.done = state["done"]


def draws_by_length(
    corpus: Corpus, inputs: InputKind, is_read: npt.NDArray[np.bool_], limits: BatchLimits
) -> Iterator[list[Draw]]:
    """Yields the segments that are read, with their first reference, in batches of similar length."""
    number = corpus.inputs.index(inputs)
    groups = corpus.groups.tolist()
    segments = np.flatnonzero(is_read)
    kinds = np.where(is_read, number, -1)
    lengths = input_lengths(corpus, kinds, np.zeros_like(kinds), limits.longest)[segments]
    order = np.argsort(lengths, kind="stable")
    for start, end in cut_batches(lengths[order], limits.batch_tokens):
        yield [Draw(segment, number, 0, 0.0, groups[segment]) for segment in segments[order[start:end]].tolist()]


def dev_loader(corpus: Corpus, inputs: InputKind, limits: BatchLimits) -> DataLoader[list[Draw]]:
    """Returns one device's share of the segments with the texts for `inputs`, in batches of similar length."""
    is_usable = corpus.usable()[:, corpus.inputs.index(inputs)]
    batches = list(draws_by_length(corpus, inputs, is_usable, limits))
    # Every device needs a batch. Figures are shares and correlations, so a segment may count on several devices.
    share: Any = batches[limits.rank :: limits.n_devices] if len(batches) >= limits.n_devices else batches
    return DataLoader(share, batch_size=None)
