"""Texts whose lines differ in number are joined in order; lines without a counterpart are counted, and not lost."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese.errors import InputError
from matese.formats import line_alignment
from matese.text.alignment import Bead

SOURCE = [
    "The house at 12 Main Street is old.",
    "It was built in 1890 by Anna Miller.",
    "Nobody has lived there since the fire of 1963.",
    "The town wants to sell it.",
]


def joined(beads: Sequence[Bead], lines: Sequence[str], other_lines: Sequence[str]) -> list[tuple[str, str]]:
    return [(" ".join(lines[slice(*bead.first)]), " ".join(other_lines[slice(*bead.other)])) for bead in beads]


def test_one_line_of_two_sentences() -> None:
    lines = [SOURCE[0], f"{SOURCE[1]} {SOURCE[2]}", SOURCE[3]]
    alignment = line_alignment.align(lines, SOURCE)
    assert joined(alignment.beads, lines, SOURCE) == [(line, line) for line in lines]
    assert (alignment.n_added, alignment.n_omitted) == (0, 0)
    assert line_alignment.table({"a": alignment.beads}) == "system\thypothesis\tother\na\t1\t1\na\t2\t2-3\na\t3\t4\n"


def test_what_has_no_counterpart_stays_beside_its_neighbour_and_is_counted() -> None:
    missing = line_alignment.align([SOURCE[0], SOURCE[3]], [SOURCE[0], SOURCE[2], SOURCE[3]])
    assert (missing.n_added, missing.n_omitted) == (0, 1)
    assert [number for bead in missing.beads for number in range(*bead.other)] == [0, 1, 2]
    added = line_alignment.align([SOURCE[2], SOURCE[0]], [SOURCE[0]])
    assert (added.n_added, added.beads) == (1, (Bead((0, 2), (0, 1)),))


def test_documents_are_aligned_on_their_own() -> None:
    """The last document has no end; a sentence never goes to another document, however like it is."""
    lines = [SOURCE[0], "", SOURCE[0], SOURCE[1]]
    other_lines = [f"{SOURCE[0]}", "", "", f"{SOURCE[0]} {SOURCE[1]}"]
    alignment = line_alignment.align(lines, other_lines)
    assert line_alignment.table({"a": alignment.beads}) == "system\thypothesis\tother\na\t1\t1\na\t3-4\t4\n"


@pytest.mark.parametrize(("lines", "other_lines"), [([], ["a"]), (["a"], [" ", ""]), (["a"] * 6000, ["a"] * 5999)])
def test_texts_that_cannot_be_aligned(lines: list[str], other_lines: list[str]) -> None:
    with pytest.raises(InputError):
        line_alignment.align(lines, other_lines)


@given(*[st.lists(st.sampled_from([*SOURCE, "Ja.", "👍"]), min_size=1, max_size=6)] * 2)
def test_nothing_is_lost(lines: list[str], other_lines: list[str]) -> None:
    beads = line_alignment.align(lines, other_lines).beads
    hypotheses, others = zip(*joined(beads, lines, other_lines), strict=True)
    assert " ".join(hypotheses) == " ".join(lines)
    assert " ".join(others) == " ".join(other_lines)
