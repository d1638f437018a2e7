"""What the validation of a training measures: the spans of taggers, and the scores of other models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matese.model.config import ModelConfig
from matese.model.network import Network
from matese.training import batching, score_validation, span_validation
from matese.training.config import TrainingConfig
from matese.training.corpus import Corpus, Draw
from matese.training.dev_metrics import DevMetrics
from matese.training.score_validation import ScoreMetrics
from matese.training.span_validation import SpanMetrics


def monitored(config: ModelConfig) -> str:
    """Returns the figure that chooses the best state, for models that score as in unbabel-comet; higher is better."""
    if config.heads.tags is not None:
        return "dev/macro_f1"
    return "dev/pairs" if config.heads.ranking is not None else "dev/kendall"


def shown(config: ModelConfig) -> tuple[str, ...]:
    """Returns the figures that are printed after each validation, besides the monitored one."""
    return score_validation.SHOWN if config.heads.tags is None else span_validation.SHOWN


def make_batch(corpus: Corpus, draws: Sequence[Draw]) -> Any:  # noqa: ANN401  (what the metrics take)
    """Returns a batch of the dev data."""
    is_tagger = corpus.config.heads.tags is not None
    return span_validation.dev_batch(corpus, draws) if is_tagger else batching.make_batch(corpus, draws)


def metrics(network: Network, training: TrainingConfig) -> DevMetrics:
    """Returns the metrics of one kind of input."""
    config = network.config
    if config.heads.tags is None:
        return ScoreMetrics(config, network.score, training.pair_gap)
    return SpanMetrics(config)
