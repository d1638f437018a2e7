"""What is trained and what is frozen, learning rates and their schedule, and the means of figures."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from torch import nn

from matese.errors import InputError
from matese.model.encoder.loading import embedding_modules
from matese.model.heads import registry
from matese.model.network import Network
from matese.model.texts.encoding import InputKind
from matese.training.config import TrainingConfig

_LAYER = re.compile(r"(?:^|\.)layers?\.(\d+)\.")
"""Finds the layer number in the name of a parameter, for all supported encoders of transformers."""


def freeze(model: Network, training: TrainingConfig, kept: Sequence[str] = ()) -> None:
    """Excludes the lowest layers and the embeddings of the encoder, as the settings say, and the kept heads.

    The first steps, in which the whole encoder is frozen, are those of the learning rate schedule.

    Args:
        model: changed in place.
        training: the settings.
        kept: names of heads that stay as they are.
    """
    for head in registry.HEADS:
        if head.name in kept:
            getattr(model, head.part).requires_grad_(False)
    _freeze_layers(model.encoder, training.frozen_layers)
    if training.freeze_embeddings:
        for embedding in embedding_modules(model.encoder):
            embedding.requires_grad_(False)


def layer_numbers(encoder: nn.Module) -> dict[str, int]:
    """Returns the layer of each parameter of an encoder that belongs to one, from 0."""
    return {name: int(match[1]) for name, _ in encoder.named_parameters() if (match := _LAYER.search(name))}


def _freeze_layers(encoder: nn.Module, n_layers: int) -> None:
    numbers = layer_numbers(encoder)
    if n_layers > (most := 1 + max(numbers.values(), default=-1)):
        raise InputError(f"training.frozen_layers {n_layers}: must be at most {most}, the layers of the encoder")
    for name, parameter in encoder.named_parameters():
        if numbers.get(name, n_layers) < n_layers:
            parameter.requires_grad_(False)


class Steps(NamedTuple):
    """Optimizer steps of a training, for the learning rate schedule; the encoder is frozen in the first ones."""

    total: int
    frozen: int = 0


def encoder_depths(encoder: nn.Module) -> dict[int, int]:
    """Returns the number of layers above each parameter of an encoder, by the parameter's id.

    The embeddings are below all layers. Parameters after the layers, such as a last norm, belong to the highest layer.
    """
    depths = {id(parameter): 0 for parameter in encoder.parameters()}
    numbers = layer_numbers(encoder)
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
    means = {name: fmean(of_inputs) for name, of_inputs in values.items()}
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
