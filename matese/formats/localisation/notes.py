"""Ratings as notes for translators, in XLIFF and PO files.

A note is a header with the rater, a line for each error, and the lines of the rater's comment::

    [matese] "anna"
    Major error (Fluency/Grammar): »löschen« (confidence 44 %) [10..17]
    Minor error in the source: »the the« [4..11]
    Major error, missing in the translation (Accuracy/Omission): »not« (confidence 61 %) [12..15]
    Major error (Accuracy/Mistranslation/Number): »17« [12..14], rule numbers
    Major error without a place (Accuracy/Omission/Inline code): »<x 1>«, rule codes
    Minor error: »löschen« [10..17], better "entfernen", because "not the term"
    Comment: Is this the verb or the noun?
    Correction: Die Datei löschen

    [matese form 1] "anna": no errors

It ends at an empty line, at the next header, or where the comments of its text end. The grammar, in which "?" follows
what is optional::

    header = "[matese" (" " "form "? FORM)? "]" (" " RATER)? ": no errors"?
    line   = SEVERITY SIDE? (" (" CATEGORY ")")? (": »" WORDS "«" confidence? place?)? (", rule " NAME)? said?
    said   = (", better " JSON string)? (", because " JSON string)?
    confidence = " (confidence " PERCENT " %)"
    place  = " [" START ".." END "]"
    comment = ("Comment: " | "Correction: ") (TEXT | JSON string)

FORM is the number of a plural form, RATER a JSON string or null, CATEGORY a JSON string unless it is plain. SEVERITY
and SIDE are the words of `_SEVERITIES` and `_SIDES`. START and END are offsets in code points; if they are missing or
do not fit, the error is where its words are, which the text must then have only once.

If one rater has rated every text of a file, the rater is named once, in the header of the file::

    [matese] "anna" (translations without a note have no errors)

The first line of other notes is then "[matese]" alone, and error-free texts without a comment have no note.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from matese import mqm
from matese.annotation import AnyError, ErrorSpan, Omission, Rating, Segment, Severity, UnplacedError, severities
from matese.errors import InputError
from matese.formats.corrections import comment_of
from matese.formats.format import rating_of
from matese.formats.row_issues import RowIssues
from matese.formats.tables.headings import COMMENT
from matese.validation import plain_values

ORIGIN = "matese"
_Side = Literal["errors", "source_errors", "omissions", "unplaced"]
"""Where an error is: the field of a Rating that holds it."""
_SIDES: Mapping[_Side, str] = {
    "errors": "",
    "source_errors": " in the source",
    "omissions": ", missing in the translation",
    "unplaced": " without a place",
}
_SEVERITIES: Mapping[Severity | None, str] = {
    **{severity: f"{severities.label(severity)} error" for severity in Severity},
    None: "Error",
    Severity.NEUTRAL: "Remark",
}
_SIDE_OF = {words: side for side, words in _SIDES.items()}
_SEVERITY_OF = {words: severity for severity, words in _SEVERITIES.items()}


def _any(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, words))


_NO_ERRORS = ": no errors"
_HEADER = re.compile(rf"\[{ORIGIN}(?: form (?P<form>\d{{1,9}}))?\](?: (?P<rater>.*?))?(?:{_NO_ERRORS})?")
_OF_FILE = re.compile(rf"\[{ORIGIN}\] (.*) \(translations without a note have no errors\)")
_JSON = r'"(?:[^"\\]|\\.)*"'
_LINE = re.compile(
    rf"(?P<severity>{_any(_SEVERITY_OF)})"
    rf"(?P<side>{_any(_SIDE_OF)})"
    rf'(?: \((?P<category>{_JSON}|[^"()]+)\))?'
    r"(?P<place>: »(?P<words>.+)«"
    r"(?: \(confidence (?P<percent>\d{1,3}) %\))?"
    r"(?: \[(?P<start>\d{1,18})\.\.(?P<end>\d{1,18})\])?)?"
    r"(?:, rule (?P<rule>[\w-]+))?"
    rf"(?:, better (?P<correction>{_JSON}))?(?:, because (?P<reason>{_JSON}))?"
)
_COMMENT_LINE = re.compile(r"Comment: ?(.*)")
_CORRECTION_LINE = re.compile(r"Correction: ?(.*)")
_PLAIN_CATEGORY = re.compile(r"[\w/ .&-]+", re.ASCII)


class OutdatedNoteError(InputError):
    """A note whose words are not in its text as it stands."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note as it is written.

    Attributes:
        form: number of the plural form; None if the text has only one.
        rater: in JSON; empty for that of the file.
        lines: what follows the header.
    """

    form: int | None
    rater: str
    lines: Sequence[str] = ()


def of_file(rater: str | None) -> str:
    """Returns the note in the header of a file whose texts one rater has rated."""
    return f"[{ORIGIN}] {_json(rater)} (translations without a note have no errors)"


def raters_of_file(lines: Iterable[str], issues: RowIssues) -> list[str | None]:
    """Returns the rater whom the lines of a file's header name, if they do; other notes there are reported."""
    raters: list[str | None] = []
    for line in lines:
        if (match := _OF_FILE.fullmatch(line)) and not raters:
            raters.append(_rater(match[1]))
        elif _HEADER.fullmatch(line):
            issues.ignore("note in the header of the file", f"{line!r} must be one rater of all translations")
    return raters


def write(rating: Rating, form: int | None = None, *, names_rater: bool = True) -> str:
    """Returns the note of a rating.

    Args:
        rating: confidences are rounded to a percent.
        form: the number of the plural form that is rated.
        names_rater: whether the rater is named, as it must be unless the header of the file does so.
    """
    number = "" if form is None else f" form {form}"
    free = "" if rating.all_errors else _NO_ERRORS
    lines = [f"[{ORIGIN}{number}]{f' {_json(rating.rater)}' if names_rater else ''}{free}"]
    for side in _SIDES:
        text = _text(rating.segment, side)
        lines += [_line(error, side, text) for error in getattr(rating, side) or ()]
    if comment := comment_of(rating.segment):
        lines += [f"Comment: {_one_line(text)}" for text in comment.splitlines()]
    if rating.correction is not None:
        lines.append(f"Correction: {_one_line(rating.correction)}")
    return "\n".join(lines)


def _one_line(text: str) -> str:
    is_plain = text == text.strip() != "" and text.isprintable() and not text.startswith('"')
    return text if is_plain else _json(text)


def _line(error: AnyError, side: _Side, text: str) -> str:
    label = f"{_SEVERITIES[error.severity]}{_SIDES[side]}"
    if error.category is not None:
        is_plain = _PLAIN_CATEGORY.fullmatch(error.category) is not None
        label += f" ({error.category if is_plain else json.dumps(error.category)})"
    said = "" if error.rule is None else f", rule {error.rule}"
    if isinstance(error, ErrorSpan) and error.correction is not None:
        said += f", better {_json(error.correction)}"
    if error.reason is not None:
        said += f", because {_json(error.reason)}"
    if isinstance(error, UnplacedError):
        return f"{label}{'' if error.words is None else f': »{_shown(error.words)}«'}{said}"
    sure = "" if error.confidence is None else f" (confidence {round(100 * error.confidence)} %)"
    return f"{label}: »{_shown(text)[error.start : error.end]}«{sure} [{error.start}..{error.end}]{said}"


def split(lines: Iterable[str]) -> Iterator[Note]:
    """Yields each note in some lines; one with a header that is not understood has that as its first line."""
    for note, _ in placed(lines):
        yield note


def placed(lines: Iterable[str]) -> Iterator[tuple[Note, range]]:
    """Yields each note in some lines, and the numbers of its lines, from 0."""
    note = None
    first = 0
    for number, line in enumerate((*lines, "")):
        is_header = line.startswith(f"[{ORIGIN}")
        if note and line and not is_header:
            note = replace(note, lines=(*note.lines, line))
            continue
        if note:
            yield note, range(first, number)
        note = _headed(line) if is_header else None
        first = number


def other_lines(lines: Sequence[str]) -> list[str]:
    """Returns the lines that are in no note."""
    in_notes = {number for _, numbers in placed(lines) for number in numbers}
    return [line for number, line in enumerate(lines) if number not in in_notes]


def name_in(header: Iterable[str]) -> str:
    """Returns the rater, in JSON, whom the lines of a file's header name; "" if they name none."""
    return next((match[1] for line in header if (match := _OF_FILE.fullmatch(line))), "")


def is_ours(note: Note, of_file: str) -> bool:
    """Whether a model or check of ours made a note, and no person: its rater is a signature.

    Args:
        note: of a text, or of the file.
        of_file: the rater of a note that names none, as `name_in` returns it.
    """
    return mqm.is_signature((note.rater or of_file).removeprefix('"'))


def comment_lines(note: Note) -> list[str]:
    """Returns the lines of a note that hold its comment."""
    return [line for line in note.lines if _COMMENT_LINE.fullmatch(line)]


def _headed(line: str) -> Note:
    header = _HEADER.fullmatch(line)
    if header is None:
        return Note(None, "", (line,))
    return Note(int(header["form"]) if header["form"] else None, header["rater"] or "")


def read(note: Note, segment: Segment, issues: RowIssues, *, of_file: str | None = None) -> Rating:
    """Returns the rating of a note; lines that are not understood are reported.

    Args:
        note: as `split` has found it.
        segment: what it rates.
        issues: of the text.
        of_file: the rater of a note that names none.

    Raises:
        OutdatedNoteError: if an error cannot be found in the texts.
    """
    errors: list[AnyError] = []
    source_errors: list[ErrorSpan] = []
    comment: list[str] = []
    n_ignored = 0
    correction = None
    for line in note.lines:
        if of_correction := _CORRECTION_LINE.fullmatch(line):
            correction = _read_text(of_correction[1])
        elif of_comment := _COMMENT_LINE.fullmatch(line):
            comment.append(_read_text(of_comment[1]))
        elif (match := _LINE.fullmatch(line)) is None or not _fits_its_side(match):
            issues.ignore("line of a note", f"{line!r} must be an error, or set apart by an empty line")
            n_ignored += 1
        elif _SIDE_OF[match["side"]] == "source_errors":
            source_errors.append(_span(match, segment.source or "", issues))
        else:
            errors.append(_error(match, segment, issues))
    if comment:
        segment = replace(segment, extra={**(segment.extra or {}), COMMENT: "\n".join(comment)})
    rating = rating_of(segment, _rater(note.rater) if note.rater else of_file, errors, source_errors)
    rating = replace(rating, correction=correction)
    return replace(rating, errors=None) if n_ignored and not rating.all_errors else rating


def _fits_its_side(match: re.Match[str]) -> bool:
    """Whether a line has words where its side needs them, and no offsets where it can have none."""
    side = _SIDE_OF[match["side"]]
    return bool(match["place"] or side != "source_errors") and not (side == "unplaced" and match["start"])


def _read_text(text: str) -> str:
    """Returns a text that may be written as JSON."""
    try:
        return plain_values.from_json(text, str) if text.startswith('"') else text
    except InputError:  # a person wrote it, and not as JSON
        return text


def _error(match: re.Match[str], segment: Segment, issues: RowIssues) -> AnyError:
    """Returns the error of a line that is not in the source."""
    side = _SIDE_OF[match["side"]]
    if not match["place"] or side == "unplaced":
        return UnplacedError(words=match["words"], **_details(match))
    if side == "errors":
        return _span(match, segment.hypothesis, issues)
    start, end = _place(match, segment.source or "", issues)
    return Omission("source", None, start, end, confidence=_confidence(match), **_details(match))


def _span(match: re.Match[str], text: str, issues: RowIssues) -> ErrorSpan:
    """Returns the error of a line with words, which are in `text`."""
    start, end = _place(match, text, issues)
    correction = None if match["correction"] is None else _read_text(match["correction"])
    return ErrorSpan(start, end, confidence=_confidence(match), correction=correction, **_details(match))


def _confidence(match: re.Match[str]) -> float | None:
    return int(match["percent"]) / 100 if match["percent"] else None


def _details(match: re.Match[str]) -> dict[str, Any]:
    """Returns what a line says of an error of any kind."""
    texts = {name: match[name] and _read_text(match[name]) for name in ("category", "rule", "reason")}
    return {"severity": _SEVERITY_OF[match["severity"]], **texts}


def _place(match: re.Match[str], text: str, issues: RowIssues) -> tuple[int, int]:
    """Returns where the words of a line are in a text: at its offsets, or else at the only place that has them."""
    words = match["words"]
    shown = _shown(text)
    has_offsets = match["start"] is not None
    start = int(match["start"] or 0)
    if has_offsets and shown.startswith(words, start) and int(match["end"]) == start + len(words):
        return start, start + len(words)
    start = shown.find(words)
    if start < 0 or shown.find(words, start + 1) >= 0:
        problem = "are not in the text" if start < 0 else "are in the text more than once, and not at its offsets"
        allowed = "the text has changed since it was marked: delete this note, or quote words of the present text"
        raise OutdatedNoteError(f"the words of note {match[0]!r} {problem}; {allowed}")
    if has_offsets:
        issues.repair("offsets of a note that are not those of its words", None)
    return start, start + len(words)


def _text(segment: Segment, side: _Side) -> str:
    return segment.hypothesis if side == "errors" else segment.source or ""


def _json(text: str | None) -> str:
    # What XML cannot hold is never printable.
    return json.dumps(text, ensure_ascii=not (text is None or text.isprintable()))


def _rater(name: str) -> str | None:
    rater = plain_values.from_json(name, object)
    if rater is not None and not isinstance(rater, str):
        raise InputError(f"note {name!r}: must begin with the name of a rater")
    return rater


def _shown(text: str) -> str:
    """Returns a text in one line, in which all offsets are the same."""
    return re.sub(r"[^\S ]|[\x00-\x1f\x7f-\x9f]", " ", text)
