from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from matese.errors import UsageError
from matese.model.storage import checkpoint
from matese.model.texts import tokenizer
from matese.model.texts.encoding import TextEncoder
from matese.model.texts.tokenizer import load_tokenizer

TEXTS = ["the good thing", "", "  你好 😀 </s> <pad> e\u0301\u00a0x ", "Das ist 12."]


def with_settings(directory: Path, folder: Path, **changes: Any) -> Path:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).write_bytes((directory / name).read_bytes())
    path = folder / "tokenizer_config.json"
    settings = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({key: value for key, value in settings.items() if value is not ...}))
    return folder


def test_the_files_say_what_transformers_says(tiny_model_dir: Path) -> None:
    for directory in (tiny_model_dir, checkpoint.resolve("mini")):
        ours = tokenizer.read(directory)
        theirs = load_tokenizer(directory)
        assert ours is not None, "which would be read by transformers, slowly"
        assert (len(ours), ours.model_max_length) == (len(theirs), theirs.model_max_length)
        assert ours.all_special_ids == sorted(theirs.all_special_ids)
        for name in ("pad", "unk", "eos", "sep"):
            assert getattr(ours, f"{name}_token_id") == getattr(theirs, f"{name}_token_id")
        encoders = [TextEncoder(loaded, max_tokens=64) for loaded in (ours, theirs)]
        tokens = [encoder.tokenize(TEXTS) for encoder in encoders]
        rows = [
            encoder.join(of_encoder[0], of_encoder[2:], "source+reference")
            for encoder, of_encoder in zip(encoders, tokens, strict=True)
        ]
        for ours_of_text, theirs_of_text in zip(*tokens, strict=True):
            assert (ours_of_text.ids.tolist(), ours_of_text.ranges.tolist()) == (
                theirs_of_text.ids.tolist(),
                theirs_of_text.ranges.tolist(),
            )
        assert rows[0][0].ids.tolist() == rows[1][0].ids.tolist()


@pytest.mark.parametrize(
    "changes",
    [
        {"tokenizer_class": "XLMRobertaTokenizerFast"},
        {"add_prefix_space": False},
        {"pad_token": "<blank>"},
        {"pad_token": {"content": "<pad>", "lstrip": True}},
    ],
)
def test_what_is_otherwise_is_left_to_transformers(
    changes: dict[str, Any], tiny_model_dir: Path, tmp_path: Path
) -> None:
    assert tokenizer.read(with_settings(tiny_model_dir, tmp_path)) is not None
    assert tokenizer.read(with_settings(tiny_model_dir, tmp_path, **changes)) is None
    (tmp_path / "tokenizer.json").unlink()
    assert tokenizer.read(tmp_path) is None


def test_a_token_without_a_role_is_none(tiny_model_dir: Path, tmp_path: Path) -> None:
    read = tokenizer.read(with_settings(tiny_model_dir, tmp_path, sep_token=None, eos_token=..., model_max_length=None))
    assert read is not None
    assert (read.sep_token_id, read.eos_token_id, read.model_max_length) == (None, None, 10**9)


def test_settings_of_transformers_4_are_read(tiny_model_dir: Path, tmp_path: Path) -> None:
    repeated = {"content": "<pad>", "lstrip": False, "normalized": False, "special": True}
    settings = {"added_tokens_decoder": {"1": repeated}, "extra_special_tokens": {}}
    assert tokenizer.read(with_settings(tiny_model_dir, tmp_path, **settings)) is not None
    settings["added_tokens_decoder"]["2"] = repeated
    assert tokenizer.read(with_settings(tiny_model_dir, tmp_path, **settings)) is None


def test_a_tokenizer_that_needs_sentencepiece_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "xlm-roberta"}')
    (tmp_path / "sentencepiece.bpe.model").write_bytes(b"no model")
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "XLMRobertaTokenizer"}')
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(UsageError, match=r"needs sentencepiece; install it with pip install 'matese\[train\]'"):
        load_tokenizer(tmp_path)
