"""The segments in which compared systems differ most: their scores, and the errors that one has and another has not."""

from __future__ import annotations

from typing import Any

from matese import mqm
from matese.annotation import ErrorSpan, Rating, SegmentKey, UnplacedError
from matese.cli.compared import Compared
from matese.evaluation import versions
from matese.evaluation.pairs import name_of
from matese.evaluation.versions import Changes
from matese.render import rows
from matese.render.visible import show


def order(found: Compared) -> list[int]:
    """Returns the segments' numbers, largest difference first."""
    differences = found.differences()
    return sorted(range(len(differences)), key=lambda number: -abs(differences[number]))


def text(found: Compared, top: int) -> str:
    """Returns the segments for readers, a few lines each; empty where none is asked for."""
    differences = found.differences()
    lines = ["largest differences"] if top else []
    for number in order(found)[:top]:
        own = {name: ratings[number] for name, ratings in found.ratings.items()}
        scores = ", ".join(f"{name} {mqm.score(one, found.weights):.2f}" for name, one in own.items())
        lines.append(f"{place_of(own[found.first])}: {differences[number]:+.2f} ({scores})")
        lines += [f"    {line}" for line in _errors(found, number, own)]
    return "".join(f"{show(line)}\n" for line in lines)


def to_json(found: Compared) -> list[dict[str, Any]]:
    """Returns all segments as objects, largest difference first."""
    differences = found.differences()
    listed = []
    for number in order(found):
        own = {name: ratings[number] for name, ratings in found.ratings.items()}
        key = own[found.first].segment.key or SegmentKey()
        listed.append(
            {
                "number": number,
                **{name: getattr(key, name) for name in ("test_set", "lang_pair", "document", "index")},
                "difference": differences[number],
                "scores": {name: mqm.score(one, found.weights) for name, one in own.items()},
                "changes": {
                    name: _changes(one.changes[number], own[found.first], own[name])
                    for name, one in found.versus.items()
                },
            }
        )
    return listed


def marks(rating: Rating) -> str:
    """Returns the errors that a rating holds as one line of text.

    >>> from matese.annotation import Segment, Severity
    >>> marks(Rating(Segment("Das Haus"), None, (ErrorSpan(4, 8, Severity.MAJOR),)))
    'Major "Haus"'
    """
    spans = [_mark(error, rating.segment.hypothesis) for error in rating.errors or ()]
    return ", ".join([*spans, *_elsewhere(rating)]) or "-"


def place_of(rating: Rating) -> str:
    """Returns how tables call a segment."""
    return rows.place(rating.segment) or name_of(rating.segment)


def _errors(found: Compared, number: int, own: dict[str, Rating]) -> list[str]:
    """Returns what became of the errors of a segment, a fate a line, and the errors that take no part in that."""
    first = own[found.first]
    lines = []
    for name, one in found.versus.items():
        for fate, errors in _changes(one.changes[number], first, own[name]).items():
            if errors:
                shown = ", ".join(f'{_name(error["severity"])} "{error["text"]}"' for error in errors)
                lines.append(f"{fate} in {name}: {shown}")
    others = {name: _elsewhere(rating) for name, rating in own.items()}
    return [*lines, *(f"{name}: {', '.join(errors)}" for name, errors in others.items() if errors)]


def _elsewhere(rating: Rating) -> list[str]:
    """Returns the errors that are not in the hypothesis."""
    source = rating.segment.source or ""
    return [
        *(f"{_mark(error, source)} in the source" for error in rating.source_errors),
        *(f"{_severity(error)} without a place" for error in rating.unplaced),
    ]


def _changes(fates: Changes, before: Rating, after: Rating) -> dict[str, list[dict[str, Any]]]:
    """Returns the errors of each fate: fixed ones as they stand in the first hypothesis, all others in the second."""
    listed: dict[str, list[dict[str, Any]]] = {change: [] for change in versions.CHANGES}
    for rating, own, is_shown in ((before, fates.before, {"fixed"}), (after, fates.after, {*versions.CHANGES})):
        for error, fate in zip(rating.errors or (), own, strict=True):
            if fate in is_shown and fate is not None:
                text = rating.segment.hypothesis[error.start : error.end]
                severity = error.severity and error.severity.value
                listed[fate].append({"start": error.start, "end": error.end, "text": text, "severity": severity})
    return listed


def _mark(error: ErrorSpan, text: str) -> str:
    return f'{_severity(error)} "{text[error.start : error.end]}"'


def _severity(error: ErrorSpan | UnplacedError) -> str:
    return _name(error.severity and error.severity.value)


def _name(severity: str | None) -> str:
    return "Undecided" if severity is None else severity.capitalize()
