"""The severities of errors: names, order, and what measures count them as.

A further severity is a member of `Severity`, its looks in `matese.annotation.severity_looks`, and its penalty in
`mqm.Weights`. Formats, figures, pages and the terminal follow. Formats have words, colours and limits of their own only
where another program does.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping

from matese.errors import InputError, unknown

UNDECIDED = "undecided"
"""The name of a severity that the rater left open, which is None."""


class Severity(enum.Enum):
    """How bad an error is, ordered from NEUTRAL to CRITICAL. What it costs is policy: see `matese.mqm`.

    >>> Severity.MINOR < Severity.MAJOR, Severity("major"), max(Severity).value
    (True, <Severity.MAJOR: 'major'>, 'critical')
    """

    NEUTRAL = "neutral"
    MINOR = "minor"
    MAJOR = "major"
    CRITICAL = "critical"

    __hash__ = object.__hash__  # that of Enum is written in Python, and severities are keys wherever errors are counted

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Severity):
            return NotImplemented
        return _RANK[self] < _RANK[other]

    def __le__(self, other: object) -> bool:
        if not isinstance(other, Severity):
            return NotImplemented
        return _RANK[self] <= _RANK[other]


_RANK: Mapping[Severity | None, int] = {severity: number for number, severity in enumerate((None, *Severity))}


def rank(severity: Severity | None) -> int:
    """Returns the place of a severity in the order from the least to the most severe; an undecided one is the first.

    >>> sorted([Severity.MAJOR, None, Severity.MINOR], key=rank)
    [None, <Severity.MINOR: 'minor'>, <Severity.MAJOR: 'major'>]
    """
    return _RANK[severity]


EVERY: tuple[Severity | None, ...] = (None, *Severity)
"""Undecided first, then from the least to the most severe."""
NAMES = tuple(severity.value for severity in Severity)
MEANINGS: Mapping[str, Severity | None] = {UNDECIDED: None, **{severity.value: severity for severity in Severity}}
"""What each name means."""
_NAME_OF: Mapping[Severity | None, str] = {severity: name for name, severity in MEANINGS.items()}
COUNTED: Mapping[Severity, Severity] = {
    Severity.MINOR: Severity.MINOR,
    Severity.MAJOR: Severity.MAJOR,
    Severity.CRITICAL: Severity.MAJOR,
}
"""The severities that measures count, and as what: the WMT25 task maps Critical to Major and ignores undecided errors;
Perrella et al. 2026 ignore Neutral ones."""
MINOR_MAJOR = (Severity.MINOR, Severity.MAJOR)
"""The severities that measures, tags and several formats tell apart."""


def name(severity: Severity | None) -> str:
    """Returns the name of a severity in files, "undecided" for None."""
    return _NAME_OF[severity]


def label(severity: Severity | None) -> str:
    """Returns the name of a severity as people read it: "Major", "Undecided"."""
    return name(severity).capitalize()


def parse(text: str) -> Severity:
    """Returns the severity of a name in any case.

    Raises:
        InputError: if there is no such severity.

    >>> parse("Major")
    <Severity.MAJOR: 'major'>
    """
    if text.casefold() not in NAMES:
        raise InputError(unknown("severity", text, NAMES))
    return Severity(text.casefold())


def parse_optional(text: str | None) -> Severity | None:
    """Returns the severity of a name in any case; None for None, "" and "undecided".

    Raises:
        InputError: if there is no such severity.
    """
    return None if not text or text.casefold() == UNDECIDED else parse(text)


def nearest(severity: Severity | None, available: Collection[Severity | None]) -> Severity | None:
    """Returns the severity that stands for another one where only some are available; None if there is none.

    It is the one that measures count it as, and Minor for an undecided one. One that they leave out has none.

    >>> nearest(Severity.CRITICAL, MINOR_MAJOR).value, nearest(None, MINOR_MAJOR).value
    ('major', 'minor')
    >>> nearest(Severity.NEUTRAL, MINOR_MAJOR) is None
    True
    """
    counted_as = Severity.MINOR if severity is None else COUNTED.get(severity)
    return counted_as if counted_as in available else None
