"""Which encoders are of the RoBERTa family, and their settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any


@dataclass(frozen=True)
class RobertaConfig:
    """The part of a transformers configuration that is read, under the same names."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int
    layer_norm_eps: float
    pad_token_id: int
    is_encoder_decoder: bool = False
    attention_width: int = 0
    """Width of all heads together, if some were removed (see `matese.regression.shrinking`); 0 for `hidden_size`."""

    @property
    def first_position(self) -> int:
        """Number of the first token's position: they are counted from the id of padding + 1."""
        return self.pad_token_id + 1


def read(settings: Mapping[str, object]) -> RobertaConfig:
    """Returns the settings of a transformers configuration for which `is_roberta` holds."""
    # A configuration as it was released leaves out what is usual.
    known: dict[str, Any] = {
        field.name: settings[field.name] for field in fields(RobertaConfig) if field.name in settings
    }
    return RobertaConfig(**known)


def is_roberta(settings: Mapping[str, object]) -> bool:
    """Returns whether a transformers configuration describes an encoder that this package runs as transformers does."""
    return (
        settings.get("model_type") in ("roberta", "xlm-roberta")
        and settings.get("hidden_act") == "gelu"
        and settings.get("position_embedding_type", "absolute") == "absolute"
        and not settings.get("is_decoder")
        and all(
            isinstance(settings.get(field.name, None if field.default is MISSING else field.default), int | float)
            for field in fields(RobertaConfig)
        )
    )
