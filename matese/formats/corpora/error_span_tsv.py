"""Error-span TSV: the training and test data of the WMT quality estimation task of 2023; a row for each rated segment.

The columns are `mt_system doc_id seg_id annotator_id source target start_ids end_ids errors`, with or without a header
line. The last three are lists of equal length, separated by spaces: character offsets into the target, and severities;
a segment without an error has `-1 -1 no-error`. Nothing is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.errors import FormatError, one_of
from matese.files import name_of, read_lines
from matese.formats import severities
from matese.formats.capabilities import TABS_AND_LINES, Capabilities
from matese.formats.corpora.wmt_span_submission import NO_ERROR, span_lists
from matese.formats.format import STRICT, FileHead, ReadOptions, WriteOptions, rating_of
from matese.formats.row_issues import RowIssues, UnusableRowError
from matese.text import parse_whole_number

COLUMNS = ("mt_system", "doc_id", "seg_id", "annotator_id", "source", "target", "start_ids", "end_ids", "errors")

CAPABILITIES = Capabilities(
    lacks=("no_spans", "category", "confidence", "source_errors", "omissions", "unplaced"),
    key=("system", "document", "index"),
    references=0,
    severities=tuple(Severity),
    scales=(),
    needs=("system", "document", "index", "source"),
    replaced=TABS_AND_LINES,
)


def matches(head: FileHead) -> bool:
    """Whether a file begins with the header, or with a row whose offsets are numbers."""
    fields = head.fields
    is_row = len(fields) == len(COLUMNS) and all(re.fullmatch(r"[-\d ]+", field) for field in fields[6:8])
    return fields[0] == COLUMNS[0] or is_row


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields a Rating for each row, in the order of the file."""
    for number, line in _rows(path):
        issues = RowIssues(name_of(path), options.report, number)
        fields = line.split("\t")
        try:
            if len(fields) != len(COLUMNS):
                allowed = f"must be {' '.join(COLUMNS)}, separated by tabs"
                raise UnusableRowError(f"{len(fields)} fields instead of {len(COLUMNS)}", allowed)
            marks = _marks(*fields[6:])
        except UnusableRowError as error:
            issues.skip(*error.args)
            continue
        document, index, rater = _place_in_file(fields, issues)
        key = SegmentKey(options.test_set, options.lang_pair, fields[0], document, index)
        source, target = fields[4:6]
        places = [(_place(start, end, len(target), options, issues), severity) for start, end, severity in marks]
        errors = (ErrorSpan(*place, severity) if place else UnplacedError(severity) for place, severity in places)
        yield rating_of(Segment(target, source, key=key), rater, errors)


def write(ratings: Iterable[Rating], options: WriteOptions) -> Iterator[str]:
    """Yields the lines: the header, then a row for each rating."""
    yield "\t".join(COLUMNS) + "\n"
    for rating in ratings:
        segment, key = rating.segment, rating.segment.key or SegmentKey()
        place = key.system or "", key.document or "", str(key.index), rating.rater or ""
        yield "\t".join((*place, segment.source or "", segment.hypothesis, *span_lists(rating))) + "\n"


def _rows(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yields the lines below the header, if there is one, and their numbers."""
    lines = enumerate(read_lines(path), start=1)
    expected = f"the columns {' '.join(COLUMNS)}, separated by tabs"
    first = next(lines, None)
    if first is None:
        raise FormatError(name_of(path), None, f"file is empty: must hold {expected}")
    names = first[1].split("\t")
    if names[0] != COLUMNS[0]:
        return chain([first], lines)
    if tuple(names) != COLUMNS:
        raise FormatError(name_of(path), 1, f"not the header of an error-span TSV: must be {expected}")
    return lines


def _place_in_file(fields: Sequence[str], issues: RowIssues) -> tuple[str, int | None, str | None]:
    """Returns the document, the segment's number and the rater; None for missing values."""
    document, index, rater = fields[1:4]
    if (number := parse_whole_number(index)) is not None:
        return document, number, rater or None
    if not index:
        issues.repair("no seg_id", "must be digits")
        return document, None, rater or None
    # The files of 2021 news split "seattle-times.253485" at its hyphens, which moves the following fields: the number
    # to annotator_id or, after two hyphens, out of the row. The rater is lost.
    issues.repair("document's name split at its hyphens", f"seg_id {index!r} must be digits")
    if (number := parse_whole_number(rater)) is not None:
        return f"{document}-{index}", number, None
    return f"{document}-{index}-{rater}", None, None


def _marks(start_ids: str, end_ids: str, errors: str) -> list[tuple[int, int, Severity]]:
    """Returns start, end and severity of each error that a row lists; the offsets may not fit the text."""
    starts, ends, names = start_ids.split(), end_ids.split(), errors.casefold().split()
    if not len(starts) == len(ends) == len(names) > 0:
        counts = f"{len(starts)} start_ids, {len(ends)} end_ids and {len(names)} errors"
        raise UnusableRowError("lists of different length", f"{counts} must be one for each error")
    if names == [NO_ERROR]:
        return []
    if unknown := [name for name in names if name not in severities.NAMES]:
        allowed = f"must be {one_of(severities.NAMES)}, or {NO_ERROR} alone"
        raise UnusableRowError("unknown severity", f"{unknown[0]!r} {allowed}")
    try:
        marks = zip(map(int, starts), map(int, ends), map(Severity, names), strict=True)
        return list(marks)
    except ValueError as error:
        allowed = f"{error}; start_ids and end_ids must be integers"
        raise UnusableRowError("offset is not a number", allowed) from None


def _place(start: int, end: int, length: int, options: ReadOptions, issues: RowIssues) -> tuple[int, int] | None:
    """Returns the intended range of a text of this length, see `ReadOptions`; None if there is none."""
    allowed = f"{start}..{end} must have 0 <= start < end <= {length}, the length of target"
    if options.single_characters and start == end:
        issues.repair("end equal to start taken as one character", None)
        end = start + 1
    elif options.end_shift:
        issues.repair(f"end shifted by {options.end_shift}", None)
        end += options.end_shift
    if start < 0 or end <= start:
        issues.repair("span is empty or reversed", allowed)
        return None
    if start >= length:
        issues.repair("span begins beyond the text", allowed)
        return None
    if end > length:
        issues.repair("span ends beyond the text", allowed)
    return start, min(end, length)
