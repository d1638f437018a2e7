from __future__ import annotations

from pathlib import Path

import pytest

from data_prep import assembly
from data_prep.datasets import DATA_SETS
from data_prep.report import Tally
from data_prep.store import Store
from matese.annotation import Rating

DATA_SET = next(one for one in DATA_SETS if one.name == "ted2021 en-de")
HEADER = ["system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity"]
N_SYSTEMS = 30


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """One segment by many systems, in each of which two raters mark overlapping parts with one severity."""
    rows = [
        (f"System{number}", "d", "1", "1", rater, "Source.", target, "Other", "Minor")
        for number in range(N_SYSTEMS)
        for rater, target in (("r1", "<v>Ein Satz</v> hier."), ("r2", "Ein <v>Satz hier</v>."))
    ]
    path = tmp_path / DATA_SET.path
    path.parent.mkdir()
    path.write_text("".join("\t".join(row) + "\n" for row in (HEADER, *rows)))
    return Store(tmp_path)


def load(store: Store, *, seed: int = 0) -> tuple[Rating, ...]:
    return assembly.load(DATA_SET, store, merge="union", seed=seed, tally=Tally())


def test_each_segment_has_its_own_choice_which_follows_from_the_seed(store: Store) -> None:
    ratings = load(store)
    assert ratings == load(store)
    assert ratings != load(store, seed=1)
    places_of_ratings = [[(error.start, error.end) for error in rating.errors or ()] for rating in ratings]
    assert len(places_of_ratings) == N_SYSTEMS
    assert {tuple(places) for places in places_of_ratings} == {((0, 8),), ((4, 13),)}


def test_one_place_with_two_sources_is_two_segments(store: Store) -> None:
    path = store.root / DATA_SET.path
    path.write_text(path.read_text().replace("\tr2\tSource.", "\tr2\tAnother."))
    ratings = load(store)
    assert len(ratings) == 2 * N_SYSTEMS
    assert {rating.rater for rating in ratings} == {"r1", "r2"}
