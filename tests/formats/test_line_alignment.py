"""Texts whose lines differ in number are joined in order; lines without a counterpart are counted, and not lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese.errors import InputError
from matese.formats import line_alignment

SOURCE = [
    "The house at 12 Main Street is old.",
    "It was built in 1890 by Anna Miller.",
    "Nobody has lived there since the fire of 1963.",
    "The town wants to sell it.",
]


def test_one_line_of_two_sentences() -> None:
    lines = [SOURCE[0], f"{SOURCE[1]} {SOURCE[2]}", SOURCE[3]]
    joined = line_alignment.join(lines, SOURCE)
    assert joined.hypotheses == tuple(lines)
    assert joined.others == tuple(lines)
    assert (joined.n_added, joined.n_omitted) == (0, 0)
    assert line_alignment.table({"a": joined.beads}) == "system\thypothesis\tother\na\t1\t1\na\t2\t2-3\na\t3\t4\n"


def test_what_has_no_counterpart_stays_beside_its_neighbour_and_is_counted() -> None:
    missing = line_alignment.join([SOURCE[0], SOURCE[3]], [SOURCE[0], SOURCE[2], SOURCE[3]])
    assert (missing.n_added, missing.n_omitted) == (0, 1)
    assert " ".join(missing.others) == " ".join([SOURCE[0], SOURCE[2], SOURCE[3]])
    added = line_alignment.join([SOURCE[2], SOURCE[0]], [SOURCE[0]])
    assert (added.n_added, added.hypotheses, added.others) == (1, (f"{SOURCE[2]} {SOURCE[0]}",), (SOURCE[0],))


def test_documents_are_aligned_on_their_own() -> None:
    """The last document has no end; a sentence never goes to another document, however like it is."""
    first = [SOURCE[0], "", SOURCE[0], SOURCE[1]]
    other = [f"{SOURCE[0]}", "", "", f"{SOURCE[0]} {SOURCE[1]}"]
    joined = line_alignment.join(first, other)
    assert line_alignment.table({"a": joined.beads}) == "system\thypothesis\tother\na\t1\t1\na\t3-4\t4\n"


@pytest.mark.parametrize(("lines", "others"), [([], ["a"]), (["a"], [" ", ""]), (["a"] * 6000, ["a"] * 5999)])
def test_texts_that_cannot_be_aligned(lines: list[str], others: list[str]) -> None:
    with pytest.raises(InputError):
        line_alignment.join(lines, others)


@given(*[st.lists(st.sampled_from([*SOURCE, "Ja.", "👍"]), min_size=1, max_size=6)] * 2)
def test_nothing_is_lost(lines: list[str], others: list[str]) -> None:
    joined = line_alignment.join(lines, others)
    assert " ".join(joined.hypotheses) == " ".join(lines)
    assert " ".join(joined.others) == " ".join(others)
    assert len(joined.hypotheses) == len(joined.others) == len(joined.beads)
