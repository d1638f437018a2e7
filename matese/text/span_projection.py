"""Spans of one text moved to another state of the same text.

In the MQM files of 2020 the texts of one segment differ for two reasons. A rater typed into what they marked, often the
words that the translation omits. And where a rater's spans overlap, the tool that wrote the file repeats in the later
one's row what both cover: "Yuan had<v>had</v> a field", whose span is the "had" of "Yuan had a field".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from matese.annotation import ErrorSpan, UnplacedError
from matese.text.ranges import Piece, project_range, sequence_edits


def project(
    spans: Iterable[ErrorSpan], text: str, new_text: str
) -> tuple[tuple[ErrorSpan, ...], tuple[UnplacedError, ...]]:
    """Returns the spans at their places in `new_text`; those whose text is missing there lose their place.

    >>> from matese.annotation import Severity
    >>> (span,), _ = project([ErrorSpan(2, 5, Severity.MINOR)], '""Eis""', '"Eis"')
    >>> span.start, span.end
    (1, 4)
    """
    placed = []
    lost = []
    for span in spans:
        place = relocate(span.start, span.end, text, new_text)
        place = place or project_range(span.start, span.end, _pieces(text, new_text))
        if place is None:
            lost.append(UnplacedError(span.severity, span.category))
        else:
            placed.append(replace(span, start=place[0], end=place[1]))
    return tuple(placed), tuple(lost)


def relocate(start: int, end: int, text: str, new_text: str) -> tuple[int, int] | None:
    """Returns the place in `new_text` of the characters start..end of `text`; None if it is ambiguous.

    The place is clear if both texts are equal up to the end of the span, from its start on, or everywhere else, or if
    the marked characters occur once in `new_text`.

    >>> relocate(8, 11, "Yuan hadhad a field", "Yuan had a field")  # repeated
    (5, 8)
    >>> relocate(6, 9, "I saw red cars", "I saw blue cars"), relocate(6, 10, "I saw red cars", "I saw cars")
    ((6, 10), None)
    """
    shift = len(new_text) - len(text)
    if new_text.startswith(text[:end]):
        return start, end
    if start + shift >= 0 and new_text.endswith(text[start:]):
        return start + shift, end + shift
    wanted = text[start:end]
    first = new_text.find(wanted)
    last = new_text.rfind(wanted)
    is_single = first >= 0 and first == last
    if start <= end + shift and new_text.startswith(text[:start]) and new_text.endswith(text[end:]):
        # All else is the same. Text was added around the span, something stands instead of it, or nothing does.
        if is_single and start <= first and first + len(wanted) <= end + shift:
            return first, first + len(wanted)
        return (start, end + shift) if start < end + shift else None
    return (first, first + len(wanted)) if is_single else None


@lru_cache(maxsize=1)
def _pieces(text: str, new_text: str) -> Sequence[Piece]:
    """Returns the characters of a text, as far as they are in the other text or something stands in their place."""
    edits = sequence_edits(text, new_text)
    return [Piece((start, end), (to, to_end), kind == "equal") for kind, start, end, to, to_end in edits if to < to_end]
