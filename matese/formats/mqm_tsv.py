"""MQM TSV: the ratings of Freitag et al. 2021 and of the WMT metrics tasks since, one row an annotation.

The header names the columns, `system doc doc_id seg_id rater source target category severity`; further columns
(`comment`) are not read. Nothing is quoted. The marked span stands between `<v>` and `</v>` in `target`, or in `source`
for an error of the source. A rater who saw no error has a row of severity `no-error`. The rows of a segment stand
together.

Raters may type into the text they mark, so that rows of one rating may hold different texts. Its hypothesis is then
the text that most raters of the segment have seen, and a span keeps its place if the text around it is the same.

Not held: test set and language pair, references, undecided severities, confidences, overall judgements, whether spans
were asked for, and several ratings of a segment by one rater. Errors without a place are rows without a mark, which
strict reading refuses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.formats import marked_text, projection
from matese.formats.holding import TABS_AND_LINES, Holds
from matese.formats.lines import Faults, FormatError, Note, name_of, read_lines
from matese.formats.marked_text import Marked

COLUMNS = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")
NO_ERROR = "no-error"

HOLDS = Holds(
    key=("system", "document", "index"),
    references=0,
    no_spans=False,
    severities=tuple(Severity),
    confidence=False,
    scales=(),
    needs=("system", "document", "index", "source", "category"),
    replaced=(*TABS_AND_LINES, *marked_text.UNWRITABLE),
)
_SEVERITIES = {severity.value: severity for severity in Severity}


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    system: str
    document: str
    index: int
    rater: str
    source: Marked
    target: Marked
    category: str
    severity: Severity | None  # None: no error

    @property
    def segment(self) -> tuple[str, str, int]:
        return self.system, self.document, self.index


def read(
    path: str | Path,
    *,
    report: Callable[[Note], None] | None = None,
    test_set: str | None = None,
    lang_pair: str | None = None,
) -> Iterator[Rating]:
    """Yields one Rating a segment and rater, in the order of the file.

    Every row that names an error is one error of its Rating, be it without a place. Categories are kept as written.

    Args:
        path: the file, compressed by gzip or not.
        report: is told of each row that is skipped or repaired; None: such a row raises a FormatError.
        test_set: stands in the segments' keys.
        lang_pair: stands in the segments' keys.

    Raises:
        FormatError: if the header is not that of the format; without `report`, at the first faulty row.
        OSError: where the file cannot be read.
    """
    faults = Faults(name_of(path), report)
    seen: set[tuple[tuple[str, str, int], str]] = set()
    for (system, document, index), rows in groupby(_rows(path, faults), key=lambda row: row.segment):
        key = SegmentKey(test_set, lang_pair, system, document, index)
        by_rater: dict[str, list[_Row]] = {}
        for row in rows:
            if (row.segment, row.rater) in seen:
                faults.skip(row.line, "rows of one rating stand apart", "rows of a segment must stand together")
            else:
                by_rater.setdefault(row.rater, []).append(row)
        seen.update(((system, document, index), rater) for rater in by_rater)
        yield from _ratings(by_rater.values(), key, faults)


def write(ratings: Iterable[Rating]) -> Iterator[str]:
    """Yields the lines: the header, then the rows of each segment together, one an error.

    The column `doc_id` counts the segments of a document in the order of the ratings.
    """
    yield "\t".join(COLUMNS) + "\n"
    # Readers want the rows of a segment together, whatever the order of the ratings.
    by_segment: dict[SegmentKey, list[Rating]] = {}
    for rating in ratings:
        by_segment.setdefault(rating.segment.key or SegmentKey(), []).append(rating)
    numbers: Counter[tuple[str | None, str | None]] = Counter()
    for key, own in by_segment.items():
        numbers[key.system, key.document] += 1
        place = key.system or "", key.document or "", str(numbers[key.system, key.document]), str(key.index)
        for rating in own:
            for source, target, category, severity in _written(rating):
                yield "\t".join((*place, rating.rater or "", source, target, category, severity)) + "\n"


def _written(rating: Rating) -> Iterator[tuple[str, str, str, str]]:
    """Yields source, target, category and severity of each row of a rating."""
    source, target = rating.segment.source or "", rating.segment.hypothesis
    rows = [(source, marked_text.mark(target, span), span) for span in rating.errors or ()]
    rows += [(marked_text.mark(source, span), target, span) for span in rating.source_errors]
    for marked_source, marked_target, span in rows:
        yield marked_source, marked_target, span.category or "", _name(span.severity)
    for error in rating.unplaced:
        yield source, target, error.category or "", _name(error.severity)
    if not rows and not rating.unplaced:
        yield source, target, "No-error", "No-error"


def _name(severity: Severity | None) -> str:
    return "" if severity is None else severity.value.capitalize()


def _rows(path: str | Path, faults: Faults) -> Iterator[_Row]:
    """Yields the usable rows."""
    lines = enumerate(read_lines(path), start=1)
    expected = f"must begin with the header line {' '.join(COLUMNS)} (separated by tabs)"
    _, header = next(lines, (0, None))
    if header is None:
        raise FormatError(faults.path, None, f"file is empty, {expected}")
    names = header.split("\t")
    if any(names.count(name) != 1 for name in COLUMNS):
        raise FormatError(faults.path, 1, f"not the header of an MQM TSV: {expected}")
    places = [names.index(name) for name in COLUMNS]
    for number, line in lines:
        fields = line.split("\t")
        if len(fields) != len(names):
            faults.skip(number, f"{len(fields)} fields instead of {len(names)}", "must be one a column, tab-separated")
            continue
        row = _row(number, [fields[place] for place in places], faults)
        if row is not None:
            yield row


def _row(number: int, fields: Sequence[str], faults: Faults) -> _Row | None:
    system, document, _, index, rater, source, target, category, severity = fields
    if not (index.isascii() and index.isdecimal()):
        faults.skip(number, "seg_id is not a number", f"{index!r} must be digits")
        return None
    name = severity.strip().lower()
    if name != NO_ERROR and name not in _SEVERITIES:
        allowed = ", ".join((*_SEVERITIES, NO_ERROR))
        faults.skip(number, "unknown severity", f"{severity!r} must be one of {allowed}")
        return None
    marked = marked_text.parse(source), marked_text.parse(target)
    return _Row(number, system, document, int(index), rater, *marked, category, _SEVERITIES.get(name))


def _ratings(by_rater: Iterable[Sequence[_Row]], key: SegmentKey, faults: Faults) -> Iterator[Rating]:
    """Yields the ratings of one segment."""
    ratings = [rows for rows in by_rater if rows]
    # Each rater counts once for a text, so that one who typed into many rows does not outvote the others.
    targets = Counter(text for rows in ratings for text in {row.target.text for row in rows})
    sources = Counter(text for rows in ratings for text in {row.source.text for row in rows})
    for rows in ratings:
        hypothesis = _most_seen([row.target.text for row in rows], targets)
        source = _most_seen([row.source.text for row in rows], sources)
        errors: list[ErrorSpan] = []
        source_errors: list[ErrorSpan] = []
        unplaced: list[UnplacedError] = []
        for row in rows:
            if row.severity is None:
                continue
            in_source = bool(row.source.marks) and not row.target.marks
            place = _place(row, source if in_source else hypothesis, in_source=in_source, faults=faults)
            if place is None:
                unplaced.append(UnplacedError(row.severity, row.category))
            else:
                (source_errors if in_source else errors).append(ErrorSpan(*place, row.severity, row.category))
        segment = Segment(hypothesis, source, key=key)
        yield Rating(segment, rows[0].rater or None, tuple(errors), tuple(source_errors), tuple(unplaced))


def _most_seen(texts: Sequence[str], seen: Counter[str]) -> str:
    """Returns that of one rater's texts which most raters have; of equal ones, the rater's own most frequent."""
    own = Counter(texts)
    return max(own, key=lambda text: (seen[text], own[text]))


def _place(row: _Row, text: str, *, in_source: bool, faults: Faults) -> tuple[int, int] | None:
    """Returns where in `text` the row's error is, None if nowhere."""
    marked, column = (row.source, "source") if in_source else (row.target, "target")
    if not (row.source.is_balanced and row.target.is_balanced):
        faults.repair(row.line, "unbalanced tags", "every <v> must have its </v>")
        return None
    if not marked.marks:
        faults.repair(row.line, "error without a marked span", "must stand between <v> and </v> in target or source")
        return None
    if row.source.marks and row.target.marks:
        faults.repair(row.line, "marked in source and target", "must be marked in one of them")
    if len(marked.marks) > 1:
        faults.repair(row.line, "several marked spans", "must be one a row; taken from the first <v> to the last </v>")
    start, end = marked.marks[0][0], marked.marks[-1][1]
    if start == end:
        faults.repair(row.line, "marked span is empty", f"must be a character or more of {column}")
        return None
    if marked.text == text:
        return start, end
    place = projection.relocate(start, end, marked.text, text)
    fate = "moved" if place else "lost"
    faults.repair(row.line, f"{column} not as in other rows, span {fate}", "rows of a rating must hold one text")
    return place
