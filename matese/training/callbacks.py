"""Callbacks of a training run: saved states and models, interruption, and a line for each validation."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.callbacks import Callback, Checkpoint
from rich.console import Console

from matese.errors import InputError
from matese.training.config import TrainingConfig
from matese.training.optimisation import TrainingModule

_DECIDED_EVERY = 10
"""Optimizer steps after which several devices agree on whether to save."""


class Stopped(Exception):  # noqa: N818  (not an error)
    """The run was asked to stop and can be resumed. Not a KeyboardInterrupt, on which Lightning exits by itself."""


class StateSaver(Checkpoint):
    """Saves the state to resume from, and the model when it is better than before.

    A state is saved after each validation and, between validations, after an optimizer step, but not after the last
    one before a validation: from all such states Lightning resumes exactly.

    Lightning's ModelCheckpoint cannot replace this class. Lightning does not save accumulated gradients, and
    ModelCheckpoint saves at its time interval and on exceptions after any batch, so that a resumed run would lose part
    of an optimizer step.
    """

    def __init__(
        self,
        state_path: Path,
        save_model: Callable[[dict[str, float]], None],
        *,
        training: TrainingConfig,
        fingerprint: str,
        interruption: Interruption,
    ) -> None:
        """Makes the callback.

        Args:
            state_path: file of the state.
            save_model: writes the model; called with the figures of its validation.
            training: resolved settings.
            fingerprint: of the training data, which must be the same when the run is resumed.
            interruption: whether the run has been asked to stop.
        """
        self._state_path, self._save_model, self._interruption = state_path, save_model, interruption
        self._keeps_last = training.kept == "last"
        self._seconds, self._accumulate = 60 * training.save_minutes, training.accumulate
        self._fingerprint = fingerprint
        self._saved_at = time.monotonic()
        self.best: dict[str, float] = {}
        """Figures of the best validation so far."""

    def state_dict(self) -> dict[str, Any]:
        """Returns the part of the state that belongs to this callback."""
        return {"best": dict(self.best), "fingerprint": self._fingerprint}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restores the callback from a state.

        Raises:
            InputError: if the state is of a run on other training data.
        """
        if state_dict["fingerprint"] != self._fingerprint:
            raise InputError(
                f"{self._state_path}: the training data have changed; a run can be resumed with the same data only"
            )
        self.best = dict(state_dict["best"])

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Takes SIGTERM back from Lightning, which would stop within an accumulation without saving."""
        self._interruption.claim()

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: object, batch: object, batch_idx: int
    ) -> None:
        """Saves between two validations, every `save_minutes` and when the run is asked to stop."""
        done = batch_idx + 1
        every = self._accumulate * (1 if trainer.world_size == 1 else _DECIDED_EVERY)
        if done % every or done >= trainer.num_training_batches or trainer.should_stop:
            return
        if _any(trainer, self._interruption.is_set or time.monotonic() - self._saved_at >= self._seconds):
            self._save_state(trainer)
        if _any(trainer, self._interruption.is_set):
            raise Stopped

    def on_validation_batch_end(self, trainer: pl.Trainer, *_: object) -> None:
        """Stops within a validation, which a resumed run repeats from the last state."""
        if trainer.world_size == 1 and self._interruption.is_set:
            raise Stopped

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Saves the model if it is at least as good as all before, or the last one is wanted.

        Heads that are trained alone change no figure.
        """
        assert isinstance(pl_module, TrainingModule)
        name = pl_module.monitored
        # Undefined where all scores are equal: better than nothing, worse than any other.
        figure, best = (figures.get(name, -1.0) for figures in (pl_module.figures, self.best))
        if trainer.sanity_checking or (self.best and figure < best and not self._keeps_last):
            return
        self.best = dict(pl_module.figures)
        if trainer.is_global_zero:
            self._save_model(self.best)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Saves the state after a validation, once early stopping has counted it, and stops if asked to."""
        self._save_state(trainer)
        if _any(trainer, self._interruption.is_set):
            raise Stopped

    def _save_state(self, trainer: pl.Trainer) -> None:
        trainer.save_checkpoint(self._state_path)
        self._saved_at = time.monotonic()


def _any(trainer: pl.Trainer, decision: bool) -> bool:
    """Returns whether the decision is true on any device."""
    if trainer.world_size == 1:
        return decision
    return bool(trainer.strategy.reduce_boolean_decision(decision, all=False))


class Interruption:
    """Whether Ctrl-C or SIGTERM has asked the run to stop."""

    def __init__(self, notify: Callable[[], None]) -> None:
        self._notify = notify
        self._handlers_before: dict[int, Any] = {}
        self.is_set = False

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Handles the signals within the body; a second signal ends the process as usual."""
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread may handle signals
            return
        self._handlers_before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        self.claim()
        try:
            yield
        finally:
            self._hand_back()

    def claim(self) -> None:
        """Handles the signals again after other code has taken them over."""
        if not self.is_set:
            for number in self._handlers_before:
                signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.is_set = True
        self._hand_back()
        self._notify()

    def _hand_back(self) -> None:
        for number, handler in self._handlers_before.items():
            signal.signal(number, handler)


class ValidationReport(Callback):
    """Prints the figures of each validation in one line."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Prints the line."""
        assert isinstance(pl_module, TrainingModule)
        if trainer.is_global_zero:
            names = (pl_module.monitored, *pl_module.shown)
            shown = {name.removeprefix("dev/"): pl_module.figures.get(name) for name in names}
            figures = "  ".join(f"{name} {value:.3f}" for name, value in shown.items() if value is not None)
            self._console.print(f"step {trainer.global_step}: {figures}", highlight=False)
