"""Validation of a tagger: the figures that `matese evaluate` reports of what `matese tag` marks in the dev data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from matese import mqm
from matese.evaluation.spans import score_agreement, span_hit, unit_tags
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.spans.span_hit import SpanHitCounts
from matese.evaluation.spans.unit_tags import UnitTags
from matese.evaluation.statistics import bootstrap
from matese.model.engines.batch_engine import BatchEngine
from matese.model.heads.tags import bio
from matese.model.heads.tags.bio import TAGS
from matese.model.interpreter import Interpreter
from matese.model.model_input import ModelInput
from matese.model.network import Network
from matese.model.predictor import Predictor
from matese.training.corpus import Draw
from matese.training.dev_metrics import DevMetrics

SHOWN = ("dev/macro_precision", "dev/macro_recall", "dev/exact_f1", "dev/hsh", "dev/tsh", "dev/pearson")
_RATES = ("precision", "recall", "f1")
_NAMES = {
    **{f"tags.macro.{rate}": f"macro_{rate}" for rate in _RATES},
    **{f"tags.{tag}.f1": f"f1_{tag}" for tag in TAGS},
    **{f"exact.{rate}": f"exact_{rate}" for rate in _RATES},
    "hsh": "hsh",
    "tsh": "tsh",
    "expected_score.pearson": "pearson",
}
"""The figures, by their names in `matese evaluate`, where the tags are those of the model's tokens."""
_BATCH_TOKENS = 8192
_Measured = tuple[UnitTags, SpanHitCounts, float, float]
"""Tags of a segment's tokens, hits of its spans, and its scores: gold and predicted."""


class SpanMetrics(DevMetrics):
    """Computes the figures of a tagger, which reads and marks the segments as `matese tag` does."""

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
            hits = span_hit.span_hit(pair.gold_spans, pair.predicted_spans)
            yield tags, hits, mqm.score(gold), result.prediction.score or 0.0

    def figures(self, segments: Sequence[_Measured]) -> Mapping[str, float]:
        """Returns the figures of `_NAMES`."""
        tags, hits, golds, scores = zip(*segments, strict=True)
        by_sums, _ = score_agreement.statistics("expected_score", np.array(golds), np.array(scores))
        statistics = (
            unit_tags.tag_statistic(tags, TAGS),
            unit_tags.exact_statistic(tags, TAGS),
            span_hit.statistic(hits),
            by_sums,
        )
        whole = bootstrap.whole_sample(len(segments))
        figures = {name: value for statistic in statistics for name, (value,) in statistic.figures(whole).items()}
        return {name: float(figures[evaluated]) for evaluated, name in _NAMES.items()}
