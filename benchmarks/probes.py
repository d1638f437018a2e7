"""Train models that differ in one thing, for equally many steps from the encoder, and measure each by the ruler.

    python -m benchmarks.probes people gpt4 plain --encoder ENCODER
    python -m benchmarks.probes --list

A probe is `configs/mini.yaml` with small batches, lower rates (`_TRAINING`) and tags and scores alone, and with the
data or the settings of `PROBES`. `--steps 450` are 1.8 million tokens, a quarter of an hour on one core. Each seed is a
run of its own. The folder
`--output` keeps runs and figures: a probe that is there is neither trained nor measured again, and one that was stopped
goes on; other steps, encoders or sources need another folder. The table shows every probe in that folder by the ruler
(`benchmarks.ruler`, with `--every`), by reference / by source, as means over seeds. Its last rows are the standard
error of a figure and, where a probe has several seeds, their deviation.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

import yaml

from benchmarks import markdown, ruler
from matese.errors import UsageError

_BASE = Path(__file__).absolute().parents[1] / "configs" / "mini.yaml"
_MODEL = {"heads": {"omissions": None, "categories": None, "meaning": None}}
_TRAINING = {
    "learning_rate": 3e-4,
    "encoder_learning_rate": 1.2e-4,
    "layer_decay": 1.0,
    "frozen_layers": 8,
    "accumulate": 1,
    "averaged": 0.0,
    "validate_every": 1,
    "difference_loss_weight": 0.0,
}
_PEOPLE = {"train": 0.5, "bio": 0.1, "esa": 0.6}
_GPT4 = _PEOPLE | {"gemba": 0.6}
_RATERS = {
    "bio": "bio",
    "esa": "esa",
    "da-raw": "da",
    "wmt25-metrics": "metrics",
    "mlqe-pe": "mlqe-pe",
    "gemba": "gemba",
}
_OWN_HEAD: dict[str, Any] = {
    "heads": {"omissions": None, "categories": None, "meaning": {"inputs": ["reference", "source"]}}
}
_CONTRASTS = ("contrasts", "rewordings")


@dataclass(frozen=True, slots=True)
class Probe:
    """What a probe trains on.

    Attributes:
        what: what it shows, for the table.
        data: share of the sources of each file of `--prepared`, without ".jsonl".
        only: for a file of contrasts, the only test sets whose ratings are used.
        contrasts: files that teach only what is an error of meaning.
        model: settings of the model that differ.
        training: settings of the training that differ.
        unrated: whether it also learns from translations that nobody rated, and which it scores itself.
    """

    what: str
    data: Mapping[str, float] = field(default_factory=lambda: _GPT4)
    only: tuple[str, ...] = ()
    contrasts: tuple[str, ...] = ()
    model: Mapping[str, object] = field(default_factory=dict)
    training: Mapping[str, object] = field(default_factory=dict)
    unrated: bool = False


PROBES = {
    "people": Probe("ratings of people", _PEOPLE),
    "gpt4": Probe("ratings of people and judgments of GPT-4: the base of all others"),
    "direct": Probe("with direct assessments", _GPT4 | {"da-raw": 0.1}),
    "metrics": Probe(
        "with scores of WMT25's metrics and post-editing rates", _GPT4 | {"wmt25-metrics": 0.7, "mlqe-pe": 0.3}
    ),
    "unrated": Probe("with 32,000 translations that the model scores itself after 40 % of the steps", unrated=True),
    "rewordings-5": Probe("with rewordings and injected errors, 5 % of the rows", _GPT4 | {"rewordings": 0.035}),
    "rewordings-10": Probe("the same, 10 %", _GPT4 | {"rewordings": 0.075}),
    "rewordings-20": Probe("the same, 20 %", _GPT4 | {"rewordings": 0.17}),
    "own-head": Probe(
        "20 % rewordings, in a head of their own", _GPT4 | {"rewordings": 0.17}, (), _CONTRASTS, model=_OWN_HEAD
    ),
    "sts": Probe("STS in a head of its own", _GPT4 | {"contrasts": 1.0}, ("sts",), _CONTRASTS, model=_OWN_HEAD),
    "cannot": Probe("CANNOT likewise", _GPT4 | {"contrasts": 1.0}, ("cannot",), _CONTRASTS, model=_OWN_HEAD),
    "ntrex": Probe("NTREX likewise", _GPT4 | {"contrasts": 1.0}, ("ntrex",), _CONTRASTS, model=_OWN_HEAD),
    "contrasts": Probe("all contrasts likewise", _GPT4 | {"contrasts": 0.5}, (), _CONTRASTS, model=_OWN_HEAD),
    "frozen-4": Probe("four frozen layers in place of eight", training={"frozen_layers": 4}),
    "frozen-6": Probe("six", training={"frozen_layers": 6}),
    "frozen-0": Probe("none", training={"frozen_layers": 0}),
    "plain": Probe(
        "all texts read together in all layers; four frozen",
        model={"texts": {"separate_layers": 0}},
        training={"frozen_layers": 4},
    ),
    "differences": Probe("with a loss of the differences within a source", training={"difference_loss_weight": 0.5}),
}


def main() -> None:
    """Trains and measures the probes, and prints the table of all that are in the folder."""
    parser = markdown.parser(__doc__, "--every")
    parser.add_argument("probes", nargs="*", metavar="PROBE", help="see --list")
    parser.add_argument("--list", action="store_true", help="print the probes")
    parser.add_argument("--encoder", default="intfloat/multilingual-e5-small", help="default: %(default)s")
    parser.add_argument("--steps", type=int, default=450, help="default: %(default)s")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="default: 1")
    parser.add_argument("--prepared", type=Path, default=Path("data/prepared"), help="folder of data_prep prepare")
    parser.add_argument("--output", type=Path, default=Path("runs/probes"), help="default: %(default)s")
    arguments = parser.parse_args()
    if arguments.list:
        print(*markdown.table(["probe", "what"], ([name, probe.what] for name, probe in PROBES.items())), sep="\n")
        return
    unknown = [name for name in arguments.probes if name not in PROBES]
    if unknown:
        raise UsageError(f"probe {unknown[0]}: must be one of {', '.join(PROBES)}")
    for seed in arguments.seeds:
        for name in arguments.probes:
            run = arguments.output / f"{name}.{seed}"
            train(PROBES[name], run, arguments.prepared, encoder=arguments.encoder, steps=arguments.steps, seed=seed)
            measure(run, arguments.prepared, encoder=arguments.encoder, every=arguments.every)
    measured = read(arguments.output)
    if not measured:
        raise UsageError(f"no probe was measured in {arguments.output}; name one of {', '.join(PROBES)}")
    print(*table(measured), sep="\n")


def train(probe: Probe, run: Path, prepared: Path, *, encoder: str, steps: int, seed: int) -> None:
    """Trains a probe, or ends its training."""
    if (run / "result.json").exists():
        return
    run.mkdir(parents=True, exist_ok=True)
    file = run.parent / f"{run.name}.yaml"
    settings = settings_of(probe, run, prepared, encoder=encoder, steps=steps, seed=seed)
    file.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    begin = ["--resume", str(run)] if (run / "last.ckpt").exists() else ["--config", str(file)]
    subprocess.run([sys.executable, "-m", "matese", "train", *begin], check=True)


def settings_of(
    probe: Probe, run: Path, prepared: Path, *, encoder: str, steps: int, seed: int
) -> dict[str, dict[str, object] | str | None]:
    """Returns the settings of a run, and writes the contrasts that it learns from."""
    files = [prepared / f"{name}.jsonl" for name in probe.data]
    if probe.only:
        files[-1] = _part(files[-1], run / "contrasts.jsonl", probe.only)
    train = [
        {
            "file": str(file),
            "share": share,
            "raters": name if name in _RATERS else None,
            "teaches": ["meaning"] if name in probe.contrasts else None,
        }
        for file, (name, share) in zip(files, probe.data.items(), strict=True)
    ]
    unrated = {"files": [str(prepared / "unrated.jsonl")]} if probe.unrated else None
    return {
        "extends": str(_BASE),
        "encoder": encoder,
        "output": str(run),
        "model": {**_MODEL, **probe.model},
        "data": {"train": train, "unrated": unrated, "dev": [str(prepared / "wmt22-dev.jsonl")]},
        "training": {**_TRAINING, "max_steps": steps, "seed": seed, **probe.training},
    }


def _part(contrasts: Path, part: Path, test_sets: tuple[str, ...]) -> Path:
    """Writes the contrasts of some test sets."""
    with contrasts.open(encoding="utf-8") as lines, part.open("w", encoding="utf-8") as kept:
        kept.writelines(line for line in lines if json.loads(line)["test_set"] in test_sets)
    return part


def measure(run: Path, prepared: Path, *, encoder: str, every: int) -> None:
    """Measures a probe by the ruler, alone and with the similarity."""
    figures = run / "ruler.json"
    if not figures.exists():
        options = ["--every", str(every), "--prepared", str(prepared), "--encoder", encoder, "--blend"]
        files = ["--cache", str(run.parent / "cache"), "--json", str(figures)]
        command = [sys.executable, "-m", "benchmarks.ruler", str(run / "model"), "--no-baselines", *options, *files]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


class Measured(NamedTuple):
    """A figure of one run and its standard error."""

    value: float
    error: float


Column = tuple[str, bool]
"""A kind of input, and whether the similarity of the encoder was added to the score."""
Runs = dict[Column, dict[str, list[Measured]]]
"""A value for each seed, by column and name of the figure."""


def read(output: Path) -> dict[str, Runs]:
    """Returns the figures of all measured probes."""
    by_probe: dict[str, Runs] = {}
    for name in PROBES:
        runs: Runs = defaultdict(lambda: defaultdict(list))
        for path in sorted(output.glob(f"{name}.*/ruler.json")):
            of_run = json.loads(path.read_text(encoding="utf-8"))["figures"]
            for title, figures in of_run.items():
                model, _, inputs = title.partition(" | ")
                for figure, both in figures.items():
                    if figure in ruler.MAIN and both["value"] is not None:
                        runs[inputs, "similarity" in model][figure].append(Measured(both["value"], both["error"]))
        if runs:
            by_probe[name] = runs
    return by_probe


def table(probes: Mapping[str, Runs]) -> Iterator[str]:
    """Yields the table: each figure by reference / by source, and what may be noise in the last rows."""
    columns = [(name, False) for name in ruler.MAIN] + [("acc*eq", True)]
    heads = [f"{name}, with similarity" if is_blend else name for name, is_blend in columns]
    rows = [[name, *(_cell(runs, column, _mean) for column in columns)] for name, runs in probes.items()]
    errors = [[_cell(runs, column, _error) for column in columns] for runs in probes.values()]
    rows.append(["standard error", *errors[0]])
    for name, runs in probes.items():
        if all(len(values) > 1 for of_column in runs.values() for values in of_column.values()):
            rows.append([f"{name}, deviation between seeds", *(_cell(runs, column, _deviation) for column in columns)])
    yield from markdown.table(["probe", *heads], rows)


def _cell(runs: Runs, column: tuple[str, bool], figure: Callable[[Sequence[Measured]], float]) -> str:
    name, is_blend = column
    by_input = [runs.get((inputs, is_blend), {}).get(name) for inputs in ruler.INPUTS]
    return " / ".join(f"{figure(values):.3f}" if values else "-" for values in by_input)


def _mean(values: Sequence[Measured]) -> float:
    return fmean(measured.value for measured in values)


def _error(values: Sequence[Measured]) -> float:
    return fmean(measured.error for measured in values)


def _deviation(values: Sequence[Measured]) -> float:
    return stdev(measured.value for measured in values)


if __name__ == "__main__":
    main()
