"""BIO tags of tokens, and the tags that follow from error spans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matese.annotation import ErrorSpan, Severity
from matese.annotation.severities import COUNTED
from matese.text.ranges import Range

TAGS = ("O", "B-Minor", "I-Minor", "B-Major", "I-Major")
"""In the order of the head's outputs: Perrella et al. 2022, section 3.1."""
O, B_MINOR, I_MINOR, B_MAJOR, I_MAJOR = range(5)  # noqa: E741  (the field's name)

_BEGIN = {Severity.MINOR: B_MINOR, Severity.MAJOR: B_MAJOR}


def from_spans(spans: Iterable[ErrorSpan], ranges: Sequence[Range]) -> list[int]:
    """Returns a tag for each token. Critical errors are tagged as Major; Neutral and undecided spans are ignored.

    A token that belongs to two spans gets the tag of the more severe one; of two equally severe spans, the first.

    Args:
        spans: error spans of the hypothesis.
        ranges: range of each token of the hypothesis.

    >>> from_spans([ErrorSpan(0, 4, Severity.MINOR), ErrorSpan(5, 6, Severity.MAJOR)], [(0, 2), (2, 4), (5, 9)])
    [1, 2, 3]
    """
    begins = [(_BEGIN[COUNTED[span.severity]], span) for span in spans if span.severity and span.severity in COUNTED]
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


def tokens_within(start: int, end: int, ranges: Sequence[Range]) -> range:
    """Returns the positions of the tokens that share a character with start..end, and of empty tokens inside it.

    >>> tokens_within(4, 6, [(0, 3), (3, 5), (5, 5), (5, 9), (9, 12)])
    range(1, 4)
    """
    touched = [number for number, (first, last) in enumerate(ranges) if first < end and last > start]
    return range(touched[0], touched[-1] + 1) if touched else range(0)
