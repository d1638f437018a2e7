"""What the validation of a training measures: the spans of taggers, and the scores of other models."""

from __future__ import annotations

from matese.model.config import ModelConfig
from matese.training import score_validation, span_validation
from matese.training.config import TrainingConfig
from matese.training.corpus import Corpus
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


def metrics(corpus: Corpus, training: TrainingConfig) -> list[DevMetrics]:
    """Returns the metrics of each kind of input that the dev data have."""
    kinds = corpus.usable_inputs()
    if corpus.config.heads.tags is None:
        return [ScoreMetrics(corpus, inputs, training.pair_gap) for inputs in kinds]
    return [SpanMetrics(corpus, inputs) for inputs in kinds]
