"""Offsets of tools that run in a browser: JavaScript counts UTF-16 code units, two for a character beyond U+FFFF."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

from matese.formats.lines import Faults

_FIRST_ASTRAL = "\U00010000"


class Units:
    """A text's code points and UTF-16 code units.

    >>> units = Units("a😀b")
    >>> units.of(2), units.place(3), units.n_units
    (3, 2, 4)
    """

    def __init__(self, text: str) -> None:
        # Most texts hold no character beyond U+FFFF, and both ways of counting agree.
        is_simple = not text or max(text) < _FIRST_ASTRAL
        self._starts = None if is_simple else [0, *accumulate(1 + (letter >= _FIRST_ASTRAL) for letter in text)]
        self.n_units = len(text) if self._starts is None else self._starts[-1]

    def of(self, place: int) -> int:
        """Returns the offset in code units of an offset in code points within the text."""
        return place if self._starts is None else self._starts[place]

    def place(self, unit: int) -> int:
        """Returns the offset in code points.

        Raises:
            ValueError: if it is beyond the text or in the middle of a surrogate pair.
        """
        if not 0 <= unit <= self.n_units:
            raise ValueError(f"offset {unit}: must be between 0 and {self.n_units}, the text's UTF-16 code units")
        if self._starts is None:
            return unit
        place = bisect_left(self._starts, unit)
        if self._starts[place] != unit:
            raise ValueError(f"offset {unit} is in the middle of a surrogate pair: must be before or after a character")
        return place


def whole(units: Units, unit: int, step: int, faults: Faults, line: int) -> int:
    """Returns the place of a code unit; of one in the middle of a character, that of the character's edge.

    Args:
        units: of the text.
        unit: the offset in code units.
        step: -1 for the edge before it, 1 for the one behind it.
        faults: is told of a unit in the middle of a character.
        line: of the file, for messages.

    Raises:
        ValueError: if it is beyond the text.
        FormatError: if it is in the middle of a character and the file is read strictly.
    """
    try:
        return units.place(unit)
    except ValueError as error:
        if not 0 <= unit <= units.n_units:
            raise
        faults.repair(line, "offset in the middle of a surrogate pair", str(error).partition(": ")[2])
        return units.place(unit + step)
