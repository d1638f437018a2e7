"""Training labels from ratings: the tag of each token, and the score of the segment."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from matese import mqm
from matese.annotation import ErrorSpan, Omission, Rating, Severity, UnplacedError
from matese.model.heads.tags import bio
from matese.model.texts.encoding import Tokens
from matese.mqm import LOWEST_SCORE
from matese.text import severity_rank
from matese.training.config import Config
from matese.training.targets import ANY_ERROR, IGNORED

TagIds = npt.NDArray[np.int8]
CategoryIds = npt.NDArray[np.int16]


@dataclass(frozen=True)
class Labels:
    """Functions that turn a rating into the labels of a kind of model.

    Attributes:
        has_score: returns whether a rating judges the whole segment, on a scale that can become a score.
        score: returns the score of a rating, nan if unknown.
        of_tokens: returns the tag of each token of the hypothesis.
        of_categories: see `Example.category_ids`; None if categories are not learned.
        of_meaning: returns `Example.meaning_ids` and `has_meaning_error`; None if errors of meaning are not learned.
        needs_categories: whether to skip ratings in which no error has a known category.
    """

    has_score: Callable[[Rating], bool]
    score: Callable[[Rating], float]
    of_tokens: Callable[[Rating, Tokens], TagIds]
    of_categories: Callable[[Rating, Tokens], CategoryIds] | None = None
    of_meaning: Callable[[Rating, Tokens], tuple[TagIds, float]] | None = None
    needs_categories: bool = False


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

    It is nan if the severity of a span is undecided and the whole segment was not judged.

    The judgement comes first because the merged spans of several raters are a union, with more errors than any rater
    marked, whereas `overall` is the mean of the raters' scores. Other bounded scales are mapped linearly to MQM.
    """
    whole = rating.whole
    if whole is not None and whole.scale == "mqm":
        score = whole.value
    elif whole is not None and whole.scale in _SHARE_LOST:
        score = LOWEST_SCORE * _SHARE_LOST[whole.scale](whole.value)
    elif any(span.severity is None for span in rating.errors or ()):
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


def severity_labels(rating: Rating, tokens: Tokens, severities: Sequence[Severity]) -> TagIds:
    """Returns the label of each token of the hypothesis: 0 for no error, else 1 + the number of the severity.

    A severity that the model lacks becomes the nearest one that it has; neutral errors are not labelled. Where errors
    overlap, the worst counts. IGNORED for errors of undecided severity, and without spans or severities.
    """
    labels = np.zeros(len(tokens.ids), dtype=np.int8)
    if rating.errors is None or not severities:
        return np.full_like(labels, IGNORED)
    for span in sorted(rating.errors, key=lambda other: severity_rank(other.severity)):
        if span.severity is Severity.NEUTRAL:
            continue
        label = IGNORED
        if (severity := span.severity) is not None:
            distances = [abs(severity_rank(other) - severity_rank(severity)) for other in severities]
            label = 1 + distances.index(min(distances))
        labels[_within(span, tokens)] = label
    return labels


def _within(span: ErrorSpan | Omission, tokens: Tokens) -> list[int]:
    """Returns the positions of a span's tokens."""
    return list(bio.tokens_within(span.start, span.end, tokens.ranges.tolist()))


def omission_labels(rating: Rating, reference: int | None, tokens: Tokens) -> npt.NDArray[np.int8] | None:
    """Returns whether the hypothesis lacks each token of a context; None if the rating leaves it unknown.

    In a rating without omissions, nothing is missing, unless one of its errors may be an omission. A rating with
    omissions leaves the texts without any unknown. The context is a reference, or the source if its number is None.
    """
    if rating.errors is None:
        return None
    omissions = [omission for omission in rating.omissions if omission.reference == reference]
    others = [error for error in rating.all_errors if not isinstance(error, Omission)]
    is_open = any(isinstance(error, UnplacedError) or "mission" in (error.category or "") for error in others)
    if len(omissions) < len(rating.omissions[:1]) or (not rating.omissions and is_open):
        return None
    missing = np.zeros(len(tokens.ids), dtype=np.int8)
    for omission in omissions:
        missing[_within(omission, tokens)] = 1
    return missing


def category_labels(rating: Rating, tokens: Tokens) -> CategoryIds:
    """Returns the error and the category of each token, see `Example.category_ids`."""
    labels = np.full(len(tokens.ids), IGNORED, dtype=np.int16)
    for number, span in enumerate(rating.errors or ()):
        category = mqm.main_category(span.category)
        if category is not None:
            labels[_within(span, tokens)] = len(mqm.CATEGORIES) * number + mqm.CATEGORIES.index(category)
    return labels


def token_labels(rating: Rating, tokens: Tokens) -> TagIds:
    """Returns the tag of each token of the hypothesis: ANY_ERROR for an error of undecided severity.

    IGNORED in a rating without spans.
    """
    if rating.errors is None:
        return np.full(len(tokens.ids), IGNORED, dtype=np.int8)
    labels = np.array(bio.from_spans(rating.errors, tokens.ranges.tolist()), dtype=np.int8)
    for span in rating.errors:
        if span.severity is None:
            within = _within(span, tokens)
            labels[within] = np.where(labels[within] == bio.O, ANY_ERROR, labels[within])
    return labels


def meaning_labels(rating: Rating, tokens: Tokens, raters: Collection[str]) -> tuple[TagIds, float]:
    """Returns whether each token is in an error of meaning, and whether the segment has one.

    Contrasts, the ratings of these raters, say both. A translation that people found free of errors has none, and the
    other ratings say nothing, since their errors are of all kinds.
    """
    is_contrast = rating.rater in raters
    n_errors = len(rating.all_errors)
    if rating.errors is None or (n_errors and not is_contrast):
        return np.full(len(tokens.ids), IGNORED, dtype=np.int8), math.nan
    labels = np.zeros(len(tokens.ids), dtype=np.int8)
    if len(rating.errors) < n_errors:
        labels[:] = IGNORED  # some errors have no place
    for span in rating.errors:
        labels[_within(span, tokens)] = 1
    return labels, float(n_errors > 0)


def _unless(
    raters: Collection[str], of_tokens: Callable[[Rating, Tokens], TagIds]
) -> Callable[[Rating, Tokens], TagIds]:
    """Returns the function without labels for the ratings of these raters."""

    def labels(rating: Rating, tokens: Tokens) -> TagIds:
        if rating.rater in raters:
            return np.full(len(tokens.ids), IGNORED, dtype=np.int8)
        return of_tokens(rating, tokens)

    return labels


OF_TAGGER = Labels(has_score, score_of, token_labels)


def of_regression(severities: Sequence[Severity]) -> Labels:
    """Returns the labels of a regression model that marks errors of these severities, if any."""
    return Labels(has_quality, quality_of, partial(severity_labels, severities=severities))


def of(config: Config) -> Labels:
    """Returns the labels of the model that the settings describe."""
    if config.regression is not None:
        return of_regression(config.regression.severities)
    learned = replace(OF_TAGGER, of_categories=category_labels if config.tagger.category_head else None)
    if not config.tagger.meaning_head:
        return learned
    raters = frozenset(config.data.contrast_raters)
    return replace(
        learned,
        of_tokens=_unless(raters, token_labels),
        score=lambda rating: math.nan if rating.rater in raters else score_of(rating),
        of_meaning=partial(meaning_labels, raters=raters),
    )
