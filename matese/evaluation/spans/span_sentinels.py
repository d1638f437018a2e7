"""Predictions that are bad by construction: figures that do not rank them below the prediction cannot be trusted.

As the sentinels of metrics that score (Perrella et al. 2024, arXiv 2408.13831), but for spans.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from matese.annotation import ErrorSpan, Rating, Severity
from matese.evaluation.spans.rating_pairs import counted_spans

SpanSentinel = Literal["all", "none", "random", "extended", "dropped"]
_SHARE_DROPPED = 0.5
_Change = Callable[[str, tuple[ErrorSpan, ...], random.Random], tuple[ErrorSpan, ...]]


def predictions(ratings: Sequence[Rating], *, seed: int = 0) -> dict[SpanSentinel, list[Rating]]:
    """Returns the ratings with other spans.

    `all`: a Major span over the whole text. `none`: no span. `random`: as many spans as the rating, with their lengths
    and severities, anywhere in the text. `extended`: its spans, each twice as long, to both sides as far as the text
    goes. `dropped`: its spans, each left out with probability 1/2.

    Raises:
        InputError: if a rating has no spans (`errors` is None).
    """
    changed: dict[SpanSentinel, list[Rating]] = {}
    for name, change in _CHANGES.items():
        rng = random.Random(seed)
        changed[name] = [
            replace(rating, errors=change(rating.segment.hypothesis, counted_spans(rating), rng)) for rating in ratings
        ]
    return changed


def _whole(text: str, spans: tuple[ErrorSpan, ...], rng: random.Random) -> tuple[ErrorSpan, ...]:
    return (ErrorSpan(0, len(text), Severity.MAJOR),) if text else ()


def _moved(text: str, spans: tuple[ErrorSpan, ...], rng: random.Random) -> tuple[ErrorSpan, ...]:
    starts = [rng.randint(0, len(text) - (span.end - span.start)) for span in spans]
    return tuple(
        replace(span, start=start, end=start + span.end - span.start) for start, span in zip(starts, spans, strict=True)
    )


def _extended(text: str, spans: tuple[ErrorSpan, ...], rng: random.Random) -> tuple[ErrorSpan, ...]:
    def extend(span: ErrorSpan) -> ErrorSpan:
        added = span.end - span.start
        start = max(0, span.start - added // 2)
        return replace(span, start=start, end=min(len(text), span.end + added - added // 2))

    return tuple(map(extend, spans))


def _kept(text: str, spans: tuple[ErrorSpan, ...], rng: random.Random) -> tuple[ErrorSpan, ...]:
    return tuple(span for span in spans if rng.random() >= _SHARE_DROPPED)


_CHANGES: Mapping[SpanSentinel, _Change] = {
    "all": _whole,
    "none": lambda text, spans, rng: (),
    "random": _moved,
    "extended": _extended,
    "dropped": _kept,
}
