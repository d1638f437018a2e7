"""WMT 2026, automated translation evaluation: the test set, and submissions to its three tasks: `wmt26`.

The test set (`mteval-test26.jsonl`) has an object per segment, with the translations of all systems::

    {"item_id": "official_###_eng_Latn_###_deu_Latn_###_news_###_DOCUMENT_###_0", "src": "...",
     "ref": {"text": "...", "type": "postedit"}, "hyps": {"SYSTEM": "..."}}

A submission has an object per segment, with the predictions for all systems::

    {"item_id": "...",
     "task1_pred": {"SYSTEM": {"errors": [{"start": 0, "end": 4, "severity": "major", "category": "..."}],
                               "omission": null, "instruction_fault": null}},
     "task2_pred": {"SYSTEM": 81.5},
     "task3_pred": {"SYSTEM": 0}}

Offsets are half-open and count code points of the translation; `omission` and `instruction_fault` are null, minor or
major. Scores are from 0 to 100, and label 1 is "error-free"
(https://www2.statmt.org/wmt26/mteval-subtask1.html, mteval-subtask2.html and mteval-subtask3.html). These pages do not
state the keys: those of tasks 1 and 2 are as in public submissions (Ammonsh/WMT26-QE-baselines), and that of task 3
follows them. A submission holds no texts; they are those of the test set (`ReadOptions.texts`).

The parts of an `item_id` are the test set, both languages, the domain, the document and the index of the key, without
any change, so that a key gives the `item_id` again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from matese import mqm
from matese.annotation import (
    ErrorFree,
    ErrorSpan,
    Estimate,
    Rating,
    Segment,
    SegmentKey,
    Severity,
    UnplacedError,
    severities,
)
from matese.errors import FormatError, InputError, one_of
from matese.files import name_of, read_lines
from matese.formats.capabilities import ALL_KEY_FIELDS, Capabilities
from matese.formats.corpora import omission_marks
from matese.formats.format import STRICT, ReadOptions, WriteOptions, rating_of
from matese.formats.item_ids import SEPARATOR
from matese.formats.row_issues import RowIssues, located
from matese.text import languages
from matese.text.whole_numbers import parse_whole_number
from matese.validation import plain_values

CAPABILITIES = Capabilities(
    lacks=("source", "rater", "confidence", "source_errors", "omissions", "empty_texts"),
    key=ALL_KEY_FIELDS,
    references=0,
    severities=severities.MINOR_MAJOR,
    scales=("mqm", "esa", "da", "0-1"),
    details=("error_free",),
)
OMISSION = omission_marks.CATEGORY
INSTRUCTION_FAULT = "Instructions"
"""Categories of the errors that a submission holds without a place."""
_OTHER = "other"
"""Category of an error that has none."""
_PREDICTIONS = ("task1_pred", "task2_pred", "task3_pred")
_ALLOWED_ID = SEPARATOR.join(("SET", "SOURCE", "TARGET", "DOMAIN", "DOCUMENT", "INDEX"))
_POINTS = 100 / -mqm.LOWEST_SCORE
"""Points from 0 to 100 for each point of MQM: 0 becomes 100, and the lowest score 0."""


class _Reference(msgspec.Struct):
    text: str | None = None


class _Errors(msgspec.Struct):
    errors: tuple[dict[str, Any], ...] | None = None
    omission: str | None = None
    instruction_fault: str | None = None


class _Line(msgspec.Struct):
    """An object of the test set or of a submission."""

    item_id: str
    src: str | None = None
    ref: _Reference | None = None
    hyps: dict[str, str | None] | None = None
    task1_pred: dict[str, dict[str, Any] | None] | None = None
    task2_pred: dict[str, float | None] | None = None
    task3_pred: dict[str, int | None] | None = None

    @property
    def predicted(self) -> list[str]:
        """The systems with a prediction, in their order."""
        tasks = (self.task1_pred, self.task2_pred, self.task3_pred)
        return list(dict.fromkeys(system for task in tasks for system in task or ()))


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields a rating for each translation: without spans and scores in a test set, else with the predictions."""
    texts = {} if options.texts is None else {line.item_id: line for _, line in _lines(options.texts)}
    for number, line in _lines(path):
        with located(path, number):
            issues = RowIssues(name_of(path), options.report, number)
            key = _key(line.item_id)
            if not _is_wanted(key, options.lang_pair):
                continue
            if (of_test_set := line if line.hyps is not None else texts.get(line.item_id)) is None:
                _skip_without_texts(line.item_id, issues, has_texts=options.texts is not None)
                continue
            yield from _ratings(line, of_test_set, key, issues, number)


def _lines(path: str | Path) -> Iterator[tuple[int, _Line]]:
    for number, text in enumerate(read_lines(path), start=1):
        if text.strip():
            with located(path, number):
                yield number, plain_values.from_json(text, _Line)


def _skip_without_texts(item_id: str, issues: RowIssues, *, has_texts: bool) -> None:
    """Skips a segment that the test set lacks; without a test set, nothing can be read."""
    if not has_texts:
        advice = "read it with its test set: matese convert SUBMISSION OUT --texts mteval-test26.jsonl"
        raise FormatError(issues.path, issues.line, f"a submission holds no texts: {advice}")
    issues.skip("segment that the test set lacks", f"{item_id!r} must be an item_id of the test set")


def _ratings(line: _Line, of_test_set: _Line, key: SegmentKey, issues: RowIssues, number: int) -> Iterator[Rating]:
    reference = of_test_set.ref.text if of_test_set.ref is not None else None
    references = () if reference is None else (reference,)
    translations = of_test_set.hyps or {}
    for system in line.predicted or translations:
        if (hypothesis := translations.get(system)) is None:
            issues.skip("missing translation", f"{line.item_id!r} of {system!r} must have a text in the test set")
            continue
        segment = Segment(hypothesis, of_test_set.src, references, replace(key, system=system), line=number)
        yield _rating(line, system, segment, issues)


def _rating(line: _Line, system: str, segment: Segment, issues: RowIssues) -> Rating:
    """Returns the predictions for one translation."""
    prediction = (line.task1_pred or {}).get(system)
    marked = None if prediction is None else plain_values.convert(prediction, _Errors)
    marks: list[ErrorSpan | UnplacedError] = []
    n_stated = 0
    for name, value in (prediction or {}).items():
        if name not in _Errors.__struct_fields__ and value not in (None, [], ""):
            n_stated += 1
            issues.ignore(f"unknown key {name!r} of task1_pred", f"must be {one_of(_Errors.__struct_fields__)}")
    if marked is not None:
        if marked.errors is None and not n_stated:
            n_stated += 1
            issues.ignore("prediction without a list of errors", "task1_pred must have errors: [] if there are none")
        for error in marked.errors or ():
            n_stated += 1
            marks += _span(error, segment, issues)
        for name, category in (("omission", OMISSION), ("instruction_fault", INSTRUCTION_FAULT)):
            if (severity := getattr(marked, name)) is not None:
                n_stated += 1
                marks += _unplaced(severity, name, category, issues)
    rating = rating_of(segment, None, marks, estimate=_estimate((line.task2_pred or {}).get(system), issues))
    is_unknown = marked is None or (n_stated > 0 and not marks)
    label = (line.task3_pred or {}).get(system)
    if label not in (None, 0, 1):
        issues.ignore(f"unknown label {label}", "must be 0 or 1")
        label = None
    error_free = None if label is None else ErrorFree(bool(label))
    return replace(rating, errors=None if is_unknown else rating.errors, error_free=error_free)


def _span(error: Mapping[str, Any], segment: Segment, issues: RowIssues) -> Iterator[ErrorSpan]:
    start, end, category = (error.get(name) for name in ("start", "end", "category"))
    allowed = f"must be whole numbers, 0 <= start < end <= {len(segment.hypothesis)}"
    if not (type(start) is type(end) is int and 0 <= start < end <= len(segment.hypothesis)):
        issues.ignore("error without a place in the translation", f"start {start} and end {end}: {allowed}")
        return
    try:
        severity = severities.parse_optional(error.get("severity"))
    except (InputError, AttributeError):
        issues.ignore(f"unknown severity {error.get('severity')!r}", "must be minor or major")
        return
    yield ErrorSpan(start, end, severity, None if category in (None, "", _OTHER) else str(category))


def _unplaced(severity: str, name: str, category: str, issues: RowIssues) -> Iterator[UnplacedError]:
    try:
        yield UnplacedError(severities.parse(severity), category)
    except InputError:
        issues.ignore(f"unknown {name} {severity!r}", "must be minor, major or null")


def _estimate(score: float | None, issues: RowIssues) -> Estimate | None:
    if score is not None and not 0 <= score <= 100:
        issues.ignore("score out of range", f"{score:g} must be from 0 to 100")
        return None
    return None if score is None else Estimate(score, "esa")


def _key(item_id: str) -> SegmentKey:
    """Returns the key of an `item_id`, without a system.

    >>> key = _key("official_###_eng_Latn_###_deu_Latn_###_news_###_a_###_b_###_2")
    >>> key.lang_pair, key.domain, key.document, key.index
    ('eng_Latn-deu_Latn', 'news', 'a_###_b', 2)
    """
    parts = item_id.split(SEPARATOR)
    index = parse_whole_number(parts[-1])
    if len(parts) < 6 or index is None or str(index) != parts[-1] or "-" in parts[1]:
        raise InputError(f"item_id {item_id!r}: must be {_ALLOWED_ID}")
    test_set, source, target, domain, *document = parts[:-1]
    return SegmentKey(test_set, f"{source}-{target}", None, SEPARATOR.join(document), index, domain)


def _is_wanted(key: SegmentKey, lang_pair: str | None) -> bool:
    """Whether a segment is of a language pair in our form; one without scripts and regions stands for all of these."""
    pair = key.lang_pair or ""
    if lang_pair is None or not languages.agree(pair, lang_pair):
        return lang_pair is None
    return "_" not in lang_pair or languages.parse(pair) == lang_pair


def item_id(key: SegmentKey) -> str:
    """Returns the `item_id` of a segment.

    Raises:
        InputError: if the key lacks a part of it.
    """
    source, hyphen, target = (key.lang_pair or "").partition("-")
    parts = {
        "test set": key.test_set,
        "language pair": hyphen and f"{source}{SEPARATOR}{target}",
        "domain": key.domain,
        "document": key.document,
        "index": None if key.index is None else str(key.index),
    }
    if lacking := [name for name, part in parts.items() if not part]:
        raise InputError(
            f"a segment has no {' and no '.join(lacking)}, of which wmt26 makes its item_id ({_ALLOWED_ID}): "
            "mark the test set of WMT 2026 itself (matese tag --input mteval-test26.jsonl)"
        )
    return SEPARATOR.join(part for part in parts.values() if part)


def adapt(rating: Rating, losses: Counter[str]) -> Rating:
    """Returns a rating as a submission holds it.

    Scores become ESA scores from 0 to 100: those of MQM linearly, 0 being 100. A rating without a score gets that of
    its errors. Of several omissions, the most severe one is held.
    """
    spans = rating.errors and tuple(
        replace(span, category=None if span.category in ("", _OTHER) else span.category) for span in rating.errors
    )
    unplaced = tuple(_held_unplaced(rating, losses))
    return replace(
        rating,
        errors=spans,
        unplaced=unplaced,
        overall=None,
        estimate=_held_estimate(rating, losses),
        error_free=rating.error_free and ErrorFree(rating.error_free.label),
    )


def _held_unplaced(rating: Rating, losses: Counter[str]) -> Iterator[UnplacedError]:
    """Yields at most one omission and one instruction fault."""
    by_category: dict[str, list[Severity | None]] = {OMISSION: [], INSTRUCTION_FAULT: []}
    for error in rating.unplaced:
        category = (error.category or "").casefold()
        if "instruction" in category:
            by_category[INSTRUCTION_FAULT].append(error.severity)
        elif not category or "omission" in category or not rating.segment.hypothesis.strip():
            by_category[OMISSION].append(error.severity)
        else:
            losses["errors without a place that are no omissions"] += 1
    for category, of_category in by_category.items():
        if of_category:
            worst = UnplacedError(max(of_category, key=severities.rank), category)
            if worst not in rating.unplaced or len(of_category) > 1:
                losses["errors without a place, written as one omission or instruction fault"] += 1
            yield worst


def _held_estimate(rating: Rating, losses: Counter[str]) -> Estimate | None:
    """Returns the score from 0 to 100; None without a score and without spans."""
    whole = rating.whole
    if whole is None and rating.errors is None:
        return None
    value, scale = (mqm.score(rating), "mqm") if whole is None else (whole.value, whole.scale)
    points = {"mqm": 100 + _POINTS * value, "0-1": 100 * value}.get(scale, value)
    estimate = Estimate(round(min(100.0, max(0.0, points)), 4), "esa")
    if whole is None:
        losses["missing scores, computed from the errors"] += 1
    elif (
        rating.estimate is None
        or replace(rating.estimate, value=estimate.value) != estimate
        or points != estimate.value
    ):
        losses[f"scores ({scale}), written from 0 to 100"] += 1
    return estimate


def write(ratings: Iterable[Rating], options: WriteOptions) -> Iterator[str]:
    """Yields a line for each segment, in the order of the first rating of each; all predictions are held in memory."""
    items: dict[str, dict[str, dict[str, object]]] = {}  # of each segment the predictions for each task, by system
    written: set[tuple[str, str]] = set()
    for rating in ratings:
        key = rating.segment.key or SegmentKey()
        name = item_id(key)
        system = key.system
        if system is None:
            raise InputError(f"{name}: a translation has no system: must be one of the test set")
        if (name, system) in written:
            raise InputError(f"{name}: two ratings of {system!r}: must be one")
        written.add((name, system))
        item = items.setdefault(name, {task: {} for task in _PREDICTIONS})
        predictions = (
            None if rating.errors is None else _task1(rating),
            None if rating.estimate is None else rating.estimate.value,
            None if rating.error_free is None else int(rating.error_free.label),
        )
        for task, prediction in zip(_PREDICTIONS, predictions, strict=True):
            if prediction is not None:
                item[task][system] = prediction
    for name, item in items.items():
        line = {"item_id": name, **{task: by_system for task, by_system in item.items() if by_system}}
        yield json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"


def _task1(rating: Rating) -> dict[str, object]:
    unplaced = {error.category: severities.name(error.severity) for error in rating.unplaced}
    return {
        "errors": [
            {
                "start": span.start,
                "end": span.end,
                "severity": severities.name(span.severity),
                "category": span.category or _OTHER,
            }
            for span in rating.errors or ()
        ],
        "omission": unplaced.get(OMISSION),
        "instruction_fault": unplaced.get(INSTRUCTION_FAULT),
    }
