"""The Lightning module of taggers: training and validation steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from torch import Tensor, nn

from matese.model.heads import registry
from matese.model.heads.learning import LossInputs
from matese.model.network import Tagger
from matese.model.network_output import NetworkOutput
from matese.model.texts.encoding import InputKind
from matese.training.config import TrainingConfig
from matese.training.optimisation import Steps, TrainingModule
from matese.training.rater_bias import RaterBias
from matese.training.targets import Batch
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
        self._heads = registry.targets(tagger.config)
        for head in self._heads:
            self._weights |= head.weights(training)

    def _losses(self, batch: Batch, output: NetworkOutput) -> dict[str, Tensor]:
        targets = batch.targets
        if self.rater_bias is not None:
            output = self.rater_bias(output, targets.rater_groups)
        parts: dict[str, Tensor] = {}
        read = LossInputs(batch.inputs, targets.groups, self._training)
        for head in self._heads:
            parts |= head.losses(output.of_heads[head.name], targets.labels, read)
        return parts

    def validation_step(self, batch: DevBatch, batch_idx: int, dataloader_idx: int = 0) -> None:
        """Adds a batch to the dev metrics."""
        metrics = self.dev_metrics[dataloader_idx]
        assert isinstance(metrics, DevMetrics)
        metrics.update(batch, self.tagger(batch.batch.inputs))
