"""Random scores with many ties and missing values, and the definitions of the figures written out, loop by loop."""

from __future__ import annotations

import itertools
import math

import numpy as np

from matese.evaluation.metrics.score_arrays import Scores
from matese.evaluation.statistics.arrays import FloatArray


def random_scores(
    seed: int, n_systems: int = 6, n_segments: int = 12, missing: float = 0.2
) -> tuple[FloatArray, FloatArray]:
    """Human scores with many ties, some of them missing, and metric scores with some ties. (systems, segments)."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(-4, 1, size=(n_systems, n_segments)).astype(float)
    metric = np.round((gold + rng.normal(0, 2, size=gold.shape)) * 2) / 2
    gold[rng.random(gold.shape) < missing] = np.nan
    return gold, metric


def scored(name: str, segments: FloatArray) -> Scores:
    """Systems named A, B, ...; their scores are the means of what is not missing."""
    systems = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(segments)])
    return Scores(name, systems, np.nanmean(segments, axis=1), segments)


def known_pairs(gold: FloatArray, metric: FloatArray) -> list[tuple[float, float]]:
    """The scores of one vector where the human side is known."""
    return [(g, m) for g, m in zip(gold, metric, strict=True) if not math.isnan(g)]


def sign(number: float) -> int:
    return int(number > 0) - int(number < 0)


def share_right(gold: FloatArray, metric: FloatArray, epsilon: float) -> float | None:
    """acc-eq of one segment at one epsilon; None without pairs."""
    right = 0
    total = 0
    for (g1, m1), (g2, m2) in itertools.combinations(known_pairs(gold, metric), 2):
        metric_sign = 0 if abs(m1 - m2) <= epsilon else sign(m1 - m2)
        right += sign(g1 - g2) == metric_sign
        total += 1
    return right / total if total else None


def accuracy_at(gold: FloatArray, metric: FloatArray, epsilon: float) -> float:
    """acc-eq of all segments at one epsilon."""
    shares = [share_right(gold[:, item], metric[:, item], epsilon) for item in range(gold.shape[1])]
    return float(np.mean([share for share in shares if share is not None]))


def differences(gold: FloatArray, metric: FloatArray) -> set[float]:
    """0 and every difference of two metric scores of one segment that humans rated."""
    found = {0.0}
    for item in range(gold.shape[1]):
        known = known_pairs(gold[:, item], metric[:, item])
        found |= {abs(m1 - m2) for (_, m1), (_, m2) in itertools.combinations(known, 2)}
    return found


def tau(pairs: list[tuple[float, float]], variant: str) -> float | None:
    """Kendall's tau-b or tau-c from its definition."""
    concordant = discordant = tied_gold = tied_metric = 0
    for (g1, m1), (g2, m2) in itertools.combinations(pairs, 2):
        product = sign(g1 - g2) * sign(m1 - m2)
        concordant += product > 0
        discordant += product < 0
        tied_gold += g1 == g2
        tied_metric += m1 == m2
    total = len(pairs) * (len(pairs) - 1) // 2
    if tied_gold == total or tied_metric == total:
        return None
    if variant == "b":
        return (concordant - discordant) / math.sqrt((total - tied_gold) * (total - tied_metric))
    classes = min(len({g for g, _ in pairs}), len({m for _, m in pairs}))
    return 2 * (concordant - discordant) / (len(pairs) ** 2 * (classes - 1) / classes)
