"""Quality of translations: scores, errors per 1,000 words, shares of segments by their severest errors.

No gold standard is needed: these are figures of one set of Ratings, human or predicted. Errors are Minor, Major and
Critical ones (`COUNTED`) in the hypothesis, in the source, omissions, or without a place. Neutral and undecided ones do
not count.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

import numpy as np

from matese import mqm
from matese.annotation import Rating, Severity
from matese.annotation.severities import COUNTED, MINOR_MAJOR
from matese.errors import InputError, UsageError, one_of
from matese.evaluation.alignment import describe_segment
from matese.evaluation.spans.rating_pairs import annotated_spans
from matese.evaluation.statistics.arrays import FloatArray, divide
from matese.evaluation.statistics.bootstrap import AdditiveStatistic
from matese.mqm import Basis
from matese.text.words import count_words

SCORES: Mapping[Basis, str] = {"spans": "score", "expected": "expected score"}
SHARES: Mapping[str, str] = {
    "no_error": "no error",
    "only_minor": "only Minor",
    "one_major": "one Major",
    "several_major": "several Major",
}
"""Groups of segments by their severest errors, as in MT-Telescope, for readers; a Critical error counts as Major."""


def severity_counts(rating: Rating) -> dict[Severity, int]:
    """Returns the number of errors of a rating by severity: Minor, Major, Critical.

    Raises:
        InputError: if the rating has no spans.
    """
    annotated_spans(rating)
    severities = [error.severity for error in rating.all_errors]
    return {severity: severities.count(severity) for severity in COUNTED}


def n_errors(rating: Rating) -> int:
    """Returns the number of errors of a rating."""
    return sum(severity_counts(rating).values())


def n_major(rating: Rating) -> int:
    """Returns the number of Major and Critical errors of a rating."""
    return sum(n for severity, n in severity_counts(rating).items() if COUNTED[severity] is Severity.MAJOR)


def severity_group(rating: Rating) -> str:
    """Returns the group of `SHARES` to which a segment belongs; "undecided", which is none of them, if that is open."""
    major = n_major(rating)
    if major:
        return "one_major" if major == 1 else "several_major"
    if n_errors(rating):
        return "only_minor"
    return "undecided" if mqm.n_undecided([rating]) else "no_error"


def have_spans(ratings: Iterable[Rating]) -> bool:
    """Returns whether the errors of all segments were annotated.

    Raises:
        InputError: if a rating has neither spans nor an expected score.
    """
    without = [rating for rating in ratings if rating.errors is None]
    for rating in without:
        if mqm.expected_score(rating) is None:
            annotated_spans(rating)  # raises
    return not without


def choose_basis(ratings: Iterable[Rating], basis: Basis | None = None) -> Basis:
    """Returns what systems are ranked by: unless it is given, the expected score if all ratings have one.

    Raises:
        UsageError: if there is no such basis.
        InputError: if a rating lacks the expected score that is asked for.
    """
    if basis not in (None, *get_args(Basis)):
        raise UsageError(f"by {basis!r}: must be {one_of(get_args(Basis))}")
    ratings = list(ratings)
    lacking = next((rating for rating in ratings if mqm.expected_score(rating) is None), None)
    if lacking is None and basis != "spans":
        return "expected"
    if lacking is None or basis != "expected":
        for rating in ratings:
            annotated_spans(rating)  # raises for one without spans
        return "spans"
    place = describe_segment(lacking.segment)
    raise InputError(f"rating of {place} has no expected score; rank by spans instead")


def segment_scores(ratings: Sequence[Rating], weights: mqm.Weights, basis: Basis = "spans") -> FloatArray:
    """Returns the scores of segments, NaN where there are no spans or no expected score: (segments,)."""
    if basis == "spans":
        return np.array([math.nan if rating.errors is None else mqm.score(rating, weights) for rating in ratings])
    return np.array([mqm.expected_score(rating) for rating in ratings], dtype=np.float64)


def figures(ratings: Sequence[Rating], weights: mqm.Weights) -> dict[str, float]:
    """Returns the figures of `statistic` on the ratings themselves, NaN where undefined.

    Raises:
        InputError: if a rating has no spans.
    """
    return {name: figure.value for name, figure in statistic(ratings, weights).measure().items()}


def statistic(ratings: Sequence[Rating], weights: mqm.Weights) -> AdditiveStatistic:
    """Returns the figures of a system: scores, counts, `per_1000_words.*`, `per_1000_characters.*`, `share.*`.

    `expected_score` is among them if all ratings have one; it is the only figure of ratings without spans.

    Raises:
        InputError: if a rating has neither spans nor an expected score.
    """
    if not have_spans(ratings):
        return AdditiveStatistic.of_means({"expected_score": segment_scores(ratings, weights, "expected")})
    counts = [severity_counts(rating) for rating in ratings]
    groups = [severity_group(rating) for rating in ratings]
    hypotheses = [rating.segment.hypothesis for rating in ratings]
    columns: dict[str, Sequence[float] | FloatArray] = {
        "segments": np.ones(len(ratings)),
        "score": segment_scores(ratings, weights),
        "expected_score": segment_scores(ratings, weights, "expected"),
        "words": list(map(count_words, hypotheses)),
        "characters": list(map(len, hypotheses)),
        **{severity.value: [of_segment[severity] for of_segment in counts] for severity in COUNTED},
        **{f"share.{name}": [group == name for group in groups] for name in SHARES},
    }
    table = np.column_stack(list(columns.values())).astype(np.float64)
    return AdditiveStatistic(table, lambda totals: _figures(dict(zip(columns, totals.T, strict=True))))


def _figures(totals: Mapping[str, FloatArray]) -> Mapping[str, FloatArray]:
    """Returns the figures of samples from the totals of the columns of `statistic`, (samples,) each."""
    n = totals["segments"]
    means = {name: divide(totals[name], n) for name in ("score", "expected_score")}
    # A rating without an expected score makes every sum NaN.
    figures = {name: mean for name, mean in means.items() if np.isfinite(mean).all()}
    figures |= {severity.value: totals[severity.value] for severity in COUNTED}
    counts = {name: np.zeros_like(n) for name in ("errors", *(severity.value for severity in MINOR_MAJOR))}
    for severity, counts_as in COUNTED.items():
        for name in ("errors", counts_as.value):
            counts[name] = counts[name] + totals[severity.value]
    for unit in ("words", "characters"):
        figures |= {f"per_1000_{unit}.{name}": divide(1000 * count, totals[unit]) for name, count in counts.items()}
    return figures | {f"share.{name}": divide(totals[f"share.{name}"], n) for name in SHARES}
