"""Ranges of texts: whether they overlap, where they are in another text, and how UTF-16 counts them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeVar

from matese.annotation import ErrorSpan, Omission, Placed
from matese.errors import InputError

Range = tuple[int, int]
"""First character and one past the last, in code points."""
_Span = TypeVar("_Span", bound=ErrorSpan | Omission)
_FIRST_ASTRAL = "\U00010000"


class Piece(NamedTuple):
    """A range of a text, what stands in its place in another text, and whether both have the same characters."""

    place: Range
    other: Range
    is_same: bool


def sequence_edits(units: Sequence[str], other_units: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    """Returns how one sequence becomes another: kind, start, end, start and end in the other, as `difflib` has them."""
    # autojunk would leave out units that are frequent in a long text: the space, the letter e.
    return SequenceMatcher(None, units, other_units, autojunk=False).get_opcodes()


def project_range(start: int, end: int, pieces: Iterable[Piece]) -> Range | None:
    """Returns where a range of a text is in another text; None if none of the pieces, which are in order, is of it.

    >>> pieces = [Piece((0, 8), (0, 8), True), Piece((8, 11), (8, 12), False)]  # "Das ist rot", "Das ist blau"
    >>> project_range(4, 7, pieces), project_range(4, 10, pieces), project_range(20, 22, pieces)
    ((4, 7), (4, 12), None)
    """
    places = [
        (max(first, start) - first + counterpart[0], min(last, end) - first + counterpart[0])
        if is_same
        else counterpart
        for (first, last), counterpart, is_same in pieces
        if first < end and start < last
    ]
    return (places[0][0], places[-1][1]) if places else None


def overlap(span: Placed, other: Placed) -> bool:
    """Whether two spans of one text share a character."""
    return span.start < other.end and other.start < span.end


def covered_pieces(text: str, spans: Sequence[_Span]) -> Iterator[tuple[Range, list[_Span]]]:
    """Yields the ranges of a text between the borders of its spans, and the spans that cover each."""
    borders = sorted({0, len(text), *(place for span in spans for place in (span.start, span.end))})
    for start, end in pairwise(borders):
        yield (start, end), [span for span in spans if span.start <= start and end <= span.end]


class Utf16Text:
    """The code points and UTF-16 code units of a text.

    >>> text = Utf16Text("a😀b")
    >>> text.to_unit(2), text.to_place(3), text.n_units
    (3, 2, 4)
    """

    def __init__(self, text: str) -> None:
        # In most texts no character is beyond U+FFFF, and both counts agree.
        self._starts: Sequence[int] = range(len(text) + 1)
        if text and max(text) >= _FIRST_ASTRAL:
            self._starts = [0, *accumulate(1 + (letter >= _FIRST_ASTRAL) for letter in text)]
        self.n_units = self._starts[-1]

    def to_unit(self, place: int) -> int:
        """Returns the offset in code units for an offset in code points within the text."""
        return self._starts[place]

    def to_place(self, unit: int) -> int:
        """Returns the offset in code points for an offset in code units.

        Raises:
            InputError: if it is beyond the text or in the middle of a surrogate pair.
        """
        if not 0 <= unit <= self.n_units:
            raise InputError(f"offset {unit}: must be between 0 and {self.n_units}, the text's UTF-16 code units")
        place = bisect_left(self._starts, unit)
        if self._starts[place] != unit:
            raise InputError(f"offset {unit} is in the middle of a surrogate pair: must be before or after a character")
        return place
