"""Callbacks of a training run: saved states and models, and interruption."""

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
from pytorch_lightning.callbacks import Checkpoint

from matese import files
from matese.errors import InputError
from matese.training.config import TrainingConfig
from matese.training.module import TrainingModule

_DECIDED_EVERY = 10
"""Optimizer steps between two agreements of several devices on whether to save."""


class Stopped(Exception):  # noqa: N818  (not an error)
    """The run was asked to stop and can be resumed. Not a KeyboardInterrupt, for which Lightning exits the process."""


class StateSaver(Checkpoint):
    """Saves the state to resume from, and the model when it improves.

    A state is saved after each validation and, between validations, after an optimizer step, except the last one before
    a validation: Lightning resumes exactly from such states.

    Lightning's ModelCheckpoint cannot replace this class: Lightning does not save accumulated gradients, and
    ModelCheckpoint saves after any batch, at its time interval and on exceptions, so a resumed run would lose part of
    an optimizer step.
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
        """Creates the callback; `save_model` gets the figures of the validation that the model comes from.

        The fingerprint is that of the training data, which must not change before the run is resumed.
        """
        self._state_path = state_path
        self._save_model = save_model
        self._interruption = interruption
        self._training = training
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
            InputError: if the training data have changed since the state was saved.
        """
        if state_dict["fingerprint"] != self._fingerprint:
            raise InputError(f"{self._state_path}: the training data have changed; restore them or start a new run")
        self.best = dict(state_dict["best"])

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Takes over SIGTERM from Lightning, which would stop during gradient accumulation without saving."""
        self._interruption.claim()

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: object, batch: object, batch_idx: int
    ) -> None:
        """Saves the state between two validations, every `save_minutes` and when the run is asked to stop."""
        done = batch_idx + 1
        every = self._training.accumulate * (1 if trainer.world_size == 1 else _DECIDED_EVERY)
        if done % every or done >= trainer.num_training_batches or trainer.should_stop:
            return
        is_due = time.monotonic() - self._saved_at >= 60 * self._training.save_minutes
        if _any(trainer, self._interruption.is_set or is_due):
            self._save_state(trainer)
        if _any(trainer, self._interruption.is_set):
            raise Stopped

    def on_validation_batch_end(self, trainer: pl.Trainer, *_: object) -> None:
        """Stops during a validation; a resumed run repeats it from the last state."""
        if trainer.world_size == 1 and self._interruption.is_set:
            raise Stopped

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Saves the model if it is at least as good as all previous ones, or if the last one is kept.

        Equally good models are saved because heads that are trained alone change no figure.
        """
        assert isinstance(pl_module, TrainingModule)
        name = pl_module.monitored
        # Undefined if all scores are equal: better than nothing, worse than any other value.
        figure, best = (figures.get(name, -1.0) for figures in (pl_module.figures, self.best))
        if trainer.sanity_checking or (self.best and figure < best and self._training.kept == "best"):
            return
        self.best = dict(pl_module.figures)
        if trainer.is_global_zero:
            self._save_model(self.best)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Saves the state after a validation, once early stopping has counted it, and stops if it was asked to."""
        self._save_state(trainer)
        if _any(trainer, self._interruption.is_set):
            raise Stopped

    def _save_state(self, trainer: pl.Trainer) -> None:
        # Lightning moves the state from another directory, which copies it if that is on another disk.
        target = (
            files.replacing(self._state_path) if trainer.is_global_zero else contextlib.nullcontext(self._state_path)
        )
        with target as path:
            trainer.save_checkpoint(path)
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
        """Handles the signals in the body; a second signal ends the process as usual."""
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
