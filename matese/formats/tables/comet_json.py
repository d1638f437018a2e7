"""The JSON that `comet-score --to_json` writes with an xCOMET model; it can only be read.

The file is an object with a list for each translated file. An item of a list is an object of `src`, `mt`, `ref`, the
score `COMET` (0 to 1) and `errors`, a list of objects of `start`, `end`, `text`, `severity` and `confidence`. A model
that does not mark errors writes no `errors`: spans were not annotated.

Offsets are half-open and in code points. A span of xCOMET may include the space before a word, which its `text` omits,
because of the tokeniser. White space at either end is removed here, as in our predictions, unless the span has nothing
else. The system is the file's name without its last suffix, segments count from 0, and the score is the
estimate, on the scale `0-1`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePath

import msgspec

from matese.annotation import ErrorSpan, Estimate, Rating, Segment, SegmentKey, severities
from matese.files import name_of
from matese.formats import json_stream
from matese.formats.format import STRICT, ReadOptions
from matese.formats.row_issues import RowIssues, located
from matese.validation import plain_values

RATER = "comet"


class _Error(msgspec.Struct):
    start: int
    end: int
    severity: str
    confidence: float | None = None


_KEYS = (*_Error.__struct_fields__, "text")


class _Item(msgspec.Struct):
    mt: str
    score: float = msgspec.field(name="COMET")
    src: str | None = None
    ref: str | None = None
    errors: list[_Error] | None = None


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the rating of each segment."""
    counts: Counter[str | None] = Counter()
    for element in json_stream.read(path):
        with located(path, element.line):
            system = None if element.key is None else PurePath(element.key).stem
            key = SegmentKey(system=system, index=counts[element.key])
            item = plain_values.convert(element.value, _Item)
            _report_unknown(element.value, RowIssues(name_of(path), options.report, element.line))
            yield _rating(item, key)
        counts[element.key] += 1


def _report_unknown(item: object, issues: RowIssues) -> None:
    """Reports the keys of errors that are not understood."""
    errors = item.get("errors") if isinstance(item, dict) else None
    issues.ignore_unknown((name for error in errors or () for name in error), _KEYS)


def _rating(item: _Item, key: SegmentKey) -> Rating:
    segment = Segment(item.mt, item.src, () if item.ref is None else (item.ref,), key)
    errors = None if item.errors is None else tuple(_span(error, item.mt) for error in item.errors)
    return Rating(segment, RATER, errors, estimate=Estimate(item.score, "0-1"))


def _span(error: _Error, text: str) -> ErrorSpan:
    start = error.start
    end = error.end
    marked = text[error.start : error.end]
    if marked.strip():
        start = start + len(marked) - len(marked.lstrip())
        end = end - len(marked) + len(marked.rstrip())
    return ErrorSpan(start, end, severities.parse(error.severity), confidence=error.confidence)
