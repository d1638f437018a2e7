"""Read the error span annotations of WMT24 (ESA), English into four languages: spans with severity, and a 0-100 score.

The rows have no text but the number of a line in the test set's files, counted from 0. The ends of their spans are
inclusive.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

import msgspec

from data_prep import cleaning
from data_prep.report import Count
from data_prep.store import Store
from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.errors import InputError
from matese.formats.row_issues import located
from matese.validation import plain_values

FILES = (
    "esa/wmt24-esa/humeval/esa_generalMT2024_wave2.csv",
    "esa/wmt24-esa/humeval/esa_generalMT2024_wave3.csv",
)
TEXTS = "wmt/wmt24"

_LANGUAGES = {"eng": "en", "ces": "cs", "zho": "zh", "jpn": "ja", "hin": "hi"}
_SEVERITIES = {"undecided": None, "minor": Severity.MINOR, "major": Severity.MAJOR}
_MISSING = "missing"
_HUMAN = "ref"


class _Span(msgspec.Struct, frozen=True):
    """A span in the file; the offsets of an omission are "missing"."""

    start_i: int | Literal["missing"]
    end_i: int | Literal["missing"]
    severity: Literal["undecided", "minor", "major"]

    def __post_init__(self) -> None:
        if self.start_i == self.end_i == _MISSING:
            return
        if isinstance(self.start_i, str) or isinstance(self.end_i, str) or not 0 <= self.start_i <= self.end_i:
            raise InputError(f"{self.start_i}..{self.end_i}: must be numbers with 0 <= start_i <= end_i")


class _Row(msgspec.Struct, frozen=True):
    """A rater's rating: the columns of the file. The spans have not been checked against the text yet."""

    rater: str
    system: str
    segment: Annotated[int, msgspec.Meta(ge=0)]
    kind: Literal["TGT"]
    source: Literal["eng", "ces", "zho", "jpn", "hin"]
    target: Literal["eng", "ces", "zho", "jpn", "hin"]
    score: Annotated[float, msgspec.Meta(ge=0, le=100)]
    document: str
    incomplete: str
    spans: tuple[_Span, ...]
    start: str
    end: float

    @property
    def key(self) -> SegmentKey:
        # "#incomplete" and "#dup" describe how a document was presented.
        document = self.document.partition("#")[0]
        lang_pair = f"{_LANGUAGES[self.source]}-{_LANGUAGES[self.target]}"
        return SegmentKey("wmt24-esa", lang_pair, self.system, document, self.segment)

    @property
    def is_human(self) -> bool:
        """Whether the translation is human; such translations are rated as systems."""
        return self.system.startswith(_HUMAN)

    @property
    def files(self) -> tuple[str, str, str]:
        """The files of the hypothesis, the source and the reference."""
        pair = self.key.lang_pair
        human = f"txt/references/{pair}.{self.system}.txt"
        system = f"txt/system-outputs/{pair}/{self.system}.txt"
        return human if self.is_human else system, f"txt/sources/{pair}.txt", f"txt/references/{pair}.refA.txt"


def read(store: Store, *, skip: Count, drop: Count, repair: Count) -> Iterator[Rating]:
    """Yields the ratings of both waves, one per rater and segment, with references except for human translations.

    Args:
        store: holds the archives of the ratings and of the texts.
        skip: called for each unusable rating.
        drop: called for each error that is left out on purpose.
        repair: called for each changed error.

    Raises:
        FormatError: if a row is not in the format or names a segment that does not exist.
        FileNotFoundError: if an archive or a file in it is missing.
    """
    rows: dict[tuple[SegmentKey, str], tuple[str, int, _Row]] = {}
    for path in FILES:
        for line, row in _rows(store, path, skip):
            before = rows.get((row.key, row.rater))
            if before is not None:
                skip("rating that its rater replaced")
            if before is None or row.end >= before[2].end:
                rows[row.key, row.rater] = path, line, row
    lines = store.texts(TEXTS, sorted({name for _, _, row in rows.values() for name in row.files}))
    for path, line, row in rows.values():
        with located(path, line):
            rating = _rating(row, lines, repair)
        # Each rating is prepared alone.
        yield from cleaning.prepare(
            [rating], drop, repair, seed=lambda rating: f"merge|0|{rating.segment.key}|{rating.rater}"
        )


def _rating(row: _Row, lines: Mapping[str, Sequence[str]], repair: Count) -> Rating:
    for name in row.files:
        if row.segment >= len(lines[name]):
            limit = f"must be less than {len(lines[name])}, the number of lines of {TEXTS}/{name}"
            raise InputError(f"segment {row.segment}: {limit}")
    hypothesis, source, reference = (lines[name][row.segment] for name in row.files)
    references = (reference,) if reference.strip() and not row.is_human else ()
    placed = [_error(span, hypothesis, repair) for span in row.spans]
    errors = tuple(error for error in placed if isinstance(error, ErrorSpan))
    unplaced = tuple(error for error in placed if isinstance(error, UnplacedError))
    segment = Segment(hypothesis, source, references, row.key)
    return Rating(segment, row.rater, errors, unplaced=unplaced, overall=Overall(row.score, "esa"))


def _error(span: _Span, text: str, repair: Count) -> ErrorSpan | UnplacedError:
    severity = _SEVERITIES[span.severity]
    if isinstance(span.start_i, str) or isinstance(span.end_i, str):
        return UnplacedError(severity, _MISSING)
    if span.start_i >= len(text):
        repair("span begins beyond the text")
        return UnplacedError(severity)
    if span.end_i >= len(text):
        repair("span ends beyond the text")
    return ErrorSpan(span.start_i, min(span.end_i + 1, len(text)), severity)


def _rows(store: Store, path: str, skip: Count) -> Iterator[tuple[int, _Row]]:
    """Yields the line number and the content of each row."""
    columns = _Row.__struct_fields__
    reader = csv.reader(io.StringIO(store.read(path).decode("utf-8"), newline=""))
    for fields in reader:
        with located(path, reader.line_num):
            if len(fields) != len(columns):
                raise InputError(f"row has {len(fields)} fields; it needs {len(columns)}: {' '.join(columns)}")
            named: dict[str, object] = dict(zip(columns, fields, strict=True))
            if named["kind"] == "BAD" or "-tutorial" in fields[columns.index("system")]:
                skip("attention check (BAD)" if named["kind"] == "BAD" else "tutorial")
                continue
            for name in ("segment", "score", "spans", "end"):
                named[name] = plain_values.from_json(str(named[name]), object)
            row = plain_values.convert(named, _Row)
        yield reader.line_num, row
