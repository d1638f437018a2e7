"""All measures of predicted spans and scores against gold ones, on any sample of the segments.

Every measure is reduced to sufficient statistics per segment, so that figures of a group of segments and of thousands
of bootstrap resamples follow without another look at the spans.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from matese import mqm
from matese.annotation import Estimate, Overall, Rating, TokenScores
from matese.evaluation.spans import (
    category_agreement,
    character_f1,
    confidence_calibration,
    error_free_agreement,
    score_agreement,
    soft_f1,
    span_hit,
    span_matching,
    token_localisation,
    unit_tags,
)
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.spans.span_figures import SpanFigures
from matese.evaluation.spans.span_matching import MatchingRules
from matese.evaluation.spans.unit_tags import Tagging
from matese.evaluation.statistics import bootstrap, pass_fail
from matese.evaluation.statistics.arrays import FloatArray
from matese.evaluation.statistics.bootstrap import AdditiveStatistic, Difference, Figure, Statistic
from matese.evaluation.statistics.pass_fail import PassPoint


@dataclass(frozen=True, slots=True)
class FigureOptions:
    """How spans become tags, what errors cost, and the options of `matese.evaluate`."""

    tagging: Tagging
    weights: mqm.Weights = mqm.MATESE
    figures: SpanFigures = SpanFigures()  # noqa: RUF009  (frozen)

    @property
    def rules(self) -> MatchingRules:
        """How severities matter in matching."""
        return MatchingRules(self.figures.severity_penalty, self.weights if self.figures.severity_weights else None)


@dataclass(frozen=True)
class PairStatistics:
    """The statistics of some rating pairs.

    Attributes:
        pairs: one per segment.
        parts: statistics that together give all figures.
        tags: that of the tags, see `unit_tags.tag_statistic`; None if tags are not measured.
        calibration: of the confidences; None if there are none.
    """

    pairs: tuple[RatingPair, ...]
    parts: tuple[Statistic, ...]
    tags: AdditiveStatistic | None = None
    calibration: AdditiveStatistic | None = None

    def figures(self, weights: FloatArray) -> Mapping[str, FloatArray]:
        """See `bootstrap.Statistic.figures`."""
        return {name: values for part in self.parts for name, values in part.figures(weights).items()}


def of_pairs(
    pairs: Sequence[RatingPair], options: FigureOptions, tokens: Sequence[TokenScores | None] | None = None
) -> PairStatistics:
    """Returns the statistics of spans and scores; of the scores alone if a side has no spans."""
    decisions = tuple(error_free_agreement.statistics(pairs))
    if not all(pair.has_spans for pair in pairs):
        return PairStatistics(tuple(pairs), (*_of_scores(pairs, options), *decisions))
    spans = of_spans(pairs, options)
    parts = [*spans.parts, *span_hit.omission_statistics(pairs), *category_agreement.statistics(pairs)]
    parts += [*_of_scores(pairs, options), *decisions]
    of_confidences = None
    if any(span.confidence is not None for pair in pairs for span in pair.predicted_spans):
        parts.append(of_confidences := confidence_calibration.statistic(pairs))
    if tokens is not None:
        parts.append(token_localisation.statistic([pair.gold_spans for pair in pairs], tokens))
    return PairStatistics(spans.pairs, tuple(parts), spans.tags, of_confidences)


def of_spans(pairs: Sequence[RatingPair], options: FigureOptions) -> PairStatistics:
    """Returns the statistics of the spans alone."""
    names = options.tagging.names
    tag = options.tagging.tag
    texts = [pair.gold.segment.hypothesis for pair in pairs]
    tagged = [
        (tag(text, pair.gold_spans), tag(text, pair.predicted_spans)) for text, pair in zip(texts, pairs, strict=True)
    ]
    tags = unit_tags.tag_statistic(tagged, names)
    parts: tuple[Statistic, ...] = (
        span_matching.statistic(pairs, options.rules),
        character_f1.statistic(pairs),
        soft_f1.statistic(pairs),
        span_hit.statistic([span_hit.span_hit(pair.gold_spans, pair.predicted_spans) for pair in pairs]),
        unit_tags.exact_statistic(tagged, names),
        tags,
        unit_tags.hit_statistic(tagged, names),
    )
    return PairStatistics(tuple(pairs), parts, tags)


def measure(
    statistics: PairStatistics, *, members: FloatArray | None = None, n_resamples: int = 0, seed: int = 0
) -> dict[str, Figure]:
    """Returns all figures.

    Args:
        statistics: of rating pairs.
        members: (segments,), 1 for each segment of a group and 0 for the others; None for all.
        n_resamples: bootstrap resamples, drawn within each language pair; 0 for no intervals.
        seed: of the bootstrap.
    """
    is_member = np.ones(len(statistics.pairs)) if members is None else members
    drawn = (weights * is_member for weights in _resamples(statistics, n_resamples, seed))
    return bootstrap.measure(statistics, is_member[np.newaxis], drawn)


def compare(
    first: PairStatistics, second: PairStatistics, *, n_resamples: int = 0, seed: int = 0
) -> dict[str, Difference]:
    """Returns the second's figures minus the first's, for figures that both have, on the same resamples."""
    drawn = _resamples(first, n_resamples, seed)
    before, after = bootstrap.draw([first, second], bootstrap.whole_sample(len(first.pairs)), drawn)
    return {name: bootstrap.compare(before[name], after[name]) for name in before if name in after}


def _resamples(statistics: PairStatistics, n_resamples: int, seed: int) -> Iterator[FloatArray]:
    strata = [pair.key.lang_pair or "" for pair in statistics.pairs]
    return bootstrap.resamples(n_resamples, strata, seed=seed)


def _of_scores(pairs: Sequence[RatingPair], options: FigureOptions) -> Iterator[Statistic]:
    """Yields the statistics of the MQM scores, and of the estimates and intervals of a prediction that has them.

    Scores are MQM scores or, without spans, overall scores. Errors are measured on one scale only.
    """
    golds = [pair.gold for pair in pairs]
    predictions = [pair.predicted for pair in pairs]
    of_gold = _of_spans(golds, options) or _of_wholes([rating.whole for rating in golds])
    assert of_gold is not None  # `pair_up` refuses ratings without either
    gold_scale, gold = of_gold
    estimates = [rating.estimate for rating in predictions if rating.estimate is not None]
    expected = _of_wholes(estimates) if len(estimates) == len(pairs) else None
    for name, of_prediction in (
        ("score", _of_spans(predictions, options) or _of_wholes([rating.overall for rating in predictions])),
        ("expected_score", expected),
    ):
        if of_prediction is not None:
            scale, values = of_prediction
            yield from score_agreement.statistics(name, gold, values, has_error=scale == gold_scale)
    if expected is not None:
        is_one_unit = expected[0] == gold_scale
        intervals = score_agreement.distributions(
            gold, estimates, scale=options.figures.interval_scale, is_one_unit=is_one_unit
        )
        yield from () if intervals is None else score_agreement.interval_statistics(intervals)


def pass_curves(pairs: Sequence[RatingPair], options: FigureOptions) -> dict[str, tuple[PassPoint, ...]]:
    """Returns the decisions at every threshold of "score" and "expected_score", see `pass_fail`; none without `good`.

    The human score is the MQM score or, where a gold rating has one, its overall score.
    """
    if options.figures.good is None:
        return {}
    golds = [pair.gold for pair in pairs]
    of_gold = _of_wholes([rating.overall for rating in golds]) or _of_spans(golds, options)
    if of_gold is None:
        return {}
    predictions = [pair.predicted for pair in pairs]
    scores = {
        "expected_score": _of_wholes([rating.estimate for rating in predictions]),
        "score": _of_spans(predictions, options),
    }
    return {
        name: pass_fail.curve(of_gold[1] >= options.figures.good, of_scale[1])
        for name, of_scale in scores.items()
        if of_scale is not None
    }


_Scores = tuple[str, FloatArray]
"""A scale, and scores on it, (segments,)."""


def _of_spans(ratings: Sequence[Rating], options: FigureOptions) -> _Scores | None:
    """Returns the MQM scores; None if the errors of a segment were not annotated."""
    if any(rating.errors is None for rating in ratings):
        return None
    return "mqm", np.array([mqm.score(rating, options.weights) for rating in ratings])


def _of_wholes(wholes: Sequence[Overall | Estimate | None]) -> _Scores | None:
    """Returns the scores of whole segments and their scale; None if not all segments have one, on one scale."""
    stated = [whole for whole in wholes if whole is not None]
    scales = {whole.scale for whole in stated}
    if len(stated) < len(wholes) or len(scales) != 1:
        return None
    return scales.pop(), np.array([whole.value for whole in stated])
