"""The arrays of the model: what networks read and compute, whichever engine computes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating]
"""What networks compute, in any precision."""
Ints = npt.NDArray[np.signedinteger[Any]]
"""Labels, numbers of tags, lengths and positions, in any width."""
Int32Array = npt.NDArray[np.int32]
"""What networks read: ids and positions of tokens."""


def reduce_parts(function: np.ufunc, values: Floats, lengths: Sequence[int]) -> Floats:
    """Returns what a function such as `np.add` makes of each part of some values: (parts, ...), 0 of an empty part.

    Args:
        function: the function.
        values: (values of all parts, ...).
        lengths: of the parts.

    >>> reduce_parts(np.maximum, np.array([0.2, 0.5, 0.3]), [2, 0, 1]).tolist()
    [0.5, 0.0, 0.3]
    """
    is_filled = np.array(lengths, np.int64) > 0
    reduced = np.zeros((len(lengths), *values.shape[1:]))
    if is_filled.any():
        starts = np.cumsum([0, *lengths])[:-1]
        reduced[is_filled] = function.reduceat(values, starts[is_filled])
    return reduced
