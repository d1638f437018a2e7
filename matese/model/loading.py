"""Save taggers to model directories, and load them into torch for training or prediction."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

import numpy as np
import torch
from torch import Tensor

from matese.errors import ModelError
from matese.model.config import KIND, TaggerConfig
from matese.model.encoder.loading import load_encoder, plain_config
from matese.model.encoder.roberta import Roberta
from matese.model.encoder.roberta_config import is_roberta
from matese.model.engines.batch_engine import BatchEngine
from matese.model.engines.engine import Engine, Hardware
from matese.model.engines.hardware import choose_batch_tokens
from matese.model.engines.runners import Runner, TorchRunner, prepare
from matese.model.heads import registry
from matese.model.inputs import collate
from matese.model.network import Tagger, TaggerOutput
from matese.model.prediction import Window
from matese.model.storage import checkpoint, packing
from matese.model.storage.checkpoint import Checkpoint, ModelConfig
from matese.model.storage.packing import StoredPrecision
from matese.model.storage.weights import NoRandomWeights, assign_all, distinct
from matese.model.texts import tokenizer as tokenizers
from matese.model.texts.encoding import Encoding, TextEncoder

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from matese.model.texts.tokenizer import FileTokenizer, Tokenizer


def load_engine(directory: Path, hardware: Hardware) -> tuple[Engine[Window], TextEncoder, TaggerConfig]:
    """Returns the engine of a model in torch, with its text encoder and settings.

    Raises:
        ModelError: if it cannot be loaded.
        UsageError: if the device or precision is unknown or not available on this machine.
    """
    place, precision = prepare(hardware)
    tagger, tokenizer = load_tagger(directory)
    runner = TorchRunner(tagger.to(place), precision)
    batch_tokens = hardware.batch_tokens or choose_batch_tokens(place, tagger.width)
    text_encoder = tagger.text_encoder(tokenizer)
    return engine_of(tagger, runner, pad_id=text_encoder.pad_id, batch_tokens=batch_tokens), text_encoder, tagger.config


def engine_of(
    tagger: Tagger, runner: Runner[TaggerOutput], *, pad_id: int, batch_tokens: int
) -> BatchEngine[TaggerOutput, Window]:
    """Returns an engine that computes a tagger with a runner."""
    return BatchEngine(runner, window_outputs, pad_id=pad_id, batch_tokens=batch_tokens)


def window_outputs(output: TaggerOutput, encodings: Sequence[Encoding]) -> Iterator[Window]:
    """Yields the output of each row of a batch, without padding."""
    networks = registry.networks()
    names = list(output.of_heads)
    columns = [networks[name].rows(output.of_heads[name], encodings) for name in names]
    for encoding, *values in zip(encodings, *columns, strict=True):
        said = {name: value for name, value in zip(names, values, strict=True) if value is not None}
        yield Window(encoding, said)


@overload
def load_tagger(
    directory: Path, *, is_trainable: Literal[True], attention: str | None = None
) -> tuple[Tagger, PreTrainedTokenizerBase]: ...
@overload
def load_tagger(
    directory: Path, *, is_trainable: bool = False, attention: str | None = None
) -> tuple[Tagger, Tokenizer]: ...
def load_tagger(
    directory: Path, *, is_trainable: bool = False, attention: str | None = None
) -> tuple[Tagger, Tokenizer]:
    """Returns a tagger in float32 and its tokenizer.

    Args:
        directory: model directory.
        is_trainable: load the encoder and the tokenizer of transformers, to train, change or save the model. Otherwise
            transformers is imported only for encoders that this package does not implement.
        attention: implementation of attention, see `load_encoder`.

    Raises:
        ModelError: if the directory is incomplete, corrupt, of another kind or of a future format version.
    """
    stored, released_tokenizer = _read(directory)
    if is_trainable and released_tokenizer is not None:
        raise ModelError(f"{directory} is a released model; convert it first with matese export")
    config = checkpoint.convert(stored.config.settings, TaggerConfig, directory / checkpoint.CONFIG)
    with checkpoint.raising_model_errors(f"{directory}: settings and tensors do not make a tagger"):
        is_own = not is_trainable or config.separate_layers > 0
        if not (is_own and is_roberta(stored.config.encoder, with_bert=True)):
            tagger = Tagger(config, load_encoder(stored.config.encoder, attention=attention), _extra_width(stored))
        else:
            with NoRandomWeights():
                tagger = Tagger(config, Roberta(stored.config.encoder, attention=attention), _extra_width(stored))
        assign_all(packing.unpack(stored.tensors), tagger)
        tagger.eval()
        if not isinstance(tagger.encoder, Roberta):
            _probe(tagger)
    with checkpoint.raising_model_errors(f"{directory} has no usable tokenizer", "; must contain a tokenizer's files"):
        from_files = released_tokenizer or (None if is_trainable else tokenizers.read(directory))
        tokenizer = from_files or tokenizers.load_tokenizer(directory)
        tagger.text_encoder(tokenizer)
    return tagger, tokenizer


@torch.inference_mode()
def _probe(tagger: Tagger) -> None:
    """Computes one token: transformers reports some configuration errors only then."""
    token = np.zeros(1, np.int32)
    ranges = np.zeros((1, 2), np.int32)
    encoding = Encoding(token, token, token if tagger.has_decoder else None, 0, ranges, (0, 1))
    tagger(collate([encoding], pad_id=0))


def _read(directory: Path) -> tuple[Checkpoint[Tensor], FileTokenizer | None]:
    """Returns the checkpoint of a directory, and the tokenizer if the model is a released one."""
    if not (directory / checkpoint.CONFIG).is_file():
        from matese.model.released import original_matese

        if (path := original_matese.find(directory)) is not None:
            return original_matese.read(path)
    return checkpoint.load(directory, kind=KIND), None


def _extra_width(stored: Checkpoint[Tensor]) -> int | None:
    """Returns the inner width of the extra layers, from their tensors; None without extra layers."""
    first = stored.tensors.get("extra_layers.0.linear1.weight")
    return None if first is None else len(first)


def save_tagger(
    directory: str | Path,
    tagger: Tagger,
    tokenizer: PreTrainedTokenizerBase,
    *,
    card: str = "",
    training: Mapping[str, object] | None = None,
    precision: StoredPrecision = "float32",
) -> None:
    """Writes a model directory; `packing.pack` describes how a precision is stored.

    Raises:
        OSError: if it cannot be written.
    """
    tensors = packing.pack({name: tensor.detach().cpu() for name, tensor in distinct(tagger).items()}, precision)
    config = ModelConfig(
        kind=KIND,
        format_version=checkpoint.FORMAT_VERSION,
        settings=dataclasses.asdict(tagger.config),
        encoder=plain_config(tagger.encoder),
        training=None if training is None else dict(training),
    )
    checkpoint.save(Path(directory), Checkpoint(config, tensors), tokenizer, card=card)
