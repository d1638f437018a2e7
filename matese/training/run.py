"""A training run: from settings to a model directory."""

from __future__ import annotations

import contextlib
import json
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from rich.console import Console
from transformers import PreTrainedTokenizerBase

from matese.encoder.encoding import Inputs
from matese.tagger import model
from matese.training import card, data, preparation, settings
from matese.training.batching import BatchStream, TrainingLoader
from matese.training.callbacks import Bar, Interruption, Saver, Stopped
from matese.training.config import Config, TrainingConfig, resolved
from matese.training.data import Corpus
from matese.training.module import TaggerModule, balanced_weights
from matese.training.preparation import MODEL, RESULT, STATE
from matese.training.reading import read
from matese.training.trainer import make_trainer, quiet
from matese.training.validation import dev_loader


class Interrupted(KeyboardInterrupt):
    """The run was asked to stop and can be resumed; the message says how."""


@dataclass(frozen=True)
class Result:
    """What a run ends with.

    Attributes:
        directory: the model's.
        figures: of the best validation, by name ("dev/macro_f1").
    """

    directory: Path
    figures: Mapping[str, float]


@dataclass(frozen=True)
class _Material:
    """What the steps work on; `first` are the weights that they begin with, where a share of those is kept."""

    config: Config
    tagger: model.Tagger
    first: Mapping[str, torch.Tensor]
    tokenizer: PreTrainedTokenizerBase
    train: Corpus
    dev: Corpus
    dev_inputs: tuple[Inputs, ...]


@dataclass(frozen=True)
class _Ready:
    """All that is there before the first step."""

    trainer: pl.Trainer
    module: TaggerModule
    loader: TrainingLoader
    dev_loaders: list[Any]
    saver: Saver
    interruption: Interruption


def train(config: Config, *, resume: bool = False, console: Console | None = None) -> Result:
    """Trains a tagger and returns the directory of the best by validation macro-F1.

    Args:
        config: the settings.
        resume: whether to go on where a run in the same directory ended or was killed; else it must be empty.
        console: where progress and counts are shown; None for nowhere.

    Raises:
        ValueError: for settings that do not fit together, unusable data, or a directory that is not empty.
        OSError: if something cannot be read or written.
        Interrupted: after Ctrl-C or SIGTERM, with a state saved.
    """
    config = resolved(config)
    is_first = preparation.is_first_process()
    shown = console if console is not None and is_first else Console(quiet=True)
    with quiet():
        torch.manual_seed(config.training.seed)
        with preparation.new_output(config) if is_first and not resume else contextlib.nullcontext():
            ready = _make_ready(_gather(config, shown), shown)
        return _fit(ready, Path(config.output))


def _gather(config: Config, console: Console) -> _Material:
    tokenizer = preparation.make_tokenizer(config)
    tagger = preparation.make_tagger(config, tokenizer)
    keeps_first = bool(config.training.start_share)
    first = {name: weights.detach().clone() for name, weights in tagger.named_parameters() if keeps_first}
    texts, inputs = tagger.text_encoder(tokenizer), config.tagger.inputs
    chosen = config.data
    no_score = tagger.score_head is None
    train = data.build(read(chosen.train, chosen.shares), texts, inputs, with_spans=no_score, habits=chosen.habits)
    dev = data.build(read(config.data.dev), texts, inputs, keep_ratings=True, with_spans=True)
    usable = dev.usable()
    dev_inputs = tuple(kind for number, kind in enumerate(inputs) if usable[:, number].any())
    for name, corpus in (("train", train), ("dev", dev)):
        left_out = "".join(f"; left out: {number:,} {reason}" for reason, number in corpus.skipped.items())
        console.print(f"{name}: {len(corpus):,} segments{left_out}", highlight=False)
    for kind in inputs:
        if kind not in dev_inputs:
            console.print(f"dev: no segment can be read as {kind}, which is not validated", highlight=False)
    return _Material(config, tagger, first, tokenizer, train, dev, dev_inputs)


def _make_ready(material: _Material, console: Console) -> _Ready:
    training, output = material.config.training, Path(material.config.output)
    interruption = Interruption(lambda: console.print("stopping; once more to stop at once, with nothing saved"))
    saver = Saver(
        output / STATE,
        lambda figures: _save_model(material, figures),
        training=training,
        fingerprint=material.train.fingerprint(),
        interruption=interruption,
    )
    trainer = make_trainer(material.config, [Bar(console), saver])
    stream = _make_stream(material, trainer)
    trainer.fit_loop.max_epochs = plan_periods(training, stream)
    module = TaggerModule(
        material.tagger,
        training,
        n_steps=trainer.fit_loop.max_epochs * stream.period_length // training.accumulate,
        class_weights=_class_weights(training, material.train),
        dev_inputs=material.dev_inputs,
        n_habits=len(material.config.data.habits),
        hidden_id=material.tokenizer.unk_token_id or 0,
    )
    loader = TrainingLoader(material.train, stream, pad_id=material.train.encoder.pad_id, workers=training.workers)
    return _Ready(trainer, module, loader, _dev_loaders(material, trainer), saver, interruption)


def _fit(ready: _Ready, output: Path) -> Result:
    trainer, path = ready.trainer, _state(output)
    try:
        with ready.interruption.watched():
            trainer.fit(ready.module, ready.loader, ready.dev_loaders, ckpt_path=path, weights_only=True)
    except Stopped:
        raise Interrupted(f"stopped; to go on: matese train --resume {output}") from None
    except SystemExit:  # what Lightning makes of a second Ctrl-C
        raise KeyboardInterrupt from None
    if trainer.is_global_zero:
        (output / RESULT).write_text(json.dumps(ready.saver.best, indent=2) + "\n", encoding="utf-8")
    return Result(output / MODEL, ready.saver.best)


def _state(output: Path) -> Path | None:
    """Returns where the state to go on from is; None at the beginning. No pickle is opened, here or by Lightning."""
    path = output / STATE
    if not path.exists():
        return None
    try:
        torch.load(path, map_location="meta", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
        reason = (str(error) or "it ends too early").splitlines()[0]
        raise ValueError(f"{path} is no state of a run ({reason}): must be as it was saved") from error
    return path


def _save_model(material: _Material, figures: Mapping[str, float]) -> None:
    config, share = material.config, material.config.training.start_share
    model.save(
        Path(config.output) / MODEL,
        preparation.toward(material.tagger, material.first, share) if share else material.tagger,
        material.tokenizer,
        card=card.write(config, figures, n_train=len(material.train), n_dev=len(material.dev)),
        training={**settings.plain(config), "figures": dict(figures)},
        precision=config.training.saved_precision,
    )


def plan_periods(training: TrainingConfig, stream: BatchStream) -> int:
    """Sets the stream's period to what lies between two validations and returns how many there are.

    A period has whole optimizer steps only, since gradients are not carried over a validation.
    """
    total = training.max_epochs * stream.epoch_length
    if training.max_steps is not None:
        total = min(total, training.max_steps * training.accumulate)
    n_steps = max(1, int(total) // training.accumulate)
    n_periods = min(n_steps, max(1, round(total / (training.validate_every * stream.epoch_length))))
    stream.period_length = n_steps // n_periods * training.accumulate
    return n_periods


def _make_stream(material: _Material, trainer: pl.Trainer) -> BatchStream:
    training = material.config.training
    return BatchStream(
        material.train,
        batch_tokens=training.batch_tokens,
        longest=_longest(material),
        seed=training.seed,
        rank=trainer.global_rank,
        n_devices=trainer.world_size,
        group_size=training.group_size,
    )


def _dev_loaders(material: _Material, trainer: pl.Trainer) -> list[Any]:
    return [
        dev_loader(
            material.dev,
            kind,
            batch_tokens=material.config.training.batch_tokens,
            longest=_longest(material),
            pad_id=material.train.encoder.pad_id,
            rank=trainer.global_rank,
            n_devices=trainer.world_size,
        )
        for kind in material.dev_inputs
    ]


def _longest(material: _Material) -> int:
    return material.config.tagger.max_tokens * (2 if material.tagger.has_decoder else 1)


def _class_weights(training: TrainingConfig, corpus: Corpus) -> list[float] | None:
    if training.class_weights == "balanced":
        return balanced_weights(corpus.tag_ids)
    return None if training.class_weights is None else list(training.class_weights)
