"""Several judgements of one segment by a language model: one rating, without the outliers.

GEMBA V2 (Junczys-Dowmunt 2025, https://aclanthology.org/2025.wmt-1.67) asks ten times and removes scores further than
two standard deviations from the mean; it weights the others by their reciprocal rank. Here they have equal weights.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from matese import mqm
from matese.annotation import Estimate, Rating

_MOST_DEVIATIONS = 2.0


@dataclass(frozen=True, slots=True)
class Combined:
    """What several judgements come to.

    Attributes:
        estimate: the mean score without the outliers, with the lowest and the highest of these scores and their
            standard deviation. Scores are those that the model gave, or else the MQM scores of its errors.
        nearest: number of the judgement whose score is nearest to the mean, the first of several.
        n_outliers: judgements that were left out.
    """

    estimate: Estimate
    nearest: int
    n_outliers: int


def combine(ratings: Sequence[Rating], weights: mqm.Weights) -> Combined:
    """Returns what one or more judgements of a segment come to; `weights` are the penalties of errors."""
    estimates = [rating.estimate or Estimate(mqm.score(rating, weights), "mqm") for rating in ratings]
    scores = [estimate.value for estimate in estimates]
    kept = without_outliers(scores)
    values = [scores[number] for number in kept]
    mean = statistics.fmean(values)
    estimate = Estimate(mean, estimates[0].scale, min(values), max(values), statistics.pstdev(values))
    nearest = min(kept, key=lambda number: abs(scores[number] - mean))
    return Combined(estimate, nearest, len(scores) - len(kept))


def without_outliers(scores: Sequence[float]) -> list[int]:
    """Returns the places of the scores at most two standard deviations from the mean.

    >>> without_outliers([80, 81, 79, 80, 82, 78, 80, 10]), without_outliers([50])
    ([0, 1, 2, 3, 4, 5, 6], [0])
    """
    mean = statistics.fmean(scores)
    farthest = _MOST_DEVIATIONS * statistics.pstdev(scores)
    # Equal scores differ from their mean by rounding only.
    return [number for number, score in enumerate(scores) if abs(score - mean) <= farthest + 1e-9]
