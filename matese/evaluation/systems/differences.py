"""Differences between systems on the same segments, in our figures and in other metrics: intervals and tests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from matese.annotation import Rating, SegmentKey, is_blank
from matese.errors import InputError, counted
from matese.evaluation.metrics.lexical_metrics import SCORE, Baseline, SystemTexts, has_reference
from matese.evaluation.statistics import bootstrap, permutation_test
from matese.evaluation.statistics.arrays import FloatArray
from matese.evaluation.statistics.bootstrap import AdditiveStatistic, Difference, Figure
from matese.evaluation.systems.sampling import Sampling

LEAST_SEGMENTS = 2
"""Fewest segments that a bootstrap can draw from."""


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The difference of one figure between two systems, and the p-value of the permutation test."""

    bootstrap: Difference
    p_permutation: float


def compare(
    first: AdditiveStatistic, second: AdditiveStatistic, ratings: Sequence[Rating], sampling: Sampling
) -> tuple[dict[str, PairedDifference], dict[str, FloatArray]]:
    """Returns the differences of all figures, the second's minus the first's, and the same on each resample.

    Both have the same function of the sums. The segments of `ratings`, of one of the systems, are drawn.
    """
    drawn = bootstrap.draw([first, second], bootstrap.whole_sample(len(first.table)), resample(ratings, sampling))
    compared = {
        name: PairedDifference(bootstrap.compare(before, after), _permute(first, second, name, sampling))
        for (name, before), after in zip(drawn[0].items(), drawn[1].values(), strict=True)
    }
    return compared, {name: (drawn[1][name] - drawn[0][name])[1:] for name in compared}


def _permute(first: AdditiveStatistic, second: AdditiveStatistic, name: str, sampling: Sampling) -> float:
    """Returns the p-value of the permutation test of a figure; NaN where it is undefined."""

    def figure(sums: FloatArray) -> FloatArray:
        return first.aggregate(sums)[name]

    if not all(np.isfinite(figure(statistic.table.sum(axis=0, keepdims=True))) for statistic in (first, second)):
        return math.nan
    drawn = {"n_permutations": sampling.permutations, "seed": sampling.seed}
    return permutation_test.two_sided_p(first.table, second.table, figure, **drawn)


def resample(ratings: Sequence[Rating], sampling: Sampling) -> Iterator[FloatArray]:
    """Yields resamples of the segments; each has as many segments of each language pair as the corpus."""
    strata = [(rating.segment.key and rating.segment.key.lang_pair) or "" for rating in ratings]
    return bootstrap.resamples(sampling.bootstrap, strata, seed=sampling.seed)


def check_enough(n_segments: int, sampling: Sampling) -> None:
    """Raises an InputError if resamples are wanted of too few segments."""
    if sampling.bootstrap and n_segments < LEAST_SEGMENTS:
        few = f"{counted(n_segments, 'segment')}; intervals need {LEAST_SEGMENTS} or more"
        raise InputError(f"{few}; give --bootstrap 0 for none")


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """The scores that a metric gives to systems (higher is better), and of pairs the second minus the first.

    `n_left_out` segments lack a text that the metric reads.
    """

    signature: str
    scores: Mapping[str, Figure]
    differences: Mapping[tuple[str, str], PairedDifference]
    n_left_out: int = 0


def compare_metrics(
    ratings: Mapping[str, Sequence[Rating]],
    metrics: Sequence[Baseline],
    sampling: Sampling,
    pairs: Sequence[tuple[str, str]],
) -> dict[str, MetricComparison]:
    """Returns the scores of each metric by its name. Segments that lack a text which the metric reads are left out.

    Args:
        ratings: of each system, rating i of each of the same segment; only their texts are read.
        metrics: that score them.
        sampling: how intervals and p-values are drawn; resamples are the same for all systems and metrics.
        pairs: of systems that are compared.

    Raises:
        InputError: if every segment lacks a text that a metric reads.
    """
    systems = _texts(ratings)
    compared = {}
    for metric in metrics:
        are_read = [all(map(metric.can_read, segments)) for segments in zip(*systems.values(), strict=True)]
        is_compared = are_read if any(are_read) else [True] * len(are_read)  # the metric says what is missing
        first = list(compress(next(iter(ratings.values())), is_compared))
        check_enough(len(first), sampling)
        readable = {name: list(compress(segments, is_compared)) for name, segments in systems.items()}
        for scored in metric.score(readable):
            statistics = scored.statistics
            scores = {
                system: statistic.measure(resample(first, sampling))[SCORE] for system, statistic in statistics.items()
            }
            tested = {
                pair: compare(statistics[pair[0]], statistics[pair[1]], first, sampling)[0][SCORE] for pair in pairs
            }
            compared[scored.name] = MetricComparison(scored.signature, scores, tested, is_compared.count(False))
    return compared


def _texts(ratings: Mapping[str, Sequence[Rating]]) -> SystemTexts:
    """Returns the segments of each system, with source and references of another system where a file has none."""
    rows = []
    for row in zip(*ratings.values(), strict=True):
        segments = [rating.segment for rating in row]
        keys = [segment.key or SegmentKey() for segment in segments]
        source = next((segment.source for segment in segments if not is_blank(segment.source or "")), None)
        references = next((segment.references for segment in segments if has_reference(segment)), ())
        lang_pair = next((key.lang_pair for key in keys if key.lang_pair), None)
        rows.append(
            [
                replace(
                    segment,
                    source=source if is_blank(segment.source or "") else segment.source,
                    references=segment.references if has_reference(segment) else references,
                    key=replace(key, lang_pair=key.lang_pair or lang_pair),
                )
                for segment, key in zip(segments, keys, strict=True)
            ]
        )
    return dict(zip(ratings, map(list, zip(*rows, strict=True)), strict=True))
