"""MQM TSV: the ratings of Freitag et al. 2021 and of the WMT metrics tasks since; a row for each error.

The header names the columns, `system doc doc_id seg_id rater source target category severity`, in any case; the column
`test_set` may tell the segments of several test sets apart, and others (`comment`) are ignored. `<v>` and `</v>` mark
the span in `target`, or in `source` for an error of the source and, with a category such as Accuracy/Omission, for
words that the target lacks. A rater who found no error has a row with severity `no-error`.

The rows of a segment may stand anywhere, so that a file is read as a whole.

Nothing is quoted, unless a CSV writer has written the file (`csv_quoting`). This is decided once for the file, and each
row with a quotation mark is then reported.

Marot's newer header names `docSegId` and `globalSegId` in place of `doc_id` and `seg_id`, has a column `metadata`, and
may end in a comment. A `globalSegId` of 0 says that segments are only numbered in their documents; a row without
rater, category and severity has metadata alone, and is skipped.

Raters can type into the text that they mark, so that the rows of one rating may contain different texts. Its hypothesis
is then the text that most raters of the segment share; a span keeps its place if the text around it is the same. Rows
with another text are reported as repaired.

Errors without a place are rows without a mark. A row with an unknown severity, or with marked words or a category but
no error, is skipped; a rater with such a row and no other error has not found the text free of errors.
Several ratings of a segment by one rater are read as one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

from matese.annotation import (
    AnyError,
    ErrorSpan,
    Omission,
    Rating,
    Segment,
    SegmentKey,
    Severity,
    UnplacedError,
    severities,
)
from matese.errors import FormatError, one_of
from matese.files import name_of, read_lines
from matese.formats.capabilities import TABS_AND_LINES, Capabilities
from matese.formats.corpora import csv_quoting, omission_marks
from matese.formats.format import STRICT, ReadOptions, WriteOptions, rating_of
from matese.formats.row_issues import RowIssues, UnusableRowError
from matese.formats.signs import LEAST_MQM_COLUMNS, MQM_COLUMNS, mqm_names
from matese.formats.tables import headings
from matese.text import span_projection
from matese.text.whole_numbers import parse_whole_number

COLUMNS = MQM_COLUMNS
NO_ERROR = "no-error"
ONE_TEXT = "rows of a rating must have one text"
_TAG = re.compile("</?v>")
_OTHER_TAG = re.compile("</?V>|&lt;/?v&gt;")
"""Tags that another program has changed; they are part of the text."""
_READ = (*COLUMNS, "test_set")
_SegmentId = tuple[str | None, str, str, int]
"""Test set, system, document and number."""

CAPABILITIES = Capabilities(
    lacks=("no_spans", "confidence"),
    key=("system", "document", "index"),
    references=0,
    severities=tuple(Severity),
    scales=(),
    needs=("system", "document", "index", "source", "category"),
    # Nothing escapes a tag: another character stands for its "<".
    replaced=(*TABS_AND_LINES, ("<(?=/?v>)", "‹")),
)
adapt = omission_marks.adapt


@dataclass(frozen=True, slots=True)
class _Marked:
    """A text with its tags taken out.

    Attributes:
        text: the text without any tag.
        marks: (start, end) of what stood between tags, maybe empty; None if not every tag has its partner.
    """

    text: str
    marks: Sequence[tuple[int, int]] | None = ()


@dataclass(frozen=True, slots=True)
class _Row:
    issues: RowIssues
    segment: _SegmentId
    rater: str
    source: _Marked
    target: _Marked
    category: str
    severity: Severity | None  # None: the row says that there is no error, unless it is not understood
    is_understood: bool = True


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields a Rating for each segment and rater, in the order in which the segments begin in the file.

    Every row with an error is one error of its Rating, if necessary without a place. Categories are kept as written.
    """
    by_segment: dict[_SegmentId, dict[str, list[_Row]]] = {}
    for row in _rows(_open(path, options), options):
        by_segment.setdefault(row.segment, {}).setdefault(row.rater, []).append(row)
    for segment, by_rater in by_segment.items():
        test_set, system, document, index = segment
        key = SegmentKey(test_set or options.test_set, options.lang_pair, system, document, index)
        yield from _ratings(by_rater.values(), key)


def write(ratings: Iterable[Rating], options: WriteOptions) -> Iterator[str]:
    """Yields the lines: the header, then the rows of each segment together.

    The column `doc_id` counts the segments of a document in the order of the ratings.
    """
    yield "\t".join(COLUMNS) + "\n"
    # Readers expect the rows of a segment together, whatever the order of the ratings.
    by_segment: dict[SegmentKey, list[Rating]] = {}
    for rating in ratings:
        by_segment.setdefault(rating.segment.key or SegmentKey(), []).append(rating)
    numbers: Counter[tuple[str | None, str | None]] = Counter()
    for key, of_segment in by_segment.items():
        numbers[key.system, key.document] += 1
        place = key.system or "", key.document or "", str(numbers[key.system, key.document]), str(key.index)
        for rating in of_segment:
            for fields in _written(rating):
                yield "\t".join((*place, rating.rater or "", *fields)) + "\n"


def _written(rating: Rating) -> Iterator[tuple[str, str, str, str]]:
    """Yields source, target, category and severity of each row of a rating."""
    source = rating.segment.source or ""
    target = rating.segment.hypothesis
    rows: list[tuple[str, str, AnyError]]
    rows = [(source, _mark(target, span), span) for span in rating.errors or ()]
    rows += [(_mark(source, span), target, span) for span in rating.source_errors]
    rows += [(_mark(source, words), target, words) for words in rating.omissions]
    rows += [(source, target, error) for error in rating.unplaced]
    for marked_source, marked_target, error in rows or [(source, target, UnplacedError(None, "No-error"))]:
        severity = "No-error" if error.severity is None else error.severity.value.capitalize()
        yield marked_source, marked_target, error.category or "", severity


def _mark(text: str, span: ErrorSpan | Omission) -> str:
    return f"{text[: span.start]}<v>{text[span.start : span.end]}</v>{text[span.end :]}"


@dataclass(frozen=True, slots=True)
class _Table:
    """A file.

    Attributes:
        name: of the file, in messages.
        rows: the line number and the cells of each row below the header.
        is_csv: whether a CSV writer has quoted it.
        places: of the columns that are read among its columns; None for one that it lacks.
        n_columns: how many it has.
        has_empty_numbers: whether a segment number of 0 says that segments are only numbered in their documents.
    """

    name: str
    rows: Iterator[tuple[int, Sequence[str]]]
    is_csv: bool
    places: Sequence[int | None]
    n_columns: int
    has_empty_numbers: bool

    def columns(self, cells: Sequence[str]) -> Sequence[str] | None:
        """Returns the cells of a row in the order of `_READ`; None if their number is not that of the header."""
        if len(cells) != self.n_columns:
            return None
        columns = ["" if place is None else cells[place] for place in self.places]
        return _with_document_number(columns) if self.has_empty_numbers else columns


def _open(path: str | Path, options: ReadOptions) -> _Table:
    """Reads the header of a file and finds out whether it is quoted."""
    lines = tuple(read_lines(path))
    delimiter, _ = headings.split(lines[0].removeprefix("\ufeff") if lines else "")
    is_csv = delimiter != "\t" or csv_quoting.is_csv(lines)
    expected = f"must begin with the header line {' '.join(COLUMNS)} (separated by tabs)"
    rows: Iterator[tuple[int, Sequence[str]]]
    rows = csv_quoting.rows(lines, delimiter) if is_csv else enumerate((line.split("\t") for line in lines), start=1)
    _, header = next(rows, (0, None))
    if header is None:
        raise FormatError(name_of(path), None, f"file is empty: {expected}")
    names = mqm_names(header)
    missing = [name for name in COLUMNS if name not in names]
    if len(COLUMNS) - len(missing) < LEAST_MQM_COLUMNS:
        raise FormatError(name_of(path), 1, f"not the header of an MQM TSV: {expected}")
    if missing:
        raise FormatError(name_of(path), 1, f"MQM TSV lacks column {' and '.join(missing)}: {expected}")
    if several := [name for name in _READ if names.count(name) > 1]:
        raise FormatError(name_of(path), 1, f"MQM TSV has several columns {several[0]}: {expected}")
    return _Table(
        name=name_of(path),
        rows=rows,
        is_csv=is_csv,
        places=[names.index(name) if name in names else None for name in _READ],
        n_columns=len(names),
        has_empty_numbers=options.first_segment != 0 and any(name.strip().lower() == "globalsegid" for name in header),
    )


def _rows(table: _Table, options: ReadOptions) -> Iterator[_Row]:
    """Yields the usable rows."""
    for number, cells in table.rows:
        issues = RowIssues(table.name, options.report, number)
        try:
            if (columns := table.columns(cells)) is None:
                reason = f"{len(cells)} fields instead of {table.n_columns}"
                raise UnusableRowError(reason, "must be one a column, separated by tabs")
            if table.is_csv and any('"' in column for column in columns):
                issues.repair("quotation marks of a CSV writer removed", None)
            yield _row(columns, issues)
        except UnusableRowError as error:
            issues.skip(*error.args)


def _with_document_number(columns: Sequence[str]) -> Sequence[str]:
    """Returns the columns of a row, with the number of the segment in its document if it has no other."""
    row = dict(zip(_READ, columns, strict=True))
    return list({**row, "seg_id": row["doc_id"]}.values()) if row["seg_id"] == "0" else columns


def _row(columns: Sequence[str], issues: RowIssues) -> _Row:
    system, document, _, seg_id, rater, source, target, category, severity, test_set = columns
    if (index := parse_whole_number(seg_id)) is None:
        raise UnusableRowError("seg_id is not a number", f"{seg_id!r} must be digits")
    if not (severity or rater or category):
        raise UnusableRowError("row of metadata alone", None)
    name = severity.strip().lower()
    marked = _parse(source), _parse(target)
    is_understood = True
    if name != NO_ERROR and name not in severities.NAMES:
        issues.skip(f"unknown severity {severity!r}", f"must be {one_of((*severities.NAMES, NO_ERROR))}")
        is_understood = False
    elif name == NO_ERROR and any(text.marks != () for text in marked):
        issues.skip("marked words without an error", f"{severity!r} must be the severity of what is marked")
        is_understood = False
    elif name == NO_ERROR and category.strip().lower() not in ("", NO_ERROR):
        issues.skip("category without an error", f"{severity!r} must be the severity of {category!r}")
        is_understood = False
    is_unmarked = all(text.marks == () for text in marked)
    if is_unmarked and (_OTHER_TAG.search(target) or _OTHER_TAG.search(source)):
        issues.repair("tags other than <v> and </v> taken as text", "marks must be <v> and </v>")
    segment = test_set or None, system, document, index
    return _Row(issues, segment, rater, *marked, category, severities.MEANINGS.get(name), is_understood)


def _parse(text: str) -> _Marked:
    """Returns a text without its tags.

    >>> _parse("a <v>b</v> c")
    _Marked(text='a b c', marks=[(2, 3)])
    >>> _parse("a v> b")
    _Marked(text='a v> b', marks=())
    """
    # Most texts have no tag, and this is most of the reading time.
    if "v>" not in text:
        return _Marked(text)
    tags = _TAG.findall(text)
    if not tags:
        return _Marked(text)
    pieces = _TAG.split(text)
    if tags != ["<v>", "</v>"] * (len(tags) // 2):
        return _Marked("".join(pieces), None)
    ends = [0, *accumulate(map(len, pieces))]
    # Pieces 1, 3, 5... stand between tags.
    return _Marked("".join(pieces), list(zip(ends[1:-1:2], ends[2::2], strict=False)))


def _ratings(by_rater: Iterable[Sequence[_Row]], key: SegmentKey) -> Iterator[Rating]:
    """Yields the ratings of one segment; none of a rater of whose rows none is understood."""
    every = [rows for rows in by_rater if any(row.is_understood for row in rows)]
    # Each rater counts once for a text, so that a rater who typed into many rows does not outvote the others.
    targets = Counter(text for rows in every for text in {row.target.text for row in rows})
    sources = Counter(text for rows in every for text in {row.source.text for row in rows})
    for rows in every:
        hypothesis = _most_seen([row.target.text for row in rows], targets)
        source = _most_seen([row.source.text for row in rows], sources)
        errors: list[AnyError] = []
        source_marks: list[ErrorSpan] = []
        for row in rows:
            if not row.is_understood:
                continue
            in_source = bool(row.source.marks) and not row.target.marks
            place = _place(row, source, hypothesis, in_source=in_source)
            if row.severity is None:
                continue
            if place is None:
                errors.append(UnplacedError(row.severity, row.category))
            else:
                (source_marks if in_source else errors).append(ErrorSpan(*place, row.severity, row.category))
        segment = Segment(hypothesis, source, key=key)
        source_errors, omissions = omission_marks.split(source_marks)
        rating = rating_of(segment, rows[0].rater or None, (*errors, *omissions), source_errors)
        is_known = bool(rating.all_errors) or all(row.is_understood for row in rows)
        yield rating if is_known else replace(rating, errors=None)


def _most_seen(texts: Sequence[str], seen: Counter[str]) -> str:
    """Returns the rater's text that most raters share; of several, the one in most of the rater's own rows."""
    counts = Counter(texts)
    return max(counts, key=lambda text: (seen[text], counts[text]))


def _place(row: _Row, source: str, hypothesis: str, *, in_source: bool) -> tuple[int, int] | None:
    """Returns the place of the row's error in the source or the hypothesis; None if it has none."""
    marked, text, column = (row.source, source, "source") if in_source else (row.target, hypothesis, "target")
    if row.source.marks is None or row.target.marks is None:
        row.issues.repair("unbalanced tags", "every <v> must have its </v>")
        return None
    if row.source.text != source and not in_source:
        row.issues.repair("source differs from other rows", ONE_TEXT)
    if row.target.text != hypothesis and not row.target.marks:
        row.issues.repair("target differs from other rows", ONE_TEXT)
    if not marked.marks:
        return None
    if row.source.marks and row.target.marks:
        row.issues.repair("marked in source and target", "must be marked in one of them")
    if len(marked.marks) > 1:
        row.issues.repair("several marked spans", "must be one a row; read from the first <v> to the last </v>")
    start = marked.marks[0][0]
    end = marked.marks[-1][1]
    if start == end:
        row.issues.repair("marked span is empty", f"must be one or more characters of {column}")
        return None
    if marked.text == text:
        return start, end
    place = span_projection.relocate(start, end, marked.text, text)
    fate = "moved" if place else "lost"
    row.issues.repair(f"{column} differs from other rows, span {fate}", ONE_TEXT)
    return place
