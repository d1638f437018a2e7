"""Prepare a run: its output directory, its tokenizer, and its model with initial weights."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import torch
from pytorch_lightning.utilities import rank_zero_only
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from matese.encoder import checkpoint
from matese.encoder.encoder import encoder_of_model, load_encoder
from matese.encoder.tokenizer import load_tokenizer
from matese.encoder.weights import distinct
from matese.errors import InputError, ModelError
from matese.regression import loading as regression
from matese.regression.model import Regressor
from matese.tagger import loading
from matese.tagger.config import CALIBRATED, TaggerConfig
from matese.tagger.model import Tagger
from matese.training import config as settings
from matese.training.config import Config

SETTINGS, STATE, RESULT = "config.yaml", "last.ckpt", "result.json"
MODEL, TOKENIZER, LOGS = "model", "tokenizer", "logs"
ModelT = TypeVar("ModelT", bound=nn.Module)


def is_first_process() -> bool:
    """Whether this process writes and prints, if there are several training processes."""
    return int(getattr(rank_zero_only, "rank", 0)) == 0


def load_settings(directory: Path) -> Config:
    """Returns the settings of the run in a directory.

    Raises:
        InputError: if there is no run, or if it is complete.
    """
    path = directory / SETTINGS
    if not path.is_file():
        raise InputError(f"{directory} has no {SETTINGS}; give the directory of a training run")
    if (directory / RESULT).is_file():
        raise InputError(f"{directory} is complete, with its model in {directory / MODEL}; there is nothing to resume")
    # The directory may have been moved.
    return dataclasses.replace(settings.load(path), output=str(directory))


@contextlib.contextmanager
def new_output(config: Config) -> Iterator[None]:
    """Creates the run's directory with its settings; removes everything again if the body fails.

    Raises:
        InputError: if the directory is a file or not empty.
    """
    output = Path(config.output)
    is_there = output.is_dir()
    if output.exists() and not is_there:
        raise InputError(f"{output} is a file; choose a new or empty directory")
    if is_there and any(output.iterdir()):
        raise InputError(
            f"{output} is not empty; choose a new or empty directory (to resume the run in it: "
            f"matese train --resume {output})"
        )
    output.mkdir(parents=True, exist_ok=True)
    try:
        (output / SETTINGS).write_text(settings.dump(config), encoding="utf-8")
        yield
    except BaseException:
        for left in output.iterdir():
            if left.is_dir():
                shutil.rmtree(left)
            else:
                left.unlink()
        if not is_there:
            output.rmdir()
        raise


def make_tokenizer(config: Config) -> PreTrainedTokenizerBase:
    """Returns the tokenizer that the settings name, or the encoder's.

    Raises:
        ModelError: if it cannot be loaded.
    """
    source = config.tokenizer or str(config.encoder)
    with _load_errors("tokenizer", source):
        return load_tokenizer(_model_directory(source) or _checked(source))


def make_tagger(config: Config, tokenizer: PreTrainedTokenizerBase) -> Tagger:
    """Returns the tagger before training: new layers on a pretrained encoder, or all new.

    Raises:
        InputError: if the encoder cannot be loaded, has fewer embeddings than the tokenizer has pieces, or does not fit
            the tagger's settings.
    """
    encoder = make_encoder(config, tokenizer)
    with _load_errors("encoder", _name(config.encoder)):
        tagger = Tagger(config.tagger, encoder)
    if config.start is not None:
        started = _start_from(tagger, config.start)
        if config.training.trained_parts and set(config.training.trained_parts) <= _ADDED:
            tagger.config = dataclasses.replace(tagger.config, **{name: getattr(started, name) for name in CALIBRATED})
    return tagger


def make_regressor(config: Config, tokenizer: PreTrainedTokenizerBase) -> Regressor:
    """Returns the regression model before training: new heads on a pretrained encoder, or all new.

    Raises:
        InputError: as `make_tagger`.
    """
    assert config.regression is not None
    encoder = make_encoder(config, tokenizer)
    with _load_errors("encoder", _name(config.encoder)):
        regressor = Regressor(config.regression, encoder)
    if config.start is not None:
        stored = distinct(regression.load(checkpoint.resolve(config.start)).model)
        state = regressor.state_dict()
        for name, tensor in state.items():
            if name not in stored and name.startswith("tag_head."):
                stored[name] = tensor
            if name not in stored or stored[name].shape != tensor.shape:
                raise ModelError(
                    f"start {config.start} has no tensor {name} of the right shape: must be a regression model with "
                    "the same settings, except for its labels"
                )
        regressor.load_state_dict({name: stored[name] for name in state})
    return regressor


def make_encoder(config: Config, tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
    """Returns the encoder of the settings: pretrained, from a matese model, or with random weights.

    Raises:
        InputError: if it cannot be loaded or has fewer embeddings than the tokenizer has pieces.
    """
    source = config.encoder
    with _load_errors("encoder", _name(source)):
        if not isinstance(source, str):
            ids = {"pad_token_id": tokenizer.pad_token_id, "bos_token_id": tokenizer.bos_token_id}
            ids |= {"eos_token_id": tokenizer.eos_token_id, "vocab_size": len(tokenizer)}
            encoder = load_encoder({name: number for name, number in ids.items() if number is not None} | source)
        elif (directory := _model_directory(source)) is not None:
            encoder = encoder_of_model(directory)
        else:
            encoder = load_encoder(_checked(source))
        n_embeddings = next(encoder.get_input_embeddings().parameters()).shape[0]
        if n_embeddings < len(tokenizer):
            raise ModelError(
                f"encoder.vocab_size {n_embeddings}: must be at least {len(tokenizer)}, the size of the tokenizer"
            )
    return encoder


def _model_directory(source: str) -> Path | None:
    """Returns the directory of a matese model, embedded or not; None for other encoders."""
    path = checkpoint.resolve(source) if source in checkpoint.embedded() else Path(source)
    try:
        values = json.loads((path / checkpoint.CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return path if isinstance(values, dict) and "format_version" in values else None


def _name(encoder: str | Mapping[str, object]) -> str:
    return encoder if isinstance(encoder, str) else str(encoder["model_type"])


_ADDED = {"omission_head", "category_head"}
"""Heads that change neither tags nor scores."""
_MAY_BE_NEW = ("score_head.", "omission_head.", "category_head.")


def _start_from(tagger: Tagger, directory: str) -> TaggerConfig:
    """Copies the weights of another tagger and returns its settings; both then predict the same.

    Columns of a score head with a wider input may be new; they are set to 0.
    """
    started, _ = loading.load_tagger(checkpoint.resolve(directory), is_trainable=True)
    stored = started.state_dict()
    taken = {}
    for name, tensor in tagger.state_dict().items():
        old, is_optional = stored.get(name), name.startswith(_MAY_BE_NEW)
        if old is not None and old.shape == tensor.shape:
            taken[name] = old
        elif old is None and is_optional:
            taken[name] = tensor
        elif old is not None and is_optional and old.shape[:-1] == tensor.shape[:-1]:
            taken[name] = torch.zeros_like(tensor)
            taken[name][..., : old.shape[-1]] = old
        else:
            raise ModelError(
                f"start {directory} has no tensor {name} of the right shape: must be a tagger with the same settings, "
                "except for the heads for score, omissions and categories"
            )
    tagger.load_state_dict(taken)
    return started.config


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
