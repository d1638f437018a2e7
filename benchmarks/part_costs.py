"""Measure what each part of a model costs in a segment, in torch on a processor; see `benchmarks.engines --parts`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

import matese
from benchmarks import markdown
from benchmarks.host_path import Stopwatch, segments
from matese.annotation import Segment
from matese.model.annotator import Annotator
from matese.model.encoder import attention as attentions
from matese.model.network import Network

_PRECISIONS = ("float32", "bf16")
_LENGTHS = (20, 40, 80, 350)
_ATTENTION = {
    "float32": (torch.float32, False),
    "training in float32": (torch.float32, True),
    "training in bf16": (torch.bfloat16, True),
}
"""The type of the numbers, and whether gradients are computed too."""


def print_table(model: str, data: Path | None, *, n_segments: int, n_runs: int) -> None:
    """Prints the processor time of each part, in each precision."""
    sample = segments(data, n_segments)
    annotators = {
        precision: matese.load(model, device="cpu", precision=precision, engine="torch", threads=1)
        for precision in _PRECISIONS
    }
    fastest: dict[str, dict[str, float]] = {}
    for _ in range(n_runs):  # in turn, so that other load of the machine meets both
        for precision, annotator in annotators.items():
            parts = measure(annotator, sample)
            if precision not in fastest or sum(parts.values()) < sum(fastest[precision].values()):
                fastest[precision] = parts
    print(f"Processor time in milliseconds a segment, of {len(sample):,} segments.\n")
    totals = {precision: sum(parts.values()) for precision, parts in fastest.items()}
    rows = [
        [name, *(cell for precision in _PRECISIONS for cell in _shown(fastest[precision][name], totals[precision]))]
        for name in fastest["float32"]
    ]
    rows.append(["**all**", *(cell for total in totals.values() for cell in (f"**{total:.2f}**", ""))])
    heads = ["part", *(head for name in _PRECISIONS for head in (name, "share"))]
    print(*markdown.table(heads, rows), sep="\n", end="\n\n", flush=True)
    print("Processor time of attention in milliseconds, of about 2,000 tokens, by the tokens of a row.\n")
    rows = [[str(length), *(f"{1000 * each:.1f}" for each in attention(length, n_runs))] for length in _LENGTHS]
    heads = [f"{name}, {way}" for name in _ATTENTION for way in ("fused", "plain products")]
    print(*markdown.table(["tokens", *heads], rows), sep="\n")


def measure(annotator: Annotator, sample: Sequence[Segment]) -> dict[str, float]:
    """Returns milliseconds a segment of the encoder, the comparison, the extra layers, each head, and the rest."""
    watch = Stopwatch()
    network = annotator.predictor.engine.module
    assert isinstance(network, Network)
    encoder: Any = network.encoder
    timed = {"encoder": [(encoder, "run"), (encoder, "embed")]}
    if network.comparison is not None:
        timed["comparison of texts"] = [(network.comparison, "forward")]
    timed["extra layers"] = [(layer, "forward") for layer in network.extra_layers]
    for head in annotator.predictor.interpreter.heads:
        timed[f"head: {head.name}"] = [(getattr(network, head.part), "forward")]
    for name, methods in timed.items():
        for thing, method in methods:
            watch.time(thing, method, name)
    annotator.predictor.forget()
    start = time.process_time()
    list(annotator.annotate_segments(sample))
    total = time.process_time() - start
    for methods in timed.values():
        for thing, method in methods:
            delattr(thing, method)
    rest = total - sum(watch.seconds.values())
    return {
        name: 1000 * seconds / len(sample)
        for name, seconds in {**{name: watch.seconds[name] for name in timed}, "rest": rest}.items()
    }


def attention(length: int, n_runs: int) -> list[float]:
    """Returns the processor seconds of fused attention and of plain products, for each of `_ATTENTION`."""
    shape = (2000 // length, length, 12, 32)  # of `mini`: 12 heads
    mask = attentions.padding_mask(torch.ones(shape[:2]), torch.float32)
    cases = [
        (attend, [torch.randn(shape, dtype=dtype, requires_grad=is_trained) for _ in range(3)])
        for dtype, is_trained in _ATTENTION.values()
        for attend in (_fused(mask), attentions.padded(mask, record=lambda *_: None))
    ]
    fastest = [float("inf")] * len(cases)
    for _ in range(5 * n_runs):
        for number, (attend, tensors) in enumerate(cases):
            start = time.process_time()
            with torch.autocast("cpu", torch.bfloat16, enabled=tensors[0].dtype == torch.bfloat16):
                attended = attend(*tensors)
            if attended.requires_grad:
                torch.autograd.backward(attended.sum())
            fastest[number] = min(fastest[number], time.process_time() - start)
    return fastest


def _fused(mask: Tensor) -> attentions.Attention:
    """Returns fused attention, whether or not `attentions.padded` would choose it."""

    def attend(*tensors: Tensor) -> Tensor:
        query, key, value = (each.transpose(1, 2) for each in tensors)
        return functional.scaled_dot_product_attention(query, key, value, mask.to(query.dtype)).transpose(1, 2)

    return attend


def _shown(value: float, total: float) -> list[str]:
    return [f"{value:.2f}", f"{100 * value / total:.0f} %"]
