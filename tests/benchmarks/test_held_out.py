from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks import held_out
from matese.annotation import ErrorSpan, Omission, Rating, Segment, Severity

RIGHT = Segment("Der alte Hund bellt.", "The old dog barks.", ("Der alte Hund bellt.",))
WRONG = replace(RIGHT, hypothesis="Der Hund bellt.")
MISSING = held_out.Case("missing", "missing", RIGHT, WRONG, missing=(4, 7))


@pytest.mark.parametrize(
    ("omissions", "is_found"),
    [
        ((Omission("source", None, 4, 7, Severity.MAJOR),), True),
        ((Omission("source", None, 8, 11, Severity.MAJOR),), False),
        ((Omission("reference", 0, 9, 13, Severity.MAJOR),), True),
        ((), False),
    ],
)
def test_missing_words_are_found_by_an_omission(omissions: tuple[Omission, ...], *, is_found: bool) -> None:
    wrong = Rating(WRONG, "x", (ErrorSpan(4, 8, Severity.MAJOR),), omissions=omissions)
    judged = held_out.Judged(MISSING, Rating(RIGHT, "x", ()), wrong)
    assert judged.is_found is is_found
    figures = held_out.figures_of([judged])
    assert figures["found"] == is_found
    assert figures["right"] == (float(is_found) if omissions else None)
