"""The ruler on data made by hand: what is drawn, and the arithmetic of its figures."""

from __future__ import annotations

import json
import lzma
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import matese
from benchmarks import contrast, held_out, ruler, ruler_data, ruler_scores
from benchmarks.ruler import Metric
from benchmarks.ruler_data import Anchor, Pair, Part, Ruler, Similar
from benchmarks.ruler_scores import Judgement
from data_prep import short_texts, splits
from data_prep.segment_scores import FOLDERS
from data_prep.splits import HeldOut
from data_prep.store import Store
from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, Severity
from matese.model.texts.encoding import InputKind

N = 24
SOURCES = [f"Es regnete {number} Tage." for number in range(N)]
REFERENCES = [f"It rained for {number} days." for number in range(N)]
# The better the system, the fewer days are wrong.
SYSTEMS = {"Good": 0, "Fair": 8, "Poor": 16}


def hypothesis(system: str, number: int) -> str:
    return f"It rained for {number + (number < SYSTEMS[system])} days."


def human(system: str, number: int, *, test_set: str = "newstest", score: float | None = None) -> Rating:
    text = hypothesis(system, number)
    is_wrong = text != REFERENCES[number]
    spans = (ErrorSpan(14, 15, Severity.MAJOR),) if is_wrong else ()
    key = SegmentKey(test_set, "de-en", system, None, number)
    value = -5.0 * is_wrong if score is None else score
    return Rating(
        Segment(text, SOURCES[number], (REFERENCES[number],), key), "ann", spans, overall=Overall(value, "mqm")
    )


def part(judge: str = "mqm", systems: Mapping[str, float] | None = None) -> Part:
    ratings = tuple(human(system, number) for system in SYSTEMS for number in range(N))
    golds = tuple(rating.overall.value if rating.overall and systems is None else np.nan for rating in ratings)
    return Part(judge, "newstest de-en", ratings, golds, systems, N)


PAIR = Pair(
    id="de-en-1",
    lang_pair="de-en",
    domain="news",
    kind="number",
    source="Zwei Hunde bellen.",
    reference="Two dogs bark.",
    correct="A pair of dogs is barking.",
    wrong="Ten dogs bark.",
    span=(0, 3),
)
ITEM = next(item for item in contrast.read() if item.bad)
_RIGHT = Segment("A pair of dogs is barking.", "Zwei Hunde bellen.", ("Two dogs bark.",))
_WRONG = replace(_RIGHT, hypothesis="Ten dogs bark.")
CASES = (
    held_out.Case("sentences", "number", _RIGHT, _WRONG, ((0, 3),)),
    held_out.Case("joined 4", "joined 4", _RIGHT, _WRONG, ((4, 8),)),
    held_out.Case("mined", "mined", replace(_RIGHT, references=()), replace(_WRONG, references=()), ((0, 3),)),
    held_out.Case("cheat: twice", "twice", _RIGHT, replace(_RIGHT, hypothesis="Two dogs bark. Two dogs bark.")),
)


def tiny_ruler(*parts: Part) -> Ruler:
    rows = [("It rains.", "Rain falls.", 5.0), ("It rains.", "It is wet.", 3.0), ("It rains.", "Go.", 0.0)]
    sts = [
        Similar(row, "en", Segment(second, None, (first,)), similarity)
        for row, (first, second, similarity) in enumerate(rows)
    ]
    cross = [replace(pair, lang_pair="en-de", segment=Segment("x" * pair.row, "It rains.")) for pair in sts]
    anchor = Anchor((Segment("It is dry.", None, ("Dry.",)),), (Segment("It is wet.", None, ("Dry.",)),))
    return Ruler(parts, (PAIR, replace_pair(span=None)), (ITEM,), tuple(sts), tuple(cross), (anchor,), CASES)


def replace_pair(**values: object) -> Pair:
    return msgspec.structs.replace(PAIR, **values)


def metric(values: Mapping[str, float], inputs: InputKind = "reference") -> Metric:
    """Returns a metric that knows the score of each hypothesis; 0 for others."""

    def judge(segments: Sequence[Segment]) -> list[Judgement]:
        scores = [values.get(segment.hypothesis, 0.0) for segment in segments]
        return [Judgement(score, score, ((0, 2, "major"),) if score < 0 else (), score < 0) for score in scores]

    return Metric(
        "hand", inputs, lambda segments: np.array([judgement.expected for judgement in judge(segments)]), judge
    )


@pytest.mark.parametrize("inputs", ruler.INPUTS)
def test_weights_add_up_to_one(inputs: InputKind) -> None:
    weights = ruler.WEIGHTS[inputs]
    assert sum(weights.values()) == pytest.approx(1)
    assert sum(weights[name] for name in ("acc*eq", "Kendall", "Pearson")) == pytest.approx(0.35)
    assert sum(value for name, value in weights.items() if name.startswith("spans")) == pytest.approx(0.15)
    measured = ruler.measure(tiny_ruler(*(part(judge) for judge in ruler.WITHIN)), metric({}, inputs))
    assert set(weights) <= set(measured)
    assert ruler.SCORE in measured


@pytest.mark.parametrize(
    ("factor", "acc_eq", "kendall", "pearson", "systems"),
    [
        (1.0, 1, 1, 1, 1),
        # Two of three pairs are ordered wrong on the first 16 sources; all pairs are ties on the last 8.
        (-1.0, 5 / 9, -1, -1, 0),
        (0.0, 5 / 9, np.nan, np.nan, 0.5),
    ],
)
def test_agreement_within_sources_and_of_systems(
    factor: float, acc_eq: float, kendall: float, pearson: float, systems: float
) -> None:
    translations = part()
    values = factor * np.array(translations.golds)
    drawn = ruler.resample(translations.n_sources, translations.name)
    figures = ruler.within_sources(translations, values, drawn)
    assert figures["acc*eq"].value == pytest.approx(acc_eq)
    assert [figures["Kendall"].value, figures["Pearson"].value] == pytest.approx([kendall, pearson], nan_ok=True)
    order = ruler.share([ruler.order_systems(translations, values, drawn)])
    assert [order.value, order.n] == pytest.approx([systems, 3])


def test_systems_are_compared_on_the_sources_they_share_or_with_official_scores() -> None:
    # Poor only translates the sources that Good and Fair translate right.
    ratings = tuple(
        human(system, number) for system in SYSTEMS for number in range(N) if system != "Poor" or number >= N - 6
    )
    golds = tuple(0.0 if rating.segment.key and rating.segment.key.system == "Poor" else -1.0 for rating in ratings)
    translations = Part("mqm", "x", ratings, golds, None, N)
    drawn = ruler.resample(translations.n_sources, translations.name)
    values = np.array([float(number) for number, _ in enumerate(ratings)])
    # Good and Fair are equal for people, and do not count.
    assert ruler.share([ruler.order_systems(translations, values, drawn)]).n == 2
    short = Part("mqm", "x", ratings[: 2 * N] + ratings[-4:], golds[: 2 * N] + golds[-4:], None, N)
    assert ruler.share([ruler.order_systems(short, values[: 2 * N + 4], drawn)]).n == 0
    official = part("da", {"Good": 0.2, "Fair": 0.3, "Poor": -1.0})
    values = np.array([-SYSTEMS[rating.segment.key.system or ""] for rating in official.ratings if rating.segment.key])
    order = ruler.share([ruler.order_systems(official, values * 1.0, ruler.resample(N, "x"))])
    assert [order.value, order.n, order.error] == pytest.approx([2 / 3, 3, 0])


def test_spans() -> None:
    translations = part()
    drawn = ruler.resample(translations.n_sources, translations.name)
    right = [Judgement.of(rating) for rating in translations.ratings]
    figures = ruler.spans_of(translations, right, drawn)
    names = ("spans MPP", "spans characters", "spans balance", "spans found and confirmed")
    assert {figures[name].value for name in names} == {1}
    minor = [Judgement(0.0, 0.0, tuple((0, 2, "minor") for _ in judgement.spans or ()), True) for judgement in right]
    figures = ruler.spans_of(translations, minor, drawn)
    assert figures["spans MPP"].value == 0
    assert [figures[f"spans {name}"].value for name in ("Major", "Major of raters", "balance")] == [0, 1, 0]


def test_meaning() -> None:
    values = {PAIR.wrong: -1.0, "Rain falls.": -0.1, "It is wet.": -0.5, "Go.": -2.0}
    figures = ruler.of_meaning(tiny_ruler(), metric(values))
    shown = {name: figure.value for name, figure in figures.items()}
    assert shown["meaning pairs"] == shown["meaning pairs, others"] == 1
    assert "meaning pairs, es/it/pt/ko" not in shown
    assert shown["contrast"] == 0.5
    assert [shown[name] for name in ("correct unmarked", "wrong marked", "meaning marks")] == [1, 1, 1]
    assert shown["STS"] == pytest.approx(1)
    assert shown["CANNOT"] == 1
    assert "CANNOT" not in ruler.of_meaning(tiny_ruler(), metric(values, "source"))
    elsewhere = replace(tiny_ruler(), pairs=(replace_pair(span=(4, 8), lang_pair="es-en"),))
    shown = {name: figure.value for name, figure in ruler.of_meaning(elsewhere, metric(values)).items()}
    assert [shown["wrong marked"], shown["meaning pairs, es/it/pt/ko"]] == [0, 1]


def test_held_out_contrasts() -> None:
    figures = ruler.of_held_out(CASES, metric({_WRONG.hypothesis: -1.0}))
    shown = {name: figure.value for name, figure in figures.items()}
    assert [shown[f"written {name}"] for name in ("found", "right", "unmarked", "above")] == [1, 1, 1, 1]
    assert [shown[f"joined {name}"] for name in ("found", "right")] == [0, 0], "the mark is elsewhere"
    assert shown["cheats above"] == 0.5
    assert "mined above" not in shown, "without a reference"
    assert ruler.of_held_out(CASES, metric({_WRONG.hypothesis: -1.0}, "source"))["mined above"].value == 1
    chrf = replace(metric({}), judge=None)
    assert set(ruler.of_held_out(CASES, chrf)) == {"written above", "joined above", "cheats above"}


def test_predictions_and_baselines_are_remembered(tmp_path: Path) -> None:
    annotator = matese.load("mini", threads=1)
    segments = [rating.segment for rating in part().ratings[:3]]
    made = ruler_scores.predict(annotator, "reference", segments, cache=tmp_path)
    assert list(made) == [ruler_scores.bare(segment, "reference") for segment in segments]
    (path,) = tmp_path.iterdir()
    lines = path.read_bytes().splitlines(keepends=True)
    changed = lines[0].replace(lines[0].split(b",")[1], b"[7")
    # The second line was not written to its end.
    path.write_bytes(changed + lines[1][:-5])
    again = ruler_scores.predict(annotator, "reference", segments, cache=tmp_path)
    assert [judgement.expected for judgement in again.values()] == [
        7,
        *(judgement.expected for judgement in list(made.values())[1:]),
    ]
    assert ruler_scores.predict(annotator, "reference", segments, cache=tmp_path) == again
    chrf = ruler.chrf(tmp_path)
    scores = chrf.score([*segments, segments[0]])
    assert scores[0] == scores[3] == 100
    assert chrf.score([*segments, segments[0]]).tolist() == scores.tolist()


def write_short_texts(folder: Path) -> None:
    """Writes held-out contrasts, their references as parallel texts, and minimal pairs of these."""
    folder.mkdir()
    blocks: list[dict[str, Any]] = [
        {
            "lp": "de-en",
            "text": "sentence",
            "source": source,
            "reference": f"It rained for {number} days.",
            "correct": [f"There were {number} days of rain."],
            "wrong": [{"kind": "related", "text": f"There were {number} days of snow.", "spans": []}],
            "minor": [],
            "missing": [],
        }
        for number, source in enumerate(f"Es regnete {number} Tage." for number in range(200))
        if short_texts.is_held_out(source)
    ]
    for block in blocks:
        entry = block["wrong"][0]
        entry["spans"] = [[entry["text"].index("snow"), entry["text"].index("snow") + 4]]
    (folder / "written.json.xz").write_bytes(lzma.compress(json.dumps(blocks).encode()))
    rows = [{"lp": "de-en", "src": block["source"], "tgt": block["reference"]} for block in blocks]
    (folder / "parallel.jsonl").write_text("\n".join(map(json.dumps, rows)))
    pairs = short_texts.minimal_pairs(short_texts.read_parallel(Store(folder.parent)), seed=0)
    (folder / "pairs.jsonl").write_text("\n".join(map(short_texts.dumps, pairs)))


@pytest.fixture
def raw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Raw files of each kind; the first source is not held out."""
    monkeypatch.setattr(splits, "committed", lambda: HeldOut(frozenset(map(splits.fingerprint, SOURCES[1:]))))
    files: dict[str, list[str]] = {}
    for test_set in ("newstest2021", "generaltest2022"):
        start = f"wmt/{test_set}/txt"
        for pair in ("zh-en", "cs-en"):
            source, _ = pair.split("-")
            sources = SOURCES if pair == "zh-en" else [f"{text} {text}" for text in SOURCES]
            files[f"{start}/sources/{test_set}.{pair}.src.{source}"] = sources
            files[f"{start}/references/{test_set}.{pair}.ref.A.en"] = REFERENCES
            for system in SYSTEMS:
                name = f"{start}/system-outputs/{test_set}.{pair}.hyp.{system}.en"
                files[name] = [hypothesis(system, number) for number in range(N)]
        folder, part_of_name = FOLDERS[test_set]
        for pair in ("zh-en", "cs-en"):
            name = f"{folder}/humaneval/{part_of_name.replace('seg', 'sys')}{pair}.csv"
            rows = [f"70 {-value / 10} 5 {system}.{value} 6" for system, value in SYSTEMS.items()]
            files[name] = ["RAW.SCR Z.SCR N SYS N.ALL", *rows, "70 0.1 5 HUMAN.0 6"]
    answers = {"DA": (100, 50), "SQM": (100, 50), "Stars": (5, 3), "Classes": (4, 2)}
    for prompt, (right, wrong) in answers.items():
        for text in ("refA", "src"):
            name = f"{ruler_data.GEMBA}/scores/zh-en/GEMBA-GPT4-{prompt}-{text}.seg.score"
            files[name] = [
                f"{system}\t{right if hypothesis(system, number) == REFERENCES[number] else wrong}"
                for system in SYSTEMS
                for number in range(N)
            ]
    for language in ("en", "de"):
        files[f"{ruler_data.STS}/data/stsb-{language}-test.csv"] = [
            f'"{language}, a","one{number}",{number % 6}' for number in range(12)
        ]
    files[f"{ruler_data.CANNOT}/data/cannot_wmt_test.csv"] = [
        "candidate,reference,source,score",
        *("It is dry.,It is not wet.,cannot,1.0", "It is wet.,It is dry.,cannot,0.0", "Far.,Near.,wmt15,0.3"),
    ]
    for name, lines in files.items():
        path = tmp_path / "raw" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    write_short_texts(tmp_path / "raw" / "short")
    monkeypatch.setattr(held_out, "N_JOINED", {4: 2, 10: 2})
    monkeypatch.setattr(held_out, "_N_NUMBERS", 2)
    (tmp_path / "prepared").mkdir()
    for judge, name in ruler_data.PREPARED.items():
        ratings = [human(system, number, test_set=judge) for system in SYSTEMS for number in range(N)]
        matese.write(ratings, tmp_path / "prepared" / f"{name}.jsonl")
    (tmp_path / "pairs.jsonl").write_bytes(msgspec.json.encode(PAIR) + b"\n")
    return tmp_path


def test_only_held_out_sources_are_drawn(raw: Path) -> None:
    data = ruler_data.read(Store(raw / "raw"), raw / "prepared", raw / "pairs.jsonl")
    names = [(one.judge, one.name, one.n_sources, one.n_held_out) for one in data.parts]
    assert names == [
        ("gpt4", "generaltest2022 zh-en", 23, 23),
        ("esa", "esa de-en", 24, 24),
        ("mqm", "mqm de-en", 24, 24),
        ("bio", "bio de-en", 24, 24),
        ("da", "newstest2021 zh-en", 23, 23),
        ("da", "generaltest2022 zh-en", 23, 23),
    ]
    gpt4 = data.parts[0]
    assert set(gpt4.golds) == {1.0, 0.5}
    assert SOURCES[0] not in {segment.source for segment in gpt4.segments}
    assert data.parts[-1].systems == {"Good": 0.0, "Fair": -0.8, "Poor": -1.6, "HUMAN": 0.1}
    assert [(one.lang_pair, one.segment.source) for one in data.cross[:1]] == [("en-de", "en, a")]
    assert len(data.sts) == 2 * len(data.cross) == 24
    (anchor,) = data.cannot
    assert [anchor.paraphrases[0].hypothesis, anchor.opposites[0].hypothesis] == ["It is not wet.", "It is wet."]
    assert {"sentences", "joined 4", "joined 10", "numbers 16", "cheat: twice", "mined", "strings"} <= {
        case.name for case in data.cases
    }
    for case in data.cases:
        assert short_texts.is_held_out((case.right.source or "").partition(". ")[0].rstrip(".") + ".")
        assert case.wrong is None or all(case.wrong.hypothesis[start:end].strip() for start, end in case.spans)
    third = ruler_data.read(Store(raw / "raw"), raw / "prepared", raw / "pairs.jsonl", every=3)
    assert third.parts[0].n_sources == 8
    assert {segment.source for segment in third.parts[0].segments} < {segment.source for segment in gpt4.segments}


def test_the_command(raw: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["ruler", "mini", "--every", "4", "--no-baselines", "--data", str(raw / "raw")]
    command += ["--prepared", str(raw / "prepared"), "--pairs", str(raw / "pairs.jsonl"), "--cache", str(raw / "cache")]
    monkeypatch.setattr(sys, "argv", [*command, "--json", str(raw / "out.json")])
    monkeypatch.setattr(contrast, "read", lambda: [ITEM])
    ruler.main()
    shown = capsys.readouterr().out
    figures = json.loads((raw / "out.json").read_text())
    (score,) = figures["scores"].values()
    assert f"{score['value']:.3f} ± {score['error']:.3f}" in shown
    assert len(figures["figures"]) == 2
    assert {"acc*eq", "systems, DA", "spans MPP", "STS"} <= set(next(iter(figures["figures"].values())))
