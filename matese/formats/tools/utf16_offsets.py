"""Offsets of tools that run in a browser: JavaScript counts UTF-16 code units, two for a character beyond U+FFFF.

Error spans of ESA interfaces (`EsaSpan`) have an inclusive end, too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import accumulate

import msgspec

from matese.annotation import ErrorSpan, UnplacedError
from matese.errors import InputError
from matese.formats import severities
from matese.formats.issues import IssueHandler

MISSING = "missing"
"""The offset of an error without a place."""
_FIRST_ASTRAL = "\U00010000"


class Utf16Text:
    """The code points and UTF-16 code units of a text.

    >>> text = Utf16Text("a😀b")
    >>> text.to_unit(2), text.to_place(3), text.n_units
    (3, 2, 4)
    """

    def __init__(self, text: str) -> None:
        # In most texts no character is beyond U+FFFF, and both counts agree.
        is_simple = not text or max(text) < _FIRST_ASTRAL
        self._starts = None if is_simple else [0, *accumulate(1 + (letter >= _FIRST_ASTRAL) for letter in text)]
        self.n_units = len(text) if self._starts is None else self._starts[-1]

    def to_unit(self, place: int) -> int:
        """Returns the offset in code units for an offset in code points within the text."""
        return place if self._starts is None else self._starts[place]

    def to_place(self, unit: int) -> int:
        """Returns the offset in code points for an offset in code units.

        Raises:
            InputError: if it is beyond the text or in the middle of a surrogate pair.
        """
        if not 0 <= unit <= self.n_units:
            raise InputError(f"offset {unit}: must be between 0 and {self.n_units}, the text's UTF-16 code units")
        if self._starts is None:
            return unit
        place = bisect_left(self._starts, unit)
        if self._starts[place] != unit:
            raise InputError(f"offset {unit} is in the middle of a surrogate pair: must be before or after a character")
        return place

    def to_range(self, start: int, end: int, issues: IssueHandler, line: int) -> tuple[int, int]:
        """Returns a range in code points; one that starts or ends within a character is extended to its edge.

        Args:
            start: first code unit.
            end: one past the last code unit.
            issues: gets an offset within a character.
            line: of the file, for messages.

        Raises:
            InputError: if an offset is beyond the text.
            FormatError: in strict reading, if an offset is in the middle of a character.
        """
        return self._edge(start, -1, issues, line), self._edge(end, 1, issues, line)

    def _edge(self, unit: int, step: int, issues: IssueHandler, line: int) -> int:
        try:
            return self.to_place(unit)
        except InputError as error:
            if not 0 <= unit <= self.n_units:
                raise
            issues.repair(line, "offset in the middle of a surrogate pair", str(error).partition(": ")[2])
            return self.to_place(unit + step)


class EsaSpan(msgspec.Struct):
    """An error in the JSON of an ESA interface; offsets may be `MISSING`, and names of keys differ.

    Attributes:
        start_i: first code unit.
        end_i: last code unit, inclusive.
        severity: in any case; None or "undecided" for undecided.
        category: in Pearmut.
        error_type: the category in Appraise.
    """

    start_i: int | str
    end_i: int | str
    severity: str | None = None
    category: str | None = None
    error_type: str | None = None


def to_esa(text: str, spans: Iterable[ErrorSpan]) -> Iterator[tuple[int, int]]:
    """Yields the first and last code unit of each span."""
    units = Utf16Text(text)
    for span in spans:
        yield units.to_unit(span.start), units.to_unit(span.end) - 1


def from_esa(
    text: str, spans: Iterable[EsaSpan], issues: IssueHandler, line: int
) -> tuple[tuple[ErrorSpan, ...], tuple[UnplacedError, ...]]:
    """Returns the errors with and without a place.

    An offset of `MISSING`, or a first one beyond the text, where interfaces show a token [missing], is an omission.

    Args:
        text: the hypothesis.
        spans: its errors.
        issues: gets ends beyond the text, and offsets within a character, which is then included.
        line: of the file, for messages.

    Raises:
        InputError: if an offset or a severity is not allowed.
    """
    units = Utf16Text(text)
    errors = [_error(units, span, issues, line) for span in spans]
    placed = tuple(error for error in errors if isinstance(error, ErrorSpan))
    return placed, tuple(error for error in errors if isinstance(error, UnplacedError))


def _error(text: Utf16Text, span: EsaSpan, issues: IssueHandler, line: int) -> ErrorSpan | UnplacedError:
    severity, category = severities.parse_optional(span.severity), span.category or span.error_type
    first, last = span.start_i, span.end_i
    if MISSING in (first, last):
        return UnplacedError(severity, category)
    if isinstance(first, str) or isinstance(last, str) or not 0 <= first <= last:
        raise InputError(f"error span {first}..{last}: must have integers 0 <= start_i <= end_i, or {MISSING}")
    if first >= text.n_units:
        return UnplacedError(severity, category)
    if last >= text.n_units:
        issues.repair(line, "span ends beyond the text", f"{last} must be less than {text.n_units}")
    return ErrorSpan(*text.to_range(first, min(last + 1, text.n_units), issues, line), severity, category)
