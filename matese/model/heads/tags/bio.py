"""BIO tags of tokens: from error spans to tags, and from tags to ranges of tokens.

Token ranges are half-open, in code points, in text order. Several tokens may share a character (the bytes of an
emoji), and a white-space token has an empty range.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from matese.annotation import ErrorSpan, Severity
from matese.annotation.severities import COUNTED
from matese.text.ranges import Range

TAGS = ("O", "B-Minor", "I-Minor", "B-Major", "I-Major")
"""In the order of the head's outputs: Perrella et al. 2022, section 3.1."""
O, B_MINOR, I_MINOR, B_MAJOR, I_MAJOR = range(5)  # noqa: E741  (the field's name)

_BEGIN = {severity: B_MINOR if counted is Severity.MINOR else B_MAJOR for severity, counted in COUNTED.items()}
_SEVERITY = {B_MINOR: Severity.MINOR, I_MINOR: Severity.MINOR, B_MAJOR: Severity.MAJOR, I_MAJOR: Severity.MAJOR}


class TagRange(NamedTuple):
    """The tokens of an error, start..end (half-open)."""

    start: int
    end: int
    severity: Severity


def may_follow(before: int | None, tag: int) -> bool:
    """Returns whether a tag may follow another (None: at the start). An I- tag only continues its own severity.

    >>> may_follow(B_MINOR, I_MINOR), may_follow(B_MINOR, I_MAJOR), may_follow(None, I_MINOR), may_follow(I_MAJOR, O)
    (True, False, False, True)
    """
    return tag not in (I_MINOR, I_MAJOR) or before in (tag - 1, tag)


def from_spans(spans: Iterable[ErrorSpan], ranges: Sequence[Range]) -> list[int]:
    """Returns a tag for each token. Critical errors are tagged as Major; Neutral and undecided spans are ignored.

    A token that belongs to two spans gets the tag of the more severe one; of two equally severe spans, the first.

    Args:
        spans: error spans of the hypothesis.
        ranges: range of each token of the hypothesis.

    >>> from_spans([ErrorSpan(0, 4, Severity.MINOR), ErrorSpan(5, 6, Severity.MAJOR)], [(0, 2), (2, 4), (5, 9)])
    [1, 2, 3]
    """
    begins = [(_BEGIN[span.severity], span) for span in spans if span.severity in _BEGIN]
    owners: list[tuple[int, ErrorSpan] | None] = [None] * len(ranges)
    for begin, span in sorted(begins, key=lambda pair: (-pair[0], pair[1].start, pair[1].end)):
        for token in tokens_within(span.start, span.end, ranges):
            owners[token] = owners[token] or (begin, span)
    tags = []
    before = None
    for owner in owners:
        if owner is None:
            tags.append(O)
        else:
            begin, span = owner
            tags.append(begin + 1 if before is not None and span is before[1] else begin)
        before = owner
    return tags


def to_ranges(tags: Iterable[int]) -> Iterator[TagRange]:
    """Yields the errors in a sequence of tags. An I- tag that does not continue its own severity starts an error.

    >>> list(to_ranges([O, B_MINOR, I_MINOR, B_MINOR]))[0]
    TagRange(start=1, end=3, severity=<Severity.MINOR: 'minor'>)
    """
    start = 0
    before = None
    position = -1
    for position, tag in enumerate(tags):
        if tag == before == O:
            continue
        begins = tag in (B_MINOR, B_MAJOR) or not may_follow(before, tag)
        if before in _SEVERITY and (begins or tag == O):
            yield TagRange(start, position, _SEVERITY[before])
        if begins:
            start = position
        before = tag
    if before in _SEVERITY:
        yield TagRange(start, position + 1, _SEVERITY[before])


def tokens_within(start: int, end: int, ranges: Sequence[Range]) -> range:
    """Returns the positions of the tokens that share a character with start..end, and of empty tokens inside it.

    >>> tokens_within(4, 6, [(0, 3), (3, 5), (5, 5), (5, 9), (9, 12)])
    range(1, 4)
    """
    touched = [number for number, (first, last) in enumerate(ranges) if first < end and last > start]
    return range(touched[0], touched[-1] + 1) if touched else range(0)


def characters_of(tokens: range, ranges: Sequence[Range]) -> Range | None:
    """Returns the smallest range of characters that covers the tokens; None if all of them are empty.

    >>> characters_of(range(1, 3), [(0, 3), (3, 5), (5, 5)])
    (3, 5)
    """
    filled = [ranges[number] for number in tokens if ranges[number][0] < ranges[number][1]]
    if not filled:
        return None
    return min(start for start, _ in filled), max(end for _, end in filled)
