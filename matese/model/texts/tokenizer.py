"""Load tokenizers: from their files if these are complete, otherwise with transformers, which is slow to import."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import tokenizers

from matese.errors import ModelError, check_installed

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    Tokenizer: TypeAlias = "PreTrainedTokenizerBase | FileTokenizer"

_SPECIAL = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
_ROBERTA_TOKENS = {"bos": "<s>", "eos": "</s>", "unk": "<unk>", "sep": "</s>", "pad": "<pad>", "cls": "<s>"}
_BERT_TOKENS = {"eos": "[SEP]", "unk": "[UNK]", "sep": "[SEP]", "pad": "[PAD]", "cls": "[CLS]"}
_LANGUAGE_CODE = re.compile("([a-z]{2,3})_[A-Z]{2}")
_KNOWN_SETTINGS = {f"{name}_token" for name in _SPECIAL} | {
    "backend",
    "clean_up_tokenization_spaces",
    "fix_mistral_regex",
    "is_local",
    "local_files_only",
    "model_max_length",
    "tokenizer_class",
}


class FileTokenizer:
    """The part of the interface of a transformers tokenizer that this package uses; `read` returns one.

    `special` are the ids of the special tokens by role ("pad"); a role without a token has the id None.
    """

    is_fast = True

    def __init__(self, backend: tokenizers.Tokenizer, special: Mapping[str, int], model_max_length: int) -> None:
        """Sets the ids of the special tokens by role, and the longest text, in tokens."""
        self.backend_tokenizer = backend
        self.model_max_length = model_max_length
        self.special = dict(special)
        self.all_special_ids = sorted(set(special.values()))
        self.pad_token_id = special.get("pad")
        self.unk_token_id = special.get("unk")
        self.eos_token_id = special.get("eos")
        self.sep_token_id = special.get("sep")

    def save(self, directory: Path) -> None:
        """Writes the files that `read` reads."""
        self.backend_tokenizer.save(str(directory / "tokenizer.json"))
        names = {role: self.backend_tokenizer.id_to_token(number) for role, number in self.special.items()}
        settings: dict[str, object] = {f"{role}_token": name for role, name in names.items()}
        settings |= {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": self.model_max_length}
        text = json.dumps(settings, indent=2, ensure_ascii=False) + "\n"
        (directory / "tokenizer_config.json").write_text(text, encoding="utf-8")

    def __len__(self) -> int:
        return int(self.backend_tokenizer.get_vocab_size(with_added_tokens=True))


def read(directory: Path) -> FileTokenizer | None:
    """Returns the tokenizer of a directory; None if only transformers can interpret its settings."""
    settings_file = directory / "tokenizer_config.json"
    tokenizer_file = directory / "tokenizer.json"
    if not settings_file.is_file() or not tokenizer_file.is_file():
        return None
    settings = json.loads(settings_file.read_text(encoding="utf-8"))
    backend = tokenizers.Tokenizer.from_file(str(tokenizer_file))
    _remove_repetitions(settings, backend)
    # This class adds nothing to the file. Other classes or settings may change its meaning.
    if settings.get("tokenizer_class") != "PreTrainedTokenizerFast" or not settings.keys() <= _KNOWN_SETTINGS:
        return None
    names = {role: settings[f"{role}_token"] for role in _SPECIAL if settings.get(f"{role}_token") is not None}
    return _with_special(backend, names, settings)


def _with_special(
    backend: tokenizers.Tokenizer, names: Mapping[str, object], settings: Mapping[str, object]
) -> FileTokenizer | None:
    """Returns a tokenizer with these special tokens by role; None if it lacks one."""
    numbers = {role: backend.token_to_id(name) for role, name in names.items() if isinstance(name, str)}
    special = {role: number for role, number in numbers.items() if number is not None}
    if len(special) < len(names):
        return None
    return FileTokenizer(backend, special, int(str(settings.get("model_max_length") or 10**9)))


def _remove_repetitions(settings: dict[str, Any], backend: tokenizers.Tokenizer) -> None:
    """Removes what transformers 4 writes although it stands in `tokenizer.json`, or is empty."""
    added = settings.get("added_tokens_decoder") or {}
    if all(backend.id_to_token(int(number)) == token["content"] for number, token in added.items()):
        settings.pop("added_tokens_decoder", None)
    if not settings.get("extra_special_tokens"):
        settings.pop("extra_special_tokens", None)


def read_released(directory: Path, model_type: str) -> FileTokenizer | None:
    """Returns the tokenizer of a released encoder from its `tokenizer.json`; None if it has none, or other tokens.

    The classes of transformers for these encoders only add the names of the special tokens to that file and, for BERT,
    the settings of its normaliser.
    """
    path = directory / "tokenizer.json"
    settings_file = directory / "tokenizer_config.json"
    if not path.is_file():
        return None
    backend = tokenizers.Tokenizer.from_file(str(path))
    names = (
        _BERT_TOKENS
        if model_type in ("bert", "rembert", "deberta-v2") and backend.token_to_id("<s>") is None
        else _ROBERTA_TOKENS
    )
    settings = json.loads(settings_file.read_text(encoding="utf-8")) if settings_file.is_file() else {}
    if model_type == "bert" and names is _BERT_TOKENS:
        backend.normalizer = tokenizers.normalizers.BertNormalizer(
            lowercase=settings.get("do_lower_case", True),
            strip_accents=settings.get("strip_accents"),
            handle_chinese_chars=settings.get("tokenize_chinese_chars", True),
        )
    return _with_special(backend, names, settings)


def load_tokenizer(source: str | Path) -> PreTrainedTokenizerBase:
    """Returns the fast tokenizer of a hub id or a directory.

    Raises:
        OSError: if there is no such tokenizer.
        ValueError: if it has no fast version.
        UsageError: if it needs sentencepiece, which is not installed.
    """
    from transformers import AutoTokenizer

    options = {"use_fast": True, "local_files_only": Path(source).is_dir(), "trust_remote_code": False}
    if Path(source).is_dir():  # or else transformers 5 takes large vocabularies for those of an old Mistral, and warns
        options["fix_mistral_regex"] = False
    try:
        return AutoTokenizer.from_pretrained(str(source), **options)
    except Exception as error:  # of many types; transformers asks for tiktoken where sentencepiece is missing
        if re.search("sentencepiece|tiktoken|protobuf", str(error), re.IGNORECASE):
            for package, module in (("sentencepiece", "sentencepiece"), ("protobuf", "google.protobuf")):
                check_installed(f"the tokenizer of {source}", package, module=module, extra="train")
        raise


def language_codes(tokenizer: Tokenizer) -> dict[str, int]:
    """Returns the ids of an mBART tokenizer's language codes, such as "de_DE", by language; no code for others."""
    added = tokenizer.backend_tokenizer.get_added_tokens_decoder()
    matches = {number: _LANGUAGE_CODE.fullmatch(token.content) for number, token in added.items()}
    return {match[1]: number for number, match in matches.items() if match is not None}


def special_ids(tokenizer: Tokenizer) -> tuple[frozenset[int], int]:
    """Returns the ids of the special tokens, and the id that replaces them in texts."""
    unknown = tokenizer.unk_token_id
    if unknown is None:  # byte-level vocabularies cover every text and need no unknown token
        unknown = token_id(tokenizer, "pad")
    return frozenset(tokenizer.all_special_ids) - {unknown}, int(unknown)


def token_id(tokenizer: Tokenizer, name: Literal["pad", "eos", "sep"]) -> int:
    """Returns the id of a special token.

    Raises:
        ModelError: if the tokenizer has no such token.
    """
    number = getattr(tokenizer, f"{name}_token_id")
    if number is None:
        raise ModelError(f"tokenizer {type(tokenizer).__name__} has no {name} token; it needs one")
    return int(number)


def template(tokenizer: Tokenizer, *, is_pair: bool) -> tuple[list[int], list[int], list[int]]:
    """Returns the special tokens before the first text, between two texts, and after the last."""
    backend = tokenizer.backend_tokenizer
    encoded = backend.encode("a", "a") if is_pair else backend.encode("a")
    owners = encoded.sequence_ids
    last = max(owner for owner in owners if owner is not None)
    places = [[place for place, owner in enumerate(owners) if owner == text] for text in range(last + 1)]
    prefix = encoded.ids[: places[0][0]]
    separator = encoded.ids[places[0][-1] + 1 : places[1][0]] if is_pair else []
    suffix = encoded.ids[places[-1][-1] + 1 :]
    return prefix, separator or [token_id(tokenizer, "sep")], suffix
