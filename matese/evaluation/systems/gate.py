"""Limits that translations must keep: error rates, a mean score, no blank ones, no loss against another system."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from matese import mqm
from matese.annotation import Rating
from matese.errors import UsageError, check_probability
from matese.evaluation import alignment
from matese.evaluation.spans.evaluation import NamedRatings
from matese.evaluation.statistics import bootstrap, sign_flips
from matese.evaluation.statistics.arrays import FloatArray
from matese.evaluation.statistics.bootstrap import Figure
from matese.evaluation.systems import differences, quality, signatures
from matese.evaluation.systems.differences import ResamplingOptions
from matese.evaluation.systems.quality import Basis

_MOST_PERMUTATIONS = 1_000_000


@dataclass(frozen=True, slots=True)
class GateLimits:
    """Limits that ratings of one system must keep; None for no limit. A value equal to its limit keeps it.

    Attributes:
        max_major_per_1k: most Major and Critical errors per 1,000 words.
        max_errors_per_1k: most errors per 1,000 words.
        per: unit of these two rates.
        min_score: lowest mean of the score that systems are ranked by.
        alpha: significance level of a loss against a baseline.
        max_blank: most blank translations of a text.
    """

    max_major_per_1k: float | None = None
    max_errors_per_1k: float | None = None
    per: Literal["words", "characters"] = "words"
    min_score: float | None = None
    alpha: float = 0.05
    max_blank: int | None = 0

    def __post_init__(self) -> None:
        check_probability(alpha=self.alpha)

    @property
    def has_figure(self) -> bool:
        """Whether a rate or the score is limited."""
        return (self.max_major_per_1k, self.max_errors_per_1k, self.min_score) != (None,) * 3


@dataclass(frozen=True, slots=True)
class Check:
    """The result for one limit.

    Attributes:
        name: of the option, such as "min-score".
        quantity: what is limited, for readers.
        value: what was measured.
        limit: what it is compared with.
        passed: whether the limit is kept.
        segments: numbers of the segments that are responsible, worst first; empty if the limit is kept.
        p: p-value of the permutation test, for "baseline" only.
        notice: what readers should know about the check; empty if nothing.
    """

    name: str
    quantity: str
    value: float
    limit: float
    passed: bool
    segments: tuple[int, ...] = ()
    p: float | None = None
    notice: str = ""


@dataclass(frozen=True, slots=True)
class GateResult:
    """The results for all limits.

    Attributes:
        ratings: what was checked.
        weights: what the scores are computed with.
        checks: the results.
        scores: mean `score` and, if all ratings have one, `expected_score`, with intervals.
        notice: how the signature differs from that of the other system; "" if it does not.
    """

    ratings: tuple[Rating, ...]
    weights: mqm.Weights
    checks: tuple[Check, ...]
    scores: Mapping[str, Figure]
    notice: str = ""

    @property
    def passed(self) -> bool:
        """Whether all limits are kept."""
        return all(check.passed for check in self.checks)


def check(
    system: NamedRatings,
    limits: GateLimits,
    *,
    baseline: NamedRatings | None = None,
    weights: mqm.Weights = mqm.MATESE,
    sampling: ResamplingOptions = ResamplingOptions(),  # noqa: B008  (frozen)
    basis: Basis | None = None,
    require_same_signature: bool = False,
) -> GateResult:
    """Returns the results of checking the ratings of one system.

    Args:
        system: ratings, one per segment.
        limits: what they must keep.
        baseline: another system; its check fails if the mean score is lower than this system's and a paired
            permutation test finds the loss significant.
        weights: what the scores are computed with.
        sampling: how intervals and p-values are drawn.
        basis: which score is limited and compared; None for the expected score if all ratings have one.
        require_same_signature: raise an InputError if the two systems' signatures differ.

    Raises:
        InputError: if there is no limit, or one cannot be checked.
    """
    has_limit = baseline is not None or limits.has_figure
    if not has_limit and limits.max_blank is None:
        raise UsageError(
            "no limit to check: give max_major_per_1k, max_errors_per_1k, min_score, baseline or max_blank"
        )
    both = {one.name: one.ratings for one in (system, baseline) if one is not None}
    if require_same_signature:
        signatures.require_same(both)
    basis = quality.choose_basis((rating for own in both.values() for rating in own), basis)
    is_mqm = basis == "spans" or all(one.estimate is None or one.estimate.scale == "mqm" for one in system.ratings)
    if limits.min_score is not None and limits.min_score > 0 and is_mqm:
        raise UsageError(f"min-score {limits.min_score:g}: must be 0 or less, as 0 is the best score")
    checks = [
        *_rate_checks(system, limits, weights),
        *_score_check(system, limits, weights, basis),
        *_blank_check(system, limits, is_only=not has_limit),
    ]
    if baseline is not None:
        checks.append(_baseline_check(system, baseline, limits.alpha, weights, sampling, basis))
    drawn = differences.resample(system.ratings, sampling) if len(system.ratings) > 1 else ()
    statistic = quality.statistic(system.ratings, weights)
    figures = bootstrap.measure(statistic, bootstrap.once(len(system.ratings)), drawn)
    scores = {name: one for name, one in figures.items() if name in ("score", "expected_score")}
    return GateResult(tuple(system.ratings), weights, tuple(checks), scores, signatures.difference(both))


def _rate_checks(system: NamedRatings, limits: GateLimits, weights: mqm.Weights) -> Iterator[Check]:
    if limits.max_major_per_1k is not None or limits.max_errors_per_1k is not None:
        for rating in system.ratings:
            quality.severity_counts(rating)  # raises for one without spans
    figures = quality.figures(system.ratings, weights)
    for key, limit, what, count in (
        ("major", limits.max_major_per_1k, "Major errors", quality.n_major),
        ("errors", limits.max_errors_per_1k, "errors", quality.n_errors),
    ):
        if limit is None:
            continue
        value = figures[f"per_1000_{limits.per}.{key}"]
        if math.isnan(value):  # no hypothesis has words
            value = math.inf if figures["major"] + figures["minor"] + figures["critical"] else 0.0
        worst = () if value <= limit else _worst_first([count(rating) for rating in system.ratings])
        yield Check(f"max-{key}-per-1k", f"{what} per 1,000 {limits.per}", value, limit, value <= limit, worst)


def _score_check(system: NamedRatings, limits: GateLimits, weights: mqm.Weights, basis: Basis) -> Iterator[Check]:
    if limits.min_score is not None:
        scores = quality.segment_scores(system.ratings, weights, basis)
        score = mqm.corpus_score(scores.tolist())
        passed = score >= limits.min_score
        worst = () if passed else _worst_first(-scores)
        yield Check("min-score", quality.SCORES[basis], score, limits.min_score, passed, worst)


def _blank_check(system: NamedRatings, limits: GateLimits, *, is_only: bool) -> Iterator[Check]:
    is_blank = [mqm.is_untranslated(rating.segment) for rating in system.ratings]
    if limits.max_blank is None:
        return
    passed = sum(is_blank) <= limits.max_blank
    if is_only or not passed:  # not worth a line otherwise
        worst = () if passed else _worst_first(is_blank)
        yield Check("max-blank", "blank translations", sum(is_blank), limits.max_blank, passed, worst)


def _baseline_check(
    system: NamedRatings,
    baseline: NamedRatings,
    alpha: float,
    weights: mqm.Weights,
    sampling: ResamplingOptions,
    basis: Basis,
) -> Check:
    least = math.ceil(2 / alpha) - 1  # one is added to both counts, see `sign_flips`
    if least > _MOST_PERMUTATIONS:
        raise UsageError(f"alpha {alpha:g} needs {least:,} permutations; it must be {2 / _MOST_PERMUTATIONS:g} or more")
    theirs, ours = alignment.align({baseline.name: baseline.ratings, system.name: system.ratings}).values()
    before, after = (quality.segment_scores(own, weights, basis) for own in (theirs, ours))
    difference = float(after.mean() - before.mean())
    p = sign_flips.permutation_test(
        before, after, n_permutations=max(sampling.n_permutations, least), seed=sampling.seed
    )
    passed = not (difference < 0 and p <= alpha)
    # The signs of n differences are all equal by chance in two of 2 ** n cases.
    n = int(np.count_nonzero(before != after))
    notice = ""
    if difference < 0 and 2 / 2**n > alpha:
        scores = "the score of 1 segment differs" if n == 1 else f"the scores of {n:,} segments differ"
        notice = f"{scores}: too few for any loss to be significant at alpha {alpha:g}"
    losses = {id(rating): loss for rating, loss in zip(ours, before - after, strict=True)}
    worst = () if passed else _worst_first([losses[id(rating)] for rating in system.ratings])
    quantity = f"{quality.SCORES[basis]} minus that of {baseline.name}"
    return Check("baseline", quantity, difference, 0.0, passed, worst, p, notice)


def _worst_first(losses: Sequence[float] | FloatArray) -> tuple[int, ...]:
    """Returns the numbers of the segments with a loss, the largest first."""
    order = sorted(range(len(losses)), key=lambda number: -losses[number])
    return tuple(number for number in order if losses[number] > 0)
