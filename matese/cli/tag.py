"""`matese tag`: marks the errors of hypotheses, for readers (terminal, HTML), programs (JSONL) or other tools."""

from __future__ import annotations

import argparse
import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from matese import mqm
from matese.annotation import Rating, Segment, TokenScores
from matese.checks import checker
from matese.cli import cluster, exports, model, options, output, progress, segments, shards, streams, writers
from matese.cli.output import Output
from matese.cli.segments import Given
from matese.cli.tally import Tally, has_errors
from matese.formats import detection
from matese.formats.table import BY_NAME, WRITTEN

Annotate = Callable[[Iterable[Segment]], Iterator[tuple[Rating, TokenScores]]]
FOR_PEOPLE = 0.5
"""Least confidence of spans that people are to correct, as a share of what the model marks from by itself: a wrong one
is sooner removed than a missing one is seen."""
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
other formats in docs/formats.md. What people are to correct is marked from half the model's own least confidence on,
unless --min-confidence says otherwise.
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser(
        "tag",
        help="mark the errors of translations",
        description="Marks the errors of translations, each Minor or Major, and scores them.",
        epilog=_EPILOG,
    )
    texts = options.add_texts(parser, is_needed=False)
    texts.add_argument(
        "--input",
        metavar="FILE",
        help="instead of these: XLIFF, PO, or ratings in any format that matese convert reads; for --engine ray a "
        "folder or a pattern of JSONL or Parquet files, as a path or any URL of fsspec",
    )
    texts.add_argument("--lang-pair", metavar="PAIR", help='of texts that do not say it: "en-de"; for checks and files')
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format",
        type=options.choice("format", *writers.FORMS, *(name for name in WRITTEN if name not in writers.FORMS)),
        metavar="NAME",
        help="terminal, jsonl, html, or another that matese convert writes (default: terminal; of an XLIFF or PO as "
        "--input, with --output: the same)",
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
    checks = parser.add_argument_group("checks")
    checks.add_argument(
        "--checks",
        type=options.choice("value", "also", "only"),
        metavar="also|only",
        help="mark what needs no model, beside it or alone: texts that are empty, copied, repeated or in a wrong "
        "script; numbers, brackets, quotation marks and placeholders that are not right",
    )
    options.add_model(parser)


def run(args: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    if args.engine == "ray":
        return cluster.run(args)
    cluster.refuse(args)
    if args.shard is not None:
        return shards.run(args)
    weights = options.weights(args.weights)
    files = [*args.hyp, *args.ref, *args.src, *([args.input] if args.input else [])]
    output.check_apart(args.output, files)
    form = args.format or _default_form(args)
    options.require(form == "jsonl" or not args.tokens, "--tokens is for --format jsonl only")
    options.require(args.checks != "only" or not args.tokens, "--tokens is of the model: must be without --checks only")
    options.require(form == "terminal" or args.width is None, "--width is for --format terminal only")
    if form not in writers.FORMS:
        _export(args, form, segments.read(args), weights)
        return 0
    with output.opened(args.output) as results:
        _tag(args, form, segments.read(args), weights, results)
    return 0


def _default_form(args: argparse.Namespace) -> str:
    """Returns the format of results where none is named: a file of localisation is written as it was read."""
    name = detection.detect(args.input) if args.input and args.output else None
    return name if name in segments.LOCALISATION else "terminal"


def _export(args: argparse.Namespace, form: str, given: Given, weights: mqm.Weights) -> None:
    """Writes in the format of another tool."""
    how = exports.writing(args, weights)
    if given.format in segments.LOCALISATION and form == given.format and how.template is None:
        how = replace(how, template=Path(args.input))
    of_own = FOR_PEOPLE if BY_NAME[form].is_for_people else 1.0
    with _annotating(args, given, weights, of_own=of_own) as annotate, progress.shown(given.n_segments) as bar:
        tallies = [Tally(system.name, weights) for system in given.systems]
        chosen = (rating for rating, _ in _chosen(args, given, annotate, tallies, bar))
        exports.write(chosen, args.output, form, how)
        if args.only_errors or args.limit is not None:
            streams.say("only a part of the segments was written, as --only-errors or --limit asks")


def _tag(args: argparse.Namespace, form: str, given: Given, weights: mqm.Weights, results: Output) -> None:
    with _annotating(args, given, weights) as annotate:
        writer = writers.make(form, results, weights, width=args.width, with_tokens=args.tokens)
        tallies = [Tally(system.name, weights) for system in given.systems]
        n_written = 0
        with progress.shown(given.n_segments) as bar:
            for rating, tokens in _chosen(args, given, annotate, tallies, bar):
                bar.give_way(results)
                writer.write(rating, tokens)
                n_written += 1
        writer.finish(tallies, n_written)


@contextlib.contextmanager
def _annotating(
    args: argparse.Namespace, given: Given, weights: mqm.Weights, *, of_own: float = 1.0
) -> Iterator[Annotate]:
    """Yields what marks errors: a model, the checks, or both; tells at the end what the model did specially.

    Where no least confidence is asked for, it is this share of the model's own.
    """
    if args.checks == "only":
        yield lambda texts: ((rating, TokenScores((), ())) for rating in checker.annotate_segments(texts))
        return
    with model.loaded(args, weights) as annotator:
        if args.min_confidence is None:
            own = annotator.options
            annotator.options = replace(own, min_confidence=of_own * own.min_confidence)
        if args.checks == "also":
            yield lambda texts: (
                (checker.beside(rating), tokens) for rating, tokens in annotator.annotate_tokens(texts)
            )
        else:
            yield annotator.annotate_tokens
        model.say_counts(annotator.counts, given.n_segments)


def _chosen(
    args: argparse.Namespace, given: Given, annotate: Annotate, tallies: Sequence[Tally], bar: progress.Bar
) -> Iterator[tuple[Rating, TokenScores]]:
    """Yields what is to be written; all segments are counted, in a tally for each system."""
    losses: Counter[str] = Counter()
    for system, tally in zip(given.systems, tallies, strict=True):
        n_chosen = 0
        for marked, tokens in annotate(system.read()):
            rating = given.without_placeholders(marked, losses)
            tally.add(rating)
            is_asked_for = has_errors(rating) or not args.only_errors
            if is_asked_for and (args.limit is None or n_chosen < args.limit):
                yield rating, tokens
                n_chosen += 1
            bar.advance()
    if losses:
        streams.say(f"left out: {exports.counted(losses)}")
