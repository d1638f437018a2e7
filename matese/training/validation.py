"""Validation: batches of the dev data, and macro-F1 of tags, span hits and correlation of scores on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset
from torchmetrics import Metric
from torchmetrics.classification import MulticlassF1Score
from torchmetrics.regression import PearsonCorrCoef

from matese.annotation import Rating
from matese.encoder.encoding import Encoding, Inputs
from matese.evaluation.spans.span_hit import SpanHitCounts, span_hit
from matese.tagger.batch import IGNORED, Batch, Example, collate
from matese.tagger.decoding import decode
from matese.tagger.model import TaggerOutput
from matese.tagger.prediction import join_windows, score_of_tags
from matese.tagger.tags import TAGS, O
from matese.training.batching import Limits, dev_batches
from matese.training.data import Corpus, Draw


@dataclass(frozen=True)
class DevBatch:
    """Segments as tensors, with their gold ratings.

    Attributes:
        batch: one row for each window of each segment.
        windows: the windows of each segment.
        ratings: the gold rating of each segment.
    """

    batch: Batch
    windows: tuple[tuple[Encoding, ...], ...]
    ratings: tuple[Rating, ...]

    def to(self, device: torch.device) -> DevBatch:
        """Returns the batch with its tensors on a device."""
        return replace(self, batch=self.batch.to(device))


class _DevBatches(Dataset[DevBatch]):
    """Batches of the segments that have the texts of one kind of input; of several references, the first is read."""

    def __init__(self, corpus: Corpus, batches: Sequence[Sequence[int]], inputs: int) -> None:
        self._corpus, self._batches, self._inputs = corpus, batches, inputs

    def __len__(self) -> int:
        return len(self._batches)

    def __getitem__(self, number: int) -> DevBatch:
        segments = self._batches[number]
        windows, examples = [], []
        for segment in segments:
            encodings = tuple(self._corpus.windows(Draw(segment, self._inputs, 0, 0.0)))
            windows.append(encodings)
            tag_ids, start = self._corpus.tags(segment), 0
            for encoding in encodings:
                kept = slice(*encoding.kept)
                gold = np.full(len(encoding.ranges), IGNORED, dtype=np.int32)
                gold[kept] = tag_ids[start : start + kept.stop - kept.start]
                start += kept.stop - kept.start
                examples.append(Example(encoding, gold))
        ratings = tuple(self._corpus.ratings[segment] for segment in segments)
        return DevBatch(collate(examples, pad_id=self._corpus.encoder.pad_id), tuple(windows), ratings)


def dev_loader(corpus: Corpus, inputs: Inputs, limits: Limits) -> DataLoader[DevBatch]:
    """Returns one device's share of the dev data for one kind of input, in batches of similar length."""
    number = corpus.inputs.index(inputs)
    return DataLoader(_DevBatches(corpus, dev_batches(corpus, inputs, limits), number), batch_size=None)


class SpanHits(Metric):
    """Counts of span hits, summed over batches and devices."""

    counts: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.add_state("counts", torch.zeros(4, dtype=torch.int64), dist_reduce_fx="sum")

    def update(self, counts: SpanHitCounts) -> None:
        """Adds the counts of a segment."""
        self.counts += torch.tensor(counts, device=self.counts.device)

    def compute(self) -> Tensor:
        """Returns the sums in the order of the fields of `SpanHitCounts`."""
        return self.counts


class DevMetrics(torch.nn.Module):
    """Computes the figures of one kind of input."""

    def __init__(self, min_confidence: float) -> None:
        super().__init__()
        self._min_confidence = min_confidence
        self.tags = MulticlassF1Score(len(TAGS), average="none", ignore_index=IGNORED, validate_args=False)
        self.macro = MulticlassF1Score(len(TAGS), average="macro", ignore_index=IGNORED, validate_args=False)
        self.hits = SpanHits()
        self.pearson = PearsonCorrCoef()

    def update(self, dev: DevBatch, output: TaggerOutput, gold_scores: Sequence[float]) -> None:
        """Adds a batch and the model's output for it."""
        tag_ids = dev.batch.tag_ids
        assert tag_ids is not None
        biased = output.tag_logits.clone()  # as in decoding, but without transitions
        biased[..., O] += math.log(self._min_confidence / (1 - self._min_confidence))
        predicted_tags = biased.argmax(-1).flatten()
        self.tags.update(predicted_tags, tag_ids.flatten())
        self.macro.update(predicted_tags, tag_ids.flatten())
        log_probabilities = torch.log_softmax(output.tag_logits.double(), -1).cpu().numpy()
        window_scores = [None] * len(log_probabilities) if output.score is None else output.score.tolist()
        scores, row = [], 0
        for rating, windows in zip(dev.ratings, dev.windows, strict=True):
            rows = slice(row, row + len(windows))
            parts = list(zip(windows, log_probabilities[rows], window_scores[rows], strict=True))
            prediction = join_windows(rating.segment.hypothesis, parts)
            scores.append(score_of_tags(prediction.log_probabilities) if prediction.score is None else prediction.score)
            (spans,) = decode([prediction], min_confidence=self._min_confidence)
            self.hits.update(span_hit(rating.errors or (), spans))
            row = rows.stop
        device = output.tag_logits.device
        self.pearson.update(torch.tensor(scores, device=device), torch.tensor(gold_scores, device=device))

    def compute(self) -> dict[str, float]:
        """Returns the figures by name, without undefined ones (0 / 0), and resets them."""
        hits = SpanHitCounts(*self.hits.compute().tolist())
        pearson = float(self.pearson.compute())
        figures = {
            "macro_f1": float(self.macro.compute()),
            "hsh": hits.hsh,
            "tsh": hits.tsh,
            "pearson": None if pearson != pearson else pearson,
        }
        figures |= {f"f1_{tag}": float(value) for tag, value in zip(TAGS, self.tags.compute(), strict=True)}
        for metric in (self.tags, self.macro, self.hits, self.pearson):
            metric.reset()
        return {name: value for name, value in figures.items() if value is not None}
