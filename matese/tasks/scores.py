"""Scores of ratings in any form: one, a collection, a file, or a table in memory."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import TYPE_CHECKING, cast, overload

from matese import mqm
from matese.annotation import Rating
from matese.render.rating_list import Ratings
from matese.tasks import files

if TYPE_CHECKING:
    from matese.tasks.files import RatingsLike


@overload
def score(ratings: Rating, *, weights: mqm.AnyWeights = "matese") -> float: ...


@overload
def score(ratings: RatingsLike, *, weights: mqm.AnyWeights = "matese") -> list[float]: ...


def score(ratings: Rating | RatingsLike, *, weights: mqm.AnyWeights = "matese") -> float | list[float]:
    """Returns the score of a rating, 0 or less: minus the penalties of all errors; for several, a list of scores.

    Errors in the source and without a place count too, and so do omissions unless `weights.omissions` is off.

    Args:
        ratings: one, or several: a collection, a file, or a table of pandas, polars or datasets.
        weights: the penalties, or the name of a preset.

    Raises:
        InputError: if spans were not annotated (`errors` is None), or a file or table cannot be read.
    """
    weights = mqm.find_weights(weights)
    if isinstance(ratings, Rating):
        return mqm.score(ratings, weights)
    return [mqm.score(rating, weights) for rating in files.listed(ratings)]


@overload
def expected_score(ratings: Rating) -> float | None: ...


@overload
def expected_score(ratings: RatingsLike) -> list[float | None]: ...


def expected_score(ratings: Rating | RatingsLike) -> float | list[float | None] | None:
    """Returns a model's estimate of a segment, on the MQM scale or a COMET model's own; for several, a list.

    It is None where there is no estimate: a person's judgement is none, whatever its scale.

    Args:
        ratings: one, or several, as in `score`.
    """
    if isinstance(ratings, Rating):
        return mqm.expected_score(ratings)
    return list(map(mqm.expected_score, files.listed(ratings)))


def corpus_score(scores: Iterable[float] | RatingsLike, *, weights: mqm.AnyWeights = "matese") -> float:
    """Returns the mean of segment scores.

    Args:
        scores: of the segments, or their ratings in any form, as in `score`.
        weights: the penalties for the scores of ratings, or the name of a preset.

    Raises:
        InputError: if there are none, they are too large, or the spans of a rating were not annotated.
    """
    weights = mqm.find_weights(weights)
    if isinstance(scores, str | PathLike) or files.is_frame(scores):
        scores = files.listed(cast("RatingsLike", scores))
    items = cast("Iterable[float | Rating]", scores)
    return mqm.corpus_score(mqm.score(item, weights) if isinstance(item, Rating) else item for item in items)


def worst_first(ratings: RatingsLike, *, weights: mqm.AnyWeights = "matese") -> Ratings:
    """Returns ratings in ascending order of their expected scores, or of their scores if one has no expected score.

    Args:
        ratings: in any form, as in `score`.
        weights: the penalties for their scores, or the name of a preset.
    """
    return Ratings(mqm.worst_first(files.listed(ratings), weights))
