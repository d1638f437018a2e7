"""The arrays of the model: what networks read and compute, whichever engine computes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating]
"""What networks compute, in any precision."""
Ints = npt.NDArray[np.signedinteger[Any]]
"""Labels, numbers of tags, lengths and positions, in any width."""
Int32Array = npt.NDArray[np.int32]
"""What networks read: ids and positions of tokens."""
