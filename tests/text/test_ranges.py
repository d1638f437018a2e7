from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese.text.ranges import Utf16Text


@given(st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("a😀👩\u200d"))))
def test_offsets_are_those_of_utf_16_and_come_back(text: str) -> None:
    units = Utf16Text(text)
    for place in range(len(text) + 1):
        assert units.to_unit(place) == len(text[:place].encode("utf-16-le")) // 2
        assert units.to_place(units.to_unit(place)) == place
    assert units.n_units == units.to_unit(len(text))


@pytest.mark.parametrize(
    ("text", "unit", "problem"),
    [
        ("", 1, "offset 1"),
        ("ab", -1, "offset -1"),
        ("a😀", 4, "offset 4"),
        ("a😀", 2, "offset 2 is in the middle of a surrogate pair"),
    ],
)
def test_offsets_that_are_none(text: str, unit: int, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Utf16Text(text).to_place(unit)
