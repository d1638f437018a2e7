"""Pearmut: a campaign with pre-annotated items, and the annotations that people make of it.

`write` makes a campaign (`pearmut add FILE`), an object with `info`, `campaign_id` and `data`. A task is the work of
one person: here a document with its segments as items. An item has the source, one translation under the name of its
system, and its errors as `error_spans`; other keys, which Pearmut stores, have the rest of the segment.

`read` reads that campaign, the campaigns that Pearmut's dashboard downloads (`campaigns.json`, with the tasks by user),
or annotations: those that it downloads (`annotations.json`, the log of each campaign by its name) or stores as JSON
lines; their rater is the user. Only a user's last annotation of a segment counts, and none from before the task was
reset; therefore all annotations are held in memory. Forms are ignored.

What is not there for its rating is skipped and counted: annotations that the user has skipped, which look like those
free of errors; items of the tutorial and random checks, whose `item_i` is a word; and items that are `skippable` or
have a `validation`, which teach or check the annotators. Comments and values of further sliders are counted, too. A
translation without `error_spans` is not annotated.

Where an item has none of our keys, the key comes from an `item_id` in the form of WMT 2025 or 2026,
"en-de_#_news_#_talk_#_0" or "news_###_talk_###_0", the language pair also from the name of the campaign, such as
"eng_Latn---deu_Latn v3", and the document from `doc_id` if there is one.

Offsets count UTF-16 code units, with inclusive ends. Tokens follow the text, with one offset each: a span on one is an
error without a place (pearmut 1.1, web/src/annotate.ts). A campaign names its tokens (`special_tokens` of `info`);
annotations do not, so theirs are taken for those of WMT 2026, `[missing]` and `[instructions fault]`.

Pearmut accepts no system whose name is a number, so "system " precedes such names.

The score that people set is read as 0-100 ESA, and not written.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from matese.annotation import Rating, Segment, SegmentKey
from matese.errors import InputError, one_of
from matese.files import name_of
from matese.formats import item_ids, json_stream
from matese.formats.capabilities import Capabilities
from matese.formats.corpora.wmt26 import INSTRUCTION_FAULT, OMISSION
from matese.formats.format import STRICT, ReadOptions, WriteOptions
from matese.formats.row_issues import RowIssues, located
from matese.formats.utf16_offsets import EsaSpan, from_esa, report_unknown, to_esa
from matese.text.ranges import Utf16Text
from matese.validation import plain_values

CAPABILITIES = Capabilities(
    lacks=("no_spans", "confidence", "source_errors", "omissions", "empty_texts"),
    references=1,
    scales=(),
    needs=("system",),
)
_KEY = ("test_set", "lang_pair", "document", "index")


class _Annotation(msgspec.Struct):
    """A user's annotation of one translation."""

    error_spans: list[EsaSpan] | None = None
    score: float | None = None
    sliders: dict[str, Any] | None = None
    textfield: str | None = None


class _Entry(msgspec.Struct):
    """What is read as it is of an entry of the log."""

    user_id: int | str | None = None


class _Item(msgspec.Struct):
    tgt: dict[str, str]
    error_spans: dict[str, list[EsaSpan] | None] | None = None
    src: str | None = None
    ref: str | None = None
    test_set: str | None = None
    lang_pair: str | None = None
    document: str | None = None
    index: int | None = None
    pre_annotated_by: str | None = None
    item_id: str | int | None = None
    doc_id: str | int | None = None
    skippable: Any = None
    validation: Any = None


@dataclass(frozen=True, slots=True)
class _Campaign:
    """What holds for all of its items.

    Attributes:
        lang_pair: that its name states.
        tokens: the categories of errors on the tokens behind a text, in their order; None for an unknown token.
    """

    lang_pair: str | None = None
    tokens: tuple[str | None, ...] = (OMISSION, INSTRUCTION_FAULT)


@dataclass(frozen=True, slots=True)
class _Row:
    """What the ratings of an entry share: the campaign, the user, and where issues are reported."""

    campaign: _Campaign
    user: str | None
    issues: RowIssues


_REMARKS = ("comment", "comments", "rejected")
"""Keys of an item that say something about its translation."""
_NOTHING: tuple[object, ...] = (None, "", [], {}, False)
_RESET = "__RESET__"
_SKIPPED = "submit_skip"
_CHECK = "attention_check_"
_TOKENS = {"[missing]": OMISSION, "[instructions fault]": INSTRUCTION_FAULT, "[instruction fault]": INSTRUCTION_FAULT}
"""Categories of errors on the tokens behind a text."""
_INFO = {"assignment": "task-based", "protocol": "ESA", "shuffle": False}


def write(ratings: Iterable[Rating], options: WriteOptions) -> Iterator[str]:
    """Yields the text of the campaign."""
    yield f'{{"campaign_id": {json.dumps(options.method)},\n"info": {json.dumps(_INFO)},\n"data": '
    documents = (list(map(_item, document)) for _, document in groupby(ratings, key=_document))
    yield from json_stream.write_list(json.dumps([document], ensure_ascii=False) for document in documents)
    yield "}\n"


def adapt(rating: Rating, losses: Counter[str]) -> Rating:
    """Returns a rating whose errors without a place and without a category are omissions, as its token says."""
    unplaced = tuple(error if error.category else replace(error, category=OMISSION) for error in rating.unplaced)
    if unplaced != rating.unplaced:
        losses["errors without a place and a category, written as omissions"] += 1
    return replace(rating, unplaced=unplaced)


def _document(rating: Rating) -> tuple[object, ...]:
    key = rating.segment.key or SegmentKey()
    return key.test_set, key.lang_pair, key.system, key.document, rating.rater


def _item(rating: Rating) -> dict[str, object]:
    segment = rating.segment
    key = segment.key or SegmentKey()
    system = key.system or ""
    # Pearmut refuses names of digits alone, and no key of an object may be empty in its export.
    shown = f"system {system}" if system.isdigit() or not system or system.startswith("system ") else system
    spans = [
        {
            "start_i": first,
            "end_i": last,
            "severity": None if error.severity is None else error.severity.value,
            "category": error.category,
        }
        for error, first, last in to_esa(rating, Utf16Text(segment.hypothesis).n_units)
    ]
    item: dict[str, object] = {"tgt": {shown: segment.hypothesis}, "error_spans": {shown: spans}}
    if segment.source is not None:
        item["src"] = segment.source
    if segment.references:
        item["ref"] = segment.references[0]
    kept = {name: getattr(key, name) for name in _KEY}
    item |= {name: value for name, value in kept.items() if value is not None}
    item["item_id"] = item_ids.OLDER_SEPARATOR.join(str(value) for value in kept.values() if value is not None)
    return item if rating.rater is None else {**item, "pre_annotated_by": rating.rater}


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the ratings of a campaign, or those of its annotations."""
    rated: dict[tuple[str | None, str | None, Segment], Rating] = {}  # by campaign, user and segment
    campaign = _Campaign()
    for element in json_stream.read(path, record=("annotation",)):
        entry = element.value
        name = element.key
        issues = RowIssues(name_of(path), options.report, element.line)
        with located(path, element.line):
            if not isinstance(entry, dict) or "annotation" not in entry:
                stated = {name: entry} if name in ("campaign_id", "info") else entry
                if name != "data" and isinstance(stated, dict):
                    campaign = _campaign(stated, campaign, issues)
                for item in _items(_campaign_data(element)):
                    yield from _ratings(item, None, _Row(campaign, None, issues))
            elif entry["annotation"] == _RESET:
                reset = name, _user(entry)
                for place in [place for place in rated if place[:2] == reset]:
                    del rated[place]
            else:
                user = _user(entry)
                row = _Row(_Campaign(item_ids.lang_pair_of(name)), user, issues)
                # A user's later annotation of a segment replaces the earlier one.
                rated |= {(name, user, rating.segment): rating for rating in _log_entry(entry, row)}
    yield from rated.values()


def _campaign(stated: Mapping[str, object], before: _Campaign, issues: RowIssues) -> _Campaign:
    """Returns what a campaign states, alone or beside what it has stated before."""
    name = stated.get("campaign_id")
    info = stated.get("info")
    lang_pair = item_ids.lang_pair_of(name) if isinstance(name, str) else before.lang_pair
    tokens = info.get("special_tokens") if isinstance(info, dict) else None
    if not isinstance(tokens, list):
        return replace(before, lang_pair=lang_pair)
    for token in tokens:
        if token not in _TOKENS:
            issues.ignore(f"errors on the unknown special token {token!r}", f"must be {one_of(list(_TOKENS))}")
    return _Campaign(lang_pair, tuple(_TOKENS.get(token) for token in tokens))


def _campaign_data(element: json_stream.Element) -> object:
    """Returns the data of the campaign that the file or an element of it is, or a part of them; otherwise nothing."""
    value = element.value
    if element.key == "data":
        return value
    return value.get("data", []) if isinstance(value, dict) and "campaign_id" in value else []


def _items(value: object) -> Iterator[_Item]:
    """Yields the items of a campaign's data, lists of tasks or documents, by user or not, without forms."""
    if isinstance(value, dict) and value and all(isinstance(part, list) for part in value.values()):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _items(part)
    elif not isinstance(value, dict) or "form" not in value:
        yield plain_values.convert(value, _Item)


def _user(entry: Mapping[str, Any]) -> str | None:
    """Returns the user of an entry of the log."""
    user = plain_values.convert(entry, _Entry).user_id
    return None if user is None else str(user)


def _log_entry(entry: dict[str, Any], row: _Row) -> Iterator[Rating]:
    """Yields the ratings of an entry of the log."""
    issues = row.issues
    if not isinstance(entry.get("item_i"), int):
        issues.skip("item of the tutorial, or a random check", None)
        return
    actions = entry.get("actions")
    if isinstance(actions, list) and any(isinstance(act, dict) and act.get("action") == _SKIPPED for act in actions):
        issues.skip("annotation that the user has skipped", None)
        return
    items = entry.get("item", entry.get("payload_items"))
    annotations = entry["annotation"]
    if not isinstance(items, list) or not isinstance(annotations, list) or len(items) != len(annotations):
        raise InputError("item and annotation must be lists of equal length")
    for item, annotation in zip(items, annotations, strict=True):
        if annotation is not None and not (isinstance(item, dict) and "form" in item):
            annotated = plain_values.convert(annotation, dict[str, Any])
            by_system = {
                name: None if rated is None else plain_values.convert(rated, _Annotation)
                for name, rated in annotated.items()
            }
            unknown = {name for name, rated in annotated.items() if _has_unknown(rated, issues)}
            if any(item.get(name) for name in _REMARKS):
                issues.ignore("remark on an item", "must have error spans only")
                unknown |= annotated.keys()
            for rating in _ratings(plain_values.convert(item, _Item), by_system, row):
                system = (rating.segment.key or SegmentKey()).system
                is_unknown = any(name.removeprefix("system ") == system for name in unknown)
                yield replace(rating, errors=None) if is_unknown and not rating.all_errors else rating


def _has_unknown(rated: object, issues: RowIssues) -> bool:
    """Reports keys of an annotation that are not understood, and hold something."""
    if not isinstance(rated, dict):
        return False
    report_unknown(rated.get("error_spans"), issues)
    names = [name for name, value in rated.items() if value not in _NOTHING]
    return issues.ignore_unknown(names, _Annotation.__struct_fields__, "an annotation")


def _ratings(item: _Item, annotation: Mapping[str, _Annotation | None] | None, row: _Row) -> Iterator[Rating]:
    """Yields the rating of each translation of an item: the given one, or the annotation of a user."""
    if item.skippable or item.validation or str(item.item_id).startswith(_CHECK):
        row.issues.skip("item that teaches or checks the annotators", None)
        return
    for shown in annotation or ():
        if shown not in item.tgt:
            row.issues.ignore("annotation of a translation that its item lacks", f"{shown!r} must be a key of tgt")
    for shown, text in item.tgt.items():
        key = replace(_key(item, row.campaign), system=shown.removeprefix("system "))
        segment = Segment(text, item.src, () if item.ref is None else (item.ref,), key)
        if annotation is None:
            spans = (item.error_spans or {}).get(shown)
            yield from_esa(segment, spans, row.issues, rater=item.pre_annotated_by, tokens=row.campaign.tokens)
        elif (judged := annotation.get(shown)) is not None:
            yield _judged(judged, segment, row)


def _judged(judged: _Annotation, segment: Segment, row: _Row) -> Rating:
    """Returns the rating of a user's annotation."""
    spans = judged.error_spans
    rating = from_esa(segment, spans, row.issues, rater=row.user, score=judged.score, tokens=row.campaign.tokens)
    if any(value is not None for value in (judged.sliders or {}).values()):
        row.issues.ignore("values of further sliders", "must have a score only")
    if judged.textfield and judged.textfield != segment.hypothesis:
        row.issues.ignore("comment or post-edit", "must have error spans only")
        return rating if rating.all_errors else replace(rating, errors=None)
    return rating


def _key(item: _Item, campaign: _Campaign) -> SegmentKey:
    """Returns the key of an item's segments, without a system."""
    document = None if item.doc_id is None else str(item.doc_id)
    stated = {name: getattr(item, name) for name in _KEY if getattr(item, name) is not None}
    key = SegmentKey(**stated) if stated else item_ids.key_of(str(item.item_id))
    return replace(
        key,
        lang_pair=key.lang_pair or campaign.lang_pair,
        document=(key.document or document) if stated else (document or key.document),
    )
