"""What a run tells: sentences, a line for each validation, and a line of progress now and then."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import pytorch_lightning as pl
from pytorch_lightning.callbacks import Callback

from matese.training.module import TrainingModule

REPORTING = 60.0
"""Seconds between lines of progress."""


@dataclass(frozen=True)
class Reporter:
    """Who is told.

    Attributes:
        tell: takes a sentence.
        has_bar: whether there is a terminal for Lightning's progress bar; otherwise, a line is told now and then.
    """

    tell: Callable[[str], None] = lambda sentence: None
    has_bar: bool = False


SILENT = Reporter()


class ValidationReport(Callback):
    """Tells the figures of each validation in one line, the first one perhaps of a model that is not yet trained."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Tells the line."""
        assert isinstance(pl_module, TrainingModule)
        if trainer.is_global_zero:
            names = (pl_module.monitored, *pl_module.shown)
            shown = {name.removeprefix("dev/"): pl_module.figures.get(name) for name in names}
            figures = "  ".join(f"{name} {value:.3f}" for name, value in shown.items() if value is not None)
            when = "unchanged model" if trainer.sanity_checking else f"step {trainer.global_step:,}"
            self._reporter.tell(f"{when}: {figures}")


class ProgressReport(Callback):
    """Tells now and then how far the run is: the step, the mean loss, tokens a second and the time that is left.

    Attributes:
        n_steps: optimizer steps of the whole run.
    """

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self.n_steps = 0
        self._started = 0.0
        self._first_step = 0
        self._told = 0.0
        self._n_batches = 0

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Starts the clock; a resumed run has done steps before."""
        self._started = time.monotonic()
        self._told = self._started
        self._first_step = trainer.global_step

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: object, batch: object, batch_idx: int
    ) -> None:
        """Tells the line, if it is time for it."""
        assert isinstance(pl_module, TrainingModule)
        self._n_batches += 1
        now = time.monotonic()
        n_done = trainer.global_step - self._first_step
        if self._reporter.has_bar or now - self._told < REPORTING or not n_done:
            return
        loss, tokens_a_batch = pl_module.recent()
        rate = self._n_batches * tokens_a_batch * trainer.world_size / (now - self._told)
        left = timedelta(seconds=round((self.n_steps - trainer.global_step) * (now - self._started) / n_done))
        step = f"step {trainer.global_step:,} of {self.n_steps:,}"
        self._reporter.tell(f"{step}: loss {loss:.3f}, {rate:,.0f} tokens per second, time left {left}")
        self._told = now
        self._n_batches = 0
