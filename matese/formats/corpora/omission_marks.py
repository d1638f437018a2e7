"""Omissions as MQM annotators mark them: as errors in the source with a category such as Accuracy/Omission."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from matese.annotation import ErrorSpan, Omission, Rating

CATEGORY = "Accuracy/Omission"
_OMISSION = re.compile(r"(.*/)?omission\b.*", re.IGNORECASE | re.DOTALL)


def is_omission(category: str | None) -> bool:
    """Whether a mark in the source is an omission.

    >>> is_omission("Accuracy/Omission"), is_omission("Omission"), is_omission("Source error")
    (True, True, False)
    """
    return category is not None and _OMISSION.fullmatch(category) is not None


def split(source_errors: Iterable[ErrorSpan]) -> tuple[tuple[ErrorSpan, ...], tuple[Omission, ...]]:
    """Returns the errors in the source and the omissions among marks in the source.

    >>> errors, omissions = split([ErrorSpan(0, 3, None, "Source error"), ErrorSpan(4, 7, None, "Accuracy/Omission")])
    >>> len(errors), omissions[0].start
    (1, 4)
    """
    errors = []
    omissions = []
    for span in source_errors:
        if is_omission(span.category):
            omissions.append(
                Omission("source", None, span.start, span.end, span.severity, span.category, span.confidence)
            )
        else:
            errors.append(span)
    return tuple(errors), tuple(omissions)


def adapt(rating: Rating, losses: Counter[str]) -> Rating:
    """Returns the rating as its marks in the source are read again: their categories decide what is an omission."""
    source_errors, omissions = split(rating.source_errors)
    renamed = [
        words if is_omission(words.category) else replace(words, category=CATEGORY) for words in rating.omissions
    ]
    counts = {
        "errors in the source, written as omissions": len(omissions),
        f"categories of omissions, written as {CATEGORY}": sum(
            new is not old for new, old in zip(renamed, rating.omissions, strict=True)
        ),
    }
    losses.update({kind: count for kind, count in counts.items() if count})
    return replace(rating, source_errors=source_errors, omissions=(*renamed, *omissions))
