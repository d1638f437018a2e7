"""The Lightning module: steps and logging, nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor, nn

from matese.encoder.encoding import Inputs
from matese.tagger.batch import IGNORED, Batch
from matese.tagger.model import Tagger, TaggerOutput
from matese.tagger.tags import TAGS
from matese.training import losses
from matese.training.config import TrainingConfig
from matese.training.labels import score_of
from matese.training.masking import Masking
from matese.training.texts import Ints
from matese.training.validation import DevBatch, DevMetrics


class TaggerModule(pl.LightningModule):
    """Trains a tagger."""

    class_weights: Tensor | None

    def __init__(
        self,
        tagger: Tagger,
        training: TrainingConfig,
        *,
        n_steps: int,
        class_weights: Sequence[float] | None = None,
        dev_inputs: Sequence[Inputs] = (),
        n_habits: int = 0,
        hidden_id: int = 0,
    ) -> None:
        """Makes the module.

        Args:
            tagger: whose weights are changed.
            training: resolved settings.
            n_steps: optimizer steps of the whole training, over which the learning rate rises and falls.
            class_weights: of each tag.
            dev_inputs: the kind of input of each dev loader.
            n_habits: kinds of raters' habits beside the usual ones.
            hidden_id: of the token that stands for those that are to be guessed.
        """
        super().__init__()
        self.tagger = tagger
        self._training, self._n_steps = training, n_steps
        weights = None if class_weights is None else torch.tensor(class_weights, dtype=torch.float32)
        self.register_buffer("class_weights", weights, persistent=False)
        self._dev_inputs = tuple(dev_inputs)
        self.dev_metrics = nn.ModuleList(DevMetrics(tagger.config.min_confidence) for _ in dev_inputs)
        self.doubt_head = nn.Linear(tagger.width, 1) if training.doubt_loss_weight else None
        self.habits = losses.Habits(n_habits) if n_habits else None
        embeddings, share = tagger.encoder.get_input_embeddings(), training.masked_share
        self.masking = Masking(embeddings, share=share, hidden_id=hidden_id) if training.masked_loss_weight else None
        self._weights = {"tag": 1.0}
        if tagger.score_head is not None:
            self._weights |= {"score": training.score_loss_weight, "ranking": training.ranking_loss_weight}
        self._weights |= {"doubt": training.doubt_loss_weight} if self.doubt_head is not None else {}
        self._weights |= {"masked": training.masked_loss_weight} if self.masking is not None else {}
        self._sums: Tensor | None = None
        self.figures: dict[str, float] = {}
        """Of the last validation."""
        if training.freeze_embeddings:
            for embedding in tagger.embeddings():
                embedding.requires_grad_(False)

    def configure_optimizers(self) -> Any:  # noqa: ANN401  (Lightning's own type is not exported)
        """Returns AdamW with four groups (encoder or new, with or without weight decay) and the schedule."""
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
        """Clips the gradient itself, since Lightning does not do so for a fused optimizer."""
        if self._training.clip is not None:
            parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
            nn.utils.clip_grad_norm_(parameters, self._training.clip)

    def on_train_batch_start(self, batch: Batch, batch_idx: int) -> None:
        """Seeds dropout by the number of the batch, so that a resumed run draws as it would have drawn."""
        place = [self._training.seed, self.current_epoch, batch_idx, self.global_rank]
        torch.manual_seed(int(np.random.SeedSequence(place).generate_state(1, np.uint64)[0]))

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        """Returns the loss of a batch."""
        hidden = None
        if self.masking is not None:
            batch, hidden = self.masking.hide(batch)
        output = self.tagger(batch)
        found = self._losses(batch, output)
        if self.masking is not None:
            found["masked"] = self.masking(output.states, hidden)
        loss = torch.stack([self._weights[name] * value for name, value in found.items()]).sum()
        # Added up on the device: reading a number from it would make the host wait at each step.
        counts = [batch.mask.sum().float(), loss.new_ones(())]
        figures = torch.stack([*(value.detach() for value in found.values()), *counts])
        self._sums = figures if self._sums is None else self._sums + figures
        return loss

    def _losses(self, batch: Batch, output: TaggerOutput) -> dict[str, Tensor]:
        """Returns each loss by name, in the order of their weights; 0 where nothing of its kind is known."""
        assert batch.tag_ids is not None
        if self.habits is not None:
            output = self.habits(output, batch.habits)
        smoothing = self._training.label_smoothing
        found = {"tag": losses.tags(output.tag_logits, batch.tag_ids, self.class_weights, smoothing)}
        if output.score is not None:
            found["score"] = losses.scores(output.score, batch.scores)
            found["ranking"] = losses.ranking(output.score, batch.scores, batch.groups)
        if self.doubt_head is not None:
            assert output.states is not None
            assert batch.doubts is not None
            found["doubt"] = losses.doubts(self.doubt_head(output.states).squeeze(-1), batch.doubts)
        return found

    def on_train_batch_end(self, outputs: object, batch: Batch, batch_idx: int) -> None:
        """Logs the means since the last line, every so many optimizer steps."""
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
        """Compares a batch with its ratings."""
        metrics = self.dev_metrics[dataloader_idx]
        assert isinstance(metrics, DevMetrics)
        metrics.update(dev, self.tagger(dev.batch), [score_of(rating) for rating in dev.ratings])

    def on_validation_epoch_end(self) -> None:
        """Logs the figures of each kind of input and their means over the kinds."""
        by_inputs = {}
        for inputs, metrics in zip(self._dev_inputs, self.dev_metrics, strict=True):
            assert isinstance(metrics, DevMetrics)
            by_inputs[inputs] = metrics.compute()
        self.figures = dev_figures(by_inputs)
        # Early stopping looks among what is logged; metrics are already those of all devices.
        self.log("dev/macro_f1", self.figures["dev/macro_f1"], logger=False)
        self._log(self.figures)

    def _log(self, figures: Mapping[str, float]) -> None:
        for logger in self.loggers:
            logger.log_metrics(dict(figures), step=self.global_step)
            logger.save()  # at once, so that a killed run leaves its log


def dev_figures(by_inputs: Mapping[Inputs, Mapping[str, float]]) -> dict[str, float]:
    """Returns the figures by name: means over the kinds of input, then those of each, if there are several.

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
    """Returns the function from the number of a step to the share of the highest learning rate it is taken with."""
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


def balanced_weights(tag_ids: Ints) -> list[float]:
    """Returns the inverse square root of each tag's frequency, scaled to a mean of 1 over the tokens.

    A tag that does not occur weighs as much as one that occurs once; what is ignored does not count.

    >>> [round(weight, 2) for weight in balanced_weights(np.array([0] * 9 + [1, 2, 3, 4, -100]))]
    [0.62, 1.86, 1.86, 1.86, 1.86]
    """
    counts = np.bincount(tag_ids[tag_ids != IGNORED], minlength=len(TAGS)).clip(min=1)
    weights = 1 / np.sqrt(counts)
    scaled: list[float] = (weights / (weights * counts).sum() * counts.sum()).tolist()
    return scaled
