"""Find how much evidence of an error of meaning lowers a score: as little as real translations allow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from matese.evaluation.statistics.arrays import FloatArray
from matese.model.heads import gold_scores
from matese.model.heads.meaning import decoding
from matese.model.heads.meaning.settings import MeaningRule
from matese.training.judged import Judged

PRICE = 0.01
"""Most of Pearson's correlation with people's scores that the rule may cost, mean over test sets and language pairs.

People see few errors of meaning in real translations, so that most of what the rule finds there is a false alarm. With
this price, three in four minimal pairs of `benchmarks.ruler` by reference were ordered right, and with a threshold on
the logit alone they cost four times as much.
"""
_FEWEST = 100
"""Least number of scored segments of a test set and a language pair."""
_THRESHOLDS = np.arange(40, -17, -1) / 4
"""In logits, from the one that hardly any segment reaches."""


@dataclass(frozen=True)
class MeaningFit:
    """A rule, and what it costs.

    Attributes:
        rule: the rule.
        n: number of segments that it was fitted on.
        before: mean of Pearson's correlation without the rule.
        after: with it.
        lowered: share of the segments whose score it lowers by half a point or more.
    """

    rule: MeaningRule
    n: int
    before: float
    after: float
    lowered: float


def fit(judged: Sequence[Judged], rule: MeaningRule) -> MeaningFit | None:
    """Returns the rule with the lowest threshold that costs at most `PRICE`; None without enough scored segments.

    Args:
        judged: by the kind of input of the rule.
        rule: its floor and ramp are kept.
    """
    groups = list(_groups(judged))
    if not groups:
        return None
    before = float(np.mean([_pearson(golds, scores) for golds, scores, _ in groups]))
    found: MeaningFit | None = None
    for threshold in _THRESHOLDS.tolist():
        tried = replace(rule, threshold=threshold)
        changed = [decoding.lower_scores(tried, scores, evidence) for _, scores, evidence in groups]
        after = float(
            np.mean([_pearson(golds, lowered) for (golds, _, _), lowered in zip(groups, changed, strict=True)])
        )
        if before - after > PRICE:
            break
        falls = np.concatenate([own - lowered for (_, own, _), lowered in zip(groups, changed, strict=True)])
        found = MeaningFit(tried, len(falls), before, after, float((falls >= 0.5).mean()))
    return found


def _groups(judged: Sequence[Judged]) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
    """Yields people's scores, the model's and the evidence, for each test set and language pair that has enough."""
    rows: dict[tuple[str | None, str], list[tuple[float, float, float]]] = defaultdict(list)
    for each in judged:
        gold = gold_scores.score_of(each.rating)
        if np.isfinite(gold) and each.prediction.score is not None:
            key = each.rating.segment.key
            group = (key.test_set if key else None, each.lang_pair)
            rows[group].append((gold, each.prediction.score, decoding.evidence([each.prediction])[0]))
    for own in rows.values():
        golds, scores, evidence = np.array(own).T
        if len(golds) >= _FEWEST and golds.std() > 0 and scores.std() > 0:
            yield golds, scores, evidence


def _pearson(golds: FloatArray, scores: npt.NDArray[np.floating]) -> float:
    return float(np.corrcoef(golds, scores)[0, 1]) if scores.std() > 0 else 0.0
