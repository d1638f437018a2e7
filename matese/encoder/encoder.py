"""A pretrained, local or fresh encoder and its tokenizer, through the auto classes of transformers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import nn

from matese.encoder.tokenizer import FileTokenizer

# transformers is imported where it is needed: it takes seconds, which a model of the RoBERTa family can do without.
if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerBase


def load_encoder(source: str | Path | Mapping[str, object], *, attention: str | None = None) -> PreTrainedModel:
    """Returns an encoder, or an encoder-decoder, in float32.

    Args:
        source: a hub id or a directory for a pretrained one; a configuration with `model_type` for a fresh one
            with random weights.
        attention: an implementation of transformers, such as "sdpa"; None for the library's choice.

    Raises:
        ValueError: if a configuration names no known `model_type` or does not fit together.
        OSError: if nothing is found there.
    """
    from transformers import AutoModel

    chosen: dict[str, Any] = {} if attention is None else {"attn_implementation": attention}
    if isinstance(source, Mapping):
        model: Any = AutoModel.from_config(make_config(source), **chosen)  # type: ignore[no-untyped-call]
    else:
        model = AutoModel.from_pretrained(str(source), local_files_only=Path(source).is_dir(), **chosen)
    # Pooled outputs are not used; their weights would be saved and, over several devices, waited for.
    if getattr(model, "pooler", None) is not None:
        model.pooler = None
    loaded: PreTrainedModel = model.float()
    return loaded


def make_config(settings: Mapping[str, object]) -> PretrainedConfig:
    """Returns the configuration that a mapping with `model_type` describes.

    Raises:
        ValueError: if it names no known `model_type`.
    """
    from transformers import AutoConfig

    values = {key: value for key, value in settings.items() if key != "model_type"}
    return AutoConfig.for_model(str(settings.get("model_type")), **values)


def load_tokenizer(source: str | Path) -> PreTrainedTokenizerBase:
    """Returns the fast tokenizer of a hub id or a directory.

    Raises:
        OSError: if nothing is found there.
        ValueError: if it has no fast form.
    """
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(str(source), use_fast=True, local_files_only=Path(source).is_dir())


def embedding_modules(model: nn.Module) -> list[nn.Module]:
    """Returns the modules that turn ids into vectors, positions included: what `freeze_embeddings` freezes."""
    named = [module for name, module in model.named_modules() if name.rpartition(".")[2] == "embeddings"]
    return named or [module for module in model.modules() if isinstance(module, nn.Embedding)]


def longest_input(model: nn.Module, tokenizer: PreTrainedTokenizerBase | FileTokenizer) -> int:
    """Returns how many tokens the model reads at most, special tokens included."""
    config: Any = model.config
    limit = getattr(config, "max_position_embeddings", None) or 10**9
    # The RoBERTa family counts positions from one past the padding id.
    named = dict(model.named_modules())
    padding_id = getattr(named.get("embeddings.position_embeddings"), "padding_idx", None)
    if padding_id is not None:
        limit -= padding_id + 1
    return int(min(limit, tokenizer.model_max_length))


def decoder_start(model: nn.Module, tokenizer: PreTrainedTokenizerBase | FileTokenizer) -> int | None:
    """Returns the first id of the decoder's input: the model's own or its language; None without decoder."""
    config: Any = model.config
    if not config.is_encoder_decoder:
        return None
    number = getattr(config, "decoder_start_token_id", None)
    if number is None:  # mBART begins with the language, the last special token that its tokenizer appends
        number = tokenizer.backend_tokenizer.encode("a").ids[-1]
    return int(number)
