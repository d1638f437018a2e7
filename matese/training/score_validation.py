"""Validation of a model that scores: correlations with the gold scores, ranked pairs, and F1 of severity labels."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import torch
from scipy import stats
from torch import Tensor
from torchmetrics import CatMetric
from torchmetrics.classification import MulticlassF1Score

from matese.model.config import ModelConfig
from matese.model.heads import losses
from matese.model.heads.learning import IGNORED, vectors_of
from matese.model.heads.row_vectors import RowVectors
from matese.model.heads.word_labels.network import LabelLogits
from matese.model.network_output import NetworkOutput
from matese.training.dev_metrics import DevMetrics
from matese.training.targets import Batch

SHOWN = ("dev/pearson", "dev/kendall", "dev/macro_f1")


class ScoreMetrics(DevMetrics):
    """Computes the figures of one kind of input: correlations with the scores, ranked pairs, and F1 of the labels."""

    def __init__(self, config: ModelConfig, score: Callable[[Tensor], Tensor], pair_gap: float) -> None:
        """Starts without figures.

        Args:
            config: settings of the model.
            score: see `network.Network.score`.
            pair_gap: the gold scores of a pair differ by more than this.
        """
        super().__init__()
        self._score = score
        self._pair_gap = pair_gap
        self.rows = CatMetric(nan_strategy="error")
        f1 = functools.partial(MulticlassF1Score, average="macro", ignore_index=IGNORED, validate_args=False)
        labels = config.heads.word_labels
        self.labels = None if labels is None else f1(1 + len(labels.severities))

    def update(self, batch: Batch, output: NetworkOutput) -> None:
        """Adds a batch and the network's output for it."""
        targets = batch.targets
        predicted = self._score(vectors_of(output[RowVectors].values, targets.shares))
        rows = torch.stack([predicted, targets["scores"], targets.groups.float()], 1)
        self.rows.update(rows.masked_fill(rows.isnan(), torch.inf))
        if self.labels is not None:
            self.labels.update(output[LabelLogits].logits.argmax(-1).flatten(), targets["tag_ids"].flatten())

    def compute(self) -> dict[str, float]:
        """Returns the figures by name, without undefined ones, and resets them.

        `pairs` is the daRR variant of Kendall's tau (Ma et al. 2019): the share of concordant pairs minus the share of
        discordant and tied pairs, among pairs of translations of one source whose scores differ enough.
        """
        rows = self.rows.compute().cpu().double()
        predicted, gold, groups = rows[rows[:, 1].isfinite()].T
        figures: dict[str, float] = {}
        if len(gold) > 1 and len(set(gold.tolist())) > 1 and len(set(predicted.tolist())) > 1:
            figures["pearson"] = float(stats.pearsonr(predicted, gold).statistic)
            figures["kendall"] = float(stats.kendalltau(predicted, gold).statistic)
        if (pairs := pair_agreement(predicted, gold, groups, gap=self._pair_gap)) is not None:
            figures["pairs"] = pairs
        if self.labels is not None:
            figures["macro_f1"] = float(self.labels.compute())
            self.labels.reset()
        self.rows.reset()
        return {name: value for name, value in figures.items() if not np.isnan(value)}


def pair_agreement(predicted: Tensor, gold: Tensor, groups: Tensor, *, gap: float) -> float | None:
    """Returns the share of concordant pairs minus the share of discordant and tied pairs; None without pairs.

    All are (segments,). Translations of one source have the same group; the gold scores of a pair differ by more than
    the gap.

    >>> groups = torch.tensor([1, 1, 1])
    >>> pair_agreement(torch.tensor([0.1, 0.3, 0.3]), torch.tensor([0.1, 0.5, 0.9]), groups, gap=0.25)
    0.3333333333333333
    """
    concordant = n_pairs = 0
    order = groups.argsort()
    counts = np.unique(groups.numpy(), return_counts=True)[1]
    for members in torch.split(order, counts.tolist()):
        is_better = losses.better_pairs(gold[members], groups[members], gap=gap)
        n_pairs += int(is_better.sum())
        concordant += int((is_better & (predicted[members].unsqueeze(1) > predicted[members].unsqueeze(0))).sum())
    return None if n_pairs == 0 else (2 * concordant - n_pairs) / n_pairs
