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

from matese.annotation import Rating, Segment
from matese.evaluation.spans import error_free_agreement
from matese.evaluation.statistics.arrays import BoolArray, FloatArray
from matese.model import error_free
from matese.model.error_free import ErrorFreeDetector, LangPairThreshold
from matese.model.heads.tags.bio import O
from matese.model.model_input import usable_inputs, with_inputs
from matese.model.texts.encoding import InputKind
from matese.training import confidences
from matese.training.confidences import Annotate

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


def fit_all(
    annotate: Annotate,
    ratings: Sequence[Rating],
    others: Sequence[Rating],
    *,
    model_inputs: Sequence[InputKind],
    lang_pairs: tuple[str, ...],
) -> tuple[ErrorFreeFit, ...]:
    """Returns the detectors for each kind of input with enough segments of both kinds.

    Where the other ratings suffice for a detector, it decides on all language pairs that the ratings lack.

    Args:
        annotate: runs the model.
        ratings: gold ratings that the model was not trained on.
        others: the same, in another manner of annotation; may be empty.
        model_inputs: the kinds of input that the model reads.
        lang_pairs: those that the model was trained on.
    """
    of_others = _fit_each(annotate, others, model_inputs, lang_pairs)
    of_ratings = _fit_each(annotate, ratings, model_inputs, lang_pairs)
    with_others = {fit.detector.inputs for fit in of_others}
    rated = tuple(sorted({pair for rating in ratings if (pair := _lang_pair(rating.segment))}))
    own = []
    for fit in of_ratings:
        if fit.detector.inputs not in with_others:
            own.append(fit)
        elif rated:
            own.append(replace(fit, detector=replace(fit.detector, lang_pairs=rated)))
    return (*own, *of_others)


def _fit_each(
    annotate: Annotate, ratings: Sequence[Rating], model_inputs: Sequence[InputKind], lang_pairs: tuple[str, ...]
) -> tuple[ErrorFreeFit, ...]:
    labelled = [
        (rating.segment.without_blanks(), label)
        for rating in ratings
        if (label := error_free_agreement.gold_label(rating)) is not None
    ]
    fits = []
    for inputs in model_inputs:
        usable = [
            (with_inputs(segment, inputs), label)
            for segment, label in labelled
            if usable_inputs(segment, [inputs]) and error_free.decide_by_rule(segment) is None
        ]
        golds = np.array([label for _, label in usable], dtype=np.float64)
        if min(golds.sum(), len(golds) - golds.sum()) < _FEWEST:
            continue
        rows = [
            error_free.features_of(
                rating.segment,
                expected_score=0.0 if rating.estimate is None else rating.estimate.value,
                n_errors=sum(1 - row[O] for row in tokens.probabilities),
                lang_pairs=lang_pairs,
            )
            for rating, tokens in annotate(segment for segment, _ in usable)
        ]
        pairs = [_lang_pair(segment) for segment, _ in usable]
        fits.append(fit(np.array(rows), golds, pairs, inputs))
    return tuple(fits)


def _lang_pair(segment: Segment) -> str:
    return (segment.key and segment.key.lang_pair) or ""


def fit(features: FloatArray, golds: FloatArray, pairs: Sequence[str], inputs: InputKind) -> ErrorFreeFit:
    """Returns the logistic regression with the least cross-entropy, and thresholds.

    As many segments reach a threshold as are free of errors. A weight counts for little where its feature hardly varies
    (a small ridge penalty on standardised features).

    Args:
        features: (segments, 4), see `error_free.Features`.
        golds: (segments,), 1 for a segment that is free of errors, else 0.
        pairs: language pair of each segment, "" for unknown.
        inputs: the kind of input.
    """
    means = features.mean(0)
    spreads = features.std(0)
    spreads = np.where(spreads > 1e-9, spreads, 1.0)
    standardised = torch.from_numpy((features - means) / spreads)
    labels = torch.from_numpy(golds)
    weights = torch.zeros(features.shape[1], dtype=torch.float64, requires_grad=True)
    offset = torch.zeros((), dtype=torch.float64, requires_grad=True)

    def loss() -> Tensor:
        logits = standardised @ weights + offset
        return functional.binary_cross_entropy_with_logits(logits, labels) + _RIDGE * weights.square().sum()

    confidences.minimise([weights, offset], loss)
    plain = weights.detach().numpy() / spreads
    length, expected_score, errors, known_pair = (round(float(value), 6) for value in plain)
    detector = ErrorFreeDetector(
        inputs=inputs,
        length=length,
        expected_score=expected_score,
        errors=errors,
        known_pair=known_pair,
        offset=round(offset.item() - float(plain @ means), 6),
        threshold=0.5,
    )
    probabilities = np.array([detector.probability(tuple(row)) for row in features.tolist()])
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
