"""`matese tag`: marks the errors of hypotheses, for readers (terminal, HTML), programs (JSONL) or other tools."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from matese.annotation import Rating, TokenScores
from matese.cli import cluster, exports, inputs, model, options, output, progress, shards, streams, writers
from matese.cli.inputs import Texts
from matese.cli.output import Output
from matese.cli.tally import Tally
from matese.formats.table import BY_NAME, WRITTEN

if TYPE_CHECKING:
    from matese.annotator import Annotator

FOR_PEOPLE = 0.2
"""Least confidence of spans that people are to correct: a wrong one is sooner removed than a missing one is seen."""
_LOWEST_WIDTH = 20
_EPILOG = """examples:
  matese tag --ref ref.txt --hyp mt.txt
  matese tag --src src.txt --hyp mt.txt                      reference-free
  matese tag --ref a.txt --ref b.txt --hyp mt1.txt mt2.txt   two references, two systems
  matese tag --ref ref.txt --hyp mt.txt --format jsonl --output spans.jsonl
  matese tag --src src.txt --hyp mt.txt --format label-studio --output tasks
  matese tag --ref ref.txt --hyp mt.txt --format html --output report.html
  matese tag --src src.txt --hyp mt.txt --shard 3/8 --format jsonl --output spans-3.jsonl
  matese tag --engine ray --input texts --output spans       JSONL or Parquet, over a cluster

A system is called as its file without the last suffix (standard input: stdin); where two are equal, as the paths are
given. The JSONL is described in matese/formats/jsonl.py, and by the JSON Schema matese/formats/rating.schema.json; the
other formats in docs/formats.md. What people are to correct is marked from a confidence of 0.2 on, unless
--min-confidence says otherwise.
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser(
        "tag",
        help="mark the errors of translations",
        description="Marks the errors of translations, each Minor or Major, and scores them.",
        epilog=_EPILOG,
    )
    options.add_texts(parser, required=False)
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format",
        default="terminal",
        type=options.choice("format", *writers.FORMS, *(name for name in WRITTEN if name not in writers.FORMS)),
        metavar="NAME",
        help="terminal, jsonl, html, or another that matese convert writes (default: terminal)",
    )
    group.add_argument("--output", metavar="FILE", help="write to a file, which appears when it is complete")
    group.add_argument("--only-errors", action="store_true", help="write only segments with errors")
    group.add_argument(
        "--limit",
        type=options.whole_number(0),
        metavar="N",
        help="write only the first N segments of each system; all are tagged and counted",
    )
    group.add_argument(
        "--width",
        type=options.whole_number(_LOWEST_WIDTH),
        metavar="N",
        help=f"columns of the terminal format (default: as the terminal has, {writers.FILE_WIDTH} in a file)",
    )
    group.add_argument("--tokens", action="store_true", help="jsonl: add the probabilities of every token")
    exports.add_writing(group)
    cluster.add_options(parser)
    options.add_model(parser)


def run(args: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    if args.engine == "ray":
        return cluster.run(args)
    cluster.refuse(args)
    options.require(bool(args.hyp), "the following arguments are required: --hyp (see matese tag --help)")
    options.require(args.format == "jsonl" or not args.tokens, "--tokens is for --format jsonl only")
    options.require(args.format == "terminal" or args.width is None, "--width is for --format terminal only")
    if args.shard is not None:
        return shards.run(args)
    weights = options.weights(args.weights)
    if args.format not in writers.FORMS:
        return _export(args)
    with output.opened(args.output) as results:
        output.check_apart(args.output, [*args.hyp, *args.ref, *args.src])
        texts = inputs.read(args.hyp, args.ref, args.src)
        with model.loaded(args, weights) as annotator:
            _tag(args, texts, annotator, results)
    return 0


def _export(args: argparse.Namespace) -> int:
    """Writes in the format of another tool."""
    weights = options.weights(args.weights)
    output.check_apart(args.output, [*args.hyp, *args.ref, *args.src])
    texts = inputs.read(args.hyp, args.ref, args.src)
    if args.min_confidence is None and BY_NAME[args.format].is_for_people:
        args = argparse.Namespace(**{**vars(args), "min_confidence": FOR_PEOPLE})
    tallies: list[Tally] = []
    with model.loaded(args, weights) as annotator, progress.shown(len(texts.systems) * texts.n_segments) as bar:
        chosen = (rating for rating, _ in _chosen(args, texts, annotator, tallies, bar))
        exports.write(chosen, args.output, args.format, exports.writing(args, weights))
    if args.only_errors or args.limit is not None:
        streams.say("only a part of the segments was written, as --only-errors or --limit asks")
    model.say_counts(annotator.counts, sum(tally.n_segments for tally in tallies))
    return 0


def _tag(args: argparse.Namespace, texts: Texts, annotator: Annotator, results: Output) -> None:
    weights = annotator.options.weights
    writer = writers.make(args.format, results, weights, width=args.width, with_tokens=args.tokens)
    tallies: list[Tally] = []
    n_written = 0
    with progress.shown(len(texts.systems) * texts.n_segments) as bar:
        for rating, tokens in _chosen(args, texts, annotator, tallies, bar):
            bar.give_way(results)
            writer.write(rating, tokens)
            n_written += 1
    writer.finish(tallies, n_written)
    model.say_counts(annotator.counts, sum(tally.n_segments for tally in tallies))


def _chosen(
    args: argparse.Namespace, texts: Texts, annotator: Annotator, tallies: list[Tally], bar: progress.Bar
) -> Iterator[tuple[Rating, TokenScores]]:
    """Yields what is to be written; all segments are counted, in a tally for each system."""
    for system in texts.systems:
        tally = Tally(system.name, annotator.options.weights)
        tallies.append(tally)
        n_chosen = 0
        for rating, tokens in annotator.annotate_tokens(texts.segments(system)):
            tally.add(rating)
            is_asked_for = bool(rating.errors) or not args.only_errors
            if is_asked_for and (args.limit is None or n_chosen < args.limit):
                yield rating, tokens
                n_chosen += 1
            bar.advance()
