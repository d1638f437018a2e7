"""How a model's predictions become ratings."""

from __future__ import annotations

from dataclasses import dataclass

from matese import mqm


@dataclass(frozen=True, slots=True)
class Options:
    """How a model's predictions become ratings.

    Attributes:
        min_confidence: see `matese.model.heads.tags.decoding.decode`; None for the most probable label of each token.
        whole_words: whether spans are widened to whole words.
        span_budget: see `matese.model.config.ModelConfig`; None to mark every span with `min_confidence`.
        weights: penalties of errors, which the signature names.
        error_free: whether to decide which segments are free of errors.
    """

    min_confidence: float | None
    whole_words: bool
    span_budget: float | None = None
    weights: mqm.Weights = mqm.MATESE
    error_free: bool = False
