"""Label Studio: tasks with predictions, for people to correct, and the annotations that they complete.

`save` writes a folder of `tasks.json` (Label Studio's "Basic JSON": a list of tasks) and `config.xml`, the matching
labelling configuration. A task is a segment; each of its ratings is a prediction, whose `model_version` is the rater.
An error is a region of type `labels` on the text `hypothesis`, or `source` for an error in the source, with its
severity as label; its category is a text of the same id. An omission is a region on `source` or `reference` (which
shows all references, a line each) with a label such as "Missing: Major".

`read` reads that folder, or a file that Label Studio has exported as JSON: the annotations of each task that were not
cancelled, with the person who completed them as rater. Cancelled ones, and tasks that nobody has finished, are counted.
The predictions of a file are read in place of its annotations by `ReadOptions.predictions`.

Offsets count code points, as the interface of Label Studio 1.23 does with emoji in the text (tests/external). If only
UTF-16 code units give the text of a region, its offsets are read as such and counted as repaired. The field of the
source is `source_text`, since the interface has a field `source` of its own. A label other than a severity is the
category of an error of undecided severity.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any

import msgspec

from matese.annotation import AnyError, ErrorSpan, Omission, Overall, Rating, Segment, SegmentKey
from matese.errors import InputError
from matese.files import name_of
from matese.formats import json_stream, severities, validation
from matese.formats.capabilities import KEY_FIELDS, Capabilities
from matese.formats.format import STRICT, FileHead, ReadOptions, WriteOptions, rating_of
from matese.formats.row_issues import RowIssues, located
from matese.text import Utf16Text

CAPABILITIES = Capabilities(lacks=("no_spans", "unplaced", "estimate"), scales=("esa",))
TASKS, CONFIG = "tasks.json", "config.xml"
SOURCE = "source_text"
"""The field of the source. The interface shows the whole task as `source`."""

_MISSING = "Missing: "
_UNPREDICTED = "task without predictions (exports have only their numbers)"
_UNFINISHED = "task without a finished annotation (--predictions reads the model's marks)"
_LABELS = {"Neutral": "#9e9e9e", "Minor": "#ffb300", "Major": "#e53935", "Critical": "#8e24aa", "Undecided": "#1e88e5"}


class _Value(msgspec.Struct):
    start: int | None = None
    end: int | None = None
    text: str | list[str] | None = None
    labels: list[str] | None = None
    choices: list[str] | None = None
    number: float | None = None


class _Result(msgspec.Struct):
    type: str | None = None
    id: str | None = None
    to_name: str | None = None
    score: float | None = None
    value: _Value = msgspec.field(default_factory=_Value)

    @property
    def category(self) -> str | None:
        """The text or the choice beside a region."""
        texts = self.value.text if isinstance(self.value.text, list) else []
        return next(iter(texts or self.value.choices or ()), None)

    @property
    def label(self) -> str:
        """The label of a region; with `_MISSING` before it for words that the translation lacks."""
        return next(iter(self.value.labels or ()), severities.UNDECIDED)


class _Judgement(msgspec.Struct):
    """An annotation or a prediction."""

    result: list[_Result] | None = None
    was_cancelled: bool | None = None
    completed_by: int | str | dict[str, Any] | None = None
    model_version: str | None = None

    def annotator(self) -> str | None:
        """Returns who completed an annotation: an identifier, or in other exports an object with one."""
        by = self.completed_by
        if isinstance(by, dict):
            by = next((by[name] for name in ("email", "username", "id") if by.get(name)), None)
        return None if by is None else str(by)


class _Data(msgspec.Struct):
    hypothesis: str | None = None
    text: str | None = None
    source_text: str | None = None
    source: str | None = None
    references: list[str] | None = None
    test_set: str | None = None
    lang_pair: str | None = None
    system: str | None = None
    document: str | None = None
    index: int | None = None


class _Task(msgspec.Struct):
    data: _Data
    annotations: list[_Judgement] | None = None
    predictions: list[_Judgement | int] | None = None
    """Exports have their numbers only."""


def matches(head: FileHead) -> bool:
    """Whether a file or folder is one of Label Studio."""
    if head.files:
        return TASKS in head.files
    return head.is_json("data") and ('"annotations"' in head.text or '"predictions"' in head.text)


def save(ratings: Iterable[Rating], path: Path, options: WriteOptions) -> None:
    """Writes the folder."""
    has_source = has_reference = False

    def tasks() -> Iterator[str]:
        nonlocal has_source, has_reference
        for segment, of_segment in groupby(ratings, key=lambda rating: rating.segment):
            has_source |= segment.source is not None
            has_reference |= bool(segment.references)
            task = {"data": _data(segment), "predictions": [_prediction(rating) for rating in of_segment]}
            yield json.dumps(task, ensure_ascii=False)

    path.mkdir()
    with open(path / TASKS, "w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(json_stream.write_list(tasks()))
    (path / CONFIG).write_text(config(has_source=has_source, has_reference=has_reference), encoding="utf-8")


def config(*, has_source: bool, has_reference: bool) -> str:
    """Returns the labelling configuration for tasks with these texts."""
    contexts = ["source"] * has_source + ["reference"] * has_reference
    controls = [("Errors of the translation", "severity_hypothesis", "")]
    controls += [("Errors of the source", "severity_source", "")] * has_source
    controls += [(f"Words of the {name} that the translation lacks", f"missing_{name}", _MISSING) for name in contexts]
    lines = ["<View>", "  <Style>.lsf-richtext__line { white-space: pre-wrap; }</Style>"]
    for title, control, prefix in controls:
        lines += [
            f'  <Header value="{title}" size="5"/>',
            f'  <Labels name="{control}" toName="{control.partition("_")[2]}" choice="single">',
            *(f'    <Label value="{prefix}{label}" background="{color}"/>' for label, color in _LABELS.items()),
            "  </Labels>",
        ]
    for name in (*contexts, "hypothesis"):
        title, field = (
            "Translation" if name == "hypothesis" else name.capitalize(),
            SOURCE if name == "source" else name,
        )
        lines += [f'  <Header value="{title}"/>', f'  <Text name="{name}" value="${field}" granularity="symbol"/>']
    lines += [
        f'  <TextArea name="category_{name}" toName="{name}" perRegion="true" maxSubmissions="1" editable="true" '
        'placeholder="Category"/>'
        for name in ("hypothesis", *contexts)
    ]
    lines += ['  <Number name="score" toName="hypothesis" min="0" max="100"/>', "</View>", ""]
    return "\n".join(lines)


def _data(segment: Segment) -> dict[str, object]:
    data: dict[str, object] = {"hypothesis": segment.hypothesis}
    if segment.source is not None:
        data[SOURCE] = segment.source
    if segment.references:
        # The interface shows one text; `read` uses the list.
        data |= {"reference": "\n".join(segment.references), "references": list(segment.references)}
    key = segment.key or SegmentKey()
    return data | {name: getattr(key, name) for name in KEY_FIELDS if getattr(key, name) is not None}


def _prediction(rating: Rating) -> dict[str, object]:
    starts = _starts(rating.segment)
    placed: list[tuple[str, str, ErrorSpan | Omission, int]]
    placed = [("hypothesis", "severity", span, 0) for span in rating.errors or ()]
    placed += [("source", "severity", span, 0) for span in rating.source_errors]
    placed += [
        ("source", "missing", words, 0)
        if words.reference is None
        else ("reference", "missing", words, starts[words.reference])
        for words in rating.omissions
    ]
    results = [
        result
        for number, (name, control, error, shift) in enumerate(placed)
        for result in _regions(error, name, f"{control}_{name}", shift, _texts(rating.segment)[name], f"{number}")
    ]
    if rating.overall is not None:
        score = {"id": "score", "from_name": "score", "to_name": "hypothesis", "type": "number"}
        results.append({**score, "value": {"number": rating.overall.value}})
    version = {} if rating.rater is None else {"model_version": rating.rater}
    return {**version, "result": results}


def _regions(
    error: ErrorSpan | Omission, name: str, control: str, shift: int, text: str, region: str
) -> Iterator[dict[str, object]]:
    """Yields the region of an error, and its category."""
    start, end = error.start + shift, error.end + shift
    label = (_MISSING if isinstance(error, Omission) else "") + severities.label(error.severity).capitalize()
    value = {"start": start, "end": end, "text": text[start:end], "labels": [label]}
    score = {} if error.confidence is None else {"score": error.confidence}
    yield {"id": region, "to_name": name, "from_name": control, "type": "labels", "value": value, **score}
    if error.category is not None:
        category = {"start": start, "end": end, "text": [error.category]}
        yield {"id": region, "to_name": name, "from_name": f"category_{name}", "type": "textarea", "value": category}


def _texts(segment: Segment) -> dict[str, str]:
    """Returns the texts that the interface shows, by their names."""
    shown = {"source": segment.source or "", "reference": "\n".join(segment.references)}
    return {"hypothesis": segment.hypothesis, **shown}


def _starts(segment: Segment) -> list[int]:
    """Returns where each reference begins in the text that shows them all."""
    return [0, *accumulate(len(reference) + 1 for reference in segment.references)]


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the ratings of a folder that `save` wrote, or of a file that Label Studio has exported."""
    file = Path(path) / TASKS if Path(path).is_dir() else path
    for element in json_stream.read(file):
        with located(file, element.line):
            task = validation.convert(element.value, _Task)
            issues = RowIssues(name_of(file), options.report, element.line)
            # The folder is what `save` wrote: nobody has annotated it.
            yield from _ratings(task, issues, is_predicted=options.predictions or file != path)


def _ratings(task: _Task, issues: RowIssues, *, is_predicted: bool) -> Iterator[Rating]:
    data = task.data
    hypothesis = data.text if data.hypothesis is None else data.hypothesis
    if hypothesis is None:
        raise InputError("task without text: data must have hypothesis or text")
    source = data.source if data.source_text is None else data.source_text
    key = SegmentKey(data.test_set, data.lang_pair, data.system, data.document, data.index)
    segment = Segment(hypothesis, source, tuple(data.references or ()), None if key == SegmentKey() else key)
    entries = (task.predictions if is_predicted else task.annotations) or []
    judgements = [judgement for judgement in entries if isinstance(judgement, _Judgement)]
    finished = [judgement for judgement in judgements if not judgement.was_cancelled]
    for judgement in finished:
        rater = judgement.model_version if is_predicted else judgement.annotator()
        yield _rating(segment, judgement.result or (), rater, issues)
    for _ in range(len(judgements) - len(finished)):
        issues.skip("annotation was cancelled", None)
    if not finished:
        issues.skip(_UNPREDICTED if is_predicted else _UNFINISHED, None)


def _rating(segment: Segment, results: Sequence[_Result], rater: str | None, issues: RowIssues) -> Rating:
    categories = {
        (result.id, result.to_name): result.category for result in results if result.type in ("textarea", "choices")
    }
    errors: list[AnyError] = []
    source_errors: list[ErrorSpan] = []
    texts, overall = _texts(segment), None
    for result in results:
        if result.type == "number":
            if result.value.number is None:
                raise InputError("result of type number: must have a number as value")
            overall = Overall(result.value.number, "esa")
        elif result.type == "labels":
            category = categories.get((result.id, result.to_name))
            span = _span(result, texts.get(result.to_name or "", segment.hypothesis), category, issues)
            if result.to_name == "reference" or result.label.startswith(_MISSING):
                errors.append(_omission(span, result.to_name, segment, issues))
            elif result.to_name == "source":
                source_errors.append(span)
            else:
                errors.append(span)
    return rating_of(segment, rater, errors, source_errors, overall=overall)


def _omission(span: ErrorSpan, name: str | None, segment: Segment, issues: RowIssues) -> Omission:
    """Returns the omission at the place of a region."""
    kind = span.severity, span.category, span.confidence
    if name == "source":
        return Omission("source", None, span.start, span.end, *kind)
    if name != "reference" or not segment.references:
        allowed = "must be of the source or of data.references"
        raise InputError(f"missing words {span.start}..{span.end} of {name}: {allowed}")
    starts = _starts(segment)
    number = bisect_right(starts, span.start) - 1
    last = starts[number + 1] - 1
    if span.end > last:
        issues.repair("region of several references", "must be within one; read up to the end of the first")
    return Omission("reference", number, span.start - starts[number], min(span.end, last) - starts[number], *kind)


def _span(result: _Result, text: str, category: str | None, issues: RowIssues) -> ErrorSpan:
    start, end, marked = result.value.start, result.value.end, result.value.text
    if start is None or end is None:
        raise InputError(f"region {result.id}: must have start and end")
    if isinstance(marked, str) and not _is_same(marked, text[start:end]):
        in_units = text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le", "replace")
        if _is_same(marked, in_units):
            issues.repair("offsets count UTF-16 units", "must count characters (code points)")
            start, end = (Utf16Text(text).to_place(unit) for unit in (start, end))
        else:
            allowed = f"{marked!r} must be {text[start:end]!r}, the text at {start}..{end}"
            issues.repair("text of a region differs from the text at its offsets", allowed)
    label = result.label.removeprefix(_MISSING)
    if label.casefold() not in severities.LABELS:
        return ErrorSpan(start, end, None, category or label, result.score)
    return ErrorSpan(start, end, severities.LABELS[label.casefold()], category, result.score)


def _is_same(marked: str, text: str) -> bool:
    # The interface writes a line feed as two characters.
    return marked.replace("\\n", "\n") == text.replace("\\n", "\n")
