"""The gold of WMT21 on the raw files written by hand of `tests/data_prep`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks import wmt21
from data_prep.datasets import DATA_SETS, DataSet
from data_prep.store import Store

RAW = Path(__file__).parents[1] / "data_prep" / "raw"
HEAD = "system mqm_avg_score seg_id\n"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    shutil.copytree(RAW, tmp_path, dirs_exist_ok=True)
    # The news file of the ratings counts in documents, those of the scores in the test set.
    scores = "Alpha\t-1.100000 2\nAlpha\t-0.100000 1\nAlpha\tNone 3\nGamma\t-3.000000 1\n"
    humans = "".join(f"ref-{letter}\t-0.000000 1\n" for letter in "ABCD")
    (tmp_path / "mqm/mqm_newstest2021_ende.avg_seg_scores.tsv").write_text(HEAD + scores + humans, encoding="utf-8")
    return Store(tmp_path)


def data_set(name: str) -> DataSet:
    return next(each for each in DATA_SETS if each.name == name)


def test_the_official_score_and_the_standard_reference_are_read(store: Store) -> None:
    of_set = data_set("newstest2021 en-de")
    golds = wmt21.with_scores(of_set, store, wmt21.official_scores(of_set, store))
    read_scores = {
        (rating.segment.key.system, rating.segment.key.index): (rating.overall.value, rating.segment.references)
        for rating in golds.ratings
        if rating.segment.key is not None and rating.overall is not None
    }
    folder = store.root / "wmt/newstest2021/txt/references"
    of_c = (folder / "newstest2021.en-de.ref.C.de").read_text(encoding="utf-8").splitlines()
    assert read_scores["Alpha", 0] == (-0.1, (of_c[0],))
    assert read_scores["Alpha", 1] == (-1.1, (of_c[1],))
    assert {system for system, _ in read_scores} == {"Alpha", "ref-A", "ref-B"}
    assert golds.n_without_text == 1


def test_translations_without_the_standard_reference_are_counted(store: Store) -> None:
    of_set = data_set("ted2021 zh-en")
    path = store.path(of_set.path)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith("refB\ttalk.2\t2")), encoding="utf-8")
    golds = wmt21.with_scores(of_set, store, {("Gamma", 2): -1.0, ("Gamma", 3): -2.0})
    assert [rating.segment.references for rating in golds.ratings] == [("I would like to speak to you about bees.",)]
    assert golds.n_without_reference == 1
