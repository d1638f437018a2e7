"""The tagger: an encoder, some more transformer layers, and heads.

Perrella et al. 2022, section 3.1, has the head for the five tags; the others and the layer mixes are options.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn

from matese.errors import InputError
from matese.model.config import TaggerConfig
from matese.model.encoder import attention, pooling, roberta
from matese.model.encoder.comparison import Comparison
from matese.model.encoder.extra_layer import ExtraLayer
from matese.model.encoder.roberta import Roberta
from matese.model.heads import registry
from matese.model.heads.networks import States
from matese.model.inputs import Inputs
from matese.model.network_output import NetworkOutput
from matese.model.texts import encoding
from matese.model.texts.encoding import TextEncoder

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from matese.model.texts.tokenizer import Tokenizer


class Tagger(nn.Module):
    """Predicts from token ids what its heads say.

    The layers of each head are an attribute with the name of its `part`; None for a head that the model lacks.
    """

    tag_head: nn.Linear

    def __init__(
        self, config: TaggerConfig, encoder: PreTrainedModel | Roberta, extra_width: int | None = None
    ) -> None:
        """Adds new layers and heads to an encoder, or to the decoder of an encoder-decoder.

        Args:
            config: settings.
            encoder: an encoder of this package or of transformers.
            extra_width: inner width of the extra layers; None for four times the encoder's width.

        Raises:
            InputError: if the settings do not fit the encoder.
        """
        super().__init__()
        if config.separate_layers and not isinstance(encoder, Roberta):
            encoder = roberta.of_transformers(encoder)
        self.config = config
        self.encoder: Any = encoder
        settings: Any = encoder.config
        self.has_decoder = bool(settings.is_encoder_decoder)
        self.width = width = int(settings.hidden_size)
        if config.separate_layers and config.separate_layers > settings.num_hidden_layers:
            problem = f"separate_layers {config.separate_layers}"
            raise InputError(f"{problem}: must be at most {settings.num_hidden_layers}, the encoder's number of layers")
        if width % config.extra_heads:
            raise InputError(f"extra_heads {config.extra_heads}: must divide the encoder's width {width}")
        self.extra_layers = nn.ModuleList(
            ExtraLayer(width, config.extra_heads, config.dropout, extra_width) for _ in range(config.extra_layers)
        )
        if self.has_decoder and (config.omission_head or config.score_pooling == "texts"):
            raise InputError(
                "the encoder is an encoder-decoder: omission_head must be false, and score_pooling hypothesis"
            )
        self.comparison = Comparison(width) if config.separate_layers else None
        self.dropout = nn.Dropout(config.dropout)
        networks = registry.networks()
        for head in registry.HEADS:
            if head.is_in(config):
                self.add_module(head.part, networks[head.name].of(config, width, extra_width))
            elif head.of_models is TaggerConfig:
                self.register_module(head.part, None)

    def body(self) -> tuple[nn.Module, ...]:
        """Returns the parts before the heads."""
        return self.encoder, self.extra_layers

    @property
    def heads(self) -> list[nn.Module]:
        """The layers of the heads, in the order in which they are computed."""
        return [getattr(self, head.part) for head in registry.HEADS if head.is_in(self.config)]

    def forward(self, batch: Inputs) -> NetworkOutput:
        """Returns what each head says of a batch, in float32 even under autocast."""
        encoded, similarity = self._states(batch)  # (batch, tokens, width) and (batch,)
        mask = batch.mask if batch.decoder_mask is None else batch.decoder_mask
        final = encoded
        for layer in self.extra_layers:
            final = layer(final, mask)
        states = States(
            batch=batch,
            config=self.config,
            encoded=encoded,
            final=final,
            hypothesis=self.dropout(pooling.of_hypothesis(final, batch.positions)),
            similarity=similarity,
            dropout=self.dropout,
            embed=lambda: self._embeddings(batch),
        )
        outputs: dict[str, Any] = {}
        for head in self.heads:
            outputs |= head(states, outputs)
        return NetworkOutput(outputs)

    def _embeddings(self, batch: Inputs) -> Tensor:
        """Returns the embeddings of the hypothesis' tokens: (batch, hypothesis tokens, width)."""
        ids = batch.ids if batch.decoder_ids is None else batch.decoder_ids
        embeddings: Tensor = self.encoder.get_input_embeddings()(ids.gather(1, batch.positions))
        return embeddings

    def _separate_states(self, batch: Inputs, comparison: Comparison) -> tuple[Tensor, Tensor]:
        """Returns the encoder's states with each text read alone in the lowest layers, see `Comparison`.

        The second tensor is the term that the texts' similarity adds to the logit of the score.
        """
        assert batch.text_positions is not None
        encoder = self.encoder
        n_separate = self.config.separate_layers
        if batch.texts is None or batch.text_starts is None or batch.texts.is_cuda:
            states = encoder.embed(input_ids=batch.ids, positions=batch.text_positions)
            texts = (batch.text_positions == 0).cumsum(1)
            is_read = batch.mask.unsqueeze(1) & (texts.unsqueeze(1) == texts.unsqueeze(2))  # (batch, tokens, tokens)
            mask = attention.padding_mask(is_read.flatten(0, 1), states.dtype).view(-1, 1, *is_read.shape[1:])
            states = encoder.run(states, encoder.attention(mask), 0, n_separate)
        else:
            lengths = batch.text_starts.diff()
            positions = torch.arange(len(batch.texts)) - batch.text_starts[:-1].repeat_interleave(lengths)
            states = encoder.embed(input_ids=batch.texts, positions=positions)  # (tokens of all texts, width)
            states = encoder.run(states, attention.packed(batch.text_starts, int(lengths.max())), 0, n_separate)
            states = states[batch.text_places]  # (batch, tokens, width)
        added, similarity = comparison(states, batch.ids, batch.roles)
        states = states + added
        attend = encoder.attention(attention.padding_mask(batch.mask, states.dtype))
        return encoder.run(states, attend, n_separate, encoder.config.num_hidden_layers), similarity

    def _states(self, batch: Inputs) -> tuple[Tensor, Tensor | None]:
        """Returns the encoder's states, and the term that the texts' similarity adds to the logit of the score."""
        if self.comparison is not None:
            return self._separate_states(batch, self.comparison)
        mask = batch.mask.long()
        places = {} if batch.places is None else {"places": batch.places}
        arguments: dict[str, Any] = {"input_ids": batch.ids, "attention_mask": mask, **places}
        if self.has_decoder:
            assert batch.decoder_mask is not None
            arguments |= {
                "decoder_input_ids": batch.decoder_ids,
                "decoder_attention_mask": batch.decoder_mask.long(),
                "use_cache": False,
            }
        if batch.contexts is not None:
            read = self.encoder.get_encoder()(input_ids=arguments.pop("input_ids"), attention_mask=mask)
            # (contexts, tokens, width) to (batch, tokens, width): hypotheses with equal contexts share their states
            arguments["encoder_outputs"] = (read.last_hidden_state[batch.contexts],)
            arguments["attention_mask"] = mask[batch.contexts]
        is_summed = self.config.layer_mix == "sum-last-4"
        output = self.encoder(**arguments, output_hidden_states=is_summed, return_dict=True)
        if not is_summed:
            return cast(Tensor, output.last_hidden_state), None
        layers = output.decoder_hidden_states if self.has_decoder else output.hidden_states
        return torch.stack(layers[-4:]).sum(0), None

    def text_encoder(self, tokenizer: Tokenizer) -> TextEncoder:
        """Returns the encoder of texts into this model's input.

        Raises:
            InputError: if the tokenizer does not fit the model.
        """
        is_separate = self.config.separate_layers > 0
        return encoding.text_encoder(
            self.encoder, tokenizer, max_tokens=self.config.max_tokens, is_separate=is_separate
        )
