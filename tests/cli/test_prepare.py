"""`matese prepare`, on a hand-worked example of Perrella et al. 2022, section 2.1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import matese
from tests.cli.conftest import Run

HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
CLEAN = ("No-error", "No-error")
# Number, rater, source, target, category, severity. "<v>" marks the error.
ROWS = [
    # Overlapping in part: the Critical error counts as Major, and the Minor one yields. -1, -5, 0: mean -2.
    (1, "anna", "Two dogs barked.", "Zwei <v>Hunden bell</v>ten laut.", "Fluency/Grammar", "Minor"),
    (1, "ben", "Two dogs barked.", "Zwei Hunden <v>bellten</v> laut.", "Accuracy/Mistranslation", "Critical"),
    (1, "carl", "Two dogs barked.", "Zwei Hunden bellten laut<v>.</v>", "Style/Awkward", "Neutral"),
    # No translation, to one rater: the score alone stays. -25, 0, -1: mean -26/3.
    (2, "anna", "It rains.", "<v>Es regnet.</v>", "Non-translation!", "Major"),
    (2, "ben", "It rains.", "Es regnet.", *CLEAN),
    (2, "carl", "It rains.", "<v>Es</v> regnet.", "Style/Awkward", "Minor"),
    # Errors that are not in the hypothesis count in the score. An omission in the source stays. -5, -1, -1: mean -7/3.
    (3, "anna", "Good <v>very good</v>.", "Gut.", "Accuracy/Omission", "Major"),
    (3, "ben", "Good very good.", "<v>Gut</v>.", "Accuracy/Omission", "Minor"),
    (3, "carl", "Good very good.", "<v>Gut</v>.", "Source error", "Minor"),
    # More than five errors in all, none of which overlaps another. -4, -3, 0: mean -7/3.
    *((4, "anna", "a b c d", target, "Other", "Minor") for target in ("<v>a</v> b c d e f g", "a <v>b</v> c d e f g",
      "a b <v>c</v> d e f g", "a b c <v>d</v> e f g")),
    *((4, "ben", "a b c d", target, "Other", "Minor") for target in ("a b c d <v>e</v> f g", "a b c d e <v>f</v> g",
      "a b c d e f <v>g</v>")),
    (4, "carl", "a b c d", "a b c d e f g", *CLEAN),
]  # fmt: skip


def write(path: Path, rows: list[tuple[int, str, str, str, str, str]] = ROWS) -> None:
    lines = ("\t".join(("A", "d", str(row[0]), *map(str, row))) for row in rows)
    path.write_text(HEADER + "".join(f"{line}\n" for line in lines), encoding="utf-8")


def prepared(folder: Path) -> dict[int, matese.Rating]:
    ratings = [rating for name in ("train", "dev") for rating in matese.read(folder / f"{name}.jsonl")]
    return {(rating.segment.key.index or 0) + 1: rating for rating in ratings if rating.segment.key is not None}


def test_the_example_worked_by_hand(run: Run, folder: Path) -> None:
    write(folder / "raw.tsv")
    made = run("prepare", "raw.tsv", "--lang-pair", "en-de", "--output", "data", "--plot", "figure2.svg")
    assert made.code == 0, made.err
    assert "share of translations" in (folder / "figure2.svg").read_text(encoding="utf-8")
    ratings = prepared(folder / "data")
    marks = {
        number: [(one.segment.hypothesis[span.start : span.end], span.severity.value) for span in one.errors or ()
                 if span.severity is not None]
        for number, one in ratings.items()
    }  # fmt: skip
    assert marks == {
        1: [("bellten", "major")],
        2: [],
        3: [],
        4: [(letter, "minor") for letter in "abcdefg"],
    }
    assert [number for number, one in ratings.items() if one.errors is None] == [2]
    scores = {number: one.overall.value for number, one in ratings.items() if one.overall is not None}
    assert scores == pytest.approx({1: -2, 2: -26 / 3, 3: -7 / 3, 4: -7 / 3})
    assert [(one.start, one.end) for one in ratings[3].omissions] == [(5, 14)]
    report = json.loads((folder / "data" / "report.json").read_text(encoding="utf-8"))
    assert report["left_out"] == {
        "Neutral": 1,
        "Non-translation": 1,
        "Accuracy/Omission": 1,
        "Source error": 1,
        "overlapping another one": 1,
        "in a segment with an error of Non-translation": 1,
    }
    assert report["changed"] == {"Critical counted as Major": 1}
    assert (report["ratings"], report["merged_segments"], report["files"]) == (
        12,
        4,
        {"train.jsonl": 3, "dev.jsonl": 1},
    )
    again = run("prepare", "data/train.jsonl", "data/dev.jsonl", "--output", "again", "--splits", "2")
    assert (
        "nothing to prepare: no segment has several raters, and no error is left out or changed; 4 ratings" in again.err
    )
    assert prepared(folder / "again" / "split-2") == ratings


def test_raters_in_several_files(run: Run, folder: Path) -> None:
    for name in ("anna", "ben", "carl"):
        write(folder / f"{name}.tsv", [row for row in ROWS if row[1] == name])
    write(folder / "raw.tsv")
    assert run("prepare", "anna.tsv", "ben.tsv", "carl.tsv", "--output", "several").code == 0
    assert run("prepare", "raw.tsv", "--output", "one").code == 0
    assert prepared(folder / "several") == prepared(folder / "one")


def test_a_rater_counts_once_in_a_segment(run: Run, folder: Path) -> None:
    for name in ("anna", "copy"):
        write(folder / f"{name}.tsv", [row for row in ROWS if row[1] == "anna"])
    write(folder / "raw.tsv")
    twice = "anna has rated segment 1 of A ('Zwei Hunden bellten laut.') twice; one rating of a rater counts"
    assert f"anna.tsv, copy.tsv: {twice}" in run("prepare", "anna.tsv", "copy.tsv", "--output", "one").refused()
    assert f"raw.tsv, copy.tsv: {twice}" in run("prepare", "raw.tsv", "copy.tsv", "--output", "three").refused()


def test_one_rater_is_said_to_be_alone(run: Run, folder: Path) -> None:
    write(folder / "anna.tsv", [row for row in ROWS if row[1] == "anna"])
    made = run("prepare", "anna.tsv", "--output", "out")
    assert "no segment has several raters" in made.err


def test_several_test_sets_are_named_and_kept_apart(run: Run, folder: Path) -> None:
    write(folder / "raw.tsv")
    header, *lines = (folder / "raw.tsv").read_text(encoding="utf-8").splitlines()
    rows = [f"{line}\twmt{number}\n" for number in (20, 21) for line in lines]
    (folder / "two.tsv").write_text("".join([f"{header}\ttest_set\n", *rows]), encoding="utf-8")
    made = run("prepare", "two.tsv", "--output", "out")
    assert (made.code, "two.tsv: ratings of 2 test sets: wmt20, wmt21" in made.err) == (0, True)
    assert "8 ratings with 16 error spans, 8 segments merged" in made.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("none.tsv", "--output", "out"), "none.tsv: no such file"),
        (("empty.tsv", "--output", "out"), "empty.tsv: file is empty"),
        (("raw.tsv", "--output", "out", "--plot", "figure.xyz"), "plot figure.xyz: must end in .svg, .png or .pdf"),
        (("raw.tsv", "--output", "out", "--plot", "no/figure.svg"), "plot no/figure.svg: no does not exist"),
        (("raw.tsv", "raw.tsv", "--output", "out"), "raw.tsv is given 2 times; give it once"),
        (("scheme.tsv", "--output", "out"), "scheme.tsv:2: every row is skipped: unknown severity 'Severe': must be"),
        (("texts.csv", "--output", "out"), "texts.csv: neither error spans nor scores of raters"),
        (("raw.tsv", "--output", "full"), "--output full: must be a new or empty folder"),
        (("raw.tsv", "--output", "raw.tsv"), "--output raw.tsv: must be a new or empty folder"),
        (("raw.tsv", "--output", "out", "--dev", "0.5", "--test", "0.5"), "must leave sources to train on"),
        (("one.tsv", "--output", "out"), "1 source cannot be split into 2 parts"),
        (("raw.tsv", "--output", "out", "--unit", "nosuch"), "unit 'nosuch' must be word, character or a model"),
    ],
)
def test_bad_input(run: Run, folder: Path, arguments: tuple[str, ...], told: str) -> None:
    write(folder / "raw.tsv")
    write(folder / "one.tsv", ROWS[:1])
    write(folder / "scheme.tsv", [(*row[:5], "Severe") for row in ROWS])
    (folder / "empty.tsv").touch()
    (folder / "texts.csv").write_text("source,hypothesis\na,b\nc,d\n", encoding="utf-8")
    (folder / "full").mkdir()
    (folder / "full" / "file").touch()
    before = sorted(path.name for path in folder.rglob("*"))
    assert told in run("prepare", *arguments, "--quiet").refused()
    assert sorted(path.name for path in folder.rglob("*")) == before
