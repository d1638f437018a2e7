"""Read the biomedical MQM ratings of 15 language pairs (amazon-science/bio-mqm-dataset, v2), a JSON list per system.

Every error has a `term` and offsets with inclusive ends. For a tenth of the errors, the term is not at the offsets:
documents were segmented again between rating and export, so some ratings belong to another sentence. This affects all
systems at a location or none, so all ratings of an affected location are dropped, even those without errors.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import Annotated

import msgspec

from data_prep import cleaning
from data_prep.report import Count
from data_prep.store import Store
from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.errors import FormatError, InputError, one_of
from matese.formats.row_issues import located
from matese.preparation import normalise
from matese.validation import plain_values

TEST_SET = "bio"
FOLDER = "mqm/bio-mqm-v2"

_DIRECTION = re.compile(r"(?P<source>[a-z]{2})2(?P<target>[a-z]{2})")
_HUMAN = "reference"
_NEAR = 3
"""Largest distance of a term from its offsets, in characters; leading spaces, for example, were lost."""

_SEVERITIES = {severity.value: severity for severity in Severity}


class _Mark(msgspec.Struct, frozen=True):
    """An error in the file."""

    start: Annotated[int, msgspec.Meta(ge=0)] = msgspec.field(name="startIndex")
    last: int = msgspec.field(name="endIndex")
    term: str
    severity_name: str = msgspec.field(name="severity")  # in upper or lower case
    main: str = msgspec.field(name="error_category")
    sub: str = msgspec.field(name="error_subcategory")  # may be empty

    def __post_init__(self) -> None:
        if self.severity_name.lower() not in _SEVERITIES:
            raise InputError(f"severity is {self.severity_name!r}: must be {one_of([*_SEVERITIES])}")

    @property
    def severity(self) -> Severity:
        return _SEVERITIES[self.severity_name.lower()]

    @property
    def category(self) -> str:
        return "/".join(name for name in (self.main, self.sub) if name)

    def place(self, text: str) -> tuple[int, int] | None:
        """Returns the half-open range of the term at or near its offsets; None if the term is not there."""
        end = self.last + 1
        marked = text[self.start : end]
        if not self.term.strip():
            return (self.start, end) if marked and marked == self.term else None
        if marked.strip() == self.term.strip():
            return self.start, min(end, len(text))
        near = [start for start in self._starts(text) if abs(start - self.start) <= _NEAR]
        start = min(near, key=lambda start: abs(start - self.start), default=None)
        return None if start is None else (start, start + len(self.term))

    def only_place(self, text: str) -> tuple[int, int] | None:
        """Returns the range of the term if the text contains it exactly once."""
        starts = self._starts(text)
        return (starts[0], starts[0] + len(self.term)) if self.term.strip() and len(starts) == 1 else None

    def _starts(self, text: str) -> list[int]:
        return [match.start() for match in re.finditer(f"(?={re.escape(self.term)})", text)]


class _Row(msgspec.Struct, frozen=True):
    """One rater's rating of one segment; the offsets are not checked against the texts yet."""

    source: str
    target: str
    source_errors: tuple[_Mark, ...]
    target_errors: tuple[_Mark, ...]
    rater: str = msgspec.field(name="Annotator_ID")
    document: str = msgspec.field(name="DOC_ID")
    segment: str = msgspec.field(name="SEG_ID")

    def __post_init__(self) -> None:
        if not (self.segment.isascii() and self.segment.isdecimal()):
            raise InputError(f"SEG_ID is {self.segment!r}: must be digits")

    @property
    def places(self) -> list[tuple[int, int] | None]:
        """The ranges of all its errors."""
        in_source = [mark.place(self.source) for mark in self.source_errors]
        return in_source + [mark.place(self.target) for mark in self.target_errors]


_Keyed = tuple[SegmentKey, _Row]


def read(store: Store, *, skip: Count, drop: Count, repair: Count) -> Iterator[Rating]:
    """Yields the ratings of all language pairs with references; the raters of a segment are merged.

    The files `reference*` are human translations. They are the references of the systems' translations of the same
    source in the same language pair. They are also rated, without a reference.

    Args:
        store: holds the archive.
        skip: called for each unusable rating.
        drop: called for each error that is left out on purpose.
        repair: called for each changed error.

    Raises:
        FormatError: if a file is not in its format.
        FileNotFoundError: if the archive is missing.
    """
    rows = list(_rows(store))
    references: dict[tuple[str | None, str], list[str]] = defaultdict(list)
    segments: dict[tuple[SegmentKey, str], list[_Keyed]] = defaultdict(list)
    displaced = _displaced(rows)
    for key, row in rows:
        if _is_human(key) and row.target.strip():
            references[key.lang_pair, normalise(row.source)].append(row.target)
        if _location(key, row) in displaced:
            skip("rating of a text that differs from the rated text")
        else:
            segments[key, normalise(row.source)].append((key, row))
    for (key, source), raters in segments.items():
        texts = () if _is_human(key) else tuple(dict.fromkeys(references[key.lang_pair, source]))
        ratings = [_rating(*keyed, texts, repair) for keyed in raters]
        seed = partial(_seed, ratings[0].segment.source)
        yield from cleaning.prepare(ratings, drop, repair, seed=seed)


def _seed(source: str | None, rating: Rating) -> str:
    return f"merge|0|{rating.segment.key}|{source}"


def _is_human(key: SegmentKey) -> bool:
    return (key.system or "").startswith(_HUMAN)


def _location(key: SegmentKey, row: _Row) -> object:
    """Returns the row's place in the test set, independent of the system."""
    return key.lang_pair, key.document, key.index, row.source


def _displaced(rows: Iterable[_Keyed]) -> frozenset[object]:
    """Returns the locations where at least half of the ratings with errors have no error at its offsets."""
    n_rated: Counter[object] = Counter()
    n_displaced: Counter[object] = Counter()
    for key, row in rows:
        places = row.places
        if places:
            n_rated[_location(key, row)] += 1
            n_displaced[_location(key, row)] += not any(places)
    return frozenset(location for location, number in n_rated.items() if 2 * n_displaced[location] >= number)


def _rating(key: SegmentKey, row: _Row, references: tuple[str, ...], repair: Count) -> Rating:
    errors, lost = _errors(row.target_errors, row.target, repair)
    source_errors, lost_source = _errors(row.source_errors, row.source, repair)
    segment = Segment(row.target, row.source, references, key)
    # One rater is both "RL" and "RL ".
    return Rating(segment, row.rater.strip(), errors, source_errors, unplaced=(*lost, *lost_source))


def _errors(
    marks: Sequence[_Mark], text: str, repair: Count
) -> tuple[tuple[ErrorSpan, ...], tuple[UnplacedError, ...]]:
    errors = []
    lost = []
    for mark in marks:
        place = mark.place(text) or mark.only_place(text)
        if place is None:
            repair("error whose term is not in the text, kept without a place")
            lost.append(UnplacedError(mark.severity, mark.category))
            continue
        if place != (mark.start, mark.last + 1):
            repair("span moved to its term")
        errors.append(ErrorSpan(*place, mark.severity, mark.category))
    return tuple(errors), tuple(lost)


def _rows(store: Store) -> Iterator[_Keyed]:
    for path in map(PurePosixPath, store.names(FOLDER)):
        if path.suffix != ".json":
            continue
        name = f"{FOLDER}/{path}"
        direction = _DIRECTION.fullmatch(path.parent.name)
        if direction is None:
            raise FormatError(name, None, "must be in a folder named after its language pair, such as de2en")
        lang_pair = f"{direction['source']}-{direction['target']}"
        with located(name, None):
            rows = plain_values.from_json(store.read(name), list[_Row])
        for row in rows:
            yield SegmentKey(TEST_SET, lang_pair, path.stem, row.document, int(row.segment)), row
