"""The taggers that the authors of MaTESe released: `checkpoints/NAME.ckpt` and `configs/NAME.json`.

They are read as in the repository SapienzaNLP/MaTESe (Perrella et al. 2022): a row is `<candidate>`, the hypothesis,
`<reference>` or `<source>`, and the other text; the last four layers are summed; the head has no bias.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import torch
from tokenizers import AddedToken, processors
from torch import Tensor

from matese.errors import ModelError
from matese.model.config import ModelConfig
from matese.model.encoder.settings import LayerSettings
from matese.model.heads.tags.bio import TAGS
from matese.model.released import foreign_checkpoint
from matese.model.storage import checkpoint
from matese.model.storage.checkpoint import StoredModel
from matese.model.texts import tokenizer as tokenizers
from matese.model.texts.settings import TextSettings
from matese.model.texts.tokenizer import FileTokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

MARKERS = ("<source>", "<candidate>", "<reference>", "<empty-string>")
"""Added to the encoder's vocabulary, in this order: `matese/utils/utils.py` of the release."""
_N_SUMMED = 4


def find(directory: Path) -> Path | None:
    """Returns the checkpoint of a released model; None if the directory has none.

    Raises:
        ModelError: if it has several.
    """
    checkpoints = sorted(
        path for path in directory.glob("checkpoints/*.ckpt") if (directory / "configs" / f"{path.stem}.json").is_file()
    )
    if len(checkpoints) > 1:
        names = ", ".join(path.name for path in checkpoints)
        raise ModelError(f"{directory / 'checkpoints'} holds {names}: must hold only one checkpoint")
    return checkpoints[0] if checkpoints else None


def read(path: Path) -> StoredModel:
    """Returns a released model.

    Args:
        path: checkpoint of the model.

    Raises:
        ModelError: if it is incomplete or corrupt, or its encoder is missing.
    """
    directory = path.parents[1]
    named_in = f"configs/{path.stem}.json"
    settings = checkpoint.read_json(directory / named_in)
    stored = foreign_checkpoint.load_checkpoint(path)
    labels = (stored.get("hyper_parameters") or {}).get("ordered_labels")
    if labels is None or sorted(labels) != sorted(TAGS):
        raise ModelError(f"{path}: ordered_labels {labels}: must be {', '.join(TAGS)} in any order")
    place = foreign_checkpoint.encoder_directory(
        directory, str(settings.get("transformer_model_name")), named_in=named_in
    )
    encoder = checkpoint.read_json(place / checkpoint.CONFIG)
    tensors = _tensors(stored["state_dict"], [labels.index(tag) for tag in TAGS])
    is_source = bool(settings.get("reference_less"))
    tokenizer = _tokenizer(place, str(encoder.get("model_type")), is_source=is_source)
    n_summed = settings.get("use_last_n_layers", _N_SUMMED)
    if n_summed not in (1, _N_SUMMED):
        raise ModelError(f"{directory / named_in}: use_last_n_layers {n_summed}: must be 1 or {_N_SUMMED}")
    config = ModelConfig(
        TextSettings(inputs=("source",) if is_source else ("reference",), reads_pieces=False),
        LayerSettings(
            mix="last" if n_summed == 1 else "sum-last-4",
            extra=int(settings["encoder_layers"]),
            extra_heads=int(settings.get("encoder_attention_heads", 8)),
        ),
    )
    embeddings = tensors.get("encoder.embeddings.word_embeddings.weight")
    if embeddings is None or len(embeddings) != len(tokenizer):
        n_embedded = 0 if embeddings is None else len(embeddings)
        raise ModelError(
            f"{path} embeds {n_embedded:,} tokens: must be {len(tokenizer):,}, those of {place} and the markers"
        )
    encoder |= {"vocab_size": len(embeddings)}
    return StoredModel(config, encoder, tensors, tokenizer, is_released=True)


def _tensors(state: Mapping[str, Tensor], order: list[int]) -> dict[str, Tensor]:
    """Returns the tensors under the names of `Network`, with the labels in the order of `TAGS`."""
    tensors = {}
    for name, tensor in state.items():
        head, _, rest = name.partition(".")
        if head == "transformer_model" and not rest.startswith("pooler.") and not rest.endswith(".position_ids"):
            tensors[f"encoder.{rest}"] = tensor
        elif head == "encoder":
            tensors["extra_layers." + rest.removeprefix("layers.")] = tensor
        elif head == "classification_head":
            tensors["tag_head.weight"] = tensor[order]
    tensors["tag_head.bias"] = torch.zeros(len(TAGS))
    return tensors


def _tokenizer(directory: Path, model_type: str, *, is_source: bool) -> FileTokenizer:
    """Returns the encoder's tokenizer with the markers added, as the special tokens of its rows."""
    tokenizer = tokenizers.read_released(directory, model_type) or _from_transformers(directory)
    backend = tokenizer.backend_tokenizer
    backend.add_special_tokens([AddedToken(marker, lstrip=True, special=True) for marker in MARKERS])
    prefix, _, suffix = tokenizers.template(tokenizer, is_pair=False)
    first, last = (" ".join(str(backend.id_to_token(number)) for number in ids) for ids in (prefix, suffix))
    context_marker = MARKERS[0] if is_source else MARKERS[2]
    used = [(name, backend.token_to_id(name)) for name in (*f"{first} {last}".split(), MARKERS[1], context_marker)]
    start = f"{first} {MARKERS[1]} $A"
    backend.post_processor = processors.TemplateProcessing(
        single=f"{start} {last}", pair=f"{start} {context_marker} $B {last}", special_tokens=sorted(set(used))
    )
    return tokenizer


def _from_transformers(directory: Path) -> FileTokenizer:
    loaded: PreTrainedTokenizerBase = tokenizers.load_tokenizer(directory)
    roles = ("bos", "eos", "unk", "sep", "pad", "cls")
    special = {role: number for role in roles if (number := getattr(loaded, f"{role}_token_id")) is not None}
    return FileTokenizer(cast(Any, loaded).backend_tokenizer, special, loaded.model_max_length)
