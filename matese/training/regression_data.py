"""Batches for regression models: rows of tokens, and the texts or segments that the rows belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from matese.encoder.encoding import Encoding, IntArray
from matese.inference.inputs import Inputs, Tensors, collate, padded, present
from matese.regression.interpreter import with_special_tokens
from matese.training.corpus import Corpus, Draw, Ints, labels_of_windows
from matese.training.targets import IGNORED


@dataclass(frozen=True, slots=True)
class RegressionBatch(Tensors):
    """Segments as tensors. A *text* is one model input: a single text, or all texts of a segment for a unified model.

    Attributes:
        inputs: one row for each text, or for each window of a long text.
        tag_ids: (rows, hypothesis tokens), int64, IGNORED where unknown and for padding; None for texts without labels.
        owners: (rows,), int64, the text that a row belongs to.
        shares: (rows,), float32, weight of a row in its text; the weights of a text add up to 1.
        hypotheses: (segments,), int64, the text of each hypothesis, or of each segment for a unified model.
        sources: (segments,), int64, the text of each source; None if sources are not read, or not alone.
        references: (segments,), int64, the text of each reference; None if references are not read, or not alone.
        scores: (segments,), float32, nan where unknown.
        groups: (segments,), int64, see `Draw`.
    """

    inputs: Inputs
    tag_ids: Tensor | None
    owners: Tensor
    shares: Tensor
    hypotheses: Tensor
    sources: Tensor | None
    references: Tensor | None
    scores: Tensor
    groups: Tensor


def make_batch(corpus: Corpus, draws: Sequence[Draw], *, is_unified: bool) -> RegressionBatch:
    """Returns a batch of segments.

    Args:
        corpus: the segments.
        draws: how the segments are read.
        is_unified: whether the model reads all texts of a segment in one row.
    """
    texts: list[tuple[list[Encoding], Ints | None]] = []
    columns: dict[str, list[int]] = {"hypothesis": [], "source": [], "reference": []}
    if is_unified:
        texts = [(corpus.windows(draw), corpus.labels.tag_ids[draw.segment]) for draw in draws]
        columns["hypothesis"] = list(range(len(draws)))
    else:
        places: dict[int, int] = {}
        for draw in draws:
            for role, text in corpus.read(draw):
                columns[role].append(places.setdefault(text, len(places)))
        texts = [(corpus.encoder.join(corpus.texts.tokens(text), [], None), None) for text in places]
    rows: list[tuple[Encoding, IntArray | None]] = []
    owners: list[int] = []
    shares: list[float] = []
    for number, (windows, tag_ids) in enumerate(texts):
        text_rows = _rows(windows, tag_ids)
        rows += text_rows
        owners += [number] * len(text_rows)
        lengths = np.array([encoding.kept[1] - encoding.kept[0] for encoding in windows], np.float32)
        shares += (lengths / lengths.sum()).tolist() if len(text_rows) > 1 else [1.0]
    index = {role: torch.tensor(column) if column else None for role, column in columns.items()}
    assert index["hypothesis"] is not None
    return RegressionBatch(
        collate([encoding for encoding, _ in rows], pad_id=corpus.encoder.pad_id),
        padded([present(labels) for _, labels in rows], IGNORED)[0] if is_unified else None,
        torch.tensor(owners),
        torch.tensor(shares),
        index["hypothesis"],
        index["source"],
        index["reference"],
        torch.from_numpy(corpus.labels.scores[[draw.segment for draw in draws]]),
        torch.tensor([draw.group for draw in draws]),
    )


def _rows(windows: Sequence[Encoding], tag_ids: Ints | None) -> list[tuple[Encoding, IntArray | None]]:
    """Returns the rows of a text, with the labels of a hypothesis' tokens where known.

    The special tokens around the hypothesis are labelled as free of errors, as in released models: part of their score
    depends on these labels.
    """
    if tag_ids is None:
        return [(encoding, None) for encoding in windows]
    rows: list[tuple[Encoding, IntArray | None]] = []
    filler = 0 if (tag_ids != IGNORED).any() else IGNORED
    read = zip(with_special_tokens(windows), labels_of_windows(tag_ids, windows), strict=True)
    for encoding, labels in read:
        n_special = (len(encoding.ranges) - len(labels)) // 2
        rows.append((encoding, np.pad(labels, n_special, constant_values=filler)))
    return rows
