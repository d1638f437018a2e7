"""`matese train`: trains a model from settings and rated segments."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from matese.cli import inputs, messages, options
from matese.errors import check_installed

if TYPE_CHECKING:
    from matese.training.run import Result

SUMMARY = "train a model on rated segments"
EPILOG = """examples:
  matese train --config configs/xlmr-large.yaml --train train.jsonl --dev dev.jsonl --output runs/xlmr-large
  matese train --config configs/comet-da.yaml --train train.jsonl --dev dev.jsonl     a model that scores
  matese train --config configs/xlmr-base.yaml --set training.max_epochs=1 --set training.seed=2
  matese train --resume runs/xlmr-large                       resume a stopped or killed run
  matese train --settings                                     list all settings, documented, with their defaults

Ratings are in any format that matese convert reads. All ratings of a segment are used; --set data.rater=NAME uses those
of one rater, and --set data.merge=union (or majority) merges them. The model is written to the folder `model` in the
output.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--config", metavar="FILE", help="YAML file of settings, for example configs/xlmr-base.yaml")
    what.add_argument("--resume", metavar="DIR", help="resume the run in this directory, with its settings")
    what.add_argument("--settings", action="store_true", help="list all settings with their defaults and exit")
    group = parser.add_argument_group("options that replace settings of the file")
    group.add_argument("--train", nargs="+", metavar="FILE", help="ratings to train on")
    group.add_argument("--dev", nargs="+", metavar="FILE", help="ratings to validate on")
    inputs.add_test_set_texts(group)
    inputs.add_lang_pair(group)
    group.add_argument("--output", metavar="DIR", help="directory of the run, new or empty")
    text = "replace any setting, such as training.seed=2; repeatable"
    group.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help=text)


def run(args: argparse.Namespace) -> None:
    overrides = _overrides(args)
    options.require(
        args.config is not None or not overrides, "options that replace settings, such as --train, need --config"
    )
    import rich

    check_installed("matese train", "pytorch_lightning", extra="train")
    from matese.training import config, run_setup
    from matese.training import run as training

    if args.settings:
        print(config.describe())
        return
    if args.resume is None:
        settings = config.load(args.config, overrides=overrides)
        _check_exist(train=settings.data.train, dev=settings.data.dev)
    else:
        settings = run_setup.load_settings(Path(args.resume))
    rich.reconfigure(stderr=True)  # the console that Lightning's progress bar uses
    try:
        result = training.train(settings, resume=args.resume is not None, console=rich.get_console())
    except training.Interrupted as stopped:
        if run_setup.is_first_process():
            print(stopped, file=sys.stderr)
        raise
    if run_setup.is_first_process():
        _warn_of_shared(settings.data.train, settings.data.dev)
        show(result)


def _check_exist(**files: Sequence[str]) -> None:
    """Raises a UsageError if a file of ratings is missing."""
    for name, paths in files.items():
        for path in paths:
            options.require(os.path.exists(path), f"data.{name}: no such file {path}; name the files with --{name}")


def _warn_of_shared(train: Sequence[str], dev: Sequence[str]) -> None:
    for path in {os.path.realpath(path) for path in train} & {os.path.realpath(path) for path in dev}:
        messages.info(f"{path} is in data.train and in data.dev: the figures of the validation are too good")


def show(result: Result) -> None:
    """Prints the figures of a run and the directory of its model."""
    for name, value in result.figures.items():
        print(f"{name}\t{value:.4f}")
    print(f"model\t{result.directory}")


def _overrides(args: argparse.Namespace) -> list[tuple[str, str]]:
    """Returns pairs of a dotted key and a YAML value; JSON is YAML too."""
    texts = {"source": args.src, "references": args.ref, "test_set": args.texts_of, "lang_pair": args.lang_pair}
    named = {
        "data.train": args.train,
        "data.dev": args.dev,
        "data.texts": [texts] if args.src or args.ref or args.texts_of else None,
        "data.lang_pair": args.lang_pair,
        "output": args.output,
    }
    return [(key, json.dumps(value)) for key, value in named.items() if value is not None] + options.parse_settings(
        args.set
    )
