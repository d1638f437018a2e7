"""doccano, sequence labelling, JSONL: one object per line with `text` and `label`, a list of [start, end, name].

Offsets are half-open and count UTF-16 code units, as in doccano's page (version 1.8.4, and issue 2290 of its
repository). Projects that count grapheme clusters as one character are not supported. The name of a label is the
severity, with its category after a colon: "Major", "Minor: Fluency/Grammar", "Undecided". A name that does not start
with a severity is the category of an error of undecided severity.

The other keys, `source`, `references`, `rater` and those of the segment's key, become the example's metadata in
doccano, which exports them again. The rater is then the one before the correction; `matese convert --as-rater` replaces
it. doccano makes one table of all lines, and its database refuses the NaN of a key or number that some lines lack:
therefore every line has every key, and the index is text.

Other versions of doccano write `labels`, `entities` (objects of `start_offset`, `end_offset` and `label`) or, the
oldest, `annotations` (such objects with the number of a `user`) in place of `label`. Each user of `annotations` is a
rater. Their labels may be numbers, whose names are not in the file: these are reported as not understood, as are
relations and comments. An object without any of these lists is a text without spans.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity, severities
from matese.errors import InputError
from matese.files import name_of, read_lines
from matese.formats.capabilities import KEY_FIELDS, Capabilities
from matese.formats.format import STRICT, ReadOptions, WriteOptions
from matese.formats.row_issues import RowIssues, located
from matese.formats.utf16_offsets import to_range
from matese.text.ranges import Utf16Text
from matese.validation import plain_values

CAPABILITIES = Capabilities(
    lacks=("no_spans", "confidence", "source_errors", "omissions", "unplaced", "empty_texts"), scales=()
)


_Span = tuple[int, int, str | int]
"""Start, end, and the name or number of a label."""


class _Entity(msgspec.Struct):
    start_offset: int
    end_offset: int
    label: str | int = ""
    user: int | str | None = None

    @property
    def span(self) -> _Span:
        return self.start_offset, self.end_offset, self.label


class _Example(msgspec.Struct):
    text: str
    label: list[_Span] | None = None
    labels: list[_Span] | None = None
    entities: list[_Entity] | None = None
    annotations: list[_Entity] | None = None
    relations: list[Any] | None = None
    cats: list[Any] | None = None
    comments: list[Any] | None = msgspec.field(default=None, name="Comments")
    source: str | None = None
    references: list[str] | None = None
    rater: str | None = None
    test_set: str | None = None
    lang_pair: str | None = None
    system: str | None = None
    document: str | None = None
    index: int | float | str | None = None

    @property
    def is_annotated(self) -> bool:
        """Whether it has a list of labels, which may be empty."""
        return any(labels is not None for labels in (self.label, self.labels, self.entities, self.annotations))

    def raters(self) -> Iterator[tuple[str | None, list[_Span]]]:
        """Yields each rater with start, end and label of the rater's spans."""
        spans = [*(entity.span for entity in self.entities or ()), *(self.label or ()), *(self.labels or ())]
        by_user: dict[int | str | None, list[_Span]] = {}
        for entity in self.annotations or ():
            by_user.setdefault(entity.user, []).append(entity.span)
        if spans or not by_user:
            yield self.rater, spans
        for user, of_user in by_user.items():
            yield self.rater if user is None else str(user), of_user


def write(ratings: Iterable[Rating], options: WriteOptions) -> Iterator[str]:
    """Yields the lines."""
    for rating in ratings:
        segment = rating.segment
        key = segment.key or SegmentKey()
        text = Utf16Text(segment.hypothesis)
        label = [[text.to_unit(span.start), text.to_unit(span.end), _name(span)] for span in rating.errors or ()]
        fields: dict[str, object] = {"text": segment.hypothesis, "label": label, "source": segment.source}
        fields |= {"references": list(segment.references) or None, "rater": rating.rater}
        fields |= {name: getattr(key, name) for name in KEY_FIELDS}
        fields["index"] = None if key.index is None else str(key.index)
        yield json.dumps(fields, ensure_ascii=False) + "\n"


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the ratings of each line: one, or in the oldest exports one of each user."""
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            with located(path, number):
                issues = RowIssues(name_of(path), options.report, number)
                yield from _ratings(plain_values.from_json(line, _Example), issues)


def _ratings(example: _Example, issues: RowIssues) -> Iterator[Rating]:
    index = _index(example.index)
    key = SegmentKey(example.test_set, example.lang_pair, example.system, example.document, index)
    references = tuple(example.references or ())
    segment = Segment(example.text, example.source, references, None if key == SegmentKey() else key)
    remarks = {"relation": example.relations, "comment": example.comments, "label of the whole text": example.cats}
    for name, unread in remarks.items():
        for _ in unread or ():
            issues.ignore(name, "must be a label of words")
    for rater, labelled in example.raters():
        errors_or_none = [_error(Utf16Text(example.text), span, issues) for span in labelled]
        errors = tuple(span for span in errors_or_none if span is not None)
        is_unknown = not example.is_annotated or (not errors and bool(labelled or any(remarks.values())))
        yield Rating(segment, rater, None if is_unknown else errors)


def _error(text: Utf16Text, span: _Span, issues: RowIssues) -> ErrorSpan | None:
    """Returns the error that a label marks; None if the label is not understood."""
    start, end, name = span
    if not 0 <= start < end:
        raise InputError(f"label {start}..{end}: must have 0 <= start < end")
    if isinstance(name, int):
        issues.ignore("label is a number", "must be a name, as newer exports have it")
        return None
    return ErrorSpan(*to_range(text, start, end, issues=issues), *_parse_name(name))


def _index(value: float | str | None) -> int | None:
    """Returns the segment's number, which may be text or, after doccano, a fraction (3.0)."""
    number = int(value) if isinstance(value, str) and re.fullmatch("-?[0-9]{1,18}", value) else value
    if number is None or (not isinstance(number, str) and float(number).is_integer()):
        return None if number is None else int(number)
    raise InputError(f"index is {value!r}: must be an integer or null")


def _name(span: ErrorSpan) -> str:
    """Returns the name of a span's label."""
    severity = severities.label(span.severity)
    return severity if span.category is None else f"{severity}: {span.category}"


def _parse_name(name: str) -> tuple[Severity | None, str | None]:
    """Returns severity and category of a label.

    >>> _parse_name("Minor: Fluency/Grammar"), _parse_name("Grammar")
    ((<Severity.MINOR: 'minor'>, 'Fluency/Grammar'), (None, 'Grammar'))
    """
    severity, colon, category = name.partition(":")
    severity = severity.strip()
    if severity.casefold() not in severities.MEANINGS:
        return None, name.strip() or None
    return severities.MEANINGS[severity.casefold()], category.removeprefix(" ") if colon else None
