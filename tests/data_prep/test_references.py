from __future__ import annotations

from pathlib import Path

import pytest

from data_prep import references
from data_prep.datasets import DATA_SETS, DataSet, human
from data_prep.references import References
from data_prep.store import Store
from matese.annotation import Rating, Segment, SegmentKey
from matese.preparation import normalise


def data_set(name: str) -> DataSet:
    return next(each for each in DATA_SETS if each.name == name)


def segment(system: str, hypothesis: str, source: str = "s", index: int = 1) -> Segment:
    return Segment(hypothesis, source, key=SegmentKey("t", "en-de", system, "d", index))


@pytest.mark.parametrize(
    ("system", "letter"),
    [
        ("Human-A.0", "A"),
        ("Human-P.0", "P"),
        ("ref-B", "B"),
        ("ref.C", "C"),
        ("ref", "A"),
        ("refB", "B"),
        ("reference", None),
        ("hyp.ref", None),
        ("Online-B.1605", None),
        ("", None),
    ],
)
def test_who_is_human(system: str, letter: str | None) -> None:
    assert human(system) == letter


A = segment("Human-A.0", "a")
B = segment("Human-B.0", "b")
NEMO = segment("Nemo", "n")
TWICE = [segment("Human-A.0", "one", index=1), segment("Human-A.0", "two", index=2)]


@pytest.mark.parametrize(
    ("rated", "asked", "expected"),
    [
        ([NEMO], NEMO, ()),
        ([B, A, NEMO], NEMO, ("a", "b")),  # in the order of their letters
        ([A, B, segment("Human-P.0", "A.")], A, ("b",)),  # never its own reference, nor one that says the same
        ([A, B, segment("Human-P.0", "A.")], B, ("a", "A.")),
        ([A], segment("Nemo", "a"), ("a",)),  # a machine that found the words of a human keeps the reference
        ([A, segment("Human-B.0", "a"), segment("Human-C.0", " ")], NEMO, ("a",)),
        # Of a source that stands twice, each place has its own.
        (TWICE, segment("Nemo", "n", index=1), ("one",)),
        (TWICE, segment("Nemo", "n", index=2), ("two",)),
        (TWICE, segment("Nemo", "n", index=3), ("one",)),
    ],
)
def test_references_among_the_rated(rated: list[Segment], asked: Segment, expected: tuple[str, ...]) -> None:
    ratings = [Rating(one, "r", ()) for one in rated]
    references_found = references.collect(data_set("newstest2020 en-de"), ratings, Store(Path("nowhere")))
    assert references_found.of(asked) == expected
    assert References().of(asked) == ()


def test_files_precede_ratings_and_are_found_by_their_source(raw: Path) -> None:
    rated = segment("ref-A", "Rated, not filed.", "Children ran to the swings.")
    withdrawn = segment("ref-B", "Post-edited.", "Unfiled.", index=9)
    ratings = [Rating(rated, "r", ()), Rating(withdrawn, "r", ())]
    references_found = references.collect(data_set("newstest2021 en-de"), ratings, Store(raw))
    wanted = ("Kinder rannten zu den Schaukeln.", "Die Kinder stürmten auf die Schaukeln zu.")
    assert references_found.of(segment("Nemo", "n", "“Children ran to the swings”")) == wanted
    assert references_found.of(rated) == (wanted[1], wanted[0])  # by C and by D, whose words are those of A
    assert references_found.of(segment("Nemo", "n", "Unfiled.", index=9)) == ()
    russian = references.collect(data_set("newstest2021 en-ru"), [], Store(raw)).from_files
    assert {len(texts) for texts in russian.values()} == {2}
    assert normalise("The mayor opened a new park.") in russian
