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
from matese.training.optimisation import Steps, TrainingModule
from matese.training.rater_bias import RaterBias
from matese.training.targets import IGNORED, Batch
from matese.training.validation import DevBatch, DevMetrics


class TaggerModule(TrainingModule):
    """Trains a tagger."""

    shown: ClassVar[tuple[str, ...]] = ("dev/hsh", "dev/tsh", "dev/pearson")

    def __init__(
        self,
        tagger: Tagger,
        training: TrainingConfig,
        steps: Steps,
        dev_inputs: Sequence[InputKind] = (),
        *,
        n_rater_groups: int = 0,
    ) -> None:
        """Adds the biases of rater groups; see `TrainingModule` for the other arguments."""
        super().__init__(tagger, training, steps, dev_inputs)
        self.tagger = tagger
        self.dev_metrics = nn.ModuleList(DevMetrics(tagger.config) for _ in dev_inputs)
        self.rater_bias = RaterBias(n_rater_groups) if n_rater_groups else None
        self._weights = {"tag": 1.0}
        if tagger.score_head is not None:
            self._weights |= {"score": training.score_loss_weight, "ranking": training.ranking_loss_weight}
        if tagger.omission_head is not None:
            self._weights["omission"] = 1.0
        if tagger.category_head is not None:
            self._weights["category"] = 1.0

    def _losses(self, batch: Batch, output: TaggerOutput) -> dict[str, Tensor]:
        targets = batch.targets
        if self.rater_bias is not None:
            output = self.rater_bias(output, targets.rater_groups)
        parts = {"tag": losses.tags(output.tag_logits, targets.tag_ids)}
        if output.score is not None:
            parts["score"] = losses.scores(output.score, targets.scores, unit=losses.SCORE_UNIT)
            parts["ranking"] = losses.ranking(output.score, targets.scores, targets.groups)
        if output.omission_logits is not None:
            gold = torch.full_like(batch.inputs.ids, IGNORED) if targets.omissions is None else targets.omissions
            parts["omission"] = losses.omissions(output.omission_logits, gold)
        if output.category_logits is not None:
            assert targets.category_ids is not None
            weights = torch.tensor(self._training.category_weights, device=self.device)
            parts["category"] = losses.categories(
                output.category_logits, targets.category_ids, weights if len(weights) else None
            )
        return parts

    def validation_step(self, batch: DevBatch, batch_idx: int, dataloader_idx: int = 0) -> None:
        """Adds a batch to the dev metrics."""
        metrics = self.dev_metrics[dataloader_idx]
        assert isinstance(metrics, DevMetrics)
        metrics.update(batch, self.tagger(batch.batch.inputs))
