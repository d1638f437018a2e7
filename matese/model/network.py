"""The network of all models of this package: an encoder, its layers that are read, more layers, and heads.

Which parts a model has is a matter of its settings. The tagger of Perrella et al. 2022, section 3.1, has two extra
layers and a head for tags; an estimator of COMET has a mix of layers, and a head that scores pooled states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from matese.errors import InputError
from matese.model.config import ModelConfig
from matese.model.encoder import attention, roberta
from matese.model.encoder.comparison import TextComparison
from matese.model.encoder.extra_layer import ExtraLayer
from matese.model.encoder.layer_mix import LayerMix
from matese.model.encoder.roberta import Roberta
from matese.model.heads import registry
from matese.model.heads.networks import HeadNetwork, NetworkOutput
from matese.model.heads.sentence_vectors import SentenceVectors
from matese.model.inputs import Inputs
from matese.model.states import BatchStates
from matese.model.texts import encoding
from matese.model.texts.encoding import ROLES, TextEncoder

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from matese.model.texts.tokenizer import Tokenizer


class Network(nn.Module):
    """Predicts from token ids what its heads say.

    The layers of each head are an attribute with the name of its `part`; None for a head that the model lacks.
    """

    tag_head: nn.Linear

    def __init__(self, config: ModelConfig, encoder: PreTrainedModel | Roberta, extra_width: int | None = None) -> None:
        """Adds new layers and heads to an encoder, or to the decoder of an encoder-decoder.

        Args:
            config: settings.
            encoder: an encoder of this package or of transformers.
            extra_width: inner width of the extra layers; None for four times the encoder's width.

        Raises:
            InputError: if the settings do not fit the encoder.
        """
        super().__init__()
        if config.texts.separate_layers and not isinstance(encoder, Roberta):
            encoder = roberta.of_transformers(encoder)
        self.config = config
        self.encoder: Any = encoder
        settings: Any = encoder.config
        self.has_decoder = bool(settings.is_encoder_decoder)
        self.width = width = int(settings.hidden_size)
        _check(config, settings)
        self.mix: LayerMix | None = None
        layers = config.layers
        if layers.has_learned_mix:
            is_sparse = layers.mix == "sparsemax"
            n_layers = 1 + int(settings.num_hidden_layers)
            self.mix = LayerMix(n_layers, is_sparse=is_sparse, is_normed=layers.mix_norm, dropout=layers.mix_dropout)
        self.extra_layers = nn.ModuleList(
            ExtraLayer(width, layers.extra_heads, layers.dropout, extra_width) for _ in range(layers.extra)
        )
        self.comparison = TextComparison(width) if config.texts.separate_layers else None
        self.dropout = nn.Dropout(layers.dropout)
        networks = registry.networks()
        for head in registry.HEADS:
            new = networks[head.name].of(config, width, extra_width) if head.name in config.heads.names else None
            self.register_module(head.part, new)

    def body(self) -> tuple[nn.Module, ...]:
        """Returns the parts before the heads."""
        return self.encoder, self.extra_layers

    @property
    def heads(self) -> list[HeadNetwork]:
        """The layers of the heads, in the order in which they are computed."""
        return [getattr(self, head.part) for head in registry.HEADS if head.name in self.config.heads.names]

    def text_encoder(self, tokenizer: Tokenizer) -> TextEncoder:
        """Returns the encoder of texts into this model's input.

        Raises:
            InputError: if the tokenizer does not fit the model.
        """
        texts = self.config.texts
        return encoding.fitted(
            tokenizer,
            self.encoder.get_input_embeddings().weight.shape[0],
            max_tokens=min(texts.max_tokens, encoding.longest_input(self.encoder)),
            decoder_start=encoding.decoder_start_of(self.encoder, tokenizer),
            is_separate=texts.separate_layers > 0,
        )

    def dropout_sites(self) -> list[nn.Module]:
        """Returns the activations that dropout follows without a layer of its own, as in unbabel-comet."""
        return [site for head in self.heads for site in head.activations()]

    def forward(self, batch: Inputs) -> NetworkOutput:
        """Returns what each head says of a batch, in float32 even under autocast."""
        layers, similarity = self._read(batch)
        states = BatchStates(
            batch=batch,
            config=self.config,
            layers=layers,
            similarity=similarity,
            mix=self.mix,
            extra_layers=list(self.extra_layers),
            dropout=self.dropout,
            embed=self.encoder.get_input_embeddings(),
        )
        return NetworkOutput.of([*(head(states) for head in self.heads), SentenceVectors.of(states)])

    def combine(self, texts: Mapping[str, Tensor]) -> Tensor:
        """Returns the score of each hypothesis, (segments,), from embeddings of texts that were read alone.

        Args:
            texts: embeddings by role, such as "hypothesis": (segments, width) each.
        """
        (head,) = self.heads
        return head.combine(texts)

    def score(self, vectors: Tensor) -> Tensor:
        """Returns the score of each segment, (segments,), from vectors of its texts: (texts, segments, n).

        The texts are those of one row or, if they are read alone, the hypothesis, the source and the reference.
        """
        texts = self.config.texts
        if texts.layout != "alone":
            return vectors[0].squeeze(1)
        return self.combine(dict(zip(("hypothesis", *texts.inputs[0].split("+")), vectors, strict=True)))

    def _read(self, batch: Inputs) -> tuple[Sequence[Tensor], Tensor | None]:
        """Returns states of the encoder, (batch, tokens, width) each: those of all layers, or of the last one alone.

        The last tensor is the term that the texts' similarity adds to the logit of the score.
        """
        if self.comparison is not None:
            states, similarity = self._read_separately(batch, self.comparison)
            return [states], similarity
        arguments: dict[str, Any] = {"input_ids": batch.ids, "attention_mask": batch.mask.long()}
        if batch.places is not None:
            arguments["places"] = batch.places
        if self.config.texts.has_token_types:
            places = torch.arange(batch.ids.shape[1], device=batch.ids.device)
            n_read = (batch.roles == ROLES.index("hypothesis")).sum(1, keepdim=True) + 2  # [CLS] and [SEP] around it
            arguments["token_type_ids"] = (places >= n_read).long()
        if self.has_decoder:
            assert batch.decoder_mask is not None
            arguments |= {
                "decoder_input_ids": batch.decoder_ids,
                "decoder_attention_mask": batch.decoder_mask.long(),
                "use_cache": False,
            }
        reads_others = self.config.layers.mix != "last" or self.config.heads.word_labels is not None
        output = self.encoder(**arguments, output_hidden_states=reads_others, return_dict=True)
        if not reads_others:
            return [output.last_hidden_state], None
        return output.decoder_hidden_states if self.has_decoder else output.hidden_states, None

    def _read_separately(self, batch: Inputs, comparison: TextComparison) -> tuple[Tensor, Tensor]:
        """Returns the encoder's states with each text read alone in the lowest layers, see `TextComparison`.

        The second tensor is the term that the texts' similarity adds to the logit of the score.
        """
        assert batch.text_positions is not None
        encoder = self.encoder
        n_separate = self.config.texts.separate_layers
        if batch.texts is None or batch.text_starts is None or batch.texts.is_cuda:
            states = encoder.embed(batch.ids, batch.text_positions)
            texts = (batch.text_positions == 0).cumsum(1)
            is_read = batch.mask.unsqueeze(1) & (texts.unsqueeze(1) == texts.unsqueeze(2))  # (batch, tokens, tokens)
            mask = attention.padding_mask(is_read.flatten(0, 1), states.dtype).view(-1, 1, *is_read.shape[1:])
            states = encoder.run(states, encoder.attention(mask), 0, n_separate)
        else:
            lengths = batch.text_starts.diff()
            positions = torch.arange(len(batch.texts)) - batch.text_starts[:-1].repeat_interleave(lengths)
            states = encoder.embed(batch.texts, positions)  # (tokens of all texts, width)
            states = encoder.run(states, attention.packed(batch.text_starts, int(lengths.max())), 0, n_separate)
            states = states[batch.text_places]  # (batch, tokens, width)
        added, similarity = comparison(states, batch.ids, batch.roles)
        states = states + added
        attend = encoder.attention(attention.padding_mask(batch.mask, states.dtype))
        return encoder.run(states, attend, n_separate, encoder.config.num_hidden_layers), similarity


def _check(config: ModelConfig, encoder: Any) -> None:  # noqa: ANN401  (the configuration of any encoder)
    """Raises an InputError if settings do not fit an encoder."""
    width = int(encoder.hidden_size)
    n_layers = int(encoder.num_hidden_layers)
    texts = config.texts
    layers = config.layers
    heads = config.heads
    if texts.separate_layers > n_layers:
        problem = f"texts.separate_layers {texts.separate_layers}"
        raise InputError(f"{problem}: must be at most {n_layers}, the encoder's number of layers")
    read = {"layers.mix": layers.mix}
    if heads.word_labels is not None:
        read["heads.word_labels.layer"] = heads.word_labels.layer
    for name, layer in read.items():
        if isinstance(layer, int) and not 0 <= layer <= n_layers:
            raise InputError(f"{name} {layer}: must be from 0 to {n_layers}, the layers of the encoder")
    if (layers.extra or heads.meaning is not None) and width % layers.extra_heads:
        raise InputError(f"layers.extra_heads {layers.extra_heads}: must divide the encoder's width {width}")
    if texts.has_token_types and getattr(encoder, "type_vocab_size", 0) < 2:
        raise InputError("texts.has_token_types: must be false for an encoder without two types of tokens")
    if encoder.is_encoder_decoder and heads.tags is None:
        raise InputError(
            f"the encoder is an encoder-decoder: must be an encoder alone for {config.architecture} models"
        )
    reads_contexts = heads.score is not None and heads.score.pooling != "hypothesis"
    if encoder.is_encoder_decoder and (heads.omissions is not None or reads_contexts):
        raise InputError(
            "the encoder is an encoder-decoder: heads.omissions must be null, and heads.score.pooling hypothesis"
        )
