"""The looks of severities: complete, and told apart."""

from __future__ import annotations

import pytest

from matese.annotation.severities import COUNTED, EVERY
from matese.annotation.severity_looks import LOOKS


def test_every_severity_has_a_row() -> None:
    assert list(LOOKS) == list(EVERY)


@pytest.mark.parametrize("trait", ["brackets", "line", "colour", "ink"])
def test_severities_differ(trait: str) -> None:
    assert len({getattr(looks, trait) for looks in LOOKS.values()}) == len(LOOKS)


def test_each_key_has_one_severity() -> None:
    keys = [looks.key for looks in LOOKS.values() if looks.key is not None]
    assert len(set(keys)) == len(keys)


def test_those_that_count_are_explained() -> None:
    assert {severity for severity, looks in LOOKS.items() if looks.meaning is not None} == set(COUNTED)
