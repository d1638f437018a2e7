"""The table of severities: complete, told apart, and one rule for formats that hold only some."""

from __future__ import annotations

from dataclasses import fields

import pytest

from matese import mqm, severities
from matese.annotation import Severity
from matese.errors import InputError
from matese.severities import EVERY, MINOR_MAJOR, TRAITS

NEUTRAL, MINOR, MAJOR, CRITICAL = Severity


def test_every_severity_has_a_row_and_a_penalty() -> None:
    assert list(TRAITS) == list(EVERY)
    assert {field.name for field in fields(mqm.Weights)} >= set(severities.NAMES)
    assert set(severities.COUNTED.values()) == set(MINOR_MAJOR)


@pytest.mark.parametrize("trait", ["brackets", "line", "colour", "ink"])
def test_severities_differ(trait: str) -> None:
    assert len({getattr(traits, trait) for traits in TRAITS.values()}) == len(TRAITS)


def test_each_key_has_one_severity() -> None:
    keys = [traits.key for traits in TRAITS.values() if traits.key is not None]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("severity", "held", "expected"),
    [
        (None, MINOR_MAJOR, MINOR),
        (None, tuple(Severity), MINOR),
        (NEUTRAL, MINOR_MAJOR, None),
        (CRITICAL, MINOR_MAJOR, MAJOR),
        (CRITICAL, (MINOR,), None),
    ],
)
def test_what_stands_for_a_severity_that_is_not_held(
    severity: Severity | None, held: tuple[Severity, ...], expected: Severity | None
) -> None:
    assert severities.nearest(severity, held) is expected


@pytest.mark.parametrize("severity", EVERY)
def test_names_are_read_in_any_case(severity: Severity | None) -> None:
    for name in (severities.name(severity), severities.label(severity), severities.name(severity).upper()):
        assert severities.parse_optional(name) is severity
        assert severities.MEANINGS[name.casefold()] is severity


@pytest.mark.parametrize("name", ["", "undecided", "majro", "MajorX"])
def test_what_is_no_severity(name: str) -> None:
    with pytest.raises(InputError):
        severities.parse(name)
