"""Text files whose lines differ in number: joined so that line i of each translates line i of the other.

Lines are aligned in order, by length and likeness (`matese.text.alignment`). Where both files have the same number of
documents, separated by blank lines, each document is aligned on its own. A line without a counterpart, which is an
addition or an omission, is joined to its neighbour, so that whoever judges the texts sees it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

from matese.errors import InputError
from matese.text import alignment, sentences
from matese.text.alignment import Bead
from matese.text.ranges import Range

_MOST_PAIRS = 25_000_000
"""Of lines of two documents, each of which takes 8 bytes."""


@dataclass(frozen=True, slots=True)
class LineAlignment:
    """Which lines of two texts are joined, so that both have equally many.

    Attributes:
        beads: the numbers, from 0, of the lines that become one.
        n_added: lines of the first text without a counterpart.
        n_omitted: those of the other text.
    """

    beads: tuple[Bead, ...]
    n_added: int
    n_omitted: int


def table(systems: Mapping[str, Sequence[Bead]]) -> str:
    """Returns alignments as a TSV: the system, and the numbers of the lines, from 1, in both files."""
    rows = [
        f"{name}\t{_numbers(bead.first)}\t{_numbers(bead.other)}\n" for name, beads in systems.items() for bead in beads
    ]
    return "".join(["system\thypothesis\tother\n", *rows])


def shared(systems: Sequence[Sequence[Bead]]) -> list[list[Bead]]:
    """Returns the alignments of several texts with another one, joined so that all cut the other one alike.

    >>> first = [Bead((0, 1), (0, 2)), Bead((1, 2), (2, 3)), Bead((2, 3), (3, 4))]
    >>> other = [Bead((0, 2), (0, 3)), Bead((2, 3), (3, 4))]
    >>> [[bead.first for bead in beads] for beads in shared([first, other])]
    [[(0, 2), (2, 3)], [(0, 2), (2, 3)]]
    """
    ends = set.intersection(*({bead.other[1] for bead in beads} for beads in systems))
    cut = []
    for beads in systems:
        parts: list[list[Bead]] = [[]]
        for bead in beads:
            parts[-1].append(bead)
            if bead.other[1] in ends:
                parts.append([])
        cut.append(
            [
                Bead((part[0].first[0], part[-1].first[1]), (part[0].other[0], part[-1].other[1]))
                for part in parts
                if part
            ]
        )
    return cut


def align(lines: Sequence[str], other_lines: Sequence[str]) -> LineAlignment:
    """Returns which lines of two texts are joined.

    Raises:
        InputError: if a document is too long to be aligned, or a text has no words.
    """
    documents = _documents(lines)
    other_documents = _documents(other_lines)
    if not documents or not other_documents:
        raise InputError("a file of blank lines alone cannot be aligned: must have text")
    if len(documents) != len(other_documents):
        documents = [list(chain(*documents))]
        other_documents = [list(chain(*other_documents))]
    joined: list[Bead] = []
    n_added = n_omitted = 0
    for numbers, other_numbers in zip(documents, other_documents, strict=True):
        beads = _align([lines[number] for number in numbers], [other_lines[number] for number in other_numbers])
        n_added += sum(bead.first[1] - bead.first[0] for bead in beads if bead.other[0] == bead.other[1])
        n_omitted += sum(bead.other[1] - bead.other[0] for bead in beads if bead.first[0] == bead.first[1])
        joined += [
            Bead(_in_file(bead.first, numbers), _in_file(bead.other, other_numbers))
            for bead in _without_strangers(beads)
        ]
    return LineAlignment(tuple(joined), n_added, n_omitted)


def _in_file(lines: Range, numbers: Sequence[int]) -> Range:
    """Returns the lines of the file for some of a document, whose lines have these numbers there."""
    start, end = lines
    return numbers[start], numbers[end - 1] + 1


def _documents(lines: Sequence[str]) -> list[list[int]]:
    """Returns the numbers of the lines of each document; blank lines stand between documents."""
    groups = groupby(range(len(lines)), key=lambda number: bool(lines[number].strip()))
    return [list(numbers) for is_text, numbers in groups if is_text]


def _align(lines: Sequence[str], other_lines: Sequence[str]) -> list[Bead]:
    if len(lines) * len(other_lines) > _MOST_PAIRS:
        problem = f"a document of {len(lines):,} and {len(other_lines):,} lines is too long to be aligned"
        raise InputError(f"{problem}: separate its parts by blank lines in both files")
    lengths, other_lengths = ([sentences.size(line) for line in part] for part in (lines, other_lines))
    return alignment.align(lengths, other_lengths, alignment.likeness_of(lines, other_lines))


def _without_strangers(beads: Sequence[Bead]) -> list[Bead]:
    """Returns beads of which each has lines of both texts: others are joined to the one before, or the next."""
    kept: list[Bead] = []
    for bead in beads:
        if kept and (_is_empty(bead) or _is_empty(kept[-1])):
            last = kept.pop()
            bead = Bead((last.first[0], bead.first[1]), (last.other[0], bead.other[1]))
        kept.append(bead)
    return kept


def _is_empty(bead: Bead) -> bool:
    return any(start == end for start, end in bead)


def _numbers(lines: Range) -> str:
    start, end = lines
    return f"{start + 1}" if end == start + 1 else f"{start + 1}-{end}"
