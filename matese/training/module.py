"""The Lightning module of taggers: training and validation steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn

from matese.encoder.encoding import InputKind
from matese.tagger.model import Tagger, TaggerOutput
from matese.training import losses
from matese.training.config import TrainingConfig
from matese.training.labels import score_of
from matese.training.optimisation import TrainingModule
from matese.training.targets import IGNORED, Batch
from matese.training.validation import DevBatch, DevMetrics


class TaggerModule(TrainingModule):
    """Trains a tagger."""

    monitored = "dev/macro_f1"
    shown: ClassVar[tuple[str, ...]] = ("dev/hsh", "dev/tsh", "dev/pearson")

    def __init__(
        self,
        tagger: Tagger,
        training: TrainingConfig,
        *,
        n_steps: int,
        n_frozen_steps: int = 0,
        dev_inputs: Sequence[InputKind] = (),
        n_rater_groups: int = 0,
    ) -> None:
        """Adds the parts to the tagger that only training needs.

        Args:
            tagger: the model to train, in place.
            training: resolved settings.
            n_steps: optimizer steps of the whole training, for the learning rate schedule.
            n_frozen_steps: first steps, in which the encoder is frozen.
            dev_inputs: kind of input of each dev loader.
            n_rater_groups: number of rater groups with a bias.
        """
        frozen = {"n_steps": n_steps, "n_frozen_steps": n_frozen_steps}
        super().__init__(tagger, training, **frozen, dev_inputs=dev_inputs)
        self.tagger = tagger
        self.dev_metrics = nn.ModuleList(DevMetrics(tagger.config.min_confidence) for _ in dev_inputs)
        self.rater_bias = losses.RaterBias(n_rater_groups) if n_rater_groups else None
        self._weights = {"tag": 1.0}
        if training.tag_score_loss_weight:
            self._weights |= dict.fromkeys(("tag_score", "tag_ranking"), training.tag_score_loss_weight)
        if tagger.score_head is not None:
            self._weights |= {"score": training.score_loss_weight, "ranking": training.ranking_loss_weight}
        if tagger.omission_head is not None:
            self._weights["omission"] = training.omission_loss_weight
        if tagger.category_head is not None:
            self._weights["category"] = training.category_loss_weight

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        """Returns the loss of a batch."""
        parts = self._losses(batch, self.tagger(batch.inputs))
        return self.weighted_sum(parts, batch.inputs.mask.sum())

    def _losses(self, batch: Batch, output: TaggerOutput) -> dict[str, Tensor]:
        """Returns each loss by name, in the order of `_weights`."""
        inputs, targets = batch.inputs, batch.targets
        if self.rater_bias is not None:
            output = self.rater_bias(output, targets.rater_groups)
        parts = {"tag": losses.tags(output.tag_logits, targets.tag_ids)}
        if self._training.tag_score_loss_weight:
            by_tags = losses.tag_scores(output.tag_logits, inputs.hypothesis_mask)
            by_tags = by_tags if self.rater_bias is None else self.rater_bias.adjust(by_tags, targets.rater_groups)
            parts["tag_score"] = losses.scores(by_tags, targets.scores)
            parts["tag_ranking"] = losses.ranking(by_tags, targets.scores, targets.groups)
        if output.score is not None:
            parts["score"] = losses.scores(output.score, targets.scores)
            parts["ranking"] = losses.ranking(output.score, targets.scores, targets.groups)
        if output.omission_logits is not None:
            gold = torch.full_like(inputs.ids, IGNORED) if targets.omissions is None else targets.omissions
            parts["omission"] = losses.omissions(output.omission_logits, gold)
        if output.category_logits is not None:
            assert targets.category_ids is not None
            parts["category"] = losses.categories(
                output.category_logits, targets.category_ids, self._category_weights()
            )
        return parts

    def _category_weights(self) -> Tensor | None:
        weights = self._training.category_weights
        return torch.tensor(weights, device=self.device) if weights else None

    def validation_step(self, dev: DevBatch, batch_idx: int, dataloader_idx: int = 0) -> None:
        """Adds a batch to the dev metrics."""
        metrics = self.dev_metrics[dataloader_idx]
        assert isinstance(metrics, DevMetrics)
        metrics.update(dev, self.tagger(dev.batch.inputs), [score_of(rating) for rating in dev.ratings])
