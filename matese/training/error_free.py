"""Fit the detection of translations that are free of errors, on dev data after training."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from matese.evaluation.spans import error_free_agreement
from matese.evaluation.statistics.arrays import BoolArray, FloatArray
from matese.model.error_free import ErrorFreeDetector, Features, LangPairThreshold
from matese.model.texts.encoding import InputKind
from matese.training.judged import Judged
from matese.training.tag_calibration import minimise

_FEWEST = 50
"""Least number of segments that are free of errors, and of others, for a fit."""
_FEWEST_OF_PAIR = 100
"""The same for the threshold of a language pair."""
_CLEAR_GAIN = 2.0
"""Least gain in MCC by the threshold of a language pair, in standard errors of MCC.

With less, the threshold fits noise: in cross-validation over sources, on MQM as on ESA, the best thresholds of all
language pairs had a lower MCC than one threshold for all.
"""
_RIDGE = 1e-5


@dataclass(frozen=True, slots=True)
class Decided:
    """A segment, and what the decision depends on.

    Attributes:
        judged: the segment.
        features: of the model, after all rules.
        has_major: whether a Major error is marked.
    """

    judged: Judged
    features: Features
    has_major: bool


@dataclass(frozen=True)
class ErrorFreeFit:
    """A fitted detector, and what it was fitted on.

    Attributes:
        detector: the detector.
        n: number of segments.
        n_free: of these, number of segments that are free of errors.
        mcc: Matthews correlation coefficient on these segments, with the thresholds that were chosen on them.
    """

    detector: ErrorFreeDetector
    n: int
    n_free: int
    mcc: float


def fit_all(judged: Sequence[Decided], others: Sequence[Decided], *, inputs: InputKind) -> tuple[ErrorFreeFit, ...]:
    """Returns the detectors for one kind of input; none without enough segments of both kinds.

    Where the other ratings suffice for a detector, it decides on all language pairs that the ratings lack.

    Args:
        judged: segments with people's ratings.
        others: the same, in another manner of annotation; may be empty.
        inputs: the kind of input.
    """
    of_others = _fit(others, inputs)
    of_ratings = _fit(judged, inputs)
    rated = tuple(sorted({each.judged.lang_pair for each in judged} - {""}))
    if of_others is None or of_ratings is None:
        return tuple(one for one in (of_ratings, of_others) if one is not None)
    own = replace(of_ratings, detector=replace(of_ratings.detector, lang_pairs=rated))
    return (own, of_others) if rated else (of_others,)


def _fit(judged: Sequence[Decided], inputs: InputKind) -> ErrorFreeFit | None:
    labelled = [
        (each, label) for each in judged if (label := error_free_agreement.gold_label(each.judged.rating)) is not None
    ]
    golds = np.array([label for _, label in labelled], dtype=np.float64)
    if min(golds.sum(), len(golds) - golds.sum()) < _FEWEST:
        return None
    return fit(
        np.array([each.features for each, _ in labelled]),
        golds,
        [each.judged.lang_pair for each, _ in labelled],
        inputs,
        has_major=np.array([each.has_major for each, _ in labelled]),
    )


def fit(
    features: FloatArray,
    golds: FloatArray,
    pairs: Sequence[str],
    inputs: InputKind,
    *,
    has_major: BoolArray | None = None,
) -> ErrorFreeFit:
    """Returns the logistic regression with the least cross-entropy and no positive weight, and thresholds.

    As many segments reach a threshold as are free of errors. A weight counts for little where its feature hardly varies
    (a small ridge penalty on standardised features).

    Args:
        features: (segments, 3), see `error_free.Features`.
        golds: (segments,), 1 for a segment that is free of errors, else 0.
        pairs: language pair of each segment, "" for unknown.
        inputs: the kind of input.
        has_major: (segments,), whether a Major error is marked, so that the segment is not free of errors, whatever the
            detector says; None for none.
    """
    means = features.mean(0)
    spreads = features.std(0)
    spreads = np.where(spreads > 1e-9, spreads, 1.0)
    standardised = torch.from_numpy((features - means) / spreads)
    labels = torch.from_numpy(golds)
    weights = torch.full((features.shape[1],), -0.1, dtype=torch.float64, requires_grad=True)
    offset = torch.zeros((), dtype=torch.float64, requires_grad=True)

    def loss() -> Tensor:
        logits = standardised @ weights.clamp(max=0) + offset
        return functional.binary_cross_entropy_with_logits(logits, labels) + _RIDGE * weights.square().sum()

    minimise([weights, offset], loss)
    plain = np.minimum(weights.detach().numpy(), 0.0) / spreads
    expected_score, errors, worst = (round(float(value), 6) for value in plain)
    detector = ErrorFreeDetector(
        inputs=inputs,
        expected_score=expected_score,
        errors=errors,
        worst=worst,
        offset=round(offset.item() - float(plain @ means), 6),
        threshold=0.5,
    )
    probabilities = np.array([detector.probability(tuple(row)) for row in features.tolist()])
    if has_major is not None:
        probabilities = np.where(has_major, 0.0, probabilities)
    threshold = _threshold(probabilities, golds)
    of_pairs = []
    names = np.array(pairs)
    for pair, n in sorted(Counter(pairs).items()):
        members = names == pair
        n_free = golds[members].sum()
        if pair and min(n_free, n - n_free) >= _FEWEST_OF_PAIR:
            own = _threshold(probabilities[members], golds[members])
            before, after = (_mcc(probabilities[members] >= least, golds[members]) for least in (threshold, own))
            if after - before > _CLEAR_GAIN / math.sqrt(n):
                of_pairs.append(LangPairThreshold(pair, own))
    detector = replace(detector, threshold=threshold, thresholds=tuple(of_pairs))
    passed = probabilities >= np.array([detector.threshold_of(pair) for pair in pairs])
    return ErrorFreeFit(detector, len(golds), int(golds.sum()), _mcc(passed, golds))


def _mcc(passed: BoolArray, golds: FloatArray) -> float:
    counts = [((golds == gold) & (passed == decided)).sum() for decided, gold in ((1, 1), (1, 0), (0, 1), (0, 0))]
    return float(error_free_agreement.mcc(np.array(counts)))


def _threshold(probabilities: FloatArray, golds: FloatArray) -> float:
    """Returns the probability that as many segments reach as are free, rounded down so that its own segment passes."""
    return math.floor(error_free_agreement.threshold(probabilities, golds) * 1e6) / 1e6
