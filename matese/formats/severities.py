"""Severities as files name them: "minor", "Minor", "undecided"."""

from __future__ import annotations

from matese.annotation import Severity
from matese.errors import InputError, unknown

UNDECIDED = "undecided"
LABELS: dict[str, Severity | None] = {UNDECIDED: None, **{severity.value: severity for severity in Severity}}
NAMES = tuple(severity.value for severity in Severity)


def label(severity: Severity | None) -> str:
    """Returns the name of a severity, "undecided" for None."""
    return UNDECIDED if severity is None else severity.value


def parse(name: str) -> Severity:
    """Returns the severity of a name in any case.

    Raises:
        InputError: if there is no such severity.

    >>> parse("Major")
    <Severity.MAJOR: 'major'>
    """
    if name.casefold() not in NAMES:
        raise InputError(unknown("severity", name, NAMES))
    return Severity(name.casefold())


def parse_optional(name: str | None) -> Severity | None:
    """Returns the severity of a name in any case; None for None, "" and "undecided".

    Raises:
        InputError: if there is no such severity.
    """
    return None if not name or name.casefold() == UNDECIDED else parse(name)
