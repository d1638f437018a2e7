"""Models with random weights: encoders, and taggers on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from matese.model import loading
from matese.model.config import ModelConfig
from matese.model.encoder.loading import load_encoder
from matese.model.encoder.settings import LayerSettings
from matese.model.network import Network
from matese.model.storage import checkpoint
from matese.model.texts.settings import TextSettings
from matese.model.texts.tokenizer import load_tokenizer

# The configurations of FacebookAI/xlm-roberta-base and FacebookAI/xlm-roberta-large.
_XLMR = {"model_type": "xlm-roberta", "vocab_size": 250_002, "max_position_embeddings": 514, "type_vocab_size": 1}
_XLMR |= {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
_BASE = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
_LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
ENCODERS: dict[str, dict[str, Any]] = {"xlmr-base": {**_XLMR, **_BASE}, "xlmr-large": {**_XLMR, **_LARGE}}


def save(name: str, directory: Path, *, n_layers: int | None = None) -> tuple[Path, Path]:
    """Saves an encoder and a tagger on it without extra layers, and returns their directories.

    Args:
        name: one of `ENCODERS`.
        directory: parent of the directories; the tokenizer is that of `mini`.
        n_layers: layers of a smaller encoder, which has no more pieces than the tokenizer; None for the original.
    """
    tokenizer: Any = load_tokenizer(checkpoint.resolve("mini"))
    tokenizer.model_max_length = 512  # COMET asks the tokenizer for it
    smaller = {} if n_layers is None else {"num_hidden_layers": n_layers, "vocab_size": len(tokenizer)}
    torch.manual_seed(1)
    encoder = load_encoder({**ENCODERS[name], **smaller})
    encoder.save_pretrained(directory / name)
    tokenizer.save_pretrained(directory / name)
    inputs: Any = ("reference", "source", "source+reference")
    tagger = Network(ModelConfig(TextSettings(inputs), LayerSettings(extra=0)), encoder)
    loading.save(directory / f"{name}-tagger", tagger, tokenizer, card="# Random weights\n")
    return directory / name, directory / f"{name}-tagger"
