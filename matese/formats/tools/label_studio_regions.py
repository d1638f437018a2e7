"""The errors that the results of a Label Studio annotation describe, in our labelling configuration or any other.

What people mark is a region: its place, and beside it what its controls hold, in results of the same id. The severity
is a label, choice or step of a taxonomy with such a name; of several different ones, the worst is read and the case
reported. Whatever else labels, choices and taxonomies hold is the category; without any, a text area is. The order of
the results, in which people clicked, has no influence. White space around labels and choices is ignored.

The text of a region follows from its `to_name`: one of our names, the field of the data with this name, or a usual name
of such a column ("mt", "src"); else from the words that the region quotes. If only one text is ever marked and nothing
is known about it, it is the translation.

What has no place in a text or is not understood is reported by `RowIssues.ignore`: regions of images, audio and several
paragraphs, ratings, notes, relations, and answers about the whole task other than one number, the score.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Literal

import msgspec

from matese.annotation import AnyError, ErrorSpan, Omission, Overall, Rating, Segment, Severity, severities
from matese.errors import InputError
from matese.formats.format import rating_of
from matese.formats.row_issues import RowIssues
from matese.formats.tables import headings
from matese.text.ranges import Utf16Text

MISSING = "Missing: "
"""Begins the label of words that the translation lacks."""
TextName = Literal["hypothesis", "source", "reference"]
TEXT_NAMES: tuple[TextName, ...] = ("hypothesis", "source", "reference")

_LABELS = ("labels", "hypertextlabels", "paragraphlabels")
PER_REGION = (*_LABELS, "choices", "taxonomy", "textarea", "rating", "number", "datetime")
"""Types of results that can say where a region of a text is; others count seconds, pixels or samples."""
_SCORE = "score"
_ALLOWED = "must be a region of a text with labels, choices, a taxonomy or a text area, or one number for the task"


class ControlResult(msgspec.Struct):
    """What one control holds, of a region or of the whole task."""

    type: str | None = None
    id: str | int | None = None
    from_name: str | None = None
    to_name: str | None = None
    score: float | None = None
    value: dict[str, Any] | None = None
    meta: dict[str, Any] | None = None

    def get(self, name: str) -> Any:  # noqa: ANN401  (any JSON value)
        """Returns what the value has under a name."""
        return (self.value or {}).get(name)

    @property
    def has_place(self) -> bool:
        """Whether it says where a region of a text is."""
        return self.type in _LABELS or (self.type in PER_REGION and self.get("start") is not None)

    @property
    def quoted(self) -> str | None:
        """The text of its region, which a text area replaces by its own."""
        text = self.get("text")
        return text if isinstance(text, str) and self.type != "textarea" else None

    @property
    def texts(self) -> list[str]:
        """What a text area holds."""
        text = self.get("text")
        return [item for item in _list(text) if isinstance(item, str)] if text != self.quoted else []

    def tags(self) -> Iterator[str]:
        """Yields labels, choices, and the paths of a taxonomy with their severities apart."""
        for name in (*_LABELS, "choices"):
            yield from (tag.strip() for tag in _list(self.get(name)) if isinstance(tag, str))
        for path in _list(self.get("taxonomy")):
            steps = [str(step).strip() for step in _list(path)]
            yield from (step for step in steps if _is_severity(step))
            if categories := [step for step in steps if not _is_severity(step)]:
                yield "/".join(categories)

    @property
    def is_understood(self) -> bool:
        """Whether it holds nothing but a place, labels, choices, a taxonomy or a text area."""
        return any(self.get(name) is not None for name in (*_LABELS, "choices", "taxonomy")) or bool(self.texts)


_KEYS = (
    *("type", "id", "from_name", "to_name", "score", "value", "meta", "origin", "readonly", "hidden", "locked"),
    *("parentID", "item_index", "original_width", "original_height", "image_rotation", "isUpdated", "dynamic"),
)
"""Keys of a region, among them those of the interface alone."""
_OFFSETS = ("start", "end", "startOffset", "endOffset", "globalOffsets")
_KEYS_OF_VALUE = ("text", *_OFFSETS, *PER_REGION)


def report_unknown(result: object, issues: RowIssues) -> None:
    """Reports the keys of the mark in a result, as JSON has it, that are not understood."""
    value = result.get("value") if isinstance(result, dict) else None
    if not isinstance(result, dict) or not isinstance(value, dict):
        return
    if ControlResult(result.get("type"), value=value).has_place:
        issues.ignore_unknown(result, _KEYS)
        issues.ignore_unknown(value, _KEYS_OF_VALUE)


@dataclass(frozen=True, slots=True)
class TaskTexts:
    """The texts of a task.

    Attributes:
        segment: with its translation, source and references.
        names: which text each `to_name` is; None for one that is not among them.
    """

    segment: Segment
    names: Mapping[str | None, TextName | None]

    @classmethod
    def of(cls, segment: Segment, data: Mapping[str, Any], results: Sequence[ControlResult]) -> TaskTexts:
        """Returns the texts of a task with these results, those of all its annotations."""
        placed = [result for result in results if result.has_place]
        names = {
            name: _text_name(name, segment, data, [result for result in placed if result.to_name == name])
            for name in {result.to_name for result in placed}
        }
        if list(names.values()) == [None] and not _contradicts(segment.hypothesis, placed):
            (name,) = names
            if name not in data and name not in TEXT_NAMES:
                names[name] = "hypothesis"
        return cls(segment, names)

    def name_of(self, results: Sequence[ControlResult]) -> TextName | None:
        """Returns which text a region is in, whose results these are."""
        if (name := self.names.get(results[0].to_name)) is not None or results[0].to_name is not None:
            return name
        # In JSON_MIN, regions do not name their texts.
        return _only(_quoting(shown_texts(self.segment), results)) or self.names.get(None)


def shown_texts(segment: Segment) -> dict[TextName, str]:
    """Returns the texts that the interface shows, by their names."""
    return {
        "hypothesis": segment.hypothesis,
        "source": segment.source or "",
        "reference": "\n".join(segment.references),
    }


def starts(segment: Segment) -> list[int]:
    """Returns where each reference begins in the text that shows them all."""
    return [0, *accumulate(len(reference) + 1 for reference in segment.references)]


def rating(texts: TaskTexts, results: Sequence[ControlResult], rater: str | None, issues: RowIssues) -> Rating:
    """Returns the rating that an annotation describes.

    Raises:
        InputError: if a region has no offsets, or a value is not allowed.
    """
    errors: list[AnyError] = []
    source_errors: list[ErrorSpan] = []
    n_ignored = 0
    regions, answers = _grouped(results)
    for region in regions:
        name = texts.name_of(region)
        place = None if name is None else _place(region, shown_texts(texts.segment)[name], issues)
        if name is None or place is None:
            where = f"a text named {region[0].to_name!r}" if name is None else f"the {name}, but not at its offsets"
            issues.ignore(f"region of {where}", f"{_ALLOWED}; texts are hypothesis, source and reference")
            n_ignored += 1
            continue
        span, is_missing = _error(region, place, issues)
        if name == "reference" or is_missing:
            errors.append(_omission(span, name, texts.segment, issues))
        else:
            (source_errors if name == "source" else errors).append(span)
    overall, n_unknown = _overall(answers, issues)
    read = rating_of(texts.segment, rater, errors, source_errors, overall=overall)
    is_unknown = n_ignored + n_unknown > 0 and not read.all_errors
    return replace(read, errors=None) if is_unknown else read


def _grouped(results: Iterable[ControlResult]) -> tuple[list[list[ControlResult]], list[list[ControlResult]]]:
    """Returns the results of each region of a text, and those of each region or answer of another kind."""
    listed = list(results)
    places = {result.id: _offsets(result) for result in reversed(listed) if result.get("start") is not None}
    groups: dict[object, list[ControlResult]] = {}
    for number, result in enumerate(listed):
        # Those without an id cannot be told to belong together; controls may call one text by several names.
        place = _offsets(result) if result.get("start") is not None else places.get(result.id)
        key = (number, None) if result.id is None else (result.id, place)
        groups.setdefault(key, []).append(result)
    regions: list[list[ControlResult]] = []
    answers: list[list[ControlResult]] = []
    for group in groups.values():
        (regions if any(result.has_place for result in group) else answers).append(group)
    return regions, answers


def _offsets(result: ControlResult) -> tuple[str, ...]:
    return tuple(str(result.get(name)) for name in ("start", "end", "startOffset", "endOffset"))


def _overall(answers: Iterable[Sequence[ControlResult]], issues: RowIssues) -> tuple[Overall | None, int]:
    """Returns the score of the whole task, and the number of other answers, which are reported."""
    numbers = [answer for answer in answers if len(answer) == 1 and answer[0].type == "number"]
    named = [answer for answer in numbers if answer[0].from_name == _SCORE]
    score = _only(named) or _only(numbers)
    unread = [answer for answer in answers if answer is not score]
    for answer in unread:
        issues.ignore(f"answer or region of type {answer[0].type or 'unknown'}", _ALLOWED)
    if score is None:
        return None, len(unread)
    number = score[0].get("number")
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise InputError("result of type number: must have a number as value")
    return Overall(number, "esa"), len(unread)


def _error(region: Sequence[ControlResult], place: tuple[int, int], issues: RowIssues) -> tuple[ErrorSpan, bool]:
    """Returns the error of a region, and whether the translation lacks its words."""
    for result in region:
        if not (result.is_understood or result.type in _LABELS):
            issues.ignore(f"{result.type or 'unknown'} beside a region", _ALLOWED)
        if result.meta:
            issues.ignore("note of a region", "must be in a text area or be removed")
    tags = [tag for result in region for tag in result.tags()]
    is_missing = any(tag.startswith(MISSING) for tag in tags)
    tags = [tag.removeprefix(MISSING).strip() for tag in tags]
    named = {severities.MEANINGS[tag.casefold()] for tag in tags if _is_severity(tag)}
    categories = _most_specific(tag for tag in tags if not _is_severity(tag))
    comments = [text for result in region for text in result.texts]
    if not categories:
        categories = sorted(set(comments))
        comments = []
    if comments:
        issues.ignore("text area beside a region with a category", "must hold the category, or be removed")
    if len(named) > 1:
        issues.repair("several severities of a region, the worst is read", "must be one")
    if len(categories) > 1:
        issues.repair("several categories of a region, the first in the alphabet is read", "must be one")
    severity = max(named, key=severities.rank, default=None)
    confidence = next((result.score for result in region if result.score is not None), None)
    return ErrorSpan(*place, severity, next(iter(categories), None), confidence), is_missing


def _omission(span: ErrorSpan, name: TextName, segment: Segment, issues: RowIssues) -> Omission:
    """Returns the omission at the place of a region."""
    kind: tuple[Severity | None, str | None, float | None] = span.severity, span.category, span.confidence
    if name == "source":
        return Omission("source", None, span.start, span.end, *kind)
    if name != "reference" or not segment.references:
        allowed = "must be of the source or of data.references"
        raise InputError(f"missing words {span.start}..{span.end} of {name}: {allowed}")
    begin = starts(segment)
    number = bisect_right(begin, span.start) - 1
    if number == len(segment.references):
        raise InputError(f"missing words {span.start}..{span.end}: must be within the references ({begin[-1] - 1})")
    last = begin[number + 1] - 1
    if span.end > last:
        issues.repair("region of several references", "must be within one; read up to the end of the first")
    return Omission("reference", number, span.start - begin[number], min(span.end, last) - begin[number], *kind)


def _place(region: Sequence[ControlResult], text: str, issues: RowIssues) -> tuple[int, int] | None:
    """Returns the range of a region in a text; None if it is not one of this text."""
    result = next(result for result in region if result.has_place)
    quoted = next((result.quoted for result in region if result.quoted is not None), None)
    offsets = result.get("globalOffsets")
    offsets = offsets if isinstance(offsets, dict) else {}
    start = offsets.get("start", result.get("start"))
    end = offsets.get("end", result.get("end"))
    if start is None or end is None:
        raise InputError(f"region {result.id}: must have start and end")
    if isinstance(start, str) or isinstance(end, str):
        # A node of a page, or the number of a paragraph, with offsets inside it.
        if start != end or not quoted:
            return None
        start = result.get("startOffset")
        end = result.get("endOffset")
    if not _is_whole(start) or not _is_whole(end):
        return None
    if quoted is None or _is_same(quoted, text[start:end]):
        return start, end
    in_units = _of_units(Utf16Text(text), start, end)
    if in_units is not None and _is_same(quoted, text[slice(*in_units)]):
        issues.repair("offsets count UTF-16 units", "must count characters (code points)")
        return in_units
    if result.type != "labels" or offsets:
        return None  # offsets of a page count other characters than its text has
    allowed = f"{quoted!r} must be {text[start:end]!r}, the text at {start}..{end}"
    issues.repair("text of a region differs from the text at its offsets", allowed)
    return start, end


def _of_units(units: Utf16Text, start: int, end: int) -> tuple[int, int] | None:
    """Returns a range of UTF-16 units in code points, up to the end of the text; None if it cuts a character."""
    try:
        return units.to_place(min(start, units.n_units)), units.to_place(min(end, units.n_units))
    except InputError:
        return None


def _text_name(
    name: str | None, segment: Segment, data: Mapping[str, Any], regions: Sequence[ControlResult]
) -> TextName | None:
    """Returns which text a `to_name` with these regions is; None if nothing says so."""
    shown = shown_texts(segment)
    our_name = next((text_name for text_name in TEXT_NAMES if text_name == name), None)
    if our_name is not None:
        return None if our_name == "source" and segment.source is None else our_name
    usual = None if name is None else headings.role_of(name)
    field = data.get(name or "")
    if isinstance(field, str):
        same = [text_name for text_name, text in shown.items() if text == field]
        return next((text_name for text_name in same if text_name == usual), same[0] if same else None)
    quoting = _quoting(shown, regions)
    if usual in quoting:
        return next(text_name for text_name in quoting if text_name == usual)
    # Now only the words of the regions can say so, unless the name means a field of the data, or a text that differs.
    is_other = name in data or (usual is not None and not any(region.quoted for region in regions))
    return None if is_other else _only(quoting)


def _quoting(shown: Mapping[TextName, str], regions: Sequence[ControlResult]) -> list[TextName]:
    """Returns the texts that have the words of all regions at their places."""
    return [name for name, text in shown.items() if text and not _contradicts(text, regions)]


def _contradicts(text: str, regions: Iterable[ControlResult]) -> bool:
    return any(
        not _is_same(region.quoted, text[region.get("start") : region.get("end")])
        for region in regions
        if region.quoted is not None and _is_whole(region.get("start")) and _is_whole(region.get("end"))
    )


def _most_specific(categories: Iterable[str]) -> list[str]:
    """Returns different categories in order, without those that another one refines.

    >>> _most_specific(["Accuracy", "Accuracy/Mistranslation", "Style", "Style"])
    ['Accuracy/Mistranslation', 'Style']
    """
    names = Counter(categories)
    return sorted(name for name in names if name and not any(longer.startswith(f"{name}/") for longer in names))


def _is_severity(tag: str) -> bool:
    return tag.removeprefix(MISSING).strip().casefold() in severities.MEANINGS


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_same(marked: str | None, text: str) -> bool:
    # The interface writes a line feed as two characters.
    return marked is not None and marked.replace("\\n", "\n") == text.replace("\\n", "\n")


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _only(items: Sequence[Any]) -> Any:  # noqa: ANN401  (one of the items)
    """Returns the only one of some items; None if there are none or several."""
    return items[0] if len(items) == 1 else None
