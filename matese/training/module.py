"""The Lightning module: training and validation steps, optimizer, clipping, seeds and logging."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor, nn

from matese.model.heads import registry
from matese.model.heads.learning import IGNORED, LossInputs
from matese.model.heads.networks import NetworkOutput
from matese.model.heads.tags.network import TagLogits
from matese.model.network import Network
from matese.training import span_validation, validation
from matese.training.config import TrainingConfig
from matese.training.corpus import Draw
from matese.training.dev_metrics import DevMetrics
from matese.training.optimisation import Steps, dev_figures, encoder_depths, freeze, learning_rate_factor
from matese.training.rater_bias import RaterBias
from matese.training.targets import Batch


class TrainingModule(pl.LightningModule):
    """Trains a network. What it learns is a matter of its heads, and what is measured a matter of `validation`.

    Attributes:
        monitored: figure of the validation that chooses the best state.
        shown: figures in the line of each validation, besides that one.
        figures: figures of the last validation.
    """

    def __init__(
        self,
        network: Network,
        training: TrainingConfig,
        steps: Steps,
        dev_metrics: Sequence[DevMetrics] = (),
        *,
        n_rater_groups: int = 0,
        kept: Collection[str] = (),
    ) -> None:
        """Freezes the parts that are not trained.

        Args:
            network: the network to train, in place.
            training: resolved settings.
            steps: of the whole training.
            dev_metrics: of each dev loader.
            n_rater_groups: groups of raters whose bias is learned beside the network.
            kept: names of heads that learn nothing and stay as they are.
        """
        super().__init__()
        self.network = network
        self.rater_bias = RaterBias(n_rater_groups) if n_rater_groups else None
        self.train_tags = None if network.config.heads.tags is None else span_validation.tag_metrics("train/")
        self.monitored = validation.monitored(network.config)
        self.shown = validation.shown(network.config)
        self.figures: dict[str, float] = {}
        self._training = training
        self._steps = steps
        self._dev_metrics = dev_metrics
        self._sums: Tensor | None = None
        # Counted when figures are logged: the metrics read values from the device.
        self._tags: list[Tensor] = []
        self._logged: Tensor | None = None
        self._heads = [head for head in registry.targets(network.config) if head.name not in kept]
        self._weights = {name: weight for head in self._heads for name, weight in head.weights(training).items()}
        freeze(network, training, tuple(kept))

    def configure_optimizers(self) -> Any:  # noqa: ANN401  (Lightning's own type is not exported)
        """Returns the optimizer and its schedule; each parameter group has one learning rate and weight decay."""
        training = self._training
        depths = encoder_depths(self.network.encoder)
        if training.mix_with_encoder and self.network.mix is not None:
            depths |= {id(parameter): 0 for parameter in self.network.mix.parameters()}  # as the highest layer
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
            detached = {id(tensor) for head in self.network.heads if head.is_detached for tensor in head.parameters()}
            parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
            # A long gradient of a head that must change nothing else must not shorten that of the others.
            for is_detached in (False, True):
                clipped = [parameter for parameter in parameters if (id(parameter) in detached) is is_detached]
                nn.utils.clip_grad_norm_(clipped, self._training.clip)

    def on_train_batch_start(self, batch: object, batch_idx: int) -> None:
        """Seeds dropout by the number of the batch, so that a resumed run draws the same masks."""
        place = [self._training.seed, self.current_epoch, batch_idx, self.global_rank]
        torch.manual_seed(int(np.random.SeedSequence(place).generate_state(1, np.uint64)[0]))

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        """Returns the loss of a batch, and stores its parts for the log."""
        output = self.network(batch.inputs)
        parts = self.losses(batch, output)
        if self.train_tags is not None:
            tags = torch.stack([output[TagLogits].logits.argmax(-1), batch.targets.labels["tag_ids"]]).flatten(1)
            self._tags.append(tags.to(torch.int8))
        loss = torch.stack([self._weights[name] * value for name, value in parts.items()]).sum()
        # Summed on the device: reading a number from it at every step would make the host wait.
        counts = [batch.inputs.mask.sum().float(), loss.new_ones(())]
        figures = torch.stack([*(value.detach() for value in parts.values()), *counts])
        self._sums = figures if self._sums is None else self._sums + figures
        return loss

    def losses(self, batch: Batch, output: NetworkOutput) -> dict[str, Tensor]:
        """Returns each loss by name, from the network's output for a batch."""
        targets = batch.targets
        if self.rater_bias is not None:
            output = self.rater_bias(output, targets.rater_groups)
        read = LossInputs(batch.inputs, targets.groups, self._training, targets.shares, self.network.score)
        parts: dict[str, Tensor] = {}
        for head in self._heads:
            parts |= head.losses(output[head.output], targets.labels, read)
        return parts

    def on_train_batch_end(self, outputs: object, batch: object, batch_idx: int) -> None:
        """Logs the means since the last log line, every `log_every` optimizer steps."""
        is_step = (batch_idx + 1) % self._training.accumulate == 0
        if self._sums is None or not is_step or self.global_step % self._training.log_every:
            return
        *sums, n_tokens, n_batches = self._sums.tolist()
        self._logged = self._sums
        self._sums = None
        rates = [group["lr"] for group in self.trainer.optimizers[0].param_groups]
        figures = {
            **{f"train/{name}_loss": value / n_batches for name, value in zip(self._weights, sums, strict=True)},
            "train/tokens_a_batch": n_tokens / n_batches,
            "train/learning_rate": max(rates),
        }
        if self.train_tags is not None:
            predicted, gold = torch.cat(self._tags, 1).long()
            self._tags = []
            macro = self.train_tags(predicted, gold.masked_fill(gold < 0, IGNORED))
            figures |= {name: float(value) for name, value in macro.items()}
            self.train_tags.reset()
        self._log(figures)

    def recent(self) -> tuple[float, float]:
        """Returns the mean loss and the mean tokens of the batches since the last log line, or else up to it."""
        sums = self._logged if self._sums is None else self._sums
        assert sums is not None  # there has been a batch
        *parts, n_tokens, n_batches = sums.tolist()
        loss = sum(weight * value for weight, value in zip(self._weights.values(), parts, strict=True))
        return loss / n_batches, n_tokens / n_batches

    def validation_step(self, batch: list[Draw], batch_idx: int, dataloader_idx: int = 0) -> None:
        """Adds a batch to the dev metrics."""
        self._dev_metrics[dataloader_idx].update(self.network, batch)

    def on_validation_epoch_end(self) -> None:
        """Logs the figures of each kind of input and their means."""
        self.figures = dev_figures({metrics.inputs: metrics.compute() for metrics in self._dev_metrics})
        # For early stopping. They already cover all devices.
        self.log(self.monitored, self.figures.get(self.monitored, -1.0), logger=False)
        self._log(self.figures)

    def _log(self, figures: Mapping[str, float]) -> None:
        for logger in self.loggers:
            logger.log_metrics(dict(figures), step=self.global_step)
            logger.save()  # now, so that a killed run leaves its log
