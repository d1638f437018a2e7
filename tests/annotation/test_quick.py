from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, replace

import pytest

from matese.annotation import (
    AnnotationError,
    ErrorSpan,
    Estimate,
    Overall,
    Rating,
    Segment,
    SegmentKey,
    Severity,
    quick,
)

SEGMENT = Segment("Das Haus", references=("The house",), key=SegmentKey(index=3), line=4)
SPANS = (ErrorSpan(4, 8, Severity.MAJOR), ErrorSpan(0, 3, Severity.MINOR))
CASES: list[tuple[Callable[..., object], type, tuple[object, ...]]] = [
    (quick.error_span, ErrorSpan, (0, 3, Severity.MINOR, "Style", 0.5)),
    (quick.segment_key, SegmentKey, (None, "de-en")),
    (quick.segment, Segment, ("Haus", None, ["house"])),
    (quick.overall, Overall, (-1, "mqm")),
    (quick.estimate, Estimate, (-1.0, "mqm", -2.0, 0.0)),
    (quick.rating, Rating, (SEGMENT, "anna", SPANS)),
]


@pytest.mark.parametrize(("constructor", "kind", "values"), CASES)
def test_what_is_made_quickly_is_what_the_class_makes(
    constructor: Callable[..., object], kind: type, values: tuple[object, ...]
) -> None:
    made = constructor(*values)
    usual = kind(*values)
    assert (type(made), made, repr(made)) == (kind, usual, repr(usual))
    assert replace(made) == pickle.loads(pickle.dumps(made)) == copy.copy(made) == usual  # type: ignore[type-var]
    with pytest.raises(FrozenInstanceError):
        setattr(made, fields(kind)[0].name, None)


@pytest.mark.parametrize(
    ("constructor", "values"),
    [
        (quick.error_span, (3, 3, None)),
        (quick.error_span, (0, 3, None, None, 1.5)),
        (quick.overall, (1.0, "stars")),
        (quick.rating, (Segment("Das"), None, SPANS)),
    ],
)
def test_what_is_made_quickly_is_checked(constructor: Callable[..., object], values: tuple[object, ...]) -> None:
    with pytest.raises(AnnotationError):
        constructor(*values)
