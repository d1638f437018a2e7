"""The tagger: an encoder, some more transformer layers, and heads for the five tags and the score.

Perrella et al. 2022, section 3.1; the score head and the layer mixes are options.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from matese.errors import InputError
from matese.model.config import TaggerConfig
from matese.model.encoder import attention, roberta
from matese.model.encoder.comparison import Comparison
from matese.model.encoder.roberta import Roberta
from matese.model.heads.tags.bio import IS_MAJOR, MEANING_SHARE, TAGS
from matese.model.inputs import Inputs
from matese.model.texts import encoding
from matese.model.texts.encoding import ROLES, TextEncoder
from matese.mqm import CATEGORIES, LOWEST_SCORE

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from matese.model.texts.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class MeaningOutput:
    """Output of the meaning head.

    Attributes:
        token_logits: (batch, hypothesis tokens), float32, that a token belongs to an error of meaning.
        segment_logits: (batch,), float32, that the segment has an error of meaning.
    """

    token_logits: Tensor
    segment_logits: Tensor


@dataclass(frozen=True, slots=True)
class TaggerOutput:
    """Output for a batch.

    Attributes:
        tag_logits: (batch, hypothesis tokens, tags), float32.
        score: (batch,), float32, between LOWEST_SCORE and 0; None without a score head.
        omission_logits: (batch, tokens), float32, that the hypothesis lacks a token of a context; meaningless for other
            tokens; None without an omission head.
        category_logits: (batch, hypothesis tokens, categories), float32, see `Prediction.categories`; None without a
            category head.
        meaning: see `MeaningOutput`; None without a meaning head.
    """

    tag_logits: Tensor
    score: Tensor | None = None
    omission_logits: Tensor | None = None
    category_logits: Tensor | None = None
    meaning: MeaningOutput | None = None


class Tagger(nn.Module):
    """Predicts tag logits, and a score, from token ids."""

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
        self.tag_head = nn.Linear(width, len(TAGS))
        n_pooled = 2 if config.score_pooling == "texts" else 1
        self.score_head = _make_score_head(n_pooled * width, width, config.dropout) if config.score_head else None
        self.omission_head = _make_omission_head(width) if config.omission_head else None
        self.category_head = _make_category_head(width) if config.category_head else None
        self.meaning_head = (
            MeaningHead(width, config.extra_heads, config.dropout, extra_width) if config.meaning_head else None
        )

    def body(self) -> tuple[nn.Module, ...]:
        """Returns the parts before the heads."""
        return self.encoder, self.extra_layers

    def forward(self, batch: Inputs) -> TaggerOutput:
        """Returns the logits and scores of a batch, in float32 even under autocast."""
        states, similarity = self._states(batch)  # (batch, tokens, width) and (batch,)
        encoded = states
        mask = batch.mask if batch.decoder_mask is None else batch.decoder_mask
        meaning = None if self.meaning_head is None else self.meaning_head(encoded, batch)
        for layer in self.extra_layers:
            states = layer(states, mask)
        contexts = _mean(states, batch.roles > 1) if self.config.score_pooling == "texts" else None
        # The heads are small, and rounding to bfloat16 changes a logit by up to 0.01.
        with torch.autocast(states.device.type, enabled=False):
            missing = None if self.omission_head is None else self.omission_head(states.float()).squeeze(-1)
        index = batch.positions.unsqueeze(-1).expand(-1, -1, states.shape[-1])  # (batch, hypothesis tokens, width)
        states = self.dropout(states.gather(1, index))
        with torch.autocast(states.device.type, enabled=False):
            states, score = states.float(), None
            if self.score_head is not None:
                pooled = _mean(states, batch.hypothesis_mask)
                pooled = pooled if contexts is None else torch.cat([pooled, contexts.float()], 1)
                logit = self.score_head(pooled).squeeze(-1)
                score = LOWEST_SCORE * torch.sigmoid(logit if similarity is None else logit + similarity.float())
            categories = None
            if self.category_head is not None:
                read = [states, self.dropout(encoded.gather(1, index)).float(), self._embeddings(batch).float()]
                categories = self.category_head(torch.cat(read, -1))
            output = TaggerOutput(self.tag_head(states), score, missing, categories, meaning)
            is_judged = meaning is not None and self.config.meaning_thresholds and not self.training
            return self._with_errors_of_meaning(output, batch.roles) if is_judged else output

    def _with_errors_of_meaning(self, output: TaggerOutput, roles: Tensor) -> TaggerOutput:
        """Returns the output with a lower score, and words as Major, where the meaning head exceeds its threshold.

        The score falls by up to `MEANING_SHARE` of its distance from the lowest one. `roles` are (batch, tokens).
        """
        assert output.meaning is not None
        contexts = [(roles == ROLES.index(name)).any(1) for name in ("source", "reference")]
        thresholds = torch.full_like(output.meaning.segment_logits, math.inf)
        for inputs, threshold in zip(self.config.inputs, self.config.meaning_thresholds, strict=True):
            is_read = [contexts[number] == (name in inputs) for number, name in enumerate(("source", "reference"))]
            thresholds = thresholds.masked_fill(is_read[0] & is_read[1], threshold)
        strength = torch.tanh((output.meaning.segment_logits - thresholds).clamp(min=0))  # (batch,)
        share = (strength.unsqueeze(1) * output.meaning.token_logits.sigmoid()).unsqueeze(2)
        probabilities = output.tag_logits.softmax(-1)
        major = probabilities * torch.tensor(IS_MAJOR, device=probabilities.device)
        major = major / major.sum(-1, keepdim=True)
        logits = ((1 - share) * probabilities + share * major).clamp(min=torch.finfo(torch.float32).tiny).log()
        score = output.score
        if score is not None:
            score = score + (LOWEST_SCORE - score) * MEANING_SHARE * strength
        return dataclasses.replace(output, tag_logits=logits, score=score)

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
        encoder, n_separate = self.encoder, self.config.separate_layers
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


def _mean(states: Tensor, mask: Tensor) -> Tensor:
    """Returns the mean over the masked-in tokens, 0 without any: (batch, width)."""
    kept = mask.unsqueeze(-1)
    return (states * kept).sum(1) / kept.sum(1).clamp(min=1)


def _largest(states: Tensor, mask: Tensor) -> Tensor:
    """Returns the largest values over the masked-in tokens, 0 without any: (batch, width)."""
    largest = states.masked_fill(~mask.unsqueeze(-1), torch.finfo(states.dtype).min).amax(1)
    return largest * mask.any(1, keepdim=True)


def _make_score_head(n_inputs: int, width: int, dropout: float) -> nn.Sequential:
    last = nn.Linear(width, 1)
    nn.init.constant_(last.bias, -2.0)  # starts near the typical score, a few points below 0
    return nn.Sequential(nn.Linear(n_inputs, width), nn.GELU(), nn.Dropout(dropout), last)


def _make_omission_head(width: int) -> nn.Sequential:
    last = nn.Linear(width, 1)
    nn.init.constant_(last.bias, -4.0)  # starts near the share of omitted words, a few percent
    return nn.Sequential(nn.Linear(width, width), nn.GELU(), last)


def _make_category_head(width: int) -> nn.Sequential:
    """Returns a head that reads the states of the last extra layer and of the encoder, and the embeddings.

    The last states encode where errors are; the earlier ones keep more about the words themselves.
    """
    return nn.Sequential(nn.Linear(3 * width, width), nn.GELU(), nn.Linear(width, len(CATEGORIES)))


class MeaningHead(nn.Module):
    """Judges whether the hypothesis says something else than the texts it is compared with.

    It has a transformer layer of its own on the encoder, and learns from contrasts only: texts with the same meaning in
    other words, and close texts with an error of meaning.
    """

    def __init__(self, width: int, n_heads: int, dropout: float, inner: int | None = None) -> None:
        """Initialises the weights at random; see `ExtraLayer` for the arguments."""
        super().__init__()
        self.layer = ExtraLayer(width, n_heads, dropout, inner)
        self.tokens = nn.Linear(width, 1)
        nn.init.constant_(self.tokens.bias, -2.0)
        self.segment = nn.Sequential(nn.Linear(4 * width, width), nn.GELU(), nn.Dropout(dropout), nn.Linear(width, 1))

    def forward(self, states: Tensor, batch: Inputs) -> MeaningOutput:
        """Returns the logits from the encoder's states, (batch, tokens, width)."""
        states = self.layer(states, batch.mask)
        index = batch.positions.unsqueeze(-1).expand(-1, -1, states.shape[-1])
        hypothesis = states.gather(1, index)
        with torch.autocast(states.device.type, enabled=False):
            hypothesis = hypothesis.float()
            states = states.float()
            is_context = batch.roles > 1
            pooled = [
                _mean(hypothesis, batch.hypothesis_mask),
                _mean(states, is_context),
                _largest(hypothesis, batch.hypothesis_mask),
                _largest(states, is_context),
            ]
            return MeaningOutput(self.tokens(hypothesis).squeeze(-1), self.segment(torch.cat(pooled, 1)).squeeze(-1))


class ExtraLayer(nn.TransformerEncoderLayer):
    """torch's transformer layer, with the same parameter names but our attention.

    torch's own fast path rounds the products of queries and keys to bfloat16 before the softmax, which moves spans.
    """

    def __init__(self, width: int, n_heads: int, dropout: float, inner: int | None = None) -> None:
        """Initialises the weights at random; the inner width is four times the outer unless it is given."""
        super().__init__(width, n_heads, inner or 4 * width, dropout, activation="gelu", batch_first=True)

    def dropout_sites(self) -> tuple[nn.Module, ...]:
        """Returns the modules that dropout follows in training, except torch's dropout layers."""
        return self.self_attn.out_proj, self.linear2

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:  # type: ignore[override]  # fewer arguments
        """Returns the next states: (batch, tokens, width).

        Args:
            states: (batch, tokens, width).
            mask: (batch, tokens), True where there is a token.
        """
        if self.training and self.dropout.p:
            return super().forward(states, src_key_padding_mask=~mask)
        attention_layer = self.self_attn
        projected = functional.linear(states, attention_layer.in_proj_weight, attention_layer.in_proj_bias)
        query, key, value = projected.view(*projected.shape[:-1], 3, attention_layer.num_heads, -1).unbind(-3)
        # Without dropout, a CPU trains faster with plain products: the gradient of fused attention is slow there.
        is_eager = self.training and states.device.type == "cpu"
        attend = attention.padded(attention.padding_mask(mask, projected.dtype), is_eager=is_eager)
        attended = attend(query, key, value).flatten(-2)
        states = self.norm1(states + attention_layer.out_proj(attended))
        normed: Tensor = self.norm2(states + self.linear2(functional.gelu(self.linear1(states))))
        return normed
