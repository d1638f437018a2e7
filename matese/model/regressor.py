"""The network of the COMET family: an encoder, a mix of its layers, pooling, and heads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from matese.errors import InputError
from matese.model.config import RegressionConfig
from matese.model.encoder.layer_mix import LayerMix
from matese.model.heads import registry
from matese.model.heads.networks import PooledStates
from matese.model.inputs import Inputs
from matese.model.network_output import NetworkOutput
from matese.model.texts import encoding
from matese.model.texts.encoding import TextEncoder

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from matese.model.encoder.roberta import Roberta
    from matese.model.heads.networks import HeadNetwork
    from matese.model.texts.tokenizer import Tokenizer


class Regressor(nn.Module):
    """Embeds texts and scores the embeddings, or scores rows of several texts.

    The layers of each head are an attribute with the name of its `part`, as in `network.Tagger`.
    """

    def __init__(self, config: RegressionConfig, encoder: PreTrainedModel | Roberta) -> None:
        """Adds a layer mix and heads to an encoder.

        Raises:
            InputError: if the settings do not fit the encoder.
        """
        super().__init__()
        self.config = config
        self.encoder: Any = encoder
        settings: Any = encoder.config
        if settings.is_encoder_decoder:
            raise InputError("the encoder is an encoder-decoder: must be an encoder without a decoder")
        self.width = int(settings.hidden_size)
        n_layers = int(settings.num_hidden_layers) + 1
        for name in ("layer", "word_layer"):
            if (layer := getattr(config, name)) is not None and not 0 <= layer < n_layers:
                raise InputError(f"{name} {layer}: must be from 0 to {n_layers - 1}, the layers of the encoder")
        self.mix: LayerMix | None = None
        if config.layer is None:
            is_sparse = config.layer_transformation == "sparsemax"
            self.mix = LayerMix(
                n_layers, is_sparse=is_sparse, is_normed=config.layer_norm, dropout=config.layer_dropout
            )
        networks = registry.networks()
        for head in registry.heads(config):
            self.add_module(head.part, networks[head.name].of(config, self.width, None))

    def body(self) -> tuple[nn.Module, ...]:
        """Returns the parts before the heads."""
        return (self.encoder,)

    @property
    def heads(self) -> list[HeadNetwork]:
        """The layers of the heads."""
        return [getattr(self, head.part) for head in registry.heads(self.config)]

    def text_encoder(self, tokenizer: Tokenizer) -> TextEncoder:
        """Returns the encoder of texts into the model's input. Raises InputError if the tokenizer does not fit."""
        return encoding.text_encoder(self.encoder, tokenizer, max_tokens=self.config.max_tokens)

    def dropout_sites(self) -> list[nn.Module]:
        """Returns the activations of the estimator's hidden layers, which unbabel-comet follows with dropout."""
        estimator = getattr(self, "estimator", None)
        return [] if estimator is None else estimator.activations()

    def forward(self, batch: Inputs) -> NetworkOutput:
        """Returns what each head says of a batch, in float32 even under autocast."""
        arguments: dict[str, Any] = {"input_ids": batch.ids, "attention_mask": batch.mask.long()}
        if batch.places is not None:
            arguments["places"] = batch.places
        if self.config.has_token_types:
            places = torch.arange(batch.ids.shape[1], device=batch.ids.device)
            arguments["token_type_ids"] = (places >= batch.hypothesis_mask.sum(1, keepdim=True)).long()
        layers = self.encoder(**arguments, output_hidden_states=True, return_dict=True).hidden_states
        outputs: dict[str, Any] = {}
        with torch.autocast(batch.ids.device.type, enabled=False):
            states = PooledStates(batch, self.config, layers, self._pool(layers, batch.mask))
            for head in self.heads:
                outputs |= head(states, outputs)
        return NetworkOutput(outputs)

    def combine(self, texts: Mapping[str, Tensor]) -> Tensor:
        """Returns the score of each hypothesis, (segments,), from embeddings of texts that were read alone.

        Args:
            texts: embeddings by role, such as "hypothesis": (segments, width) each.
        """
        (head,) = self.heads
        scores: Tensor = head.combine(texts)
        return scores

    def _pool(self, layers: Sequence[Tensor], mask: Tensor) -> Tensor:
        """Returns one embedding for each row: (batch, width)."""
        # The maximum of a mix is not the mix of the maxima: the tokens are mixed first.
        read = {"max": Tensor.float, "cls": _first, "avg": _mean_of(mask)}[self.config.pooling]
        mixed: Tensor = read(layers[self.config.layer or 0]) if self.mix is None else self.mix(layers, mask, read)
        if self.config.pooling == "max":
            return mixed.masked_fill(~mask.unsqueeze(-1), -torch.inf).amax(1)
        return mixed


def _first(layer: Tensor) -> Tensor:
    return layer[:, 0].float()


def _mean_of(mask: Tensor) -> Callable[[Tensor], Tensor]:
    weights = (mask / mask.sum(1, keepdim=True)).unsqueeze(1)  # (batch, 1, tokens)
    return lambda layer: (weights @ layer.float()).squeeze(1)
