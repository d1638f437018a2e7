"""Spans of one text moved to another state of the same text.

In the MQM files of 2020 the texts of one segment differ for two reasons. A rater typed into what they marked, often the
words that the translation omits. And where a rater's spans overlap, the tool that wrote the file repeats in the later
one's row what both cover: "Yuan had<v>had</v> a field", whose span is the "had" of "Yuan had a field".
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from matese.annotation import ErrorSpan, UnplacedError


def project(
    spans: Iterable[ErrorSpan], text: str, other: str
) -> tuple[tuple[ErrorSpan, ...], tuple[UnplacedError, ...]]:
    """Returns the spans at their places in `other`; spans whose text is missing there become errors without a place.

    >>> from matese.annotation import Severity
    >>> (span,), _ = project([ErrorSpan(2, 5, Severity.MINOR)], '""Eis""', '"Eis"')
    >>> span.start, span.end
    (1, 4)
    """
    placed = []
    lost = []
    for span in spans:
        place = relocate(span.start, span.end, text, other) or _aligned(span, text, other)
        if place is None:
            lost.append(UnplacedError(span.severity, span.category))
        else:
            placed.append(replace(span, start=place[0], end=place[1]))
    return tuple(placed), tuple(lost)


def relocate(start: int, end: int, text: str, other: str) -> tuple[int, int] | None:
    """Returns the place in `other` of the characters start..end of `text`; None if it is ambiguous.

    The place is clear if both texts are equal up to the end of the span, from its start on, or everywhere else, or if
    the marked characters occur once in `other`.

    >>> relocate(8, 11, "Yuan hadhad a field", "Yuan had a field")  # repeated
    (5, 8)
    >>> relocate(6, 9, "I saw red cars", "I saw blue cars"), relocate(6, 10, "I saw red cars", "I saw cars")
    ((6, 10), None)
    """
    shift = len(other) - len(text)
    if other.startswith(text[:end]):
        return start, end
    if start + shift >= 0 and other.endswith(text[start:]):
        return start + shift, end + shift
    wanted = text[start:end]
    first = other.find(wanted)
    last = other.rfind(wanted)
    is_single = first >= 0 and first == last
    if start <= end + shift and other.startswith(text[:start]) and other.endswith(text[end:]):
        # All else is the same. Text was added around the span, something stands instead of it, or nothing does.
        if is_single and start <= first and first + len(wanted) <= end + shift:
            return first, first + len(wanted)
        return (start, end + shift) if start < end + shift else None
    return (first, first + len(wanted)) if is_single else None


def _aligned(span: ErrorSpan, text: str, other: str) -> tuple[int, int] | None:
    """Returns the range of the other text that corresponds to a span: equal and replaced parts."""
    places = []
    for kind, start, end, to, to_end in _opcodes(text, other):
        if span.end <= start or end <= span.start or to == to_end:
            continue
        is_equal = kind == "equal"
        cut_before = max(0, span.start - start) * is_equal
        cut_behind = max(0, end - span.end) * is_equal
        places.append((to + cut_before, to_end - cut_behind))
    return (places[0][0], places[-1][1]) if places else None


@lru_cache(maxsize=1)
def _opcodes(text: str, other: str) -> Sequence[tuple[str, int, int, int, int]]:
    # autojunk would leave out characters that are frequent in a long text: the space, the letter e.
    return difflib.SequenceMatcher(None, text, other, autojunk=False).get_opcodes()
