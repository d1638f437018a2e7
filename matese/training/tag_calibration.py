"""Fit temperature and biases of the tags, and the error probability from which tokens belong to a span."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from matese.evaluation.statistics.arrays import FloatArray
from matese.model.heads.tags.bio import TAGS, O
from matese.model.heads.tags.targets import TagIds, tag_ids
from matese.model.prediction import TagProbabilities, check_numbers
from matese.model.texts.encoding import Tokens
from matese.training.judged import Judged, with_tags

THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
_N_BINS = 15


@dataclass(frozen=True)
class TokenPoint:
    """Agreement with the raters over tokens, for all kinds of input, at a minimum error probability.

    Attributes:
        min_probability: least error probability of a marked token.
        precision: share of the marked tokens that a rater marked, with any severity.
        recall: share of the rater's marked tokens that are marked, with any severity.
        macro_f1: macro-F1 of the five tags.
    """

    min_probability: float
    precision: float
    recall: float
    macro_f1: float

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return 2 * self.precision * self.recall / max(self.precision + self.recall, 1e-9)


@dataclass(frozen=True)
class TagFit:
    """The fitted values, see `calibration.Calibration`."""

    temperature: float
    biases: tuple[float, ...]
    error_before: float
    error_after: float
    points: tuple[TokenPoint, ...]
    n_tokens: int

    @property
    def chosen(self) -> TokenPoint:
        """The point with the highest F1 of the marked tokens, whatever their severity."""
        return max(self.points, key=lambda point: point.f1)

    def apply(self, judged: Judged) -> Judged:
        """Returns what the network says with the calibrated tags."""
        logits = judged.prediction.log_probabilities / self.temperature + np.array(self.biases)
        logits -= logits.max(-1, keepdims=True, initial=-np.inf) if len(logits) else 0.0
        return with_tags(judged, TagProbabilities(logits - np.log(np.exp(logits).sum(-1, keepdims=True))))


def fit_tags(judged: Sequence[Judged]) -> TagFit | None:
    """Returns the fit to all tokens whose tag is known; None if there is none.

    Vector scaling with one scale (Guo et al. 2017).
    """
    parts = [(each.prediction.log_probabilities, _gold(each)) for each in judged]
    gold = np.concatenate([own for _, own in parts]) if parts else np.zeros(0, np.int8)
    known = gold >= 0
    if not known.any():
        return None
    logits = torch.from_numpy(np.concatenate([logs for logs, _ in parts])[known].astype(np.float64))
    tags = torch.from_numpy(gold[known].astype(np.int64))
    check_numbers([logits.numpy()])
    temperature, biases = fit(logits, tags)
    calibrated = logits / temperature + biases
    return TagFit(
        temperature=temperature,
        biases=tuple(round(bias, 6) for bias in biases.tolist()),
        error_before=calibration_error(logits, tags),
        error_after=calibration_error(calibrated, tags),
        points=token_points(calibrated, tags),
        n_tokens=len(tags),
    )


def _gold(judged: Judged) -> TagIds:
    """Returns the tag of each token, negative where it is unknown."""
    ranges = judged.prediction.ranges
    rating = judged.rating
    if rating.errors is None or (rating.unplaced and not rating.errors):
        return np.full(len(ranges), -1, np.int8)
    return tag_ids(rating, Tokens(np.zeros(len(ranges), np.int32), ranges))


def fit(logits: Tensor, tags: Tensor) -> tuple[float, Tensor]:
    """Returns the temperature and the biases, (tags,), with the least cross-entropy.

    Args:
        logits: (tokens, tags).
        tags: (tokens,).
    """
    scale = torch.zeros((), dtype=torch.float64, requires_grad=True)
    biases = torch.zeros(len(TAGS), dtype=torch.float64, requires_grad=True)
    logits_64 = logits.double()

    def loss() -> Tensor:
        # The last term fixes the sum of the biases, on which the cross-entropy does not depend.
        return functional.cross_entropy(logits_64 * scale.exp() + biases, tags) + 1e-6 * biases.square().sum()

    minimise([scale, biases], loss)
    return math.exp(-scale.item()), biases.detach()


def token_points(logits: Tensor, tags: Tensor) -> tuple[TokenPoint, ...]:
    """Returns the agreement at each of `THRESHOLDS`, ignoring the tag transitions of decoding."""
    points = []
    for threshold in THRESHOLDS:
        biased = logits.clone()
        biased[:, O] += math.log(threshold / (1 - threshold))
        counts = np.zeros((len(TAGS), len(TAGS)), dtype=np.int64)
        np.add.at(counts, (tags.numpy(), biased.argmax(-1).numpy()), 1)
        hits = counts[1:, 1:].sum()
        f1 = 2 * counts.diagonal() / np.maximum(counts.sum(0) + counts.sum(1), 1)
        precision = hits / max(1, counts[:, 1:].sum())
        recall = hits / max(1, counts[1:].sum())
        points.append(TokenPoint(threshold, float(precision), float(recall), float(f1.mean())))
    return tuple(points)


def calibration_error(logits: Tensor, tags: Tensor) -> float:
    """Returns the expected calibration error of the error probability, in bins of equal width."""
    probabilities: FloatArray = (1 - torch.softmax(logits.double(), -1)[:, O]).numpy()
    is_error = (tags != O).double().numpy()
    bins = np.minimum((probabilities * _N_BINS).astype(int), _N_BINS - 1)
    gaps = np.bincount(bins, probabilities - is_error, minlength=_N_BINS)
    return float(np.abs(gaps).sum() / len(probabilities))


def minimise(parameters: list[Tensor], loss: Callable[[], Tensor]) -> None:
    """Minimises a function of the parameters in place, by L-BFGS."""
    optimizer = torch.optim.LBFGS(parameters, max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> float:
        optimizer.zero_grad()
        value = loss()
        torch.autograd.backward(value)
        return value.item()

    optimizer.step(closure)  # type: ignore[no-untyped-call]
