from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from matese.annotation import ErrorFree, ErrorSpan, Estimate, Rating, Segment, SegmentKey, TokenScores
from matese.formats.tables import jsonl
from tests.cli.conftest import Run, write
from tests.evaluation.material import major, minor

FIGURES = {"em", "mp", "mpp", "char_wmt23", "char_wmt25", "soft", "hsh", "tsh", "exact", "tags", "score"}
KEYS = FIGURES | {"gold", "predicted", "raters", "settings", "segments", "spans"}
SENTENCES = ("Das Haus am See ist alt.", "Es regnet, und wir gehen.", "", "Der Hund schläft 你好!")
GOLD: tuple[list[ErrorSpan], ...] = (
    [major(4, 8), minor(12, 15)],
    [minor(0, 2)],
    [],
    [major(9, 16, "Accuracy/Mistranslation")],
)
PREDICTED: tuple[list[ErrorSpan], ...] = (
    [minor(4, 8, None, 0.9)],
    [],
    [],
    [major(9, 13, None, 0.6), minor(17, 18, None, 0.4)],
)


def ratings(marks: Any, rater: str = "r", texts: tuple[str, ...] = SENTENCES) -> list[Rating]:
    return [
        Rating(
            Segment(text, key=SegmentKey("t", "en-de" if i < 2 else "en-zh", f"S{i % 2}", None, i)),
            rater,
            tuple(errors),
        )
        for i, (text, errors) in enumerate(zip(texts, marks, strict=True))
    ]


def put(path: Path, given: list[Rating], tokens: list[TokenScores] | None = None) -> None:
    lines = [jsonl.dumps(one, tokens=None if tokens is None else tokens[i]) for i, one in enumerate(given)]
    write(path, *lines)


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    put(folder / "gold.jsonl", ratings(GOLD))
    put(folder / "pred.jsonl", ratings(PREDICTED, "m"))


def whole(run: Run, *arguments: str) -> dict[str, Any]:
    ran = run("evaluate", *arguments, "--json", "-")
    assert ran.code == 0, ran.err
    found: dict[str, Any] = json.loads(ran.out)
    return found


def leaves(tree: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        yield from leaves(value, f"{name}{key}.") if isinstance(value, dict) else [(f"{name}{key}", value)]


def test_table_and_file(run: Run, folder: Path) -> None:
    ran = run("evaluate", "gold.jsonl", "pred.jsonl", "--all", "--json", "figures.json")
    assert ran.code == 0
    found = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    assert set(found) == KEYS | {"calibration"}
    lines = {line.split()[0]: line.split()[1:] for line in ran.out.splitlines() if line.strip()}
    assert lines["mpp.micro"] == [f"{found['mpp']['micro'][rate]:.4f}" for rate in ("precision", "recall", "f1")]
    assert lines["hsh"] == [f"{found['hsh']:.4f}"]
    assert ran.out.startswith("4 segments, 4 gold spans in gold.jsonl, 3 predicted in pred.jsonl; tags by word\n")
    assert found["tags"]["confusion"]["tags"] == ["O", "B-Minor", "I-Minor", "B-Major", "I-Major"]
    assert sum(map(sum, found["tags"]["confusion"]["gold_by_predicted"])) == 6 + 7 + 0 + 6 + 1
    assert [one["n"] for one in found["calibration"]["bins"]] == [0, 0, 0, 1, 0, 1, 0, 0, 1, 0]


def test_the_first_figures_are_sentences(run: Run, folder: Path) -> None:
    def lines() -> list[list[str]]:
        ran = run("evaluate", "gold.jsonl", "pred.jsonl")
        assert ran.code == 0, ran.err
        heading, *sentences = ran.out.partition("\n\n")[0].splitlines()
        assert heading.startswith("4 segments")
        return [re.findall(r"\d+", sentence) for sentence in sentences]

    assert lines() == [["4", "2", "50"], ["3", "2", "67"]]  # marked, of these hit, in per cent; of both sides
    put(folder / "pred.jsonl", ratings(([], [], [], []), "m"))
    assert lines() == [["4", "0", "0"]]
    labels = (True, True, True, False)
    put(
        folder / "pred.jsonl",
        [replace(one, error_free=ErrorFree(label, 0.5)) for one, label in zip(ratings(PREDICTED), labels, strict=True)],
    )
    assert lines()[2:] == [["33", "100"]]  # precision and recall
    put(folder / "gold.jsonl", ratings(([], [], [], [])))
    assert lines() == [["3", "0", "0"], ["100", "75"]]
    put(folder / "gold.jsonl", ratings([[minor(0, 1)] if text else [] for text in SENTENCES]))
    put(folder / "pred.jsonl", ratings(([], [], [], []), "m"))
    assert lines() == [["3", "0", "0"]]


def test_units(run: Run) -> None:
    found = {unit: whole(run, "gold.jsonl", "pred.jsonl", "--unit", unit) for unit in ("word", "character", "{tiny}")}
    counts = {unit: sum(map(sum, one["tags"]["confusion"]["gold_by_predicted"])) for unit, one in found.items()}
    assert counts["word"] < counts["{tiny}"] <= counts["character"] == sum(map(len, SENTENCES))
    for unit, one in found.items():
        assert one["mpp"] == found["word"]["mpp"], "spans do not depend on the unit"
        assert one["settings"]["unit"].endswith(unit if unit != "{tiny}" else "tiny")
    assert run("evaluate", "gold.jsonl", "pred.jsonl", "--unit", "{tiny}").err == "", "other libraries are quiet"


def test_intervals_stand_beside_the_figures(run: Run) -> None:
    plain = dict(leaves(whole(run, "gold.jsonl", "pred.jsonl")))
    found = dict(leaves(whole(run, "gold.jsonl", "pred.jsonl", "--bootstrap", "50")))
    low, high = found["mpp.micro.f1_interval"]
    assert low <= plain["mpp.micro.f1"] <= high
    extra = {name.removesuffix("_interval") for name in set(found) - set(plain)}
    without = {"tags.confusion.tags", "tags.confusion.gold_by_predicted", "calibration.bins"}
    assert extra == {name for name in plain if name.partition(".")[0] in FIGURES | {"calibration"}} - without
    assert "95% interval" in run("evaluate", "gold.jsonl", "pred.jsonl", "--bootstrap", "5").out


def test_groups(run: Run) -> None:
    names = ("severity", "category", "lang-pair", "system", "length")
    found = whole(run, "gold.jsonl", "pred.jsonl", "--by", *names)["by"]
    assert {name: list(groups) for name, groups in found.items()} == {
        "severity": ["minor", "major"],
        "category": ["none", "Accuracy/Mistranslation"],
        "lang-pair": ["en-de", "en-zh"],
        "system": ["S0", "S1"],
        "length": ["0-9"],
    }
    assert found["severity"]["major"]["spans"] == {"gold": 2, "predicted": 1}
    ran = run("evaluate", "gold.jsonl", "pred.jsonl", "--by", "severity", "category")
    rows = [line.split()[:4] for line in ran.out.splitlines()]
    assert ["major", "4", "2", "1"] in rows
    assert ["Accuracy/Mistranslation", "4", "1", "0"] in rows


def test_another_prediction(run: Run, folder: Path) -> None:
    put(folder / "old.jsonl", ratings(([], [], [], []), "old"))
    found = whole(run, "gold.jsonl", "pred.jsonl", "--versus", "old.jsonl", "--bootstrap", "20")
    assert found["versus"]["predicted"] == "old.jsonl"
    ours, theirs = (one["mpp"]["micro"]["f1"] for one in (found, found["versus"]))
    difference = found["difference"]["mpp"]["micro"]["f1"]
    assert difference["difference"] == pytest.approx(ours - theirs)
    assert set(difference) == {"difference", "interval", "p"}
    compared = ("evaluate", "gold.jsonl", "pred.jsonl", "--versus", "old.jsonl")
    assert "minus old.jsonl" in run(*compared, "--all").out
    sentence = "pred.jsonl is better than old.jsonl in F1 of spans with partial credit (mpp.micro.f1): +"
    *_, plain = run(*compared).out.partition("\n\n")[0].splitlines()
    assert plain.startswith(sentence)
    assert plain.endswith("; --bootstrap 1000 tests whether that is chance.")
    *_, tested = run(*compared, "--bootstrap", "20").out.partition("\n\n")[0].splitlines()
    assert re.fullmatch(
        rf"{re.escape(sentence)}0\.\d+ \(95 % \S+ to \S+, p \S+: (not )?significantly different\)\.", tested
    )


@pytest.mark.parametrize(
    ("look", "begin", "row"),
    [
        ((), "pred.jsonl", r"tsh: gold spans that are found, at least in part +0\.5000"),
        (("--markdown",), "|  | pred.jsonl |", r"\| tsh: gold spans that are found, at least in part \| 0\.5000 \|"),
        (("--latex",), "& pred.jsonl \\\\", r"tsh: gold spans that are found, at least in part & 0\.5000 \\\\"),
    ],
)
def test_the_main_figures_fit_a_screen_in_three_looks(run: Run, look: tuple[str, ...], begin: str, row: str) -> None:
    lines = run("evaluate", "gold.jsonl", "pred.jsonl", *look).out.splitlines()
    assert any(line.lstrip() == begin for line in lines)
    assert any(re.fullmatch(row, line) for line in lines)
    assert len(lines) < 25
    assert run("evaluate", "gold.jsonl", "pred.jsonl", "--markdown", "--latex").refused().startswith("--markdown and")


def test_sentinels(run: Run) -> None:
    found = whole(run, "gold.jsonl", "pred.jsonl", "--sentinels")["sentinels"]
    assert list(found) == ["all", "none", "random", "extended", "dropped"]
    assert set(found["none"]) == FIGURES - {"score"}
    assert found["none"]["mpp"]["micro"]["recall"] == 0
    assert "sentinel" in run("evaluate", "gold.jsonl", "pred.jsonl", "--sentinels").out


def test_raters_are_the_ceiling(run: Run, folder: Path) -> None:
    others = ratings(GOLD, "s")
    put(folder / "two.jsonl", [*ratings(GOLD), *others[:3]])
    ceiling = whole(run, "two.jsonl", "pred.jsonl", "--merge", "union", "--bootstrap", "5")["ceiling"]
    assert (set(ceiling), ceiling["ratings"]) == (FIGURES | {"ratings"}, 6)
    # The third rater marks nothing: of the six comparisons with spans in gold, two hit nothing.
    put(folder / "three.jsonl", [*ratings(GOLD)[:1], *others[:1], *ratings(([],), "t", SENTENCES[:1])])
    put(folder / "one.jsonl", ratings(PREDICTED[:1], "m", SENTENCES[:1]))
    shown = run("evaluate", "three.jsonl", "one.jsonl", "--merge", "union", "--all").out
    assert "raters: each of 3 ratings against the other raters of its segment, merged" in shown
    (tsh,) = (line.split() for line in shown.splitlines() if line.startswith("tsh "))
    assert (len(tsh), tsh[2]) == (3, "0.6667"), "the model's figure, and that of the raters"
    assert "ceiling" not in whole(run, "gold.jsonl", "pred.jsonl", "--merge", "union")
    assert "ceiling" not in whole(run, "two.jsonl", "pred.jsonl", "--rater", "r")


def test_omissions_from_references_are_compared_once_gold_has_its_references(run: Run, folder: Path) -> None:
    write(folder / "refs.txt", *SENTENCES)
    (folder / "one.txt").write_text("only\n", encoding="utf-8")
    assert run("evaluate", "gold.jsonl", "pred.jsonl", "--ref", "refs.txt", "--json", "-").code == 0
    joined = run("evaluate", "gold.jsonl", "pred.jsonl", "--ref", "one.txt")
    assert "3 of 4 segments have no reference" in joined.err
    refused = run("evaluate", "gold.jsonl", "pred.jsonl", "--texts-of", "nowhere", "--ref", "refs.txt")
    assert refused.code == 2


def test_what_is_undefined_is_told(run: Run, folder: Path) -> None:
    put(folder / "pred.jsonl", ratings(([], [], [], []), "m"))
    # Of the figures that are shown.
    short = run("evaluate", "gold.jsonl", "pred.jsonl").err.splitlines()
    assert [line.partition(": ")[2].rpartition(": ")[0] for line in short] == [
        "undefined: hsh",
        "undefined: score.pearson",
    ]
    ran = run("evaluate", "gold.jsonl", "pred.jsonl", "--all", "--json", "figures.json")
    assert "matese: undefined: score.pearson, score.spearman, score.kendall: one of the two scores is the" in ran.err
    assert "hsh, tags.hsh: no span is predicted" in ran.err
    assert "NaN" not in (folder / "figures.json").read_text()
    assert json.loads((folder / "figures.json").read_text())["hsh"] is None


def test_token_scores(run: Run, folder: Path) -> None:
    def scores(text: str) -> TokenScores:
        return TokenScores(
            tuple((i, i + 1) for i in range(len(text))),
            tuple((1 - i / 99, i / 99, 0.0, 0.0, 0.0) for i in range(len(text))),
        )

    put(folder / "pred.jsonl", ratings(PREDICTED, "m"), [scores(text) for text in SENTENCES])
    found = whole(run, "gold.jsonl", "pred.jsonl")["localisation"]
    # Later characters score higher. Bad are 4..8 and 12..15 of 24, 0..2 of 25, and 9..16 of 20; the third is blank.
    assert found["recall_at_k"] == pytest.approx((0 + 0 + 3 / 7) / 3)
    reordered = list(zip(ratings(PREDICTED, "m"), map(scores, SENTENCES), strict=True))[::-1]
    put(folder / "pred.jsonl", [one for one, _ in reordered], [tokens for _, tokens in reordered])
    assert whole(run, "gold.jsonl", "pred.jsonl")["localisation"] == found


def test_a_pipe_is_read_once(run: Run, folder: Path) -> None:
    plain = whole(run, "gold.jsonl", "pred.jsonl")["mpp"]
    os.mkfifo(folder / "pipe")
    writer = threading.Thread(target=lambda: (folder / "pipe").write_bytes((folder / "pred.jsonl").read_bytes()))
    writer.start()
    assert whole(run, "gold.jsonl", "pipe")["mpp"] == plain
    writer.join()


def test_other_formats_and_their_faults(run: Run, folder: Path) -> None:
    write(
        folder / "gold.tsv",
        "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity",
        "A\td\t1\t1\tr1\ts\tDas <v>Haus</v>\tStyle\tMinor",
        "A\td\t1\t1\tr2\ts\tDas Haus\tno-error\tno-error",
        "A\td\t1\t2\tr1\ts\tEin <v>Hund\tStyle\tMajor",
        "A\td\t1\t2\tr2\ts\tEin Hund\tno-error\tno-error",
    )
    write(
        folder / "pred.tsv",
        "mt_system\tdoc_id\tseg_id\tannotator_id\tsource\ttarget\tstart_ids\tend_ids\terrors",
        "A\td\t1\tm\ts\tDas Haus\t4\t8\tminor",
        "A\td\t2\tm\ts\tEin Hund\t-1\t-1\tno-error",
    )
    several = run("evaluate", "gold.tsv", "pred.tsv")
    assert "gold.tsv has several raters of a segment (r1 and r2): must be one; choose a rater (--rater)" in several.err
    ran = run("evaluate", "gold.tsv", "pred.tsv", "--rater", "r1", "--lang-pair", "en-de", "--json", "-")
    assert ran.err.splitlines()[0] == "matese: gold.tsv: 1 row repaired: unbalanced tags (line 4)"
    assert json.loads(ran.out)["mpp"]["micro"]["f1"] == 1.0
    merged = whole(run, "gold.tsv", "pred.tsv", "--merge", "majority")
    assert merged["spans"]["gold"] == 0
    unknown = run("evaluate", "gold.tsv", "pred.tsv", "--rater", "r9")
    assert "gold.tsv: no rating of rater 'r9' (--rater): must be r1 or r2" in unknown.err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("gold.jsonl",), "the following arguments are required: PRED"),
        (("gold.jsonl", "none.jsonl"), "none.jsonl: no such file or directory"),
        (("-", "-"), "- is given 2 times"),
        (("gold.jsonl", "mt.txt"), "mt.txt: a text file"),
        (("gold.jsonl", "empty"), "empty: file is empty"),
        (("gold.jsonl", "pred.jsonl", "--by", "sevrity"), "--by: unknown group 'sevrity', did you mean 'severity'"),
        (("gold.jsonl", "pred.jsonl", "--unit", "tokens"), "unit 'tokens'"),
        (("gold.jsonl", "pred.jsonl", "--bootstrap", "-1"), "--bootstrap: '-1'"),
        (("gold.jsonl", "pred.jsonl", "--json", "pred.jsonl"), "--json pred.jsonl is the input pred.jsonl"),
        (("gold.jsonl", "pred.jsonl", "--json", "no/f"), "--json no/f"),
        (("gold.jsonl", "short.jsonl"), "gold.jsonl has 4 ratings and short.jsonl 3"),
        (("gold.jsonl", "other.jsonl"), "rating 2 is of different segments: hypothesis from character 9 is ', und wir"),
        (("gold.jsonl", "scores.jsonl"), "scores.jsonl: rating of segment 1 of t en-de S0"),
        (("gold.jsonl", "tokens.jsonl"), "tokens.jsonl:1: tokens[0]: start 0 and end 99"),
    ],
)
def test_bad_input(run: Run, folder: Path, arguments: tuple[str, ...], problem: str) -> None:
    write(folder / "empty")
    put(folder / "short.jsonl", ratings(PREDICTED)[:3])
    put(folder / "other.jsonl", ratings(([], [], [], []), texts=(SENTENCES[0], "Es regnete", "x", "y")))
    put(folder / "scores.jsonl", [Rating(one.segment, "m", None) for one in ratings(PREDICTED)])
    tokens = [TokenScores(((0, 99),), ((1.0, 0.0, 0.0, 0.0, 0.0),))] * 4
    put(folder / "tokens.jsonl", ratings(PREDICTED), tokens)
    assert run("evaluate", *arguments).refused().startswith(problem)
    assert not (folder / "no").exists()


def test_a_model_that_marks_nothing_is_evaluated_by_its_score(run: Run, folder: Path) -> None:
    write(folder / "gold.jsonl", *map(jsonl.dumps, ratings(GOLD)))
    scored = [
        replace(rating, errors=None, estimate=Estimate(value, "comet"))
        for rating, value in zip(ratings(GOLD), (0.1, 0.7, 0.9, 0.2), strict=True)
    ]
    write(folder / "comet.jsonl", *map(jsonl.dumps, scored))
    ran = run("evaluate", "gold.jsonl", "comet.jsonl", "--by", "system", "--json", "found.json")
    assert ran.code == 0
    assert "precision" not in ran.out
    assert "expected_score.pearson" in ran.out
    found = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    assert (found["spans"]["predicted"], "tags" in found) == (None, False)
    assert found["expected_score"]["spearman"] == pytest.approx(1.0)
    assert (
        "'severity': comet.jsonl has no spans" in run("evaluate", "gold.jsonl", "comet.jsonl", "--by", "severity").err
    )


@pytest.mark.parametrize("is_keyed", [True, False])
def test_a_prediction_of_a_part_of_the_gold(run: Run, folder: Path, is_keyed: bool) -> None:
    def as_given(given: list[Rating]) -> list[Rating]:
        return given if is_keyed else [replace(one, segment=Segment(one.segment.hypothesis)) for one in given]

    put(folder / "gold.jsonl", as_given(ratings(GOLD)))
    put(folder / "part.jsonl", as_given(ratings(PREDICTED, "m"))[3:0:-2])
    assert "--common" in run("evaluate", "gold.jsonl", "part.jsonl").refused()
    ran = run("evaluate", "gold.jsonl", "part.jsonl", "--common", "--json", "-")
    assert ran.err.splitlines()[:2] == [
        "matese: gold.jsonl: 2 of 4 ratings compared",
        "matese: part.jsonl: 2 of 2 ratings compared",
    ]
    assert json.loads(ran.out)["segments"] == 2
    other = [Rating(Segment("anders", key=SegmentKey("u", index=9)), "m", ())]
    put(folder / "other.jsonl", as_given(other))
    assert run("evaluate", "gold.jsonl", "other.jsonl", "--common").refused().startswith("no segment is common")
