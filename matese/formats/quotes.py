"""Errors as language models and people report them: quotes of the words in place of offsets.

An error is an object such as `{"span": "Haus", "severity": "Minor", "explanation": "..."}`. The words may stand in the
translation or else in the source; the second error with the same words stands where they occur next. An error whose
words stand nowhere has no place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matese.annotation import AnyError, ErrorSpan, Rating, Segment, Severity, UnplacedError, severities
from matese.errors import InputError, one_of, shortened
from matese.formats.format import rating_of
from matese.text import quotes
from matese.text.ranges import Range

_NAMES = {
    "words": ("span", "quote", "text", "words", "error_span", "target_span", "error"),
    "severity": ("severity", "level"),
    "category": ("category", "type", "error_type", "error_category"),
    "reason": ("explanation", "reason", "comment", "description", "rationale"),
    "correction": ("correction", "suggestion", "fix", "suggested_correction"),
    "confidence": ("confidence",),
}
KEYS = tuple(names[0] for names in _NAMES.values())
"""The first name of each key that is known."""
_ROLES = {name: role for role, names in _NAMES.items() for name in names}


def has_quotes(errors: object) -> bool:
    """Whether a value is a list of errors, of which one has words and no offsets.

    >>> has_quotes([{"span": "Haus", "severity": "minor"}]), has_quotes([{"start": 4, "end": 8, "text": "Haus"}])
    (True, False)
    """
    return isinstance(errors, list) and any(
        isinstance(error, Mapping) and "start" not in error and _role_of(error, "words") for error in errors
    )


def rating(errors: Sequence[object], segment: Segment, rater: str | None, report: Callable[[str, str], None]) -> Rating:
    """Returns the rating with these errors.

    Args:
        errors: of the segment; an object each.
        segment: what was judged.
        rater: who judged.
        report: called with what is unknown, a key or a severity, and with what is known.

    Raises:
        InputError: if an error is no object, has no words, or a value that none can have.
    """
    taken: Counter[Range] = Counter()
    source_errors: list[ErrorSpan] = []
    marks: list[AnyError] = []
    for number, error in enumerate(errors):
        if not isinstance(error, Mapping):
            raise InputError(f"errors[{number}] is {shortened(error)}: must be an object with the words of an error")
        values = {role: error[name] for role in _NAMES if (name := _role_of(error, role))}
        for name in error:
            if _plain(name) not in _ROLES:
                report(f"unknown key {shortened(name)} of an error", f"must be {one_of(KEYS)}")
        words = values.pop("words", None)
        if not isinstance(words, str):
            raise InputError(f"errors[{number}]: no words; must have a text as {' or '.join(_NAMES['words'][:3])}")
        texts = {name: None if value is None else str(value) for name, value in values.items() if name != "confidence"}
        severity = _severity((texts.pop("severity", None) or "").strip(), report)
        details: dict[str, Any] = {
            name: text for name, text in texts.items() if text or (name == "correction" and text is not None)
        }
        if values.get("confidence") is not None:
            details["confidence"] = values["confidence"]
        place = _next_place(segment.hypothesis, words, taken)
        if place is not None:
            marks.append(ErrorSpan(*place, severity, **details))
        elif (place := _next_place(segment.source or "", words, Counter())) is not None:
            source_errors.append(ErrorSpan(*place, severity, **details))
        else:
            marks.append(UnplacedError(severity, details.get("category"), words))
    return rating_of(segment, rater, marks, source_errors)


def _severity(name: str, report: Callable[[str, str], None]) -> Severity | None:
    """Returns the severity of a name; an unknown one is undecided, and reported."""
    try:
        return severities.parse_optional(name)
    except InputError:
        report(f"unknown severity {shortened(name)} of an error", f"must be {one_of(severities.NAMES)}")
        return None


def _next_place(text: str, words: str, taken: Counter[Range]) -> Range | None:
    """Returns where words stand that no earlier error has taken, or else where they stand first."""
    places, _ = quotes.places(text, words)
    place = min(places, key=lambda place: (taken[place], place), default=None)
    if place is not None:
        taken[place] += 1
    return place


def _role_of(error: Mapping[str, object], role: str) -> str | None:
    """Returns the key of an error that has a role; None if there is none."""
    named = {_plain(name): name for name in error}
    return next((named[name] for name in _NAMES[role] if name in named), None)


def _plain(name: object) -> str:
    return str(name).strip().casefold().replace(" ", "_").replace("-", "_")
