"""The training of regression models: batches, and the Lightning module with training and validation steps."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from scipy import stats
from torch import Tensor, nn
from torchmetrics import CatMetric
from torchmetrics.classification import MulticlassF1Score

from matese.model.config import RegressionConfig
from matese.model.heads import losses, registry
from matese.model.heads.learning import IGNORED, Ints, LossInputs, labels_of_windows
from matese.model.inputs import Inputs, Tensors, collate, padded
from matese.model.network_output import NetworkOutput
from matese.model.regressor import Regressor
from matese.model.texts.encoding import Encoding, InputKind, IntArray, with_special_tokens
from matese.training.config import TrainingConfig
from matese.training.corpus import Corpus, Draw
from matese.training.optimisation import Steps, TrainingModule


@dataclass(frozen=True, slots=True)
class RegressionBatch(Tensors):
    """Segments as tensors.

    Attributes:
        inputs: one row for each text, or for all texts of a segment for a unified model; a long one has several rows.
        tag_ids: (rows, hypothesis tokens), int64, IGNORED where unknown and for padding; None for texts without labels.
        weights: (texts, segments, rows), float32, share of each row in the hypothesis, and in each other text that is
            read alone, of each segment; the shares of a text add up to 1.
        scores: (segments,), float32, nan where unknown.
        groups: (segments,), int64, see `Draw`.
    """

    inputs: Inputs
    tag_ids: Tensor | None
    weights: Tensor
    scores: Tensor
    groups: Tensor


def make_batch(corpus: Corpus, draws: Sequence[Draw], *, is_unified: bool) -> RegressionBatch:
    """Returns a batch of segments; a unified model reads all texts of a segment in one row."""
    if is_unified:
        texts = [corpus.windows(draw) for draw in draws]
        read = [[number] for number in range(len(draws))]
    else:
        numbers: dict[int, int] = {}
        read = [[numbers.setdefault(text, len(numbers)) for text in corpus.read(draw)] for draw in draws]
        texts = [corpus.encoder.join(corpus.texts.tokens(text), [], None) for text in numbers]
    shares = np.zeros((len(texts), sum(map(len, texts))), np.float32)
    start = 0
    for number, windows in enumerate(texts):
        lengths = np.array([encoding.kept[1] - encoding.kept[0] for encoding in windows], np.float32)
        shares[number, start : start + len(windows)] = lengths / lengths.sum() if len(windows) > 1 else 1
        start += len(windows)
    tag_ids = None
    if is_unified:
        if "tag_ids" in corpus.labels:
            labels = [
                _labels(windows, corpus.labels["tag_ids"][draw.segment])
                for windows, draw in zip(texts, draws, strict=True)
            ]
            tag_ids = padded([row for rows in labels for row in rows], IGNORED)[0]
        texts = [with_special_tokens(windows) for windows in texts]
    return RegressionBatch(
        collate([encoding for windows in texts for encoding in windows], pad_id=corpus.encoder.pad_id),
        tag_ids,
        torch.from_numpy(shares[np.array(read).T]),
        torch.from_numpy(corpus.labels["scores"][[draw.segment for draw in draws]]),
        torch.tensor([draw.group for draw in draws]),
    )


def _labels(windows: Sequence[Encoding], tag_ids: Ints) -> list[IntArray]:
    """Returns the labels of each window's tokens, including the special tokens around the hypothesis.

    These are labelled as free of errors, as in released models: part of their score depends on these labels.
    """
    filler = 0 if (tag_ids != IGNORED).any() else IGNORED
    n_special = int(windows[0].first > 0)
    return [np.pad(labels, n_special, constant_values=filler) for labels in labels_of_windows(tag_ids, windows)]


class RegressionModule(TrainingModule):
    """Trains an estimator, a ranking model, or a unified model with or without labels."""

    shown: ClassVar[tuple[str, ...]] = ("dev/pearson", "dev/kendall", "dev/macro_f1")

    def __init__(
        self, regressor: Regressor, training: TrainingConfig, steps: Steps, dev_inputs: Sequence[InputKind] = ()
    ) -> None:
        super().__init__(regressor, training, steps, dev_inputs)
        self.regressor = regressor
        config = regressor.config
        self.dev_metrics = nn.ModuleList(RegressionMetrics(config, training.pair_gap) for _ in dev_inputs)
        self._heads = registry.targets(config)
        for head in self._heads:
            self._weights |= head.weights(training)

    def _losses(self, batch: RegressionBatch, output: NetworkOutput) -> dict[str, Tensor]:
        vectors = self._vectors(batch, output)
        said = dict(output.of_heads)
        if "ranking" in said:
            said["ranking"] = vectors
        else:
            said["quality"] = self._scores(vectors)
        targets = {"scores": batch.scores}
        if batch.tag_ids is not None:
            targets["tag_ids"] = batch.tag_ids
        read = LossInputs(batch.inputs, batch.groups, self._training)
        parts: dict[str, Tensor] = {}
        for head in self._heads:
            parts |= head.losses(said[head.name], targets, read)
        return parts

    def _vectors(self, batch: RegressionBatch, output: NetworkOutput) -> Tensor:
        """Returns the vector of each text, (texts, segments, n), with windows joined as in prediction."""
        of_rows = output.of_heads["ranking" if "ranking" in output.of_heads else "quality"]
        with torch.autocast(self.device.type, enabled=False):
            vectors: Tensor = batch.weights @ of_rows
        return vectors

    def _scores(self, vectors: Tensor) -> Tensor:
        """Returns the score of each segment, (segments,), from the vectors of its texts."""
        config = self.regressor.config
        if config.layout != "alone":
            return vectors[0].squeeze(1)
        return self.regressor.combine(dict(zip(("hypothesis", *config.inputs[0].split("+")), vectors, strict=True)))

    def validation_step(self, batch: RegressionBatch, batch_idx: int, dataloader_idx: int = 0) -> None:
        """Adds a batch to the dev metrics."""
        metrics = self.dev_metrics[dataloader_idx]
        assert isinstance(metrics, RegressionMetrics)
        output = self.regressor(batch.inputs)
        metrics.update(self._scores(self._vectors(batch, output)), output.of_heads.get("word_labels"), batch)


class RegressionMetrics(nn.Module):
    """Computes the figures of one kind of input: correlations with the scores, ranked pairs, and F1 of the labels."""

    def __init__(self, config: RegressionConfig, pair_gap: float) -> None:
        super().__init__()
        self._pair_gap = pair_gap
        self.rows = CatMetric(nan_strategy="error")
        f1 = functools.partial(MulticlassF1Score, average="macro", ignore_index=IGNORED, validate_args=False)
        self.labels = f1(1 + len(config.severities)) if config.severities else None

    def update(self, predicted: Tensor, logits: Tensor | None, batch: RegressionBatch) -> None:
        """Adds a batch and the model's output for it: scores, (segments,), and logits, (rows, tokens, labels)."""
        rows = torch.stack([predicted, batch.scores, batch.groups.float()], 1)
        self.rows.update(rows.masked_fill(rows.isnan(), torch.inf))
        if self.labels is not None and logits is not None and batch.tag_ids is not None:
            self.labels.update(logits.argmax(-1).flatten(), batch.tag_ids.flatten())

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

    All are (segments,). Translations of one source have the same group; the gold scores of a pair differ by the gap.

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
