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

from matese.annotation import ErrorFree, Estimate, Rating, Segment, SegmentKey, TokenScores
from matese.formats.tables import jsonl
from matese.tasks import evaluate
from tests.evaluation.material import minor
from tests.tasks.conftest import do, refusal, write
from tests.tasks.material.evaluation import FIGURES, GOLD, PREDICTED, SENTENCES, put, ratings, write_files


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write_files(folder)


def whole(**arguments: object) -> dict[str, Any]:
    ran = do(evaluate, json="-", **arguments)
    report: dict[str, Any] = json.loads(ran.out)
    return report


def leaves(tree: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        yield from leaves(value, f"{name}{key}.") if isinstance(value, dict) else [(f"{name}{key}", value)]


def test_segments_whose_gold_rating_has_no_spans_are_left_out_and_counted(folder: Path) -> None:
    gold = ratings(GOLD)
    put(folder / "gold.jsonl", [gold[0], replace(gold[1], errors=None), *gold[2:]])
    ran = do(evaluate, gold="gold.jsonl", predicted="pred.jsonl")
    assert "gold.jsonl: left out 1 rating without spans" in ran.told
    assert ran.out.startswith("3 segments")


def test_the_first_figures_are_sentences(folder: Path) -> None:
    def lines() -> list[list[str]]:
        ran = do(evaluate, gold="gold.jsonl", predicted="pred.jsonl")
        heading, how, *sentences = ran.out.partition("\n\n")[0].splitlines()
        assert heading.startswith("4 segments")
        assert how.startswith("MQM scores with the weights matese")
        return [re.findall(r"\d+", sentence) for sentence in sentences]

    assert lines() == [["4", "2", "50"], ["3", "2", "67"]]  # marked, of these hit, in per cent; of both sides
    put(folder / "pred.jsonl", ratings(([], [], [], []), "m"))
    assert lines() == [["4", "0", "0"]]
    labels = (True, True, True, False)
    put(
        folder / "pred.jsonl",
        [
            replace(rating, error_free=ErrorFree(label, 0.5))
            for rating, label in zip(ratings(PREDICTED), labels, strict=True)
        ],
    )
    assert lines()[2:] == [["33", "100"]]  # precision and recall
    put(folder / "gold.jsonl", ratings(([], [], [], [])))
    assert lines() == [["3", "0", "0"], ["100", "75"]]
    put(folder / "gold.jsonl", ratings([[minor(0, 1)] if text else [] for text in SENTENCES]))
    put(folder / "pred.jsonl", ratings(([], [], [], []), "m"))
    assert lines() == [["3", "0", "0"]]


def test_units() -> None:
    by_unit = {
        unit: whole(unit=unit, gold="gold.jsonl", predicted="pred.jsonl") for unit in ("word", "character", "{tiny}")
    }
    counts = {unit: sum(map(sum, report["tags"]["confusion"]["gold_by_predicted"])) for unit, report in by_unit.items()}
    assert counts["word"] < counts["{tiny}"] <= counts["character"] == sum(map(len, SENTENCES))
    for unit, report in by_unit.items():
        assert report["mpp"] == by_unit["word"]["mpp"], "spans do not depend on the unit"
        assert report["settings"]["unit"].endswith(unit if unit != "{tiny}" else "tiny")
    assert do(evaluate, unit="{tiny}", gold="gold.jsonl", predicted="pred.jsonl").told == "", (
        "other libraries are quiet"
    )


def test_intervals_stand_beside_the_figures() -> None:
    plain = dict(leaves(whole(gold="gold.jsonl", predicted="pred.jsonl")))
    with_intervals = dict(leaves(whole(bootstrap=50, gold="gold.jsonl", predicted="pred.jsonl")))
    low, high = with_intervals["mpp.micro.f1_interval"]
    assert low <= plain["mpp.micro.f1"] <= high
    extra = {name.removesuffix("_interval") for name in set(with_intervals) - set(plain)}
    without = {"tags.confusion.tags", "tags.confusion.gold_by_predicted", "calibration.bins"}
    assert extra == {name for name in plain if name.partition(".")[0] in FIGURES | {"calibration"}} - without
    assert "95% interval" in do(evaluate, bootstrap=5, gold="gold.jsonl", predicted="pred.jsonl").out


def test_groups() -> None:
    names = ("severity", "category", "lang-pair", "system", "length")
    groups_by_name = whole(by=[*names], gold="gold.jsonl", predicted="pred.jsonl")["by"]
    assert {name: list(groups) for name, groups in groups_by_name.items()} == {
        "severity": ["minor", "major"],
        "category": ["none", "Accuracy/Mistranslation"],
        "lang-pair": ["en-de", "en-zh"],
        "system": ["S0", "S1"],
        "length": ["0-9"],
    }
    assert groups_by_name["severity"]["major"]["spans"] == {"gold": 2, "predicted": 1}
    ran = do(evaluate, by=["severity", "category"], gold="gold.jsonl", predicted="pred.jsonl")
    rows = [line.split()[:4] for line in ran.out.splitlines()]
    assert ["major", "4", "2", "1"] in rows
    assert ["Accuracy/Mistranslation", "4", "1", "0"] in rows


def test_another_prediction(folder: Path) -> None:
    put(folder / "old.jsonl", ratings(([], [], [], []), "old"))
    report = whole(versus="old.jsonl", bootstrap=20, gold="gold.jsonl", predicted="pred.jsonl")
    assert report["versus"]["predicted"] == "old.jsonl"
    ours, theirs = (side["mpp"]["micro"]["f1"] for side in (report, report["versus"]))
    difference = report["difference"]["mpp"]["micro"]["f1"]
    assert difference["difference"] == pytest.approx(ours - theirs)
    assert set(difference) == {"difference", "interval", "p"}
    compared = {"gold": "gold.jsonl", "predicted": "pred.jsonl", "versus": "old.jsonl"}
    assert "minus old.jsonl" in do(evaluate, **compared, all=True).out
    sentence = "pred.jsonl is better than old.jsonl in F1 of spans with partial credit (mpp.micro.f1): +"
    *_, plain = do(evaluate, **compared).out.partition("\n\n")[0].splitlines()
    assert plain.startswith(sentence)
    assert plain.endswith("; --bootstrap 1000 tests whether that is chance.")
    *_, tested = do(evaluate, **compared, bootstrap=20).out.partition("\n\n")[0].splitlines()
    assert re.fullmatch(
        rf"{re.escape(sentence)}0\.\d+ \(95 % \S+ to \S+, p [=<] \.\d+: (not )?significantly different\)\.", tested
    )


@pytest.mark.parametrize(
    ("look", "begin", "row"),
    [
        ({}, "pred.jsonl", r"tsh: gold spans that are found, at least in part +0\.5000"),
        ({"markdown": True}, "|  | pred.jsonl |", r"\| tsh: gold spans that are found, at least in part \| 0\.5000 \|"),
        ({"latex": True}, "& pred.jsonl \\\\", r"tsh: gold spans that are found, at least in part & 0\.5000 \\\\"),
    ],
)
def test_the_main_figures_fit_a_screen_in_three_looks(look: dict[str, object], begin: str, row: str) -> None:
    lines = do(evaluate, gold="gold.jsonl", predicted="pred.jsonl", **look).out.splitlines()
    assert any(line.lstrip() == begin for line in lines)
    assert any(re.fullmatch(row, line) for line in lines)
    assert len(lines) < 25
    assert refusal(evaluate, markdown=True, latex=True, gold="gold.jsonl", predicted="pred.jsonl").startswith(
        "--markdown and"
    )


def test_sentinels() -> None:
    sentinels = whole(sentinels=True, gold="gold.jsonl", predicted="pred.jsonl")["sentinels"]
    assert list(sentinels) == ["all", "none", "random", "extended", "dropped"]
    assert set(sentinels["none"]) == FIGURES - {"score"}
    assert sentinels["none"]["mpp"]["micro"]["recall"] == 0
    assert "sentinel" in do(evaluate, sentinels=True, gold="gold.jsonl", predicted="pred.jsonl").out


def test_raters_are_the_ceiling(folder: Path) -> None:
    second_rater = ratings(GOLD, "s")
    put(folder / "two.jsonl", [*ratings(GOLD), *second_rater[:3]])
    ceiling = whole(merge="union", bootstrap=5, gold="two.jsonl", predicted="pred.jsonl")["ceiling"]
    assert (set(ceiling), ceiling["ratings"]) == (FIGURES | {"ratings"}, 6)
    # The third rater marks nothing: of the six comparisons with spans in gold, two hit nothing.
    put(folder / "three.jsonl", [*ratings(GOLD)[:1], *second_rater[:1], *ratings(([],), "t", SENTENCES[:1])])
    put(folder / "one.jsonl", ratings(PREDICTED[:1], "m", SENTENCES[:1]))
    shown = do(evaluate, merge="union", all=True, gold="three.jsonl", predicted="one.jsonl").out
    assert "raters: each of 3 ratings against the other raters of its segment, merged" in shown
    assert "MQM scores with the weights matese; three.jsonl merged by union" in shown
    (tsh,) = (line.split() for line in shown.splitlines() if line.startswith("tsh "))
    assert (len(tsh), tsh[2]) == (3, "0.6667"), "the model's figure, and that of the raters"
    assert "ceiling" not in whole(merge="union", gold="gold.jsonl", predicted="pred.jsonl")
    assert "ceiling" not in whole(rater="r", gold="two.jsonl", predicted="pred.jsonl")


def test_omissions_from_references_are_compared_once_gold_has_its_references(folder: Path) -> None:
    write(folder / "refs.txt", *SENTENCES)
    (folder / "one.txt").write_text("only\n", encoding="utf-8")
    do(evaluate, ref=["refs.txt"], json="-", gold="gold.jsonl", predicted="pred.jsonl")
    joined = do(evaluate, ref=["one.txt"], gold="gold.jsonl", predicted="pred.jsonl")
    assert "3 of 4 segments have no reference" in joined.told
    assert "nowhere" in refusal(
        evaluate, texts_of="nowhere", ref=["refs.txt"], gold="gold.jsonl", predicted="pred.jsonl"
    )


def test_what_is_undefined_is_told(folder: Path) -> None:
    put(folder / "pred.jsonl", ratings(([], [], [], []), "m"))
    # Of the figures that are shown.
    short = do(evaluate, gold="gold.jsonl", predicted="pred.jsonl").told.splitlines()
    assert [line.rpartition(": ")[0] for line in short] == [
        "undefined: hsh",
        "undefined: score.pearson",
    ]
    ran = do(evaluate, all=True, json="figures.json", gold="gold.jsonl", predicted="pred.jsonl")
    assert "undefined: score.pearson, score.spearman, score.kendall: one of the two scores is the" in ran.told
    assert "hsh, tags.hsh: no span is predicted" in ran.told
    assert "NaN" not in (folder / "figures.json").read_text()
    assert json.loads((folder / "figures.json").read_text())["hsh"] is None


def test_token_scores(folder: Path) -> None:
    def scores(text: str) -> TokenScores:
        return TokenScores(
            tuple((i, i + 1) for i in range(len(text))),
            tuple((1 - i / 99, i / 99, 0.0, 0.0, 0.0) for i in range(len(text))),
        )

    put(folder / "pred.jsonl", ratings(PREDICTED, "m"), [scores(text) for text in SENTENCES])
    localisation = whole(gold="gold.jsonl", predicted="pred.jsonl")["localisation"]
    # Later characters score higher. Bad are 4..8 and 12..15 of 24, 0..2 of 25, and 9..16 of 20; the third is blank.
    assert localisation["recall_at_k"] == pytest.approx((0 + 0 + 3 / 7) / 3)
    reordered = list(zip(ratings(PREDICTED, "m"), map(scores, SENTENCES), strict=True))[::-1]
    put(folder / "pred.jsonl", [rating for rating, _ in reordered], [tokens for _, tokens in reordered])
    assert whole(gold="gold.jsonl", predicted="pred.jsonl")["localisation"] == localisation


def test_a_pipe_is_read_once(folder: Path) -> None:
    plain = whole(gold="gold.jsonl", predicted="pred.jsonl")["mpp"]
    os.mkfifo(folder / "pipe")
    writer = threading.Thread(target=lambda: (folder / "pipe").write_bytes((folder / "pred.jsonl").read_bytes()))
    writer.start()
    assert whole(gold="gold.jsonl", predicted="pipe")["mpp"] == plain
    writer.join()


def test_other_formats_and_their_faults(folder: Path) -> None:
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
    several = refusal(evaluate, gold="gold.tsv", predicted="pred.tsv")
    assert "gold.tsv has several raters of a segment (r1 and r2): must be one; choose a rater (--rater)" in several
    ran = do(evaluate, rater="r1", lang_pair="en-de", json="-", gold="gold.tsv", predicted="pred.tsv")
    assert ran.told.splitlines()[0] == "gold.tsv: 1 row repaired: unbalanced tags (line 4)"
    assert json.loads(ran.out)["mpp"]["micro"]["f1"] == 1.0
    merged = whole(merge="majority", gold="gold.tsv", predicted="pred.tsv")
    assert merged["spans"]["gold"] == 0
    unknown = refusal(evaluate, rater="r9", gold="gold.tsv", predicted="pred.tsv")
    assert "gold.tsv: no rating of rater 'r9' (--rater): must be r1 or r2" in unknown


def test_a_model_that_marks_nothing_is_evaluated_by_its_score(folder: Path) -> None:
    write(folder / "gold.jsonl", *map(jsonl.dumps, ratings(GOLD)))
    scored = [
        replace(rating, errors=None, estimate=Estimate(value, "comet"))
        for rating, value in zip(ratings(GOLD), (0.1, 0.7, 0.9, 0.2), strict=True)
    ]
    write(folder / "comet.jsonl", *map(jsonl.dumps, scored))
    ran = do(evaluate, by=["system"], json="found.json", gold="gold.jsonl", predicted="comet.jsonl")
    assert "precision" not in ran.out
    assert "expected_score.pearson" in ran.out
    report = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    assert (report["spans"]["predicted"], "tags" in report) == (None, False)
    assert report["expected_score"]["spearman"] == pytest.approx(1.0)
    refused = refusal(evaluate, by=["severity"], gold="gold.jsonl", predicted="comet.jsonl")
    assert "'severity': comet.jsonl has no spans" in refused


@pytest.mark.parametrize("is_keyed", [True, False])
def test_a_prediction_of_a_part_of_the_gold(folder: Path, is_keyed: bool) -> None:
    def as_given(rated: list[Rating]) -> list[Rating]:
        return rated if is_keyed else [replace(rating, segment=Segment(rating.segment.hypothesis)) for rating in rated]

    put(folder / "gold.jsonl", as_given(ratings(GOLD)))
    put(folder / "part.jsonl", as_given(ratings(PREDICTED, "m"))[3:0:-2])
    assert "--common" in refusal(evaluate, gold="gold.jsonl", predicted="part.jsonl")
    ran = do(evaluate, common=True, json="-", gold="gold.jsonl", predicted="part.jsonl")
    assert ran.told.splitlines()[:2] == [
        "gold.jsonl: 2 of 4 ratings compared",
        "part.jsonl: 2 of 2 ratings compared",
    ]
    assert json.loads(ran.out)["segments"] == 2
    of_others = [replace(rating, rater="b") for rating in ratings(GOLD)]
    put(folder / "two.jsonl", as_given([*ratings(GOLD)[:2], *of_others]))
    ran = do(evaluate, common=True, rater=ratings(GOLD)[0].rater, gold="two.jsonl", predicted="part.jsonl")
    assert ran.told.splitlines()[:2] == [
        "two.jsonl: 1 of 2 ratings compared",
        "part.jsonl: 1 of 2 ratings compared",
    ]
    unrelated = [Rating(Segment("anders", key=SegmentKey("u", index=9)), "m", ())]
    put(folder / "other.jsonl", as_given(unrelated))
    assert refusal(evaluate, common=True, gold="gold.jsonl", predicted="other.jsonl").startswith("no segment is common")
