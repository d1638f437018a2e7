from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from data_prep import references
from data_prep.datasets import DATA_SETS, DataSet, human
from data_prep.references import References
from data_prep.splits import normalise
from data_prep.store import Store
from matese.annotation import Rating, Segment, SegmentKey


def data_set(name: str) -> DataSet:
    return next(one for one in DATA_SETS if one.name == name)


def segment(system: str, hypothesis: str, source: str, index: int = 1) -> Segment:
    return Segment(hypothesis, source, key=SegmentKey("t", "en-de", system, "d", index))


def collect(*segments: Segment) -> References:
    no_files = data_set("newstest2020 en-de")
    return references.collect(no_files, [Rating(one, "r", ()) for one in segments], Store(Path("nowhere")))


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


def test_several_are_kept_in_the_order_of_their_letters() -> None:
    found = collect(segment("Human-B.0", "b", "s"), segment("Human-A.0", "a", "s"), segment("Nemo", "n", "s"))
    assert found.of(segment("Nemo", "n", "s")) == ("a", "b")


def test_a_human_translation_is_never_its_own_reference() -> None:
    found = collect(segment("Human-A.0", "a", "s"), segment("Human-B.0", "b", "s"), segment("Human-P.0", "A.", "s"))
    assert found.of(segment("Human-A.0", "a", "s")) == ("b",)
    assert found.of(segment("Human-B.0", "b", "s")) == ("a", "A.")


def test_a_machine_that_found_the_words_of_a_human_keeps_the_reference() -> None:
    assert collect(segment("Human-A.0", "a", "s")).of(segment("Nemo", "a", "s")) == ("a",)


def test_equal_and_blank_ones_count_once_and_not_at_all() -> None:
    found = collect(segment("Human-A.0", "a", "s"), segment("Human-B.0", "a", "s"), segment("Human-C.0", " ", "s"))
    assert found.of(segment("Nemo", "n", "s")) == ("a",)


def test_of_a_source_that_stands_twice_each_place_has_its_own() -> None:
    found = collect(segment("Human-A.0", "one", "s", 1), segment("Human-A.0", "two", "s", 2))
    assert [found.of(segment("Nemo", "n", "s", index)) for index in (1, 2, 3)] == [("one",), ("two",), ("one",)]


def test_none_without_humans() -> None:
    assert collect(segment("Nemo", "n", "s")).of(segment("Nemo", "n", "s")) == ()
    assert References().of(Segment("n")) == ()


def test_files_precede_ratings_and_are_found_by_their_source(raw: Path) -> None:
    rated = segment("ref-A", "Rated, not filed.", "Children ran to the swings.")
    found = references.collect(data_set("newstest2021 en-de"), [Rating(rated, "r", ())], Store(raw))
    wanted = ("Kinder rannten zu den Schaukeln.", "Die Kinder stürmten auf die Schaukeln zu.")
    assert found.of(segment("Nemo", "n", "“Children ran to the swings”")) == wanted
    assert found.of(rated) == (wanted[1], wanted[0])  # by C and by D, whose words are those of A


def test_a_withdrawn_reference_is_none(raw: Path) -> None:
    rated = segment("ref-B", "Post-edited.", "Unfiled.")
    assert (
        references.collect(data_set("newstest2021 en-de"), [Rating(rated, "r", ())], Store(raw)).of(
            segment("Nemo", "n", "Unfiled.")
        )
        == ()
    )


def test_files_of_different_length(raw: Path, tmp_path: Path) -> None:
    shutil.copytree(raw / "wmt", tmp_path / "wmt")
    path = tmp_path / "wmt/newstest2021/txt/references/newstest2021.en-de.ref.C.de"
    path.write_text("one\n")
    with pytest.raises(ValueError, match=r"ref.C.de has 1 lines and .*src.en 2; both need one line per segment"):
        references.collect(data_set("newstest2021 en-de"), [], Store(tmp_path))


def test_every_source_of_the_files_has_all_their_references(raw: Path) -> None:
    one = data_set("newstest2021 en-ru")
    assert one.references is not None
    found = references.collect(one, [], Store(raw)).from_files
    assert {len(texts) for texts in found.values()} == {2}
    assert normalise("The mayor opened a new park.") in found
