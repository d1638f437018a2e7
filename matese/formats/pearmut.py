"""Pearmut: a campaign whose items are annotated already, and the annotations that people have made of it.

What is written is a campaign (`pearmut add FILE`), an object with `info`, `campaign_id` and `data`. A task is all
that one person annotates: here a document with its segments as items. An item has the source, one translation by the
name of its system, and its errors as `error_spans`; further keys, which Pearmut stores, hold the rest of the segment.

What is read is that campaign, the campaigns that Pearmut's dashboard downloads (`campaigns.json`, whose tasks stand by
their users), or the annotations that it downloads (`annotations.json`: the log of each campaign by its name) or keeps
as JSON lines: their rater is the user. Of a segment that a user has annotated several times the last holds, and nothing
of what a user has annotated before the task was reset, so the annotations are held in memory; those of the tutorial,
whose `item_i` is a word, and forms are left out.

Offsets count UTF-16 code units, with inclusive ends; a span on the token `[missing]`, which stands behind the text,
is an error without a place (pearmut 1.1, web/src/annotate.ts). Pearmut takes no system whose name is a number, so such
names are written with "system " before them.

Not held: more than one reference, confidences, errors in the source, overall judgements (people set the score of a
segment, which is read as 0-100 ESA), and whether spans were asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, UnplacedError
from matese.formats import inclusive, json_stream
from matese.formats.format import PLAIN, Reading, Start, Writing
from matese.formats.holding import Holds
from matese.formats.json_values import Fields
from matese.formats.lines import Faults, FormatError, name_of
from matese.formats.utf16 import Units

HOLDS = Holds(
    references=1,
    no_spans=False,
    confidence=False,
    source_errors=False,
    scales=(),
    empty_texts=False,
    needs=("system",),
)
_KEY = ("test_set", "lang_pair", "document", "index")
_RESET = "__RESET__"
_INFO = {"assignment": "task-based", "protocol": "ESA", "shuffle": False}


def begins(start: Start) -> bool:
    """Whether a file begins like a campaign or its annotations."""
    return start.is_json() and (
        start.is_json("campaign_id", "info") or (start.is_json("tgt") and '"item' in start.text)
    )


def write(ratings: Iterable[Rating], writing: Writing) -> Iterator[str]:
    """Yields the campaign's text."""
    yield f'{{"campaign_id": {json.dumps(writing.method)},\n"info": {json.dumps(_INFO)},\n"data": ['
    for number, (_, own) in enumerate(groupby(ratings, key=_document)):
        task = [[_item(rating) for rating in own]]
        yield ",\n" if number else "\n"
        yield json.dumps(task, ensure_ascii=False)
    yield "\n]}\n"


def _document(rating: Rating) -> tuple[object, ...]:
    key = rating.segment.key or SegmentKey()
    return key.test_set, key.lang_pair, key.system, key.document, rating.rater


def _item(rating: Rating) -> dict[str, object]:
    segment, key = rating.segment, rating.segment.key or SegmentKey()
    system = key.system or ""
    # Pearmut refuses digits alone, and no key of an object may be empty in what it exports.
    shown = f"system {system}" if system.isdigit() or not system or system.startswith("system ") else system
    text, n_units = segment.hypothesis, Units(segment.hypothesis).n_units
    errors = rating.errors or ()
    places = [*inclusive.to_places(text, errors), *((n_units, n_units) for _ in rating.unplaced)]
    marked: list[ErrorSpan | UnplacedError] = [*errors, *rating.unplaced]
    spans = [
        {
            "start_i": first,
            "end_i": last,
            "severity": None if error.severity is None else error.severity.value,
            "category": error.category,
        }
        for (first, last), error in zip(places, marked, strict=True)
    ]
    item: dict[str, object] = {"tgt": {shown: text}, "error_spans": {shown: spans}}
    if segment.source is not None:
        item["src"] = segment.source
    if segment.references:
        item["ref"] = segment.references[0]
    kept = {name: getattr(key, name) for name in _KEY}
    item |= {name: value for name, value in kept.items() if value is not None}
    item["item_id"] = "_#_".join(str(value) for value in kept.values() if value is not None)
    return item if rating.rater is None else {**item, "pre_annotated_by": rating.rater}


def read(path: str | Path, reading: Reading = PLAIN) -> Iterator[Rating]:
    """Yields the ratings of a campaign, or those of its annotations.

    Raises:
        FormatError: if it is neither, or an item is not as it must be.
        OSError: where it cannot be read.
    """
    faults = Faults(name_of(path), reading.report)
    last: dict[tuple[str | None, Segment, str | None], Rating] = {}
    for element in json_stream.read(path):
        value, campaign, line = element.value, element.key, element.line
        try:
            if isinstance(value, dict) and value.get("annotation") == _RESET:
                user = Fields.open(value).string("user_id")
                last = {key: one for key, one in last.items() if (key[0], key[2]) != (campaign, user)}
            elif isinstance(value, dict) and "annotation" in value:
                for rating in _answer(Fields.open(value), faults, line, reading):
                    # Given anew, it takes the place of the first.
                    last[campaign, rating.segment, rating.rater] = rating
            else:
                for item in _items(_campaign_data(element), "data"):
                    yield from _ratings(item, None, None, faults, line, reading)
        except FormatError:
            raise
        except ValueError as error:
            raise FormatError(name_of(path), line, str(error)) from None
    yield from last.values()


def _campaign_data(element: json_stream.Element) -> object:
    """Returns the data, or part of them, of the campaign that the file is or that an element of it is; else nothing."""
    value = element.value
    if element.key == "data":
        return value
    return value.get("data", []) if isinstance(value, dict) and "campaign_id" in value else []


def _items(value: object, where: str) -> Iterator[Fields]:
    """Yields the items of a campaign's data: lists of tasks or documents, by user or not. Forms are none."""
    if isinstance(value, list):
        for i, one in enumerate(value):
            yield from _items(one, f"{where}[{i}]")
    elif isinstance(value, dict) and value and all(isinstance(one, list) for one in value.values()):
        for user, one in value.items():
            yield from _items(one, f"{where}.{user}")
    elif not isinstance(value, dict) or "form" not in value:
        yield Fields.open(value, f"{where}.")


def _answer(entry: Fields, faults: Faults, line: int, reading: Reading) -> Iterator[Rating]:
    """Yields the ratings of one entry of the log."""
    if not isinstance(entry.values.get("item_i"), int):
        return
    items = entry.values.get("item", entry.values.get("payload_items"))
    annotations = entry.values["annotation"]
    if not isinstance(items, list) or not isinstance(annotations, list) or len(items) != len(annotations):
        raise ValueError("item and annotation must be lists of one length")
    user = entry.string("user_id")
    for item, annotation in zip(Fields({"item": items}).inner_list("item"), annotations, strict=True):
        if annotation is not None and "form" not in item.values:
            yield from _ratings(item, Fields.open(annotation, "annotation."), user, faults, line, reading)


def _ratings(
    item: Fields, annotation: Fields | None, user: str | None, faults: Faults, line: int, reading: Reading
) -> Iterator[Rating]:
    """Yields the rating of each translation of an item: what was given with it, or what the user has made of it."""
    targets = item.needed("tgt", item.inner("tgt"))
    given = item.inner("error_spans") or Fields({})
    for shown in targets.values:
        text = targets.needed(shown, targets.string(shown))
        judged = None if annotation is None else annotation.inner(shown)
        if annotation is not None and judged is None:
            continue
        marks = given.inner_list(shown) if judged is None else judged.inner_list("error_spans")
        found = inclusive.read(text, marks, faults, line)
        segment = _segment(item, text, shown, reading)
        rater = user if judged is not None else item.string("pre_annotated_by")
        score = None if judged is None else judged.number("score")
        overall = None if score is None else Overall(score, "esa")
        yield Rating(segment, rater, found.placed, unplaced=found.unplaced, overall=overall)


def _segment(item: Fields, text: str, shown: str, reading: Reading) -> Segment:
    names: Mapping[str, str | None] = {name: item.string(name) for name in _KEY[:-1]}
    key = SegmentKey(
        names["test_set"] or reading.test_set,
        names["lang_pair"] or reading.lang_pair,
        shown.removeprefix("system "),
        names["document"],
        item.integer("index"),
    )
    reference = item.string("ref")
    return Segment(text, item.string("src"), () if reference is None else (reference,), key)
