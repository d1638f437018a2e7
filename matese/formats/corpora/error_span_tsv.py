"""Error-span TSV: the training and test data of the WMT quality estimation task of 2023; a row for each rated segment.

The columns are `mt_system doc_id seg_id annotator_id source target start_ids end_ids errors`, with or without a header
line. The last three are lists of equal length, separated by spaces: character offsets into the target, and severities;
a segment without an error has `-1 -1 no-error`. Nothing is quoted.

Not held: test set and language pair, references, undecided severities, categories, confidences, errors in the source or
without a place, omissions, overall judgements, and whether spans were annotated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.errors import FormatError, one_of
from matese.files import name_of, read_lines
from matese.formats import severities
from matese.formats.capabilities import TABS_AND_LINES, Capabilities
from matese.formats.format import STRICT, FileHead, ReadOptions, WriteOptions
from matese.formats.issues import IssueHandler
from matese.text import parse_whole_number

COLUMNS = ("mt_system", "doc_id", "seg_id", "annotator_id", "source", "target", "start_ids", "end_ids", "errors")
NO_ERROR = "no-error"

CAPABILITIES = Capabilities(
    lacks=("no_spans", "category", "confidence", "source_errors", "omissions", "unplaced"),
    key=("system", "document", "index"),
    references=0,
    severities=tuple(Severity),
    scales=(),
    needs=("system", "document", "index", "source"),
    replaced=TABS_AND_LINES,
)


@dataclass(frozen=True, slots=True)
class _Mark:
    """A listed error, whose offsets have not yet been compared with the text."""

    start: int
    end: int
    severity: Severity


def matches(head: FileHead) -> bool:
    """Whether a file begins with the header, or with a row whose offsets are numbers."""
    fields = head.fields
    is_row = len(fields) == len(COLUMNS) and all(re.fullmatch(r"[-\d ]+", field) for field in fields[6:8])
    return fields[0] == COLUMNS[0] or is_row


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields a Rating for each row, in the order of the file."""
    issues = IssueHandler(name_of(path), options.report)
    for number, line in _rows(path, issues):
        fields = line.split("\t")
        if len(fields) != len(COLUMNS):
            reason = f"{len(fields)} fields instead of {len(COLUMNS)}"
            issues.skip(number, reason, f"must be {' '.join(COLUMNS)}, separated by tabs")
            continue
        marks = _marks(number, fields, issues)
        if marks is None:
            continue
        document, index, rater = _place_in_file(number, fields, issues)
        key = SegmentKey(options.test_set, options.lang_pair, fields[0], document, index)
        source, target = fields[4:6]
        errors, unplaced = _errors(marks, target, _Repair(options.end_shift, options.single_characters, issues, number))
        yield Rating(Segment(target, source, key=key), rater, errors, unplaced=unplaced)


def write(ratings: Iterable[Rating], options: WriteOptions) -> Iterator[str]:
    """Yields the lines: the header, then a row for each rating."""
    yield "\t".join(COLUMNS) + "\n"
    for rating in ratings:
        segment, key, errors = rating.segment, rating.segment.key or SegmentKey(), rating.errors or ()
        place = key.system or "", key.document or "", str(key.index), rating.rater or ""
        lists = (
            " ".join(str(error.start) for error in errors) or "-1",
            " ".join(str(error.end) for error in errors) or "-1",
            " ".join(error.severity.value for error in errors if error.severity is not None) or NO_ERROR,
        )
        yield "\t".join((*place, segment.source or "", segment.hypothesis, *lists)) + "\n"


def _rows(path: str | Path, issues: IssueHandler) -> Iterator[tuple[int, str]]:
    """Yields the lines below the header, if there is one, and their numbers."""
    lines = enumerate(read_lines(path), start=1)
    expected = f"the columns {' '.join(COLUMNS)}, separated by tabs"
    first = next(lines, None)
    if first is None:
        raise FormatError(issues.path, None, f"file is empty: must hold {expected}")
    names = first[1].split("\t")
    if names[0] != COLUMNS[0]:
        return chain([first], lines)
    if tuple(names) != COLUMNS:
        raise FormatError(issues.path, 1, f"not the header of an error-span TSV: must be {expected}")
    return lines


def _place_in_file(number: int, fields: Sequence[str], issues: IssueHandler) -> tuple[str, int | None, str | None]:
    """Returns the document, the segment's number and the rater; None for missing values."""
    document, index, rater = fields[1:4]
    if (number_of_segment := parse_whole_number(index)) is not None:
        return document, number_of_segment, rater or None
    if not index:
        issues.repair(number, "no seg_id", "must be digits")
        return document, None, rater or None
    # The files of 2021 news split "seattle-times.253485" at its hyphens, which moves the following fields: the number
    # to annotator_id or, after two hyphens, out of the row. The rater is lost.
    issues.repair(number, "document's name split at its hyphens", f"seg_id {index!r} must be digits")
    if (number_of_segment := parse_whole_number(rater)) is not None:
        return f"{document}-{index}", number_of_segment, None
    return f"{document}-{index}-{rater}", None, None


def _marks(number: int, fields: Sequence[str], issues: IssueHandler) -> list[_Mark] | None:
    """Returns the errors that a row lists, None if it cannot be used."""
    starts, ends, names = (field.split() for field in fields[6:])
    if not len(starts) == len(ends) == len(names) > 0:
        counts = f"{len(starts)} start_ids, {len(ends)} end_ids and {len(names)} errors"
        issues.skip(number, "lists of different length", f"{counts} must be one for each error")
        return None
    if [name.lower() for name in names] == [NO_ERROR]:
        return []
    try:
        offsets = [(int(start), int(end)) for start, end in zip(starts, ends, strict=True)]
    except ValueError as error:
        issues.skip(number, "offset is not a number", f"{error}; start_ids and end_ids must be integers")
        return None
    unknown = [name for name in names if name.lower() not in severities.NAMES]
    if unknown:
        allowed = f"must be {one_of(severities.NAMES)}, or {NO_ERROR} alone"
        issues.skip(number, "unknown severity", f"{unknown[0]!r} {allowed}")
        return None
    return [_Mark(*place, severities.parse(name)) for place, name in zip(offsets, names, strict=True)]


@dataclass(frozen=True, slots=True)
class _Repair:
    """Repairs the offsets of one row; see `ReadOptions`."""

    end_shift: int
    single_characters: bool
    issues: IssueHandler
    line: int

    def place(self, mark: _Mark, text: str) -> tuple[int, int] | None:
        """Returns the intended range of `text`; None if there is none."""
        start, end = mark.start, mark.end
        allowed = f"{start}..{end} must have 0 <= start < end <= {len(text)}, the length of target"
        if self.single_characters and start == end:
            self.issues.repair_on_request(self.line, "end equal to start taken as one character")
            end = start + 1
        elif self.end_shift:
            self.issues.repair_on_request(self.line, f"end shifted by {self.end_shift}")
            end += self.end_shift
        if start < 0 or end <= start:
            self.issues.repair(self.line, "span is empty or reversed", allowed)
            return None
        if start >= len(text):
            self.issues.repair(self.line, "span begins beyond the text", allowed)
            return None
        if end > len(text):
            self.issues.repair(self.line, "span ends beyond the text", allowed)
        return start, min(end, len(text))


def _errors(
    marks: Sequence[_Mark], text: str, repair: _Repair
) -> tuple[tuple[ErrorSpan, ...], tuple[UnplacedError, ...]]:
    """Returns the errors with a place in the text, and those without."""
    places = [repair.place(mark, text) for mark in marks]
    placed = zip(marks, places, strict=True)
    errors = tuple(ErrorSpan(*place, mark.severity) for mark, place in placed if place is not None)
    unplaced = (UnplacedError(mark.severity) for mark, place in zip(marks, places, strict=True) if place is None)
    return errors, tuple(unplaced)
