"""What a run needs before its first step: a directory, a tokenizer, a tagger."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import itertools
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch
from pytorch_lightning.utilities import rank_zero_only
from transformers import PreTrainedTokenizerBase

from matese.encoder.checkpoint import ModelError
from matese.encoder.encoder import load_encoder, load_tokenizer
from matese.tagger import model
from matese.tagger.model import Tagger
from matese.training import settings, vocabulary
from matese.training.config import Config, VocabularyConfig
from matese.training.reading import read, texts_of

SETTINGS, STATE, RESULT = "config.yaml", "last.ckpt", "result.json"
MODEL, TOKENIZER, LOGS = "model", "tokenizer", "logs"
_WAIT = 3600
"""Seconds for which other processes wait for the first to train the tokenizer."""


def is_first_process() -> bool:
    """Whether this is the process that writes, of those that train together."""
    return int(getattr(rank_zero_only, "rank", 0)) == 0


def load_settings(directory: Path) -> Config:
    """Returns the settings of the run in a directory.

    Raises:
        ValueError: if there is none, or if it is complete.
    """
    path = directory / SETTINGS
    if not path.is_file():
        raise ValueError(f"{directory} holds no {SETTINGS}: must be the directory of a training run")
    if (directory / RESULT).is_file():
        raise ValueError(f"{directory} is complete, its model is {directory / MODEL}: nothing to resume")
    config = settings.parse(Config, path.read_text(encoding="utf-8"), path=str(path))
    # The directory may have been moved since.
    return dataclasses.replace(config, output=str(directory))


@contextlib.contextmanager
def new_output(config: Config) -> Iterator[None]:
    """Makes the run's directory with the settings; where the body fails, nothing of it is left.

    Raises:
        ValueError: if it is a file or not empty.
    """
    output = Path(config.output)
    is_there = output.is_dir()
    if output.exists() and not is_there:
        raise ValueError(f"{output} is a file: must be a new or an empty directory")
    if is_there and any(output.iterdir()):
        raise ValueError(
            f"{output} is not empty: must be a new or an empty directory (to go on with the run in it: "
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
    """Returns the encoder's tokenizer, or one trained on the training texts by the first process.

    Raises:
        ModelError: if it cannot be loaded.
    """
    if not isinstance(config.tokenizer, VocabularyConfig):
        source = config.tokenizer or str(config.encoder)
        with _told("tokenizer", source):
            return load_tokenizer(_findable(source))
    directory = Path(config.output) / TOKENIZER
    if is_first_process() and not directory.is_dir():
        files = config.tokenizer.files
        paths, shares = (files, ()) if files else (config.data.train, config.data.shares)
        texts = itertools.chain.from_iterable(map(texts_of, read(paths, shares)))
        partial = directory.with_name(f".{TOKENIZER}.partial")
        vocabulary.train(texts, config.tokenizer).save_pretrained(str(partial))
        os.replace(partial, directory)
    deadline = time.monotonic() + _WAIT
    while not directory.is_dir():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{directory}: the first process made no tokenizer within {_WAIT} seconds")
        time.sleep(1)
    return load_tokenizer(directory)


def make_tagger(config: Config, tokenizer: PreTrainedTokenizerBase) -> Tagger:
    """Returns the tagger, with new layers on a pretrained encoder or all of it from scratch.

    Raises:
        ModelError: if the encoder cannot be loaded or has fewer embeddings than the tokenizer pieces.
        ValueError: if the tagger's settings do not fit the encoder.
    """
    source = config.encoder
    if not isinstance(source, str):
        ids = {"pad_token_id": tokenizer.pad_token_id, "bos_token_id": tokenizer.bos_token_id}
        ids |= {"eos_token_id": tokenizer.eos_token_id, "vocab_size": len(tokenizer)}
        source = {name: number for name, number in ids.items() if number is not None} | source
    with _told("encoder", source if isinstance(source, str) else str(source["model_type"])):
        encoder = load_encoder(_findable(source) if isinstance(source, str) else source)
    n_embeddings = next(encoder.get_input_embeddings().parameters()).shape[0]
    if n_embeddings < len(tokenizer):
        raise ModelError(f"encoder.vocab_size {n_embeddings}: must be the tokenizer's {len(tokenizer)} or more")
    tagger = Tagger(config.tagger, encoder)
    if config.start is not None:
        _start_from(tagger, config.start, tokenizer)
    return tagger


def toward(tagger: Tagger, first: Mapping[str, torch.Tensor], share: float) -> Tagger:
    """Returns a copy of a tagger, on the CPU, whose weights are the mean of its own and of others.

    Args:
        tagger: the trained one.
        first: the weights that it began with.
        share: of these in the mean.
    """
    mean = copy.deepcopy(tagger).cpu()
    with torch.no_grad():
        for name, weights in mean.named_parameters():
            weights.lerp_(first[name], share)
    return mean


_MAY_BE_NEW = ("lexical_match.", "score_head.")


def _start_from(tagger: Tagger, directory: str, tokenizer: PreTrainedTokenizerBase) -> None:
    """Takes over the weights of a tagger; what is new beside them begins at 0, so that both say the same at first.

    That may be the embeddings of matches, and the columns of a score head that now reads more. A piece that the
    tokenizer has beside those of the tagger's own begins as the mean of those which it was spelt in.
    """
    started, old_tokenizer = model.load(directory)
    _add_pieces(started, old_tokenizer, tokenizer)
    given = started.state_dict()
    taken = {}
    for name, tensor in tagger.state_dict().items():
        old, is_optional = given.get(name), name.startswith(_MAY_BE_NEW)
        if old is not None and old.shape == tensor.shape:
            taken[name] = old
        elif old is None and is_optional:
            taken[name] = tensor if name.startswith("score_head.") else torch.zeros_like(tensor)
        elif old is not None and is_optional and old.shape[:-1] == tensor.shape[:-1]:
            taken[name] = torch.zeros_like(tensor)
            taken[name][..., : old.shape[-1]] = old
        else:
            raise ModelError(
                f"start {directory} has no {name} of this shape: must be a tagger of the same settings, save for "
                "lexical_match and the score head"
            )
    tagger.load_state_dict(taken)


def _add_pieces(tagger: Tagger, old: PreTrainedTokenizerBase, new: PreTrainedTokenizerBase) -> None:
    """Gives a tagger an embedding for each piece of a tokenizer that extends its own."""
    pieces = new.convert_ids_to_tokens(list(range(len(new))))
    if len(new) == len(old) or pieces[: len(old)] != old.convert_ids_to_tokens(list(range(len(old)))):
        return
    spelt = old([piece.replace(vocabulary.SPACE, "") for piece in pieces[len(old) :]], add_special_tokens=False)
    embeddings = tagger.encoder.resize_token_embeddings(len(pieces), mean_resizing=False).weight
    with torch.no_grad():
        for row, ids in zip(embeddings[len(old) :], spelt["input_ids"], strict=True):
            row.copy_(embeddings[ids].mean(0))


def _findable(source: str) -> str:
    """Returns a directory or a hub id as it is; the network is touched for a hub id only, which holds a "/"."""
    if not Path(source).is_dir() and "/" not in source:
        raise ValueError("no such directory, and a hub id is ORG/NAME")
    return source


@contextlib.contextmanager
def _told(what: str, source: str) -> Iterator[None]:
    """Names what could not be loaded: the libraries raise errors of many kinds, some over many lines."""
    try:
        yield
    except (OSError, ValueError, TypeError, KeyError, AttributeError, ImportError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ModelError(
            f"{what} {source} cannot be loaded ({reason}): must be a hub id, a directory or settings of one"
        ) from error
