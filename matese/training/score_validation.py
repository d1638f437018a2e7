"""Validation of a model that scores: correlations with the gold scores, ranked pairs, and F1 of severity labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from scipy import stats
from torch import Tensor

from matese.evaluation.spans import unit_tags
from matese.evaluation.statistics import bootstrap
from matese.model.heads import losses
from matese.model.heads.learning import IGNORED, vectors_of
from matese.model.heads.quality.network import RowVectors
from matese.model.heads.word_labels.network import LabelLogits
from matese.model.network import Network
from matese.model.texts.encoding import InputKind
from matese.training import batching
from matese.training.corpus import Corpus, Draw
from matese.training.dev_metrics import DevMetrics

SHOWN = ("dev/pearson", "dev/kendall", "dev/macro_f1")


class _Scored(NamedTuple):
    """What is measured of a batch: the scores and groups of its segments, and the labels of its rows' tokens."""

    rows: Tensor
    labels: tuple[list[int], list[int]]


class ScoreMetrics(DevMetrics):
    """Computes correlations with the scores, ranked pairs, and F1 of the labels."""

    def __init__(self, corpus: Corpus, inputs: InputKind, pair_gap: float) -> None:
        """Starts without figures; the gold scores of a pair differ by more than the gap."""
        super().__init__(corpus, inputs)
        self._pair_gap = pair_gap

    def measure(self, network: Network, draws: Sequence[Draw]) -> Iterator[_Scored]:
        """Yields the scores and the labels of the batch."""
        inputs, targets = batching.make_batch(self.corpus, draws)
        assert targets.shares is not None
        device = next(network.parameters()).device
        output = network(inputs.to(device))
        predicted = network.score(vectors_of(output[RowVectors].values, targets.shares.to(device)))
        labels: tuple[list[int], list[int]] = ([], [])
        if (said := output.get(LabelLogits)) is not None:
            gold = targets.labels["tag_ids"]
            is_known = gold != IGNORED
            labels = gold[is_known].tolist(), said.logits.argmax(-1).cpu()[is_known].tolist()
        yield _Scored(torch.stack([predicted.cpu(), targets.labels["scores"], targets.groups.float()], 1), labels)

    def figures(self, segments: Sequence[_Scored]) -> Mapping[str, float]:
        """Returns the figures by name.

        `pairs` is the daRR variant of Kendall's tau (Ma et al. 2019): the share of concordant pairs minus the share of
        discordant and tied pairs, among pairs of translations of one source whose scores differ enough.
        """
        rows = torch.cat([batch.rows for batch in segments]).double()
        predicted, gold, groups = rows[rows[:, 1].isfinite()].T
        figures: dict[str, float] = {}
        if len(gold) > 1 and len(set(gold.tolist())) > 1 and len(set(predicted.tolist())) > 1:
            figures["pearson"] = float(stats.pearsonr(predicted, gold).statistic)
            figures["kendall"] = float(stats.kendalltau(predicted, gold).statistic)
        if (pairs := pair_agreement(predicted, gold, groups, gap=self._pair_gap)) is not None:
            figures["pairs"] = pairs
        if (labels := self.corpus.config.heads.word_labels) is not None:
            names = ("none", *(severity.value for severity in labels.severities))
            of_tags = unit_tags.tag_statistic([batch.labels for batch in segments], names)
            figures["macro_f1"] = float(of_tags.figures(bootstrap.whole_sample(len(segments)))["tags.macro.f1"][0])
        return figures


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
