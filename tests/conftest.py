"""Tiny models with random weights, saved locally: no test needs a network or pretrained weights."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Workers share the cores: with several threads each, they would wait for each other. Read when torch and numpy load.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# No limit of time: a busy machine is no fault. The same examples in every run: a red build stays red.
hypothesis.settings.register_profile("matese", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.load_profile("matese")


def restore_ctrl_c() -> None:
    """Undoes what a shell does to commands in the background (`make test &`): it makes them ignore SIGINT.

    The processes that tests start inherit that, and some tests stop them, or themselves, by Ctrl-C.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


restore_ctrl_c()


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """No test leaves torch, which keeps the number of a model's threads, with more of them to the next ones."""
    yield
    torch = sys.modules.get("torch")
    if torch is not None and torch.get_num_threads() != 1:
        torch.set_num_threads(1)


@pytest.fixture(scope="module")
def window() -> Iterator[Page]:
    """A page of a browser that the tests of a module share."""
    from tests import browser

    with browser.opened() as page:
        yield page


TinyModelFactory = Callable[..., Path]
"""(name, **settings of `make_config`, kind="xlm-roberta", "bert" or "mbart", extra_width) to a model directory."""

ENCODERS: dict[str, dict[str, Any]] = {
    "xlm-roberta": {
        "model_type": "xlm-roberta",
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": 514,
        "type_vocab_size": 1,
    },
    "bert": {
        "model_type": "bert",
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": 514,
        "type_vocab_size": 2,
    },
    "mbart": {
        "model_type": "mbart",
        "d_model": 32,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "encoder_ffn_dim": 64,
        "decoder_ffn_dim": 64,
        "max_position_embeddings": 256,
        "decoder_start_token_id": 2,
    },
}


def make_tokenizer(texts: Iterable[str] = ()) -> Any:
    """A unigram vocabulary of some letters and words with byte fallback, in the layout of XLM-R.

    Args:
        texts: whose words and characters are pieces too.
    """
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces = [(name, 0.0) for name in special]
    pieces += [("▁", -3.0), *((letter, -4.0) for letter in "abcdefghijklmnopqrstuvwxyz.,!?0123456789")]
    pieces += [(word, -5.0) for word in ("▁the", "▁der", "▁ist", "ing", "▁good", "en", "▁Das", "你", "好")]
    pieces += [(f"<0x{byte:02X}>", -9.0) for byte in range(256)]
    words = {word for text in texts for word in re.findall(r"\w+|[^\w\s]", text)}
    more = {f"▁{word}" for word in words} | words | set("".join(words))
    pieces += [(piece, -6.0) for piece in sorted(more - {name for name, _ in pieces})]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=3, byte_fallback=True))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.add_special_tokens(special)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    names = {"bos": "<s>", "cls": "<s>", "eos": "</s>", "sep": "</s>", "pad": "<pad>", "unk": "<unk>"}
    tokens = {f"{role}_token": token for role, token in names.items()}
    make: Any = PreTrainedTokenizerFast  # its constructor has no types
    return make(tokenizer_object=tokenizer, model_max_length=512, **tokens)


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    return make_tokenizer()


def make_config(**settings: Any) -> Any:
    """Returns the settings of a model from fields of its parts, such as inputs=("source",), extra=1, score={}.

    A head is a mapping of its settings. Without `quality`, `ranking` or `preference`, the model is a tagger.
    """
    from matese.model.config import ModelConfig
    from matese.model.decoding import Decoding
    from matese.model.encoder.settings import LayerSettings
    from matese.model.heads.settings import HeadSettings
    from matese.model.texts.settings import TextSettings
    from matese.validation import plain_values

    kinds = {"decoding": Decoding, "texts": TextSettings, "layers": LayerSettings, "heads": HeadSettings}
    own = {field.name: part for part, kind in kinds.items() for field in dataclasses.fields(kind)}
    parts: dict[str, Any] = {"texts": {}, "layers": {}, "heads": {}, "decoding": {}}
    for name, value in settings.items():
        if name in own:
            parts[own[name]][name] = value
        else:
            parts[name] = value
    if not {"quality", "ranking", "preference"} & parts["heads"].keys():
        parts["heads"].setdefault("tags", {})
    plain_values.check_keys(parts, ModelConfig)
    return plain_values.convert(plain_values.to_plain(parts), ModelConfig)


def make_tiny_model(
    directory: Path, tokenizer: Any, *, kind: str = "xlm-roberta", extra_width: int | None = None, **settings: Any
) -> Path:
    """Saves a tagger with random weights, of which some tokens are tagged as errors, and returns its directory."""
    import torch

    from matese.model.encoder.loading import load_encoder
    from matese.model.loading import save
    from matese.model.network import Network

    torch.manual_seed(7)
    encoder = load_encoder({**ENCODERS[kind], "vocab_size": len(tokenizer), "pad_token_id": 1})
    tagger = Network(make_config(**{"extra": 1, "extra_heads": 2, **settings}), encoder, extra_width)
    # A fresh head gives every tag about a fifth; larger weights make it speak up, so that spans come and go.
    torch.nn.init.normal_(tagger.tag_head.weight, std=0.6)
    if tagger.comparison is not None:  # which would add nothing
        torch.nn.init.normal_(tagger.comparison.closeness)
        torch.nn.init.normal_(tagger.comparison.difference, std=0.1)
    save(directory, tagger, tokenizer, card="# A tiny model for tests\n")
    return directory


@pytest.fixture(scope="session")
def tiny_model_factory(tmp_path_factory: pytest.TempPathFactory, tokenizer: Any) -> TinyModelFactory:
    """Makes models in directories of their own, which tests may change."""
    made: dict[str, Path] = {}

    def make(name: str = "tiny", **settings: Any) -> Path:
        directory = tmp_path_factory.mktemp("model") / name
        known = repr(sorted(settings.items()))
        if known not in made:
            made[known] = make_tiny_model(tmp_path_factory.mktemp("whole") / "tiny", tokenizer, **settings)
        return Path(shutil.copytree(made[known], directory))

    return make


@pytest.fixture(scope="session")
def tiny_model_dir(tiny_model_factory: TinyModelFactory) -> Path:
    """A model that reads a reference, a source, or both."""
    return tiny_model_factory(inputs=("reference", "source", "source+reference"))
