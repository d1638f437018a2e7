"""Offsets of tools that run in a browser: JavaScript counts UTF-16 code units, two for a character beyond U+FFFF.

Error spans of ESA interfaces (`EsaSpan`) have an inclusive end, too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

import msgspec

from matese.annotation import ErrorSpan, Overall, Rating, Segment, UnplacedError
from matese.errors import InputError, one_of
from matese.formats import severities
from matese.formats.format import rating_of
from matese.formats.row_issues import RowIssues

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

    def to_range(self, start: int, end: int, issues: RowIssues) -> tuple[int, int]:
        """Returns a range in code points; one that starts or ends within a character includes it, and is reported.

        Raises:
            InputError: if an offset is beyond the text.
            FormatError: in strict reading, if an offset is in the middle of a character.
        """
        return self._edge(start, -1, issues), self._edge(end, 1, issues)

    def _edge(self, unit: int, step: int, issues: RowIssues) -> int:
        try:
            return self.to_place(unit)
        except InputError as error:
            if not 0 <= unit <= self.n_units:
                raise
            issues.repair("offset in the middle of a surrogate pair", str(error).partition(": ")[2])
            return self.to_place(unit + step)


class EsaSpan(msgspec.Struct):
    """An error in the JSON of an ESA interface.

    Attributes:
        start_i: first code unit, or `MISSING`.
        end_i: last code unit, inclusive, or `MISSING`.
        severity: in any case; None or "undecided" for undecided.
        category: in Pearmut.
        error_type: the category in Appraise.
    """

    start_i: int | str
    end_i: int | str
    severity: str | None = None
    category: str | None = None
    error_type: str | None = None


def to_esa(rating: Rating, missing: int | str) -> Iterator[tuple[ErrorSpan | UnplacedError, int | str, int | str]]:
    """Yields each error with its first and last code unit; `missing` stands for both without a place."""
    units = Utf16Text(rating.segment.hypothesis)
    for span in rating.errors or ():
        yield span, units.to_unit(span.start), units.to_unit(span.end) - 1
    yield from ((error, missing, missing) for error in rating.unplaced)


def from_esa(
    segment: Segment,
    spans: Sequence[EsaSpan] | None,
    issues: RowIssues,
    *,
    rater: str | None,
    score: float | None = None,
) -> Rating:
    """Returns a rating, with a score of 0-100 if people gave one.

    An offset of `MISSING`, or a first one beyond the text, where interfaces show a token [missing], is an omission.
    Ends beyond the text, offsets within a character, which is then included, and spans with an unknown severity, which
    are left out, are reported.

    Args:
        segment: what is rated.
        spans: None if the segment is not annotated.
        issues: of the row.
        rater: who has annotated it.
        score: the judgement of the whole segment.

    Raises:
        InputError: if an offset is not allowed.
    """
    units = Utf16Text(segment.hypothesis)
    overall = None if score is None else Overall(score, "esa")
    errors = [_error(units, span, issues) for span in spans or ()]
    known = [error for error in errors if error is not None]
    rating = rating_of(segment, rater, known, overall=overall)
    is_free_of_errors = spans is not None and not errors
    return rating if known or is_free_of_errors else replace(rating, errors=None)


def _error(text: Utf16Text, span: EsaSpan, issues: RowIssues) -> ErrorSpan | UnplacedError | None:
    """Returns the error of a span; None if its severity is unknown."""
    try:
        severity = severities.parse_optional(span.severity)
    except InputError:
        issues.ignore(f"unknown severity {span.severity!r}", f"must be {one_of(severities.NAMES)}")
        return None
    category = span.category or span.error_type
    first = span.start_i
    last = span.end_i
    if MISSING in (first, last):
        return UnplacedError(severity, category)
    if isinstance(first, str) or isinstance(last, str) or not 0 <= first <= last:
        raise InputError(f"error span {first}..{last}: must have integers 0 <= start_i <= end_i, or {MISSING}")
    if first >= text.n_units:
        return UnplacedError(severity, category)
    if last >= text.n_units:
        issues.repair("span ends beyond the text", f"{last} must be less than {text.n_units}")
    return ErrorSpan(*text.to_range(first, min(last + 1, text.n_units), issues), severity, category)
