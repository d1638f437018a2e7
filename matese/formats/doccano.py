"""doccano, sequence labelling, JSONL: an object a line with `text` and `label`, a list of [start, end, name].

Offsets are half-open and count UTF-16 code units, as doccano's page does (version 1.8.4, and issue 2290 of its
repository); in a project that counts grapheme clusters as one character, offsets count those, which this format is not.
The name of a label is the severity, with its category behind a colon: "Major", "Minor: Fluency/Grammar", "Undecided". A
name that does not begin with a severity is a category, of an error whose severity is undecided.

The other keys, `source`, `references`, `rater` and those of the segment's key, become the example's metadata in
doccano, which exports them again; the rater is then who has made the labels at first, and `matese convert --rater` says
who has corrected them. doccano makes one table of all lines, and its database refuses the NaN of a key or number that
some lines lack: so every line has every key, and the index is text. Besides `label`, `labels` and `entities` (objects
of `start_offset`, `end_offset` and `label`) are read, as versions of doccano write them.

Not held: confidences, errors in the source or without a place, overall judgements, and whether spans were asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity
from matese.formats import json_values
from matese.formats.format import PLAIN, Reading, Start, Writing
from matese.formats.holding import KEY_FIELDS, Holds
from matese.formats.json_values import Fields
from matese.formats.lines import Faults, FormatError, name_of, read_lines
from matese.formats.utf16 import Units, whole

HOLDS = Holds(no_spans=False, confidence=False, source_errors=False, unplaced=False, scales=(), empty_texts=False)
_NUMBER = re.compile(r"-?[0-9]{1,4300}")
_SEVERITIES: dict[str, Severity | None] = {"undecided": None, **{one.value: one for one in Severity}}


def begins(start: Start) -> bool:
    """Whether a file begins like one of doccano's."""
    has_labels = any(f'"{key}":' in start.text.replace(" ", "") for key in ("label", "labels", "entities"))
    return start.text.lstrip().startswith("{") and '"text":' in start.text.replace(" ", "") and has_labels


def write(ratings: Iterable[Rating], writing: Writing) -> Iterator[str]:
    """Yields the lines."""
    for rating in ratings:
        segment, key = rating.segment, rating.segment.key or SegmentKey()
        units = Units(segment.hypothesis)
        label = [[units.of(span.start), units.of(span.end), _name(span)] for span in rating.errors or ()]
        fields: dict[str, object] = {"text": segment.hypothesis, "label": label, "source": segment.source}
        fields |= {"references": list(segment.references) or None, "rater": rating.rater}
        fields |= {name: getattr(key, name) for name in KEY_FIELDS}
        fields["index"] = None if key.index is None else str(key.index)
        yield json.dumps(fields, ensure_ascii=False) + "\n"


def read(path: str | Path, reading: Reading = PLAIN) -> Iterator[Rating]:
    """Yields the rating of each line.

    Raises:
        FormatError: at the first line that has no text, or whose labels do not fit it.
        OSError: where the file cannot be read.
    """
    faults = Faults(name_of(path), reading.report)
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        try:
            yield _rating(Fields.open(json_values.parse(line)), reading, faults, number)
        except FormatError:
            raise
        except ValueError as error:
            raise FormatError(name_of(path), number, str(error)) from None


def _rating(fields: Fields, reading: Reading, faults: Faults, line: int) -> Rating:
    text = fields.needed("text", fields.string("text"))
    key = SegmentKey(
        fields.string("test_set") or reading.test_set,
        fields.string("lang_pair") or reading.lang_pair,
        fields.string("system"),
        fields.string("document"),
        _index(fields),
    )
    segment = Segment(text, fields.string("source"), fields.strings("references"), None if key == SegmentKey() else key)
    units, spans = Units(text), []
    for start, end, name in _labels(fields):
        if not 0 <= start < end:
            raise ValueError(f"label {start}..{end}: must have 0 <= start < end")
        place = whole(units, start, -1, faults, line), whole(units, end, 1, faults, line)
        spans.append(ErrorSpan(*place, *_meaning(name)))
    return Rating(segment, fields.string("rater"), tuple(spans))


def _index(fields: Fields) -> int | None:
    """Returns the segment's number: text, or a number, which doccano may have made a fraction (3.0)."""
    value = fields.values.get("index")
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else fields.integer("index")


def _labels(fields: Fields) -> Iterator[tuple[int, int, str]]:
    """Yields start, end and name of each label."""
    for entity in fields.inner_list("entities"):
        start, end = (entity.needed(name, entity.integer(name)) for name in ("start_offset", "end_offset"))
        yield start, end, entity.string("label") or ""
    for key in ("label", "labels"):
        labels = fields.values.get(key) or []
        if not isinstance(labels, list):
            raise ValueError(f"{key} must be a list of [start, end, name]")
        for label in labels:
            is_label = isinstance(label, list) and [type(part) for part in label] == [int, int, str]
            if not is_label:
                raise ValueError(f"{key} holds {json.dumps(label)[:40]}: must be a list of [start, end, name]")
            yield label[0], label[1], label[2]


def _name(span: ErrorSpan) -> str:
    """Returns the name of a span's label."""
    severity = "Undecided" if span.severity is None else span.severity.value.capitalize()
    return severity if span.category is None else f"{severity}: {span.category}"


def _meaning(name: str) -> tuple[Severity | None, str | None]:
    """Returns severity and category of a label.

    >>> _meaning("Minor: Fluency/Grammar"), _meaning("Grammar")
    ((<Severity.MINOR: 'minor'>, 'Fluency/Grammar'), (None, 'Grammar'))
    """
    severity, colon, category = name.partition(":")
    if severity.casefold() not in _SEVERITIES:
        return None, name or None
    return _SEVERITIES[severity.casefold()], category.removeprefix(" ") if colon else None
