r"""What each ingredient of `mini` brings: short trainings from one start, equal but for what is left out.

    PYTHONPATH=. python benchmarks/ablations.py --config configs/mini-graded.yaml --start runs/mini-compare/model \
        --data "$MATESE_DATA"

Every run has the same start, steps, batches and data; what is left out of the data is made up for by the rest. Their
worth is that of short runs, and small differences are noise (`--seeds 2` shows how much). A run that is there already
is not trained nor measured again, so the command can be stopped and started, or be started twice for different `--only`
with a `--json` each, and once more for the table of all.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import demetr  # type: ignore[import-not-found]  # beside this script, which is no package
import numpy as np
import quality  # type: ignore[import-not-found]
from rich.console import Console

import matese
from data_prep import writing
from data_prep.store import Store
from matese.annotation import Rating
from matese.formats import jsonl
from matese.training import config as settings
from matese.training import reading
from matese.training.config import Config
from matese.training.run import train

Change = Callable[[Config], Config]
FIGURES = ("macro-F1", "Pearson", "Kendall", "order", "macro-F1, source", "Pearson, source", "WMT22 Kendall", "DEMETR")


def without(*names: str) -> Change:
    """Returns the change that leaves these files of ratings out."""

    def change(config: Config) -> Config:
        kept = [path for path in config.data.train if Path(path).stem not in names]
        return replace(config, data=replace(config.data, train=tuple(kept), shares=()))

    return change


def training(**values: object) -> Change:
    """Returns the change of some settings of the training."""
    return lambda config: replace(config, training=replace(config.training, **values))  # type: ignore[arg-type]


VARIANTS: Mapping[str, Change] = {
    "everything": lambda config: config,
    "no consensus": without("consensus"),
    "no injected errors": without("synthetic"),
    "no biomedical MQM, no ESA": without("bio", "esa"),
    "no WMT25 judges, no MLQE-PE": without("judged", "assessed"),
    "no ranking loss": training(ranking_loss_weight=0.0, group_size=1),
    "no habits": lambda config: replace(config, data=replace(config.data, habits=())),
    "MQM of WMT alone": without("consensus", "synthetic", "bio", "esa", "judged", "assessed"),
}


def main() -> None:
    """Trains and measures each variant and prints the table."""
    arguments = _parser().parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    base = sampled(settings.load(str(arguments.config)), arguments.output, arguments.sample)
    base = replace(base, start=str(arguments.start), tokenizer=str(arguments.start))
    base = training(max_steps=arguments.steps, max_minutes=None, schedule="linear", validate_every=100.0)(base)
    dev = {path.stem: every(jsonl.read(path), arguments.every) for path in arguments.dev}
    pairs = demetr.read(Store(arguments.data), arguments.demetr)
    found = {f"the start ({arguments.start.parent.name})": measure(str(arguments.start), dev, pairs)}
    for name in arguments.only or VARIANTS:
        for seed in range(1, arguments.seeds + 1):
            label = name if arguments.seeds == 1 else f"{name} ({seed})"
            config = training(seed=seed)(VARIANTS[name](base))
            found[label] = trained(replace(config, output=str(arguments.output / f"{name}-{seed}")), dev, pairs)
            given = [argument.replace(str(arguments.data), "$MATESE_DATA") for argument in sys.argv[1:]]
            arguments.json.write_text(
                json.dumps({"arguments": given, "figures": found}, indent=1) + "\n", encoding="utf-8"
            )
            print("\n".join(table(found)), flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, required=True, help="of the run with everything")
    parser.add_argument("--start", type=Path, required=True, help="the model that all go on from")
    parser.add_argument("--steps", type=int, default=150, help="optimizer steps; default: %(default)s")
    parser.add_argument("--seeds", type=int, default=1, help="runs of each; default: %(default)s")
    parser.add_argument("--only", nargs="+", choices=VARIANTS, metavar="NAME", help="some of them")
    parser.add_argument("--sample", type=float, default=0.2, help="share of all data; default: %(default)s")
    prepared = Path("data/prepared")
    parser.add_argument(
        "--dev", nargs=2, type=Path, default=[prepared / "dev.jsonl", prepared / "wmt22-test.jsonl"], help="gold"
    )
    parser.add_argument("--every", type=int, default=8, help="of the sources of these; default: %(default)s")
    parser.add_argument("--data", type=Path, required=True, help="folder of the raw files, for DEMETR")
    parser.add_argument("--demetr", type=int, default=20, help="pairs of each kind; default: %(default)s")
    parser.add_argument("--output", type=Path, default=Path("runs/ablations"), help="folder of the runs")
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/ablations.json"))
    return parser


def sampled(config: Config, folder: Path, share: float) -> Config:
    """Returns the settings with files that hold a share of the sources of its files, which are made."""
    paths = []
    shares = config.data.shares or (1.0,) * len(config.data.train)
    for path, own in zip(config.data.train, shares, strict=True):
        paths.append(folder / Path(path).name)
        if not paths[-1].exists():
            writing.write(paths[-1], reading.read([path], [own * share]))
    return replace(config, data=replace(config.data, train=tuple(map(str, paths)), shares=()))


def every(ratings: Iterator[Rating], step: int) -> list[Rating]:
    """Returns the ratings of every so many sources that have a reference."""
    kept = [rating for rating in ratings if rating.segment.references and rating.segment.source]
    sources = set(sorted({rating.segment.source or "" for rating in kept})[::step])
    return [rating for rating in kept if rating.segment.source in sources]


def trained(config: Config, dev: Mapping[str, Sequence[Rating]], pairs: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Trains and measures, unless that is done, and returns the figures."""
    folder = Path(config.output)
    figures = folder / "figures.json"
    if not (folder / "result.json").exists():
        figures.unlink(missing_ok=True)
        train(config, console=Console(stderr=True))
    if not figures.exists():
        figures.write_text(json.dumps(measure(str(folder / "model"), dev, pairs)), encoding="utf-8")
    found: dict[str, float] = json.loads(figures.read_text(encoding="utf-8"))
    return found


def measure(model: str, dev: Mapping[str, Sequence[Rating]], pairs: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Returns the figures of a model, with a reference but where it says with the source."""
    annotator = matese.load(model)
    held_out, wmt22 = dev.values()
    found = {}
    for inputs, suffix in (("reference", ""), ("source", ", source")):
        predictions = list(quality.predict(annotator, held_out, inputs))
        spans = quality.measure_spans(predictions, annotator.options.min_confidence)
        scores = _scores(predictions)
        agreement = quality.correlations(held_out, {"score": scores})["score"]
        found[f"macro-F1{suffix}"] = spans["words"]["macro"]["f1"]
        found[f"Pearson{suffix}"] = agreement["all"]["pearson"]
        if not suffix:
            found["Kendall"] = _mean_of_pairs(agreement)
            found["order"] = order(held_out, scores)
    predictions = list(quality.predict(annotator, wmt22, "reference"))
    found["WMT22 Kendall"] = _mean_of_pairs(quality.correlations(wmt22, {"score": _scores(predictions)})["score"])
    shares = demetr.shares(pairs, {"score": demetr.of_model(annotator, pairs)["expected_score"]})
    found["DEMETR"] = shares["mean over kinds"]["score"]
    return found


def _scores(predictions: Sequence[Any]) -> list[float]:
    return [one.predicted.overall.value for one in predictions]


def _mean_of_pairs(agreement: Mapping[str, Mapping[str, float]]) -> float:
    return float(np.mean([figures["kendall"] for pair, figures in agreement.items() if pair != "all"]))


def order(golds: Sequence[Rating], scores: Sequence[float]) -> float:
    """Returns how often of two translations of a source that humans tell apart the better one has the better score."""
    by_source: dict[str, list[int]] = {}
    for number, gold in enumerate(golds):
        by_source.setdefault(gold.segment.source or "", []).append(number)
    human = [quality.human_score(gold) for gold in golds]
    right = [
        0.5 if scores[one] == scores[other] else float((scores[one] > scores[other]) == (human[one] > human[other]))
        for numbers in by_source.values()
        for place, one in enumerate(numbers)
        for other in numbers[:place]
        if human[one] != human[other]
    ]
    return float(np.mean(right))


def table(found: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """Yields the lines of a Markdown table."""
    yield "| | " + " | ".join(FIGURES) + " |"
    yield "|---|" + "---|" * len(FIGURES)
    for name, figures in found.items():
        yield f"| {name} | " + " | ".join(f"{figures[figure]:.3f}" for figure in FIGURES) + " |"


if __name__ == "__main__":
    main()
