"""Training code for all kinds of models: optimizer, learning rates, clipping, seeds and logging."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor, nn

from matese.model.config import AnyConfig, TaggerConfig
from matese.model.inputs import Inputs
from matese.model.network import Tagger
from matese.model.regressor import Regressor
from matese.model.texts.encoding import InputKind
from matese.training import freezing
from matese.training.config import TrainingConfig


def monitored(config: AnyConfig) -> str:
    """Returns the figure that chooses the best state, for regression models as in unbabel-comet; higher is better."""
    if isinstance(config, TaggerConfig):
        return "dev/macro_f1"
    return "dev/pairs" if config.architecture == "ranking" else "dev/kendall"


class Steps(NamedTuple):
    """Optimizer steps of a training, for the learning rate schedule; the encoder is frozen in the first ones."""

    total: int
    frozen: int = 0


class TrainingModule(pl.LightningModule, ABC):
    """Trains a model that has an encoder. Subclasses compute the losses and the figures of the validation.

    Attributes:
        shown: figures in the line of each validation, besides the monitored one.
        figures: figures of the last validation.
    """

    shown: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self, model: Tagger | Regressor, training: TrainingConfig, steps: Steps, dev_inputs: Sequence[InputKind]
    ) -> None:
        """Freezes the parts that are not trained.

        Args:
            model: the model to train, in place; the subclass keeps it as an attribute.
            training: resolved settings.
            steps: of the whole training.
            dev_inputs: kind of input of each dev loader.
        """
        super().__init__()
        self._training = training
        self._steps = steps
        self._dev_inputs = tuple(dev_inputs)
        # Not as modules, which would be further children.
        self._encoder: tuple[nn.Module] = (model.encoder,)
        self._mix: tuple[nn.Module | None] = (model.mix if isinstance(model, Regressor) else None,)
        self._model: Callable[[Inputs], Any] = model.__call__
        self._sums: Tensor | None = None
        self._weights: dict[str, float] = {}
        self.monitored = monitored(model.config)
        self.dev_metrics = nn.ModuleList()
        self.figures: dict[str, float] = {}
        freezing.freeze(model, training)

    def configure_optimizers(self) -> Any:  # noqa: ANN401  (Lightning's own type is not exported)
        """Returns the optimizer and its schedule; each parameter group has one learning rate and weight decay."""
        training = self._training
        depths = encoder_depths(self._encoder[0])
        if training.mix_with_encoder and self._mix[0] is not None:
            depths |= {id(parameter): 0 for parameter in self._mix[0].parameters()}  # as the highest layer
        groups: dict[tuple[int | None, bool], list[nn.Parameter]] = {}
        for parameter in self.parameters():
            if parameter.requires_grad:
                depth = depths.get(id(parameter))  # None for new layers
                if depth is not None and training.layer_decay == 1:
                    depth = 0  # one group for the whole encoder
                groups.setdefault((depth, parameter.ndim > 1), []).append(parameter)
        settings = [
            {"params": parameters, "lr": self._learning_rate(depth), "weight_decay": training.weight_decay * decays}
            for (depth, decays), parameters in groups.items()
        ]
        optimizer = torch.optim.AdamW(settings, fused=self.device.type in {"cpu", "cuda"})
        factors = [
            learning_rate_factor(training, self._steps.total, 0 if depth is None else self._steps.frozen)
            for depth, _ in groups
        ]
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, factors)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def _learning_rate(self, depth: int | None) -> float:
        """Returns the highest learning rate of a group; its depth is None for new layers."""
        training = self._training
        if depth is None:
            return training.learning_rate
        return (training.encoder_learning_rate or training.learning_rate) * training.layer_decay**depth

    def configure_gradient_clipping(self, optimizer: torch.optim.Optimizer, *_: object, **__: object) -> None:
        """Clips the gradient; Lightning itself does not do so for a fused optimizer."""
        if self._training.clip is not None:
            parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
            nn.utils.clip_grad_norm_(parameters, self._training.clip)

    def on_train_batch_start(self, batch: object, batch_idx: int) -> None:
        """Seeds dropout by the number of the batch, so that a resumed run draws the same masks."""
        place = [self._training.seed, self.current_epoch, batch_idx, self.global_rank]
        torch.manual_seed(int(np.random.SeedSequence(place).generate_state(1, np.uint64)[0]))

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:  # noqa: ANN401  (of the subclass)
        """Returns the loss of a batch, and stores its parts for the log."""
        parts = self._losses(batch, self._model(batch.inputs))
        loss = torch.stack([self._weights[name] * value for name, value in parts.items()]).sum()
        # Summed on the device: reading a number from it at every step would make the host wait.
        counts = [batch.inputs.mask.sum().float(), loss.new_ones(())]
        figures = torch.stack([*(value.detach() for value in parts.values()), *counts])
        self._sums = figures if self._sums is None else self._sums + figures
        return loss

    @abstractmethod
    def _losses(self, batch: Any, output: Any) -> dict[str, Tensor]:  # noqa: ANN401
        """Returns each loss by name, in the order of `_weights`, from the model's output for a batch."""

    def on_train_batch_end(self, outputs: object, batch: object, batch_idx: int) -> None:
        """Logs the means since the last log line, every `log_every` optimizer steps."""
        is_step = (batch_idx + 1) % self._training.accumulate == 0
        if self._sums is None or not is_step or self.global_step % self._training.log_every:
            return
        *sums, n_tokens, n_batches = self._sums.tolist()
        self._sums = None
        rates = [group["lr"] for group in self.trainer.optimizers[0].param_groups]
        figures = {
            **{f"train/{name}_loss": value / n_batches for name, value in zip(self._weights, sums, strict=True)},
            "train/tokens_a_batch": n_tokens / n_batches,
            "train/learning_rate": max(rates),
        }
        self._log(figures)

    def on_validation_epoch_end(self) -> None:
        """Logs the figures of each kind of input and their means."""
        metrics: list[Any] = list(self.dev_metrics)
        self.figures = dev_figures({kind: m.compute() for kind, m in zip(self._dev_inputs, metrics, strict=True)})
        # For early stopping. The metrics already cover all devices.
        self.log(self.monitored, self.figures.get(self.monitored, -1.0), logger=False)
        self._log(self.figures)

    def _log(self, figures: Mapping[str, float]) -> None:
        for logger in self.loggers:
            logger.log_metrics(dict(figures), step=self.global_step)
            logger.save()  # now, so that a killed run leaves its log


def encoder_depths(encoder: nn.Module) -> dict[int, int]:
    """Returns the number of layers above each parameter of an encoder, by the parameter's id.

    The embeddings are below all layers. Parameters after the layers, such as a last norm, belong to the highest layer.
    """
    depths = {id(parameter): 0 for parameter in encoder.parameters()}
    numbers = freezing.layer_numbers(encoder)
    n_layers = 1 + max(numbers.values(), default=-1)
    for name, parameter in encoder.named_parameters():
        if name in numbers or "embed" in name:
            depths[id(parameter)] = n_layers - 1 - numbers.get(name, -1)
    return depths


def dev_figures(by_inputs: Mapping[InputKind, Mapping[str, float]]) -> dict[str, float]:
    """Returns the means over the kinds of input and, if there are several, the figures of each, by name.

    >>> dev_figures({"reference": {"macro_f1": 0.25}, "source": {"macro_f1": 0.75}})["dev/macro_f1"]
    0.5
    """
    single = {f"dev/{inputs}/{name}": value for inputs, figures in by_inputs.items() for name, value in figures.items()}
    values: dict[str, list[float]] = {}
    for figures in by_inputs.values():
        for name, value in figures.items():
            values.setdefault(f"dev/{name}", []).append(value)
    means = {name: math.fsum(known) / len(known) for name, known in values.items()}
    return means if len(by_inputs) == 1 else means | single


def learning_rate_factor(training: TrainingConfig, n_steps: int, frozen_steps: int) -> Callable[[int], float]:
    """Returns a function from the number of a step to its share of the highest learning rate; 0 in frozen steps."""
    n_warmup = math.ceil(training.warmup * n_steps)

    def factor(step: int) -> float:
        if step < frozen_steps:
            return 0.0
        if step < n_warmup:
            return (step + 1) / n_warmup
        left = max(0.0, (n_steps - step) / max(1, n_steps - n_warmup))
        return left if training.schedule == "linear" else 1.0

    return factor
