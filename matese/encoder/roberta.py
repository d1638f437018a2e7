"""The encoder of the RoBERTa family in plain torch, for models that are run and not trained.

To import transformers takes longer than to import torch and to tag a few hundred segments with a small model; this
module needs none of it. The parameters have the names that transformers gives them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True)
class RobertaConfig:
    """What of a configuration of transformers is read, under its names."""

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


class States(NamedTuple):
    """What comes out, under the names of transformers: each is (batch, tokens, width)."""

    last_hidden_state: Tensor
    hidden_states: tuple[Tensor, ...]


def is_roberta(settings: Mapping[str, object]) -> bool:
    """Whether a configuration of transformers is one that this module runs as transformers does."""
    return (
        settings.get("model_type") in ("roberta", "xlm-roberta")
        and settings.get("hidden_act") == "gelu"
        and settings.get("position_embedding_type", "absolute") == "absolute"
        and not settings.get("is_decoder")
        and all(isinstance(settings.get(field.name), int | float) for field in fields(RobertaConfig))
    )


class Roberta(nn.Module):
    """Embeddings and layers, without pooler and dropout."""

    def __init__(self, settings: Mapping[str, object], *, attention: str | None = None) -> None:
        """Makes it with random weights.

        Args:
            settings: for which `is_roberta` holds.
            attention: "eager" for plain matrix products; otherwise torch's fused attention.
        """
        super().__init__()
        known: dict[str, Any] = {field.name: settings[field.name] for field in fields(RobertaConfig)}
        self.config = config = RobertaConfig(**known)
        width, eps = config.hidden_size, config.layer_norm_eps
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding(config.vocab_size, width),
                "position_embeddings": nn.Embedding(config.max_position_embeddings, width, config.pad_token_id),
                "token_type_embeddings": nn.Embedding(config.type_vocab_size, width),
                "LayerNorm": nn.LayerNorm(width, eps),
            }
        )
        layers = [_Layer(config, is_eager=attention == "eager") for _ in range(config.num_hidden_layers)]
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(layers)})

    def get_input_embeddings(self) -> nn.Module:
        """Returns the embedding of ids."""
        return self.embeddings["word_embeddings"]

    def forward(
        self,
        *,
        attention_mask: Tensor,
        input_ids: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        output_hidden_states: bool = False,
        return_dict: bool = True,
    ) -> States:
        """Returns the states of the last layer and, where they are asked for, of all and of the embeddings.

        Args:
            attention_mask: (batch, tokens), 1 where there is a token; they stand at the front.
            input_ids: (batch, tokens).
            inputs_embeds: (batch, tokens, width), instead of ids.
            output_hidden_states: whether all are kept.
            return_dict: as transformers has it; True.
        """
        states: Tensor = self.get_input_embeddings()(input_ids) if inputs_embeds is None else inputs_embeds
        first = self.config.pad_token_id + 1  # positions are counted from here
        places = torch.arange(first, first + states.shape[1], device=states.device)
        embeddings: Any = self.embeddings
        types = embeddings["token_type_embeddings"].weight[0]
        states = embeddings["LayerNorm"](states + types + embeddings["position_embeddings"](places))
        lowest = torch.finfo(states.dtype).min
        # (batch, 1, 1, tokens), added to the products of queries and keys
        mask = states.new_zeros(attention_mask.shape).masked_fill(attention_mask == 0, lowest)[:, None, None]
        kept = [states]
        layers: Any = self.encoder["layer"]
        for layer in layers:
            states = layer(states, mask)
            if output_hidden_states:
                kept.append(states)
        return States(states, tuple(kept))


class _Layer(nn.Module):
    def __init__(self, config: RobertaConfig, *, is_eager: bool) -> None:
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        if width % config.num_attention_heads:
            raise ValueError(f"num_attention_heads {config.num_attention_heads}: must divide hidden_size {width}")
        self._n_heads, self._is_eager = config.num_attention_heads, is_eager
        self.attention = nn.ModuleDict(
            {
                "self": nn.ModuleDict({name: nn.Linear(width, width) for name in ("query", "key", "value")}),
                "output": _normed(width, width, eps),
            }
        )
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(width, config.intermediate_size)})
        self.output = _normed(config.intermediate_size, width, eps)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        attended = self._attend(states, mask)
        attention: Any = self.attention["output"]
        states = attention["LayerNorm"](attention["dense"](attended) + states)
        inner = functional.gelu(self.intermediate["dense"](states))
        made: Tensor = self.output["LayerNorm"](self.output["dense"](inner) + states)
        return made

    def _attend(self, states: Tensor, mask: Tensor) -> Tensor:
        projections: Any = self.attention["self"]

        def project(name: str) -> Tensor:  # (batch, heads, tokens, width of a head)
            projected: Tensor = projections[name](states)
            return projected.view(*states.shape[:-1], self._n_heads, -1).transpose(1, 2)

        query, key, value = project("query"), project("key"), project("value")
        if self._is_eager:
            products = query @ key.transpose(2, 3) * query.shape[-1] ** -0.5 + mask
            attended: Tensor = products.softmax(-1) @ value
        else:
            attended = functional.scaled_dot_product_attention(query, key, value, mask.to(query.dtype))
        return attended.transpose(1, 2).flatten(2)


def _normed(n_inputs: int, width: int, eps: float) -> nn.ModuleDict:
    return nn.ModuleDict({"dense": nn.Linear(n_inputs, width), "LayerNorm": nn.LayerNorm(width, eps)})
