"""Overlapping windows over texts that are too long for a model. All lengths are in tokens, without special tokens.

Models that read in pieces need them for a single sentence that is too long. No part of the hypothesis is dropped: each
window has the corresponding part of the contexts, and the kept parts of the windows cover the whole hypothesis. Of
contexts that are much longer than the hypothesis, parts may be in no window.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

TokenRange = tuple[int, int]
"""Tokens start..end, half-open."""

_CONTEXT_SHARE = 1.5
"""Width of a context's part relative to the hypothesis' part: translations differ in word order and length."""
_OVERLAP = 0.25
"""Share of a window that overlaps with the next."""
_SMALLEST_WINDOW = 1 / 8
"""Least share of the encoder's input that the hypothesis gets if the contexts are long."""


class Window(NamedTuple):
    """Parts of the texts that are read together.

    Attributes:
        hypothesis: part of the hypothesis.
        kept: the tokens of that part whose predictions are used, relative to its start.
        contexts: part of each context.
        is_cut: whether a part of a text is missing, because the texts are too long to be read at once.
    """

    hypothesis: TokenRange
    kept: TokenRange
    contexts: tuple[TokenRange, ...]
    is_cut: bool = False

    def shifted(self, start: int, starts: Sequence[int]) -> Window:
        """Returns the window over parts of texts as one over the whole texts.

        Args:
            start: first token of the part of the hypothesis.
            starts: first token of the part of each context.
        """
        (first, end), kept, contexts, is_cut = self
        places = [(first + shift, end + shift) for (first, end), shift in zip(contexts, starts, strict=True)]
        return Window((first + start, end + start), kept, tuple(places), is_cut)


def plan(n_tokens: int, lengths: Sequence[int], *, room: int, context_room: int | None = None) -> list[Window]:
    """Returns the windows over a hypothesis and contexts of these lengths.

    Args:
        n_tokens: length of the hypothesis.
        lengths: length of each context.
        room: largest number of tokens in a row, or in the decoder of a model that reads the hypothesis there.
        context_room: largest number of tokens in the encoder of such a model; None for one row of all texts.
    """
    total = sum(lengths)
    if context_room is None:
        is_whole = n_tokens + total <= room
        wanted = room * n_tokens / max(1.0, n_tokens + _CONTEXT_SHARE * total)
    else:
        is_whole = n_tokens <= room and total <= context_room
        wanted = min(room, n_tokens * context_room / max(1.0, _CONTEXT_SHARE * total))
    if is_whole:
        return [Window((0, n_tokens), (0, n_tokens), tuple([(0, length) for length in lengths]))]
    width = min(n_tokens, max(int(wanted), int(room * _SMALLEST_WINDOW)))
    left = room - width if context_room is None else context_room
    return [
        Window(part, kept, _cut_contexts(part, n_tokens, lengths, left), is_cut=True)
        for part, kept in _parts(n_tokens, width)
    ]


def _parts(n_tokens: int, width: int) -> list[tuple[TokenRange, TokenRange]]:
    """Returns overlapping parts of equal width, and their kept parts, which meet in the middle of the overlaps.

    >>> _parts(10, 4)
    [((0, 4), (0, 4)), ((3, 7), (1, 4)), ((6, 10), (1, 4))]
    """
    step = max(1, width - int(width * _OVERLAP))
    starts = [*range(0, n_tokens - width, step), n_tokens - width]
    middles = [(after + before + width + 1) // 2 for before, after in itertools.pairwise(starts)]
    cuts = [0, *middles, n_tokens]
    return [
        ((start, start + width), (cut - start, next_cut - start))
        for start, (cut, next_cut) in zip(starts, itertools.pairwise(cuts), strict=True)
    ]


def _cut_contexts(part: TokenRange, n_tokens: int, lengths: Sequence[int], room: int) -> tuple[TokenRange, ...]:
    """Returns the part of each context around the same relative position; the parts fit into `room` together."""
    total = sum(lengths)
    cut = []
    for length in lengths:
        width = length if total <= room else room * length // total
        middle = length * (part[0] + part[1]) / (2 * n_tokens) if n_tokens else 0
        start = min(max(0, round(middle - width / 2)), length - width)
        cut.append((start, start + width))
    return tuple(cut)
