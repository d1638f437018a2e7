"""Prepare a run: its output directory, its tokenizer, and its model with initial weights."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch
from pytorch_lightning.utilities import rank_zero_only
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from matese.errors import InputError, ModelError
from matese.model import loading
from matese.model.encoder.loading import encoder_of_model, load_encoder
from matese.model.heads import registry
from matese.model.network import Network
from matese.model.storage import checkpoint
from matese.model.texts.tokenizer import load_tokenizer
from matese.training.config import Config


def is_first_process() -> bool:
    """Whether this process writes and prints, if there are several training processes."""
    return int(getattr(rank_zero_only, "rank", 0)) == 0


def make_tokenizer(config: Config) -> PreTrainedTokenizerBase:
    """Returns the tokenizer that the settings name, or the encoder's."""
    source = config.tokenizer or str(config.encoder)
    with _load_errors("tokenizer", source):
        return load_tokenizer(model_directory(source) or _checked(source))


def make_model(config: Config, tokenizer: PreTrainedTokenizerBase) -> Network:
    """Returns the model before training: new layers and heads on a pretrained encoder, or all new, or as `start` says.

    Raises:
        InputError: if the encoder cannot be loaded, has fewer embeddings than the tokenizer has pieces, or does not fit
            the settings of the model.
    """
    encoder = make_encoder(config, tokenizer)
    with _load_errors("encoder", _name(config.encoder)):
        model = Network(config.model, encoder)
    if config.start is not None:
        started, *_ = loading.load(checkpoint.resolve(config.start))
        _copy(model, started.state_dict(), f"start {config.start}")
    return model


def make_encoder(config: Config, tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
    """Returns the encoder of the settings: pretrained, from a matese model, or with random weights."""
    source = config.encoder
    with _load_errors("encoder", _name(source)):
        if not isinstance(source, str):
            ids = {"pad_token_id": tokenizer.pad_token_id, "bos_token_id": tokenizer.bos_token_id}
            ids |= {"eos_token_id": tokenizer.eos_token_id, "vocab_size": len(tokenizer)}
            encoder = load_encoder({name: number for name, number in ids.items() if number is not None} | source)
        elif (directory := model_directory(source)) is not None:
            encoder = encoder_of_model(directory)
        else:
            encoder = load_encoder(_checked(source))
        n_embeddings = next(encoder.get_input_embeddings().parameters()).shape[0]
        if n_embeddings < len(tokenizer):
            raise ModelError(
                f"encoder.vocab_size {n_embeddings}: must be at least {len(tokenizer)}, the size of the tokenizer"
            )
    return encoder


def model_directory(source: str) -> Path | None:
    """Returns the directory of a matese model, embedded or not; None for other encoders."""
    path = checkpoint.resolve(source) if source in checkpoint.embedded() else Path(source)
    return path if checkpoint.has_format(path) else None


def _name(encoder: str | Mapping[str, object]) -> str:
    return encoder if isinstance(encoder, str) else str(encoder["model_type"])


_MAY_BE_NEW = tuple(f"{head.part}." for head in registry.HEADS if not head.is_main)


def _copy(model: nn.Module, stored: Mapping[str, torch.Tensor], name: str) -> None:
    """Sets the weights of a model to those of another one, except for new heads; both then predict the same."""
    taken = {}
    for tensor_name, tensor in model.state_dict().items():
        old = stored.get(tensor_name)
        if old is not None and old.shape == tensor.shape:
            taken[tensor_name] = old
        elif old is None and tensor_name.startswith(_MAY_BE_NEW):
            taken[tensor_name] = tensor
        else:
            raise ModelError(
                f"{name} has no tensor {tensor_name} of the right shape: must be a model of the same kind with "
                f"the same settings, except for {', '.join(part.removesuffix('.') for part in _MAY_BE_NEW)}"
            )
    model.load_state_dict(taken)


def _checked(source: str) -> str:
    """Returns a directory or hub id; refuses other names, which transformers would look up in the network."""
    if not Path(source).is_dir() and "/" not in source:
        raise OSError("neither a directory nor a hub id such as ORG/NAME")
    return source


@contextlib.contextmanager
def _load_errors(what: str, source: str) -> Iterator[None]:
    """Turns the libraries' errors, of many types and lengths, into a ModelError of one line."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ModelError(
            f"{what} {source} cannot be loaded ({reason}): must be a hub id, a directory or a configuration"
        ) from error
