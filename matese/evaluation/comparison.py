"""Two systems on the same segments: which is better, how surely, and what became of the errors.

No gold is needed. Differences are of the second system less the first; a score that is higher, and a number of errors
that is lower, is better. The intervals are those of the paired bootstrap, the p-values two-sided ones of the paired
permutation test by sign flips (`soft_pairwise.p_values`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from matese import mqm
from matese.annotation import Rating
from matese.evaluation import bootstrap, quality, soft_pairwise, versions
from matese.evaluation.bootstrap import Comparison, FloatArray
from matese.evaluation.evaluation import Figure
from matese.evaluation.versions import Changes

LEAST_SEGMENTS = 2
"""What a bootstrap needs."""
_BLOCK = 100


@dataclass(frozen=True, slots=True)
class Chance:
    """How chance is drawn.

    Attributes:
        n_resamples: of the bootstrap; 0 for none.
        n_flips: of the permutation test.
        seed: of both.
    """

    n_resamples: int = 1000
    n_flips: int = 1000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Test:
    """One figure of two systems.

    Attributes:
        bootstrap: the difference, its interval and p-value.
        p: of the permutation test.
    """

    bootstrap: Comparison
    p: float


@dataclass(frozen=True, slots=True)
class Versus:
    """Two systems.

    Attributes:
        score: of the mean scores.
        errors: of the mean numbers of errors a segment.
        major: of those that are Major or Critical.
        balance: of the errors introduced less those fixed, a segment.
        shift: of the errors worsened less those softened, a segment.
        wins: shares of the resamples in which the first has the higher score, the second has, and neither; nan
            without resamples.
        changes: what became of the errors, a segment each.
    """

    score: Test
    errors: Test
    major: Test
    balance: Test
    shift: Test
    wins: tuple[float, float, float]
    changes: tuple[Changes, ...]

    def n_changes(self) -> dict[str, int]:
        """Returns how many errors had which fate."""
        return {name: sum(one.counts()[name] for one in self.changes) for name in versions.CHANGES}


def measure(
    systems: Sequence[Sequence[Rating]], weights: mqm.Weights, chance: Chance
) -> tuple[list[Mapping[str, Figure]], list[Mapping[str, FloatArray]]]:
    """Returns the figures of each system (see `quality.statistic`), and them on the resamples, the same for all.

    Raises:
        ValueError: if there are fewer segments than a bootstrap needs, or a rating has no spans.
    """
    strata = _strata(systems[0])
    if chance.n_resamples and len(strata) < LEAST_SEGMENTS:
        raise ValueError(f"{len(strata)} segment: must be {LEAST_SEGMENTS} or more for a bootstrap (0 resamples: none)")
    statistics = [quality.statistic(ratings, weights) for ratings in systems]
    chunks: list[list[Mapping[str, FloatArray]]] = [[] for _ in systems]
    for drawn in bootstrap.resamples(chance.n_resamples, strata, seed=chance.seed):
        for one, found in zip(statistics, chunks, strict=True):
            found.append(one.figures(drawn))
    points = [one.figures(bootstrap.once(len(strata))) for one in statistics]
    samples = [
        {name: np.concatenate([chunk[name] for chunk in found]) if found else np.zeros(0) for name in point}
        for point, found in zip(points, chunks, strict=True)
    ]
    figures = [
        {name: Figure(float(values[0]), *bootstrap.interval(sample[name])) for name, values in point.items()}
        for point, sample in zip(points, samples, strict=True)
    ]
    return list(figures), list(samples)


def compare(first: Sequence[Rating], second: Sequence[Rating], weights: mqm.Weights, chance: Chance) -> Versus:
    """Returns what is known of two systems, whose rating i is of one segment each.

    Raises:
        ValueError: as `measure`.
    """
    _, samples = measure([first, second], weights, chance)
    scores = [np.array([mqm.score(one, weights) for one in own]) for own in (first, second)]
    changes = tuple(map(versions.changes, first, second))
    fates = [one.counts() for one in changes]
    counts = [[count(one) for one in own] for count in (quality.n_errors, quality.n_major) for own in (first, second)]
    counts += [[own[name] for own in fates] for name in ("fixed", "introduced", "softened", "worsened")]
    columns = list(np.array(counts, dtype=np.float64))
    means = _means(columns, _strata(first), chance)
    errors, major, balance, shift = (
        _test(columns[at : at + 2], means[at : at + 2], chance) for at in range(0, len(columns), 2)
    )
    score = _test(scores, [sample["score"] for sample in samples], chance)
    gains = samples[1]["score"] - samples[0]["score"]
    wins = tuple(float(share.mean()) if len(gains) else float("nan") for share in (gains < 0, gains > 0, gains == 0))
    return Versus(score, errors, major, balance, shift, (wins[0], wins[1], wins[2]), changes)


def permutation(first: FloatArray, second: FloatArray, *, n_flips: int, seed: int) -> float:
    """Returns the two-sided p-value of "the two have one mean", (segments,) each.

    One is added to both counts, as if the observed signs were among those drawn: no p is 0.
    """
    rng, scores, is_rated = np.random.default_rng(seed), np.array([first, second]), np.ones((2, len(first)), dtype=bool)
    n_at_least = np.zeros(2)
    for start in range(0, n_flips, _BLOCK):
        signs = soft_pairwise.flips(len(first), rng, min(_BLOCK, n_flips - start))
        for side, rows in enumerate((scores, scores[::-1])):
            n_at_least[side] += round(soft_pairwise.p_values(rows, is_rated, signs)[0] * len(signs))
    return min(1.0, 2 * (float(n_at_least.min()) + 1) / (n_flips + 1))


def _test(values: Sequence[FloatArray], drawn: Sequence[FloatArray], chance: Chance) -> Test:
    """Tests one figure: (segments,) of each system, and its mean on the resamples, (resamples,) of each."""
    first, second = values
    compared = bootstrap.compare(float(first.mean()), float(second.mean()), drawn[0], drawn[1])
    return Test(compared, permutation(first, second, n_flips=chance.n_flips, seed=chance.seed))


def _strata(ratings: Sequence[Rating]) -> list[str]:
    """Returns what each segment is drawn within: its language pair."""
    return [(rating.segment.key and rating.segment.key.lang_pair) or "" for rating in ratings]


def _means(values: Sequence[FloatArray], strata: Sequence[str], chance: Chance) -> list[FloatArray]:
    """Returns the means on the resamples that `measure` draws, (resamples,) each."""
    table = np.column_stack(values)
    drawn = [rows @ table / len(table) for rows in bootstrap.resamples(chance.n_resamples, strata, seed=chance.seed)]
    return list(np.concatenate(drawn).T) if drawn else [np.zeros(0)] * len(values)
