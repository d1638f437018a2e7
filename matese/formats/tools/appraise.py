"""Appraise, error span annotation (ESA): pre-annotated batches, and the results that people produce.

`save` writes a folder of `batches.json`, for `python manage.py StartNewCampaign manifest.json --batches-json
batches.json`, and `manifest.json`, to be edited for the campaign. A batch has up to 100 consecutive ratings of one
language pair; an item has its errors in `mqm`.

`read` reads that folder. If the CSV of `ExportSystemScoresToCSV` is in it, under any name ending in `.csv`, the ratings
are those of its rows, with texts from the batches (Appraise exports none), the annotator as rater and the score as
overall judgement, 0-100 ESA. Of several rows of one segment and annotator the last counts. Tutorials, attention checks
(items of another type than TGT) and rows of items that are not in the batches are skipped and counted.

The language pair is that of the batch's task, with the regions of `sourceID` if that names the pair, as in our batches
and those of WMT 2024. Batches for people to annotate have empty lists of errors, so an item without errors is free of
errors only if it is `annotated`, a key of ours; otherwise its spans are unknown.

Offsets count UTF-16 code units of the hypothesis without surrounding white space, with inclusive ends; `missing` is the
offset of an error without a place (EvalView/static/EvalView/js/direct-assessment-document-mqm-esa.js).

Line feeds in texts and white space around a hypothesis, which the interface does not show, are not written.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import msgspec

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, severities
from matese.errors import FormatError, InputError, one_of
from matese.files import read_lines
from matese.formats import json_stream
from matese.formats.capabilities import Capabilities
from matese.formats.format import STRICT, ReadOptions, WriteOptions
from matese.formats.row_issues import RowIssues, located
from matese.formats.utf16_offsets import MISSING, EsaSpan, from_esa, report_unknown, to_esa
from matese.text import languages
from matese.text.whole_numbers import parse_whole_number
from matese.validation import plain_values

CAPABILITIES = Capabilities(
    lacks=("rater", "no_spans", "confidence", "source_errors", "omissions", "empty_texts"),
    key=("lang_pair", "system", "document", "index"),
    references=0,
    scales=(),
    needs=("source", "lang_pair", "system", "document", "index"),
    replaced=(("[\r\n]", " "),),
)
BATCHES = "batches.json"
MANIFEST = "manifest.json"
COLUMNS = (
    *("rater", "system", "item", "kind", "source", "target", "score", "document", "incomplete", "spans"),
    *("start", "end"),
)
_BATCH_SIZE = 100
_RATED = "TGT"
_TUTORIAL = "tutorial"
_CHECKS = ("BAD", "CHK", "REF")
"""Types of items that check the annotators: a damaged text, a repeated one, a reference."""
_SPACE = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f"
)
_SPACE += "\u3000\ufeff"
_Place = tuple[str | None, str | None, int | None]
"""System, document and number of a segment."""
_Codes = tuple[str, str]
"""Source and target language, as the task of a batch states them."""
_NO_KEY = SegmentKey()


class _Payload(msgspec.Struct):
    payload: list[EsaSpan] | None = None
    tutorial: dict[str, Any] | None = None


class _Item(msgspec.Struct):
    targetText: str  # noqa: N815  (Appraise's names)
    itemID: int  # noqa: N815
    sourceText: str | None = None  # noqa: N815
    sourceID: str | None = None  # noqa: N815
    targetID: str | None = None  # noqa: N815
    documentID: str | None = None  # noqa: N815
    itemType: str = _RATED  # noqa: N815
    mqm: list[EsaSpan] | _Payload | None = None
    annotated: bool = False


class _Task(msgspec.Struct):
    sourceLanguage: str = ""  # noqa: N815
    targetLanguage: str = ""  # noqa: N815


class _Batch(msgspec.Struct):
    items: list[_Item] | None = None
    task: _Task = msgspec.field(default_factory=_Task)


@dataclass(frozen=True, slots=True)
class _BatchItem:
    """What a batch says of a segment.

    Attributes:
        segment: the texts and their key.
        spans: None if it is not annotated.
        raw_spans: the same as the file has them.
        line: the first of its batch.
        kind: as the item states it; `_TUTORIAL` for an item that teaches the annotators.
        codes: of its task.
    """

    segment: Segment
    spans: Sequence[EsaSpan] | None
    raw_spans: object
    line: int
    kind: str
    codes: _Codes


def adapt(rating: Rating, losses: Counter[str]) -> Rating:
    """Returns the rating without white space around its hypothesis."""
    segment = rating.segment
    errors = rating.errors or ()
    text = segment.hypothesis.strip(_SPACE)
    if text == segment.hypothesis:
        return rating
    losses["hypotheses with white space around them"] += 1
    n_before = len(segment.hypothesis) - len(segment.hypothesis.lstrip(_SPACE))
    kept: list[ErrorSpan] = []
    for error in errors:
        start = max(error.start - n_before, 0)
        end = min(error.end - n_before, len(text))
        if start < end:
            kept.append(replace(error, start=start, end=end))
        else:
            losses["spans of white space around hypotheses"] += 1
    return replace(rating, segment=replace(segment, hypothesis=text), errors=tuple(kept))


def save(ratings: Iterable[Rating], path: Path, options: WriteOptions) -> None:
    """Writes the folder."""
    tasks: Counter[tuple[str, str]] = Counter()

    def batches() -> Iterator[str]:
        for lang_pair, of_pair in groupby(ratings, key=lambda rating: (rating.segment.key or _NO_KEY).lang_pair or ""):
            codes = _codes(lang_pair)
            while items := [_item(rating) for rating in islice(of_pair, _BATCH_SIZE)]:
                tasks[codes] += 1
                task = {
                    "batchNo": tasks.total(),
                    "batchSize": len(items),
                    "randomSeed": 0,
                    "requiredAnnotations": 1,
                    "sourceLanguage": codes[0],
                    "targetLanguage": codes[1],
                }
                yield json.dumps({"items": items, "task": task}, ensure_ascii=False)

    path.mkdir()
    with open(path / BATCHES, "w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(json_stream.write_list(batches()))
    manifest = {
        "CAMPAIGN_URL": "http://127.0.0.1:8000/dashboard/sso/",
        "CAMPAIGN_NAME": options.method,
        "CAMPAIGN_KEY": options.method,
        "CAMPAIGN_NO": 1,
        "REDUNDANCY": 1,
        "TASKS_TO_ANNOTATORS": [[*codes, "uniform", count, count] for codes, count in tasks.items()],
        "TASK_TYPE": "Document",
        "TASK_OPTIONS": "ESA",
    }
    (path / MANIFEST).write_text(json.dumps(manifest, indent=4) + "\n", encoding="utf-8")


def _codes(lang_pair: str) -> tuple[str, str]:
    """Returns the ISO 639-3 codes of source and target language.

    >>> _codes("en-zh"), _codes("xx-")
    (('eng', 'zho'), ('xx', ''))
    """
    import langcodes

    def code(lang: str) -> str:
        try:
            return langcodes.Language.get(lang).to_alpha3()
        except (LookupError, ValueError):  # no such language, or no language tag
            return lang

    source, _, target = lang_pair.partition("-")
    return code(source), code(target)


def _item(rating: Rating) -> dict[str, object]:
    segment = rating.segment
    key = segment.key or _NO_KEY
    marks = [
        {
            "start_i": first,
            "end_i": last,
            "severity": severities.name(error.severity),
            **({} if error.category is None else {"error_type": error.category}),
        }
        for error, first, last in to_esa(rating, MISSING)
    ]
    return {
        "mqm": marks,
        "documentID": key.document or "",
        "sourceID": key.lang_pair or "",
        "targetID": key.system or "",
        "sourceText": segment.source or "",
        "targetText": segment.hypothesis,
        "itemType": "TGT",
        "itemID": key.index,
        "_item": "",
        "isCompleteDocument": False,
        "annotated": True,  # Appraise ignores it
    }


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the ratings of the results in a folder; without results, those of its batches."""
    folder = Path(path) if Path(path).is_dir() else Path(path).parent
    results = sorted(folder.glob("*.csv"))
    batches = folder / BATCHES
    if results:
        # A check may have the place of the item that it is made of.
        items: dict[_Place, dict[_Codes, _BatchItem]] = {}
        for item in _items(batches):
            if item.kind in (_RATED, _TUTORIAL):
                items.setdefault(_place(item.segment), {})[item.codes] = item
        yield from _results(results, items, options)
        return
    for item in _items(batches):
        issues = RowIssues(str(batches), options.report, item.line)
        if _is_rated(item.kind, issues):
            with located(batches, item.line):
                report_unknown(item.raw_spans, issues)
                yield from_esa(item.segment, item.spans, issues, rater=None)


def _is_rated(kind: str, issues: RowIssues) -> bool:
    """Whether an item is there for its rating; reports any other."""
    if kind == _TUTORIAL:
        issues.skip("tutorial", None)
    elif kind in _CHECKS:
        issues.skip(f"attention check ({kind})", None)
    elif kind != _RATED:
        issues.skip(f"item of the unknown type {kind!r}", f"must be {one_of((_RATED, *_CHECKS))}")
    return kind == _RATED


def _place(segment: Segment) -> _Place:
    key = segment.key or _NO_KEY
    return key.system, key.document, key.index


def _items(path: Path) -> Iterator[_BatchItem]:
    """Yields the items of the batches."""
    for element in json_stream.read(path, record=("items",)):
        with located(path, element.line):
            batch = plain_values.convert(element.value, _Batch)
        assert isinstance(element.value, dict)  # or it is no batch
        for item, raw_item in zip(batch.items or (), element.value.get("items") or (), strict=True):
            pair = _lang_pair(item.sourceID or "", batch.task.sourceLanguage, batch.task.targetLanguage)
            key = SegmentKey(None, pair, item.targetID or "", item.documentID or "", item.itemID)
            marks = item.mqm if isinstance(item.mqm, _Payload) else _Payload(item.mqm)
            yield _BatchItem(
                Segment(item.targetText.strip(_SPACE), item.sourceText or "", key=key),
                marks.payload if marks.payload or item.annotated else None,
                raw_item["mqm"].get("payload") if isinstance(raw_item.get("mqm"), dict) else raw_item.get("mqm"),
                element.line,
                item.itemType if marks.tutorial is None else _TUTORIAL,
                (batch.task.sourceLanguage, batch.task.targetLanguage),
            )


@lru_cache
def _lang_pair(source_id: str, source_lang: str, target_lang: str) -> str | None:
    """Returns the language pair of an item; None if neither its task's languages nor its `sourceID` name it."""
    is_of_task = _codes(source_id) == (source_lang, target_lang)
    states_pair = is_of_task or not (source_lang and target_lang)
    lang_pair = languages.parse_or_none(source_id if states_pair else f"{source_lang}-{target_lang}")
    # What we have written is read again, even if it names no languages.
    return source_id if lang_pair is None and is_of_task else lang_pair


def _results(
    paths: Sequence[Path], items: Mapping[_Place, Mapping[_Codes, _BatchItem]], options: ReadOptions
) -> Iterator[Rating]:
    last: dict[tuple[Segment, str | None], Rating] = {}
    for path in paths:
        for number, fields in _rows(path):
            issues = RowIssues(str(path), options.report, number)
            with located(path, number):
                rating = _result(fields, items, issues)
            if rating is not None:
                last[rating.segment, rating.rater] = rating
    yield from last.values()


def _rows(path: Path) -> Iterator[tuple[int, Sequence[str]]]:
    """Yields the cells of each row with the number of its last line."""
    rows = csv.reader((f"{line}\n" for line in read_lines(path)), strict=True)
    try:
        yield from ((rows.line_num, fields) for fields in rows if fields)
    except csv.Error as error:
        raise FormatError(str(path), rows.line_num, f"not CSV ({error})") from None


def _result(
    fields: Sequence[str], items: Mapping[_Place, Mapping[_Codes, _BatchItem]], issues: RowIssues
) -> Rating | None:
    """Returns the rating of a row, None if it is to be skipped."""
    if len(fields) != len(COLUMNS):
        raise InputError(f"{len(fields)} fields: must be {len(COLUMNS)}, {' '.join(COLUMNS)}")
    row = dict(zip(COLUMNS, fields, strict=True))
    if not _is_rated(row["kind"], issues):
        return None
    if (number := parse_whole_number(row["item"])) is None:
        raise InputError(f"item {row['item']!r}: must be a whole number")
    place = row["system"], row["document"], number
    by_codes = items.get(place, {})
    codes = row["source"], row["target"]
    # With one language pair, its codes may be written in another way than in the task.
    if (item := by_codes.get(codes) if len(by_codes) > 1 else next(iter(by_codes.values()), None)) is None:
        reason = "item is in batches of several other language pairs" if by_codes else "item is not in the batches"
        issues.skip(reason, f"{(*place, *codes)} must be one of {BATCHES}")
        return None
    if not _is_rated(item.kind, issues):
        return None
    spans = plain_values.from_json(row["spans"], list[EsaSpan])
    report_unknown(json.loads(row["spans"]), issues)
    try:
        score = float(row["score"])
    except ValueError:
        raise InputError(f"score {row['score']!r}: must be a number") from None
    return from_esa(item.segment, spans, issues, rater=row["rater"], score=score)
