from __future__ import annotations

import pytest

from matese.annotation import Segment
from matese.checks import length
from matese.checks.rule import Texts


def test_a_column_states_a_limit() -> None:
    for value, n_errors in (("7", 0), (6.0, 1), (6, 1), ("", 0), ("short", 0)):
        segment = Segment("Sichern", "Save", extra={"max_length": value, "context": "a button"})
        assert len(list(length.find(Texts(segment)))) == n_errors


@pytest.mark.parametrize(
    ("context", "hypothesis", "expected"),
    [
        (None, "Speichern", None),
        ("A button", "Speichern", None),
        ("A button. max-length:8", "", None),
        ("A button. max-length:8", "Sichern!", None),
        ("A button. max-length:8", "Speichern", "n"),
        ('maxLength="4"', "Sichern", "ern"),
        ({"max-length": 4}, "Sichern", None),
    ],
)
def test_what_is_too_long(context: object, hypothesis: str, expected: str | None) -> None:
    segment = Segment(hypothesis, "Save", extra=None if context is None else {"context": context})
    marked = [hypothesis[span.start : span.end] for span in length.find(Texts(segment))]
    assert marked == ([] if expected is None else [expected])
