"""A training run: from settings to a model directory."""

from __future__ import annotations

import contextlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from rich.console import Console

from matese import mqm
from matese.encoder.encoding import InputKind
from matese.errors import InputError
from matese.formats.issues import IssueCounts
from matese.training import card, data, preparation, tasks
from matese.training.batching import BatchStream, Limits, TrainingLoader
from matese.training.callbacks import Interruption, StateSaver, Stopped, ValidationReport
from matese.training.config import Config, TrainingConfig, resolve, to_builtins
from matese.training.corpus import Corpus
from matese.training.optimisation import TrainingModule
from matese.training.preparation import MODEL, RESULT, STATE
from matese.training.reading import read
from matese.training.targets import IGNORED
from matese.training.tasks import Task
from matese.training.trainer import make_trainer, quiet

_OF_STATE = {"pytorch-lightning_version", "state_dict", "optimizer_states", "lr_schedulers", "callbacks", "loops"}
"""Keys of a complete state of Lightning."""


class Interrupted(KeyboardInterrupt):
    """The run was asked to stop and can be resumed, as the message explains."""


@dataclass(frozen=True)
class Result:
    """The outcome of a run.

    Attributes:
        directory: model directory.
        figures: figures of the best validation, by name ("dev/macro_f1").
    """

    directory: Path
    figures: Mapping[str, float]


@dataclass(frozen=True)
class _Material:
    """The model and data of a run.

    Attributes:
        config: resolved settings.
        task: the model to train and the functions for its kind.
        train: training data.
        dev: validation data.
        dev_inputs: the kinds of input that the validation data allow.
    """

    config: Config
    task: Task
    train: Corpus
    dev: Corpus
    dev_inputs: tuple[InputKind, ...]


@dataclass(frozen=True)
class _Setup:
    """The trainer and the objects that it works with."""

    trainer: pl.Trainer
    module: TrainingModule
    loader: TrainingLoader[Any]
    dev_loaders: list[Any]
    saver: StateSaver
    interruption: Interruption


def train(config: Config, *, resume: bool = False, console: Console | None = None) -> Result:
    """Trains a model and returns the state with the best validation.

    Args:
        config: the settings.
        resume: whether to resume the run in the output directory; otherwise the directory must be new or empty.
        console: shows progress and counts; None to show nothing.

    Raises:
        InputError: for settings that do not fit together, unusable data, or an output directory that is not empty.
        OSError: if a file cannot be read or written.
        Interrupted: after Ctrl-C or SIGTERM, once a state is saved.
    """
    config = resolve(config)
    is_first = preparation.is_first_process()
    shown = console if console is not None and is_first else Console(quiet=True)
    with quiet():
        torch.manual_seed(config.training.seed)
        with preparation.new_output(config) if is_first and not resume else contextlib.nullcontext():
            setup = _set_up(_gather(config, shown), shown)
        return _fit(setup, Path(config.output))


def _gather(config: Config, console: Console) -> _Material:
    tokenizer = preparation.make_tokenizer(config)
    task = tasks.task_of(config, tokenizer)
    texts, inputs, labels = task.text_encoder, config.inputs, task.labels
    files = config.data
    of_train, of_dev = task.needs_spans
    issues = IssueCounts()
    read_all = partial(read, rater=files.rater, merge=files.merge, report=issues)
    train = data.build(
        read_all(files.train, files.shares),
        texts,
        inputs,
        with_spans=of_train,
        rater_groups=files.rater_groups,
        # The head learns nothing from other ratings.
        labels=replace(labels, needs_categories=config.training.trained_parts == ("category_head",)),
    )
    category_ids = train.labels.category_ids
    if category_ids is not None and (category_ids.values == IGNORED).all():
        known = ", ".join(mqm.CATEGORIES)
        raise InputError(
            f"tagger.category_head is true, but no error in {' '.join(files.train)} has an MQM category ({known}); "
            "add ratings with categories or set it to false"
        )
    dev = data.build(read_all(files.dev), texts, inputs, keep_ratings=True, with_spans=of_dev, labels=labels)
    for message in issues.messages():
        console.print(message, highlight=False)
    usable = dev.usable()
    dev_inputs = tuple(kind for number, kind in enumerate(inputs) if usable[:, number].any())
    for name, corpus in (("train", train), ("dev", dev)):
        skipped = "".join(f"; skipped: {number:,} {reason}" for reason, number in corpus.skipped.items())
        console.print(f"{name}: {len(corpus):,} segments{skipped}", highlight=False)
    for kind in inputs:
        if kind not in dev_inputs:
            console.print(f"dev: {kind} is not validated because no segment has its texts", highlight=False)
    return _Material(config, task, train, dev, dev_inputs)


def _set_up(material: _Material, console: Console) -> _Setup:
    training, output = material.config.training, Path(material.config.output)
    interruption = Interruption(lambda: console.print("stopping after this step; press again to stop without saving"))
    saver = StateSaver(
        output / STATE,
        lambda figures: _save_model(material, figures),
        training=training,
        fingerprint=material.train.fingerprint(),
        interruption=interruption,
    )
    task = material.task
    shows_bar = console.is_terminal and not console.quiet
    callbacks = [ValidationReport(console), saver]
    trainer = make_trainer(material.config, callbacks, monitored=task.monitored, progress_bar=shows_bar)
    limits = Limits(training.batch_tokens, task.longest, trainer.global_rank, trainer.world_size)
    stream = BatchStream(material.train, limits, seed=training.seed, group_size=training.group_size)
    trainer.fit_loop.max_epochs, stream.period_length = plan_periods(training, stream.epoch_length)
    module = task.module(
        n_steps=trainer.fit_loop.max_epochs * stream.period_length // training.accumulate,
        n_frozen_steps=training.frozen_steps
        + round(training.frozen_epochs * stream.epoch_length / training.accumulate),
        dev_inputs=material.dev_inputs,
    )
    loader = TrainingLoader(material.train, stream, task.make_batch, workers=training.workers)
    dev_loaders = [task.dev_loader(material.dev, kind, limits) for kind in material.dev_inputs]
    return _Setup(trainer, module, loader, dev_loaders, saver, interruption)


def _fit(setup: _Setup, output: Path) -> Result:
    trainer, path = setup.trainer, _state(output, setup.module)
    try:
        with setup.interruption.watched():
            trainer.fit(setup.module, setup.loader, setup.dev_loaders, ckpt_path=path, weights_only=True)
    except Stopped:
        raise Interrupted(f"stopped; to resume: matese train --resume {output}") from None
    except SystemExit:  # raised by Lightning after a second Ctrl-C
        raise KeyboardInterrupt from None
    if trainer.is_global_zero:
        (output / RESULT).write_text(json.dumps(setup.saver.best, indent=2) + "\n", encoding="utf-8")
    return Result(output / MODEL, setup.saver.best)


def _state(output: Path, module: TrainingModule) -> Path | None:
    """Returns the file of the state to resume from; None for a new run. No pickle is opened, also not by Lightning.

    Raises:
        InputError: if the file is not a state of this module.
        OSError: if it cannot be read.
    """
    path = output / STATE
    if not path.exists():
        return None
    try:
        with zipfile.ZipFile(path) as archive:
            if damaged := archive.testzip():
                raise zipfile.BadZipFile(f"{damaged} is damaged")
        state = torch.load(path, map_location="meta", weights_only=True)
    except OSError:
        raise
    except Exception as error:  # torch raises errors of many kinds for damaged files
        reason = (str(error) or "it is truncated").splitlines()[0]
        raise InputError(f"{path} is not a saved state ({reason}); restore it or start a new run") from error
    is_complete = isinstance(state, dict) and state.keys() >= _OF_STATE
    expected, saved = (
        _shapes(tensors) for tensors in (module.state_dict(), state["state_dict"] if is_complete else {})
    )
    if expected != saved:
        raise InputError(f"{path} is the state of another model; restore it or start a new run")
    return path


def _shapes(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Size]:
    return {name: tensor.shape for name, tensor in tensors.items()}


def _save_model(material: _Material, figures: Mapping[str, float]) -> None:
    config = material.config
    material.task.save(
        Path(config.output) / MODEL,
        material.task.model,
        card=card.write(config, figures, n_train=len(material.train), n_dev=len(material.dev)),
        training={**to_builtins(config), "figures": dict(figures)},
    )


def plan_periods(training: TrainingConfig, epoch_length: int) -> tuple[int, int]:
    """Returns the number of periods between validations, and the number of batches in a period.

    A period has a whole number of optimizer steps because gradients are not accumulated across a validation.

    Args:
        training: resolved settings.
        epoch_length: batches of a pass over the data.
    """
    total = training.max_epochs * epoch_length
    if training.max_steps is not None:
        total = min(total, training.max_steps * training.accumulate)
    n_steps = max(1, int(total) // training.accumulate)
    n_periods = min(n_steps, max(1, round(total / (training.validate_every * epoch_length))))
    return n_periods, n_steps // n_periods * training.accumulate
