"""Prepare a run: its output directory, its tokenizer, and its model with initial weights."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import torch
from pytorch_lightning.utilities import rank_zero_only
from torch import nn
from torch.nn import functional
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from matese import files
from matese.errors import InputError, ModelError
from matese.model import loading
from matese.model.decoding import FITTED
from matese.model.encoder.loading import encoder_of_model, load_encoder
from matese.model.heads import registry
from matese.model.heads.learning import HeadTargets
from matese.model.network import Network
from matese.model.storage import checkpoint
from matese.model.texts.tokenizer import load_tokenizer
from matese.training import config as settings
from matese.training.config import Config

SETTINGS = "config.yaml"
STATE = "last.ckpt"
RESULT = "result.json"
MODEL = "model"
TOKENIZER = "tokenizer"
LOGS = "logs"


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
    if is_there and not all(map(files.is_temporary, output.iterdir())):
        raise InputError(
            f"{output} is not empty; choose a new or empty directory (to resume the run in it: "
            f"matese train --resume {output})"
        )
    output.mkdir(parents=True, exist_ok=True)
    try:
        with files.replacing(output / SETTINGS) as path:
            path.write_text(settings.dump(config), encoding="utf-8")
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
    """Returns the tokenizer that the settings name, or the encoder's."""
    source = config.tokenizer or str(config.encoder)
    with _load_errors("tokenizer", source):
        return load_tokenizer(_model_directory(source) or _checked(source))


def make_model(config: Config, tokenizer: PreTrainedTokenizerBase) -> Network:
    """Returns the model before training: new layers and heads on a pretrained encoder, or all new, or as `start` says.

    Raises:
        InputError: if the encoder cannot be loaded, has fewer embeddings than the tokenizer has pieces, or does not fit
            the settings of the model.
    """
    encoder = make_encoder(config, tokenizer)
    with _load_errors("encoder", _name(config.encoder)):
        model = Network(config.model, encoder)
    starts = (config.start,) if isinstance(config.start, str) else config.start or ()
    started = [loading.load(checkpoint.resolve(start))[0] for start in starts]
    if started:
        weights = started[0].state_dict() if len(started) == 1 else _mean(started, starts)
        _copy(model, weights, f"start {' and '.join(starts)}", _MAY_BE_NEW)
    if len(started) == 1 and config.training.trained_parts and set(config.training.trained_parts) <= _ADDED:
        fitted = {name: getattr(started[0].config.decoding, name) for name in FITTED}
        if "meaning_head" in config.training.trained_parts:
            fitted["meaning"] = ()  # of the head before
        model.config = dataclasses.replace(model.config, decoding=dataclasses.replace(model.config.decoding, **fitted))
    return model


def _mean(models: Sequence[nn.Module], names: Sequence[str]) -> dict[str, torch.Tensor]:
    """Returns the means of the weights of models of one kind."""
    states = [model.state_dict() for model in models]
    mean = {}
    for name, tensor in states[0].items():
        tensors = [state[name] for state in states if name in state and state[name].shape == tensor.shape]
        if len(tensors) < len(states):
            raise ModelError(
                f"start {' and '.join(names)}: {name} differs in shape; models must have the same settings"
            )
        mean[name] = torch.stack([one.float() for one in tensors]).mean(0).to(tensor.dtype)
    return mean


def make_encoder(config: Config, tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
    """Returns the encoder of the settings: pretrained, from a matese model, or with random weights."""
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
    return path if checkpoint.has_format(path) else None


def _name(encoder: str | Mapping[str, object]) -> str:
    return encoder if isinstance(encoder, str) else str(encoder["model_type"])


_ADDED = {head.part for head in registry.HEADS if not head.is_calibrated and not head.is_main}
"""Heads whose training leaves the calibration of the model as it is."""
_MAY_BE_NEW = tuple(f"{head.part}." for head in registry.HEADS if not head.is_main)


def targets(config: Config) -> tuple[HeadTargets, ...]:
    """Returns what the model of the settings learns."""
    return registry.targets(config.model, config.data.contrast_raters, config.data.marked_contrasts)


def trained_alone(config: Config, heads: Sequence[HeadTargets]) -> list[HeadTargets]:
    """Returns the heads that are trained if nothing else is; none otherwise."""
    parts = set(config.training.trained_parts)
    chosen = [head for head in heads if part_of(head) in parts]
    return chosen if len(chosen) == len(parts) else []


def part_of(targets: HeadTargets) -> str:
    """Returns the name of a head's layers, and of the setting that switches it on."""
    return next(head.part for head in registry.HEADS if head.name == targets.name)


def _copy(model: nn.Module, stored: Mapping[str, torch.Tensor], name: str, may_be_new: tuple[str, ...]) -> None:
    """Sets the weights of a model to those of another one; both then predict the same.

    Columns of a score head with a wider input may be new; they are set to 0.
    """
    taken = {}
    for tensor_name, tensor in model.state_dict().items():
        old = stored.get(tensor_name)
        is_optional = tensor_name.startswith(may_be_new)
        if old is not None and old.shape == tensor.shape:
            taken[tensor_name] = old
        elif old is None and is_optional:
            taken[tensor_name] = tensor
        elif old is not None and is_optional and old.shape[:-1] == tensor.shape[:-1]:
            taken[tensor_name] = functional.pad(old, (0, tensor.shape[-1] - old.shape[-1]))
        else:
            raise ModelError(
                f"{name} has no tensor {tensor_name} of the right shape: must be a model of the same kind with "
                f"the same settings, except for {', '.join(part.removesuffix('.') for part in may_be_new)}"
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
