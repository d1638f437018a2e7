"""Systems compared on the same segments: which one is better, how surely, and what became of the errors.

No gold standard is needed. Two systems are a pair: each other system with the baseline, or without a baseline any two.
Differences are the second system's figure minus that of the first; a higher score, and a lower number of errors, is
better. Intervals are those of the paired bootstrap, p-values two-sided ones of the paired bootstrap and of the paired
permutation test, which flips signs (`permutation_test`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from matese import mqm
from matese.annotation import Rating
from matese.errors import UsageError, check_installed, counted, near_miss, one_of
from matese.evaluation import alignment
from matese.evaluation.metrics.lexical_metrics import Baseline
from matese.evaluation.statistics.arrays import BoolArray, FloatArray
from matese.evaluation.statistics.bootstrap import AdditiveStatistic, Figure
from matese.evaluation.systems import differences, error_changes, quality, segment_filters
from matese.evaluation.systems.differences import MetricComparison, PairedDifference
from matese.evaluation.systems.error_changes import Changes
from matese.evaluation.systems.sampling import Sampling
from matese.evaluation.systems.segment_filters import Filter
from matese.mqm import Basis

if TYPE_CHECKING:
    import pandas

ALPHA = 0.05
"""Significance level of a verdict."""
_SHOWN = 5
"""Systems and pairs in the short form of a comparison."""
_OF_SPANS = ("score", "errors", "major", "net_introduced", "net_worsened")


@dataclass(frozen=True, slots=True)
class PairComparison:
    """Two systems compared; differences are per segment, the second minus the first.

    Attributes:
        score: difference of the mean scores of the spans; NaN, like those of errors, without spans.
        expected_score: of the mean expected scores; None if they are not known.
        errors: of the mean numbers of errors.
        major: of the mean numbers of Major and Critical errors.
        net_introduced: errors introduced minus errors fixed.
        net_worsened: errors worsened minus errors softened.
        wins: share of the resamples in which the second is better in what systems are ranked by; NaN without resamples.
        losses: share in which the first is better.
        ties: share in which both are equal.
        changes: what became of the errors of each segment; empty without spans.
    """

    score: PairedDifference
    expected_score: PairedDifference | None
    errors: PairedDifference
    major: PairedDifference
    net_introduced: PairedDifference
    net_worsened: PairedDifference
    wins: float
    losses: float
    ties: float
    changes: tuple[Changes, ...]

    def __repr__(self) -> str:
        """Returns the differences of the scores, and where the details are."""
        scores = [
            f"{name} {difference.bootstrap.value:+.4g} (p {difference.p_permutation:.3g})"
            for name, difference in (("score", self.score), ("expected score", self.expected_score))
            if difference is not None
        ]
        return f"<PairComparison: {', '.join(scores)}; see .score, .errors, .n_changes(), .changes>"

    def n_changes(self) -> dict[str, int]:
        """Returns the number of errors that were fixed, introduced, softened, worsened and kept."""
        counts = [changes.counts() for changes in self.changes]
        return {name: sum(of_segment[name] for of_segment in counts) for name in error_changes.CHANGES}


@dataclass(frozen=True, slots=True)
class Selection:
    """The part of the corpus that a filter selects, with the mean score of each system, if a segment is selected.

    The whole corpus is named "all", and what all filters select together "all filters".
    """

    name: str
    n_segments: int
    share: float
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class SystemComparison:
    """Systems side by side, on the segments that all filters select.

    Attributes:
        ratings: of each system.
        figures: of each system, see `quality.statistic`.
        pairs: by the names of the first system and the second.
        selections: the whole corpus, the part of each filter, and of several the part that all select.
        sampling: how intervals and p-values were drawn.
        weights: of the scores.
        basis: what systems are ranked by.
        notice: how the signatures of the systems differ; "" if they do not.
        metrics: scores of other metrics.
    """

    ratings: Mapping[str, tuple[Rating, ...]]
    figures: Mapping[str, Mapping[str, Figure]]
    pairs: Mapping[tuple[str, str], PairComparison]
    selections: tuple[Selection, ...]
    sampling: Sampling
    weights: mqm.Weights
    basis: Basis
    notice: str = ""
    metrics: Mapping[str, MetricComparison] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Returns what is compared, and where the details are."""
        pairs = (f"{second} minus {first}: {pair!r}" for (first, second), pair in list(self.pairs.items())[:_SHOWN])
        more = [] if len(self.pairs) <= _SHOWN else [f"and {len(self.pairs) - _SHOWN} more pairs"]
        compared = f"{', '.join(list(self.ratings)[:_SHOWN])} on {counted(self.n_segments, 'segment')}"
        details = "see .figures[system], .pairs[first, second], .scores(), .metrics"
        return f"<SystemComparison of {compared}, by {self.basis}: {'; '.join([*pairs, *more])}; {details}>"

    @property
    def first(self) -> str:
        """The name of the first system."""
        return next(iter(self.ratings))

    @property
    def n_segments(self) -> int:
        """The number of segments that all filters select."""
        return len(self.ratings[self.first])

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a table with a row for each system and a column for each figure.

        Raises:
            UsageError: if pandas is not installed.
        """
        check_installed("to_pandas", "pandas", extra="tables")
        import pandas

        rows = {
            system: {name: figure.value for name, figure in figures.items()} for system, figures in self.figures.items()
        }
        return pandas.DataFrame.from_dict(rows, orient="index").rename_axis("system")

    def scores(self, basis: Basis | None = None) -> dict[str, list[float]]:
        """Returns the score of each segment, by system; by default the one that systems are ranked by."""
        return {
            name: quality.segment_scores(ratings, self.weights, basis or self.basis).tolist()
            for name, ratings in self.ratings.items()
        }

    def decisive(self, pair: PairComparison) -> PairedDifference:
        """Returns the difference between two systems in what systems are ranked by."""
        return pair.score if self.basis == "spans" or pair.expected_score is None else pair.expected_score

    def opposing(self, pair: PairComparison) -> PairedDifference | None:
        """Returns the difference in the other score, if that has the other system as the winner, significantly."""
        decisive = self.decisive(pair)
        secondary = pair.expected_score if decisive is pair.score else pair.score
        if secondary is None or not secondary.p_permutation <= ALPHA:
            return None
        return secondary if secondary.bootstrap.value * decisive.bootstrap.value < 0 else None

    def score_differences(self) -> list[float]:
        """Returns for each segment the second system's score minus the first's; of more systems highest minus lowest.

        The scores are those that systems are ranked by. Shape: (segments,).
        """
        rows = zip(*self.scores().values(), strict=True)
        return [scores[1] - scores[0] if len(scores) == 2 else max(scores) - min(scores) for scores in rows]


def compare(
    systems: Mapping[str, Sequence[Rating]],
    *,
    weights: mqm.Weights = mqm.MATESE,
    selected_by: Sequence[Filter | str] = (),
    sampling: Sampling = Sampling(),  # noqa: B008  (frozen)
    basis: Basis | None = None,
    baseline: str | None = None,
    metrics: Sequence[Baseline] = (),
) -> SystemComparison:
    """Returns the comparison of systems that translated the same segments; `matese.compare` describes the arguments.

    Raises:
        InputError: if the systems cannot be compared, a text or score is missing, or too few segments are left.
    """
    if baseline is not None and baseline not in systems:
        allowed = f"{near_miss(baseline, systems)} must be {one_of(list(systems))}"
        raise UsageError(f"baseline {baseline!r} is not a system{allowed}")
    aligned = alignment.align(systems if baseline is None else {baseline: systems[baseline], **systems})
    segments = list(zip(*aligned.values(), strict=True))
    by_filter, is_kept = segment_filters.apply(selected_by, segments)
    kept = {name: tuple(itertools.compress(ratings, is_kept)) for name, ratings in aligned.items()}
    first = next(iter(kept.values()))
    differences.check_enough(len(first), sampling)
    basis_of_parts: Basis = "spans" if quality.have_spans(itertools.chain(*segments)) else "expected"
    basis = quality.choose_basis(itertools.chain(*kept.values()), basis)
    pairs = [pair for pair in itertools.combinations(kept, 2) if baseline in (None, pair[0])]
    parts = {"all": [True] * len(segments), **by_filter} | ({"all filters": is_kept} if len(by_filter) > 1 else {})
    statistics = {name: quality.statistic(ratings, weights) for name, ratings in kept.items()}
    return SystemComparison(
        kept,
        {name: statistic.measure(differences.resample(first, sampling)) for name, statistic in statistics.items()},
        {pair: _compare_pair([kept[name] for name in pair], weights, sampling, basis) for pair in pairs},
        tuple(_selection(name, keeps, aligned, weights, basis_of_parts) for name, keeps in parts.items()),
        sampling,
        weights,
        basis,
        alignment.signature_difference(kept),
        differences.compare_metrics(kept, metrics, sampling, pairs),
    )


def _selection(
    name: str, keeps: Sequence[bool], systems: Mapping[str, Sequence[Rating]], weights: mqm.Weights, basis: Basis
) -> Selection:
    n_segments = sum(keeps)
    scores = {}
    for system, ratings in systems.items() if n_segments else ():
        selected = list(itertools.compress(ratings, keeps))
        scores[system] = mqm.corpus_score(quality.segment_scores(selected, weights, basis).tolist())
    return Selection(name, n_segments, n_segments / len(keeps), scores)


def _compare_pair(
    systems: Sequence[Sequence[Rating]], weights: mqm.Weights, sampling: Sampling, basis: Basis
) -> PairComparison:
    has_spans = quality.have_spans(itertools.chain(*systems))
    changes = tuple(map(error_changes.changes, *systems)) if has_spans else ()
    first, second = (_columns(ratings, weights, has_spans=has_spans) for ratings in systems)
    if has_spans:
        # The difference is the second minus the first: what was introduced minus what was fixed.
        counts = [change.counts() for change in changes]
        first["net_introduced"] = [of_segment["fixed"] for of_segment in counts]
        second["net_introduced"] = [of_segment["introduced"] for of_segment in counts]
        first["net_worsened"] = [of_segment["softened"] for of_segment in counts]
        second["net_worsened"] = [of_segment["worsened"] for of_segment in counts]
    compared, gains = differences.compare(
        AdditiveStatistic.of_means(first), AdditiveStatistic.of_means(second), systems[0], sampling
    )
    expected = compared.pop("expected_score")
    gain = gains["expected_score" if basis == "expected" else "score"]

    def share(is_so: BoolArray) -> float:
        """Returns the share of the resamples; NaN without any."""
        return float(is_so.mean()) if len(is_so) else math.nan

    return PairComparison(
        **compared,
        expected_score=None if math.isnan(expected.bootstrap.value) else expected,
        wins=share(gain > 0),
        losses=share(gain < 0),
        ties=share(gain == 0),
        changes=changes,
    )


def _columns(
    ratings: Sequence[Rating], weights: mqm.Weights, *, has_spans: bool
) -> dict[str, Sequence[float] | FloatArray]:
    """Returns the figures of each segment of a system: `_OF_SPANS`, NaN without spans, and the expected score."""
    columns: dict[str, Sequence[float] | FloatArray] = dict.fromkeys(_OF_SPANS, [math.nan] * len(ratings))
    columns["expected_score"] = quality.segment_scores(ratings, weights, "expected")
    if has_spans:
        columns["score"] = quality.segment_scores(ratings, weights)
        columns["errors"] = list(map(quality.n_errors, ratings))
        columns["major"] = list(map(quality.n_major, ratings))
    return columns
