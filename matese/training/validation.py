"""Validation: batches of the dev data, and their macro-F1 of tags, span hits and correlation of scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.utils.data import DataLoader
from torchmetrics import CatMetric
from torchmetrics.classification import MulticlassF1Score
from torchmetrics.regression import PearsonCorrCoef

from matese.annotation import Rating
from matese.encoder.encoding import Encoding, InputKind
from matese.evaluation.spans.span_hit import SpanHitCounts, span_hit
from matese.inference.inputs import Tensors
from matese.tagger.decoding import decode
from matese.tagger.model import TaggerOutput
from matese.tagger.prediction import join_windows, score_of_tags
from matese.tagger.tags import TAGS, O
from matese.training import batching
from matese.training.batching import Limits
from matese.training.corpus import Corpus, Draw, labels_of_windows
from matese.training.targets import IGNORED, Batch, Example, collate


@dataclass(frozen=True)
class DevBatch(Tensors):
    """Segments as tensors, with their gold ratings.

    Attributes:
        batch: one row for each window of each segment.
        windows: the windows of each segment.
        ratings: the gold rating of each segment.
    """

    batch: Batch
    windows: tuple[list[Encoding], ...]
    ratings: tuple[Rating, ...]


def dev_batch(corpus: Corpus, draws: Sequence[Draw]) -> DevBatch:
    """Returns a batch of segments with all their windows."""
    windows = tuple(corpus.windows(draw) for draw in draws)
    labels = (corpus.labels.tag_ids[draw.segment] for draw in draws)
    examples = [
        Example(*row)
        for encodings, tag_ids in zip(windows, labels, strict=True)
        for row in zip(encodings, labels_of_windows(tag_ids, encodings), strict=True)
    ]
    ratings = tuple(corpus.ratings[draw.segment] for draw in draws)
    return DevBatch(collate(examples, pad_id=corpus.encoder.pad_id), windows, ratings)


def dev_loader(corpus: Corpus, inputs: InputKind, limits: Limits) -> DataLoader[DevBatch]:
    """Returns one device's share of the dev data for one kind of input, in batches of similar length."""
    return batching.dev_loader(corpus, inputs, limits, dev_batch)


class DevMetrics(torch.nn.Module):
    """Computes the figures of one kind of input."""

    def __init__(self, min_confidence: float) -> None:
        super().__init__()
        self._min_confidence = min_confidence
        self.tags = MulticlassF1Score(len(TAGS), average="none", ignore_index=IGNORED, validate_args=False)
        self.macro = MulticlassF1Score(len(TAGS), average="macro", ignore_index=IGNORED, validate_args=False)
        self.hits = CatMetric(nan_strategy="error")
        self.pearson = PearsonCorrCoef()

    def update(self, dev: DevBatch, output: TaggerOutput, gold_scores: Sequence[float]) -> None:
        """Adds a batch and the model's output for it."""
        tag_ids = dev.batch.targets.tag_ids
        biased = output.tag_logits.clone()  # as in decoding, but without transitions
        biased[..., O] += math.log(self._min_confidence / (1 - self._min_confidence))
        predicted_tags = biased.argmax(-1).flatten()
        self.tags.update(predicted_tags, tag_ids.flatten())
        self.macro.update(predicted_tags, tag_ids.flatten())
        log_probabilities = torch.log_softmax(output.tag_logits.double(), -1).cpu().numpy()
        window_scores = [None] * len(log_probabilities) if output.score is None else output.score.tolist()
        scores, hits, row = [], [], 0
        for rating, windows in zip(dev.ratings, dev.windows, strict=True):
            rows = slice(row, row + len(windows))
            parts = list(zip(windows, log_probabilities[rows], window_scores[rows], strict=True))
            prediction = join_windows(rating.segment.hypothesis, parts)
            scores.append(score_of_tags(prediction.log_probabilities) if prediction.score is None else prediction.score)
            (spans,) = decode([prediction], min_confidence=self._min_confidence)
            hits.append(span_hit(rating.errors or (), spans))
            row = rows.stop
        device = output.tag_logits.device
        self.hits.update(torch.tensor(hits, device=device))
        self.pearson.update(torch.tensor(scores, device=device), torch.tensor(gold_scores, device=device))

    def compute(self) -> dict[str, float]:
        """Returns the figures by name, without undefined ones (0 / 0), and resets them."""
        hits = SpanHitCounts(*self.hits.compute().sum(0).int().tolist())
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
