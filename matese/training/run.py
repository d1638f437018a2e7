"""A training run: from settings to a model directory."""

from __future__ import annotations

import contextlib
import json
import math
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase

from matese import files
from matese.annotation import Rating
from matese.errors import InputError, counted
from matese.formats.row_issues import IssueCounts
from matese.model import loading
from matese.model.heads import registry
from matese.model.network import Network
from matese.model.storage import checkpoint
from matese.model.texts.encoding import TextEncoder
from matese.model.training_data import TrainingData, hashed
from matese.training import (
    batching,
    card,
    corpus_building,
    corpus_cache,
    pieces,
    run_directory,
    run_setup,
    unrated,
    validation,
)
from matese.training.averaging import WeightAverage
from matese.training.batching import BatchLimits, BatchStream, TrainingLoader
from matese.training.callbacks import Interruption, StateSaver, Stopped
from matese.training.config import Config, DataConfig, TrainingConfig, resolve, to_builtins
from matese.training.corpus import Corpus
from matese.training.corpus_building import Lesson
from matese.training.module import TrainingModule
from matese.training.optimisation import Steps
from matese.training.reading import read, read_dev
from matese.training.reporting import SILENT, ProgressReport, Reporter, ValidationReport
from matese.training.run_directory import MODEL, RESULT, STATE, UNRATED
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


def train(config: Config, *, resume: bool = False, reporter: Reporter = SILENT) -> Result:
    """Trains a model and returns the state with the best validation.

    Args:
        config: the settings.
        resume: whether to resume the run in the output directory; otherwise the directory must be new or empty.
        reporter: is told progress and counts.

    Raises:
        InputError: for settings that do not fit together, unusable data, or an output directory that is not empty.
        OSError: if a file cannot be read or written.
        Interrupted: after Ctrl-C or SIGTERM, once a state is saved.
    """
    config = resolve(config)
    is_first = run_setup.is_first_process()
    told = reporter if is_first else SILENT
    with quiet():
        torch.manual_seed(config.training.seed)
        with run_directory.new_output(config) if is_first and not resume else contextlib.nullcontext():
            run = _Run(config, told)
        return run.fit()


class _Run:
    """The model, data, trainer and callbacks of a run."""

    def __init__(self, config: Config, reporter: Reporter) -> None:
        training = config.training
        self._output = Path(config.output)
        self._reporter = reporter
        tokenizer = run_setup.make_tokenizer(config)
        model = run_setup.make_model(config, tokenizer)
        texts = model.text_encoder(tokenizer)
        data = _read(config, texts, reporter)
        train = data.train
        dev = data.dev
        self._interruption = Interruption(
            lambda: reporter.tell("stopping after this step; press again to stop without saving")
        )
        self._saver = StateSaver(
            self._output / STATE,
            lambda figures: _save_model(config, model, tokenizer, figures, train=train, n_dev=len(dev)),
            training=training,
            fingerprint=train.fingerprint(),
            interruption=self._interruption,
        )
        average = WeightAverage(model, share=training.averaged)
        progress = ProgressReport(reporter)
        callbacks = [average, ValidationReport(reporter), progress, self._saver]
        monitored = validation.monitored(model.config)
        trainer = make_trainer(config, callbacks, monitored=monitored, progress_bar=reporter.has_bar)
        limits = BatchLimits(training.batch_tokens, texts.longest, trainer.global_rank, trainer.world_size)
        stream = BatchStream(train, limits, seed=training.seed, group_size=training.group_size)
        n_periods, stream.period_length = plan_periods(training, stream.epoch_length)
        trainer.fit_loop.max_epochs = n_periods
        self._trainer = trainer
        n_frozen = training.frozen_steps + round(training.frozen_epochs * stream.epoch_length / training.accumulate)
        steps = Steps(n_periods * stream.period_length // training.accumulate, n_frozen)
        average.n_steps = steps.total
        progress.n_steps = steps.total
        metrics = validation.metrics(dev, training)
        self._module = TrainingModule(
            model, training, steps, metrics, n_rater_groups=len(config.data.raters), kept=data.kept
        )
        next_part = None
        if config.data.unrated is not None:
            stream.next_part = training.accumulate * math.ceil(config.data.unrated.after * steps.total)
            next_part = self._scored
        self._unrated = config.data.unrated
        self._train = train
        self._limits = limits
        self._loader = TrainingLoader(train, stream, workers=training.workers, next_part=next_part)
        self._dev_loaders = [batching.dev_loader(dev, dev_metrics.inputs, limits) for dev_metrics in metrics]

    def _scored(self, position: int) -> Corpus:
        """Returns the training data with the scores of unrated translations, which are in the run's directory.

        They are computed there at the first batch that needs them.
        """
        assert self._unrated is not None
        path = self._output / UNRATED
        trainer = self._trainer
        if not path.exists() and position > (self._loader.sampler.next_part or 0):
            raise InputError(f"{path} is missing; restore it or start a new run")
        if trainer.is_global_zero and not path.exists():
            with trainer.precision_plugin.forward_context():
                scores = unrated.scores(self._module.network, self._train, self._limits, self._module.device)
            with files.replacing(path) as temporary, open(temporary, "wb") as stream:
                np.save(stream, scores)
            n_scored = counted(len(scores), "unrated translation")
            self._reporter.tell(f"step {trainer.global_step:,}: {n_scored} scored")
        trainer.strategy.barrier()
        return unrated.learned(self._train, np.load(path), self._unrated)

    def fit(self) -> Result:
        trainer = self._trainer
        path = _state(self._output, self._module)
        try:
            with self._interruption.watched():
                trainer.fit(self._module, self._loader, self._dev_loaders, ckpt_path=path, weights_only=True)
        except Stopped:
            has_state = (self._output / STATE).exists()
            todo = (
                f"; to resume: matese train --resume {self._output}" if has_state else " before a first state was saved"
            )
            raise Interrupted(f"stopped{todo}") from None
        except SystemExit:  # raised by Lightning after a second Ctrl-C
            raise KeyboardInterrupt from None
        best = self._saver.best
        if trainer.is_global_zero:
            files.write_lines(self._output / RESULT, [json.dumps(best, indent=2)])
        return Result(self._output / MODEL, best)


class _Data(NamedTuple):
    """Training and validation data, and the names of the heads that the training data cannot teach."""

    train: Corpus
    dev: Corpus
    kept: frozenset[str]


def _read(config: Config, texts: TextEncoder, reporter: Reporter) -> _Data:
    """Reads the data and reports what is skipped."""
    data = config.data
    inputs = config.model.texts.inputs
    heads = registry.targets(config.model)
    of_train = IssueCounts()
    of_dev = IssueCounts()
    without_texts: list[str] = []
    train_name = files.abridged(map(files.name_of, data.files))
    more = "give more, or others with --dev"

    def build() -> tuple[Corpus, list[str]]:
        read_files = partial(read, data=data, report=of_train, notify=without_texts.append)
        corpus = corpus_building.build(
            _lessons(data, read_files),
            texts,
            inputs,
            heads,
            name=train_name,
            if_none=f"all are held out to validate on: {more}" if data.held_out else "there are no ratings",
        )
        return corpus, [*of_train.messages(), *without_texts]

    train, messages = corpus_cache.cached(config, texts, heads, build)
    kept = set[str]()
    for head in heads:
        if (missing := head.missing(train.labels)) is None:
            continue
        if config.start is None:
            problem = f"model.heads.{head.name} is set, but in {train_name} {missing}"
            raise InputError(f"{problem}; add ratings that it can learn from or set it to null")
        kept.add(head.name)
        messages.append(f"head {head.name} stays as it is in {config.start}: {missing}")
    if len(kept) == len(heads):
        raise InputError(f"no head of the model can learn from {train_name}; add ratings of another kind")
    of_dev_texts: list[str] = []
    dev = corpus_building.build(
        read_dev(data, of_dev, of_dev_texts.append),
        texts,
        inputs,
        heads,
        keep_ratings=True,
        with_spans=config.model.heads.tags is not None,
        name=files.abridged(map(files.name_of, data.dev or data.files)),
        if_none=f"none is held out to validate on: {more}" if data.held_out else "there are no ratings",
    )
    for message in dict.fromkeys((*messages, *of_dev.messages(), *of_dev_texts)):
        reporter.tell(message)
    _tell_what_is_read(train, dev, reporter)
    return _Data(train, dev, frozenset(kept))


def _tell_what_is_read(train: Corpus, dev: Corpus, reporter: Reporter) -> None:
    for name, corpus in (("train", train), ("dev", dev)):
        skipped = "".join(f"; skipped: {number:,} {reason}" for reason, number in corpus.skipped.items())
        reporter.tell(f"{name}: {counted(len(corpus), 'rating')}{skipped}")
    if n_without := int((train.languages < 0).any(axis=1).sum()):
        stated = "they state no language pair, or the tokenizer has no code of a language"
        reporter.tell(f"train: {counted(n_without, 'rating')} read as English: {stated}")
    for kind in dev.inputs:
        if kind not in dev.usable_inputs():
            lacking = "no rating of data.dev has: add a source or reference to these files"
            reporter.tell(f"dev: the input {kind} is not validated, since it needs texts that {lacking}")


def _lessons(data: DataConfig, read_files: Callable[..., Iterator[Rating]]) -> Iterator[Lesson]:
    """Yields the training data, the unrated translations last."""
    for how, paths in data.groups.items():
        teaches = None if how.teaches is None else frozenset(how.teaches)
        group = 0 if how.raters is None else 1 + data.raters.index(how.raters)
        for rating in read_files(paths, hashes=(0, how.share * (1 - data.held_out))):
            for learned in (rating, *(pieces.cut(rating) if data.pieces else ())):
                yield Lesson(learned, teaches, group)
    for rating in read_files(data.unrated.files) if data.unrated is not None else ():
        yield Lesson(Rating(rating.segment, None, None), frozenset(), is_unrated=True)


def _save_model(
    config: Config,
    model: Network,
    tokenizer: PreTrainedTokenizerBase,
    figures: Mapping[str, float],
    *,
    train: Corpus,
    n_dev: int,
) -> None:
    settings = to_builtins(config)
    del settings["output"]  # equal models have one fingerprint, wherever they were trained
    loading.save(
        Path(config.output) / MODEL,
        model,
        tokenizer,
        card=card.write(config, figures, n_train=len(train), n_dev=n_dev),
        training={**settings, "figures": dict(figures)},
        precision=config.training.saved_precision,
        training_data=_training_data(config, train),
    )


def _training_data(config: Config, train: Corpus) -> TrainingData:
    """Returns the test sets of the training data, after those of the models that the run starts from."""
    start = None if config.start is None else checkpoint.resolve(config.start)
    encoder = run_setup.model_directory(config.encoder) if isinstance(config.encoder, str) else None
    origins = dict.fromkeys(path for path in (start, encoder) if path is not None)
    learned = [checkpoint.read_training_data(path) for path in origins]
    before = TrainingData(
        tuple(test_set for data in learned for test_set in data.test_sets),
        hashed((), *(data.sources for data in learned)),
    )
    held_out = f"{config.data.held_out:.0%} of the sources" if config.data.held_out else None
    return before.with_segments(train.places, train.sources, held_out=held_out)


def _state(output: Path, module: TrainingModule) -> Path | None:
    """Returns the file of the state to resume from; None for a new run. No pickle is opened, also not by Lightning."""
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
    if not is_complete or _shapes(module.state_dict()) != _shapes(state["state_dict"]):
        raise InputError(f"{path} is the state of another model; restore it or start a new run")
    return path


def _shapes(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Size]:
    return {name: tensor.shape for name, tensor in tensors.items()}


def plan_periods(training: TrainingConfig, epoch_length: int) -> tuple[int, int]:
    """Returns the number of periods between validations, and the number of batches in a period.

    A period has a whole number of optimizer steps because gradients are not accumulated across a validation. A pass
    over the data has `epoch_length` batches.
    """
    total = training.max_epochs * epoch_length
    if training.max_steps is not None:
        total = min(total, training.max_steps * training.accumulate)
    n_steps = max(1, int(total) // training.accumulate)
    n_periods = min(n_steps, max(1, round(total / (training.validate_every * epoch_length))))
    return n_periods, n_steps // n_periods * training.accumulate
