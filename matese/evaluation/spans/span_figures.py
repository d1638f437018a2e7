"""How figures of spans and scores are computed, as options."""

from __future__ import annotations

from dataclasses import dataclass

from matese.validation.options import CountOrZero, Finite, Options, Positive, Share, option


@dataclass(frozen=True, kw_only=True)
class SpanFigures(Options):
    """How figures of spans and scores are computed.

    Attributes:
        unit: units of tags: words, characters, or the tokens of a model (default: word).
        bootstrap: resamples of the bootstrap for 95% intervals (default: 0).
        seed: of the bootstrap.
        severity_penalty: share of the credit that a matched pair of different severities loses, 0 to 1.
        severity_weights: in matching, count a span as many times as its penalty.
        interval_scale: factor of the intervals of expected scores: uncertainty.scale of matese evaluate on dev data
            (default: 1).
        good: least human score of a good translation: precision and recall at every threshold of the predicted scores.
    """

    unit: str = option("word", metavar="word|character|MODEL")
    bootstrap: CountOrZero = 0
    seed: CountOrZero = 0
    severity_penalty: Share = 0.0
    severity_weights: bool = False
    interval_scale: Positive = 1.0
    good: Finite | None = None
