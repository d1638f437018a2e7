"""Agreement among raters of the same segments: in pairs, each rater with the others, and all together.

In pooled figures each pair of ratings of a segment is compared in both directions, so that precision equals recall: the
share of what one rater marks that another one marks too. This agreement of humans is the figure above which a
prediction, compared with one human, agrees better than humans do with each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from matese.annotation import Rating, SegmentKey
from matese.annotation.severities import MINOR_MAJOR
from matese.errors import InputError, counted
from matese.evaluation.alignment import describe_segment
from matese.evaluation.spans import category_agreement, pair_statistics
from matese.evaluation.spans.pair_statistics import FigureOptions, PairStatistics
from matese.evaluation.spans.rating_pairs import RatingPair, counted_spans
from matese.evaluation.spans.unit_tags import Tagging
from matese.evaluation.statistics import bootstrap
from matese.evaluation.statistics.arrays import BoolArray, FloatArray, IntArray, cohens_kappa, divide
from matese.evaluation.statistics.bootstrap import AdditiveStatistic, Figure
from matese.evaluation.systems import raters
from matese.evaluation.systems.raters import RaterProfile

RatedSegment = tuple[Rating, ...]
"""The ratings of one text by two raters or more, one per rater, in the order of their names."""
_ALPHA_VALUES = {"O": 0, "Minor": 1, "Major": 2}


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """How well raters agree.

    Attributes:
        options: how figures were computed.
        n_segments: segments with two raters or more.
        n_ratings: ratings of these segments.
        n_single: ratings of a text that nobody else has rated; they count in the profiles only.
        pooled: figures of all pairs of ratings in both directions.
        alpha: Krippendorff's alpha of units, `alpha.severity` and `alpha.marked`.
        others: figures of each rater's ratings against those of all others, as if they were a prediction.
        pairs: figures of two raters, the first one as gold: `hsh` is the share of the second's spans that are hit.
        n_shared: number of segments that two raters have both rated.
        profiles: of each rater.
        notices: what the user should know about the ratings.
    """

    options: FigureOptions
    n_segments: int
    n_ratings: int
    n_single: int
    pooled: Mapping[str, Figure]
    alpha: Mapping[str, Figure]
    others: Mapping[str, Mapping[str, Figure]]
    pairs: Mapping[tuple[str, str], Mapping[str, Figure]]
    n_shared: Mapping[tuple[str, str], int]
    profiles: Mapping[str, RaterProfile]
    notices: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Returns the main figures, and where all of them are."""
        main = [*self.alpha.items(), *((name, self.pooled[name]) for name in ("mpp.micro.f1",) if name in self.pooled)]
        figures = ", ".join(f"{name} {figure.value:.4g}" for name, figure in main)
        size = f"{counted(len(self.profiles), 'rater')}, {counted(self.n_segments, 'segment')}"
        return f"<RaterAgreement of {size}: {figures}; see .pooled, .alpha, .others, .pairs, .profiles>"


def measure(ratings: Sequence[Rating], options: FigureOptions) -> RaterAgreement:
    """Returns the agreement of the raters; only `pooled` and `alpha` have intervals.

    Raises:
        InputError: if a rating has no rater or no spans, or no segment has two raters.
    """
    common = raters.use_common_texts(ratings)
    segments, n_single = group(common.ratings)
    notices = common.notices()
    if n_single:
        single = f"{n_single:,} of {len(ratings):,} ratings are the only ones of their text"
        notices += (f"{single}: no one to agree with, so they count only in how each rater annotates",)
    if not segments:
        raise InputError("no segment has two raters; agreement needs segments that two or more have rated")
    first_to_last = [pair for segment in segments for pair in combinations(segment, 2)]
    directed = [pair for first, second in first_to_last for pair in ((first, second), (second, first))]
    golds, predicted = (np.array([str(rating.rater) for rating in side]) for side in zip(*directed, strict=True))
    segment_of = np.repeat(np.arange(len(segments)), [len(segment) * (len(segment) - 1) for segment in segments])
    statistics = _statistics([RatingPair.of(*pair) for pair in directed], options)
    alphas = alpha_statistic([_values(segment, options.tagging) for segment in segments], len(_ALPHA_VALUES))

    def resampled() -> Iterator[FloatArray]:
        return bootstrap.resamples(options.figures.bootstrap, np.zeros(len(segments)), seed=options.figures.seed)

    def figures(rows: BoolArray, resampled: Iterable[FloatArray] = ()) -> dict[str, Figure]:
        """Returns the figures of some of the pairs, with intervals if there are resamples of the segments."""
        expanded = (weights[:, segment_of] * rows for weights in resampled)
        return bootstrap.measure(statistics, rows[np.newaxis].astype(np.float64), expanded)

    names = sorted({*golds.tolist()})
    rows = {(first, second): (golds == first) & (predicted == second) for first, second in combinations(names, 2)}
    rows = {names: is_theirs for names, is_theirs in rows.items() if is_theirs.any()}
    by_rater: dict[str, list[Rating]] = defaultdict(list)
    for rating in common.ratings:
        by_rater[str(rating.rater)].append(rating)
    return RaterAgreement(
        options=options,
        n_segments=len(segments),
        n_ratings=sum(map(len, segments)),
        n_single=n_single,
        pooled=figures(np.ones(len(golds), dtype=np.bool_), resampled()),
        alpha=alphas.measure(resampled()),
        others={name: figures(predicted == name) for name in names},
        pairs={names: figures(is_theirs) for names, is_theirs in rows.items()},
        n_shared={names: int(is_theirs.sum()) for names, is_theirs in rows.items()},
        profiles={name: raters.profile(by_rater[name], options.weights) for name in sorted(by_rater)},
        notices=notices,
    )


def group(ratings: Iterable[Rating]) -> tuple[tuple[RatedSegment, ...], int]:
    """Returns the segments with two raters or more, and the number of ratings of a text that nobody else has rated.

    A segment has one key and one text.

    Raises:
        InputError: if a rating has no rater or no spans, or if a rater has rated a segment twice.
    """
    by_text: dict[tuple[SegmentKey | None, str], list[Rating]] = defaultdict(list)
    for rating in ratings:
        if rating.rater is None:
            raise InputError(f"rating of {describe_segment(rating.segment)} has no rater; every rating needs one")
        if rating.errors is None:
            raise InputError(f"rating of {describe_segment(rating.segment)} has no spans; give ratings of spans")
        by_text[rating.segment.key, rating.segment.hypothesis].append(rating)
    for of_text in by_text.values():
        raters.check_rated_once(of_text)
    segments = [tuple(sorted(of_text, key=lambda rating: str(rating.rater))) for of_text in by_text.values()]
    shared = tuple(segment for segment in segments if len(segment) > 1)
    return shared, len(segments) - len(shared)


def coincidences(values: IntArray, n_values: int) -> FloatArray:
    """Returns how often each two values occur together in a unit: ids, (raters, units), to (values, values)."""
    counts = (values[:, :, np.newaxis] == np.arange(n_values)).sum(axis=0).astype(np.float64)
    # Each rater's value is paired with those of the others, not with itself.
    return np.asarray((counts.T @ counts - np.diag(counts.sum(axis=0))) / (len(values) - 1))


def alpha(matrices: FloatArray) -> FloatArray:
    """Returns Krippendorff's alpha: agreement beyond chance; 1 is perfect, 0 is chance, NaN with one value only.

    Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", nominal values. Shape: coincidence matrices,
    (resamples, values, values), to (resamples,).

    >>> same, other = coincidences(np.array([[0, 1], [0, 1]]), 2), coincidences(np.array([[0, 1], [1, 0]]), 2)
    >>> alpha(np.array([same, other])).tolist()
    [1.0, -0.5]
    """
    marginals = matrices.sum(axis=2)
    n = marginals.sum(axis=1)
    observed = n - np.einsum("rvv->r", matrices)
    expected = divide(n**2 - (marginals**2).sum(axis=1), n - 1)
    return 1.0 - divide(observed, expected)


def alpha_statistic(segments: Sequence[IntArray], n_values: int) -> AdditiveStatistic:
    """Returns the figures `alpha.severity` (all values) and `alpha.marked` (0, "not marked", against the others).

    Each segment has values, (raters, units), from 0 to `n_values` - 1.
    """

    def figures(totals: FloatArray) -> Mapping[str, FloatArray]:
        matrices = totals.reshape(-1, n_values, n_values)
        marked = np.add.reduceat(np.add.reduceat(matrices, [0, 1], axis=1), [0, 1], axis=2)
        return {"alpha.severity": alpha(matrices), "alpha.marked": alpha(marked)}

    table = np.array([coincidences(values, n_values) for values in segments])
    return AdditiveStatistic(table.reshape(len(segments), n_values**2), figures)


def _statistics(pairs: Sequence[RatingPair], options: FigureOptions) -> PairStatistics:
    """Returns the statistics of the pairs, with `severity.agreement` and `severity.kappa` of spans that MPP matches."""
    statistics = pair_statistics.of_pairs(pairs, options)
    kept = [part for part in statistics.parts if part is not statistics.calibration]  # raters state no confidence
    severities = category_agreement.confusion(pairs, MINOR_MAJOR, lambda span: span.severity)

    def figures(totals: FloatArray) -> Mapping[str, FloatArray]:
        observed, kappa = cohens_kappa(totals.reshape(-1, 2, 2))
        return {"severity.agreement": observed, "severity.kappa": kappa}

    return PairStatistics(tuple(pairs), (*kept, AdditiveStatistic(severities, figures)))


def _values(segment: RatedSegment, tagging: Tagging) -> IntArray:
    """Returns each rater's value of each unit: 0 not marked, 1 Minor, 2 Major; (raters, units)."""
    value = np.array([_ALPHA_VALUES[name.partition("-")[2] or name] for name in tagging.names])
    tags = [tagging.tag(rating.segment.hypothesis, counted_spans(rating)) for rating in segment]
    return np.asarray(value[np.array(tags, dtype=np.int64)])
