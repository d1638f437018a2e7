"""Segments with their neighbours in the document, of a stream that may have no end."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain

from matese.annotation import Segment, SegmentKey
from matese.language_model.prompts import Passage


def passages(segments: Iterable[Segment], n_context: int) -> Iterator[Passage]:
    """Yields each segment with up to `n_context` segments before and after it, of the same document and system.

    Segments without a key are those of one document. At most `n_context` segments are taken ahead.

    >>> [(len(each.before), len(each.after)) for each in passages([Segment("a"), Segment("b"), Segment("c")], 1)]
    [(0, 1), (1, 1), (1, 0)]
    """
    if not n_context:
        yield from map(Passage, segments)
        return
    window: deque[Segment | None] = deque([None] * (n_context + 1), maxlen=2 * n_context + 1)
    for number, segment in enumerate(chain(segments, [None] * n_context)):
        window.append(segment)
        if number < n_context:
            continue
        around = list(window)
        middle = around[-1 - n_context]
        if middle is not None:
            place = _document(middle)
            before, after = (
                tuple(neighbour for neighbour in side if neighbour is not None and _document(neighbour) == place)
                for side in (around[: -1 - n_context], around[len(around) - n_context :])
            )
            yield Passage(middle, before, after)


def _document(segment: Segment) -> tuple[str | None, ...]:
    key = segment.key or SegmentKey()
    return key.test_set, key.lang_pair, key.system, key.document
