"""Write the figures in the model card and the README from benchmarks/results/*-mini.json.

    python -m benchmarks.card
    python -m benchmarks.card docs/explain.md ...

Use the second form after the tables of these pages have been measured again: it only replaces the fingerprint in
"mini@...", which a test compares with the fingerprint of the embedded model.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.markdown import fill, shown, table
from benchmarks.quality import ALL
from matese.model import recall
from matese.model.storage import checkpoint

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
TESTS = {"dev": "WMT20-21, held out", "wmt22-test": "WMT22", "bio-test": "biomedical", "esa-test": "WMT24 ESA"}
_WITH_SYSTEMS = ("dev", "bio-test", "esa-test")
"""Test sets in which several systems translate each source."""
_OF_MARKS = {
    "Of its marks, how many overlap a mark of a person? (WMT20-21)": "hsh",
    "Of people's marks, how many does it find?": "tsh",
    "Of the segments without a mark by people, in how many does it mark something? (fewer is better)": "marked_free",
}
_OF_PAIRS = {
    "Of pairs of systems, how many does it order as people do? (WMT20-21, biomedical, WMT24)": "system.accuracy",
    "Of pairs of translations of one source, how many? (ties calibrated)": "segment.acc_eq",
}
NAMES = ("quality", "contrast", "sanity", "demetr", "held-out")
_OF_CONTRASTS = {
    "Of errors of meaning in sentences that are worded unlike the reference, how many does it mark?": (
        "sentences",
        "found",
    ),
    "Of errors in strings of programs?": ("app strings", "found"),
    "Of wrong sentences among ten in a paragraph?": ("joined 10", "found"),
    "Of its marks in wrong sentences, how many are on the error?": ("sentences", "right"),
    "Of correct sentences, how many have no mark?": ("sentences", "unmarked"),
    "Of correct paragraphs of ten sentences?": ("joined 10", "unmarked"),
    "Of pairs of a correct and a wrong sentence, how many does the expected score order right?": ("sentences", "above"),
}
HEADS = ("test set", "input", "F1", "HSH", "TSH", "spans (raters)", "false alarms", "Kendall", "acc*eq", "pairs")


def main() -> None:
    """Writes the figures, or the fingerprint."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=Path, help="pages whose tables were measured again")
    pages = parser.parse_args().pages
    for page in pages:
        page.write_text(re.sub(r"mini@[0-9a-f]{8}", embedded(), page.read_text(encoding="utf-8")), encoding="utf-8")
    if not pages:
        write(ROOT / "matese/models/mini/README.md", ROOT / "README.md")


def embedded() -> str:
    """Returns the name and fingerprint of the embedded model."""
    return f"mini@{checkpoint.fingerprint(checkpoint.resolve('mini'))}"


def write(model_card: Path, readme: Path) -> None:
    """Writes the figures.

    Raises:
        ValueError: if some figures are not of the embedded model.
    """
    results = {name: json.loads((RESULTS / f"{name}-mini.json").read_text(encoding="utf-8")) for name in NAMES}
    if old := [name for name, result in results.items() if result["model"] != embedded()]:
        raise ValueError(f"the figures of {', '.join(old)} are not of {embedded()}; measure them again")
    tests = results["quality"]["tests"]
    held_out = results["held-out"]["figures"]
    measured = f"Measured with `{embedded()}`."
    fill(
        model_card,
        {
            "held out": [*contrasts(held_out), "", *recall_tables(model_card.parent)],
            "figures": [*card(tests), "", measured],
            "errors": errors(results),
        },
    )
    fill(readme, {"figures of mini": overview(tests, held_out)})


def card(tests: dict[str, Any]) -> list[str]:
    """Returns the table of the model card: each test set with each kind of input, and chrF."""
    rows = []
    for test, title in TESTS.items():
        scores = tests[test]["scores"][ALL]
        for inputs, spans in tests[test]["spans"].items():
            expected = scores[f"{inputs}, expected score"]
            score = scores[f"{inputs}, score"]
            n_spans = f"{spans['spans']:.1f} ({spans['gold_spans']:.1f})"
            of_spans = [*(shown(spans[name]) for name in ("tags.macro.f1", "hsh", "tsh")), n_spans]
            pairs = [(expected.get(name), score.get(name)) for name in ("segment.acc_eq", "system.accuracy")]
            both = ["-" if None in pair else " / ".join(map(shown, pair)) for pair in pairs]
            alarms = shown(spans["marked_free"])
            rows.append([title, inputs, *of_spans, alarms, shown(expected["segment.kendall_b"]), *both])
        chrf = [shown(scores["chrF"][name]) for name in ("segment.kendall_b", "segment.acc_eq", "system.accuracy")]
        rows.append([title, "chrF", *[""] * 5, *chrf])
    return table(HEADS, rows)


def errors(results: dict[str, dict[str, Any]]) -> list[str]:
    """Returns the lines of the model card on hand-written and injected errors."""
    demetr = results["demetr"]
    sane = results["sanity"]["shares"]["all"]
    of, by = (results["contrast"]["inputs"][inputs]["all"] for inputs in ("reference", "source"))
    drops, chrf = (_percent(demetr["shares"]["mean over kinds"][name], 1) for name in ("expected_score", "chrF"))
    return [
        "- Contrast, hand-written minimal pairs and rewordings: with a reference, the expected score prefers the",
        f"  rewording in {_percent(of['expected score'])} of the pairs (chrF: {_percent(of['chrF'])}),",
        f"  {_percent(of['marked'])} of the errors of meaning are marked at their place, and",
        f"  {_percent(of['unmarked'])} of the correct rewordings have no mark. From the source alone:",
        f"  {_percent(by['expected score'])}, {_percent(by['marked'])} and {_percent(by['unmarked'])}.",
        "- Sanity, hand-written good translations beside obviously wrong ones: the good one has the higher expected",
        f"  score in {_percent(sane['reference'])} of the pairs with a reference (chrF: {_percent(sane['chrF'])}),",
        f"  and in {_percent(sane['source'])} by the source alone.",
        f"- DEMETR, {demetr['pairs']:,} pairs with 35 kinds of injected errors: with a reference, the expected score",
        f"  drops in {drops} of them (chrF: {chrf}); ties count half.",
    ]


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def contrasts(held_out: dict[str, Any]) -> list[str]:
    """Returns the table of held-out contrasts, by set and kind of input."""
    columns = ("found", "right", "unmarked", "above", "below -1")
    rows = []
    for name, by_input in held_out.items():
        for inputs in ("reference", "source"):
            if inputs in by_input:
                figures = by_input[inputs]
                shares = ["" if figures[column] is None else _percent(figures[column]) for column in columns]
                rows.append([name, inputs, str(figures["n"]), *shares])
    return table(
        ["set", "input", "n", "found", "marks right", "right ones unmarked", "right above wrong", "below -1"], rows
    )


def recall_tables(directory: Path) -> list[str]:
    """Returns the tables of errors found, by kind of error and by target language, with their 95 % intervals."""
    recalls = recall.read(directory)
    assert recalls is not None, "benchmarks.held_out --recall writes it"
    lines: list[str] = []
    for part in ("kinds", "languages"):
        by_input = {inputs: getattr(of_input, part) for inputs, of_input in recalls.inputs.items()}
        names = sorted(by_input["source"], key=lambda name: (-by_input["source"][name].n, name))
        rows = []
        for name in names:
            shares = [by_input[inputs][name] for inputs in ("reference", "source")]
            cells = [
                f"{_percent(measured.share)} ({100 * measured.low:.0f} to {100 * measured.high:.0f})"
                for measured in shares
            ]
            rows.append([name, str(shares[1].n), *cells])
        lines += [*table([part[:-1], "errors", "found with a reference", "found from the source"], rows), ""]
    return lines[:-1]


def overview(tests: dict[str, Any], held_out: dict[str, Any]) -> list[str]:
    """Returns the table of the README: what people ask, with what guessing gives, so that nobody has to know it."""
    rows = []
    for question, (part, column) in _OF_CONTRASTS.items():
        shares = [held_out[part][inputs][column] for inputs in ("source", "reference")]
        is_order = column == "above"
        chrf = _percent(held_out[part]["baselines"]["chrF"]) if is_order else ""
        rows.append([question, "50 %" if is_order else "", chrf, *map(_percent, shares)])
    for question, name in _OF_MARKS.items():
        by_inputs = [_percent(tests["dev"]["spans"][inputs][name]) for inputs in ("source", "reference")]
        rows.append([question, "", "", *by_inputs])
    for question, name in _OF_PAIRS.items():
        metrics = ("chrF", "source, expected score", "reference, expected score")
        of_metrics = [
            _percent(fmean(tests[test]["scores"][ALL][metric][name] for test in _WITH_SYSTEMS)) for metric in metrics
        ]
        rows.append([question, "50 %", *of_metrics])
    return table([f"`{embedded()}`", "guessing", "chrF", "from the source", "with a reference"], rows)


if __name__ == "__main__":
    main()
