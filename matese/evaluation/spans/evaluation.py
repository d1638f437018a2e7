"""The evaluation of predicted ratings against gold ones: all figures, by group, and beside another prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np

from matese.annotation import Rating, TokenScores
from matese.errors import InputError, counted, one_of
from matese.evaluation import alignment
from matese.evaluation.spans import confidence_calibration, groups, pair_statistics, rating_pairs, span_sentinels
from matese.evaluation.spans.confidence_calibration import ReliabilityBin
from matese.evaluation.spans.figure_texts import DECISIVE
from matese.evaluation.spans.pair_statistics import FigureOptions, PairStatistics
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.statistics.arrays import FloatArray
from matese.evaluation.statistics.bootstrap import Difference, Figure
from matese.evaluation.statistics.pass_fail import PassPoint
from matese.merging import MergeMethod

Grouping = Literal["severity", "category", "lang-pair", "system", "domain", "length"]
GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)
_MAX_RATERS = 10


@dataclass(frozen=True, slots=True)
class NamedRatings:
    """Ratings, one per segment, with a name for messages and results, and their token scores if there are any."""

    name: str
    ratings: Sequence[Rating]
    tokens: Sequence[TokenScores | None] | None = None

    def select(self, numbers: Sequence[int]) -> NamedRatings:
        """Returns the ratings with these numbers, from 0."""
        tokens = None if self.tokens is None else [self.tokens[number] for number in numbers]
        return NamedRatings(self.name, [self.ratings[number] for number in numbers], tokens)


def common(sides: Sequence[NamedRatings]) -> list[NamedRatings]:
    """Returns the ratings of each side that are of segments which all sides have; see `alignment.common`.

    Raises:
        InputError: if no segment is common to all.
    """
    numbers = alignment.common([side.ratings for side in sides])
    return [side.select(kept) for side, kept in zip(sides, numbers, strict=True)]


@dataclass(frozen=True, slots=True)
class SpanCounts:
    """Number of spans on both sides, and of Neutral and undecided ones, which no measure counts; None without spans."""

    gold: int | None
    predicted: int | None
    gold_left_out: int = 0
    predicted_left_out: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """Figures of a part of the segments or spans."""

    n_segments: int
    n_spans: SpanCounts
    figures: Mapping[str, Figure]


@dataclass(frozen=True, slots=True)
class PredictionFigures(Group):
    """Figures of one prediction, by their dotted names, such as "mpp.micro.f1".

    `docs/research/evaluation.md` defines them.

    Attributes:
        name: of the prediction.
        raters: who made it, at most ten.
        confusion: (tags, tags), gold by predicted tags; empty if a side has no spans.
        bins: reliability of the confidences; empty if there are none.
    """

    name: str
    raters: tuple[str, ...]
    confusion: tuple[tuple[int, ...], ...]
    bins: tuple[ReliabilityBin, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The figures of a prediction, by group, and beside those of another one (`versus`).

    Differences are those of the prediction minus those of the other one. The ceiling has the figures of each rater
    against the other raters of the segment, merged; it is None if segments have one rater. `pass_curves` are the
    decisions at every threshold of the predicted scores, by score; see `pass_fail`. `sentinels` are the figures of the
    spans of `span_sentinels`, by sentinel, if they were asked for. `merge` is how several raters' gold ratings were
    merged, if they were.
    """

    gold: str
    options: FigureOptions
    predicted: PredictionFigures
    groups: Mapping[Grouping, Mapping[str, Group]]
    versus: PredictionFigures | None = None
    differences: Mapping[str, Difference] = field(default_factory=dict)
    ceiling: PredictionFigures | None = None
    pass_curves: Mapping[str, tuple[PassPoint, ...]] = field(default_factory=dict)
    sentinels: Mapping[str, Mapping[str, Figure]] = field(default_factory=dict)
    merge: MergeMethod | None = None

    def __repr__(self) -> str:
        """Returns the main figures, and where all of them are."""
        main = ", ".join(f"{name} {self.figures[name].value:.4g}" for name in DECISIVE if name in self.figures)
        compared = f"{self.predicted.name} against {self.gold}, {counted(self.predicted.n_segments, 'segment')}"
        return f"<Evaluation of {compared}: {main}; all {len(self.figures)} figures: .figures[name].value>"

    @property
    def figures(self) -> Mapping[str, Figure]:
        """Figures of the prediction, by their dotted names."""
        return self.predicted.figures


def evaluate(
    gold: NamedRatings,
    predicted: NamedRatings,
    options: FigureOptions,
    *,
    by: Sequence[Grouping] = (),
    versus: NamedRatings | None = None,
    sentinels: bool = False,
    humans: tuple[Sequence[Rating], Sequence[Rating]] = ((), ()),
) -> Evaluation:
    """Returns the figures of a prediction; `matese.evaluate` describes most arguments.

    `humans` are the ratings of `raters.against_others`, whose figures are the ceiling; they have no intervals.

    Raises:
        InputError: if the ratings are not of the same segments, a grouping is unknown, or there is a scale of intervals
            but no interval.
    """
    for grouping in by:
        if grouping not in GROUPINGS:
            raise InputError(f"grouping {grouping!r}: must be {one_of(GROUPINGS)}")
    statistics = _statistics(gold, predicted, options)
    of_spans = [grouping for grouping in by if grouping in ("severity", "category")]
    if of_spans and not statistics.pairs[0].has_spans:
        lacking = gold.name if statistics.pairs[0].gold.errors is None else predicted.name
        allowed = [name for name in GROUPINGS if name not in ("severity", "category")]
        raise InputError(f"grouping {of_spans[0]!r}: {lacking} has no spans: must be {one_of(allowed)}")
    figures = _figures(predicted.name, statistics, options)
    scale = options.figures.interval_scale
    if scale != 1 and not any(name.startswith("uncertainty.") for name in figures.figures):
        problem = "not all ratings have a standard deviation of the expected score"
        raise InputError(f"interval scale {scale:g}: {predicted.name}: {problem}; must all have one")
    result = Evaluation(
        gold.name,
        options,
        figures,
        {name: _groups(name, statistics, options) for name in by},
        pass_curves=pair_statistics.pass_curves(statistics.pairs, options),
        sentinels=_sentinels(gold, predicted, options) if sentinels else {},
    )
    if humans[0]:
        merged = NamedRatings("other raters", humans[0])
        single = NamedRatings("raters", humans[1])
        without_intervals = replace(options, figures=replace(options.figures, bootstrap=0))
        of_raters = _statistics(merged, single, without_intervals)
        result = replace(result, ceiling=_figures(single.name, of_raters, without_intervals))
    if versus is None:
        return result
    of_versus = _statistics(gold, versus, options)
    differences = pair_statistics.compare(
        of_versus, statistics, n_resamples=options.figures.bootstrap, seed=options.figures.seed
    )
    return replace(result, versus=_figures(versus.name, of_versus, options), differences=differences)


def _sentinels(gold: NamedRatings, predicted: NamedRatings, options: FigureOptions) -> dict[str, dict[str, Figure]]:
    """Returns the figures of spans of each sentinel, without intervals."""
    figures: dict[str, dict[str, Figure]] = {}
    for name, ratings in span_sentinels.predictions(predicted.ratings, seed=options.figures.seed).items():
        pairs = rating_pairs.pair_up(gold.ratings, ratings, (gold.name, name))
        figures[name] = pair_statistics.measure(pair_statistics.of_spans(pairs, options))
    return figures


def _statistics(gold: NamedRatings, predicted: NamedRatings, options: FigureOptions) -> PairStatistics:
    pairs = rating_pairs.pair_up(gold.ratings, predicted.ratings, (gold.name, predicted.name))
    tokens = predicted.tokens
    if tokens is not None:
        by_rating = {id(rating): scores for rating, scores in zip(predicted.ratings, tokens, strict=True)}
        tokens = [by_rating[id(pair.predicted)] for pair in pairs]
    return pair_statistics.of_pairs(pairs, options, tokens)


def _figures(name: str, statistics: PairStatistics, options: FigureOptions) -> PredictionFigures:
    pairs = statistics.pairs
    tags = statistics.tags
    confidences = statistics.calibration
    n_tags = len(options.tagging.names)
    confusion = [] if tags is None else tags.table.sum(axis=0).astype(int).reshape(n_tags, n_tags).tolist()
    return PredictionFigures(
        name=name,
        raters=tuple(sorted({pair.predicted.rater or "" for pair in pairs})[:_MAX_RATERS]),
        n_segments=len(pairs),
        n_spans=_count(pairs),
        figures=pair_statistics.measure(statistics, n_resamples=options.figures.bootstrap, seed=options.figures.seed),
        confusion=tuple(map(tuple, confusion)),
        bins=() if confidences is None else confidence_calibration.reliability(confidences),
    )


def _groups(grouping: Grouping, statistics: PairStatistics, options: FigureOptions) -> dict[str, Group]:
    pairs = statistics.pairs
    every = np.ones(len(statistics.pairs))
    parts: dict[str, tuple[PairStatistics, FloatArray, SpanCounts]]  # with the segments of the group, and its spans
    if grouping == "severity":
        by_severity = groups.by_severity(pairs, options)
        parts = {name: (part, every, _count(part.pairs)) for name, part in by_severity.items()}
    elif grouping == "category":
        by_category = groups.by_category(pairs, options.rules)
        parts = {
            name: (PairStatistics(pairs, (part,)), every, SpanCounts(*part.n_spans))
            for name, part in by_category.items()
        }
    else:
        by_segment = groups.by_segment(pairs, grouping)
        parts = {
            name: (statistics, members, _count([pairs[place] for place in np.flatnonzero(members)]))
            for name, members in by_segment.items()
        }
    drawn = {"n_resamples": options.figures.bootstrap, "seed": options.figures.seed}
    return {
        name: Group(int(members.sum()), n_spans, pair_statistics.measure(part, members=members, **drawn))
        for name, (part, members, n_spans) in parts.items()
    }


def _count(pairs: Sequence[RatingPair]) -> SpanCounts:
    n_gold = sum(len(pair.gold_spans) for pair in pairs)
    n_predicted = sum(len(pair.predicted_spans) for pair in pairs)
    return SpanCounts(
        None if all(pair.gold.errors is None for pair in pairs) else n_gold,
        None if all(pair.predicted.errors is None for pair in pairs) else n_predicted,
        sum(len(pair.gold.errors or ()) for pair in pairs) - n_gold,
        sum(len(pair.predicted.errors or ()) for pair in pairs) - n_predicted,
    )
