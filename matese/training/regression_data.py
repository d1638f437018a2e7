"""Batches for regression models: rows of tokens, and the texts of the segments that the rows belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from matese.encoder.encoding import Encoding, IntArray
from matese.inference.inputs import Inputs, Tensors, collate, padded
from matese.regression.interpreter import with_special_tokens
from matese.training.corpus import Corpus, Draw, Ints, labels_of_windows
from matese.training.targets import IGNORED


@dataclass(frozen=True, slots=True)
class RegressionBatch(Tensors):
    """Segments as tensors.

    Attributes:
        inputs: one row for each text, or for all texts of a segment for a unified model; a long one has several rows.
        tag_ids: (rows, hypothesis tokens), int64, IGNORED where unknown and for padding; None for texts without labels.
        weights: (texts, segments, rows), float32, share of each row in the hypothesis, and in each other text that is
            read alone, of each segment; the shares of a text add up to 1.
        scores: (segments,), float32, nan where unknown.
        groups: (segments,), int64, see `Draw`.
    """

    inputs: Inputs
    tag_ids: Tensor | None
    weights: Tensor
    scores: Tensor
    groups: Tensor


def make_batch(corpus: Corpus, draws: Sequence[Draw], *, is_unified: bool) -> RegressionBatch:
    """Returns a batch of segments; a unified model reads all texts of a segment in one row."""
    if is_unified:
        texts = [corpus.windows(draw) for draw in draws]
        read = [[number] for number in range(len(draws))]
    else:
        numbers: dict[int, int] = {}
        read = [[numbers.setdefault(text, len(numbers)) for text in corpus.read(draw)] for draw in draws]
        texts = [corpus.encoder.join(corpus.texts.tokens(text), [], None) for text in numbers]
    shares = np.zeros((len(texts), sum(map(len, texts))), np.float32)
    start = 0
    for number, windows in enumerate(texts):
        lengths = np.array([encoding.kept[1] - encoding.kept[0] for encoding in windows], np.float32)
        shares[number, start : start + len(windows)] = lengths / lengths.sum() if len(windows) > 1 else 1
        start += len(windows)
    tag_ids = None
    if is_unified:
        labels = [
            _labels(windows, corpus.labels.tag_ids[draw.segment]) for windows, draw in zip(texts, draws, strict=True)
        ]
        tag_ids = padded([row for rows in labels for row in rows], IGNORED)[0]
        texts = [with_special_tokens(windows) for windows in texts]
    return RegressionBatch(
        collate([encoding for windows in texts for encoding in windows], pad_id=corpus.encoder.pad_id),
        tag_ids,
        torch.from_numpy(shares[np.array(read).T]),
        torch.from_numpy(corpus.labels.scores[[draw.segment for draw in draws]]),
        torch.tensor([draw.group for draw in draws]),
    )


def _labels(windows: Sequence[Encoding], tag_ids: Ints) -> list[IntArray]:
    """Returns the labels of each window's tokens, including the special tokens around the hypothesis.

    These are labelled as free of errors, as in released models: part of their score depends on these labels.
    """
    filler = 0 if (tag_ids != IGNORED).any() else IGNORED
    n_special = int(windows[0].first > 0)
    return [np.pad(labels, n_special, constant_values=filler) for labels in labels_of_windows(tag_ids, windows)]
