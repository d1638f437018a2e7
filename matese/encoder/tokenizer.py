"""A tokenizer that is read without transformers, where its files hold all that there is to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tokenizers import Tokenizer

_SPECIAL = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
_KNOWN_SETTINGS = {f"{name}_token" for name in _SPECIAL} | {
    "backend",
    "clean_up_tokenization_spaces",
    "is_local",
    "local_files_only",
    "model_max_length",
    "tokenizer_class",
}


class FileTokenizer:
    """What of a tokenizer of transformers is asked for here, under its names; `read` makes it.

    Attributes:
        backend_tokenizer: the tokenizer itself.
        model_max_length: tokens of the longest text.
        all_special_ids: of the special tokens that have a role.
        pad_token_id: and so on: None where there is none.
    """

    is_fast = True

    def __init__(self, backend: Tokenizer, special: Mapping[str, int], model_max_length: int) -> None:
        """Takes the ids of the special tokens by their roles ("pad")."""
        self.backend_tokenizer, self.model_max_length = backend, model_max_length
        self.all_special_ids = sorted(set(special.values()))
        self.pad_token_id, self.unk_token_id = special.get("pad"), special.get("unk")
        self.eos_token_id, self.sep_token_id = special.get("eos"), special.get("sep")

    def __len__(self) -> int:
        return int(self.backend_tokenizer.get_vocab_size(with_added_tokens=True))


def read(directory: Path) -> FileTokenizer | None:
    """Returns the tokenizer of a directory; None where only transformers knows what its settings mean.

    Raises:
        Exception: tokenizers' own, if a file is corrupt.
    """
    settings_file, tokenizer_file = directory / "tokenizer_config.json", directory / "tokenizer.json"
    if not settings_file.is_file() or not tokenizer_file.is_file():
        return None
    settings = json.loads(settings_file.read_text(encoding="utf-8"))
    # The class that does nothing of its own; any other, and any further setting, may change what the file says.
    if settings.get("tokenizer_class") != "PreTrainedTokenizerFast" or not settings.keys() <= _KNOWN_SETTINGS:
        return None
    backend = Tokenizer.from_file(str(tokenizer_file))
    names = {role: settings[f"{role}_token"] for role in _SPECIAL if settings.get(f"{role}_token") is not None}
    found = {role: backend.token_to_id(name) for role, name in names.items() if isinstance(name, str)}
    special = {role: number for role, number in found.items() if number is not None}
    if len(special) < len(names):
        return None
    return FileTokenizer(backend, special, int(settings.get("model_max_length") or 10**9))


def characters_of(backend: Tokenizer) -> frozenset[str] | None:
    """Returns the characters in pieces; None for a tokenizer that does not spell all others in bytes ("<0x00>")."""
    if backend.token_to_id("<0x00>") is None:
        return None
    return frozenset().union(*(piece for piece in backend.get_vocab() if not piece.startswith("<0x")))
