"""Validation of a tagger: batches of the dev data, and the figures that `matese evaluate` reports of them."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader
from torchmetrics import CatMetric, MetricCollection
from torchmetrics.classification import MulticlassF1Score, MulticlassPrecision, MulticlassRecall, MulticlassStatScores

from matese import mqm
from matese.annotation import Rating
from matese.evaluation.spans import score_agreement
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.spans.span_hit_metric import SpanHit
from matese.evaluation.statistics import bootstrap
from matese.model.config import ModelConfig
from matese.model.heads.learning import IGNORED, labels_of_windows
from matese.model.heads.tags import bio
from matese.model.heads.tags.bio import TAGS
from matese.model.inputs import Inputs, TensorGroup
from matese.model.interpreter import Interpreter
from matese.model.model_input import ModelInput
from matese.model.network_output import NetworkOutput
from matese.model.prediction import Prediction
from matese.model.texts.encoding import Encoding, InputKind
from matese.training import batching
from matese.training.batching import BatchLimits
from matese.training.corpus import Corpus, Draw
from matese.training.dev_metrics import DevMetrics
from matese.training.targets import Batch, Example, collate

SHOWN = ("dev/macro_precision", "dev/macro_recall", "dev/exact_f1", "dev/hsh", "dev/tsh", "dev/pearson")


@dataclass(frozen=True)
class DevBatch(TensorGroup):
    """Segments as tensors, with their gold ratings.

    Attributes:
        batch: one row for each window of each reading of each segment.
        windows: the windows of each reading.
        model_inputs: the segments, with their readings.
        ratings: the gold rating of each segment.
    """

    batch: Batch
    windows: tuple[list[Encoding], ...]
    model_inputs: tuple[ModelInput, ...]
    ratings: tuple[Rating, ...]

    @property
    def inputs(self) -> Inputs:
        """The input of the network."""
        return self.batch.inputs


def dev_batch(corpus: Corpus, draws: Sequence[Draw]) -> DevBatch:
    """Returns a batch of segments with all their windows, read with each of their references as `matese tag` does.

    No text is also read in pieces, because the network computes a batch once.
    """
    ratings = tuple(corpus.ratings[draw.segment] for draw in draws)
    model_inputs = tuple(
        ModelInput.of(rating.segment, corpus.inputs[draw.inputs], languages=corpus.encoder.languages(rating.segment))
        for rating, draw in zip(ratings, draws, strict=True)
    )
    readings = [
        draw._replace(reference=number)
        for model_input, draw in zip(model_inputs, draws, strict=True)
        for number in range(len(model_input.readings))
    ]
    windows = tuple(map(corpus.windows, readings))
    return DevBatch(_of_windows(corpus, readings, windows), windows, model_inputs, ratings)


def _of_windows(corpus: Corpus, draws: Sequence[Draw], windows: Sequence[Sequence[Encoding]]) -> Batch:
    """Returns the windows with their tags; the other labels are not validated."""
    heads = [head for head in corpus.heads if head.name == "tags"]
    examples = [
        Example(encoding, {"tag_ids": tag_ids})
        for draw, encodings in zip(draws, windows, strict=True)
        for encoding, tag_ids in zip(
            encodings, labels_of_windows(corpus.labels["tag_ids"][draw.segment], encodings), strict=True
        )
    ]
    return collate(examples, heads, pad_id=corpus.encoder.pad_id)


def dev_loader(corpus: Corpus, inputs: InputKind, limits: BatchLimits) -> DataLoader[DevBatch]:
    """Returns one device's share of the dev data for one kind of input, in batches of similar length."""
    return batching.dev_loader(corpus, inputs, limits, dev_batch)


def tag_metrics(config: ModelConfig, prefix: str = "") -> MetricCollection | None:
    """Returns macro precision, recall and F1 of the tags, ignoring IGNORED; None for a model that is no tagger."""
    if config.heads.tags is None:
        return None
    macro = {"num_classes": len(TAGS), "average": "macro", "ignore_index": IGNORED, "validate_args": False}
    kinds = {"precision": MulticlassPrecision, "recall": MulticlassRecall, "f1": MulticlassF1Score}
    return MetricCollection({f"{prefix}macro_{name}": kind(**macro) for name, kind in kinds.items()})


class SpanMetrics(DevMetrics):
    """Computes the figures of one kind of input.

    The output is decoded as `matese tag` decodes it with the settings of the model, and the figures are those of
    `matese evaluate`: macro precision, recall and F1 of the tags (torchmetrics), `exact` precision, recall and F1 of
    their spans (seqeval, strict), HSH and TSH, and Pearson's correlation of the expected score.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self._interpreter = Interpreter(config)
        self._decoding = config.decoding
        macro = tag_metrics(config)
        assert macro is not None  # the model is a tagger
        self.macro = macro
        self.each = MulticlassStatScores(len(TAGS), average="none", validate_args=False)
        self.hits = SpanHit()
        self.scores = CatMetric(nan_strategy="error")
        # Tags of all texts, gold and predicted, each text after a row of -1.
        self.tags = CatMetric(nan_strategy="error")

    def update(self, batch: DevBatch, output: NetworkOutput) -> None:
        """Adds a batch and the network's output for it."""
        predictions = self._predict(batch, output)
        device = output.tag_logits.device
        for gold, model_input, prediction in zip(batch.ratings, batch.model_inputs, predictions, strict=True):
            pair = RatingPair.of(gold, self._interpreter.decode(model_input, prediction, self._decoding))
            ranges = prediction.ranges.tolist()
            sides = [bio.from_spans(spans, ranges) for spans in (pair.gold_spans, pair.predicted_spans)]
            tags = torch.tensor(sides, dtype=torch.int64, device=device)
            if len(ranges):
                self.macro.update(tags[1], tags[0])
                self.each.update(tags[1], tags[0])
                self.tags.update(torch.cat([tags.new_full((1, 2), -1), tags.T]).flatten())
            self.hits.update([pair.predicted_spans], [pair.gold_spans])
            self.scores.update(torch.tensor([mqm.score(gold), prediction.score or 0.0], device=device))

    def _predict(self, dev: DevBatch, output: NetworkOutput) -> list[Prediction]:
        """Returns the prediction for each segment: joined over windows and averaged over readings."""
        outputs = output.windows(list(itertools.chain.from_iterable(dev.windows)))
        readings = [reading for model_input in dev.model_inputs for reading in model_input.readings]
        said = {
            row: list(itertools.islice(outputs, len(windows)))
            for reading, windows in zip(readings, dev.windows, strict=True)
            for row in self._interpreter.rows(reading)  # one
        }
        raw = self._interpreter.predict(dev.model_inputs, self._interpreter.join(said), self._decoding)
        return [
            self._interpreter.change(model_input, prediction, self._decoding)
            for model_input, prediction in zip(dev.model_inputs, raw, strict=True)
        ]

    def compute(self) -> dict[str, float]:
        """Returns the figures by name, without undefined ones (0 / 0), and resets them."""
        gold, predicted = self.scores.compute().cpu().double().reshape(-1, 2).T.numpy()
        hits, false_alarms, _, misses, _ = self.each.compute().double().T
        f1 = 2 * hits / (2 * hits + false_alarms + misses)
        figures = {
            **{name: float(value) for name, value in (self.macro.compute() | self.hits.compute()).items()},
            **{f"f1_{tag}": value for tag, value in zip(TAGS, f1.tolist(), strict=True)},
            **exact_spans(self.tags.compute().cpu().long().reshape(-1, 2)),
        }
        by_sums, *_ = score_agreement.statistics("expected_score", gold, predicted)
        agreement = by_sums.figures(bootstrap.whole_sample(len(gold)))
        figures["pearson"] = float(agreement["expected_score.pearson"][0])
        for metric in (self.macro, self.each, self.hits, self.scores, self.tags):
            metric.reset()
        return {name: value for name, value in figures.items() if not np.isnan(value)}


def exact_spans(tags: Tensor) -> dict[str, float]:
    """Returns precision, recall and F1 of the spans of tags, by seqeval in strict mode; none without seqeval or spans.

    Args:
        tags: (rows, 2), gold and predicted tag of each token; each text begins with a row of -1.
    """
    if importlib.util.find_spec("seqeval") is None:
        return {}
    from seqeval.metrics.v1 import precision_recall_fscore_support
    from seqeval.scheme import IOB2

    starts = (tags[:, 0] < 0).nonzero().flatten().tolist()
    texts = [tags[start + 1 : end].T.tolist() for start, end in itertools.pairwise([*starts, len(tags)])]
    gold, predicted = ([[TAGS[tag] for tag in text[side]] for text in texts] for side in (0, 1))
    if not any(tag != TAGS[bio.O] for side in (gold, predicted) for text in side for tag in text):
        return {}
    rates = precision_recall_fscore_support(gold, predicted, average="micro", scheme=IOB2, zero_division=0)[:3]
    return dict(zip(("exact_precision", "exact_recall", "exact_f1"), map(float, rates), strict=True))
