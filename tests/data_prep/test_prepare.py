from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from data_prep import __main__ as cli
from data_prep import splits
from matese.annotation import Rating, Severity
from matese.formats.tables import jsonl
from tests.data_prep.conftest import RAW

# As in a list that was drawn: with the talk's English its Chinese, whose reference it is.
HELD_OUT = ("The bridge is closed today.", "I want to tell you about bees.", "我想给大家讲讲蜜蜂。")


@pytest.fixture(scope="module")
def held_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("held_out") / "list.txt"
    path.write_text("".join(f"{splits.fingerprint(text)}\n" for text in HELD_OUT))
    return path


def run(raw: Path, output: Path, *arguments: str) -> int:
    return cli.main(["prepare", "--data", str(raw), "--output", str(output), *arguments])


def read(path: Path) -> list[Rating]:
    return list(jsonl.read(path))


def pick(ratings: Sequence[Rating], test_set: str, lang_pair: str, system: str, index: int | None) -> Rating:
    """Returns the only rating of a segment."""
    found = [
        one
        for one in ratings
        if (key := one.segment.key) is not None
        and (key.test_set, key.lang_pair, key.system, key.index) == (test_set, lang_pair, system, index)
    ]
    assert len(found) == 1, found
    return found[0]


def marks(rating: Rating) -> list[tuple[str, str]]:
    return [
        (rating.segment.hypothesis[error.start : error.end], error.severity.value if error.severity else "")
        for error in rating.errors or ()
    ]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, held_out: Path) -> Path:
    """What the command makes of all raw files; no test changes it."""
    output = tmp_path_factory.mktemp("prepared") / "out"
    assert run(RAW, output, "--held-out", str(held_out)) == 0
    return output


def test_files_that_are_written(prepared: Path, held_out: Path) -> None:
    names = ["dev.jsonl", "held_out_sources.txt", "report.json", "train.jsonl", "wmt22-dev.jsonl", "wmt22-test.jsonl"]
    assert sorted(os.listdir(prepared)) == names
    assert (prepared / "held_out_sources.txt").read_text().split() == sorted(held_out.read_text().split())


def test_no_text_is_on_two_sides(prepared: Path) -> None:
    train, dev = (read(prepared / name) for name in ("train.jsonl", "dev.jsonl"))
    sides = [{splits.normalise(text) for one in part for text in splits.texts_of(one.segment)} for part in (train, dev)]
    assert sides[0].isdisjoint(sides[1])
    # The talk's English is the source of en-de and en-ru and a reference of zh-en.
    pairs = {(one.segment.key.test_set, one.segment.key.lang_pair) for one in dev if one.segment.key}
    assert pairs == {("newstest2020", "en-de"), *(("ted2021", pair) for pair in ("en-de", "en-ru", "zh-en"))}


@pytest.mark.parametrize(
    ("system", "index", "expected", "score"),
    [
        ("Alpha.1", 0, [("schlafen", "major"), ("auf", "minor"), ("Dach", "major")], -4.0),
        ("Alpha.1", 1, [], -5 / 3),
        ("Alpha.1", 2, [("Apfel", "minor")], -2 / 3),
        ("Alpha.1", 3, [("Train", "major"), ("train", "major")], -5.0),
        ("Alpha.1", 4, [("antwortete", "major"), ("das", "minor"), ("Telefon", "minor")], -3.0),
        ("Alpha.1", 5, [], 0.0),
        ("Alpha.1", 6, [("fand", "major")], -2.0),
        ("Human-A.0", 0, [], 0.0),
    ],
    ids=["overlaps", "omission", "quotation marks", "no translation", "repetition", "none", "two of three", "human"],
)
def test_raters_are_cleaned_and_merged(
    prepared: Path, system: str, index: int, expected: list[tuple[str, str]], score: float
) -> None:
    rating = pick(read(prepared / "train.jsonl"), "newstest2020", "en-de", system, index)
    assert marks(rating) == expected
    assert rating.overall is not None
    assert rating.overall.scale == "mqm"
    assert rating.overall.value == pytest.approx(score)


def test_references_and_quotation_marks_of_the_news(prepared: Path) -> None:
    train = read(prepared / "train.jsonl")
    machine = pick(train, "newstest2021", "en-de", "Alpha", 0).segment
    assert [text.split()[-1] for text in machine.references] == ["eröffnet.", "eröffnet.", "ein."]
    human = pick(train, "newstest2021", "en-de", "ref-A", 0).segment
    assert human.references == machine.references[1:]
    cut = next(one for one in train if one.segment.key and one.segment.key.document == "shop-street.5")
    assert cut.segment.source == 'The sign said "open" in red.'
    assert marks(cut) == [("была", "major"), ("открыт", "major")]
    assert len(cut.segment.references) == 2


def test_a_segment_without_references_stays_with_its_source(prepared: Path) -> None:
    rating = pick(read(prepared / "train.jsonl"), "ted2021", "en-ru", "Alpha", 1)
    assert (rating.segment.references, rating.errors) == ((), ())
    assert rating.segment.source == "Bees dance to tell each other the way."
    assert [error.severity for error in rating.unplaced] == [Severity.MINOR]


def test_test_sets_are_written_whole(prepared: Path) -> None:
    dev, test = (read(prepared / f"wmt22-{name}.jsonl") for name in ("dev", "test"))
    assert [one.segment.hypothesis for one in dev] == [
        "Der Laden verkauft Tee.",
        '"Tee" ist alles was er verkauft.',
        "В магазине продают чай.",
    ]
    assert marks(dev[0]) == [("Tee", "minor")]
    assert [len(one.segment.references) for one in test] == [2, 1, 2]


def test_report(prepared: Path) -> None:
    report: dict[str, Any] = json.loads((prepared / "report.json").read_text())
    by_set = {(row["file"], row["test_set"], row["lang_pair"]): row for row in report["files"]}
    assert by_set["train.jsonl", "newstest2020", "en-de"] == {
        "file": "train.jsonl",
        "test_set": "newstest2020",
        "lang_pair": "en-de",
        "segments": 27,
        "with_references": 27,
        "minor": 4,
        "major": 8,
    }
    assert by_set["dev.jsonl", "newstest2020", "en-de"]["segments"] == 3
    faults = {(row["data_set"], row["kind"], row["reason"]): row["count"] for row in report["faults"]}
    assert faults["newstest2020 en-de", "dropped", "error: Accuracy/Omission"] == 2
    assert faults["newstest2020 en-de", "dropped", "rating: Non-translation"] == 1
    assert faults["newstest2020 en-de", "repaired", "Critical counted as Major"] == 1
    assert faults["ted2021 zh-en", "dropped", "error: Source error"] == 1
    assert faults["ted2021 en-ru", "repaired", "span is empty or reversed"] == 1
    assert faults["wmt22-dev en-de", "skipped", "10 fields instead of 9"] == 1
    assert report["settings"] == {"lang_pairs": [], "test_sets": [], "merge": "union", "seed": 0, "splits": None}
    assert report["held_out_texts"] == {"held_out_sources.txt": 3}


def test_the_report_is_shown(raw: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(raw, tmp_path / "out", "--test-sets", "wmt22-dev") == 0
    lines = capsys.readouterr().out.splitlines()
    shown = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines]
    assert ["wmt22-dev.jsonl", "3", "0", "1", "0"] in shown
    assert ["wmt22-dev en-de", "2", "0", "1", "0"] in shown
    assert ["wmt22-dev en-de", "skipped", "10 fields instead of 9", "1"] in shown


def test_the_same_command_writes_the_same(raw: Path, tmp_path: Path, prepared: Path, held_out: Path) -> None:
    again = tmp_path / "again"
    assert run(raw, again, "--held-out", str(held_out)) == 0
    for path in prepared.iterdir():
        assert path.read_bytes() == (again / path.name).read_bytes()


def test_a_part_of_the_data(raw: Path, tmp_path: Path) -> None:
    chosen = ["--test-sets", "newstest2020", "ted2021", "--lang-pairs", "zh-en"]
    assert run(raw, tmp_path / "part", *chosen) == 0
    assert sorted(os.listdir(tmp_path / "part")) == ["dev.jsonl", "held_out_sources.txt", "report.json", "train.jsonl"]
    keys = {one.segment.key for one in read(tmp_path / "part" / "train.jsonl")}
    assert {(key.test_set, key.lang_pair) for key in keys if key} == {("newstest2020", "zh-en"), ("ted2021", "zh-en")}


def test_several_splits_hold_out_alike_whatever_is_written(raw: Path, tmp_path: Path) -> None:
    assert run(raw, tmp_path / "all", "--splits", "3", "--seed", "4") == 0
    assert run(raw, tmp_path / "part", "--splits", "3", "--seed", "4", "--lang-pairs", "en-de") == 0
    lists = [(tmp_path / "all" / f"split-{i}" / "held_out_sources.txt").read_text() for i in (1, 2, 3)]
    assert len(set(lists)) > 1
    for i, text in enumerate(lists, start=1):
        folder = tmp_path / "part" / f"split-{i}"
        assert (folder / "held_out_sources.txt").read_text() == text
        # One of the ten sources of newstest2020 en-de, with its machine and its two human translations.
        assert len(read(folder / "dev.jsonl")) == 3
    assert sorted(os.listdir(tmp_path / "all"))[-2:] == ["wmt22-dev.jsonl", "wmt22-test.jsonl"]


@pytest.mark.parametrize(
    ("merge", "expected"),
    [("majority", [[("Katze schlafen", "minor")], [("schlafen", "major")]]), ("none", None)],
)
def test_merging(raw: Path, tmp_path: Path, merge: str, expected: list[list[tuple[str, str]]] | None) -> None:
    chosen = ["--test-sets", "newstest2020", "--lang-pairs", "en-de", "--merge", merge]
    assert run(raw, tmp_path / "out", *chosen) == 0
    ratings = [one for name in ("train", "dev") for one in read(tmp_path / "out" / f"{name}.jsonl")]
    first = [
        one for one in ratings if one.segment.key and (one.segment.key.system, one.segment.key.index) == ("Alpha.1", 0)
    ]
    if expected is None:
        assert [(one.rater, marks(one)) for one in first] == [
            ("rater1", [("Katze schlafen", "minor")]),
            ("rater2", [("schlafen", "major"), ("auf", "minor")]),
            ("rater3", [("Dach", "major")]),
        ]
        assert len(ratings) == 30 * 3 - 1  # of the 30 segments one rating is of no translation
    else:
        assert [marks(one) for one in first] == [[("schlafen", "major")]]


def test_the_seed_of_one_segment_does_not_depend_on_the_others(raw: Path, tmp_path: Path) -> None:
    chosen = ["--test-sets", "newstest2020", "--lang-pairs", "en-de"]
    cut = tmp_path / "cut"
    lines = (raw / "mqm" / "mqm_newstest2020_ende.tsv").read_text().splitlines(keepends=True)
    (cut / "mqm").mkdir(parents=True)
    (cut / "mqm" / "mqm_newstest2020_ende.tsv").write_text("".join([lines[0], *lines[1:5][::-1], *lines[8:]]))
    assert run(raw, tmp_path / "all", *chosen) == 0
    assert run(cut, tmp_path / "some", *chosen) == 0
    whole, some = (
        {one.segment.key: one.errors for name in ("train", "dev") for one in read(tmp_path / folder / f"{name}.jsonl")}
        for folder in ("all", "some")
    )
    assert len(some) < len(whole)
    assert some.items() <= whole.items()
