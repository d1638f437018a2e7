"""Severities: each has a penalty and a name, and one rule serves formats that hold only some."""

from __future__ import annotations

from dataclasses import fields

import pytest

from matese import mqm
from matese.annotation import Severity, severities
from matese.annotation.severities import EVERY, MINOR_MAJOR
from matese.errors import InputError

NEUTRAL, MINOR, MAJOR, CRITICAL = Severity


def test_every_severity_has_a_penalty() -> None:
    assert {field.name for field in fields(mqm.Weights)} >= set(severities.NAMES)
    assert set(severities.COUNTED.values()) == set(MINOR_MAJOR)


@pytest.mark.parametrize(
    ("severity", "available", "expected"),
    [
        (None, MINOR_MAJOR, MINOR),
        (None, tuple(Severity), MINOR),
        (NEUTRAL, MINOR_MAJOR, None),
        (CRITICAL, MINOR_MAJOR, MAJOR),
        (CRITICAL, (MINOR,), None),
    ],
)
def test_what_stands_for_a_severity_that_is_not_held(
    severity: Severity | None, available: tuple[Severity, ...], expected: Severity | None
) -> None:
    assert severities.nearest(severity, available) is expected


@pytest.mark.parametrize("severity", EVERY)
def test_names_are_read_in_any_case(severity: Severity | None) -> None:
    for name in (severities.name(severity), severities.label(severity), severities.name(severity).upper()):
        assert severities.parse_optional(name) is severity
        assert severities.MEANINGS[name.casefold()] is severity


@pytest.mark.parametrize("name", ["", "undecided", "majro", "MajorX"])
def test_what_is_no_severity(name: str) -> None:
    with pytest.raises(InputError):
        severities.parse(name)
