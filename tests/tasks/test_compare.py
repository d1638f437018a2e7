from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest

from matese.annotation import Estimate, Overall, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.formats.tables import jsonl
from matese.tasks import compare, gate, score
from tests.evaluation.material import major, minor
from tests.tasks.conftest import do, refusal, write
from tests.tasks.material.comparison import (
    NEW,
    NEW_ERRORS,
    OLD,
    OLD_ERRORS,
    ratings,
    save,
    write_files,
)

FEW = "4 segments: too few for any difference to be significant, whatever the intervals show\n"
THREE = ((OLD, OLD_ERRORS, "a"), (NEW, NEW_ERRORS, "b"), (OLD, NEW_ERRORS, "c"))


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write_files(folder)


def compared(**options: object) -> Any:
    ran = do(compare, **{"bootstrap": 100, "json": "-", "ratings": ["old.jsonl", "new.jsonl"], **options})
    return json.loads(ran.out)


def test_figures() -> None:
    report = compared()
    old = report["systems"]["old"]
    new = report["systems"]["new"]
    assert (old["score"], new["score"]) == ((-1 - 10 - 1) / 4, -10 / 4)
    shares = {name: value for name, value in old["share"].items() if not name.endswith("_interval")}
    assert shares == {"no_error": 0.25, "only_minor": 0.5, "one_major": 0.0, "several_major": 0.25}
    assert set(old["share"]) == {*shares, *(f"{name}_interval" for name in shares)}
    versus = report["versus"]["old"]["new"]
    assert versus["score"]["difference"] == 0.5
    assert versus["changes"] == {"fixed": 2, "introduced": 0, "softened": 0, "worsened": 1, "kept": 1}
    assert [difference["number"] for difference in report["differences"]] == [2, 3, 0, 1]
    assert report["differences"][0]["scores"] == {"old": -10, "new": -5}
    listed = report["differences"][1]["changes"]["old"]["new"]
    assert listed["worsened"] == [{"start": 0, "end": 5, "text": "Regen", "severity": "major"}]
    assert not any(errors for fate, errors in listed.items() if fate != "worsened")


def test_other_metrics(folder: Path) -> None:
    copies = [
        dataclasses.replace(
            rating, segment=dataclasses.replace(rating.segment, references=(rating.segment.hypothesis,))
        )
        for rating in ratings(NEW, NEW_ERRORS, "new")
    ]
    save(folder / "new.jsonl", copies)  # the references of the other file are those of this one
    metrics = compared(metrics=["chrf", "ter", "mini"], html="page.html")["metrics"]
    assert list(metrics) == ["chrF", "TER", "mini", "mini.expected"]
    assert metrics["chrF"]["signature"].startswith("nrefs:1|case:mixed|")
    assert metrics["chrF"]["systems"]["new"] == {"score": 100, "score_interval": [100, 100]}
    assert set(metrics["chrF"]["versus"]["old"]["new"]) == {"difference", "interval", "p", "p_permutation"}
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "new: mini.expected" in page
    assert "chrF nrefs:1|case:mixed|" in page
    shown = do(compare, metrics=["chrf"], bootstrap=0, ratings=["old.jsonl", "new.jsonl"])
    assert re.search(r"chrF +│? *\d\d\.\d\d +│? *100\.00", shown.out)
    save(folder / "new.jsonl", ratings(NEW, NEW_ERRORS, "new"))
    refused = refusal(compare, metrics=["chrf"], ratings=["old.jsonl", "new.jsonl"])
    assert refused.startswith("chrF needs references: segment 1 of old")


def test_published_scores_are_a_metric(folder: Path) -> None:
    """In the order of the segments; some segments may be left out."""
    path = folder / "ReMedy.seg.score"
    path.write_text("".join(f"{system}\t{score}\n" for system in ("old", "new") for score in (1, 2, 3, len(system))))
    (scores,) = compared(metrics=[str(path)])["metrics"].values()
    assert {name: figures["score"] for name, figures in scores["systems"].items()} == {"old": 2.25, "new": 2.25}
    (some,) = compared(metrics=[str(path)], filter=["errors=1:"])["metrics"].values()
    assert some["systems"]["old"]["score"] > 2.25
    path.write_text("old\t1\nold\t2\n")
    assert "has no score of segment 3 of old" in refusal(
        compare, metrics=[str(path)], ratings=["old.jsonl", "new.jsonl"]
    )
    path.write_text("new\t1\nnew\t2\n")
    assert "has no scores of old: must have new" in refusal(
        compare, metrics=[str(path)], ratings=["old.jsonl", "new.jsonl"]
    )


@pytest.mark.parametrize(
    ("option", "name", "n"),
    [
        ("length=3:", "length 3:", 2),
        ("unique", "no duplicates", 3),
        ("glossary=terms.txt", "glossary, 1 term", 1),
        ("number", "number", 1),
        ("name", "name", 1),
        ("severity=major", "severity major", 2),
        ("errors=2:2", "errors 2:2", 1),
    ],
)
def test_filters_tell_what_remains(option: str, name: str, n: int) -> None:
    report = compared(filter=[option], bootstrap=0)
    whole, part = report["filters"]
    assert (whole["filter"], whole["segments"], whole["share"]) == ("all", 4, 1)
    assert (part["filter"], part["segments"], part["share"]) == (name, n, n / 4)
    assert report["segments"] == n
    assert report["systems"]["old"]["score"] == part["scores"]["old"]


def test_errors_outside_the_hypothesis_are_listed(folder: Path) -> None:
    """They count in every figure but the fates."""
    new = ratings(NEW, NEW_ERRORS, "new")
    unplaced = (UnplacedError(Severity.MAJOR, "Omission"),)
    new[1] = dataclasses.replace(new[1], source_errors=(minor(3, 8),), unplaced=unplaced)
    save(folder / "new.jsonl", new)
    out = do(compare, bootstrap=0, ratings=["old.jsonl", "new.jsonl"]).out
    assert out.split("largest differences\n")[1].splitlines()[:2] == [
        "segment 2: -6.00 (old 0.00, new -6.00)",
        '    new: Minor "rains" in the source, Major Omission (no place)',
    ]
    blamed = do(gate, min_score=-1, ratings=["new.jsonl"]).out.splitlines()[2]
    assert blamed == '      segment 2: -6.00; Minor "rains" in the source, Major Omission (no place)'


def expecting(rated: list[Rating], *values: float, rater: str = "matese|model:a@1|precision:bf16") -> list[Rating]:
    pairs = zip(rated, values, strict=True)
    return [dataclasses.replace(rating, estimate=Estimate(value, "mqm"), rater=rater) for rating, value in pairs]


def test_the_verdict_comes_first(folder: Path) -> None:
    old = [Rating(Segment("Das Haus", f"{n}"), "m", (major(4, 8),)) for n in range(12)]
    new = [Rating(Segment("Das Heim", f"{n}"), "m", (minor(0, 3),) * (n == 0)) for n in range(12)]
    save(folder / "a.jsonl", old)
    save(folder / "b.jsonl", new)
    there, back = (
        do(compare, ratings=files).out.splitlines()[0] for files in (["a.jsonl", "b.jsonl"], ["b.jsonl", "a.jsonl"])
    )
    assert there == "b is better than a: +4.92 points (95 % 4.75 to 5, p < .001); found: 12 errors fixed, 1 introduced"
    assert back == "a is worse than b: -4.92 points (95 % -5 to -4.75, p < .001); found: 1 error fixed, 12 introduced"
    none = do(compare, bootstrap=0, ratings=["old.jsonl", "new.jsonl"]).out.splitlines()[:2]
    assert none == [
        "No significant difference between new and old: new +0.50 points (p = .750); "
        "found: 2 errors fixed, 0 introduced",
        "",
    ]


def test_the_expected_score_decides_if_there_is_one(folder: Path) -> None:
    save(folder / "a.jsonl", expecting(ratings(OLD, OLD_ERRORS, "a"), -1, -2, -3, -4))
    save(
        folder / "b.jsonl",
        expecting(ratings(NEW, NEW_ERRORS, "b"), -2, -3, -4, -5, rater="matese|model:b@2|precision:bf16"),
    )
    ran = do(compare, json="c.json", ratings=["a.jsonl", "b.jsonl"])
    first, *explained = ran.out.splitlines()[:3]
    assert first.startswith("No significant difference between b and a: b -1.00 points (95 % -1 to -1, p = ")
    assert [line.split(":")[0] for line in explained] == ["score", "expected score"]
    assert ran.told == f"signatures differ in model (a: a@1; b: b@2): the scores may not be comparable\n{FEW}"
    report = json.loads((folder / "c.json").read_text())
    assert (report["ranked_by"], report["verdict"][0]) == ("expected", first)
    assert (report["versus"]["a"]["b"]["losses"], report["differences"][0]["difference"]) == (1, -1)
    assert report["differences"][0]["expected_scores"] == {"a": -1, "b": -2}
    ran = do(compare, by="spans", ratings=["a.jsonl", "b.jsonl"])
    assert "+0.50 points" in ran.out.splitlines()[0]
    assert "opposite" not in ran.out
    assert refusal(compare, by="expected", ratings=["a.jsonl", "new.jsonl"]).startswith("rating of segment 1 of new")


def test_the_other_score_says_the_opposite_only_if_its_difference_is_significant(folder: Path) -> None:
    old = [Rating(Segment("Das Haus", f"{n}"), "m", (major(4, 8),)) for n in range(12)]
    for name, rated, value in (
        ("a", old, -1.0),
        ("b", [dataclasses.replace(rating, errors=()) for rating in old], -2.0),
    ):
        save(folder / f"{name}.jsonl", expecting(rated, *[value] * 12))
    opposing = do(compare, ratings=["a.jsonl", "b.jsonl"]).out.splitlines()[1]
    assert opposing.startswith("The score says the opposite: b is better, +5.00 points (95 % 5 to 5, p < .001)")
    few = [dataclasses.replace(rating, errors=()) if n < 3 else rating for n, rating in enumerate(old)]
    save(folder / "b.jsonl", expecting(few, *[-2.0] * 12))
    assert "opposite" not in do(compare, ratings=["a.jsonl", "b.jsonl"]).out


@pytest.mark.parametrize("lang_pairs", [(None,) * 4, ("en-de", "en-de", "en-ru", "en-ru")])
def test_score_and_compare_agree(folder: Path, lang_pairs: tuple[str | None, ...]) -> None:
    for name, rated in (
        ("a", expecting(ratings(OLD, OLD_ERRORS, "a"), -1, -2, -3, -4)),
        ("b", expecting(ratings(NEW, NEW_ERRORS, "b"), -0.5, -2.5, -1, -3.5)),
    ):
        placed = [
            dataclasses.replace(
                rating, segment=dataclasses.replace(rating.segment, key=SegmentKey(None, lang_pair, name, index=index))
            )
            for index, (rating, lang_pair) in enumerate(zip(rated, lang_pairs, strict=True))
        ]
        save(folder / f"{name}.jsonl", placed)
    compared = json.loads(do(compare, json="-", ratings=["a.jsonl", "b.jsonl"]).out)
    scored = json.loads(do(score, json="-", ratings=["a.jsonl", "b.jsonl"]).out)
    assert scored["ranking"] == ["b", "a"]
    for by_score in scored["systems"]:
        by_compare = compared["systems"][by_score["system"]]
        for key in ("score", "score_interval", "expected_score", "expected_score_interval"):
            assert by_score[key] == pytest.approx(by_compare[key])
    by_spans = json.loads(do(score, json="-", by="spans", ratings=["a.jsonl", "b.jsonl"]).out)
    assert by_spans["systems"][1]["p"] == compared["versus"]["a"]["b"]["score"]["p_permutation"]
    refused = refusal(score, json="-", by="expected", ratings=["a.jsonl", "new.jsonl"])
    assert refused.endswith("has no expected score; rank by spans instead")
    assert [by_score["p"] for by_score in scored["systems"]] == [
        None,
        compared["versus"]["a"]["b"]["expected_score"]["p_permutation"],
    ]


def test_three_systems_in_one_file(folder: Path) -> None:
    write(
        folder / "all.jsonl",
        *(jsonl.dumps(rating) for texts, errors, name in THREE for rating in ratings(texts, errors, name)),
    )  # fmt: skip
    do(compare, bootstrap=50, json="f.json", html="f.html", ratings=["all.jsonl"])
    report = json.loads((folder / "f.json").read_text(encoding="utf-8"))
    assert {first: list(versus) for first, versus in report["versus"].items()} == {"a": ["b", "c"], "b": ["c"]}
    page = (folder / "f.html").read_text(encoding="utf-8")
    third = json.loads(re.findall(r'id="data">(.*?)</script>', page, re.DOTALL)[0])["rows"][2]["translations"]
    # A page shows what became of errors where there is one other system; here there are two answers.
    assert ["change" in error for rating in third for error in rating["errors"]] == [False] * 4


def test_people_s_judgements_of_whole_segments_are_no_estimates(folder: Path) -> None:
    old = [Rating(Segment("Das Haus", f"{n}"), "anna", (major(4, 8),), overall=Overall(-1, "mqm")) for n in range(12)]
    new = [dataclasses.replace(rating, errors=(minor(4, 8),), overall=Overall(-2, "mqm")) for rating in old]
    save(folder / "a.jsonl", old)
    save(folder / "b.jsonl", new)
    report = json.loads(do(compare, json="-", ratings=["a.jsonl", "b.jsonl"]).out)
    assert (report["ranked_by"], report["versus"]["a"]["b"]["score"]["difference"]) == ("spans", 4)
    assert "expected_score" not in report["versus"]["a"]["b"]


def test_equal_scores_are_told(folder: Path) -> None:
    save(folder / "free.jsonl", ratings(OLD, ((),) * 4, "free"))
    save(folder / "too.jsonl", ratings(NEW, ((),) * 4, "too"))
    ran = do(compare, bootstrap=50, json="-", ratings=["free.jsonl", "too.jsonl"])
    assert "every p-value is 1" in ran.told
    score = json.loads(ran.out)["versus"]["free"]["too"]["score"]
    assert (score["p"], score["p_permutation"], score["interval"]) == (1, 1, [0, 0])
