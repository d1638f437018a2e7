"""Transformer layers in numpy, for rows of tokens without padding. Importing torch takes seconds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from matese.errors import ModelError
from matese.model.storage.checkpoint import NOT_FINITE
from matese.model.storage.packing import SCALES, of_4_bits

Array = npt.NDArray[np.float32]
Function = Callable[[Array], Array]
"""From (tokens, inputs) to (tokens, outputs)."""

_ERF_ABOVE = (
    -2.72614225801306e-10,
    2.77068142495902e-08,
    -2.10102402082508e-06,
    -5.69250639462346e-05,
    -7.34990630326855e-04,
    -2.95459980854025e-03,
    -1.60960333262415e-02,
)
_ERF_BELOW = (
    -1.45660718464996e-05,
    -2.13374055278905e-04,
    -1.68282697438203e-03,
    -7.37332916720468e-03,
    -1.42647390514189e-02,
)
"""Numerator and denominator of erf(x) / x as polynomials of x², highest power first, for x from -4 to 4: Eigen, XLA."""
_BLOCK_SIZE = 2**16
"""Numbers of an activation that are computed together, so that they stay in the processor's caches."""
_EXTRA_EPS = 1e-5
"""Epsilon of the layer norms of `extra_layer.ExtraLayer`: torch's default."""


class StoredTensors:
    """The tensors of a model directory in float32, as `packing.unpack` returns them.

    Attributes:
        left: names of the tensors that have not been used yet.
    """

    def __init__(self, stored: Mapping[str, npt.NDArray[Any]]) -> None:
        """Keeps the tensors as they are stored."""
        self._stored = stored
        self.left = {name for name in stored if not (name.endswith(SCALES) and name.removesuffix(SCALES) in stored)}

    def __call__(self, name: str, *shape: int) -> Array:
        """Returns a tensor. Raises as `table`."""
        return self.table(name, *shape)(slice(None))

    def n_rows(self, name: str) -> int:
        """Returns the length of a tensor, which the settings of a model do not determine.

        Raises:
            ValueError: if there is no such tensor.
        """
        if name not in self._stored:
            raise ValueError(f"no tensor {name}")
        return len(self._stored[name])

    def table(self, name: str, *shape: int) -> Callable[[npt.NDArray[np.int32] | slice], Array]:
        """Returns a function that unpacks and returns rows of a tensor.

        Raises:
            ValueError: if there is no such tensor, or it has another shape.
            ModelError: if a number is NaN or infinite; raised by the function.
        """
        if name not in self._stored:
            raise ValueError(f"no tensor {name}")
        stored = self._stored[name]
        scales = self._stored.get(name + SCALES)
        is_halved = scales is not None and stored.dtype == np.uint8
        if (*stored.shape[:-1], stored.shape[-1] * (2 if is_halved else 1)) != shape:
            raise ValueError(f"{name} is {stored.shape}: must be {shape}")
        self.left.remove(name)

        def unpack(rows: npt.NDArray[np.int32] | slice) -> Array:
            if scales is not None and is_halved:
                unpacked = of_4_bits(stored[rows], scales[rows])
            else:
                unpacked = stored[rows].astype(np.float32)
                if scales is not None:
                    unpacked *= scales[rows]  # in place: memory that is new takes several times as long
            if not np.isfinite(unpacked).all():
                raise ModelError(NOT_FINITE.format(name))
            return unpacked

        return unpack


def linear(weight: Array, bias: Array) -> Function:
    """Returns a linear map with a weight, (outputs, inputs), and a bias, (outputs,)."""
    return lambda states: states @ weight.T + bias


def norm(tensors: StoredTensors, name: str, width: int, eps: float) -> Function:
    """Returns the layer norm with this name."""
    weight = tensors(f"{name}.weight", width)
    bias = tensors(f"{name}.bias", width)
    least = np.float32(eps)

    def normalise(states: Array) -> Array:
        centred = states - states.mean(-1, keepdims=True)
        centred /= np.sqrt(np.square(centred).mean(-1, keepdims=True) + least)
        normal: Array = centred * weight + bias
        return normal

    return normalise


def gelu(states: Array) -> Array:
    """Returns x (1 + erf(x / √2)) / 2, to 1e-6 of the exact value.

    >>> [round(value, 4) for value in gelu(np.array([-1, 0, 1, 9], np.float32)).tolist()]
    [-0.1587, 0.0, 0.8413, 9.0]
    """
    flat = states.reshape(-1)
    result = np.empty_like(flat)
    for start in range(0, len(flat), _BLOCK_SIZE):
        block = slice(start, start + _BLOCK_SIZE)
        _write_gelu(flat[block], result[block])
    return result.reshape(states.shape)


def _write_gelu(states: Array, bounded: Array) -> None:
    """Writes the values of the activation, (numbers,), into `bounded`."""
    np.multiply(states, np.float32(math.sqrt(0.5)), out=bounded)
    np.clip(bounded, -4, 4, out=bounded)
    squares = np.square(bounded)
    bounded *= _polynomial(_ERF_ABOVE, squares)
    bounded /= _polynomial(_ERF_BELOW, squares)
    bounded += 1
    bounded *= states
    bounded *= np.float32(0.5)


def _polynomial(coefficients: tuple[float, ...], values: Array) -> Array:
    first, *middle, last = map(np.float32, coefficients)
    total = values * first
    for coefficient in middle:
        total += coefficient
        total *= values
    total += last
    return total


@dataclass(frozen=True, slots=True)
class Layer:
    """A transformer layer with norms after the attention and the feed-forward part.

    Attributes:
        n_heads: number of attention heads; must divide the width.
        project: linear map to queries, keys and values, concatenated.
        attended: linear map of the attention's output.
        attention_norm: norm after the attention.
        inner: linear map before the activation.
        outer: linear map after the activation.
        norm: norm after the feed-forward part.
    """

    n_heads: int
    project: Function
    attended: Function
    attention_norm: Function
    inner: Function
    outer: Function
    norm: Function

    def __call__(self, states: Array, rows: Sequence[slice] = (slice(None),)) -> Array:
        """Returns the next states: (tokens, width).

        Args:
            states: (tokens of all rows, width), one row after the other: a product of many tokens takes far less time a
                token than one of few, for which the weights are fetched from memory again.
            rows: place of each row in the states.
        """
        projected = self.project(states)
        attended = [self._attend(projected[row]) for row in rows]
        joint = attended[0] if len(attended) == 1 else np.concatenate(attended)
        states = self.attention_norm(states + self.attended(joint))
        return self.norm(states + self.outer(gelu(self.inner(states))))

    def _attend(self, projected: Array) -> Array:
        """Returns the attended values of a row, (tokens, width), from its queries, keys and values."""
        n_tokens = len(projected)
        query, key, value = projected.reshape(n_tokens, 3, self.n_heads, -1).transpose(1, 2, 0, 3)
        # (heads, tokens, head width)
        products = query @ key.transpose(0, 2, 1)
        products *= np.float32(query.shape[-1] ** -0.5)
        products -= products.max(-1, keepdims=True)
        np.exp(products, out=products)
        products /= products.sum(-1, keepdims=True)
        attended: Array = np.matmul(products, value)
        return attended.transpose(1, 0, 2).reshape(n_tokens, -1)


def dense(tensors: StoredTensors, name: str, n_inputs: int, n_outputs: int) -> Function:
    """Returns the linear map with this name."""
    return linear(tensors(f"{name}.weight", n_outputs, n_inputs), tensors(f"{name}.bias", n_outputs))


def two_layers(tensors: StoredTensors, names: tuple[str, str], widths: tuple[int, int, int]) -> Function:
    """Returns two linear maps with these names and an activation between them."""
    inner = dense(tensors, names[0], *widths[:2])
    outer = dense(tensors, names[1], *widths[1:])
    return lambda states: outer(gelu(inner(states)))


def extra_layer(tensors: StoredTensors, name: str, width: int, n_heads: int) -> Layer:
    """Returns the `extra_layer.ExtraLayer` with this name."""
    attention = f"{name}.self_attn"
    inner = tensors.n_rows(f"{name}.linear1.weight")
    return Layer(
        checked_heads("extra_heads", n_heads, width),
        linear(
            tensors(f"{attention}.in_proj_weight", 3 * width, width), tensors(f"{attention}.in_proj_bias", 3 * width)
        ),
        dense(tensors, f"{attention}.out_proj", width, width),
        norm(tensors, f"{name}.norm1", width, _EXTRA_EPS),
        dense(tensors, f"{name}.linear1", width, inner),
        dense(tensors, f"{name}.linear2", inner, width),
        norm(tensors, f"{name}.norm2", width, _EXTRA_EPS),
    )


def checked_heads(name: str, number: int, width: int) -> int:
    """Returns the number of heads if it divides the width, and raises a ValueError otherwise."""
    if width % number:
        raise ValueError(f"{name} {number}: must divide the encoder's width {width}")
    return number


def mean(states: Array) -> Array:
    """Returns the mean over the tokens, 0 without any: (width,)."""
    pooled: Array = states.sum(0) / np.float32(max(1, len(states)))
    return pooled
