"""Systems compared on the same segments: which one is better, how surely, and what became of the errors.

No gold standard is needed. Two systems are a pair: each other system with the baseline, or without a baseline any two.
Differences are the second system's figure minus that of the first; a higher score, and a lower number of errors, is
better. Intervals are those of the paired bootstrap, p-values two-sided ones of the paired
bootstrap and of the paired permutation test, which flips signs (`sign_flips`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from matese import mqm
from matese.annotation import Rating
from matese.errors import InputError, UsageError, near_miss, one_of
from matese.evaluation import alignment
from matese.evaluation.metrics.baselines import Baseline
from matese.evaluation.statistics import bootstrap
from matese.evaluation.statistics.arrays import FloatArray
from matese.evaluation.statistics.bootstrap import AdditiveStatistic, Figure
from matese.evaluation.systems import differences, error_changes, filters, metric_scores, quality, signatures
from matese.evaluation.systems.differences import LEAST_SEGMENTS, PairedDifference, ResamplingOptions
from matese.evaluation.systems.error_changes import Changes
from matese.evaluation.systems.filters import Filter, Segments
from matese.evaluation.systems.metric_scores import MetricComparison
from matese.evaluation.systems.quality import Basis

ALPHA = 0.05
"""Significance level of a verdict."""
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

    def n_changes(self) -> dict[str, int]:
        """Returns the number of errors that were fixed, introduced, softened, worsened and kept."""
        return {name: sum(change.counts()[name] for change in self.changes) for name in error_changes.CHANGES}


@dataclass(frozen=True, slots=True)
class Selection:
    """The part of the corpus that a filter selects.

    Attributes:
        name: of the filter; "all" for the whole corpus, "all filters" for what all of them select together.
        n_segments: in this part.
        share: of the corpus.
        scores: mean score of each system; empty if no segment is selected.
    """

    name: str
    n_segments: int
    share: float
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class SystemComparison:
    """Systems side by side.

    Attributes:
        ratings: of each system, on the segments that all filters select.
        figures: of each system, see `quality.statistic`.
        pairs: by the names of the first system and the second.
        selections: the whole corpus, the part of each filter, and of several the part that all select.
        sampling: how intervals and p-values were drawn.
        weights: what the scores are computed with.
        basis: what systems are ranked by.
        notice: how the signatures of the systems differ; "" if they do not.
        metrics: scores of other metrics, by their names.
    """

    ratings: Mapping[str, tuple[Rating, ...]]
    figures: Mapping[str, Mapping[str, Figure]]
    pairs: Mapping[tuple[str, str], PairComparison]
    selections: tuple[Selection, ...]
    sampling: ResamplingOptions
    weights: mqm.Weights
    basis: Basis
    notice: str = ""
    metrics: Mapping[str, MetricComparison] = field(default_factory=dict)

    @property
    def first(self) -> str:
        """The name of the first system."""
        return next(iter(self.ratings))

    @property
    def n_segments(self) -> int:
        """The number of segments that all filters select."""
        return len(self.ratings[self.first])

    def scores(self, basis: Basis | None = None) -> dict[str, list[float]]:
        """Returns the score of each segment, by system; by default the one that systems are ranked by."""
        return {
            name: quality.segment_scores(own, self.weights, basis or self.basis).tolist()
            for name, own in self.ratings.items()
        }

    def decisive(self, pair: PairComparison) -> PairedDifference:
        """Returns the difference between two systems in what systems are ranked by."""
        return pair.score if self.basis == "spans" or pair.expected_score is None else pair.expected_score

    def opposing(self, pair: PairComparison) -> PairedDifference | None:
        """Returns the difference in the other score, if that has the other system as the winner, significantly."""
        decisive = self.decisive(pair)
        other = pair.expected_score if decisive is pair.score else pair.score
        if other is None or not other.p_permutation <= ALPHA:
            return None
        return other if other.bootstrap.value * decisive.bootstrap.value < 0 else None

    def score_differences(self) -> list[float]:
        """Returns for each segment the second system's score minus the first's; of more systems highest minus lowest.

        The scores are those that systems are ranked by. Shape: (segments,).
        """
        rows = zip(*self.scores().values(), strict=True)
        return [own[1] - own[0] if len(own) == 2 else max(own) - min(own) for own in rows]


def compare(
    systems: Mapping[str, Sequence[Rating]],
    *,
    weights: mqm.Weights = mqm.MATESE,
    selected_by: Sequence[Filter] = (),
    sampling: ResamplingOptions = ResamplingOptions(),  # noqa: B008  (frozen)
    basis: Basis | None = None,
    baseline: str | None = None,
    metrics: Sequence[Baseline] = (),
) -> SystemComparison:
    """Returns the comparison of systems that translated the same segments.

    Args:
        systems: ratings of two systems or more, one per segment; see `alignment.align`.
        weights: what the scores are computed with.
        selected_by: filters; only segments that all of them select are compared.
        sampling: how intervals and p-values are drawn.
        basis: what systems are ranked by; None for the expected score if all ratings have one.
        baseline: the system that all others are compared with; None to compare any two.
        metrics: that score the translations, too.

    Raises:
        InputError: if the systems cannot be compared, a text or score is missing, or too few segments are left.
    """
    aligned = alignment.align(_baseline_first(systems, baseline))
    of_parts: Basis = "spans" if quality.have_spans(one for own in aligned.values() for one in own) else "expected"
    segments = list(zip(*aligned.values(), strict=True))
    each, left = filters.apply(selected_by, segments)
    kept = {
        name: tuple(one for one, is_left in zip(own, left, strict=True) if is_left) for name, own in aligned.items()
    }
    parts = {"all": [True] * len(segments), **each, **({"all filters": left} if len(each) > 1 else {})}
    first = next(iter(kept.values()))
    pairs = [pair for pair in combinations(kept, 2) if baseline in (None, pair[0])]
    if sampling.n_resamples and len(first) < LEAST_SEGMENTS:
        few = f"{len(first)} segment: must be {LEAST_SEGMENTS} or more for intervals"
        raise InputError(f"{few}; give --bootstrap 0 (in Python n_resamples=0) for none")
    basis = quality.choose_basis((one for own in kept.values() for one in own), basis)
    return SystemComparison(
        kept,
        {name: _figures(own, weights, differences.resample(first, sampling)) for name, own in kept.items()},
        {(one, other): _compare_pair((kept[one], kept[other]), weights, sampling, basis) for one, other in pairs},
        tuple(_selection(name, keeps, list(aligned), segments, weights, of_parts) for name, keeps in parts.items()),
        sampling,
        weights,
        basis,
        signatures.difference(kept),
        metric_scores.compare(kept, metrics, sampling, pairs),
    )


def _baseline_first(systems: Mapping[str, Sequence[Rating]], baseline: str | None) -> Mapping[str, Sequence[Rating]]:
    if baseline is None:
        return systems
    if baseline not in systems:
        known = tuple(systems)
        raise UsageError(f"baseline {baseline!r} is not a system{near_miss(baseline, known)} must be {one_of(known)}")
    return {baseline: systems[baseline], **systems}


def _figures(ratings: Sequence[Rating], weights: mqm.Weights, resampled: Iterable[FloatArray]) -> Mapping[str, Figure]:
    return bootstrap.measure(quality.statistic(ratings, weights), bootstrap.once(len(ratings)), resampled)


def _selection(
    name: str, keeps: Sequence[bool], systems: Sequence[str], segments: Segments, weights: mqm.Weights, basis: Basis
) -> Selection:
    kept = [own for own, is_kept in zip(segments, keeps, strict=True) if is_kept]
    scores = {
        system: mqm.corpus_score(quality.segment_scores(own, weights, basis).tolist())
        for system, own in zip(systems, zip(*kept, strict=True), strict=False)
    }
    return Selection(name, len(kept), len(kept) / len(segments), scores)


def _compare_pair(
    systems: Sequence[Sequence[Rating]], weights: mqm.Weights, sampling: ResamplingOptions, basis: Basis
) -> PairComparison:
    has_spans = quality.have_spans(one for own in systems for one in own)
    changes = tuple(map(error_changes.changes, *systems)) if has_spans else ()
    of_changes = [change.counts() for change in changes]
    sides = []
    for own, (lost, shifted) in zip(systems, (("fixed", "softened"), ("introduced", "worsened")), strict=True):
        columns: dict[str, Sequence[float] | FloatArray] = dict.fromkeys(_OF_SPANS, [math.nan] * len(own))
        columns |= {"expected_score": quality.segment_scores(own, weights, "expected")}
        if has_spans:
            columns |= {
                "score": quality.segment_scores(own, weights),
                "errors": [quality.n_errors(one) for one in own],
                "major": [quality.n_major(one) for one in own],
                "net_introduced": [one[lost] for one in of_changes],
                "net_worsened": [one[shifted] for one in of_changes],
            }
        sides.append(AdditiveStatistic.of_means(columns))
    found, gains = differences.compare(sides[0], sides[1], systems[0], sampling)
    expected = found.pop("expected_score")
    won = gains["expected_score" if basis == "expected" else "score"]
    wins, losses, ties = (float(own.mean()) if len(won) else math.nan for own in (won > 0, won < 0, won == 0))
    return PairComparison(
        **found,
        expected_score=None if math.isnan(expected.bootstrap.value) else expected,
        wins=wins,
        losses=losses,
        ties=ties,
        changes=changes,
    )
