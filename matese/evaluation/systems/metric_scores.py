"""Scores of compared systems by other metrics, and their differences from the first system's scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from matese.annotation import Rating, SegmentKey
from matese.evaluation.metrics.lexical_metrics import SCORE, Baseline, Systems
from matese.evaluation.statistics import bootstrap
from matese.evaluation.statistics.bootstrap import Figure
from matese.evaluation.systems import differences
from matese.evaluation.systems.differences import PairedDifference, ResamplingOptions


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """The scores that a metric gives to systems (higher is better), and of pairs the second minus the first."""

    signature: str
    scores: Mapping[str, Figure]
    differences: Mapping[tuple[str, str], PairedDifference]


def compare(
    ratings: Mapping[str, Sequence[Rating]],
    metrics: Sequence[Baseline],
    sampling: ResamplingOptions,
    pairs: Sequence[tuple[str, str]],
) -> dict[str, MetricComparison]:
    """Returns the scores of each metric by its name.

    Args:
        ratings: of each system, rating i of each of the same segment; only their texts are read.
        metrics: that score them.
        sampling: how intervals and p-values are drawn; resamples are the same for all systems and metrics.
        pairs: of systems that are compared.

    Raises:
        InputError: if a segment lacks a text that a metric needs.
    """
    systems = _texts(ratings)
    first = next(iter(ratings.values()))
    whole = bootstrap.whole_sample(len(first))
    compared = {}
    for scored in (scored for metric in metrics for scored in metric.score(systems)):
        statistics = scored.statistics
        scores = {
            system: bootstrap.measure(statistic, whole, differences.resample(first, sampling))[SCORE]
            for system, statistic in statistics.items()
        }
        tested = {
            pair: differences.compare(statistics[pair[0]], statistics[pair[1]], first, sampling)[0][SCORE]
            for pair in pairs
        }
        compared[scored.name] = MetricComparison(scored.signature, scores, tested)
    return compared


def _texts(ratings: Mapping[str, Sequence[Rating]]) -> Systems:
    """Returns the segments of each system, with source and references of another system where a file has none."""
    rows = []
    for row in zip(*ratings.values(), strict=True):
        segments = [rating.segment for rating in row]
        keys = [segment.key or SegmentKey() for segment in segments]
        source = next((segment.source for segment in segments if segment.source is not None), None)
        references = next((segment.references for segment in segments if segment.references), ())
        lang_pair = next((key.lang_pair for key in keys if key.lang_pair), None)
        rows.append(
            [
                replace(
                    segment,
                    source=source if segment.source is None else segment.source,
                    references=segment.references or references,
                    key=replace(key, lang_pair=key.lang_pair or lang_pair),
                )
                for segment, key in zip(segments, keys, strict=True)
            ]
        )
    return dict(zip(ratings, map(list, zip(*rows, strict=True)), strict=True))
