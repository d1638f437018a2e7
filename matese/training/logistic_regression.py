"""Logistic regression whose weights have known signs, and the minimiser behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from matese.evaluation.statistics.arrays import FloatArray

_RIDGE = 1e-5
_START = 0.3


def fit(features: FloatArray, labels: FloatArray, signs: Sequence[int]) -> tuple[list[float], float]:
    """Returns the weights of the features and the offset with the least cross-entropy.

    A weight counts for little where its feature hardly varies (a small ridge penalty on standardised features).

    Args:
        features: (items, features).
        labels: (items,), 1 or 0.
        signs: of each weight: 1 for one that must not be negative, -1 for one that must not be positive, 0 for any.

    >>> weights, _ = fit(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 1.0, 0.0, 1.0]), [1])
    >>> weights
    [0.0]
    """
    means = features.mean(0)
    spreads = np.where(features.std(0) > 1e-9, features.std(0), 1.0)
    columns = torch.from_numpy((features - means) / spreads)
    targets = torch.from_numpy(labels)
    signed = torch.tensor(signs, dtype=torch.float64)
    free = torch.full_like(signed, _START).requires_grad_()
    offset = torch.zeros((), dtype=torch.float64, requires_grad=True)

    def weights() -> Tensor:
        return torch.where(signed == 0, free - _START, signed * free.square())  # a square is on the right side of 0

    def loss() -> Tensor:
        logits = columns @ weights() + offset
        return functional.binary_cross_entropy_with_logits(logits, targets) + _RIDGE * weights().square().sum()

    minimise([free, offset], loss)
    plain = weights().detach().numpy() / spreads
    return [round(weight, 6) + 0.0 for weight in plain.tolist()], round(offset.item() - float(plain @ means), 6)


def minimise(parameters: list[Tensor], loss: Callable[[], Tensor]) -> None:
    """Minimises a function of the parameters in place, by L-BFGS."""
    optimizer = torch.optim.LBFGS(parameters, max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> float:
        optimizer.zero_grad()
        value = loss()
        torch.autograd.backward(value)
        return value.item()

    optimizer.step(closure)  # type: ignore[no-untyped-call]
