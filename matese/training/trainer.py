"""Lightning's trainer for the settings of a run."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback, EarlyStopping, RichProgressBar
from pytorch_lightning.loggers import CSVLogger

from matese.errors import InputError
from matese.model.engines.hardware import choose_device, choose_precision, limit_kept_kernels
from matese.training.config import Config
from matese.training.run_directory import LOGS

_PRECISIONS: dict[str, Any] = {"bf16": "bf16-mixed", "float32": "32-true"}


def make_trainer(
    config: Config, callbacks: Sequence[Callback], *, monitored: str, progress_bar: bool = False
) -> pl.Trainer:
    """Returns a trainer with these callbacks; `monitored` is the figure of the validation that `patience` refers to.

    Raises:
        InputError: if the devices are not available on this machine.
    """
    from lightning_fabric.utilities.exceptions import MisconfigurationException

    training = config.training
    limit_kept_kernels()
    # Lightning, not `choose_device`, reports a missing accelerator.
    is_auto = training.accelerator == "auto"
    device = choose_device("auto") if is_auto else torch.device(training.accelerator)
    further: list[Callback] = []
    if training.patience is not None:
        further.append(EarlyStopping(monitored, mode="max", patience=training.patience, check_on_train_epoch_end=False))
    if progress_bar:
        further.append(RichProgressBar(refresh_rate=2, console_kwargs={"stderr": True}))
    try:
        return pl.Trainer(
            accelerator=training.accelerator,
            devices=training.devices,
            num_nodes=training.num_nodes,
            precision=_PRECISIONS[choose_precision(training.precision, device)],
            accumulate_grad_batches=training.accumulate,
            logger=CSVLogger(config.output, name=LOGS),
            callbacks=[*further, *callbacks],
            max_epochs=1,  # set when the number of batches is known
            log_every_n_steps=training.log_every,
            # The figures of the model that further ratings change: do they help?
            num_sanity_val_steps=0 if config.start is None else -1,
            use_distributed_sampler=False,  # `BatchStream` distributes the batches
            enable_progress_bar=progress_bar,
            enable_model_summary=False,
            default_root_dir=config.output,
        )
    except MisconfigurationException as error:
        wanted = f"accelerator {training.accelerator}, devices {training.devices}"
        raise InputError(f"training.{wanted}: {str(error).splitlines()[0]}; must exist on this machine") from error


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silences Lightning's own messages; this package prints what users need to know."""
    loggers = [logging.getLogger(name) for name in ("pytorch_lightning", "lightning.pytorch", "lightning_fabric")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=r"(pytorch_lightning|lightning_fabric|torchmetrics)\b")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
