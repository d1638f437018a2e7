"""Batches for regression models: rows of tokens, and how the texts or readings of segments are made up of rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from matese.encoder.encoding import Encoding, Inputs, IntArray
from matese.regression.predictor import with_special_tokens
from matese.tagger.batch import IGNORED, Batch, Example, FloatArray, collate
from matese.training.batching import Limits, dev_batches
from matese.training.data import Corpus, Draw


@dataclass(frozen=True, slots=True)
class RegressionBatch:
    """Segments as tensors. A *text* is what is encoded alone: a text, or all texts of a segment for a unified model.

    Attributes:
        rows: one row for each text, or for each window of a long one.
        owners: (rows,), int64, the text that a row belongs to.
        shares: (rows,), float32, the part of the text that a row stands for; they add up to 1.
        hypotheses: (segments,), int64, the text of each hypothesis, or of each segment for a unified model.
        sources: (segments,), int64, likewise; None if sources are not read, or not alone.
        references: (segments,), int64, likewise.
        scores: (segments,), float32, nan where unknown.
        groups: (segments,), int64, see `Draw`.
    """

    rows: Batch
    owners: Tensor
    shares: Tensor
    hypotheses: Tensor
    sources: Tensor | None
    references: Tensor | None
    scores: Tensor
    groups: Tensor

    def to(self, device: torch.device) -> RegressionBatch:
        """Returns the batch on a device."""
        moved = {
            field.name: value.to(device, non_blocking=True)
            for field in dataclasses.fields(self)
            if isinstance(value := getattr(self, field.name), Tensor)
        }
        return replace(self, rows=self.rows.to(device), **moved)

    def pin_memory(self) -> RegressionBatch:
        """Returns the batch with its rows in page-locked memory; torch's data loader calls this."""
        return replace(self, rows=self.rows.pin_memory())


def make_batch(corpus: Corpus, draws: Sequence[Draw], *, is_unified: bool) -> RegressionBatch:
    """Returns a batch of segments.

    Args:
        corpus: the segments.
        draws: how they are read.
        is_unified: whether the model reads all texts of a segment in one row.
    """
    texts: list[tuple[list[Encoding], IntArray | None, FloatArray | None]] = []
    columns: dict[str, list[int]] = {"hypothesis": [], "source": [], "reference": []}
    if is_unified:
        texts = [(corpus.windows(draw), corpus.tags(draw.segment), corpus.soft_labels(draw.segment)) for draw in draws]
        columns["hypothesis"] = list(range(len(draws)))
    else:
        places: dict[int, int] = {}
        for draw in draws:
            for role, text in _texts(corpus, draw):
                columns[role].append(places.setdefault(text, len(places)))
        texts = [(corpus.encoder.join(corpus.texts[text], [], None), None, None) for text in places]
    examples: list[Example] = []
    owners: list[int] = []
    shares: list[float] = []
    for number, (windows, tag_ids, soft) in enumerate(texts):
        made = _examples(windows, tag_ids, soft)
        examples += made
        owners += [number] * len(made)
        lengths = np.array([encoding.kept[1] - encoding.kept[0] for encoding in windows], np.float32)
        shares += (lengths / lengths.sum()).tolist() if len(made) > 1 else [1.0]
    index = {role: torch.tensor(column) if column else None for role, column in columns.items()}
    assert index["hypothesis"] is not None
    return RegressionBatch(
        collate(examples, pad_id=corpus.encoder.pad_id),
        torch.tensor(owners),
        torch.tensor(shares),
        index["hypothesis"],
        index["source"],
        index["reference"],
        torch.from_numpy(corpus.scores[[draw.segment for draw in draws]]),
        torch.tensor([draw.group for draw in draws]),
    )


def _texts(corpus: Corpus, draw: Draw) -> list[tuple[str, int]]:
    """Returns the role and the number in the corpus of each text of a segment that the model reads."""
    kind = corpus.inputs[draw.inputs].split("+")
    found = [("hypothesis", int(corpus.hypotheses[draw.segment]))]
    if "source" in kind:
        found.append(("source", int(corpus.sources[draw.segment])))
    if "reference" in kind:
        first = corpus.reference_starts[draw.segment]
        found.append(("reference", int(corpus.references[first + draw.reference])))
    return found


def _examples(windows: Sequence[Encoding], tag_ids: IntArray | None, soft: FloatArray | None) -> list[Example]:
    """Returns the rows of a text, with the labels of a hypothesis' tokens, or their probabilities, where known.

    The special tokens around the hypothesis are labelled as free of errors, as released models label them: part of
    their score depends on it.
    """
    if tag_ids is None:
        return [Example(encoding) for encoding in windows]
    examples, start = [], 0
    for window, encoding in zip(windows, with_special_tokens(windows), strict=True):
        end = start + window.kept[1] - window.kept[0]
        labels = np.full(len(encoding.ranges), IGNORED, np.int32)
        n_special = (len(encoding.ranges) - len(window.ranges)) // 2
        kept = slice(window.kept[0] + n_special, window.kept[1] + n_special)
        labels[kept] = tag_ids[start:end]
        if n_special and (tag_ids != IGNORED).any():
            labels[[0, -1]] = 0
        probabilities = None
        if soft is not None:
            probabilities = np.full((len(labels), soft.shape[1]), np.nan, np.float32)
            probabilities[kept] = soft[start:end]
        examples.append(Example(encoding, labels, soft=probabilities))
        start = end
    return examples


class _DevBatches(Dataset[RegressionBatch]):
    def __init__(self, corpus: Corpus, batches: Sequence[Sequence[int]], inputs: int, *, is_unified: bool) -> None:
        self._corpus, self._batches, self._inputs, self._is_unified = corpus, batches, inputs, is_unified

    def __len__(self) -> int:
        return len(self._batches)

    def __getitem__(self, number: int) -> RegressionBatch:
        groups = self._corpus.groups
        draws = [Draw(segment, self._inputs, 0, 0.0, int(groups[segment])) for segment in self._batches[number]]
        return make_batch(self._corpus, draws, is_unified=self._is_unified)


def dev_loader(corpus: Corpus, inputs: Inputs, limits: Limits, *, is_unified: bool) -> DataLoader[RegressionBatch]:
    """Returns one device's share of the dev data for one kind of input; of several references, the first is read."""
    batches = dev_batches(corpus, inputs, limits)
    number = corpus.inputs.index(inputs)
    return DataLoader(_DevBatches(corpus, batches, number, is_unified=is_unified), batch_size=None)
