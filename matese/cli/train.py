"""`matese train`: makes a model directory from settings and rated segments."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from matese.cli import options
from matese.cli.errors import UsageError

_EPILOG = """examples:
  matese train --config configs/xlmr-large.yaml --train train.jsonl --dev dev.jsonl --output runs/xlmr-large
  matese train --config configs/mini-first.yaml --set training.max_epochs=1 --set training.seed=2
  matese train --resume runs/xlmr-large                       go on where a run was stopped or killed
  matese train --settings                                     all settings, their meaning and their defaults

Ratings are read as JSON lines, as data_prep writes them. The model is in the directory `model` of the output.
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser(
        "train",
        help="train a model",
        description="Trains a tagger on rated segments.",
        epilog=_EPILOG,
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--config", metavar="FILE", help="settings in YAML, such as configs/xlmr-base.yaml")
    what.add_argument("--resume", metavar="DIR", help="go on with the run in this directory, with its settings")
    what.add_argument("--settings", action="store_true", help="show all settings and their defaults, and end")
    group = parser.add_argument_group("in place of what the settings say")
    group.add_argument("--train", nargs="+", metavar="FILE", help="ratings to learn from")
    group.add_argument("--dev", nargs="+", metavar="FILE", help="ratings that choose the best model")
    group.add_argument("--output", metavar="DIR", help="the run's directory, new or empty")
    group.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="any setting, as training.seed=2; repeatable"
    )


def run(args: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    overrides = _overrides(args)
    options.require(
        args.config is not None or not overrides, "--train, --dev, --output and --set are for --config only"
    )
    from rich.console import Console

    try:
        from matese.training import config, preparation, settings
        from matese.training import run as training
    except ModuleNotFoundError as error:
        missing = (error.name or "a package").split(".")[0]
        raise UsageError(f"{missing} is not installed: training needs pip install 'matese[train]'") from error

    if args.settings:
        print(settings.describe(config.Config))
        return 0
    if args.resume is None:
        chosen = config.load(args.config, overrides=overrides)
    else:
        chosen = preparation.load_settings(Path(args.resume))
    try:
        result = training.train(chosen, resume=args.resume is not None, console=Console(stderr=True))
    except training.Interrupted as stopped:
        if preparation.is_first_process():
            print(stopped, file=sys.stderr)
        raise
    if preparation.is_first_process():
        for name, value in result.figures.items():
            print(f"{name}\t{value:.4f}")
        print(f"model\t{result.directory}")
    return 0


def _overrides(args: argparse.Namespace) -> list[tuple[str, str]]:
    """Returns dotted keys and YAML values; JSON is YAML too."""
    named = {"data.train": args.train, "data.dev": args.dev, "output": args.output}
    overrides = [(key, json.dumps(value)) for key, value in named.items() if value is not None]
    for setting in args.set:
        key, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"--set {setting}: must be KEY=VALUE")
        overrides.append((key, value))
    return overrides
