"""`matese mbr`: choose among the candidates of each source by minimum Bayes risk."""

from __future__ import annotations

import argparse
from argparse import Namespace
from contextlib import ExitStack

from matese.cli import inputs, messages, model, options, output

SUMMARY = "choose the translation most similar to all other candidates"
USUAL = ("nbest", "hyp", "src", "format", "output", "utility", "prune", "model")
EPILOG = f"""{inputs.CANDIDATES}
  Minimum Bayes risk: every candidate is compared with every candidate of its source; its score is the mean, in which
  equal candidates count repeatedly. The cost grows with the square of their number; --prune and --aggregate lower it.
  Do not evaluate the choice with the metric that made it: docs/choose.md shows why.

examples:
  matese mbr --nbest samples.txt --src src.txt
  matese mbr --hyp a.txt b.txt c.txt --src src.txt --utility model
  matese mbr --hyp systems --src src.txt --utility model --prune 8 --output chosen.jsonl
  matese mbr --nbest samples.txt --src src.txt --utility model --model Unbabel/wmt22-comet-da --aggregate
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    inputs.add_candidates(parser)
    group = parser.add_argument_group("risk")
    names = options.OneOf("utility", ("chrf", "model"))
    text = "chrf, or model for the one of --model (default: chrf)"
    group.add_argument("--utility", type=names, default="chrf", metavar="NAME", help=text)
    text = "compare with the average of all candidates, in linear time: for chrF and COMET estimators"
    group.add_argument("--aggregate", action="store_true", help=text)
    text = "first keep the best N candidates of each source by a reference-free model"
    group.add_argument("--prune", type=options.whole_number(1), metavar="N", help=text)
    text = "the model of --prune, which reads sources without references (default: mini)"
    group.add_argument("--prune-model", default="mini", metavar="MODEL", help=text)
    model.add_options(parser, with_weights=False)


def run(args: Namespace) -> None:
    output.check_apart(args.output, inputs.given_files(args))
    output.check_text_format(args)
    options.require(args.prune is None or bool(args.src or args.input or args.nbest), "--prune needs --src")
    with output.opened(args.output) as results, ExitStack() as stack:
        lists = inputs.candidates(args)
        from matese.choosing import mbr, utilities

        utility = utilities.of_chrf(is_aggregated=args.aggregate)
        annotators = []
        if args.utility == "model":
            n_pairs = sum(len(set(candidates.texts)) ** 2 for candidates in lists)
            annotators.append(stack.enter_context(model.loaded(args, n_segments=n_pairs)))
            utility = utilities.of_model(annotators[0], is_aggregated=args.aggregate)
        signature = f"matese|choice:mbr|{utility.signature}"
        pruned = mbr.without_pruning(lists)
        if args.prune is not None:
            pruning = Namespace(**{**vars(args), "model": args.prune_model})
            n_texts = sum(len(candidates.texts) for candidates in lists)
            pruner = stack.enter_context(model.loaded(pruning, n_segments=n_texts))
            annotators.append(pruner)
            pruned = mbr.pruning(lists, pruner, args.prune)
            signature += f"|prune:{args.prune}|by:{pruner.name}"
        output.write_choices(mbr.choose(pruned, utility), len(lists), results, args.format, signature)
        for annotator in annotators:
            messages.info(*annotator.counts.notices)
