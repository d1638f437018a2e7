"""The Lightning module: training and validation steps, optimizer and logging."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor, nn

from matese.encoder.encoder import embedding_modules
from matese.encoder.encoding import Inputs
from matese.errors import InputError, one_of
from matese.tagger.batch import IGNORED, Batch
from matese.tagger.model import Tagger, TaggerOutput
from matese.training import losses
from matese.training.config import TrainingConfig
from matese.training.labels import score_of
from matese.training.validation import DevBatch, DevMetrics


class TaggerModule(pl.LightningModule):
    """Trains a tagger."""

    def __init__(
        self,
        tagger: Tagger,
        training: TrainingConfig,
        *,
        n_steps: int,
        dev_inputs: Sequence[Inputs] = (),
        n_rater_groups: int = 0,
    ) -> None:
        """Adds to the tagger what only training needs.

        Args:
            tagger: the model to train, in place.
            training: resolved settings.
            n_steps: optimizer steps of the whole training, for the learning rate schedule.
            dev_inputs: the kind of input of each dev loader.
            n_rater_groups: number of groups of raters with a bias.
        """
        super().__init__()
        self.tagger = tagger
        self._training, self._n_steps = training, n_steps
        self._dev_inputs = tuple(dev_inputs)
        self.dev_metrics = nn.ModuleList(DevMetrics(tagger.config.min_confidence) for _ in dev_inputs)
        self.disagreement_head = nn.Linear(tagger.width, 1) if training.disagreement_loss_weight else None
        self.rater_bias = losses.RaterBias(n_rater_groups) if n_rater_groups else None
        self._weights = {"tag": 1.0}
        if training.tag_score_loss_weight:
            self._weights |= dict.fromkeys(("tag_score", "tag_ranking"), training.tag_score_loss_weight)
        if tagger.score_head is not None:
            self._weights |= {"score": training.score_loss_weight, "ranking": training.ranking_loss_weight}
        if self.disagreement_head is not None:
            self._weights["disagreement"] = training.disagreement_loss_weight
        if tagger.omission_head is not None:
            self._weights["omission"] = training.omission_loss_weight
        self._sums: Tensor | None = None
        self.figures: dict[str, float] = {}
        """Figures of the last validation."""
        if training.trained_parts:
            freeze_others(tagger, training.trained_parts)
        if training.freeze_embeddings:
            for embedding in embedding_modules(tagger.encoder):
                embedding.requires_grad_(False)

    def configure_optimizers(self) -> Any:  # noqa: ANN401  (Lightning's own type is not exported)
        """Returns AdamW and its schedule; groups are encoder or new layers, with or without weight decay."""
        training = self._training
        groups: dict[tuple[bool, bool], list[nn.Parameter]] = {}
        for name, parameter in self.named_parameters():
            if parameter.requires_grad:
                groups.setdefault((name.startswith("tagger.encoder."), parameter.ndim > 1), []).append(parameter)
        settings = [
            {
                "params": parameters,
                "lr": training.encoder_learning_rate if is_encoder else training.learning_rate,
                "weight_decay": training.weight_decay if decays else 0.0,
            }
            for (is_encoder, decays), parameters in groups.items()
        ]
        optimizer = torch.optim.AdamW(settings, fused=self.device.type in {"cpu", "cuda"})
        frozen = [training.frozen_steps if is_encoder else 0 for is_encoder, _ in groups]
        factors = [learning_rate_factor(training, self._n_steps, frozen_steps) for frozen_steps in frozen]
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, factors)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def configure_gradient_clipping(self, optimizer: torch.optim.Optimizer, *_: object, **__: object) -> None:
        """Clips the gradient; Lightning itself does not do so for a fused optimizer."""
        if self._training.clip is not None:
            parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
            nn.utils.clip_grad_norm_(parameters, self._training.clip)

    def on_train_batch_start(self, batch: Batch, batch_idx: int) -> None:
        """Seeds dropout by the number of the batch, so that a resumed run draws the same masks."""
        place = [self._training.seed, self.current_epoch, batch_idx, self.global_rank]
        torch.manual_seed(int(np.random.SeedSequence(place).generate_state(1, np.uint64)[0]))

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        """Returns the loss of a batch."""
        found = self._losses(batch, self.tagger(batch))
        loss = torch.stack([self._weights[name] * value for name, value in found.items()]).sum()
        # Summed on the device: reading a number from it at each step would make the host wait.
        counts = [batch.mask.sum().float(), loss.new_ones(())]
        figures = torch.stack([*(value.detach() for value in found.values()), *counts])
        self._sums = figures if self._sums is None else self._sums + figures
        return loss

    def _losses(self, batch: Batch, output: TaggerOutput) -> dict[str, Tensor]:
        """Returns each loss by name, in the order of `_weights`."""
        assert batch.tag_ids is not None
        if self.rater_bias is not None:
            output = self.rater_bias(output, batch.rater_groups)
        found = {"tag": losses.tags(output.tag_logits, batch.tag_ids)}
        if self._training.tag_score_loss_weight:
            by_tags = losses.tag_scores(output.tag_logits, batch.hypothesis_mask)
            by_tags = by_tags if self.rater_bias is None else self.rater_bias.adjust(by_tags, batch.rater_groups)
            found["tag_score"] = losses.scores(by_tags, batch.scores)
            found["tag_ranking"] = losses.ranking(by_tags, batch.scores, batch.groups)
        if output.score is not None:
            found["score"] = losses.scores(output.score, batch.scores)
            found["ranking"] = losses.ranking(output.score, batch.scores, batch.groups)
        if self.disagreement_head is not None:
            assert output.states is not None
            assert batch.disagreement is not None
            logits = self.disagreement_head(output.states).squeeze(-1)
            found["disagreement"] = losses.disagreement(logits, batch.disagreement)
        if output.omission_logits is not None:
            gold = torch.full_like(batch.ids, IGNORED) if batch.omissions is None else batch.omissions
            found["omission"] = losses.omissions(output.omission_logits, gold)
        return found

    def on_train_batch_end(self, outputs: object, batch: Batch, batch_idx: int) -> None:
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

    def validation_step(self, dev: DevBatch, batch_idx: int, dataloader_idx: int = 0) -> None:
        """Adds a batch to the dev metrics."""
        metrics = self.dev_metrics[dataloader_idx]
        assert isinstance(metrics, DevMetrics)
        metrics.update(dev, self.tagger(dev.batch), [score_of(rating) for rating in dev.ratings])

    def on_validation_epoch_end(self) -> None:
        """Logs the figures of each kind of input and their means."""
        by_inputs = {}
        for inputs, metrics in zip(self._dev_inputs, self.dev_metrics, strict=True):
            assert isinstance(metrics, DevMetrics)
            by_inputs[inputs] = metrics.compute()
        self.figures = dev_figures(by_inputs)
        # For early stopping. The metrics are already those of all devices.
        self.log("dev/macro_f1", self.figures["dev/macro_f1"], logger=False)
        self._log(self.figures)

    def _log(self, figures: Mapping[str, float]) -> None:
        for logger in self.loggers:
            logger.log_metrics(dict(figures), step=self.global_step)
            logger.save()  # now, so that a killed run leaves its log


def freeze_others(tagger: Tagger, trained: Collection[str]) -> None:
    """Excludes all parts of a tagger but some from training.

    Raises:
        InputError: if it has no part with one of the names.
    """
    parts = dict(tagger.named_children())
    for name in trained:
        if name not in parts:
            raise InputError(f"training.trained_parts {name}: must be {one_of(list(parts))}")
    for name, part in parts.items():
        part.requires_grad_(name in trained)


def dev_figures(by_inputs: Mapping[Inputs, Mapping[str, float]]) -> dict[str, float]:
    """Returns the means over the kinds of input and, if there are several, the figures of each, by name.

    >>> dev_figures({"reference": {"macro_f1": 0.25}, "source": {"macro_f1": 0.75}})["dev/macro_f1"]
    0.5
    """
    names = dict.fromkeys(name for figures in by_inputs.values() for name in figures)
    means = {}
    for name in names:
        values = [figures[name] for figures in by_inputs.values() if name in figures]
        means[f"dev/{name}"] = math.fsum(values) / len(values)
    if len(by_inputs) == 1:
        return means
    single = {f"dev/{inputs}/{name}": value for inputs, figures in by_inputs.items() for name, value in figures.items()}
    return means | single


def learning_rate_factor(training: TrainingConfig, n_steps: int, frozen_steps: int) -> Callable[[int], float]:
    """Returns the function from the number of a step to its share of the highest learning rate.

    Args:
        training: names the schedule and its warm-up.
        n_steps: optimizer steps of the whole training.
        frozen_steps: first steps, whose learning rate is 0.
    """
    n_warmup = math.ceil(training.warmup * n_steps)

    def factor(step: int) -> float:
        if step < frozen_steps:
            return 0.0
        if step < n_warmup:
            return (step + 1) / n_warmup
        left = max(0.0, (n_steps - step) / max(1, n_steps - n_warmup))
        if training.schedule == "cosine":
            return 0.5 - 0.5 * math.cos(math.pi * left)
        return left if training.schedule == "linear" else 1.0

    return factor
