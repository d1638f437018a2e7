"""Sentinel metrics: they read one text only, so that they know nothing about how well it is translated.

A figure or a test set in which they do well rewards something else than quality (Perrella et al. 2024, "Guardians of
the Machine Translation Meta-Evaluation", arXiv 2408.13831). There, the sentinels are encoders that were trained on the
human scores of earlier years. Ours is a ridge regression on the mean states of an encoder, fitted to the human scores
of the other documents of the same test set, so that it needs no other data.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from matese.annotation import Segment, SegmentKey
from matese.errors import InputError
from matese.evaluation.statistics.arrays import FloatArray, IntArray

N_FOLDS = 5
"""Parts of the documents; each is scored by a regression on the others."""
_PENALTIES = np.logspace(-1, 5, 13)
"""Ridge penalties, of which generalised cross-validation chooses one."""


def folds(segments: Sequence[Segment]) -> IntArray:
    """Returns the part, 0 to 4, of each segment. All translations of a document are in one part.

    Without documents, a segment is one. Parts are runs of neighbours, which are often of one document.
    """
    keys = [segment.key or SegmentKey() for segment in segments]
    places = [(key.test_set, key.document, None if key.document else key.index) for key in keys]
    order = {place: number for number, place in enumerate(dict.fromkeys(places))}
    return np.array([order[place] * N_FOLDS // len(order) for place in places])


def cross_fit(vectors: FloatArray, gold: FloatArray, parts: IntArray) -> FloatArray:
    """Returns for each text the score of a regression that has seen no human score of its part.

    Args:
        vectors: of the texts, (texts, width).
        gold: human scores, (texts,), NaN where missing.
        parts: (texts,), see `folds`.

    Raises:
        InputError: if the human scores are of fewer than two documents.
    """
    scores = np.zeros(len(gold))
    for part in np.unique(parts):
        is_other = (parts != part) & np.isfinite(gold)
        if not is_other.any():
            raise InputError("fewer than two documents with human scores: a sentinel is fitted to the other ones")
        scores[parts == part] = _predict(vectors[is_other], gold[is_other], vectors[parts == part])
    return scores


def _predict(vectors: FloatArray, gold: FloatArray, unseen: FloatArray) -> FloatArray:
    """Returns the scores of a ridge regression, with the penalty that generalised cross-validation finds best."""
    centre = vectors.mean(axis=0)
    mean = gold.mean()
    left, singular, right = np.linalg.svd(vectors - centre, full_matrices=False)
    coordinates = left.T @ (gold - mean)
    best = min(_PENALTIES, key=lambda penalty: _gcv(left, singular, coordinates, gold - mean, penalty))
    weights = right.T @ (coordinates * singular / (singular**2 + best))
    return np.asarray(mean + (unseen - centre) @ weights)


def _gcv(left: FloatArray, singular: FloatArray, coordinates: FloatArray, gold: FloatArray, penalty: float) -> float:
    """Returns the generalised cross-validation error of a penalty (Golub et al. 1979)."""
    shrinkage = singular**2 / (singular**2 + penalty)
    n = len(gold)
    residual = gold - left @ (shrinkage * coordinates)
    freedom = n - 1 - float(shrinkage.sum())
    return float("inf") if freedom <= 0 else n * float(residual @ residual) / freedom**2
