"""doccano, sequence labelling, JSONL: one object per line with `text` and `label`, a list of [start, end, name].

Offsets are half-open and count UTF-16 code units, as in doccano's page (version 1.8.4, and issue 2290 of its
repository). Projects that count grapheme clusters as one character are not supported. The name of a label is the
severity, with its category after a colon: "Major", "Minor: Fluency/Grammar", "Undecided". A name that does not start
with a severity is the category of an error of undecided severity.

The other keys, `source`, `references`, `rater` and those of the segment's key, become the example's metadata in
doccano, which exports them again. The rater is then the one before the correction; `matese convert --rater` replaces
it. doccano makes one table of all lines, and its database refuses the NaN of a key or number that some lines lack:
therefore every line has every key, and the index is text. `labels` and `entities` (objects of `start_offset`,
`end_offset` and `label`), as other versions of doccano write them, can be read in place of `label`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity
from matese.errors import InputError
from matese.files import name_of, read_lines
from matese.formats import severities, validation
from matese.formats.capabilities import KEY_FIELDS, Capabilities
from matese.formats.format import STRICT, FileHead, ReadOptions, WriteOptions
from matese.formats.row_issues import RowIssues, located
from matese.formats.tools.utf16_offsets import to_range
from matese.text import Utf16Text

CAPABILITIES = Capabilities(
    lacks=("no_spans", "confidence", "source_errors", "omissions", "unplaced", "empty_texts"), scales=()
)


class _Entity(msgspec.Struct):
    start_offset: int
    end_offset: int
    label: str = ""


class _Example(msgspec.Struct):
    text: str
    label: list[tuple[int, int, str]] | None = None
    labels: list[tuple[int, int, str]] | None = None
    entities: list[_Entity] | None = None
    source: str | None = None
    references: list[str] | None = None
    rater: str | None = None
    test_set: str | None = None
    lang_pair: str | None = None
    system: str | None = None
    document: str | None = None
    index: int | float | str | None = None

    def spans(self) -> Iterator[tuple[int, int, str]]:
        """Yields start, end and name of each label."""
        yield from ((entity.start_offset, entity.end_offset, entity.label) for entity in self.entities or ())
        yield from self.label or ()
        yield from self.labels or ()


def matches(head: FileHead) -> bool:
    """Whether a file begins like one of doccano."""
    has_labels = any(f'"{key}":' in head.text.replace(" ", "") for key in ("label", "labels", "entities"))
    return head.text.lstrip().startswith("{") and '"text":' in head.text.replace(" ", "") and has_labels


def write(ratings: Iterable[Rating], options: WriteOptions) -> Iterator[str]:
    """Yields the lines."""
    for rating in ratings:
        segment, key = rating.segment, rating.segment.key or SegmentKey()
        text = Utf16Text(segment.hypothesis)
        label = [[text.to_unit(span.start), text.to_unit(span.end), _name(span)] for span in rating.errors or ()]
        fields: dict[str, object] = {"text": segment.hypothesis, "label": label, "source": segment.source}
        fields |= {"references": list(segment.references) or None, "rater": rating.rater}
        fields |= {name: getattr(key, name) for name in KEY_FIELDS}
        fields["index"] = None if key.index is None else str(key.index)
        yield json.dumps(fields, ensure_ascii=False) + "\n"


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the rating of each line."""
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            with located(path, number):
                issues = RowIssues(name_of(path), options.report, number)
                yield _rating(validation.from_json(line, _Example), issues)


def _rating(example: _Example, issues: RowIssues) -> Rating:
    index = _index(example.index)
    key = SegmentKey(example.test_set, example.lang_pair, example.system, example.document, index)
    references = tuple(example.references or ())
    segment = Segment(example.text, example.source, references, None if key == SegmentKey() else key)
    text, spans = Utf16Text(example.text), []
    for start, end, name in example.spans():
        if not 0 <= start < end:
            raise InputError(f"label {start}..{end}: must have 0 <= start < end")
        spans.append(ErrorSpan(*to_range(text, start, end, issues=issues), *_parse_name(name)))
    return Rating(segment, example.rater, tuple(spans))


def _index(value: float | str | None) -> int | None:
    """Returns the segment's number, which may be text or, after doccano, a fraction (3.0)."""
    number = int(value) if isinstance(value, str) and re.fullmatch("-?[0-9]{1,18}", value) else value
    if number is None or (not isinstance(number, str) and float(number).is_integer()):
        return None if number is None else int(number)
    raise InputError(f"index is {value!r}: must be an integer or null")


def _name(span: ErrorSpan) -> str:
    """Returns the name of a span's label."""
    severity = severities.label(span.severity).capitalize()
    return severity if span.category is None else f"{severity}: {span.category}"


def _parse_name(name: str) -> tuple[Severity | None, str | None]:
    """Returns severity and category of a label.

    >>> _parse_name("Minor: Fluency/Grammar"), _parse_name("Grammar")
    ((<Severity.MINOR: 'minor'>, 'Fluency/Grammar'), (None, 'Grammar'))
    """
    severity, colon, category = name.partition(":")
    if severity.casefold() not in severities.LABELS:
        return None, name or None
    return severities.LABELS[severity.casefold()], category.removeprefix(" ") if colon else None
