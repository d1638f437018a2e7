"""Corrected translations: how a person's correction goes into the file that the translation came from.

A rating is of the translation as it was delivered, and its segment has the corrected translation in a column of its
own. The file gets the corrected one. Marks whose words stay move with the edit. The others, whose words were corrected,
become lines of the comment, so that nothing of the rating is lost; and so do words, placeholders and numbers that were
missing and that the correction has added.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from matese.annotation import AnyError, ErrorSpan, Omission, Rating, Segment, UnplacedError, severities
from matese.formats.localisation import notes
from matese.formats.tables.headings import COMMENT
from matese.text.ranges import sequence_edits

CORRECTED = "corrected"
"""The other column that holds the corrected translation of a segment."""
_PARTS = re.compile(r"\w+|\s+|.", re.DOTALL)
_NUMBER = re.compile(r"\d+(?:[.,'\u2019\u00a0\u2009\u202f]\d+)*")

Missing = TypeVar("Missing", Omission, UnplacedError)
"""An error that something is missing."""


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
            words = segment.hypothesis[error.start : error.end]
            lines.append(f"Corrected: \u00bb{words}\u00ab was marked as {_label(error)}")
        else:
            moved.append(_moved(error, changes))
    added = _added(rating, text)
    lines += [f"Corrected: \u00bb{words}\u00ab was marked as missing, {_label(error)}" for error, words in added]
    mended = [error for error, _ in added]
    comment = "\n".join(filter(None, (notes.comment_of(segment), *lines)))
    extra = {name: value for name, value in (segment.extra or {}).items() if name != CORRECTED}
    return replace(
        rating,
        segment=replace(segment, hypothesis=text, extra={**extra, COMMENT: comment}),
        errors=None if rating.errors is None else tuple(moved),
        omissions=_without(rating.omissions, mended),
        unplaced=_without(rating.unplaced, mended),
    )


def _label(error: AnyError) -> str:
    return " ".join(filter(None, (severities.label(error.severity), error.category)))


def _added(rating: Rating, text: str) -> list[tuple[Omission | UnplacedError, str]]:
    """Returns the errors whose missing words a corrected translation has more often than before, with the words.

    Each further occurrence in the translation is for one error.
    """
    segment = rating.segment
    missing: list[tuple[Omission | UnplacedError, str]] = [
        *((omission, omission.words(segment)) for omission in rating.omissions),
        *((error, error.words or "") for error in rating.unplaced if error.rule),
    ]
    used: Counter[str] = Counter()
    added = []
    for error, words in missing:
        n_more = _count(words, text) - _count(words, segment.hypothesis)
        if used[words] < n_more:
            used[words] += 1
            added.append((error, words))
    return added


def _count(words: str, text: str) -> int:
    """Returns how often a text has some words; a number counts whatever its marks are.

    >>> _count("%d", "%d von %d"), _count("12", "112 und 12"), _count("1,200.50", "1.200,50 Euro")
    (2, 1, 1)
    """
    if not words.strip():
        return 0
    if _NUMBER.fullmatch(words):
        return sum(_digits(number) == _digits(words) for number in _NUMBER.findall(text))
    before = r"(?<!\w)" if words[0].isalnum() else ""
    behind = r"(?!\w)" if words[-1].isalnum() else ""
    return len(re.findall(before + re.escape(words) + behind, text))


def _digits(number: str) -> list[int]:
    return [unicodedata.decimal(character) for character in number if character.isdecimal()]


def _without(errors: Sequence[Missing], mended: Sequence[Omission | UnplacedError]) -> tuple[Missing, ...]:
    """Returns the errors without those that are mended; two equal ones are told apart by their identity."""
    numbers = set(map(id, mended))
    return tuple(error for error in errors if id(error) not in numbers)


def _touches(edit: Replacement, error: ErrorSpan) -> bool:
    """Whether an edit changes what is marked: it replaces some of it, or inserts something within it."""
    if edit.start == edit.end:
        return error.start < edit.start < error.end
    return edit.start < error.end and error.start < edit.end


def _moved(error: ErrorSpan, changes: Iterable[Replacement]) -> ErrorSpan:
    shift = sum(len(edit.text) - (edit.end - edit.start) for edit in changes if edit.end <= error.start)
    return replace(error, start=error.start + shift, end=error.end + shift)
