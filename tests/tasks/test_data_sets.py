"""Data sets of Hugging Face in place of files of ratings, from Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import datasets
import pytest

import matese
from matese import ErrorSpan, InputError, Rating, Segment, SegmentKey, Severity
from matese.formats.tables import frames, jsonl
from matese.tasks.rated import N_KEPT
from matese.tasks.train import Request
from matese.training import reading
from matese.training.config import DataConfig

RATINGS = [
    Rating(
        Segment("Das Haus", f"the house {number}", (), SegmentKey(lang_pair="en-de", index=number)),
        rater,
        (ErrorSpan(0, 3, Severity.MINOR),),
    )
    for number in range(10)
    for rater in ("anna", "ben")
]
DATA_SET = frames.to_dataset(RATINGS)
ONE_RATER = frames.to_dataset(RATINGS[::2])


@pytest.mark.parametrize(
    "data", [DATA_SET, datasets.DatasetDict(train=ONE_RATER, test=frames.to_dataset(RATINGS[1::2]))]
)
def test_a_data_set_is_prepared(data: object, tmp_path: Path) -> None:
    report = matese.prepare(data, output=str(tmp_path / "out"))
    assert {name: len(part) for name, part in report.files.items()} == {"train.jsonl": 9, "dev.jsonl": 1}
    assert report.prepared.n_merged == 10


def test_a_data_set_is_evaluated() -> None:
    assert matese.evaluate(ONE_RATER, RATINGS[::2]).figures["hsh"].value == 1


def test_a_data_set_becomes_a_file_to_train_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    split = datasets.DatasetDict(train=ONE_RATER, test=DATA_SET)
    request = Request(ratings=split, dev=RATINGS[:1], config="a.yaml")
    (path,) = cast("Sequence[str]", request.ratings)
    assert list(jsonl.read(path)) == RATINGS[::2]
    assert request.dev is not None
    assert list(jsonl.read(cast("Sequence[str]", request.dev)[0])) == RATINGS[:1]
    assert Request(ratings=["a.tsv", "b.tsv"], config="a.yaml").ratings == ("a.tsv", "b.tsv")


def test_the_newest_ratings_to_train_on_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    requests = [Request(ratings=[rating], config="a.yaml") for rating in RATINGS]
    paths = [Path(cast("Sequence[str]", request.ratings)[0]) for request in requests]
    assert len(paths) > N_KEPT
    assert [path.exists() for path in paths] == [False] * (len(paths) - N_KEPT) + [True] * N_KEPT


def test_ratings_to_train_on_are_called_ratings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    segment = replace(RATINGS[0].segment, key=SegmentKey(system="A", index=0))
    request = Request(ratings=[replace(RATINGS[0], segment=segment)] * 2, config="a.yaml")
    data = DataConfig(train=cast("tuple[str]", request.ratings))
    with pytest.raises(InputError, match=r"^ratings: anna has rated segment 1 .* twice"):
        list(reading.read(data.files, data))


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A data set of two splits in the layout of the hub, in the current directory, where `datasets` looks first."""
    folder = tmp_path / "org" / "name"
    folder.mkdir(parents=True)
    for name, ratings in (("train", RATINGS[::2]), ("test", RATINGS[1::2])):
        (folder / f"{name}.jsonl").write_text(
            "".join(f"{jsonl.dumps(rating)}\n" for rating in ratings), encoding="utf-8"
        )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "ours"))
    return "hf://datasets/org/name"


def test_the_name_of_a_data_set_on_the_hub(address: str) -> None:
    (path,) = cast("Sequence[str]", Request(ratings=address, config="a.yaml").ratings)
    assert list(jsonl.read(path)) == RATINGS[::2]
    assert matese.prepare(address, output="out").prepared.n_merged == 10
    evaluated = matese.evaluate(address, RATINGS[::2], raters=matese.Raters(rater="ben"))
    assert evaluated.figures["hsh"].value == 1


def test_a_data_set_to_train_on_has_a_split_for_it() -> None:
    with pytest.raises(InputError, match="data set with the splits validation, test: must have train"):
        Request(ratings=datasets.DatasetDict(validation=ONE_RATER, test=ONE_RATER), config="a.yaml")


def test_a_data_set_that_the_hub_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> object:
        raise ConnectionError(f"no {name}\nand more")

    monkeypatch.setattr(datasets, "load_dataset", load)
    with pytest.raises(InputError, match=r"hf://datasets/x/y: cannot be loaded \(no x/y\); must be"):
        matese.evaluate("hf://datasets/x/y", ONE_RATER)
