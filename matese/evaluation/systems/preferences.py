"""Which of two systems is preferred, segment by segment: win rates with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from matese.annotation import Rating
from matese.errors import InputError
from matese.evaluation.statistics.bootstrap import AdditiveStatistic, Figure
from matese.evaluation.systems.differences import resample
from matese.evaluation.systems.sampling import Sampling

_VALUES = {"first": 0.0, "tie": 0.5, "second": 1.0}
_RATE = "win_rate"


@dataclass(frozen=True, slots=True)
class PairPreferences:
    """What a judge says of two systems.

    Attributes:
        wins: segments in which the second system is better.
        losses: segments in which the first is better.
        ties: segments in which neither is, unsteady ones included.
        unsteady: ties of which one order of the translations got another answer than the other.
        unanswered: segments without a usable answer, which count nowhere.
        win_rate: share of the segments that the second wins; ties count half.
    """

    wins: int
    losses: int
    ties: int
    unsteady: int
    unanswered: int
    win_rate: Figure


def summarise(
    judged: Sequence[tuple[Literal["first", "second", "tie"] | None, bool]],
    ratings: Sequence[Rating],
    sampling: Sampling,
) -> PairPreferences:
    """Returns what the preferences of the segments of two systems come to.

    Args:
        judged: the better system of each segment, None if there is no answer; and whether both orders agreed.
        ratings: of one of the systems, which say to which language pair the segments belong.
        sampling: how the interval is drawn.

    Raises:
        InputError: if there is no answer at all.
    """
    answered = [(better, rating) for (better, _), rating in zip(judged, ratings, strict=True) if better is not None]
    if not answered:
        raise InputError("the language model gave no usable answer to any pair of translations")
    preferences = [better for better, _ in answered]
    statistic = AdditiveStatistic.of_means({_RATE: [_VALUES[better] for better in preferences]})
    return PairPreferences(
        wins=preferences.count("second"),
        losses=preferences.count("first"),
        ties=preferences.count("tie"),
        unsteady=sum(not is_steady for _, is_steady in judged),
        unanswered=len(judged) - len(preferences),
        win_rate=statistic.measure(resample([rating for _, rating in answered], sampling))[_RATE],
    )
