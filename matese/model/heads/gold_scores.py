"""The score of a rating that a model learns, from its judgement of the whole segment or from its errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from matese import mqm
from matese.annotation import Rating
from matese.mqm import LOWEST_SCORE

_SHARE_LOST: Mapping[str, Callable[[float], float]] = {
    "0-1": lambda value: 1 - value,
    "esa": lambda value: 1 - value / 100,
    "da": lambda value: 1 - value / 100,
    "hter": lambda value: value,
}
"""For each bounded scale, the distance of a value from the best one: 0 (best) to 1 (worst)."""


def has_score(rating: Rating) -> bool:
    """Whether the whole segment was judged, by a person or a model, on a scale that can be mapped to MQM."""
    return rating.whole is not None and (rating.whole.scale == "mqm" or rating.whole.scale in _SHARE_LOST)


def score_of(rating: Rating) -> float:
    """Returns the MQM score to train on: the judgement of the whole segment if there is one, else the spans' score.

    It is nan if the whole segment was not judged and the spans are unknown, or the severity of one is undecided.

    The judgement comes first because the merged spans of several raters are a union, with more errors than any rater
    marked, whereas `overall` is the mean of the raters' scores. Other bounded scales are mapped linearly to MQM.
    """
    whole = rating.whole
    if whole is not None and whole.scale == "mqm":
        score = whole.value
    elif whole is not None and whole.scale in _SHARE_LOST:
        score = LOWEST_SCORE * _SHARE_LOST[whole.scale](whole.value)
    elif rating.errors is None or any(error.severity is None for error in rating.all_errors):
        return math.nan
    else:
        score = mqm.score(rating)
    return max(score, LOWEST_SCORE)


def quality_of(rating: Rating) -> float:
    """Returns the quality that a regression model learns: from 0 (worst) to 1 (best), but z-scores unchanged.

    Scores of released models ("comet") are also unchanged. nan as in `score_of`.
    """
    whole = rating.whole
    if whole is not None and whole.scale in ("z", "comet"):
        return whole.value
    return 1 - score_of(rating) / LOWEST_SCORE


def has_quality(rating: Rating) -> bool:
    """Whether the whole segment was judged, on a scale that `quality_of` supports."""
    return has_score(rating) or (rating.whole is not None and rating.whole.scale in ("z", "comet"))
