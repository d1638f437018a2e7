"""Constructors for those who make very many annotations, such as the readers of files."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from matese.annotation.rating import ErrorSpan, Estimate, Overall, Rating, Segment, SegmentKey

T = TypeVar("T")


def constructor(kind: type[T]) -> type[T]:
    """Returns what makes the same objects as a frozen dataclass with slots, with the same checks, but faster.

    The constructor of a frozen dataclass calls `object.__setattr__` for each field, which takes most of its time. Here,
    an object of a twin class, which has the same fields but is not frozen, becomes one of `kind` when these are set.
    """

    def become(annotation: Any) -> None:  # noqa: ANN401  (first of the twin, then of `kind`)
        annotation.__class__ = kind
        check(annotation)

    check = kind.__post_init__  # type: ignore[attr-defined]
    fields = [
        (one.name, one.type, dataclasses.field(default=one.default))
        for one in dataclasses.fields(kind)  # type: ignore[arg-type]
    ]
    return dataclasses.make_dataclass(kind.__name__, fields, slots=True, namespace={"__post_init__": become})


error_span = constructor(ErrorSpan)
segment_key = constructor(SegmentKey)
segment = constructor(Segment)
overall = constructor(Overall)
estimate = constructor(Estimate)
rating = constructor(Rating)
