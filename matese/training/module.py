"""The Lightning module of taggers: training and validation steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn

from matese.encoder.encoding import Inputs
from matese.tagger.batch import IGNORED, Batch
from matese.tagger.model import Tagger, TaggerOutput
from matese.training import losses
from matese.training.config import TrainingConfig
from matese.training.labels import score_of
from matese.training.optimisation import TrainingModule
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
        dev_inputs: Sequence[Inputs] = (),
        n_rater_groups: int = 0,
    ) -> None:
        """Adds to the tagger what only training needs.

        Args:
            tagger: the model to train, in place.
            training: resolved settings.
            n_steps: optimizer steps of the whole training, for the learning rate schedule.
            n_frozen_steps: first steps, in which the encoder is frozen.
            dev_inputs: the kind of input of each dev loader.
            n_rater_groups: number of groups of raters with a bias.
        """
        frozen = {"n_steps": n_steps, "n_frozen_steps": n_frozen_steps}
        super().__init__(tagger, training, **frozen, dev_inputs=dev_inputs)
        self.tagger = tagger
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
        if tagger.category_head is not None:
            self._weights["category"] = training.category_loss_weight

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        """Returns the loss of a batch."""
        found = self._losses(batch, self.tagger(batch))
        return self.weighted_sum(found, batch.mask.sum())

    def _losses(self, batch: Batch, output: TaggerOutput) -> dict[str, Tensor]:
        """Returns each loss by name, in the order of `_weights`."""
        assert batch.tag_ids is not None
        if self.rater_bias is not None:
            output = self.rater_bias(output, batch.rater_groups)
        found = {"tag": losses.tags(output.tag_logits, batch.tag_ids, batch.soft)}
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
        if output.category_logits is not None:
            assert batch.category_ids is not None
            found["category"] = losses.categories(output.category_logits, batch.category_ids, self._category_weights())
        return found

    def _category_weights(self) -> Tensor | None:
        weights = self._training.category_weights
        return torch.tensor(weights, device=self.device) if weights else None

    def validation_step(self, dev: DevBatch, batch_idx: int, dataloader_idx: int = 0) -> None:
        """Adds a batch to the dev metrics."""
        metrics = self.dev_metrics[dataloader_idx]
        assert isinstance(metrics, DevMetrics)
        metrics.update(dev, self.tagger(dev.batch), [score_of(rating) for rating in dev.ratings])
