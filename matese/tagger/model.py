"""The tagger: a pretrained encoder, some transformer layers more, and a head over the five tags.

Perrella et al. 2022, section 2.1; the layer mixes and the score head are options.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import torch
from torch import Tensor, nn

from matese.encoder import checkpoint
from matese.encoder.checkpoint import Checkpoint, ModelError
from matese.encoder.encoder import decoder_start, embedding_modules, load_encoder, load_tokenizer, longest_input
from matese.encoder.encoding import TextEncoder
from matese.encoder.roberta import Roberta
from matese.encoder.storage import StoredPrecision, packed, put, unpacked
from matese.encoder.tokenizer import FileTokenizer
from matese.tagger.batch import Batch
from matese.tagger.config import TaggerConfig
from matese.tagger.layers import ExtraLayer
from matese.tagger.lexical import LexicalMatch, match_kinds
from matese.tagger.tags import TAGS

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

LOWEST_SCORE = -25.0
"""Floor of the MQM score: section 2 of the paper."""
KIND = "tagger"
T = TypeVar("T", bound="PreTrainedTokenizerBase | FileTokenizer")


@dataclass(frozen=True, slots=True)
class TaggerOutput:
    """What the model says of a batch.

    Attributes:
        tag_logits: (batch, hypothesis tokens, tags), float32.
        score: (batch,), float32, between LOWEST_SCORE and 0; None without a score head.
        states: (batch, hypothesis tokens, width), what the heads read.
    """

    tag_logits: Tensor
    score: Tensor | None
    states: Tensor | None = None


class Tagger(nn.Module):
    """From ids to tag logits, and to a score."""

    def __init__(self, config: TaggerConfig, encoder: PreTrainedModel | Roberta) -> None:
        """Puts new layers and heads on an encoder, or on an encoder-decoder's decoder.

        Raises:
            ValueError: if the encoder's width is not a multiple of `extra_heads`.
        """
        super().__init__()
        self.config = config
        self.encoder: Any = encoder
        settings: Any = encoder.config
        self.has_decoder = bool(settings.is_encoder_decoder)
        self.width = width = int(settings.hidden_size)
        if width % config.extra_heads:
            raise ValueError(f"extra_heads {config.extra_heads}: must divide the encoder's width {width}")
        if config.layer_mix == "learned":
            n_layers = settings.decoder_layers if self.has_decoder else settings.num_hidden_layers
            self.layer_weights = nn.Parameter(torch.zeros(n_layers + 1))
        self.extra_layers = nn.ModuleList(
            ExtraLayer(width, config.extra_heads, config.dropout) for _ in range(config.extra_layers)
        )
        if self.has_decoder and (config.lexical_match or config.score_pooling == "texts"):
            raise ValueError("lexical_match and score_pooling: must be false and hypothesis for an encoder-decoder")
        self.lexical_match = LexicalMatch(width) if config.lexical_match else None
        self.dropout = nn.Dropout(config.dropout)
        self.tag_head = nn.Linear(width, len(TAGS))
        n_pooled = 2 if config.score_pooling == "texts" else 1
        self.score_head = _make_score_head(n_pooled * width, width, config.dropout) if config.score_head else None

    def forward(self, batch: Batch) -> TaggerOutput:
        """Returns logits and scores of a batch, in float32 whatever the precision within."""
        states = self._states(batch)  # (batch, tokens, width)
        mask = batch.mask if batch.decoder_mask is None else batch.decoder_mask
        for layer in self.extra_layers:
            states = layer(states, mask)
        contexts = _mean(states, batch.roles > 1) if self.config.score_pooling == "texts" else None
        # (batch, hypothesis tokens, width): only the hypothesis' positions go through the heads
        index = batch.positions.unsqueeze(-1).expand(-1, -1, states.shape[-1])
        states = self.dropout(states.gather(1, index))
        # The heads are small, and a logit rounded to bfloat16 is off by up to a hundredth.
        with torch.autocast(states.device.type, enabled=False):
            states, score = states.float(), None
            if self.score_head is not None:
                pooled = _mean(states, batch.hypothesis_mask)
                pooled = pooled if contexts is None else torch.cat([pooled, contexts.float()], 1)
                score = LOWEST_SCORE * torch.sigmoid(self.score_head(pooled).squeeze(-1))
            return TaggerOutput(self.tag_head(states), score, states)

    def _states(self, batch: Batch) -> Tensor:
        mask = batch.mask.long()
        places = {} if batch.places is None else {"places": batch.places}
        arguments: dict[str, Any] = {"attention_mask": mask, **places}
        if self.lexical_match is None:
            arguments["input_ids"] = batch.ids
        else:
            kinds = match_kinds(batch.ids, batch.roles) if batch.matches is None else list(batch.matches)
            embeddings = self.encoder.get_input_embeddings()(batch.ids)
            arguments["inputs_embeds"] = embeddings + self.lexical_match(batch.roles, kinds)
        if self.has_decoder:
            assert batch.decoder_mask is not None
            arguments |= {
                "decoder_input_ids": batch.decoder_ids,
                "decoder_attention_mask": batch.decoder_mask.long(),
                "use_cache": False,
            }
        if batch.contexts is not None:
            read = self.encoder.get_encoder()(input_ids=arguments.pop("input_ids"), attention_mask=mask)
            # (contexts, tokens, width) to (batch, tokens, width): several hypotheses read one context's states
            arguments["encoder_outputs"] = (read.last_hidden_state[batch.contexts],)
            arguments["attention_mask"] = mask[batch.contexts]
        mix = self.config.layer_mix
        output = self.encoder(**arguments, output_hidden_states=mix != "last", return_dict=True)
        if mix == "last":
            return cast(Tensor, output.last_hidden_state)
        layers = output.decoder_hidden_states if self.has_decoder else output.hidden_states
        if mix == "sum-last-4":
            return torch.stack(layers[-4:]).sum(0)
        weights = torch.softmax(self.layer_weights, 0)
        return (torch.stack(layers) * weights.view(-1, 1, 1, 1)).sum(0)

    def embeddings(self) -> list[nn.Module]:
        """Returns the encoder's embedding modules, for freezing."""
        return embedding_modules(self.encoder)

    def text_encoder(self, tokenizer: PreTrainedTokenizerBase | FileTokenizer) -> TextEncoder:
        """Returns what turns texts into this model's input.

        Raises:
            ValueError: if the tokenizer does not go with the model.
        """
        n_embeddings = self.encoder.get_input_embeddings().weight.shape[0]
        if len(tokenizer) > n_embeddings:
            raise ValueError(f"tokenizer of {len(tokenizer):,} pieces: the encoder knows {n_embeddings:,} at most")
        longest = min(self.config.max_tokens, longest_input(self.encoder, tokenizer))
        return TextEncoder(tokenizer, max_tokens=longest, decoder_start=decoder_start(self.encoder, tokenizer))


def _mean(states: Tensor, mask: Tensor) -> Tensor:
    """Returns the mean over the tokens in the mask, 0 where there are none: (batch, width)."""
    kept = mask.unsqueeze(-1)
    return (states * kept).sum(1) / kept.sum(1).clamp(min=1)


def _make_score_head(n_inputs: int, width: int, dropout: float) -> nn.Sequential:
    last = nn.Linear(width, 1)
    nn.init.constant_(last.bias, -2.0)  # begins near the usual score, a few points below 0
    return nn.Sequential(nn.Linear(n_inputs, width), nn.GELU(), nn.Dropout(dropout), last)


def _distinct(module: nn.Module) -> dict[str, Tensor]:
    """Returns the state without the second names of shared tensors, such as the embeddings of mBART."""
    seen: set[int] = set()
    distinct = {}
    for name, tensor in module.state_dict().items():
        if tensor.data_ptr() not in seen:
            distinct[name] = tensor
        seen.add(tensor.data_ptr())
    return distinct


def save(
    directory: str | Path,
    tagger: Tagger,
    tokenizer: PreTrainedTokenizerBase,
    *,
    card: str = "",
    training: Mapping[str, object] | None = None,
    precision: StoredPrecision = "float32",
) -> None:
    """Writes a model directory, its tensors as `storage.packed` stores them in a precision.

    Raises:
        OSError: if it cannot be written.
    """
    tensors = packed({name: tensor.detach().cpu() for name, tensor in _distinct(tagger).items()}, precision)
    settings = dataclasses.asdict(tagger.config)
    # Underscored settings are of the running process: transformers 4 writes down that it chose the attention itself,
    # and does not choose again when it reads that.
    described = tagger.encoder.config.to_dict().items()
    encoder: dict[str, object] = {name: value for name, value in described if not name.startswith("_")}
    made = Checkpoint(KIND, settings, encoder, tensors, training)
    checkpoint.save(Path(directory), made, tokenizer, card=card)


def load(directory: str | Path) -> tuple[Tagger, PreTrainedTokenizerBase]:
    """Returns a model in float32 with the encoder and the tokenizer of transformers: to train, change or save.

    Args:
        directory: of the model.

    Raises:
        ModelError: if the directory is incomplete, corrupt, of another kind or of a future format version.
    """
    found = checkpoint.load(Path(directory), kind=KIND)
    if not found.tensors:
        raise ModelError(f"{directory} was exported for ONNX Runtime: must be the model directory it was made of")
    return assemble(directory, found, lambda: load_encoder(found.encoder), load_tokenizer)


def assemble(
    directory: str | Path,
    found: Checkpoint,
    make_encoder: Callable[[], PreTrainedModel | Roberta],
    read_tokenizer: Callable[[str | Path], T],
) -> tuple[Tagger, T]:
    """Returns the tagger that a directory holds, ready to tag, and its tokenizer; an exported one without its weights.

    Args:
        directory: of the model.
        found: what it holds.
        make_encoder: makes the encoder, whose weights are then loaded.
        read_tokenizer: reads the tokenizer of a directory.

    Raises:
        ModelError: if these do not fit together.
    """
    try:
        config = TaggerConfig(**found.settings)  # type: ignore[arg-type]  # checked by the class
        tagger = Tagger(config, make_encoder())
        if found.tensors:
            tensors = unpacked(found.tensors)
            if missing := sorted(_distinct(tagger).keys() ^ tensors.keys()):
                raise ValueError(f"{len(missing)} tensors too many or missing, such as {missing[0]}")
            put(tensors, tagger)
    except Exception as error:  # a configuration that does not fit makes transformers raise whatever it trips over
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ModelError(f"{directory}: settings and tensors do not make a tagger: {reason}") from error
    try:
        tokenizer = read_tokenizer(directory)
        tagger.text_encoder(tokenizer)
    except Exception as error:  # tokenizers raises bare Exceptions on corrupt files
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ModelError(f"{directory} has no usable tokenizer: {reason}; must hold the tokenizer's files") from error
    return tagger.eval(), tokenizer
