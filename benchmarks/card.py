"""Puts the figures of benchmarks/results/ into the model card, the README and docs/mini.md, as their tables.

    PYTHONPATH=. python benchmarks/card.py

`quality.py`, `demetr.py`, `copies.py`, `evaluate_mini.py` and `ablations.py` write those figures. A table stands
between the comments `NAME: begin` and `NAME: end`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ablations import table as ablation_table  # type: ignore[import-not-found]
from copies import table as copies_table  # type: ignore[import-not-found]
from figures_page import put, shown  # type: ignore[import-not-found]  # beside this script, which is no package

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
DEV, WMT22, DEMETR, FIGURES, ABLATIONS = "mini-dev", "mini-wmt22-test", "demetr-mini", "mini-figures", "ablations"
PAPER, WMT22_DEV, COPIES = "mini-paper-pairs", "mini-wmt22-dev", "copies-mini"
_BASELINES = ("BLEU", "chrF", "TER")


def main() -> None:
    """Writes the tables."""
    dev, wmt22, demetr, figures, ablations, paper, wmt22_dev, copies = (
        json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
        for name in (DEV, WMT22, DEMETR, FIGURES, ABLATIONS, PAPER, WMT22_DEV, COPIES)
    )
    ingredients = {"ablations": list(ablation_table(ablations["figures"]))}
    fill(
        ROOT / "matese/models/mini/README.md",
        {
            "spans": spans(dev),
            "tags": tags(dev),
            "spans of wmt22": spans(wmt22),
            "spans of the paper's pairs": spans(paper),
            "spans of wmt22-dev": spans(wmt22_dev),
            "operating points": points(dev),
            "scores": scores(dev),
            "scores of wmt22": scores(wmt22),
            "scores of wmt22-dev": scores(wmt22_dev),
            "intervals": intervals(figures["data"]),
            "demetr": kinds(demetr["shares"]),
            "copies": copies_table(copies["pairs"]),
            **ingredients,
        },
    )
    fill(ROOT / "docs/mini.md", ingredients)
    fill(ROOT / "README.md", {"figures of mini": overview(dev, wmt22)})


def fill(path: Path, tables: Mapping[str, Iterable[str]]) -> None:
    """Puts tables into a page."""
    text = path.read_text(encoding="utf-8")
    for name, lines in tables.items():
        text = put(text, "\n".join(lines) + "\n", name)
    path.write_text(text, encoding="utf-8")


def spans(found: Mapping[str, Any]) -> list[str]:
    """Returns the figures of spans at the operating point, by input."""
    rows = []
    for inputs, own in found["inputs"].items():
        point = own["points"][f"{own['operating_point']:g}"]
        macro = point["tokens"]["macro"]
        values = (
            macro["precision"],
            macro["recall"],
            macro["f1"],
            point["words"]["macro"]["f1"],
            point["hsh"],
            point["tsh"],
        )
        rows.append([inputs, *map(_shown, values)])
    return table(["input", "P", "R", "F1", "F1, words", "HSH", "TSH"], rows)


def tags(found: Mapping[str, Any]) -> list[str]:
    """Returns the F1 of each tag at the operating point, by input."""
    chosen = {
        name: own["points"][f"{own['operating_point']:g}"]["tokens"]["f1"] for name, own in found["inputs"].items()
    }
    names = list(next(iter(chosen.values())))
    return table(["input", *names], [[name, *(_shown(own[tag]) for tag in names)] for name, own in chosen.items()])


def points(found: Mapping[str, Any]) -> list[str]:
    """Returns HSH, TSH and macro-F1 at every least confidence, by input."""
    inputs = found["inputs"]
    rows = []
    for point in next(iter(inputs.values()))["points"]:
        own = [one["points"][point] for one in inputs.values()]
        cells = [
            " / ".join(_shown(value) for value in (one["hsh"], one["tsh"], one["tokens"]["macro"]["f1"])) for one in own
        ]
        rows.append([point, *cells])
    return table(["min-confidence", *inputs], rows)


def scores(found: Mapping[str, Any]) -> list[str]:
    """Returns Pearson and Kendall of the model's scores and of the baselines, by language pair."""
    metrics: dict[str, Mapping[str, Any]] = {}
    for inputs, own in found["inputs"].items():
        metrics[f"mini, {inputs}"] = own["score"]["expected_score"]
    for inputs, own in found["inputs"].items():
        metrics[f"mini, {inputs}, score of the spans"] = own["span_score"]["score"]
    metrics |= {name: own for name, own in found.get("baselines", {}).items() if name in _BASELINES}
    parts = next(iter(metrics.values()))
    heads = [f"{part} ({own['n']:,})" for part, own in parts.items()]
    rows = [
        [name, *(f"{own[part]['pearson']:.3f} / {own[part]['kendall']:.3f}" for part in parts)]
        for name, own in metrics.items()
    ]
    return table(["metric", *heads], rows)


def kinds(shares: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Returns in how many of 100 pairs each metric is right, by kind of error."""
    names = {"expected_score": "mini", "score": "spans of mini", **{name: name for name in ("chrF", "BLEU", "TER")}}
    rows = [[kind, *(f"{100 * own[name]:.1f}" for name in names)] for kind, own in shares.items()]
    return table(["kind", *names.values()], rows)


def intervals(data: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns the figures of scores by part, with their 95% intervals where they were resampled."""
    names = {
        "segment.pearson": "Pearson",
        "segment.kendall_b": "Kendall",
        "segment.acc_eq": "acc*eq",
        "segment.pearson_by_item": "Pearson within items",
        "system.accuracy": "system accuracy",
    }
    rows = [
        [f"{of['name']}: {part}", metric.removesuffix(", score"), f"{n:,}", *(shown(own.get(key)) for key in names)]
        for of in data
        for part, metric, n, own in of["scores"]
        if not metric.endswith(", spans")
    ]
    return table(["part", "score", "segments", *names.values()], rows)


def overview(dev: Mapping[str, Any], wmt22: Mapping[str, Any]) -> list[str]:
    """Returns the few figures of the README."""
    pairs = [part for part in wmt22["baselines"]["chrF"] if part != "all"]
    heads = ["", "macro-F1", "HSH", "TSH", "Pearson", "Kendall", *(f"WMT22 {pair}" for pair in pairs)]
    rows = []
    for inputs, own in dev["inputs"].items():
        point, score = own["points"][f"{own['operating_point']:g}"], own["score"]["expected_score"]["all"]
        other = wmt22["inputs"][inputs]["score"]["expected_score"]
        values = (point["tokens"]["macro"]["f1"], point["hsh"], point["tsh"], score["pearson"], score["kendall"])
        rows.append([inputs, *map(_shown, values), *(_shown(other[pair]["kendall"]) for pair in pairs)])
    for name in _BASELINES:
        score, other = dev["baselines"][name]["all"], wmt22["baselines"][name]
        cells = map(_shown, (score["pearson"], score["kendall"], *(other[pair]["kendall"] for pair in pairs)))
        rows.append([name, "", "", "", *cells])
    return table(heads, rows)


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Returns the lines of a table in Markdown."""
    names = list(heads)
    return [_line(names), f"|{'---|' * len(names)}", *map(_line, rows)]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


if __name__ == "__main__":
    main()
