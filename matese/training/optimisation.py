"""Learning rates and their schedule, and the means of figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from torch import nn

from matese.model.texts.encoding import InputKind
from matese.training import freezing
from matese.training.config import TrainingConfig


class Steps(NamedTuple):
    """Optimizer steps of a training, for the learning rate schedule; the encoder is frozen in the first ones."""

    total: int
    frozen: int = 0


def encoder_depths(encoder: nn.Module) -> dict[int, int]:
    """Returns the number of layers above each parameter of an encoder, by the parameter's id.

    The embeddings are below all layers. Parameters after the layers, such as a last norm, belong to the highest layer.
    """
    depths = {id(parameter): 0 for parameter in encoder.parameters()}
    numbers = freezing.layer_numbers(encoder)
    n_layers = 1 + max(numbers.values(), default=-1)
    for name, parameter in encoder.named_parameters():
        if name in numbers or "embed" in name:
            depths[id(parameter)] = n_layers - 1 - numbers.get(name, -1)
    return depths


def dev_figures(by_inputs: Mapping[InputKind, Mapping[str, float]]) -> dict[str, float]:
    """Returns the means over the kinds of input and, if there are several, the figures of each, by name.

    >>> dev_figures({"reference": {"macro_f1": 0.25}, "source": {"macro_f1": 0.75}})["dev/macro_f1"]
    0.5
    """
    single = {f"dev/{inputs}/{name}": value for inputs, figures in by_inputs.items() for name, value in figures.items()}
    values: dict[str, list[float]] = {}
    for figures in by_inputs.values():
        for name, value in figures.items():
            values.setdefault(f"dev/{name}", []).append(value)
    means = {name: math.fsum(known) / len(known) for name, known in values.items()}
    return means if len(by_inputs) == 1 else means | single


def learning_rate_factor(training: TrainingConfig, n_steps: int, frozen_steps: int) -> Callable[[int], float]:
    """Returns a function from the number of a step to its share of the highest learning rate; 0 in frozen steps."""
    n_warmup = math.ceil(training.warmup * n_steps)

    def factor(step: int) -> float:
        if step < frozen_steps:
            return 0.0
        if step < n_warmup:
            return (step + 1) / n_warmup
        left = max(0.0, (n_steps - step) / max(1, n_steps - n_warmup))
        return left if training.schedule == "linear" else 1.0

    return factor
