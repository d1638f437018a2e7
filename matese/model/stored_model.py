"""A model as it is read from its files, in our format or as released."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from matese.model.config import ModelConfig

if TYPE_CHECKING:
    from torch import Tensor

    from matese.model.texts.tokenizer import FileTokenizer


class StoredModel(NamedTuple):
    """What a network is built from.

    Attributes:
        config: settings of the model.
        encoder: configuration of its encoder, as transformers writes it.
        tensors: the weights, with the names of the network.
        tokenizer: the tokenizer, or the directory of its files.
        is_released: whether it is a model of another program, in its own format.
    """

    config: ModelConfig
    encoder: dict[str, Any]
    tensors: Mapping[str, Tensor]
    tokenizer: FileTokenizer | Path
    is_released: bool
