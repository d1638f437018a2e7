"""Read the error span annotations of WMT24 (ESA), English into four languages: spans with severity, and a 0-100 score.

The rows have no text but the number of a line in the test set's files, counted from 0. The ends of their spans are
inclusive.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from data_prep import cleaning
from data_prep.report import Count
from data_prep.store import Store
from matese import merging
from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.errors import FormatError, InputError
from matese.formats import validation
from matese.formats.issues import located

TEST_SET = "wmt24-esa"
FILES = (
    "esa/wmt24-esa/humeval/esa_generalMT2024_wave2.csv",
    "esa/wmt24-esa/humeval/esa_generalMT2024_wave3.csv",
)
TEXTS = "wmt/wmt24"
COLUMNS = (
    *("rater", "system", "segment", "kind", "source", "target", "score", "document", "incomplete", "spans"),
    *("start", "end"),
)

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


@dataclass(frozen=True, slots=True)
class _Row:
    """A rater's rating, whose spans have not been checked against the text yet."""

    path: str
    line: int
    rater: str
    key: SegmentKey
    score: float
    spans: Sequence[_Span]
    ended: float

    @property
    def index(self) -> int:
        return self.key.index or 0

    @property
    def hypotheses(self) -> str:
        """File of the hypothesis; human translations are rated as systems."""
        system, lang_pair = self.key.system or "", self.key.lang_pair
        if system.startswith(_HUMAN):
            return f"txt/references/{lang_pair}.{system}.txt"
        return f"txt/system-outputs/{lang_pair}/{system}.txt"

    @property
    def sources(self) -> str:
        return f"txt/sources/{self.key.lang_pair}.txt"

    @property
    def references(self) -> str:
        return f"txt/references/{self.key.lang_pair}.refA.txt"


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
    rows: dict[tuple[SegmentKey, str], _Row] = {}
    for path in FILES:
        for row in _rows(store, path, skip):
            before = rows.get((row.key, row.rater))
            if before is not None:
                skip("rating that its rater replaced")
            if before is None or row.ended >= before.ended:
                rows[row.key, row.rater] = row
    names = {name for row in rows.values() for name in (row.hypotheses, row.sources, row.references)}
    lines = store.texts(TEXTS, sorted(names))
    for row in rows.values():
        rating = cleaning.clean(_rating(row, lines, repair), drop, repair)
        if rating is not None:
            # Each rating is merged alone, so that no spans overlap, as in all training data.
            rng = random.Random(f"merge|0|{row.key}|{row.rater}")
            yield merging.merge([cleaning.trim(rating, repair)], rng=rng)


def _rating(row: _Row, lines: Mapping[str, Sequence[str]], repair: Count) -> Rating:
    for name in (row.hypotheses, row.sources, row.references):
        if row.index >= len(lines[name]):
            problem = (
                f"segment {row.index}: must be less than {len(lines[name])}, the number of lines of {TEXTS}/{name}"
            )
            raise FormatError(row.path, row.line, problem)
    hypothesis, source, reference = (lines[name][row.index] for name in (row.hypotheses, row.sources, row.references))
    is_human = (row.key.system or "").startswith(_HUMAN)
    references = (reference,) if reference.strip() and not is_human else ()
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


def _rows(store: Store, path: str, skip: Count) -> Iterator[_Row]:
    with store.open(path) as stream:
        reader = csv.reader(io.StringIO(stream.read().decode("utf-8"), newline=""))
        for fields in reader:
            with located(path, reader.line_num):
                named = _named(fields)
                reason = _reason_to_skip(named)
                row = _row(path, reader.line_num, named) if reason is None else None
            if row is not None:
                yield row
            elif reason is not None:
                skip(reason)


def _named(fields: Sequence[str]) -> Mapping[str, str]:
    if len(fields) != len(COLUMNS):
        raise InputError(f"row has {len(fields)} fields; it needs {len(COLUMNS)}: {' '.join(COLUMNS)}")
    return dict(zip(COLUMNS, fields, strict=True))


def _reason_to_skip(row: Mapping[str, str]) -> str | None:
    if row["kind"] not in ("TGT", "BAD"):
        raise InputError(f"kind {row['kind']!r}: must be TGT or BAD")
    if row["kind"] == "BAD":
        return "attention check (BAD)"
    return "tutorial" if "-tutorial" in row["system"] else None


def _row(path: str, line: int, row: Mapping[str, str]) -> _Row:
    for name in ("source", "target"):
        if row[name] not in _LANGUAGES:
            raise InputError(f"{name} language {row[name]!r}: must be one of {', '.join(_LANGUAGES)}")
    if not (row["segment"].isascii() and row["segment"].isdecimal()):
        raise InputError(f"segment {row['segment']!r}: must be digits")
    score, end = (validation.from_json(row[name], float) for name in ("score", "end"))
    if not 0 <= score <= 100:
        raise InputError(f"score {row['score']}: must be between 0 and 100")
    try:
        spans = validation.from_json(row["spans"], tuple[_Span, ...])
    except InputError as error:
        raise InputError(f"spans: {error}") from None
    # "#incomplete" and "#dup" describe how a document was presented.
    document = row["document"].partition("#")[0]
    lang_pair = f"{_LANGUAGES[row['source']]}-{_LANGUAGES[row['target']]}"
    key = SegmentKey(TEST_SET, lang_pair, row["system"], document, int(row["segment"]))
    return _Row(path, line, row["rater"], key, score, spans, end)
