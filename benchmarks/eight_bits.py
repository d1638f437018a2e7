"""Measure what products in 8 bits would bring, and what they would change; see `benchmarks.engines --eight-bits`.

Weights are rounded to 8 bits for each output, as they are stored. States have no scale that is known before: they are
rounded to 8 bits with one scale for all tokens of a batch, as torch does it, or with one for each token, which
torch has no quick operator for, so that only its marks are measured, on products in float32.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

import matese
from benchmarks import markdown
from benchmarks.host_path import segments
from matese.annotation import Rating
from matese.model.annotator import Annotator
from matese.model.network import Network

_ROWS = (500, 4000)
_LARGEST = 127
_REPEATED = 4


class OfBatch(nn.Module):
    """A linear layer in 8 bits, with one scale for the states of a batch."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        weight, scales = _rounded(layer)
        zeros = torch.zeros(len(scales), dtype=torch.long)
        with warnings.catch_warnings(action="ignore"):  # torch will remove these operators
            quantised = torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8)
        self._packed: Any = torch.ops.quantized.linear_prepack(quantised, layer.bias.detach())

    def forward(self, states: Tensor) -> Tensor:
        """Returns the outputs: (..., outputs)."""
        outputs: Tensor = torch.ops.quantized.linear_dynamic(states, self._packed, False)
        return outputs


class OfToken(nn.Module):
    """A linear layer with states and weights that are rounded to 8 bits, with a scale for each token."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        weight, scales = _rounded(layer)
        self._weight = (weight / scales.unsqueeze(1)).round() * scales.unsqueeze(1)
        self._bias = layer.bias.detach()

    def forward(self, states: Tensor) -> Tensor:
        """Returns the outputs: (..., outputs)."""
        scales = (states.abs().amax(-1, keepdim=True) / _LARGEST).clamp(min=1e-12)
        return functional.linear((states / scales).round() * scales, self._weight, self._bias)


def print_tables(model: str, data: Path | None, *, n_segments: int, n_runs: int) -> None:
    """Prints the time of products, and the time and the agreement of marks."""
    torch.set_num_threads(1)
    torch.backends.quantized.engine = "onednn"
    widths = _load(model, "float32").predictor.engine.module.encoder.config
    shapes = [
        (widths.hidden_size, widths.hidden_size),
        (widths.hidden_size, widths.intermediate_size),
        (widths.intermediate_size, widths.hidden_size),
    ]
    print("Processor time of a product in milliseconds; states in float32, and their conversion counts.\n")
    rows = [
        [f"{n_rows:,} x {n_inputs} to {n_outputs}", *(f"{1000 * each:.2f}" for each in times)]
        for n_rows in _ROWS
        for n_inputs, n_outputs in shapes
        for times in [products(n_rows, n_inputs, n_outputs, n_runs=n_runs)]
    ]
    print(*markdown.table(["product", "float32", "bf16", "8 bits"], rows), sep="\n", end="\n\n", flush=True)
    sample = segments(data, n_segments)
    annotators = {
        "float32": _load(model, "float32"),
        "bf16": _load(model, "bf16"),
        "8 bits, a scale for each batch": _with(_load(model, "float32"), OfBatch),
        "8 bits, a scale for each token": _with(_load(model, "float32"), OfToken),
    }
    seconds: dict[str, float] = {}
    ratings: dict[str, list[Rating]] = {}
    for _ in range(n_runs):  # in turn, so that other load of the machine meets all
        for name, annotator in annotators.items():
            annotator.predictor.forget()
            start = time.process_time()
            ratings[name] = list(annotator.annotate_segments(sample))
            seconds[name] = min(time.process_time() - start, seconds.get(name, float("inf")))
    print(
        f"Processor time in milliseconds a segment, and marks beside those of float32, of {len(sample):,} segments.\n"
    )
    table = [
        [name, f"{1000 * seconds[name] / len(sample):.1f}", *agreement(ratings["float32"], ratings[name])]
        for name in annotators
    ]
    heads = ["products of the encoder", "time", "segments with equal marks", "difference of scores", "largest"]
    print(*markdown.table(heads, table), sep="\n")


def products(n_rows: int, n_inputs: int, n_outputs: int, *, n_runs: int) -> list[float]:
    """Returns the processor seconds of a product in float32, in bf16 and in 8 bits."""
    layer = nn.Linear(n_inputs, n_outputs)
    halved = nn.Linear(n_inputs, n_outputs).to(torch.bfloat16)
    states = torch.randn(n_rows, n_inputs)
    kinds: list[Callable[[], Tensor]] = [
        lambda: layer(states),
        lambda: halved(states.to(torch.bfloat16)),
        lambda: eight(states),
    ]
    eight = OfBatch(layer)
    fastest = [float("inf")] * len(kinds)
    with torch.inference_mode():
        for _ in range(3 * n_runs):
            for number, multiply in enumerate(kinds):
                start = time.process_time()
                for _ in range(_REPEATED):
                    multiply()
                fastest[number] = min(fastest[number], (time.process_time() - start) / _REPEATED)
    return fastest


def agreement(expected: Sequence[Rating], actual: Sequence[Rating]) -> list[str]:
    """Returns the share of segments with equal marks, and the mean and the largest difference of expected scores."""
    pairs = list(zip(expected, actual, strict=True))
    same = [_marks(left) == _marks(right) for left, right in pairs]
    differences = [abs(_score(left) - _score(right)) for left, right in pairs]
    return [f"{100 * np.mean(same):.1f} %", f"{np.mean(differences):.3f}", f"{max(differences):.2f}"]


def _marks(rating: Rating) -> list[tuple[int, int, object]]:
    return [(error.start, error.end, error.severity) for error in rating.errors or ()]


def _score(rating: Rating) -> float:
    return 0.0 if rating.estimate is None else rating.estimate.value


def _rounded(layer: nn.Linear) -> tuple[Tensor, Tensor]:
    """Returns the weight, (outputs, inputs), and the scale of each output."""
    weight = layer.weight.detach()
    return weight, (weight.abs().amax(1) / _LARGEST).clamp(min=1e-12)


def _load(model: str, precision: str) -> Annotator:
    return matese.load(model, device="cpu", precision=precision, engine="torch", threads=1)


def _with(annotator: Annotator, kind: Callable[[nn.Linear], nn.Module]) -> Annotator:
    """Returns an annotator whose encoder has other linear layers."""
    network = annotator.predictor.engine.module
    assert isinstance(network, Network)
    for parent in list(network.encoder.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear):
                parent.add_module(name, kind(child))
    return annotator
