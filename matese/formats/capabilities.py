"""What a format can hold of a Rating, as data, and the reduction of a Rating to that.

A writer only gets what its format can hold: then writing and reading is the identity, and every loss is counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeVar, get_args

from matese.annotation import (
    AnyError,
    ErrorSpan,
    Omission,
    Rating,
    Scale,
    Segment,
    SegmentKey,
    UnplacedError,
    WholeJudgement,
    severities,
)
from matese.annotation.severities import Severity

Kind = TypeVar("Kind", ErrorSpan, Omission, UnplacedError)
RatingPart = Literal[
    "source",
    "rater",
    "no_spans",
    "category",
    "confidence",
    "source_errors",
    "omissions",
    "unplaced",
    "estimate",
    "empty_texts",
]
Needed = Literal["system", "document", "index", "lang_pair", "source", "rater", "category"]

ALL_KEY_FIELDS = tuple(field.name for field in fields(SegmentKey))
KEY_FIELDS = tuple(name for name in ALL_KEY_FIELDS if name != "domain")
"""Those that name the place of a segment, which most formats hold."""
TABS_AND_LINES = (("[\t\n]", " "),)
"""Separators of fields and rows in a TSV; a space in their place leaves offsets unchanged."""

EXPECTED_SCORES = "expected scores"
"""What readers call the estimates that a format lacks."""
_MARKS = (ErrorSpan, Omission, UnplacedError)
_PLURALS = {
    field.name: field.metadata.get("plural", f"{field.name}s")
    for kind in (SegmentKey, Rating, *_MARKS)
    for field in fields(kind)
}
_WITH_PARTS_OF_THEIR_OWN = ("category", "confidence", "overall", "estimate")


def _details(kind: type) -> tuple[str, ...]:
    """Returns the fields of a rating or an error that may have no value."""
    return tuple(field.name for field in fields(kind) if field.default is None)


ALL_DETAILS = tuple(
    dict.fromkeys(name for kind in (Rating, *_MARKS) for name in _details(kind) if name not in _WITH_PARTS_OF_THEIR_OWN)
)
_PASSED_ON = tuple(name for name in _details(Rating) if name in ALL_DETAILS)
_NO_KEY = SegmentKey()


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a format can hold; the defaults are everything but other columns, domains and details.

    Attributes:
        lacks: what it cannot hold. Without "no_spans", ratings whose spans were not annotated are left out, since they
            cannot be told from those free of errors; "empty_texts" is whether an empty text of the key, the source or
            the rater differs from None. An omission that cannot be held becomes an error without a place.
        key: the fields of the segment's key.
        references: how many references; None for any number.
        severities: `severities.nearest` replaces any other: major for critical, minor for undecided; neutral errors
            are left out. If there are none, all errors become undecided.
        scales: of overall judgements and estimates.
        needs: fields that must have a value; a missing one is written as an empty text, an index as a count from 0.
        extra: whether other columns of a table.
        columns: other columns that it holds if not all.
        details: fields of ratings and errors that need not have a value, besides those that `lacks` can name.
        texts: without "no_spans": whether it holds the segment of a rating without spans, but nothing else of it.
        replaced: (regular expression, replacement) for single characters that the format cannot write.
    """

    lacks: tuple[RatingPart, ...] = ()
    key: tuple[str, ...] = KEY_FIELDS
    references: int | None = None
    severities: tuple[Severity | None, ...] = severities.EVERY
    scales: tuple[Scale, ...] = get_args(Scale)
    needs: tuple[Needed, ...] = ()
    extra: bool = False
    columns: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    texts: bool = False
    replaced: tuple[tuple[str, str], ...] = ()

    def holds(self, part: RatingPart) -> bool:
        """Whether the format can hold a part of a rating."""
        return part not in self.lacks

    def held_references(self, segment: Segment) -> Sequence[int]:
        """Returns the numbers of the references that the format can hold."""
        numbers = range(len(segment.references))
        if self.references is None:
            return numbers
        # A format without a list of references cannot tell an empty one from none.
        writable = [number for number in numbers if segment.references[number] or self.holds("empty_texts")]
        return writable[: self.references]

    def held_omissions(self, rating: Rating) -> tuple[list[Omission], list[UnplacedError]]:
        """Returns the omissions that the format can hold, and the others as errors without a place."""
        omissions: list[Omission] = []
        unplaced: list[UnplacedError] = []
        references = self.held_references(rating.segment)
        for omission in rating.omissions:
            number = omission.reference
            in_text = self.holds("source") if number is None else number in references
            if not (in_text and self.holds("omissions")):
                unplaced.append(UnplacedError(**{name: getattr(omission, name) for name in _COMMON}))
            else:
                omissions.append(omission if number is None else replace(omission, reference=references.index(number)))
        return omissions, unplaced


_COMMON = {field.name for field in fields(UnplacedError)} & {field.name for field in fields(Omission)}
EVERYTHING = Capabilities(key=ALL_KEY_FIELDS, extra=True, details=ALL_DETAILS)
"""Of a format that loses nothing."""


@dataclass(slots=True)
class Reducer:
    """Reduces ratings to what a format can hold.

    Attributes:
        capabilities: of the format.
        losses: how often each kind of thing was lost.
        adapt: a further reduction by the format, which counts its own losses; see `Format.adapt`.
    """

    capabilities: Capabilities
    losses: Counter[str] = field(default_factory=Counter)
    adapt: Callable[[Rating, Counter[str]], Rating] | None = None
    _numbers: Counter[tuple[str | None, str | None, str | None]] = field(default_factory=Counter)
    _holds_everything: bool = field(init=False)
    _holds_keys: bool = field(init=False)
    _severities: frozenset[Severity | None] = field(init=False)
    _lacked: Mapping[type, tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        capabilities = self.capabilities
        self._holds_keys = capabilities.key == ALL_KEY_FIELDS and not capabilities.needs and not capabilities.replaced
        self._severities = frozenset(self.capabilities.severities)  # equal ones are found quicker than in a tuple
        left_out = {*ALL_DETAILS} - {*capabilities.details} | ({"confidence"} & {*capabilities.lacks})
        self._lacked = {kind: tuple(sorted(left_out.intersection(_details(kind)))) for kind in (Rating, *_MARKS)}
        self._holds_everything = self.capabilities == EVERYTHING and self.adapt is None

    def reduce(self, rating: Rating) -> Rating | None:
        """Returns the part of a rating that the format can hold; None if there is none."""
        if self._holds_everything:
            return _named(rating)
        holds = self.capabilities.holds
        if rating.errors is None and not holds("no_spans"):
            texts = Rating(rating.segment, None, None)
            self._lose("ratings without spans", rating != texts or not self.capabilities.texts)
            if not self.capabilities.texts:
                return None
            rating = texts
        # Without the source, offsets into it have no meaning.
        has_source = holds("source") and rating.segment.source is not None
        source_errors = rating.source_errors if holds("source_errors") and has_source else ()
        omissions, unplaced_omissions = self.capabilities.held_omissions(rating)
        unplaced = (*rating.unplaced, *unplaced_omissions) if holds("unplaced") else ()
        self._lose("errors in the source", len(rating.source_errors) - len(source_errors))
        self._lose("errors without a place", 0 if holds("unplaced") else len(rating.unplaced))
        self._lose(
            f"omissions{', written as errors without a place' if holds('unplaced') else ''}", len(unplaced_omissions)
        )
        lost = self._without_details(rating)
        fitted = Rating(
            segment=self._segment(rating.segment),
            rater=self._held_name("rater", "names of raters", rating.rater),
            errors=None if rating.errors is None else self._marks(rating.errors),
            source_errors=self._marks(source_errors),
            omissions=self._marks(omissions),
            unplaced=self._marks(unplaced),
            overall=self._whole(rating.overall, "overall judgements"),
            estimate=self._whole(rating.estimate, EXPECTED_SCORES, is_held=holds("estimate")),
            **{name: None if name in lost else getattr(rating, name) for name in _PASSED_ON},
        )
        return fitted if self.adapt is None else self.adapt(fitted, self.losses)

    def _lose(self, kind: str, count: int | bool = 1) -> None:
        if count:
            self.losses[kind] += int(count)

    def _segment(self, segment: Segment) -> Segment:
        extra = segment.extra
        if extra is not None and not self.capabilities.extra:
            extra = {name: value for name, value in extra.items() if name in self.capabilities.columns} or None
            self._lose("other columns", len(segment.extra or ()) - len(extra or ()))
        source = segment.source
        if not self.capabilities.holds("source"):
            self._lose("sources", source is not None)
            source = None
        references = [segment.references[number] for number in self.capabilities.held_references(segment)]
        self._lose("references", len(segment.references) - len(references))
        return Segment(
            self._text(segment.hypothesis),
            self._name("source", "sources", source),
            tuple(map(self._text, references)),
            self._key(segment.key or _NO_KEY),
            extra,
            segment.line,
            name=segment.label or None,
        )

    def _key(self, key: SegmentKey) -> SegmentKey | None:
        if self._holds_keys and "" not in (key.test_set, key.lang_pair, key.system, key.document, key.domain):
            return None if key.index is None and key == _NO_KEY else key
        values: dict[str, str | None] = {}
        for name in ALL_KEY_FIELDS:
            value = getattr(key, name)
            if name not in self.capabilities.key:
                self._lose(_PLURALS[name], value is not None)
            elif name != "index":
                values[name] = self._name(name, _PLURALS[name], value)
        index = key.index if "index" in self.capabilities.key else None
        if index is None and "index" in self.capabilities.needs:
            self._lose("missing segment numbers, counted from 0")
            group = key.lang_pair, key.system, key.document
            index = self._numbers[group]
            self._numbers[group] += 1
        kept = SegmentKey(**values, index=index)
        return None if index is None and kept == _NO_KEY else kept

    def _held_name(self, part: Literal["rater", "category"], kind: str, value: str | None) -> str | None:
        if self.capabilities.holds(part):
            return self._name(part, kind, value)
        self._lose(kind, value is not None)
        return None

    def _name(self, name: str, kind: str, value: str | None) -> str | None:
        """Returns a name or the source as the format writes it: "" for a missing one that it needs."""
        text = None if value is None else self._text(value)
        if name in self.capabilities.needs:
            self._lose(f"missing {kind}, written as empty", text is None)
            return text or ""
        if text == "" and not self.capabilities.holds("empty_texts"):
            self._lose(f"empty {kind}, written as none")
            return None
        return text

    def _marks(self, errors: Iterable[Kind]) -> tuple[Kind, ...]:
        return tuple([mark for error in errors if (mark := self._mark(error)) is not None])

    def _mark(self, error: Kind) -> Kind | None:
        """Returns an error as the format holds it; None for one that is left out."""
        allowed = self.capabilities.severities
        severity = error.severity
        if not allowed:
            self._lose("severities", severity is not None)
            severity = None
        elif severity not in self._severities:
            name = severities.name(severity)
            severity = severities.nearest(severity, allowed)
            if severity is None:
                self._lose(f"{name} errors")
                return None
            self._lose(f"severities {name}, written as {severity.value}")
        category = self._held_name("category", "categories", error.category)
        changes: dict[str, Any] = self._without_details(error)
        if severity is not error.severity or category != error.category:
            changes |= {"severity": severity, "category": category}
        return replace(error, **changes) if changes else error

    def _without_details(self, holder: Rating | AnyError) -> dict[str, None]:
        """Returns None for each detail of a rating or an error that the format lacks."""
        lost = [name for name in self._lacked[type(holder)] if getattr(holder, name) is not None]
        if isinstance(holder, Rating) and holder.correction == "" and not self.capabilities.holds("empty_texts"):
            lost.append("correction")
        for name in lost:
            self._lose(_PLURALS[name])
        return dict.fromkeys(lost)

    def _whole(self, whole: WholeJudgement | None, kind: str, *, is_held: bool = True) -> WholeJudgement | None:
        if whole is None or (is_held and whole.scale in self.capabilities.scales):
            return whole
        self._lose(f"{kind} ({whole.scale})")
        return None

    def _text(self, text: str) -> str:
        for pattern, replacement in self.capabilities.replaced:
            text, count = re.subn(pattern, replacement, text)
            self._lose("characters that the format cannot write", count)
        return text


def _named(rating: Rating) -> Rating:
    """Returns the rating with a segment that knows what readers call it by, since the line of its file is not kept."""
    segment = rating.segment
    if segment.name is not None or segment.line is None or (segment.key is not None and segment.key.index is not None):
        return rating
    return replace(rating, segment=replace(segment, name=segment.label))
