"""How fast `matese train` steps, beside the same steps in a bare PyTorch loop: one run, one machine, the same batches.

python benchmarks/training_speed.py --config configs/mini-first.yaml --train data/prepared/dev.jsonl --batches 20
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback
from rich.console import Console

from matese.tagger.batch import Batch
from matese.training import config, run
from matese.training.config import Config
from matese.training.trainer import quiet

_SKIPPED = 3
"""First batches of each loop, in which memory is taken and kernels are chosen."""


class Clock(Callback):
    """Counts tokens and the time they take; ends the training after so many batches."""

    def __init__(self, n_batches: int) -> None:
        self._n_batches, self.n_tokens, self.started_at, self.seconds = n_batches, 0, 0.0, 0.0

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: object, batch: Batch, batch_idx: int
    ) -> None:
        """Starts the clock after the skipped batches and stops it after the last."""
        if batch_idx + 1 > _SKIPPED:
            self.n_tokens += int(batch.mask.sum())
        if batch_idx + 1 == _SKIPPED:
            self.started_at = time.perf_counter()
        if batch_idx + 1 == self._n_batches:
            self.seconds = time.perf_counter() - self.started_at


def main() -> None:
    """Prints tokens a second of both and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", required=True)
    parser.add_argument("--train", required=True, help="Ratings, JSONL")
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=2, help="times that both are measured, in turn")
    parser.add_argument("--threads", type=int)
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    speeds: dict[str, list[float]] = {"bare loop": [], "matese train": []}
    with tempfile.TemporaryDirectory() as directory, quiet():
        # Validation is left out by a dev set of one segment.
        dev = Path(directory) / "dev.jsonl"
        with open(arguments.train, encoding="utf-8") as file:
            dev.write_text(next(file), encoding="utf-8")
        files = {"data.train": [arguments.train], "data.shares": [], "data.dev": [str(dev)], "output": directory}
        overrides = [(key, json.dumps(value)) for key, value in files.items()]
        overrides += [("training.max_steps", str(arguments.batches)), ("training.accumulate", "1")]
        chosen = config.resolved(config.load(arguments.config, overrides=overrides))
        for _ in range(arguments.rounds):
            speeds["bare loop"].append(_bare(chosen, arguments.batches))
            speeds["matese train"].append(_trained(chosen, arguments.batches))
    for name, numbers in speeds.items():
        print(f"{name}: {' '.join(f'{number:,.0f}' for number in numbers)} tokens/s")
    print(f"ratio of the best: {max(speeds['matese train']) / max(speeds['bare loop']):.3f}")


def _trained(chosen: Config, n_batches: int) -> float:
    ready = run._make_ready(run._gather(chosen, Console(quiet=True)), Console(quiet=True))
    clock = Clock(n_batches)
    trainer: Any = ready.trainer  # its list of callbacks has no type
    trainer.callbacks.insert(0, clock)
    trainer.fit(ready.module, ready.loader, ready.dev_loaders)
    return clock.n_tokens / clock.seconds


def _bare(chosen: Config, n_batches: int) -> float:
    ready = run._make_ready(run._gather(chosen, Console(quiet=True)), Console(quiet=True))
    module, training = ready.module, chosen.training
    device = ready.trainer.strategy.root_device
    module.to(device).train()
    optimizer = module.configure_optimizers()["optimizer"]
    started_at, n_tokens = 0.0, 0
    for number, batch in zip(range(n_batches), ready.loader, strict=False):
        moved = batch.to(device)
        with torch.autocast(device.type, torch.bfloat16, enabled=training.precision == "bf16"):
            loss = module.training_step(moved, number)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(module.tagger.parameters(), training.clip or float("inf"))
        optimizer.step()
        optimizer.zero_grad()
        n_tokens += int(batch.mask.sum()) if number >= _SKIPPED else 0
        if number + 1 == _SKIPPED:
            started_at = time.perf_counter()
    return n_tokens / (time.perf_counter() - started_at)


if __name__ == "__main__":
    main()
