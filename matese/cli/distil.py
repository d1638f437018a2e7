"""`matese distil`: train a small model on the ratings of a large one."""

from __future__ import annotations

import argparse
import json
import sys

from matese import mqm
from matese.cli import inputs, messages, model, options, train
from matese.errors import check_installed

SUMMARY = "train a small model to agree with a large one"
EPILOG = """examples:
  matese distil Unbabel/XCOMET-XL --student configs/small-xcomet.yaml --data texts.jsonl --output fast --set start=null
  matese distil mini --student configs/small-unified.yaml --data texts.jsonl --output fast --device cuda

The texts are a table of translations with their sources or references. The teacher's labels are written to train.jsonl
and dev.jsonl in the output, the model to run/model. The figures compare the student with its teacher. Run the same
command again to resume a stopped run.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="TEACHER", help="an embedded model, a model directory, or a hub id (ORG/NAME)")
    parser.add_argument("--student", required=True, metavar="FILE", help="YAML file of settings, as for matese train")
    text = "translations to label: CSV, TSV, JSON, JSONL, Parquet, or any format that matese convert reads"
    parser.add_argument("--data", dest="input", required=True, metavar="FILE", help=text)
    text = "other translations, to validate on (default: every twentieth source of --data)"
    parser.add_argument("--dev", metavar="FILE", help=text)
    parser.add_argument("--output", required=True, metavar="DIR", help="directory of labels and model")
    text = "replace any setting of the student, such as training.seed=2; repeatable"
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help=text)
    inputs.add_columns(parser.add_argument_group("table"))
    model.add_device(parser.add_argument_group("teacher"))


def run(args: argparse.Namespace) -> None:
    import rich

    check_installed("matese distil", "pytorch_lightning", extra="train")
    from matese.model.annotator import load
    from matese.training import config, distillation, run_setup
    from matese.training import run as training

    overrides = [("output", json.dumps(args.output)), *options.parse_settings(args.set)]
    settings = config.load(args.student, overrides=overrides)
    segments = inputs.all_segments(args, args.input)
    dev = [] if args.dev is None else inputs.all_segments(args, args.dev)
    model.say_licences([args.model])
    rich.reconfigure(stderr=True)  # the console that Lightning's progress bar uses
    with messages.quiet():
        teacher = load(args.model, device=args.device, weights=mqm.MATESE)
    try:
        result = distillation.distil(teacher, settings, segments, dev, console=rich.get_console())
    except training.Interrupted:
        print("stopped; run the same command again to resume", file=sys.stderr)
        raise
    if run_setup.is_first_process():
        train.show(result)
