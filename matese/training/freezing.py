"""Exclude parts of a model from training."""

from __future__ import annotations

import re
from collections.abc import Sequence

from torch import nn

from matese.errors import InputError
from matese.model.encoder.loading import embedding_modules
from matese.model.heads import registry
from matese.model.network import Network
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
