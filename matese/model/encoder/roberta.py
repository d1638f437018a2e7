"""Encoders of the RoBERTa family in plain torch, for inference. Parameters have the same names as in transformers.

Importing transformers takes longer than importing torch and tagging a few hundred segments with a small model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from matese.errors import InputError
from matese.model.encoder import attention as attentions
from matese.model.encoder import roberta_config
from matese.model.encoder.attention import Attention
from matese.model.encoder.observer import Observer
from matese.model.encoder.roberta_config import RobertaConfig

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class States(NamedTuple):
    """The output, with the names of transformers: all are (batch, tokens, width)."""

    last_hidden_state: Tensor
    hidden_states: tuple[Tensor, ...]


class Roberta(nn.Module):
    """Embeddings and layers, without pooler and dropout.

    Attributes:
        observer: records the next passes, which must not be packed; None to record nothing.
    """

    def __init__(self, settings: Mapping[str, object]) -> None:
        """Initialises the weights at random from a configuration for which `roberta_config.is_roberta` is true."""
        super().__init__()
        self.config = config = roberta_config.read(settings)
        width = config.hidden_size
        eps = config.layer_norm_eps
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding(config.vocab_size, width),
                "position_embeddings": nn.Embedding(config.max_position_embeddings, width, config.position_padding),
                "token_type_embeddings": nn.Embedding(config.type_vocab_size, width),
                "LayerNorm": nn.LayerNorm(width, eps),
            }
        )
        self.observer: Observer | None = None
        layers = [_Layer(config) for _ in range(config.num_hidden_layers)]
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(layers)})

    def dropout_sites(self) -> Iterator[nn.Module]:
        """Yields the modules that dropout follows in transformers: embeddings, attention and inner layers."""
        embeddings: Any = self.embeddings
        yield embeddings["LayerNorm"]
        layers: Any = self.encoder["layer"]
        for layer in layers:
            yield layer.attention["output"]["dense"]
            yield layer.output["dense"]

    def get_input_embeddings(self) -> nn.Module:
        """Returns the token embeddings."""
        return self.embeddings["word_embeddings"]

    def forward(
        self,
        *,
        attention_mask: Tensor,
        input_ids: Tensor,
        places: Tensor | None = None,
        output_hidden_states: bool = False,
        return_dict: bool = True,
    ) -> States:
        """Returns the states of the last layer and, with `output_hidden_states`, of the embeddings and all layers.

        Args:
            attention_mask: (batch, tokens), 1 for tokens, which come first, 0 for padding.
            input_ids: (batch, tokens).
            places: (tokens of all rows,), positions of tokens in the flattened mask, to skip padding; the states of
                padding are then 0.
            output_hidden_states: whether to return the states of all layers.
            return_dict: always True, as in transformers.
        """
        states = self.embed(input_ids)
        attend = self._attention(attention_mask, states.dtype, is_packed=places is not None)
        kept = [states]
        shape = states.shape
        if places is not None:
            states = states.flatten(0, 1)[places]  # (tokens of all rows, width)
        n_layers = self.config.num_hidden_layers
        for number in range(n_layers):
            states = self.run(states, attend, number, number + 1)
            if output_hidden_states or number + 1 == n_layers:
                kept.append(states if places is None else _spread(states, places, shape))
        return States(kept[-1], tuple(kept))

    def embed(self, input_ids: Tensor, positions: Tensor | None = None) -> Tensor:
        """Returns the input of the first layer, (batch, tokens, width), from ids, (batch, tokens).

        Positions are those of the tokens in their texts, (batch, tokens), from 0; None for those in their rows.
        """
        states: Tensor = self.get_input_embeddings()(input_ids)
        if positions is None:
            positions = torch.arange(states.shape[1], device=states.device)
        embeddings: Any = self.embeddings
        types = embeddings["token_type_embeddings"].weight[0]
        placed = embeddings["position_embeddings"](positions + self.config.first_position)
        states = embeddings["LayerNorm"](states + types + placed)
        return states if self.observer is None else self.observer.embed(states)

    def run(self, states: Tensor, attend: Attention, start: int, stop: int) -> Tensor:
        """Returns the states after some of the layers, numbered from 0: (batch, tokens, width), or packed as given."""
        layers: Any = self.encoder["layer"]
        for layer in layers[start:stop]:
            states = layer(states, attend)
            if self.observer is not None:
                self.observer.states.append(states)
        return states

    def attention(self, mask: Tensor) -> Attention:
        """Returns the attention of padded rows, from a mask that is (batch, 1, 1 or tokens, tokens)."""
        observer = self.observer
        return attentions.padded(mask, record=None if observer is None else observer.record)

    def _attention(self, attention_mask: Tensor, dtype: torch.dtype, *, is_packed: bool) -> Attention:
        if is_packed:  # the mask width is an upper bound: only the device knows the longest row
            ends = attention_mask.sum(1).cumsum(0, dtype=torch.int32)
            return attentions.packed(functional.pad(ends, (1, 0)), attention_mask.shape[1])
        return self.attention(attentions.padding_mask(attention_mask, dtype))


class _Layer(nn.Module):
    def __init__(self, config: RobertaConfig) -> None:
        super().__init__()
        width = config.hidden_size
        eps = config.layer_norm_eps
        attended = config.attention_width or width
        if attended % config.num_attention_heads:
            raise InputError(f"num_attention_heads {config.num_attention_heads}: must divide hidden_size {attended}")
        self._n_heads = config.num_attention_heads
        self.attention = nn.ModuleDict(
            {
                "self": nn.ModuleDict({name: nn.Linear(width, attended) for name in ("query", "key", "value")}),
                "output": _normed(attended, width, eps),
            }
        )
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(width, config.intermediate_size)})
        self.output = _normed(config.intermediate_size, width, eps)

    def forward(self, states: Tensor, attend: Attention) -> Tensor:
        projections: Any = self.attention["self"]

        def project(name: str) -> Tensor:  # (..., tokens, heads, head width)
            projected: Tensor = projections[name](states)
            return projected.view(*states.shape[:-1], self._n_heads, -1)

        attended = attend(project("query"), project("key"), project("value")).flatten(-2)
        attention: Any = self.attention["output"]
        states = attention["LayerNorm"](attention["dense"](attended) + states)
        inner = functional.gelu(self.intermediate["dense"](states))
        normed: Tensor = self.output["LayerNorm"](self.output["dense"](inner) + states)
        return normed


def of_transformers(encoder: PreTrainedModel) -> Roberta:
    """Returns an encoder of this package with the tensors of an encoder of transformers.

    Raises:
        InputError: if its model_type is not bert, roberta or xlm-roberta.
    """
    settings = encoder.config.to_dict()
    if not roberta_config.is_roberta(settings, with_bert=True):
        raise InputError(
            f"the encoder's model_type is {settings.get('model_type')!r}: must be bert, roberta or xlm-roberta"
        )
    roberta = Roberta(settings)
    roberta.load_state_dict(encoder.state_dict())
    return roberta


def _spread(states: Tensor, places: Tensor, shape: torch.Size) -> Tensor:
    """Returns the states of tokens at their places, 0 elsewhere: (batch, tokens, width)."""
    return states.new_zeros(shape).flatten(0, 1).index_copy(0, places, states).view(shape)


def _normed(n_inputs: int, width: int, eps: float) -> nn.ModuleDict:
    return nn.ModuleDict({"dense": nn.Linear(n_inputs, width), "LayerNorm": nn.LayerNorm(width, eps)})
