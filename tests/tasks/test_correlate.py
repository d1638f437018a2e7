from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matese
from matese.annotation import ErrorSpan, Estimate, Rating, Segment, SegmentKey, Severity
from matese.evaluation.metrics.correlation_options import (
    SEGMENT_FIGURES,
    SYSTEM_FIGURES,
    TieRule,
)
from matese.tasks import compare, correlate
from tests.formats import score_files
from tests.markdown import ROOT, blocks
from tests.model import bertscore_golden
from tests.tasks.conftest import do, refusal, write


@pytest.fixture
def wmt(folder: Path) -> str:
    score_files.make(folder / "wmt")
    return "wmt"


def figures(**arguments: object) -> dict[str, Any]:
    ran = do(correlate, samples=50, json="-", **arguments)
    report: dict[str, Any] = json.loads(ran.out)
    return report


def test_the_keys_of_the_json(wmt: str) -> None:
    report = figures(test_set=wmt)
    assert list(report) == ["version", "settings", "lang_pairs", "metrics", "rankings"]
    about = report["lang_pairs"]["en-de"]
    assert about == {
        "gold": "mqm",
        "domain": None,
        "reference": "refA",
        "systems": ["A", "B", "C", "D"],
        "segments": 3,
        "left_out": {"refB": "is a human translation"},
        "pairs": None,
    }
    node = report["metrics"]["BLEU"]["en-de"]
    assert [f"system.{key}" for key in node["system"]] == list(SYSTEM_FIGURES)
    assert [f"segment.{key}" for key in node["segment"]] == list(SEGMENT_FIGURES)
    assert (node["name"], node["signature"]) == ("BLEU-refA", None)
    assert {tuple(of_top) for of_top in node["top_n"].values()} == {("4", "3")}
    assert node["segment"]["darr"] is None
    assert node["problems"]["segment"]["darr"].startswith("no two translations of a segment differ")
    pooled = report["metrics"]["BLEU"]["pooled"]
    assert set(pooled["average"]) == {"wmt23", "wmt24"}
    assert pooled["system"]["accuracy"] == node["system"]["accuracy"]
    ranking = report["rankings"]["en-de"]
    assert (ranking["figure"], ranking["test"]) == ("system.pearson", "permutation")
    assert len(ranking["p_values"]) == len(ranking["clusters"]) == 3


def test_every_key_is_documented(wmt: str) -> None:
    text = (Path(__file__).parents[2] / "docs" / "research" / "correlate.md").read_text(encoding="utf-8")
    report = figures(bootstrap=5, test_set=wmt)
    nodes = [*report["metrics"]["BLEU"]["en-de"].items(), *report["metrics"]["BLEU"]["pooled"].items()]
    keys = {*report, *report["lang_pairs"]["en-de"], *report["rankings"]["en-de"], *(name for name, _ in nodes)}
    figure_names = {key for name, node in nodes if name in ("system", "segment") for key in node}
    averages_of = {f"average.{key}" for name, node in nodes if name == "average" for key in node}
    lacking = {key for key in keys | figure_names | averages_of if f"`{key}`" not in text}
    assert lacking == set()


def test_human_translations_and_another_reference(wmt: str) -> None:
    report = figures(with_human=True, test_set=wmt)
    assert report["lang_pairs"]["en-de"]["systems"] == ["A", "B", "C", "D", "refB"]
    report = figures(ref="refB", without=["D"], test_set=wmt)
    assert report["metrics"]["BLEU"]["en-de"]["name"] == "BLEU-refB"
    assert set(report["metrics"]) == {"BLEU", "Kiwi"}
    assert report["lang_pairs"]["en-de"]["left_out"] == {"refB": "is the reference", "D": "was left out by --without"}


def test_what_is_standard_comes_from_mt_metrics_eval(folder: Path) -> None:
    metrics = score_files.make(folder / "wmt21.news") / "metric-scores" / "en-de"
    for path in [*metrics.glob("chrF-refA*")]:
        write(path.with_name(path.name.replace("refA", "refB")), *path.read_text().splitlines())
    for path in [*metrics.glob("*-refB*")]:
        rows = [line.replace("refA", "refB") for line in path.read_text().splitlines() if not line.startswith("refB")]
        write(path.with_name(path.name.replace("refB", "refC")), *rows)
    (folder / "wmt21.news" / "references" / "en-de.refC.txt").write_text("eins\nzwei\ndrei\n")
    report = figures(test_set="wmt21.news")
    assert report["lang_pairs"]["en-de"]["reference"] == "refC"
    assert report["metrics"]["BLEU"]["en-de"]["name"] == "BLEU-refC"
    assert set(figures(metrics=["primary"], test_set="wmt21.news")["metrics"]) == {"BLEU", "chrF"}
    (folder / "wmt21.news").rename(folder / "mine")
    assert "equally many metrics used refA, refB, refC" in refusal(correlate, test_set="mine")
    assert figures(ref="refB", test_set="mine")["lang_pairs"]["en-de"]["reference"] == "refB"
    refused = refusal(correlate, ref="refB", metrics=["primary"], test_set="mine")
    assert refused.startswith("en-de: the primary metrics are unknown")


def test_gold_of_each_level_and_outliers_of_mt_metrics_eval(folder: Path) -> None:
    root = score_files.make(folder / "wmt20")
    for path in root.rglob("*ref[AB]*"):
        path.unlink()
    for path in [*root.rglob("en-de*"), *root.rglob("*.score")]:
        if path.is_file():
            path.write_text(path.read_text().replace("D", "Online-G.1556"))
    human = root / "human-scores"
    (human / "en-de.wmt.z.sys.score").rename(human / "en-de.wmt-z.sys.score")
    (human / "en-de.mqm.seg.score").rename(human / "en-de.wmt-raw.seg.score")
    (human / "en-de.mqm.sys.score").unlink()
    about = figures(test_set="wmt20")["lang_pairs"]["en-de"]
    assert (about["gold"], about["left_out"]["Online-G.1556"]) == ("wmt-z/wmt-raw", "is an outlier")
    assert "Online-G.1556" in figures(with_outliers=True, test_set="wmt20")["lang_pairs"]["en-de"]["systems"]


def renamed(root: Path, lang_pair: str) -> str:
    """Gives the files of the little test set another language pair; returns the name of its directory."""
    for path in sorted(root.rglob("en-de*"), reverse=True):
        path.rename(path.with_name(path.name.replace("en-de", lang_pair)))
    return root.name


@pytest.mark.parametrize(
    ("test_set", "lang_pair", "option", "systems"),
    [
        ("wmt24", "en-de", {}, ["A", "B", "C", "D", "refA"]),
        ("wmt24", "en-de", {"without_human": True}, ["A", "B", "C", "D"]),
        ("wmt24", "en-es", {}, ["A", "B", "C", "D"]),
        ("wmt24", "en-es", {"with_human": True}, ["A", "B", "C", "D", "refB"]),
        ("wmt25", "en-ko_KR", {}, ["A", "B", "C", "D"]),
    ],
)
def test_human_translations_are_systems_where_the_official_task_scored_them(
    folder: Path, test_set: str, lang_pair: str, option: dict[str, object], systems: list[str]
) -> None:
    root = score_files.make(folder / test_set)
    if lang_pair == "en-de":  # whose standard reference is B, so that the scored human translation is A
        for path in (root / "human-scores").iterdir():
            path.write_text(path.read_text().replace("refB", "refA"))
    assert figures(test_set=renamed(root, lang_pair), **option)["lang_pairs"][lang_pair]["systems"] == systems


@pytest.mark.parametrize(
    ("lang_pair", "name", "gold"),
    [
        ("en-zh_CN", "esa-human1", "esa-human1"),
        ("en-zh_CN", "esa", "esa"),
        ("en-mas_KE", "esa-human1", "esa-human1"),
        ("ja-zh_CN", "esa-human1", "mqm"),
    ],
)
def test_the_human_scores_of_wmt25(folder: Path, lang_pair: str, name: str, gold: str) -> None:
    root = score_files.make(folder / "wmt25")
    for level in ("sys", "seg"):
        scores = root / "human-scores" / f"en-de.mqm.{level}.score"
        scores.with_name(f"en-de.{name}.{level}.score").write_text(scores.read_text())
    report = figures(metrics=["primary"], test_set=renamed(root, lang_pair))
    assert (report["lang_pairs"][lang_pair]["gold"], set(report["metrics"])) == (gold, {"BLEU", "chrF"})


def test_outliers_are_left_out(wmt: str) -> None:
    scores = {"A": 0, "B": -0.1, "C": -0.2, "D": -9}
    path = Path(wmt) / "human-scores" / "en-de.far.sys.score"
    write(path, *(f"{name} {score}" for name, score in scores.items()))
    report = figures(gold="far", without_outliers=True, test_set=wmt)
    assert report["lang_pairs"]["en-de"]["left_out"] == {"D": "is an outlier"}


def test_figures_by_domain_are_those_of_its_segments_alone(folder: Path) -> None:
    """The first two segments are social, the third is news; a test set of the first two has the same figures."""
    whole = score_files.make(folder / "whole")
    write(whole / "documents" / "en-de.docs", "social d1", "social d2", "news d3")
    (whole / "metric-scores" / "en-de" / "Old-refA.sys.score").write_text("A 1\nB 2\nC 3\nD 4\nrefB 5\n")
    half = score_files.make(folder / "half")
    write(half / "documents" / "en-de.docs", "social d1", "social d2")
    for path in half.rglob("*.txt"):
        write(path, *path.read_text().splitlines()[:2])
    for path in half.rglob("*.seg.score"):
        write(path, *(line for number, line in enumerate(path.read_text().splitlines()) if number % 3 < 2))
    for path in half.rglob("*.sys.score"):
        path.unlink()
    by_domain = figures(by="domain", test_set="whole")
    assert [*by_domain["lang_pairs"]] == ["en-de", "en-de.news", "en-de.social"]
    assert by_domain["lang_pairs"]["en-de.social"]["segments"] == 2
    of_half = figures(test_set="half")["metrics"]
    for name, of_metric in of_half.items():
        for level in ("system", "segment"):
            expected = {key: value for key, value in of_metric["en-de"][level].items() if key != "spa"}  # random flips
            of_domain = by_domain["metrics"][name]["en-de.social"][level]
            assert {key: of_domain[key] for key in expected} == pytest.approx(expected)
    assert by_domain["metrics"]["BLEU"]["pooled"] == figures(test_set="whole")["metrics"]["BLEU"]["pooled"]
    assert "en-de.news" not in by_domain["metrics"]["Old"]
    assert "no figures by domain of Old" in do(correlate, by="domain", test_set="whole").told
    table = do(correlate, by="domain", samples=20, test_set="whole").out
    assert ["en-de.news: 4 systems, refA" in table, "pooled" in table] == [True, False]


def test_figures_by_domain_of_ratings(folder: Path) -> None:
    line = '{{"hypothesis": "t", "system": "{}", "index": {}, "domain": {}, "errors": [{}]}}'
    error = '{"start": 0, "end": 1, "severity": "minor"}'
    rows = [("A", 1), ("B", 2), ("C", 3)]

    def ratings(*domains: str) -> list[str]:
        return [
            line.format(system, index, domain, ", ".join([error] * n))
            for system, n in rows
            for index, domain in enumerate(domains)
        ]

    write(folder / "gold.jsonl", *ratings('"news"', "null"))
    write(folder / "none.jsonl", *ratings("null", "null"))
    of_domains = figures(gold="gold.jsonl", metric=["none.jsonl"], by="domain")["metrics"]["none"]
    assert set(of_domains) == {"all", "all.news", "all.none", "pooled"}
    assert of_domains["all.news"]["system"]["pearson"] == pytest.approx(1)
    refused = refusal(correlate, gold="none.jsonl", metric=["gold.jsonl"], by="domain")
    assert refused.startswith("all: segments have no domain")


def test_other_human_scores_of_a_test_set_are_a_metric(wmt: str) -> None:
    """On the translations that both have: all systems but D, whose second scores are missing."""
    second = {"A": (-1, 0, -1), "B": (0, -2, "None"), "C": (-5, -5, -4), "D": ("None",) * 3, "refB": (0, 0, 0)}
    path = Path(wmt) / "human-scores" / "en-de.esa.seg.score"
    write(path, *(f"{system} {score}" for system, scores in second.items() for score in scores))
    report = figures(human_metric=["esa"], rank_by="segment.pearson", test_set=wmt)
    assert report["lang_pairs"]["en-de"]["systems"] == ["A", "B", "C"]
    node = report["metrics"]["human:esa"]["en-de"]
    gold = (0, -1, -1, -5, -2)
    human = (-1, -1, 0, -5, -4)
    assert node["n"]["segment"]["pearson"] == 5
    assert node["segment"]["pearson"] == pytest.approx(np.corrcoef(gold, human)[0, 1])
    assert report["metrics"]["BLEU"]["en-de"]["n"]["segment"]["pearson"] == 5
    refused = refusal(correlate, human_metric=["asa"], test_set=wmt)
    assert refused.endswith("did you mean 'esa'? must be esa, mqm or wmt.z")


RATED = {"ann": (0, 1, 3), "ben": (1, 2, 4), "eve": (0, 2, 5)}
"""Minor errors of the systems A, B and C by rater."""


def rated(raters: Mapping[str, tuple[int, ...]]) -> list[str]:
    line = '{{"hypothesis": "t", "system": "{}", "index": 0, "rater": "{}", "errors": [{}]}}'
    error = '{"start": 0, "end": 1, "severity": "minor"}'
    return [
        line.format(system, rater, ", ".join([error] * n))
        for rater, counts in raters.items()
        for system, n in zip("ABC", counts, strict=True)
    ]


def test_a_rater_is_a_metric_beside_the_others(folder: Path) -> None:
    write(folder / "gold.jsonl", *rated(RATED))
    write(folder / "mine.jsonl", *rated({"model": (0, 2, 2)}))
    metrics = figures(gold="gold.jsonl", metric=["mine.jsonl"], human_metric=["eve"])["metrics"]
    other_raters = [-0.5, -1.5, -3.5]
    for name, scores in (("human:eve", (0, -2, -5)), ("mine", (0, -2, -2))):
        assert metrics[name]["all"]["system"]["pearson"] == pytest.approx(np.corrcoef(other_raters, scores)[0, 1])
    alone = figures(gold="gold.jsonl", human_metric=["any"])["metrics"]
    assert list(alone) == ["human:any"]
    for arguments, problem in (
        ({"human_metric": ["eva"]}, "gold.jsonl: no rating of rater 'eva', did you mean 'eve'?"),
        ({"human_metric": ["ann", "ben"]}, "gold.jsonl: ann and ben: must be one rater, or any"),
    ):
        assert refusal(correlate, gold="gold.jsonl", **arguments).startswith(problem)
    write(folder / "human.seg.score", "A 1", "B 2", "C 3")
    refused = refusal(correlate, gold="human.seg.score", metric=["mine.jsonl"], human_metric=["any"])
    assert refused.startswith("human.seg.score: scores without raters")
    write(folder / "one.jsonl", *rated({"ann": (0, 1, 3)}))
    refused = refusal(correlate, gold="one.jsonl", human_metric=["any"])
    assert refused.startswith("one.jsonl: no translation with ratings of any and of another rater")


def test_averages_rank_what_is_pooled(wmt: str) -> None:
    report = figures(rank_by="average.wmt24", test_set=wmt)
    assert list(report["rankings"]) == ["pooled"]
    assert report["rankings"]["pooled"]["metrics"][-1] == "chrF"
    assert "language pairs pooled" in do(correlate, rank_by="average.wmt24", test_set=wmt).out
    both = figures(rank_by="system.accuracy", significance="none", test_set=wmt)["rankings"]
    assert (list(both), both["pooled"]["clusters"]) == (["en-de", "pooled"], None)


def test_baselines(wmt: str) -> None:
    options = {"baseline": ["bleu", "ter", "chrf:beta=3", "bleu:tok=intl,lc"]}
    metrics = figures(metrics=["BLEU"], test_set=wmt, **options)["metrics"]
    assert set(metrics) == {"BLEU", "BLEU.sacrebleu", "TER", "chrF:beta=3", "BLEU:tok=intl,lc"}
    signatures = {name: metrics[name]["en-de"]["signature"] or "" for name in metrics}
    assert signatures["BLEU.sacrebleu"].startswith("nrefs:1|case:mixed")
    assert "|beta:3" in signatures["chrF:beta=3"]
    assert {"case:lc", "tok:intl"} <= set(signatures["BLEU:tok=intl,lc"].split("|"))


def test_scores_of_ratings_name_their_weights_and_models(folder: Path) -> None:
    def ratings(rater: str) -> list[Rating]:
        segments = [Segment("Das Haus", key=SegmentKey(system=name, index=0)) for name in "ABC"]
        return [Rating(segment, rater, (ErrorSpan(0, 3, Severity.MINOR),) * n) for n, segment in enumerate(segments)]

    matese.write(ratings("matese|model:x@1|weights:matese"), folder / "mine.jsonl")
    people = [*ratings("anna"), *ratings("ben")]
    shown = do(correlate, gold=people, metric=["mine.jsonl"], latex=True).out
    assert "% gold (people): weights:google|mean of 2 raters\n" in shown
    assert "% mine: matese|model:x@1|weights:google\n" in shown


def test_bertscore(wmt: str, folder: Path) -> None:
    bertscore_golden.make_encoder(folder / "tiny")
    metrics = figures(baseline=["bertscore", "bertscore-idf", "yisi"], encoder="tiny", layer=2, test_set=wmt)["metrics"]
    assert {"BERTScore (tiny)", "BERTScore-idf (tiny)", "YiSi-like (tiny)"} < set(metrics)
    assert metrics["BERTScore-idf (tiny)"]["en-de"]["signature"].endswith("|layer:2|idf:yes")
    assert isinstance(metrics["BERTScore (tiny)"]["en-de"]["system"]["pearson"], float)
    metrics = figures(baseline=["yisi"], test_set=wmt)["metrics"]
    assert metrics["YiSi-like (mini)"]["en-de"]["signature"].startswith("yisi|model:mini@")
    for arguments, place in (
        ({"baseline": ["bluu"]}, "unknown metric 'bluu', did you mean 'bleu'?"),
        ({"baseline": ["no/such/model"]}, "no model no/such/model: "),
        ({"encoder": "tiny"}, "--encoder "),
        ({"layer": 2}, "--layer "),
        ({"baseline": ["bertscore"], "encoder": "wmt"}, "wmt is not an encoder of transformers: "),
    ):
        assert refusal(correlate, test_set=wmt, **arguments).startswith(place)


def test_fitted_sentinels(folder: Path, wmt: str) -> None:
    (folder / wmt / "sources").mkdir(exist_ok=True)
    write(folder / wmt / "sources" / "en-de.txt", "One", "Two", "Three")
    metrics = figures(baseline=["sentinel-src-fit", "sentinel-mt-fit"], layer=1, test_set=wmt)["metrics"]
    assert metrics["sentinel-mt-fit"]["en-de"]["signature"].endswith("|layer:1|folds:5")
    # All systems translate the same sources, so that a metric of the source cannot tell them apart.
    of_source = metrics["sentinel-src-fit"]["en-de"]
    assert [of_source["system"]["pearson"], of_source["segment"]["pearson_by_item"]] == [None, None]
    write(folder / "a.jsonl", *rated({"ann": (0, 1, 3)}))
    assert "correlate" in refusal(compare, metrics=["sentinel-mt-fit"], ratings=["a.jsonl"])


def test_models_and_ratings_with_texts(folder: Path, wmt: str) -> None:
    (folder / wmt / "sources").mkdir(exist_ok=True)
    write(folder / wmt / "sources" / "en-de.txt", "One", "Two", "Three")
    metrics = figures(baseline=["mini"], test_set=wmt)["metrics"]
    assert {"mini", "mini.expected"} < set(metrics)
    assert "|inputs:reference|" in metrics["mini"]["en-de"]["signature"]
    line = '{{"hypothesis": "{}", "references": ["It rains."], "system": "{}", "index": 0, "errors": []}}'
    texts = {"A": "It rains.", "B": "It rain.", "C": "Rain."}
    for name in ("gold", "other"):
        write(folder / f"{name}.jsonl", *(line.format(text, system) for system, text in texts.items()))
    options = {"metric": ["other.jsonl"], "baseline": ["chrf"], "rank_by": "system.spa"}
    assert list(figures(gold="gold.jsonl", **options)["metrics"]) == ["other", "chrF"]
    for more in ({"baseline": ["chrf"]}, {"metric": ["other.jsonl"]}):
        refused = refusal(correlate, gold="-", **more)
        assert refused == "standard input: scores are read twice: give a regular file, not a pipe"
    refused = refusal(correlate, gold="gold.jsonl", baseline=["chrf"], metrics=["chrF"])
    assert refused.startswith("unknown metric 'chrF' of all")
    write(folder / "gold.score", "A 1", "B 2", "C 3")
    refused = refusal(correlate, gold="gold.score", baseline=["chrf"])
    assert refused.startswith("gold.score: scores without texts")


def test_plots(wmt: str, folder: Path) -> None:
    pytest.importorskip("matplotlib")
    do(correlate, samples=50, plot="plots", test_set=wmt)
    assert sorted(path.name for path in (folder / "plots").iterdir()) == ["en-de.systems.svg", "en-de.top-n.svg"]
    assert "human score" in (folder / "plots" / "en-de.systems.svg").read_text()
    top_n = (folder / "plots" / "en-de.top-n.svg").read_text()
    # Scores that differ by less than 25 have no daRR.
    assert ["tau-b of the translations" in top_n, "daRR" in top_n] == [True, False]
    assert refusal(correlate, plot="no/pe", test_set=wmt).endswith("/no does not exist; create it first")


NUMBERED = {"A": (-9, 0, 0, -2), "B": (-9, -4, -1, -3), "C": (-9, -2, -5, 0)}


def number_in_csv(first: int, *, leave_out: int = 0, document: str = "") -> list[str]:
    """Returns the rows of a CSV of NUMBERED whose segments start at `first`, without the first ones."""
    cell = f",{document}" if document else ""
    rows = [
        f"{system}{cell},{number},{score}"
        for system, scores in NUMBERED.items()
        for number, score in list(enumerate(scores, start=first))[leave_out:]
    ]
    return [f"system{',document' * bool(document)},segment,score", *rows]


@pytest.mark.parametrize(
    ("gold", "metric", "options", "is_joined"),
    [
        ("mqm.tsv", "0.csv", {}, True),
        ("mqm.tsv", "1.csv", {}, False),
        ("mqm.tsv", "1.csv", {"first_segment": ["1"]}, True),
        ("mqm.tsv", "1.csv", {"first_segment": ["1.csv=1"]}, True),
        ("average.tsv", "1.csv", {}, False),
        ("0.csv", "1.csv", {}, False),
        ("0.csv", "1.csv", {"first_segment": ["1.csv=1"]}, True),
        ("1.csv", "0.csv", {"first_segment": ["0", "1.csv=1"]}, True),
        ("1.csv", "mm.seg.score", {}, False),
        ("1.csv", "mm.seg.score", {"first_segment": ["1"]}, True),
        ("rest-from-1.csv", "1.csv", {}, False),
        ("rest-from-1.csv", "1.csv", {"first_segment": ["1"]}, True),
        ("documents.tsv", "documents-0.csv", {}, True),
        ("documents.tsv", "documents-1.csv", {}, False),
        ("documents.tsv", "documents-1.csv", {"first_segment": ["1"]}, True),
        ("average.tsv", "mm.seg.score", {}, True),
        ("average-0.tsv", "mm.seg.score", {"first_segment": ["average-0.tsv=0"]}, True),
        ("mm.seg.score", "0.jsonl", {}, True),
        ("mm.seg.score", "1.jsonl", {}, False),
        ("mm.seg.score", "1.jsonl", {"first_segment": ["1"]}, True),
    ],
)
def test_files_are_never_joined_one_off(
    folder: Path, *, gold: str, metric: str, options: dict[str, object], is_joined: bool
) -> None:
    marked = "<v>t</v>ext"
    line = '{{"hypothesis": "text", "system": "{}", "index": {}, "errors": [{}]}}'
    error = '{"start": 0, "end": 1, "severity": "minor"}'
    header = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
    for name, documents in (("mqm.tsv", ["d"]), ("documents.tsv", ["d", "e"])):
        ratings = [header]
        for document in documents:
            for system, scores in NUMBERED.items():
                for number, score in list(enumerate(scores, start=1))[1:]:
                    place = f"{system}\t{document}\t{number}\t{number}\tr\tsource\t"
                    ratings += [f"{place}{marked}\tFluency\tMinor"] * -score or [f"{place}text\tNo-error\tNo-error"]
        write(folder / name, *ratings)
    for first in (0, 1):
        write(folder / f"{first}.csv", *number_in_csv(first))
        rows = [(s, n, score) for s, own in NUMBERED.items() for n, score in enumerate(own, start=first)]
        write(folder / f"{first}.jsonl", *(line.format(s, n, ", ".join([error] * -score)) for s, n, score in rows))
        rows = [row for row in rows if row[1] > first]
        of_documents = [number_in_csv(first, document=document) for document in "de"]
        write(folder / f"documents-{first}.csv", *of_documents[0], *of_documents[1][1:])
        name = "average.tsv" if first else "average-0.tsv"
        write(folder / name, "system mqm_avg_score seg_id", *(f"{s}\t{score} {n}" for s, n, score in rows))
    write(folder / "rest-from-1.csv", *number_in_csv(1, leave_out=1))
    write(folder / "mm.seg.score", *(f"{system} {score}" for system, own in NUMBERED.items() for score in own))
    command = {"gold": gold, "metric": [metric], "rank_by": "segment.pearson", **options}
    if is_joined:
        (figures_of_metric,) = figures(**command)["metrics"].values()
        assert figures_of_metric["all"]["segment"]["pearson"] == pytest.approx(1)
    else:
        assert "--first-segment" in refusal(correlate, **command)


def test_segments_of_one_number_have_one_text(folder: Path) -> None:
    line = '{{"hypothesis": "text {}", "system": "{}", "index": {}, "errors": []}}'
    for first in (0, 1):
        write(folder / f"{first}.jsonl", *(line.format(k, system, k + first) for system in "ABC" for k in range(3)))
    assert "6 of 6 texts of 1 (all) differ" in refusal(correlate, gold="0.jsonl", metric=["1.jsonl"])


@pytest.mark.parametrize(
    ("rank_by", "columns"),
    [
        ("segment.kendall_b", ["metric", "mean", "en-de", "zh-en"]),
        ("average.wmt24", ["metric", "mean", "en-de system.spa", "en-de segment.acc_eq", "zh-en system.spa"]),
    ],
)
def test_all_language_pairs_in_one_table(folder: Path, rank_by: str, columns: list[str]) -> None:
    scores = [("en-de", (1, 2, 3, 4), (1, 2, 3, 4)), ("zh-en", (1, 2, 3, 4), (2, 1, 3, 4))]
    for name, column in (("gold", 1), ("mine", 2)):
        rows = [f"{row[0]},{s},{n},{row[column][n]}" for row in scores for s in "ABC" for n in range(4)]
        write(folder / f"{name}.csv", "lang_pair,system,segment,score", *rows)
    ran = do(correlate, gold="gold.csv", metric=["mine.csv"], rank_by=rank_by, samples=20)
    title, table = ran.out.partition(f"{rank_by} by language pair\n")[1:]
    assert title != ""
    header, row = table.splitlines()[:2]
    assert [name for name in columns if name not in header] == []
    if rank_by == "segment.kendall_b":
        _, mean, first, second = row.split()
        assert float(mean) == pytest.approx((float(first) + float(second)) / 2, abs=1e-4)
        assert float(first) == 1


def test_a_baseline_without_references(folder: Path, wmt: str) -> None:
    for path in (folder / wmt / "metric-scores" / "en-de").glob("*-ref*"):
        path.unlink()
    assert "segment 1 of en-de A ('eins')" in refusal(correlate, baseline=["bleu"], test_set=wmt)


@pytest.mark.parametrize(("ties", "darr"), [("discordant", 0.2), ("neither", 0.4), ("excluded", 0.5)])
def test_the_worked_example_of_darr(folder: Path, ties: TieRule, darr: float) -> None:
    page = (ROOT / "docs" / "research" / "correlate.md").read_text(encoding="utf-8")
    (block,) = (code_block for code_block in blocks(page, "text") if code_block.text.startswith("system,"))
    rows = [line.split(",") for line in block.text.splitlines()]
    for place, name in ((2, "human.csv"), (3, "metric.csv")):
        scores = [[*row[:2], row[place] if number else "score"] for number, row in enumerate(rows)]
        write(folder / name, *map(",".join, scores))
    evaluation = matese.correlate(
        gold="human.csv",
        metric=["metric.csv"],
        selection=matese.MetricSelection(first_segment="0"),
        figures=matese.CorrelationFigures(darr_ties=ties, samples=1, significance="none"),
    )
    assert evaluation.figures["all"]["metric"]["segment.darr"].value == pytest.approx(darr)


def test_a_system_that_is_the_reference_is_no_system(folder: Path) -> None:
    references = ["One.", "Two.", "Three."]
    texts = {
        "A": ["On.", "Two.", "Tree."],
        "B": ["Oe.", "To.", "Three."],
        "C": ["O.", "T.", "T."],
        "human": references,
        "typed": [f"{text} " for text in references],
    }
    error = ErrorSpan(0, 1, Severity.MINOR)
    ratings = [
        Rating(Segment(text, None, (references[at],), SegmentKey(system=system, index=at)), "r", (error,) * number)
        for number, (system, of_system) in enumerate(texts.items())
        for at, text in enumerate(of_system)
    ]
    matese.write(ratings, folder / "gold.jsonl")
    without_references = [replace(rating, segment=replace(rating.segment, references=())) for rating in ratings]
    matese.write(without_references, folder / "bare.jsonl")
    options = {"gold": "gold.jsonl", "baseline": ["chrf"], "samples": 50, "json": "-"}
    ran = do(correlate, **options)
    assert "left out systems human and typed" in ran.told
    about = json.loads(ran.out)["lang_pairs"]["all"]
    assert (about["systems"], set(about["left_out"])) == (["A", "B", "C"], {"human", "typed"})
    kept = do(correlate, **options, with_human=True)
    assert "left out" not in kept.told
    assert json.loads(kept.out)["lang_pairs"]["all"]["systems"] == list(texts)
    # The references of a metric's file show it, too.
    (pair,) = figures(gold="bare.jsonl", metric=["gold.jsonl"])["lang_pairs"].values()
    assert pair["systems"] == ["A", "B", "C"]


RANKS = (
    ("en-de", 1, "A", "B"),
    ("en-de", 1, "A", "C"),
    ("en-de", 2, "C", "B"),
    ("en-de", 3, "B", "A"),
    ("de-en", 1, "X", "Y"),
)


def test_relative_ranks_as_gold(folder: Path) -> None:
    write(folder / "RR-seglevel.csv", "LP DATA SID BETTER WORSE", *(f"{lp} t {n} {b} {w}" for lp, n, b, w in RANKS))
    scores: dict[str, dict[str, tuple[int, ...]]] = {
        "en-de": {"A": (9, 5, 5), "B": (1, 5, 5), "C": (9, 6, 0)},
        "de-en": {"X": (1,), "Y": (2,)},
    }
    rows = [
        (lang_pair, system, number, score)
        for lang_pair, of_systems in scores.items()
        for system, own in of_systems.items()
        for number, score in enumerate(own, start=1)
    ]
    write(folder / "BEER.seg.score", *(f"BEER\t{lp}\tt\t{s}\t{n}\t{score}" for lp, s, n, score in rows))
    write(folder / "bad", *(f"bad\t{lp}\tt\t{s}\t{n}\t{-score}" for lp, s, n, score in rows))
    options = {"gold": "RR-seglevel.csv", "metric": ["BEER.seg.score", "bad"], "rank_by": "segment.darr"}
    report = figures(**options)
    # Of the four pairs of en-de, the metric ties in two, which count as discordant.
    assert report["metrics"]["BEER"]["en-de"]["segment"] == {"darr": 0.0}
    assert report["metrics"]["BEER"]["de-en"]["segment"] == {"darr": -1.0}
    assert report["metrics"]["bad"]["en-de"]["segment"] == {"darr": -1.0}
    assert report["rankings"]["en-de"]["metrics"] == ["BEER", "bad"]
    about = report["lang_pairs"]["en-de"]
    assert (about["gold"], about["systems"], about["segments"]) == ("RR-seglevel", ["A", "B", "C"], 3)
    assert about["pairs"] == 4
    for more in ({"significance": "bootstrap", "bootstrap": 20}, {"significance": "none"}):
        assert figures(**options, **more)["metrics"]["BEER"]["en-de"]["segment"] == {"darr": 0.0}
    fewer = figures(lang_pairs=["en-de"], without=["C"], **options)
    assert (fewer["lang_pairs"]["en-de"]["systems"], list(fewer["lang_pairs"])) == (["A", "B"], ["en-de"])
    assert figures(**{**options, "rank_by": None})["rankings"]["en-de"]["figure"] == "segment.darr"
    assert report["metrics"]["BEER"]["en-de"]["top_n"] == {"darr": {"3": 0.0}}
    pytest.importorskip("matplotlib")
    do(correlate, plot="plots", **options)
    assert sorted(path.name for path in (folder / "plots").iterdir()) == ["de-en.top-n.svg", "en-de.top-n.svg"]
    assert "BEER" in (folder / "plots" / "en-de.top-n.svg").read_text()
    assert "without texts" in refusal(correlate, gold="RR-seglevel.csv", baseline=["chrf"])
    write(folder / "BEER.seg.score", "BEER\ten-de\tt\tA\t1\t1", "BEER\tde-en\tt\tX\t1\t1")
    assert "lacks segment 1 of system B" in refusal(correlate, **{**options, "metric": ["BEER.seg.score"]})
    write(folder / "1.csv", "system,segment,score", *(f"{s},{n},{score}" for lp, s, n, score in rows if lp == "en-de"))
    only_pair = {**options, "metric": ["1.csv"], "lang_pairs": ["en-de"]}
    assert "--first-segment" in refusal(correlate, **only_pair)


def test_ranks_with_the_verdicts_of_metrics(folder: Path) -> None:
    write(folder / "agree.csv", "SID BETTER WORSE BEER chrF", "1 A B 1 0", "1 A C 1 0", "2 B C 1 1", "3 C A 0 0")
    report = figures(gold="agree.csv", rank_by="segment.darr")
    darr = {name: node["all"]["segment"]["darr"] for name, node in report["metrics"].items()}
    assert darr == {"BEER": 0.5, "chrF": -0.5}


def three_systems(n_errors: tuple[int, ...]) -> list[Rating]:
    segments = [
        Segment("Das Haus", "A house", key=SegmentKey(system=name, document="d", index=index))
        for name in "ABC"
        for index in (0, 1)
    ]
    span = ErrorSpan(0, 3, Severity.MINOR, "Style")
    return [
        Rating(segment, "r", (span,) * n, estimate=Estimate(-n - 0.5, "mqm"))
        for segment, n in zip(segments, n_errors, strict=True)
    ]


def test_ratings_in_any_format(folder: Path) -> None:
    gold = three_systems((0, 1, 2, 2, 3, 4))
    predicted = three_systems((0, 2, 2, 1, 4, 3))
    matese.write(gold, folder / "gold.jsonl")
    matese.write([replace(rating, estimate=None) for rating in gold], folder / "gold.tsv", format="mqm-tsv")
    matese.write(predicted, folder / "pred.jsonl")
    matese.write(predicted, folder / "pred.csv")
    xcomet = {
        f"{name}.hyp": [
            {"src": "A house", "mt": "Das Haus", "COMET": 0.5 - loss, "errors": []} for loss in (0.1 * at, 0.2 * at)
        ]
        for at, name in enumerate("ABC")
    }
    write(folder / "x.json", json.dumps(xcomet))
    metrics = figures(gold="gold.jsonl", metric=["pred.jsonl"])["metrics"]
    for names in (("gold.tsv", "pred.jsonl"), ("gold.tsv", "pred.csv")):
        read_back = figures(gold=names[0], metric=[names[1]])["metrics"]
        assert read_back["pred"]["all"]["system"] == metrics["pred"]["all"]["system"], names
    assert list(figures(gold="gold.tsv", metric=["x.json"])["metrics"]) == ["x", "x.expected"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("system,segment,value\nA,0,1\n", "lacks column score: must be system, score and, if any, metric, lang_pair,"),
        ("system,segment,human,metric\nA,0,90,0.5\n", "lacks column score: "),
        ("system;segment;score\nA;0;1\n", "columns are separated by ';': must be separated by commas"),
    ],
)
def test_a_header_with_other_columns(folder: Path, text: str, problem: str) -> None:
    write(folder / "gold.csv", text)
    assert refusal(correlate, gold="gold.csv", metric=["gold.csv"]).startswith(f"gold.csv:1: {problem}")


def test_scores_of_systems_and_segments_in_two_files(wmt: str) -> None:
    folder = f"{wmt}/metric-scores/en-de"
    human = f"{wmt}/human-scores/en-de.mqm.seg.score"
    levels = [f"{folder}/BLEU-refA.{level}.score" for level in ("seg", "sys")]
    metrics = figures(gold=human, metric=[*levels])["metrics"]
    of_segments, of_systems = (figures(gold=human, metric=[one])["metrics"] for one in levels)
    assert metrics["BLEU-refA"]["all"]["segment"] == of_segments["BLEU-refA"]["all"]["segment"]
    assert metrics["BLEU-refA"]["all"]["system"]["pearson"] == of_systems["BLEU-refA"]["all"]["system"]["pearson"]
    again = refusal(correlate, gold=human, metric=[levels[0], f"./{levels[0]}"])
    assert again.startswith("two files of scores are named 'BLEU-refA'")


def test_two_systems_are_compared_by_their_segments(folder: Path) -> None:
    for name, scores in (("human.csv", (1, 2, 3, 4)), ("metric.csv", (1, 3, 2, 4))):
        places = [("A", 0), ("A", 1), ("B", 0), ("B", 1)]
        write(
            folder / name, "system,segment,score", *(f"{s},{n},{v}" for (s, n), v in zip(places, scores, strict=True))
        )
    ran = do(correlate, gold="human.csv", metric=["metric.csv"], json="-")
    assert "metrics are ordered by segment.kendall_b" in ran.told
    (ranking,) = json.loads(ran.out)["rankings"].values()
    assert ranking["figure"] == "segment.kendall_b"
    assert "system.pearson" in refusal(correlate, gold="human.csv", metric=["metric.csv"], rank_by="system.pearson")


def test_files_that_number_their_segments_alike(folder: Path) -> None:
    """Whoever wrote both began with the same number; a file with others is refused, and both are named."""
    rows = [(system, number) for system in "ABC" for number in (5, 6)]
    for name, scores in (("human.csv", (1, 2, 2, 3, 4, 3)), ("metric.csv", (0.1, 0.2, 0.2, 0.3, 0.5, 0.4))):
        write(folder / name, "system,segment,score", *(f"{s},{n},{v}" for (s, n), v in zip(rows, scores, strict=True)))
    report = figures(gold="human.csv", metric=["metric.csv"], significance="none")
    assert report["metrics"]["metric"]["all"]["system"]["pearson"] == pytest.approx(0.9820, abs=1e-4)
    write(folder / "metric.csv", "system,segment,score", *(f"{s},{n + 1},0" for s, n in rows))
    refused = refusal(correlate, gold="human.csv", metric=["metric.csv"])
    assert refused.startswith("metric (all) has segments 6 to 7 and human 5 to 6")
