"""Recognise encoders of the RoBERTa family and read their settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True)
class RobertaConfig:
    """The part of a transformers configuration that this package reads, with the same names."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int
    layer_norm_eps: float
    pad_token_id: int
    model_type: str = "xlm-roberta"
    is_encoder_decoder: bool = False
    attention_width: int = 0
    """Width of all heads together, if some were removed (see `matese.training.shrinking`); 0 for `hidden_size`."""

    @property
    def position_padding(self) -> int | None:
        """Position number of padding; None for BERT, which has none."""
        return None if self.model_type == "bert" else self.pad_token_id

    @property
    def first_position(self) -> int:
        """Position number of the first token."""
        return 0 if self.model_type == "bert" else self.pad_token_id + 1

    def to_dict(self) -> dict[str, object]:
        """Returns a transformers configuration of such an encoder."""
        return {**asdict(self), "hidden_act": "gelu"}


def read(settings: Mapping[str, object]) -> RobertaConfig:
    """Returns the settings of a transformers configuration for which `is_roberta` is true."""
    # Released configurations leave out defaults.
    names = {field.name for field in fields(RobertaConfig)}
    values: dict[str, Any] = {name: value for name, value in settings.items() if name in names}
    return RobertaConfig(**values)


def is_roberta(settings: Mapping[str, object], *, with_bert: bool = False) -> bool:
    """Returns whether this package can run the encoder of a transformers configuration, with the same results.

    For BERT, this package has only the first token type.
    """
    types = ("roberta", "xlm-roberta", *(("bert",) if with_bert else ()))
    return (
        settings.get("model_type") in types
        and settings.get("hidden_act") == "gelu"
        and settings.get("position_embedding_type", "absolute") == "absolute"
        and not settings.get("is_decoder")
        and all(
            isinstance(settings.get(field.name, None if field.default is MISSING else field.default), int | float)
            for field in fields(RobertaConfig)
            if field.name != "model_type"
        )
    )
