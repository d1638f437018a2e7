"""Prune vocabularies: make models without the pieces that the texts of interest hardly use."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import tokenizers

from matese.errors import InputError, ModelError
from matese.model.storage.checkpoint import Checkpoint
from matese.model.texts.tokenizer import FileTokenizer

if TYPE_CHECKING:
    from torch import Tensor

_EMBEDDINGS = "encoder.embeddings.word_embeddings.weight"
_SPACE = "▁"
_IDS = ("pad_token_id", "bos_token_id", "eos_token_id")
_CHUNK = 1000
"""Texts tokenised at a time."""


def prune(
    model: Checkpoint[Tensor], tokenizer: FileTokenizer, texts: Sequence[str], n_pieces: int
) -> tuple[Checkpoint[Tensor], FileTokenizer]:
    """Returns a model with fewer pieces; the embeddings of the remaining pieces are unchanged.

    Special pieces and single characters are kept, so that every text can still be spelled. Half of the other places go
    to the pieces that are most frequent in the texts, half to those with the highest probability in the vocabulary.

    The tensors must be unpacked.

    Raises:
        InputError: if `n_pieces` is too small, or larger than the vocabulary.
        ModelError: if the vocabulary is not a unigram vocabulary, or the encoder is of another family.
    """
    file: dict[str, Any] = json.loads(tokenizer.backend_tokenizer.to_str())
    if file["model"].get("type") != "Unigram":
        raise ModelError(f"vocabulary of type {file['model'].get('type')}: must be Unigram to be pruned")
    if _EMBEDDINGS not in model.tensors:
        raise ModelError(f"no tensor {_EMBEDDINGS}: the encoder must be of the RoBERTa family to be pruned")
    pieces: list[tuple[str, float]] = [(piece, score) for piece, score in file["model"]["vocab"]]
    special_ids = {file["model"]["unk_id"], *(token["id"] for token in file["added_tokens"])}
    kept = _choose(pieces, special_ids, _counts(tokenizer.backend_tokenizer, texts), n_pieces)
    numbers = {old: new for new, old in enumerate(kept)}
    encoder = {**model.config.encoder, "vocab_size": len(kept)}
    encoder |= {name: numbers[encoder[name]] for name in _IDS if encoder.get(name) is not None}
    config = dataclasses.replace(model.config, encoder=encoder)
    backend = tokenizers.Tokenizer.from_str(json.dumps(_renumbered(file, pieces, numbers)))
    special = {role: numbers[number] for role, number in tokenizer.special.items()}
    tensors = {**model.tensors, _EMBEDDINGS: model.tensors[_EMBEDDINGS][kept]}
    pruned = dataclasses.replace(model, config=config, tensors=tensors)
    return pruned, FileTokenizer(backend, special, tokenizer.model_max_length)


def _counts(backend: tokenizers.Tokenizer, texts: Sequence[str]) -> Counter[int]:
    """Returns the frequency of each piece in the texts."""
    counts: Counter[int] = Counter()
    for start in range(0, len(texts), _CHUNK):
        for encoding in backend.encode_batch(texts[start : start + _CHUNK]):
            counts.update(encoding.ids)
    return counts


def _choose(pieces: list[tuple[str, float]], special: set[int], counts: Mapping[int, int], n_pieces: int) -> list[int]:
    """Returns the ids of the pieces to keep, in their old order."""
    needed = {
        number
        for number, (piece, _) in enumerate(pieces)
        if number in special or len(piece.removeprefix(_SPACE)) <= 1 or piece.startswith("<0x")
    }
    if not len(needed) <= n_pieces <= len(pieces):
        raise InputError(
            f"{n_pieces:,} pieces: must be from {len(needed):,} (special pieces and single characters) "
            f"to {len(pieces):,} (the vocabulary)"
        )
    candidates = [number for number in range(len(pieces)) if number not in needed]
    frequent = sorted(candidates, key=lambda number: (-counts.get(number, 0), number))
    kept = set(frequent[: (n_pieces - len(needed)) // 2])
    general = sorted((number for number in candidates if number not in kept), key=lambda number: -pieces[number][1])
    kept |= set(general[: n_pieces - len(needed) - len(kept)])
    return sorted(needed | kept)


def _renumbered(file: Mapping[str, Any], pieces: list[tuple[str, float]], numbers: Mapping[int, int]) -> dict[str, Any]:
    """Returns the content of `tokenizer.json` with the remaining pieces and their new ids."""
    content = {**file, "model": {**file["model"], "vocab": [pieces[old] for old in numbers]}}
    content["model"]["unk_id"] = numbers[file["model"]["unk_id"]]
    content["added_tokens"] = [{**token, "id": numbers[token["id"]]} for token in file["added_tokens"]]
    template = file.get("post_processor")
    if template and "special_tokens" in template:
        tokens = template["special_tokens"].items()
        renumbered = {name: {**token, "ids": [numbers[old] for old in token["ids"]]} for name, token in tokens}
        content["post_processor"] = {**template, "special_tokens": renumbered}
    return content
