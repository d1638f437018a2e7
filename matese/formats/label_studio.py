"""Label Studio: tasks with predictions, which people correct, and the annotations that they have completed.

What is written is a folder of `tasks.json` (Label Studio's "Basic JSON": a list of tasks) and `config.xml`, the
labelling configuration that the tasks fit. A task is a segment; each of its ratings is a prediction, whose
`model_version` is the rater. An error is a region of type `labels` on the text `hypothesis`, or `source` for an error
in the source, with its severity as label; its category is a text beside the region, of the same id.

What is read is that folder, or a file that Label Studio has exported as JSON: the annotations of each task that were
not cancelled, whose rater is who has completed them; of a task without an `annotations` list, the predictions. A task
that nobody has annotated yields nothing.

Offsets count code points, as the interface of Label Studio 1.23 does with emoji in the text (tests/external). Where
only UTF-16 code units give the text that a region holds, they are taken for such, and counted as repaired. The source
is the field `source_text`, since the interface has a field `source` of its own. A label of the region that is none of
the severities is a category, of an error whose severity is undecided.

Not held: errors without a place, overall judgements on another scale than 0-100 ESA and their intervals, and whether
spans were asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, Severity
from matese.formats import json_stream
from matese.formats.format import PLAIN, Reading, Start, Writing
from matese.formats.holding import KEY_FIELDS, Holds
from matese.formats.json_values import Fields
from matese.formats.lines import Faults, FormatError, name_of
from matese.formats.utf16 import Units

HOLDS = Holds(no_spans=False, unplaced=False, scales=("esa",), interval=False)
TASKS, CONFIG = "tasks.json", "config.xml"
TEXTS = ("hypothesis", "source")
SOURCE = "source_text"
"""The field of the source. `source` of a task is shown as the whole task."""

_LABELS = {"Neutral": "#9e9e9e", "Minor": "#ffb300", "Major": "#e53935", "Critical": "#8e24aa", "Undecided": "#1e88e5"}
_SEVERITIES: dict[str, Severity | None] = {"undecided": None, **{one.value: one for one in Severity}}


def begins(start: Start) -> bool:
    """Whether a file or folder is one of Label Studio's."""
    if start.files:
        return TASKS in start.files
    return start.is_json("data") and ('"annotations"' in start.text or '"predictions"' in start.text)


def save(ratings: Iterable[Rating], path: Path, writing: Writing) -> None:
    """Writes the folder.

    Raises:
        OSError: if it cannot be written.
    """
    has_source = has_reference = False
    path.mkdir()
    with open(path / TASKS, "w", encoding="utf-8", newline="\n") as stream:
        stream.write("[")
        for number, (segment, own) in enumerate(groupby(ratings, key=lambda rating: rating.segment), start=1):
            has_source |= segment.source is not None
            has_reference |= bool(segment.references)
            task = {"data": _data(segment), "predictions": [_prediction(rating) for rating in own]}
            stream.write("\n" if number == 1 else ",\n")
            stream.write(json.dumps(task, ensure_ascii=False))
        stream.write("\n]\n")
    (path / CONFIG).write_text(config(has_source=has_source, has_reference=has_reference), encoding="utf-8")


def config(*, has_source: bool, has_reference: bool) -> str:
    """Returns the labelling configuration for tasks with these texts."""
    texts = ["hypothesis", *(["source"] if has_source else [])]
    lines = ["<View>", "  <Style>.lsf-richtext__line { white-space: pre-wrap; }</Style>"]
    for name in texts:
        of_what = "translation" if name == "hypothesis" else name
        lines += [f'  <Header value="Errors of the {of_what}" size="5"/>']
        lines += [f'  <Labels name="severity_{name}" toName="{name}" choice="single">']
        lines += [f'    <Label value="{label}" background="{color}"/>' for label, color in _LABELS.items()]
        lines += ["  </Labels>"]
    source, reference = ("Source", "source", SOURCE), ("Reference", "reference", "reference")
    shown = [source] * has_source + [reference] * has_reference + [("Translation", "hypothesis", "hypothesis")]
    for title, name, field in shown:
        lines += [f'  <Header value="{title}"/>', f'  <Text name="{name}" value="${field}" granularity="symbol"/>']
    for name in texts:
        lines += [
            f'  <TextArea name="category_{name}" toName="{name}" perRegion="true" maxSubmissions="1" '
            'editable="true" placeholder="Category"/>'
        ]
    lines += ['  <Number name="score" toName="hypothesis" min="0" max="100"/>', "</View>", ""]
    return "\n".join(lines)


def _data(segment: Segment) -> dict[str, object]:
    data: dict[str, object] = {"hypothesis": segment.hypothesis}
    if segment.source is not None:
        data[SOURCE] = segment.source
    if segment.references:
        # The interface shows one text; the list is what is read again.
        data |= {"reference": "\n".join(segment.references), "references": list(segment.references)}
    key = segment.key or SegmentKey()
    return data | {name: getattr(key, name) for name in KEY_FIELDS if getattr(key, name) is not None}


def _prediction(rating: Rating) -> dict[str, object]:
    segment = rating.segment
    results: list[dict[str, object]] = []
    for name, text, spans in (
        ("hypothesis", segment.hypothesis, rating.errors or ()),
        ("source", segment.source or "", rating.source_errors),
    ):
        for number, span in enumerate(spans):
            results += _regions(span, name, f"{name}-{number}", text)
    if rating.overall is not None:
        score = {"id": "score", "from_name": "score", "to_name": "hypothesis", "type": "number"}
        results.append({**score, "value": {"number": rating.overall.value}})
    version = {} if rating.rater is None else {"model_version": rating.rater}
    return {**version, "result": results}


def _regions(span: ErrorSpan, name: str, region: str, text: str) -> list[dict[str, object]]:
    place: dict[str, object] = {"start": span.start, "end": span.end}
    label = "Undecided" if span.severity is None else span.severity.value.capitalize()
    common = {"id": region, "to_name": name}
    value = {**place, "text": text[span.start : span.end], "labels": [label]}
    labels: dict[str, object] = {**common, "from_name": f"severity_{name}", "type": "labels", "value": value}
    if span.confidence is not None:
        labels["score"] = span.confidence
    if span.category is None:
        return [labels]
    category = {**place, "text": [span.category]}
    return [labels, {**common, "from_name": f"category_{name}", "type": "textarea", "value": category}]


def read(path: str | Path, reading: Reading = PLAIN) -> Iterator[Rating]:
    """Yields the ratings of a folder that was written, or of a file that Label Studio has exported.

    Raises:
        FormatError: if it is neither, a task has no text, or offsets do not fit it.
        OSError: where it cannot be read.
    """
    file = Path(path) / TASKS if Path(path).is_dir() else path
    faults = Faults(name_of(file), reading.report)
    for element in json_stream.read(file):
        try:
            yield from _task(Fields.open(element.value), faults, element.line, reading)
        except ValueError as error:
            if isinstance(error, FormatError):
                raise
            raise FormatError(name_of(file), element.line, str(error)) from None


def _task(task: Fields, faults: Faults, line: int, reading: Reading) -> Iterator[Rating]:
    data = task.needed("data", task.inner("data"))
    texts = [data.string(name) for name in ("hypothesis", "text")]
    hypothesis = next((text for text in texts if text is not None), None)
    if hypothesis is None:
        raise ValueError("task without text: data must hold hypothesis, or text")
    key = SegmentKey(
        data.string("test_set") or reading.test_set,
        data.string("lang_pair") or reading.lang_pair,
        data.string("system"),
        data.string("document"),
        data.integer("index"),
    )
    texts = [data.string(name) for name in (SOURCE, "source")]
    source = next((text for text in texts if text is not None), None)
    segment = Segment(hypothesis, source, data.strings("references"), None if key == SegmentKey() else key)
    is_annotated = task.values.get("annotations") is not None
    for judgement in task.inner_list("annotations" if is_annotated else "predictions"):
        if judgement.values.get("was_cancelled") is True:
            continue
        rater = _who(judgement) if is_annotated else judgement.string("model_version")
        yield _Regions(segment, faults, line).rating(judgement.inner_list("result"), rater)


def _who(annotation: Fields) -> str | None:
    """Returns who has completed an annotation: an identifier, or an object with one, as the version of the export."""
    by = annotation.values.get("completed_by")
    if isinstance(by, dict):
        by = next((by[name] for name in ("email", "username", "id") if by.get(name)), None)
    return None if by is None else str(by)


@dataclass(frozen=True, slots=True)
class _Regions:
    """The regions of one annotation."""

    segment: Segment
    faults: Faults
    line: int

    def rating(self, results: Sequence[Fields], rater: str | None) -> Rating:
        categories = {
            (result.string("id"), result.string("to_name")): _category(result)
            for result in results
            if result.values.get("type") in ("textarea", "choices")
        }
        spans: dict[str, list[ErrorSpan]] = {name: [] for name in TEXTS}
        overall = None
        for result in results:
            kind = result.values.get("type")
            if kind == "number":
                value = result.needed("value", result.inner("value"))
                overall = Overall(value.needed("number", value.number("number")), "esa")
            elif kind == "labels":
                side = "source" if result.string("to_name") == "source" else "hypothesis"
                category = categories.get((result.string("id"), result.string("to_name")))
                spans[side].append(self._span(result, side, category))
        return Rating(self.segment, rater, tuple(spans["hypothesis"]), tuple(spans["source"]), overall=overall)

    def _span(self, result: Fields, side: str, category: str | None) -> ErrorSpan:
        text = self.segment.hypothesis if side == "hypothesis" else self.segment.source or ""
        value = result.needed("value", result.inner("value"))
        start, end = (value.needed(name, value.integer(name)) for name in ("start", "end"))
        marked = value.string("text")
        if marked is not None and not _is_same(marked, text[start:end]):
            in_units = text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le", "replace")
            if _is_same(marked, in_units):
                self.faults.repair(self.line, "offsets count UTF-16 units", "must count characters (code points)")
                start, end = (Units(text).place(unit) for unit in (start, end))
            else:
                allowed = f"{marked!r} must be {text[start:end]!r}, which stands at {start}..{end}"
                self.faults.repair(self.line, "text of a region is not what its offsets hold", allowed)
        labels = value.strings("labels")
        label = labels[0] if labels else "undecided"
        if label.casefold() not in _SEVERITIES:
            return ErrorSpan(start, end, None, category or label, result.number("score"))
        return ErrorSpan(start, end, _SEVERITIES[label.casefold()], category, result.number("score"))


def _is_same(marked: str, text: str) -> bool:
    # The interface writes a line feed as two characters.
    return marked.replace("\\n", "\n") == text.replace("\\n", "\n")


def _category(result: Fields) -> str | None:
    value = result.inner("value")
    found = () if value is None else value.strings("text") or value.strings("choices")
    return found[0] if found else None
