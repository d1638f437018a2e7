"""Validation of a tagger: the figures that `matese evaluate` reports of what `matese tag` marks in the dev data."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping, Sequence

import torch
from torchmetrics import MetricCollection
from torchmetrics.classification import MulticlassF1Score, MulticlassPrecision, MulticlassRecall
from torchmetrics.functional import pearson_corrcoef
from torchmetrics.functional.classification import multiclass_f1_score

from matese import mqm
from matese.annotation import ErrorSpan
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.spans.span_hit_metric import SpanHit
from matese.evaluation.spans.unit_tags import UnitTags
from matese.model.engines.batch_engine import BatchEngine
from matese.model.heads.learning import IGNORED
from matese.model.heads.tags import bio
from matese.model.heads.tags.bio import TAGS
from matese.model.interpreter import Interpreter
from matese.model.model_input import ModelInput
from matese.model.network import Network
from matese.model.predictor import Predictor
from matese.training.corpus import Draw
from matese.training.dev_metrics import DevMetrics

SHOWN = ("dev/macro_precision", "dev/macro_recall", "dev/exact_f1", "dev/hsh", "dev/tsh", "dev/pearson")
_BATCH_TOKENS = 8192
_Spans = Sequence[ErrorSpan]
_Measured = tuple[UnitTags, _Spans, _Spans, float, float]
"""Tags of a segment's tokens, its predicted and its gold spans, and its scores: gold and predicted."""


def tag_metrics(prefix: str = "") -> MetricCollection:
    """Returns macro precision, recall and F1 of the tags."""
    macro = {"num_classes": len(TAGS), "average": "macro", "ignore_index": IGNORED, "validate_args": False}
    kinds = {"precision": MulticlassPrecision, "recall": MulticlassRecall, "f1": MulticlassF1Score}
    return MetricCollection({f"{prefix}macro_{name}": kind(**macro) for name, kind in kinds.items()})


class SpanMetrics(DevMetrics):
    """Computes the figures of a tagger, which reads and marks the segments as `matese tag` does.

    All are metrics of torchmetrics, but for those of exact spans, which seqeval computes, if it is installed.
    """

    def measure(self, network: Network, draws: Sequence[Draw]) -> Iterator[_Measured]:
        """Yields what is measured of each segment."""
        encoder = self.corpus.encoder
        device = next(network.parameters()).device
        # In the thread and the precision of the training.
        engine = BatchEngine(lambda batch: network(batch.to(device)), pad_id=encoder.pad_id, batch_tokens=_BATCH_TOKENS)
        predictor = Predictor(Interpreter(network.config), engine, encoder)
        golds = [self.corpus.ratings[draw.segment] for draw in draws]
        read = (ModelInput.of(gold.segment, self.inputs, languages=encoder.languages(gold.segment)) for gold in golds)
        for gold, result in zip(golds, predictor.annotate(read, network.config.decoding), strict=True):
            pair = RatingPair.of(gold, result.rating)
            ranges = result.prediction.ranges.tolist()
            tags = (bio.from_spans(pair.gold_spans, ranges), bio.from_spans(pair.predicted_spans, ranges))
            yield tags, pair.predicted_spans, pair.gold_spans, mqm.score(gold), result.prediction.score or 0.0

    def figures(self, segments: Sequence[_Measured]) -> Mapping[str, float]:
        """Returns the figures by name."""
        tags, predicted_spans, gold_spans, golds, scores = zip(*segments, strict=True)
        gold, predicted = (torch.tensor([tag for text in tags for tag in text[side]]) for side in (0, 1))
        of_tags = multiclass_f1_score(predicted, gold, len(TAGS), average="none")
        measured = {
            **{f"f1_{TAGS[tag]}": of_tags[tag] for tag in sorted({*gold.tolist(), *predicted.tolist()})},
            **SpanHit()(predicted_spans, gold_spans),
            "pearson": pearson_corrcoef(torch.tensor(scores).double(), torch.tensor(golds).double()),
            **tag_metrics()(predicted, gold),
        }
        return {name: float(value) for name, value in measured.items()} | exact_spans(tags)


def exact_spans(tags: Sequence[UnitTags]) -> dict[str, float]:
    """Returns precision, recall and F1 of the spans of tags, by seqeval in strict mode; none without seqeval or spans.

    Args:
        tags: gold and predicted tags of each text.
    """
    if importlib.util.find_spec("seqeval") is None:
        return {}
    from seqeval.metrics.v1 import precision_recall_fscore_support
    from seqeval.scheme import IOB2

    gold, predicted = ([[TAGS[tag] for tag in text[side]] for text in tags] for side in (0, 1))
    if not any(tag != TAGS[bio.O] for side in (gold, predicted) for text in side for tag in text):
        return {}
    rates = precision_recall_fscore_support(gold, predicted, average="micro", scheme=IOB2, zero_division=0)[:3]
    return dict(zip(("exact_precision", "exact_recall", "exact_f1"), map(float, rates), strict=True))
