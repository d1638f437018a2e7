"""What a model predicts about the words of the reference, or else of the source, that a hypothesis lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from matese.encoder.encoding import Encoding, IntArray

FloatArray = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Missing:
    """What a model predicts for the last text beside the hypothesis: the reference if it reads one, else the source.

    Attributes:
        reference: number of the reference; None for the source.
        ranges: (tokens, 2), of the text's tokens, half-open, in code points.
        probabilities: (tokens,), that the hypothesis lacks the token.
    """

    reference: int | None
    ranges: IntArray
    probabilities: FloatArray


def join(windows: Sequence[tuple[Encoding, FloatArray]], *, is_reference: bool) -> Missing:
    """Returns the joined prediction of overlapping windows: no window may have found a counterpart of a missing word.

    Args:
        windows: what was read, and a probability for each token of its part of the context: (tokens,).
        is_reference: whether that context is a reference.
    """
    parts = [(encoding.context, found) for encoding, found in windows if encoding.context is not None]
    n_tokens = max((part.start + len(part.ranges) for part, _ in parts), default=0)
    ranges = np.zeros((n_tokens, 2), dtype=np.int32)
    probabilities = np.full(n_tokens, np.inf)
    for part, found in parts:
        own = slice(part.start, part.start + len(part.ranges))
        ranges[own] = part.ranges
        probabilities[own] = np.minimum(probabilities[own], found)
    return Missing(0 if is_reference else None, ranges, np.where(np.isfinite(probabilities), probabilities, 0.0))


def closest(found: Sequence[Missing]) -> Missing | None:
    """Returns the prediction for the reference from which least is missing; None without any.

    A word that another reference has may be a matter of wording.
    """
    return min(found, key=lambda one: float(one.probabilities.sum()), default=None)
