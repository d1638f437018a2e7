"""Offsets of tools that run in a browser: JavaScript counts UTF-16 code units, two for a character beyond U+FFFF.

Error spans of ESA interfaces (`EsaSpan`) have an inclusive end, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import msgspec

from matese.annotation import ErrorSpan, Overall, Rating, Segment, UnplacedError, severities
from matese.errors import InputError, one_of
from matese.formats.format import rating_of
from matese.formats.row_issues import RowIssues
from matese.text.ranges import Utf16Text

MISSING = "missing"
"""The offset of an error without a place."""
_NO_CATEGORIES = (None,) * len(" [missing] ")
"""Of tokens behind a text whose categories are not known: its offsets may be those of one token, or of its letters."""


def to_range(text: Utf16Text, start: int, end: int, *, issues: RowIssues) -> tuple[int, int]:
    """Returns a range in code points; one that starts or ends within a character includes it, and is reported.

    Raises:
        InputError: if an offset is beyond the text.
        FormatError: in strict reading, if an offset is in the middle of a character.
    """
    return _edge(text, start, -1, issues=issues), _edge(text, end, 1, issues=issues)


def _edge(text: Utf16Text, unit: int, step: int, *, issues: RowIssues) -> int:
    try:
        return text.to_place(unit)
    except InputError as error:
        if not 0 <= unit <= text.n_units:
            raise
        issues.repair("offset in the middle of a surrogate pair", str(error).partition(": ")[2])
        return text.to_place(unit + step)


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


def report_unknown(spans: object, issues: RowIssues) -> None:
    """Reports the keys of spans, as JSON has them, that are not understood."""
    for span in spans if isinstance(spans, list) else ():
        issues.ignore_unknown(span if isinstance(span, dict) else (), EsaSpan.__struct_fields__)


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
    tokens: Sequence[str | None] = _NO_CATEGORIES,
) -> Rating:
    """Returns a rating, with a score of 0-100 if people gave one.

    A first offset beyond the text is that of a token which the interface shows behind it, such as [missing], for errors
    without a place; `MISSING` stands for the first token.
    What is reported: spans that begin beyond the tokens, ends beyond the text, offsets within a character, which is
    then included, and spans with an unknown severity, which are left out.

    Args:
        segment: what is rated.
        spans: None if the segment is not annotated.
        issues: of the row.
        rater: who has annotated it.
        score: the judgement of the whole segment.
        tokens: the categories of errors on the tokens behind the text, which have one offset each.

    Raises:
        InputError: if an offset is not allowed.
    """
    units = Utf16Text(segment.hypothesis)
    overall = None if score is None else Overall(score, "esa")
    errors = [_error(units, span, issues, tokens) for span in spans or ()]
    understood = [error for error in errors if error is not None]
    rating = rating_of(segment, rater, understood, overall=overall)
    is_free_of_errors = spans is not None and not errors
    return rating if understood or is_free_of_errors else replace(rating, errors=None)


def _error(
    text: Utf16Text, span: EsaSpan, issues: RowIssues, tokens: Sequence[str | None]
) -> ErrorSpan | UnplacedError | None:
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
        return UnplacedError(severity, category or tokens[0])
    if isinstance(first, str) or isinstance(last, str) or not 0 <= first <= last:
        raise InputError(f"error span {first}..{last}: must have integers 0 <= start_i <= end_i, or {MISSING}")
    if first >= text.n_units:
        if first >= text.n_units + len(tokens):
            issues.repair("span begins beyond the text", f"{first} must be less than {text.n_units}")
            return UnplacedError(severity, category)
        return UnplacedError(severity, category or tokens[first - text.n_units])
    if last >= text.n_units:
        issues.repair("span ends beyond the text", f"{last} must be less than {text.n_units}")
    return ErrorSpan(*to_range(text, first, min(last + 1, text.n_units), issues=issues), severity, category)
