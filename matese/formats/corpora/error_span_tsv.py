"""Error-span TSV: the training and test data of the WMT quality estimation task of 2023; a row for each rated segment.

The columns are `mt_system doc_id seg_id annotator_id source target start_ids end_ids errors`, with or without a header
line. The last three are lists of equal length, separated by spaces: character offsets into the target, and severities;
a segment without an error has `-1 -1 no-error`.

A quotation mark is a character like any other, except in files whose texts a CSV writer has quoted (`csv_quoting`). Of
these, those of 2022 have offsets into the text without the writer's marks, and those of 2021 into the text as it is
written. Which one a file is, is decided once, by the reading that puts more of the spans' ends between words; see
`_Quoting`. Each row that is read differently from what is written is reported.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Literal

from matese.annotation import AnyError, ErrorSpan, Rating, Segment, SegmentKey, Severity, UnplacedError, severities
from matese.errors import FormatError, one_of
from matese.files import name_of, read_lines
from matese.formats.capabilities import TABS_AND_LINES, Capabilities
from matese.formats.corpora import csv_quoting
from matese.formats.corpora.wmt_span_submission import NO_ERROR, span_lists
from matese.formats.format import STRICT, ReadOptions, WriteOptions, rating_of
from matese.formats.row_issues import RowIssues, UnusableRowError
from matese.formats.signs import ERROR_SPAN_COLUMNS
from matese.text.whole_numbers import parse_whole_number
from matese.text.words import joins

COLUMNS = ERROR_SPAN_COLUMNS

_Quoting = Literal["none", "not counted", "counted"]
"""Whether texts are quoted, and whether offsets count the marks of the CSV writer."""

CAPABILITIES = Capabilities(
    lacks=("no_spans", "category", "confidence", "source_errors", "omissions", "unplaced"),
    key=("system", "document", "index"),
    references=0,
    severities=tuple(Severity),
    scales=(),
    needs=("system", "document", "index", "source"),
    replaced=TABS_AND_LINES,
)


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields a Rating for each row, in the order of the file."""
    lines = tuple(read_lines(path))
    quoting = _quoting(lines, name_of(path), options)
    for number, written in _rows(lines, name_of(path)):
        issues = RowIssues(name_of(path), options.report, number)
        fields = written if quoting == "none" else [csv_quoting.unquoted(field) for field in written]
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
        has_places = quoting == "none" or _has_places(written, quoting, issues)
        errors: list[AnyError] = []
        for start, end, name in marks:
            if name not in severities.NAMES:
                allowed = f"must be {one_of(severities.NAMES)}, or {NO_ERROR} alone"
                issues.ignore(f"unknown severity {name!r}", allowed)
                continue
            severity = Severity(name)
            if not has_places:
                place = None
            elif quoting == "counted":
                place = _unquoted_place(_place(start, end, written[5], options, issues), written[5], issues)
            else:
                place = _place(start, end, target, options, issues)
            errors.append(UnplacedError(severity) if place is None else ErrorSpan(*place, severity))
        rating = rating_of(Segment(target, source, key=key), rater, errors)
        yield replace(rating, errors=None) if marks and not errors else rating


def write(ratings: Iterable[Rating], options: WriteOptions) -> Iterator[str]:
    """Yields the lines: the header, then a row for each rating."""
    yield "\t".join(COLUMNS) + "\n"
    for rating in ratings:
        segment = rating.segment
        key = segment.key or SegmentKey()
        place = key.system or "", key.document or "", str(key.index), rating.rater or ""
        yield "\t".join((*place, segment.source or "", segment.hypothesis, *span_lists(rating))) + "\n"


def _rows(lines: Iterable[str], name: str) -> Iterator[tuple[int, list[str]]]:
    """Yields the line number and the fields of each row below the header, if there is one."""
    rows = ((number, line.split("\t")) for number, line in enumerate(lines, start=1))
    expected = f"the columns {' '.join(COLUMNS)}, separated by tabs"
    first = next(rows, None)
    if first is None:
        raise FormatError(name, None, f"file is empty: must hold {expected}")
    names = tuple(map(csv_quoting.unquoted, first[1]))
    if names[0] != COLUMNS[0]:
        return chain([first], rows)
    if names != COLUMNS:
        raise FormatError(name, 1, f"not the header of an error-span TSV: must be {expected}")
    return rows


def _quoting(lines: Sequence[str], name: str, options: ReadOptions) -> _Quoting:
    """Returns how the texts of a file are quoted, by where the ends of spans in quoted texts fall.

    Without a difference, as in a language without spaces, a file that a CSV writer has written as a whole is taken for
    one that was right before.
    """
    is_csv = csv_quoting.is_csv(lines)
    n_as_written = n_unquoted = 0
    for _, fields in _rows(lines, name):
        if len(fields) != len(COLUMNS) or not csv_quoting.is_quoted(fields[5]):
            continue
        if not is_csv and '""' not in fields[5][1:-1]:  # may be a text that stands between quotation marks
            continue
        with contextlib.suppress(UnusableRowError):
            for start, end, _ in _marks(*map(csv_quoting.unquoted, fields[6:])):
                place = start, _intended_end(start, end, options)
                n_as_written += _n_between_words(place, fields[5])
                n_unquoted += _n_between_words(place, csv_quoting.unquoted(fields[5]))
    if n_unquoted > n_as_written:
        return "not counted"
    if not is_csv:
        return "none"
    return "counted" if n_as_written > n_unquoted else "not counted"


def _n_between_words(place: tuple[int, int], target: str) -> int:
    """Returns how many ends of a range, 0 to 2, are in a text and not within a word."""
    inside = (end for end in place if 0 <= end <= len(target))
    return sum(end in (0, len(target)) or not joins(target, end) for end in inside)


def _has_places(fields: Sequence[str], quoting: _Quoting, issues: RowIssues) -> bool:
    """Reports a row with quotation marks in a quoted file; returns whether its offsets fit its target."""
    source, target = map(csv_quoting.unquoted, fields[4:6])
    if '"' in fields[5] and not csv_quoting.is_quoted(fields[5]):
        reason = "target not quoted as in other rows, its errors have no place"
        issues.repair(reason, "its quotation marks must be doubled and stand between two others")
        return False
    if '"' in source or '"' in target:
        issues.repair(f"quotation marks of a CSV writer removed; offsets had {quoting} them", None)
    return True


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


def _marks(start_ids: str, end_ids: str, errors: str) -> list[tuple[int, int, str]]:
    """Returns start, end and severity of each error that a row lists; any of them may be impossible."""
    starts = start_ids.split()
    ends = end_ids.split()
    names = errors.casefold().split()
    if not len(starts) == len(ends) == len(names) > 0:
        counts = f"{len(starts)} start_ids, {len(ends)} end_ids and {len(names)} errors"
        raise UnusableRowError("lists of different length", f"{counts} must be one for each error")
    if names == [NO_ERROR]:
        if [*starts, *ends] != ["-1", "-1"]:
            raise UnusableRowError("place without an error", f"{starts[0]}..{ends[0]} must be -1 and -1 for {NO_ERROR}")
        return []
    try:
        return list(zip(map(int, starts), map(int, ends), names, strict=True))
    except ValueError as error:
        allowed = f"{error}; start_ids and end_ids must be integers"
        raise UnusableRowError("offset is not a number", allowed) from None


def _intended_end(start: int, end: int, options: ReadOptions, issues: RowIssues | None = None) -> int:
    """Returns the end that is meant, see `ReadOptions`."""
    if options.single_characters and start == end:
        repair = "end equal to start taken as one character"
        meant = start + 1
    elif options.end_shift:
        repair = f"end shifted by {options.end_shift}"
        meant = end + options.end_shift
    else:
        return end
    if issues is not None:
        issues.repair(repair, None)
    return meant


def _place(start: int, end: int, target: str, options: ReadOptions, issues: RowIssues) -> tuple[int, int] | None:
    """Returns the intended range of a text; None if there is none."""
    length = len(target)
    allowed = f"{start}..{end} must have 0 <= start < end <= {length}, the length of target"
    end = _intended_end(start, end, options, issues)
    if start < 0 or end <= start:
        issues.repair("span is empty or reversed", allowed)
        return None
    if start >= length:
        issues.repair("span begins beyond the text", allowed)
        return None
    if end > length:
        issues.repair("span ends beyond the text", allowed)
    return start, min(end, length)


def _unquoted_place(place: tuple[int, int] | None, target: str, issues: RowIssues) -> tuple[int, int] | None:
    """Returns the range in the text of a target for one in the target as it is written."""
    if place is None:
        return None
    start, end = (csv_quoting.unquoted_place(target, offset) for offset in place)
    if start == end:
        issues.repair("span of quotation marks of a CSV writer", f"{place[0]}..{place[1]} must mark the text")
        return None
    return start, end
