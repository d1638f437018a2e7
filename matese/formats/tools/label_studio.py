"""Label Studio: tasks with predictions, for people to correct, and the annotations that they complete.

`save` writes a folder of `tasks.json` (Label Studio's "Basic JSON": a list of tasks) and `config.xml`, the matching
labelling configuration. A task is a segment; each of its ratings is a prediction, whose `model_version` is the rater.
An error is a region of type `labels` on the text `hypothesis`, or `source` for an error in the source, with its
severity as label; its category is a text of the same id. An omission is a region on `source` or `reference` (which
shows all references, a line each) with a label such as "Missing: Major".

`read` reads that folder, or a file that Label Studio has exported as JSON or JSON_MIN, also of other configurations
(`label_studio_regions`): the annotations of each task that were not cancelled, with the person who completed them as
rater. Cancelled ones, tasks that nobody has finished, and annotations exported twice are counted. The predictions of a
file are read in place of its annotations by `ReadOptions.predictions`. In JSON_MIN, an answer about the whole task that
is one text cannot be told from a field of the data.

Offsets count code points, as the interface of Label Studio 1.23 does with emoji in the text (tests/external). If only
UTF-16 code units give the text of a region, its offsets are read as such and counted as repaired. The field of the
source is `source_text`, since the interface has a field `source` of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from matese.annotation import ErrorSpan, Omission, Rating, Segment, SegmentKey, Severity, severities
from matese.annotation.severity_looks import LOOKS
from matese.errors import InputError
from matese.files import name_of
from matese.formats import json_stream
from matese.formats.capabilities import KEY_FIELDS, Capabilities
from matese.formats.format import STRICT, ReadOptions, WriteOptions
from matese.formats.row_issues import RowIssues, located
from matese.formats.tables import headings
from matese.formats.tools import label_studio_regions
from matese.formats.tools.label_studio_regions import (
    MISSING,
    PER_REGION,
    TEXT_NAMES,
    ControlResult,
    TaskTexts,
    TextName,
)
from matese.validation import plain_values

CAPABILITIES = Capabilities(lacks=("no_spans", "unplaced", "estimate"), scales=("esa",))
TASKS = "tasks.json"
CONFIG = "config.xml"
SOURCE = "source_text"
"""The field of the source. The interface shows the whole task as `source`."""

_UNPREDICTED = "task without predictions (exports have only their numbers)"
_UNFINISHED = "task without a finished annotation (--predictions reads the model's marks)"
_OF_JSON_MIN = ("annotation_id", "lead_time")
_LABELS = {severities.label(severity): LOOKS[severity].colour for severity in (*Severity, None)}
"""Labels and their colours."""


class _Judgement(msgspec.Struct):
    """An annotation or a prediction."""

    id: int | str | None = None
    result: list[ControlResult] | None = None
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
    references: list[str] | None = None
    reference: str | None = None


class _Task(msgspec.Struct):
    data: dict[str, Any]
    id: int | str | None = None
    annotations: list[_Judgement] | None = None
    predictions: list[_Judgement | int] | None = None
    """Exports have their numbers only."""

    def segment(self) -> Segment:
        """Returns the texts and where they stand."""
        hypothesis = self._text("hypothesis", "text")
        if hypothesis is None:
            raise InputError("task without text: data must have hypothesis or text")
        data = plain_values.convert(self.data, _Data)
        references = tuple(data.references or (() if data.reference is None else (data.reference,)))
        stated = {name: value for name, value in self.data.items() if name in KEY_FIELDS}
        key = plain_values.convert(stated, SegmentKey)
        return Segment(hypothesis, self._text(SOURCE, "source"), references, None if key == SegmentKey() else key)

    def _text(self, *names: str) -> str | None:
        """Returns a text of the task by our names for it, else the only field that has another usual one."""
        for name in names:
            if (text := self.data.get(name)) is not None:
                return plain_values.convert({name: text}, dict[str, str])[name]
        role = headings.role_of(names[0])
        texts = [text for name, text in self.data.items() if headings.role_of(name) == role and isinstance(text, str)]
        return texts[0] if len(texts) == 1 else None


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
    controls += [(f"Words of the {name} that the translation lacks", f"missing_{name}", MISSING) for name in contexts]
    lines = ["<View>", "  <Style>.lsf-richtext__line { white-space: pre-wrap; }</Style>"]
    for title, control, prefix in controls:
        lines += [
            f'  <Header value="{title}" size="5"/>',
            f'  <Labels name="{control}" toName="{control.partition("_")[2]}" choice="single">',
            *(f'    <Label value="{prefix}{label}" background="{color}"/>' for label, color in _LABELS.items()),
            "  </Labels>",
        ]
    for name in (*contexts, "hypothesis"):
        title = "Translation" if name == "hypothesis" else name.capitalize()
        field = SOURCE if name == "source" else name
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
    starts = label_studio_regions.starts(rating.segment)
    texts = label_studio_regions.shown_texts(rating.segment)
    placed: list[tuple[TextName, str, ErrorSpan | Omission, int]]
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
        for result in _regions(error, name, f"{control}_{name}", shift, texts[name], f"{number}")
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
    start = error.start + shift
    end = error.end + shift
    label = (MISSING if isinstance(error, Omission) else "") + severities.label(error.severity)
    value = {"start": start, "end": end, "text": text[start:end], "labels": [label]}
    score = {} if error.confidence is None else {"score": error.confidence}
    yield {"id": region, "to_name": name, "from_name": control, "type": "labels", "value": value, **score}
    if error.category is not None:
        category = {"start": start, "end": end, "text": [error.category]}
        yield {"id": region, "to_name": name, "from_name": f"category_{name}", "type": "textarea", "value": category}


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the ratings of a folder that `save` wrote, or of a file that Label Studio has exported."""
    file = Path(path) / TASKS if Path(path).is_dir() else path
    seen: dict[object, Rating] = {}
    for element in json_stream.read(file, record=("data", *_OF_JSON_MIN)):
        with located(file, element.line):
            task_json = _task(element.value)
            task = plain_values.convert(task_json, _Task)
            issues = RowIssues(name_of(file), options.report, element.line)
            # The folder is what `save` wrote: nobody has annotated it.
            is_predicted = options.predictions or file != path
            _report_unknown(task_json, "predictions" if is_predicted else "annotations", issues)
            for number, rating in _ratings(task, issues, is_predicted=is_predicted):
                place = task.id, number, rating.rater
                if None not in place[:2] and place in seen and seen[place].segment == rating.segment:
                    is_same = seen[place] == rating
                    issues.skip("annotation exported twice", None if is_same else "must have one result")
                    continue
                seen[place] = rating
                yield rating


def _report_unknown(task: object, kind: str, issues: RowIssues) -> None:
    """Reports the keys of the marks of a task, as JSON has it, that are not understood."""
    entries = task.get(kind) if isinstance(task, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        for result in entry.get("result") or () if isinstance(entry, dict) else ():
            label_studio_regions.report_unknown(result, issues)


def _ratings(task: _Task, issues: RowIssues, *, is_predicted: bool) -> Iterator[tuple[int | str | None, Rating]]:
    """Yields the rating of each annotation with its number."""
    entries = (task.predictions if is_predicted else task.annotations) or []
    judgements = [judgement for judgement in entries if isinstance(judgement, _Judgement)]
    finished = [judgement for judgement in judgements if not judgement.was_cancelled]
    texts = TaskTexts.of(
        task.segment(), task.data, [result for judgement in finished for result in judgement.result or ()]
    )
    for judgement in finished:
        rater = judgement.model_version if is_predicted else judgement.annotator()
        rating = label_studio_regions.rating(texts, judgement.result or (), rater, issues)
        yield judgement.id, rating if judgement.result is not None else replace(rating, errors=None)
    for _ in range(len(judgements) - len(finished)):
        issues.skip("annotation was cancelled", None)
    if not finished:
        issues.skip(_UNPREDICTED if is_predicted else _UNFINISHED, None)


def _task(element: object) -> object:
    """Returns a task as JSON exports have it; JSON_MIN has fields and results of one annotation side by side."""
    if not isinstance(element, dict) or "data" in element or not element.keys() >= set(_OF_JSON_MIN):
        return element
    results: list[dict[str, object]] = []
    data: dict[str, object] = {}
    for name, value in element.items():
        values = value if isinstance(value, list) else [value]
        if name == "references" or not all(isinstance(answer, dict) for answer in values):
            data[name] = value
            continue
        # Our controls are called after their texts. The results of a region have its offsets in common.
        to_name = next((text for text in TEXT_NAMES if name.endswith(f"_{text}")), None)
        for answer in values:
            place = f"{to_name} {answer['start']}-{answer['end']}" if "start" in answer and "end" in answer else None
            kinds = {"textarea" if kind == "text" and isinstance(answer[kind], list) else kind for kind in answer}
            kind = next((kind for kind in PER_REGION if kind in kinds), None)
            results.append({"id": place, "from_name": name, "to_name": to_name, "type": kind, "value": answer})
    annotation = {"id": element["annotation_id"], "completed_by": element.get("annotator"), "result": results}
    return {"id": element.get("id"), "data": data, "annotations": [annotation]}
