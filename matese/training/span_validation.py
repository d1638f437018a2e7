"""Validation of a tagger: batches of the dev data, and the figures that `matese evaluate` reports of them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.utils.data import DataLoader
from torchmetrics import CatMetric

from matese import mqm
from matese.annotation import Rating
from matese.evaluation.spans import score_agreement, span_hit, unit_tags
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.spans.span_hit import SpanHitCounts
from matese.evaluation.statistics import bootstrap
from matese.model.config import ModelConfig
from matese.model.heads.learning import labels_of_windows
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

SHOWN = ("dev/hsh", "dev/tsh", "dev/pearson")
_N_HITS = len(SpanHitCounts._fields)
_FIGURES = {
    "macro_f1": "tags.macro.f1",
    "hsh": "hsh",
    "tsh": "tsh",
    "pearson": "expected_score.pearson",
    **{f"f1_{tag}": f"tags.{tag}.f1" for tag in TAGS},
}
"""The name of each figure in `matese evaluate --unit MODEL`."""


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
    """Returns a batch of segments with all their windows, read with each of their references as `matese tag` does."""
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


class SpanMetrics(DevMetrics):
    """Computes the figures of one kind of input.

    The output is decoded as `matese tag` decodes it with the settings of the model, and the figures are those of
    `matese evaluate`.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self._interpreter = Interpreter(config)
        self._decoding = config.decoding
        self.rows = CatMetric(nan_strategy="error")

    def update(self, batch: DevBatch, output: NetworkOutput) -> None:
        """Adds a batch and the network's output for it."""
        predictions = self._predict(batch, output)
        ratings = self._interpreter.decode(batch.model_inputs, predictions, self._decoding)
        rows = []
        for gold, prediction, rating in zip(batch.ratings, predictions, ratings, strict=True):
            pair = RatingPair.of(gold, rating)
            ranges = prediction.ranges.tolist()
            confusion = unit_tags.confusion(
                (bio.from_spans(pair.gold_spans, ranges), bio.from_spans(pair.predicted_spans, ranges)), len(TAGS)
            )
            hits = span_hit.span_hit(pair.gold_spans, pair.predicted_spans)
            rows.append([*hits, mqm.score(gold), prediction.score or 0.0, *confusion.flat])
        self.rows.update(torch.tensor(rows, device=output.tag_logits.device))

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
        return self._interpreter.change(dev.model_inputs, raw, self._decoding)

    def compute(self) -> dict[str, float]:
        """Returns the figures by name, without undefined ones (0 / 0), and resets them."""
        rows = self.rows.compute().cpu().double().numpy()
        self.rows.reset()
        hits, scores, confusions = np.split(rows, [_N_HITS, _N_HITS + 2], axis=1)
        statistics = (
            span_hit.statistic([SpanHitCounts(*counts) for counts in hits]),
            unit_tags.confusion_statistic(confusions, TAGS),
            *score_agreement.statistics("expected_score", *scores.T),
        )
        measured: Mapping[str, float] = {
            name: float(values[0])
            for statistic in statistics
            for name, values in statistic.figures(bootstrap.whole_sample(len(rows))).items()
        }
        figures = {name: measured[evaluated] for name, evaluated in _FIGURES.items()}
        return {name: value for name, value in figures.items() if not np.isnan(value)}
