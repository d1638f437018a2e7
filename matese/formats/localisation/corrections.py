"""Corrected translations: how a person's correction goes into the file that the translation came from.

A rating is of the translation as it was delivered, and its segment has the corrected translation in a column of its
own. The file gets the corrected one. Marks whose words stay move with the edit; the others, whose words were corrected,
become lines of the comment, so that nothing of the rating is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from matese.annotation import ErrorSpan, Rating, Segment, severities
from matese.formats.localisation import notes
from matese.formats.tables.headings import COMMENT
from matese.text.ranges import sequence_edits

CORRECTED = "corrected"
"""The other column that holds the corrected translation of a segment."""
_PARTS = re.compile(r"\w+|\s+|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Replacement:
    """A part of a text, from `start` to before `end` in code points, and what stands there afterwards."""

    start: int
    end: int
    text: str


def corrected(segment: Segment) -> str | None:
    """Returns the corrected translation; None if the translation stays as it is.

    >>> corrected(Segment("Volga", extra={"corrected": "Wolga"})), corrected(Segment("Wolga", extra={"corrected": " "}))
    ('Wolga', None)
    """
    text = (segment.extra or {}).get(CORRECTED)
    return text if isinstance(text, str) and text.strip() and text != segment.hypothesis else None


def edits(text: str, other: str) -> Sequence[Replacement]:
    """Returns how a text becomes another, word by word.

    >>> edits("Die Volga ist lang.", "Die Wolga ist sehr lang.")
    (Replacement(start=4, end=9, text='Wolga'), Replacement(start=14, end=14, text='sehr '))
    """
    parts = _PARTS.findall(text)
    others = _PARTS.findall(other)
    starts = [0]
    for part in parts:
        starts.append(starts[-1] + len(part))
    return tuple(
        Replacement(starts[start], starts[end], "".join(others[to:to_end]))
        for kind, start, end, to, to_end in sequence_edits(parts, others)
        if kind != "equal"
    )


def applied(rating: Rating, text: str | None) -> Rating:
    """Returns the rating of the corrected translation; the same rating if there is none, or it is that already."""
    segment = rating.segment
    if text is None or text == segment.hypothesis:
        return rating
    changes = edits(segment.hypothesis, text)
    moved: list[ErrorSpan] = []
    lines = [f"Corrected from: {segment.hypothesis}"]
    for error in rating.errors or ():
        if any(_touches(edit, error) for edit in changes):
            label = " ".join(filter(None, (severities.label(error.severity), error.category)))
            lines.append(f"Corrected: \u00bb{segment.hypothesis[error.start : error.end]}\u00ab was marked as {label}")
        else:
            moved.append(_moved(error, changes))
    comment = "\n".join(filter(None, (notes.comment_of(segment), *lines)))
    extra = {name: value for name, value in (segment.extra or {}).items() if name != CORRECTED}
    return replace(
        rating,
        segment=replace(segment, hypothesis=text, extra={**extra, COMMENT: comment}),
        errors=None if rating.errors is None else tuple(moved),
    )


def _touches(edit: Replacement, error: ErrorSpan) -> bool:
    """Whether an edit changes what is marked: it replaces some of it, or inserts something within it."""
    if edit.start == edit.end:
        return error.start < edit.start < error.end
    return edit.start < error.end and error.start < edit.end


def _moved(error: ErrorSpan, changes: Iterable[Replacement]) -> ErrorSpan:
    shift = sum(len(edit.text) - (edit.end - edit.start) for edit in changes if edit.end <= error.start)
    return replace(error, start=error.start + shift, end=error.end + shift)
