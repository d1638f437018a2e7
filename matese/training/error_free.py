"""Fit the detection of translations that are free of errors, on dev data after training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np

from matese.evaluation.spans import error_free_agreement
from matese.evaluation.statistics.arrays import BoolArray, FloatArray
from matese.model import error_free
from matese.model.config import ModelConfig
from matese.model.decoding import Decoding
from matese.model.error_free import EVIDENCE, DecisionWeights, ErrorFreeRule, Features
from matese.model.interpreter import Interpreter
from matese.model.prediction import Marks
from matese.training import logistic_regression
from matese.training.judged import Judged

_FEWEST = 50
"""Least number of segments that are free of errors, and of others, for a fit."""


@dataclass(frozen=True)
class ErrorFreeFit:
    """A fitted rule, and what it was fitted on.

    Attributes:
        rule: the rule.
        n: number of segments.
        n_free: of these, number of segments that are free of errors.
        mcc: Matthews correlation coefficient on these segments.
    """

    rule: ErrorFreeRule
    n: int
    n_free: int
    mcc: float


def fit(judged: Sequence[Judged], config: ModelConfig, decoding: Decoding) -> ErrorFreeFit | None:
    """Returns the rule for one kind of input; None without enough segments of both kinds.

    Args:
        judged: segments with people's ratings.
        config: of the model.
        decoding: with everything else that is fitted.
    """
    interpreter = Interpreter(config, ())
    features = []
    labels = []
    has_major = []
    for each in judged:
        label = error_free_agreement.gold_label(each.rating)
        if label is not None:
            prediction = interpreter.change(each.model_input, each.prediction, decoding)
            rating = interpreter.decode(each.model_input, prediction, decoding)
            marks = Marks(rating.errors or (), rating.omissions)
            features.append(astuple(error_free.features_of(prediction, marks)))
            labels.append(float(label))
            has_major.append(error_free.has_major((*marks.errors, *marks.omissions)))
    golds = np.array(labels)
    if min(golds.sum(), len(golds) - golds.sum()) < _FEWEST:
        return None
    return fit_features(np.array(features), golds, np.array(has_major))


def fit_features(features: FloatArray, golds: FloatArray, has_major: BoolArray) -> ErrorFreeFit:
    """Returns the logistic regression with the least cross-entropy, and a threshold.

    Of the segments without a Major mark, as many reach the threshold as are free of errors.

    Args:
        features: (segments, features), see `error_free.Features`.
        golds: (segments,), 1 for a segment that is free of errors, else 0.
        has_major: (segments,), whether a Major error is marked, so that the segment is not free of errors.
    """
    signs = [-1 if name in EVIDENCE else 0 for name in Features.__dataclass_fields__]
    weights, offset = logistic_regression.fit(features, golds, signs)
    rule = ErrorFreeRule(DecisionWeights(*weights), offset, 0.5)
    probabilities = np.array([rule.probability(Features(*row)) for row in features.tolist()])
    if not has_major.all():
        quantile = error_free_agreement.threshold(probabilities[~has_major], golds[~has_major])
        # Rounded down, so that its own segment passes.
        rule = replace(rule, threshold=math.floor(quantile * 1e6) / 1e6)
    passed = (probabilities >= rule.threshold) & ~has_major
    counts = [((golds == gold) & (passed == decided)).sum() for decided, gold in ((1, 1), (1, 0), (0, 1), (0, 0))]
    return ErrorFreeFit(rule, len(golds), int(golds.sum()), float(error_free_agreement.mcc(np.array(counts))))
