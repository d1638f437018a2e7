"""Limits that translations must keep: error rates, a mean score, no blank ones, no loss against another system."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from matese import mqm
from matese.annotation import Rating, severities
from matese.errors import InputError, UsageError, counted
from matese.evaluation import alignment
from matese.evaluation.spans.evaluation import NamedRatings
from matese.evaluation.statistics import permutation_test
from matese.evaluation.statistics.arrays import FloatArray
from matese.evaluation.statistics.bootstrap import Figure
from matese.evaluation.systems import differences, quality
from matese.evaluation.systems.gate_limits import CONSISTENCY, GateLimits, Maximum
from matese.evaluation.systems.sampling import Sampling
from matese.mqm import Basis
from matese.text.words import count_words

_MOST_PERMUTATIONS = 1_000_000
FINDINGS = "max-findings"
"""The name of the check of what rules find."""


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
        losses: of these segments: errors, minus their score, or by how much it is below that of the other system.
        p: p-value of the permutation test, for "baseline" only.
        notice: what readers should know about the check; empty if nothing.
        is_significant: whether the test finds a difference, in either direction; None except for "baseline".
    """

    name: str
    quantity: str
    value: float
    limit: float
    passed: bool
    segments: tuple[int, ...] = ()
    losses: tuple[float, ...] = ()
    p: float | None = None
    notice: str = ""
    is_significant: bool | None = None


@dataclass(frozen=True, slots=True)
class GateResult:
    """The results for all limits.

    `scores` are the mean `score` and, if all ratings have one, `expected_score`, with intervals. `notice` says how the
    signature differs from that of the other system; "" if it does not. `baseline` is the other system's name, and
    `name` that of this one. `n_given` counts all segments of the system, None if that is not known.
    `n_accepted` findings were accepted, and `n_outdated` segments had been accepted with other texts.
    """

    ratings: tuple[Rating, ...]
    weights: mqm.Weights
    checks: tuple[Check, ...]
    scores: Mapping[str, Figure]
    notice: str = ""
    baseline: str | None = None
    name: str = ""
    n_given: int | None = None
    n_accepted: int = 0
    n_outdated: int = 0

    def __repr__(self) -> str:
        """Returns whether the limits are kept, and where the details are."""
        checks = ", ".join(
            f"{check.name} {check.value:.4g} {'passed' if check.passed else 'failed'}" for check in self.checks
        )
        segments = counted(len(self.ratings), "segment")
        return f"<GateResult of {segments}: passed={self.passed} ({checks}); see .checks, .scores>"

    @property
    def passed(self) -> bool:
        """Whether all limits are kept."""
        return all(check.passed for check in self.checks)


@dataclass(frozen=True, slots=True)
class GateResults:
    """The results of several systems."""

    results: tuple[GateResult, ...]

    def __repr__(self) -> str:
        """Returns whether the limits are kept, and where the details are."""
        failed = [result.name for result in self.results if not result.passed]
        systems = counted(len(self.results), "system")
        return f"<GateResults of {systems}: passed={self.passed}, failed={failed}; see .results>"

    @property
    def passed(self) -> bool:
        """Whether all systems keep all limits."""
        return all(result.passed for result in self.results)

    @property
    def checks(self) -> tuple[Check, ...]:
        """The checks of all systems."""
        return tuple(check for result in self.results for check in result.checks)

    @property
    def notice(self) -> str:
        """The notices of all systems."""
        return "; ".join(result.notice for result in self.results if result.notice)


def check(
    system: NamedRatings,
    limits: GateLimits,
    *,
    baseline: NamedRatings | None = None,
    weights: mqm.Weights = mqm.MATESE,
    sampling: Sampling = Sampling(),  # noqa: B008  (frozen)
    basis: Basis | None = None,
    is_accepted: Callable[[Rating], bool] = lambda rating: False,
) -> GateResult:
    """Returns the results of checking the ratings of one system; `matese.gate` describes the arguments.

    `is_accepted` says whether a blank translation is right.

    Raises:
        InputError: if there is no limit, or one cannot be checked.
    """
    names = [field.name for field in fields(GateLimits) if field.name not in ("alpha", "require_same_signature")]
    stated = {name for name in names if getattr(limits, name) not in (None, ())}
    has_limit = baseline is not None or bool(stated - {"max_blank"})
    if not has_limit and not stated:
        raise UsageError(f"no limit to check: give baseline or one of {', '.join(names)}")
    if not system.ratings:  # nothing has changed
        return GateResult((), weights, (), {}, name=system.name)
    systems = {named.name: named.ratings for named in (system, baseline) if named is not None}
    notice = alignment.signature_difference(systems)
    if limits.require_same_signature and notice:
        raise InputError(f"{notice.partition(': the scores')[0]}: must be the same")
    basis = quality.choose_basis(itertools.chain(*systems.values()), basis)
    ratings = system.ratings
    is_mqm = basis == "spans" or all(rating.estimate is None or rating.estimate.scale == "mqm" for rating in ratings)
    if limits.min_score is not None and limits.min_score > 0 and is_mqm:
        raise UsageError(f"min-score {limits.min_score:g}: must be 0 or less, as 0 is the best score")
    checks = list(_rate_checks(ratings, limits, weights))
    checks += (_maximum_check(ratings, maximum) for maximum in limits.max if isinstance(maximum, Maximum))
    if limits.max_findings is not None:
        n_findings = [sum(error.rule not in (None, CONSISTENCY) for error in rating.all_errors) for rating in ratings]
        checks.append(_check(FINDINGS, "findings of rules", sum(n_findings), limits.max_findings, n_findings))
    if limits.min_score is not None:
        scores = quality.segment_scores(ratings, weights, basis)
        score = mqm.corpus_score(scores.tolist())
        # Of another scale than MQM, on which 0 is perfect, only scores below the limit are to blame.
        harmless = 0.0 if is_mqm else -limits.min_score
        quantity = quality.SCORES[basis]
        checks.append(
            _check("min-score", quantity, score, limits.min_score, -scores, is_lowest=True, harmless=harmless)
        )
    if limits.min_error_free is not None:
        checks.append(_error_free_check(ratings, float(limits.min_error_free)))
    is_blank = [mqm.is_untranslated(rating.segment) and not is_accepted(rating) for rating in ratings]
    if limits.max_blank is not None and (not has_limit or sum(is_blank) > limits.max_blank):  # else not worth a line
        checks.append(_check("max-blank", "blank translations", sum(is_blank), limits.max_blank, is_blank))
    if baseline is not None:
        checks.append(_baseline_check(system, baseline, limits.alpha, weights, sampling, basis))
    drawn = differences.resample(ratings, sampling) if len(ratings) > 1 else ()
    figures = quality.statistic(ratings, weights).measure(drawn)
    return GateResult(
        tuple(ratings),
        weights,
        tuple(_worst_first(check, ratings, weights) for check in checks),
        {name: figure for name, figure in figures.items() if name in ("score", "expected_score")},
        notice,
        None if baseline is None else baseline.name,
        system.name,
    )


def _count(maximum: Maximum, rating: Rating) -> int:
    """Returns how many errors of a kind a rating has."""
    if maximum.kind == "errors":
        return quality.n_errors(rating)
    return sum(maximum.kind in (error.rule, severities.name(error.severity)) for error in rating.all_errors)


def _maximum_check(ratings: Sequence[Rating], maximum: Maximum) -> Check:
    counts = [_count(maximum, rating) for rating in ratings]
    if maximum.unit == "segment":
        return _check(maximum.name, maximum.quantity, max(counts), maximum.most, counts, harmless=maximum.most)
    value = float(sum(counts))
    if maximum.unit:
        size_of = count_words if maximum.unit == "1k" else len
        n = sum(size_of(_source(rating)) for rating in ratings)
        value = 1000 * value / n if n else math.inf if value else 0.0
    return _check(maximum.name, maximum.quantity, value, maximum.most, counts)


def _source(rating: Rating) -> str:
    if rating.segment.source is None:
        place = alignment.describe_segment(rating.segment)
        raise InputError(f"{place} has no source: a limit per 1,000 words or characters of the source needs one")
    return rating.segment.source


def _error_free_check(ratings: Sequence[Rating], least: float) -> Check:
    """Returns the result for the share of segments that are decided to be free of errors."""
    decisions = [rating.error_free for rating in ratings]
    stated = [decision for decision in decisions if decision is not None]
    if len(stated) < len(decisions):
        place = alignment.describe_segment(ratings[decisions.index(None)].segment)
        raise InputError(f"rating of {place} has no error_free: mark all segments with matese tag --error-free")
    losses = [0.0 if decision.label else 2.0 - (decision.probability or 0.0) for decision in stated]
    share = sum(decision.label for decision in stated) / len(stated)
    return _check("min-error-free", "share of error-free segments", share, least, losses, is_lowest=True)


def _rate_checks(ratings: Sequence[Rating], limits: GateLimits, weights: mqm.Weights) -> Iterator[Check]:
    if limits.max_major_per_1k is None and limits.max_errors_per_1k is None:
        return
    losses = {
        "major": list(map(quality.n_major, ratings)),  # raises for a rating without spans
        "errors": list(map(quality.n_errors, ratings)),
    }
    figures = quality.figures(ratings, weights)
    for key, limit, noun in (
        ("major", limits.max_major_per_1k, "Major errors"),
        ("errors", limits.max_errors_per_1k, "errors"),
    ):
        value = figures[f"per_1000_words.{key}"]
        if math.isnan(value):  # no hypothesis has words
            value = math.inf if sum(losses["errors"]) else 0.0
        if limit is not None:
            yield _check(f"max-{key}-per-1k", f"{noun} per 1,000 words", value, limit, losses[key])


def _check(
    name: str,
    quantity: str,
    value: float,
    limit: float,
    losses: Sequence[float] | FloatArray,
    *,
    is_lowest: bool = False,
    harmless: float = 0.0,
) -> Check:
    """Returns the result for a limit, with the segments of a violated one.

    `losses` is (segments,); a segment with one of at most `harmless` is not to blame.
    """
    passed = value >= limit if is_lowest else value <= limit
    return Check(name, quantity, value, limit, passed, *(((), ()) if passed else _blamed(losses, harmless)))


def _baseline_check(
    system: NamedRatings,
    baseline: NamedRatings,
    alpha: float,
    weights: mqm.Weights,
    sampling: Sampling,
    basis: Basis,
) -> Check:
    least = math.ceil(2 / alpha) - 1  # one is added to both counts, see `permutation_test`
    if least > _MOST_PERMUTATIONS:
        raise UsageError(f"alpha {alpha:g} needs {least:,} permutations; it must be {2 / _MOST_PERMUTATIONS:g} or more")
    theirs, ours = alignment.align({baseline.name: baseline.ratings, system.name: system.ratings}).values()
    before, after = (quality.segment_scores(ratings, weights, basis) for ratings in (theirs, ours))
    difference = float(after.mean() - before.mean())
    n_permutations = max(sampling.permutations, least)
    p = permutation_test.two_sided_p(before, after, n_permutations=n_permutations, seed=sampling.seed)
    passed = not (difference < 0 and p <= alpha)
    # The signs of n differences are all equal by chance in two of 2 ** n cases.
    n = int(np.count_nonzero(before != after))
    notice = ""
    if difference < 0 and 2 / 2**n > alpha:
        scores = "the score of 1 segment differs" if n == 1 else f"the scores of {n:,} segments differ"
        notice = f"{scores}: too few for any loss to be significant at alpha {alpha:g}"
    losses = {id(rating): loss for rating, loss in zip(ours, before - after, strict=True)}
    blamed = ((), ()) if passed else _blamed([losses[id(rating)] for rating in system.ratings])
    quantity = f"{quality.SCORES[basis]} minus that of {baseline.name}"
    return Check("baseline", quantity, difference, 0.0, passed, *blamed, p, notice, p <= alpha)


def _worst_first(check: Check, ratings: Sequence[Rating], weights: mqm.Weights) -> Check:
    """Returns the result with the segments in order: of equal losses, blank translations and lower scores are first."""

    def badness(number_and_loss: tuple[int, float]) -> tuple[float, bool, float]:
        number, loss = number_and_loss
        rating = ratings[number]
        return -loss, not mqm.is_untranslated(rating.segment), mqm.ranking_score(rating, weights)

    ordered = sorted(zip(check.segments, check.losses, strict=True), key=badness)
    return replace(check, segments=tuple(number for number, _ in ordered), losses=tuple(loss for _, loss in ordered))


def _blamed(losses: Sequence[float] | FloatArray, harmless: float = 0.0) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Returns the numbers of the segments with a loss of more than `harmless`, and their losses."""
    numbers = tuple(number for number, loss in enumerate(losses) if loss > harmless)
    return numbers, tuple(float(losses[number]) for number in numbers)
