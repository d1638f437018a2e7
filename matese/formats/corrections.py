"""Corrected translations: how a person's correction goes into the file that the translation came from.

A rating is of the translation as it was delivered, and its segment has the corrected translation in a column of its
own. What a person has changed is an error: `marked` adds a mark of undecided severity for each changed stretch that the
person has not marked. The file gets the corrected translation. Marks whose words stay move with the edit. The others,
whose words were corrected, become lines of the comment, so that nothing of the rating is lost; and so do words that
were missing and that the correction has added.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import itemgetter
from typing import TypeVar

from matese import mqm
from matese.annotation import AnyError, ErrorSpan, Omission, Rating, Segment, UnplacedError, severities
from matese.formats.tables.headings import COMMENT, CORRECTED
from matese.text.ranges import sequence_edits
from matese.text.words import UNSPACED

_PARTS = re.compile(rf"</?\w[^<>]*>|[{UNSPACED}]|[^\W{UNSPACED}]+|\s+|.", re.DOTALL)
"""Of a text: tags, words, white space, and other characters."""
_NUMBER = re.compile(r"\d+(?:[.,'\u2019\u00a0\u2009\u202f]\d+)*")

Missing = TypeVar("Missing", Omission, UnplacedError)
"""An error that something is missing."""


def comment_of(segment: Segment) -> str:
    """Returns the comment of a segment; "" if there is none."""
    return str((segment.extra or {}).get(COMMENT) or "")


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


def edits(text: str, new_text: str) -> Sequence[Replacement]:
    """Returns how a text becomes another, word by word.

    >>> edits("Die Volga ist lang.", "Die Wolga ist sehr lang.")
    (Replacement(start=4, end=9, text='Wolga'), Replacement(start=14, end=14, text='sehr '))
    """
    parts = _PARTS.findall(text)
    new_parts = _PARTS.findall(new_text)
    starts = [0, *accumulate(map(len, parts))]
    return tuple(
        Replacement(starts[start], starts[end], "".join(new_parts[to:to_end]))
        for kind, start, end, to, to_end in sequence_edits(parts, new_parts)
        if kind != "equal"
    )


def marked(rating: Rating) -> Rating:
    """Returns a person's rating with a mark for each stretch that the person has corrected and not marked.

    Words that the correction adds, and that no error says to be missing, are an error without a place.

    >>> segment = Segment("Die Volga ist lang.", extra={"corrected": "Die Wolga ist sehr lang."})
    >>> rating = marked(Rating(segment, "anna", ()))
    >>> [(error.start, error.end, error.severity) for error in rating.errors], rating.unplaced[0].words
    ([(4, 9, None)], 'sehr')
    """
    text = corrected(rating.segment)
    if text is None or mqm.is_signature(rating.rater) or (rating.rater is None and rating.errors is None):
        return rating
    _, unmarked = _accounted(rating, text)
    return replace(
        rating,
        errors=(
            *(rating.errors or ()),
            *(ErrorSpan(edit.start, edit.end, None) for edit in unmarked if edit.start < edit.end),
        ),
        unplaced=(
            *rating.unplaced,
            *(UnplacedError(None, words=edit.text.strip() or None) for edit in unmarked if edit.start == edit.end),
        ),
    )


def applied(rating: Rating, text: str | None) -> Rating:
    """Returns the rating of the corrected translation; the same rating if there is none, or it is that already."""
    segment = rating.segment
    if text is None or text == segment.hypothesis:
        return rating
    changes = edits(segment.hypothesis, text)
    kept: list[ErrorSpan] = []
    lines = [f"Corrected from: {segment.hypothesis}"]
    for error in rating.errors or ():
        if any(_touches(edit, error) for edit in changes):
            words = segment.hypothesis[error.start : error.end]
            lines.append(f"Corrected: \u00bb{words}\u00ab was marked as {_label(error)}")
        else:
            kept.append(_moved(error, changes))
    mended, _ = _accounted(rating, text)
    lines += [
        f"Corrected: \u00bb{words}\u00ab was marked as missing, {_label(error)}"
        for error, words in _missing(rating)
        if any(error is mended_error for mended_error in mended)
    ]
    comment = "\n".join(filter(None, (comment_of(segment), *lines)))
    extra = {name: value for name, value in (segment.extra or {}).items() if name != CORRECTED}
    return replace(
        rating,
        segment=replace(segment, hypothesis=text, extra={**extra, COMMENT: comment}),
        errors=None if rating.errors is None else tuple(kept),
        omissions=_without(rating.omissions, mended),
        unplaced=_without(rating.unplaced, mended),
    )


def _label(error: AnyError) -> str:
    return " ".join(filter(None, (severities.label(error.severity), error.category)))


def _missing(rating: Rating) -> Iterator[tuple[Omission | UnplacedError, str]]:
    """Yields the errors that something is missing, and the words; "" if they are not known."""
    yield from ((omission, omission.words(rating.segment)) for omission in rating.omissions)
    yield from ((error, error.words or "") for error in rating.unplaced)


def _accounted(rating: Rating, text: str) -> tuple[list[Omission | UnplacedError], list[Replacement]]:
    """Returns the errors of missing words that a correction mends, and its edits that no error accounts for.

    What a rule misses, such as a placeholder, is mended if the corrected translation has it more often than before:
    each further occurrence is for one error. Words of the source are missing in another language: of the edits that add
    something and change nothing that is marked, each mends the omission whose place is the nearest, by their shares of
    the texts.
    """
    segment = rating.segment
    left = [
        edit
        for edit in edits(segment.hypothesis, text)
        if not any(_touches(edit, error) for error in rating.errors or ())
    ]
    used: Counter[str] = Counter()
    mended: list[Omission | UnplacedError] = []
    by_place: list[tuple[Omission | UnplacedError, str, float]] = []
    for error, words in _missing(rating):
        if used[words] < _count(words, text) - _count(words, segment.hypothesis):
            used[words] += 1
            mended.append(error)
            adding = next((edit for edit in left if words in edit.text), None)
            left = [edit for edit in left if edit is not adding]
        elif error.rule is None:
            share = error.start / len(error.context(segment) or " ") if isinstance(error, Omission) else 0.0
            by_place.append((error, words, share))
    length = len(segment.hypothesis) or 1
    for error, words, share in by_place:
        fitting = [(abs(edit.start / length - share), edit) for edit in left if edit.text.strip() or not words]
        if fitting:
            mended.append(error)
            left.remove(min(fitting, key=itemgetter(0))[1])
    return mended, left


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


def moved(place: int, changes: Iterable[Replacement]) -> int:
    """Returns where a place of a text is in the other one: behind what replaces the text around it."""
    shifts = (
        len(edit.text) + edit.start - min(edit.end, place)
        for edit in changes
        if edit.start < place or edit.end == place
    )
    return place + sum(shifts)


def _moved(error: ErrorSpan, changes: Sequence[Replacement]) -> ErrorSpan:
    start = moved(error.start, changes)
    return replace(error, start=start, end=start + error.end - error.start)
