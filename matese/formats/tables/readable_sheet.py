"""The sheet of a workbook that people read and correct: texts, and errors in words, one per line of a cell.

An error is "Major: »word«", "Minor Style: »word«", "Major in source: »word«", "Major missing from source: »word«" or
"Major without a place"; people may use any quotation marks, or none, and any case. A corrected line names its
words, which must stand in the text once; a line that is as it was written stands for the error that it was written for,
with its place and confidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from matese import mqm
from matese.annotation import AnyError, ErrorSpan, Omission, Rating, Segment, UnplacedError, severities
from matese.errors import InputError
from matese.formats.format import rating_of
from matese.formats.person_review import REVIEWED
from matese.formats.row_issues import RowIssues

ERRORS = "marked errors"
NUMBER = "row"
SCORES = ("score", "expected score")
ADDED = (ERRORS, REVIEWED, *SCORES, NUMBER)
"""Headings of the columns that follow the user's."""
NO_ERRORS = "no errors"
_LABELS = tuple(map(severities.label, severities.EVERY))
SYNTAX = f"""One error a line; severities: {", ".join(_LABELS)}.
Major: »word« - words of the translation
Minor Style: »two words« - with a category
Major in source: »word« - words of the source
Major missing from source: »word« - words that the translation lacks
Minor without a place - an error of the whole text
{NO_ERRORS} - the translation is right
An empty cell: nobody has judged the translation.
Mark a row as {REVIEWED} (x) when you have looked at it and changed nothing."""
_QUOTES = ("»«", "«»", "›‹", "‹›", "“”", "„“", "„”", "””", "‘’", "‚‘", "’’", '""', "''", "「」", "『』")
_QUOTED = "|".join(f"{re.escape(first)}.*{re.escape(last)}" for first, last in map(tuple, _QUOTES))
_PLACE = r"(?P<place>\s+in\s+source|\s+missing\s+from\s+(?:source|reference\s+\d+))?"
_WORDS = rf"(?:\s*[:：]\s*(?P<quoted>{_QUOTED})|(?P<unplaced>\s+without\s+a\s+place))"
_SEVERITY = "|".join(_LABELS)
_LINE = re.compile(rf"(?P<severity>{_SEVERITY})(?:\s+(?P<category>.*?))??{_PLACE}{_WORDS}", re.DOTALL | re.IGNORECASE)
_BARE = re.compile(
    rf"(?P<severity>{_SEVERITY})(?:\s+(?P<category>[^:：]*?))??{_PLACE}\s*[:：]\s*(?P<bare>.+)",
    re.DOTALL | re.IGNORECASE,
)
"""A line whose words have no quotation marks."""
_BORDER = re.compile(rf"\n(?=(?:{_SEVERITY})\b)", re.IGNORECASE)
_OTHER_BORDER = re.compile(rf"[;,；，]\s*(?=(?:{_SEVERITY})\b)", re.IGNORECASE)
"""Between errors of one line, as people write them; it may stand in a quoted text, too."""


def lines(rating: Rating) -> list[tuple[str, AnyError | None]]:
    """Returns the lines of the errors, each with its error; None where it is an error in the source."""
    segment = rating.segment
    marked: list[tuple[str, AnyError | None]] = []
    for span in rating.errors or ():
        marked.append((f"{_title(span)}: »{segment.hypothesis[span.start : span.end]}«", span))
    for span in rating.source_errors:
        marked.append((f"{_title(span)} in source: »{(segment.source or '')[span.start : span.end]}«", None))
    for omission in rating.omissions:
        place = "source" if omission.reference is None else f"reference {omission.reference + 1}"
        marked.append((f"{_title(omission)} missing from {place}: »{omission.words(segment)}«", omission))
    return [*marked, *((f"{_title(error)} without a place", error) for error in rating.unplaced)]


def text(rating: Rating) -> str:
    """Returns the cell of a rating; empty where spans were not annotated and there is no error."""
    written = "\n".join(line for line, _ in lines(rating))
    return written or ("" if rating.errors is None else NO_ERRORS)


def corrected(cell: str, before: Rating, hypothesis: str, issues: RowIssues) -> Rating:
    """Returns the rating that a cell of errors says.

    Args:
        cell: the lines, as a person left them.
        before: the rating that they were written for.
        hypothesis: the translation, which may be another one now. A text where there was none is not "untranslated"
            any more; without another error, nobody has judged it.
        issues: of the row.

    Raises:
        InputError: if lines are not understood, or their words do not stand in the text once; names all of them.
    """
    is_same = "".join(hypothesis.split()) == "".join(before.segment.hypothesis.split())
    segment = before.segment if is_same else replace(before.segment, hypothesis=hypothesis)
    if is_same and _plain(cell) == _plain(text(before)):
        return before
    estimate = before.estimate if is_same else None  # a model's, of another text
    error_free = before.error_free if is_same else None
    lines_of_cell = list(_lines_of(cell))
    outdated = [] if is_same or before.segment.hypothesis.strip() else list(filter(_is_untranslated, lines_of_cell))
    for _ in outdated:
        issues.repair("a translation was added, and its error Non-translation is left out", None)
    left = [line for line in lines_of_cell if line not in outdated]
    if not _plain(cell) or (outdated and not left):
        unjudged = replace(before, segment=segment, errors=None, source_errors=(), omissions=(), unplaced=())
        return replace(unjudged, estimate=estimate, error_free=error_free)
    errors_of_lines: dict[str, list[AnyError]] = {}
    for line, error in lines(before):
        if error is not None and (is_same or not isinstance(error, ErrorSpan)):
            errors_of_lines.setdefault(_plain(line), []).append(error)
    errors, source_errors = _marks(left, segment, errors_of_lines)
    return rating_of(segment, before.rater, errors, source_errors, overall=before.overall, estimate=estimate)


def _marks(
    lines_of_cell: Iterable[str], segment: Segment, errors_of_lines: dict[str, list[AnyError]]
) -> tuple[list[AnyError], list[ErrorSpan]]:
    """Returns the errors of lines, and those in the source; `errors_of_lines` are those of lines that may be untouched.

    Raises:
        InputError: if lines are not understood; names all of them.
    """
    errors: list[AnyError] = []
    source_errors: list[ErrorSpan] = []
    problems: list[str] = []
    for line in lines_of_cell:
        if errors_of_lines.get(_plain(line)):
            errors.append(errors_of_lines[_plain(line)].pop(0))
            continue
        try:
            parsed = _parsed(line, segment)
        except InputError as problem:
            problems.append(str(problem))
            continue
        for is_source, error in parsed:
            if is_source and isinstance(error, ErrorSpan):
                source_errors.append(error)
            else:
                errors.append(error)
    if problems:
        raise InputError("; ".join(problems))
    return errors, source_errors


def _title(error: AnyError) -> str:
    return severities.label(error.severity) + ("" if error.category is None else f" {error.category}")


def _plain(cell: str) -> str:
    """Returns a text as it is compared: programs change line ends and the white space around a cell."""
    return " ".join(cell.split())


def _lines_of(cell: str) -> Iterable[str]:
    parts = [part.strip() for part in _BORDER.split(cell.strip().replace("\r\n", "\n"))]
    is_free = len(parts) == 1 and _plain(parts[0]).casefold() == NO_ERRORS
    return [] if is_free else [part for part in parts if part]


def _is_untranslated(line: str) -> bool:
    """Whether a line is the error of a text without a translation."""
    return _plain(line).casefold() == f"{_title(mqm.NON_TRANSLATION)} without a place".casefold()


def _parsed(line: str, segment: Segment) -> list[tuple[bool, AnyError]]:
    """Returns the errors of a line, also several after semicolons or commas; each with whether it is in the source."""
    try:
        return [_parse(line, segment)]
    except InputError:
        parts = _OTHER_BORDER.split(line)
        if len(parts) == 1:
            raise
        return [_parse(part, segment) for part in parts]


def _parse(line: str, segment: Segment) -> tuple[bool, AnyError]:
    """Returns whether an error is in the source, and the error."""
    match = _LINE.fullmatch(line) or _BARE.fullmatch(line)
    if match is None:
        allowed = f'"Major: »words«", "Minor without a place" or "{NO_ERRORS}", with one of {", ".join(_LABELS)}'
        raise InputError(f"{ERRORS} has {line!r}: must be such as {allowed}")
    severity = severities.parse_optional(match["severity"])
    category = match["category"]
    parts = match.groupdict()
    if parts.get("unplaced"):
        return False, UnplacedError(severity, category)
    place = _plain(match["place"] or "").casefold()
    words = (
        parts["bare"].strip() if "bare" in parts else match["quoted"][1:-1].strip()
    )  # as French quotation marks have spaces inside
    if not place or place == "in source":
        name = "source" if place else "translation"
        start, end = _find(words, (segment.source or "") if place else segment.hypothesis, name)
        return bool(place), ErrorSpan(start, end, severity, category)
    name = place.removeprefix("missing from ")
    number = None if name == "source" else int(name.removeprefix("reference ")) - 1
    if number is not None and not 0 <= number < len(segment.references):
        raise InputError(f"{ERRORS} names {name}: must be one of {len(segment.references)}")
    context = segment.source or "" if number is None else segment.references[number]
    start, end = _find(words, context, name)
    return False, Omission("source" if number is None else "reference", number, start, end, severity, category)


def _find(words: str, context: str, name: str) -> tuple[int, int]:
    """Returns the place of words. Raises InputError unless they stand in the text once."""
    starts = [match.start() for match in _occurrences(words, context)]
    if len(starts) != 1:
        place = f"the {name} of this row"
        many = f"stands {len(starts)} times in {place}: add the words beside it" if starts else f"is not in {place}"
        raise InputError(f"»{words}« {many}")
    return starts[0], starts[0] + len(words)


def _occurrences(words: str, context: str) -> Iterator[re.Match[str]]:
    """Yields where words stand as whole words; anywhere if they stand nowhere as such."""
    whole = list(re.finditer(rf"(?<!\w)(?={re.escape(words)}(?!\w))", context)) if words else []
    yield from whole or (re.finditer(f"(?={re.escape(words)})", context) if words else ())
