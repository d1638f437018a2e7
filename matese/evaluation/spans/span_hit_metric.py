"""Span Hit as a metric of torchmetrics, for whoever trains with Lightning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor
from torchmetrics import Metric

from matese.annotation import Placed
from matese.evaluation.spans.span_hit import SpanHitCounts, span_hit


class SpanHit(Metric):
    """Hypothesis and Target Span Hit (Perrella et al. 2022, section 2.2), see `matese.evaluation.spans.span_hit`.

    `compute` returns "hsh" and "tsh" of all texts so far, on all devices; NaN if that side has no spans.

    >>> from matese import ErrorSpan, Severity
    >>> metric = SpanHit()
    >>> minor, major = Severity.MINOR, Severity.MAJOR
    >>> metric.update([[ErrorSpan(3, 5, major)]], [[ErrorSpan(0, 4, minor), ErrorSpan(9, 12, major)]])
    >>> {name: value.item() for name, value in metric.compute().items()}
    {'hsh': 1.0, 'tsh': 0.5}
    """

    full_state_update = False
    counts: Tensor

    def __init__(self) -> None:
        """Starts without texts."""
        super().__init__()
        self.add_state("counts", torch.zeros(len(SpanHitCounts._fields), dtype=torch.int64), dist_reduce_fx="sum")

    def update(self, predicted: Iterable[Sequence[Placed]], gold: Iterable[Sequence[Placed]]) -> None:
        """Adds texts: the spans of each, which may overlap and be in any order."""
        counts = [list(span_hit(target, hypothesis)) for hypothesis, target in zip(predicted, gold, strict=True)]
        self.counts += torch.tensor(counts, dtype=torch.int64).reshape(-1, 4).sum(0).to(self.device)

    def compute(self) -> dict[str, Tensor]:
        """Returns the two rates."""
        predicted, predicted_hit, gold, gold_hit = self.counts.double()
        return {"hsh": predicted_hit / predicted, "tsh": gold_hit / gold}
