"""`matese explain`: which words lower the score of a translation."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from matese import mqm
from matese.cli import inputs, messages, model, options, output
from matese.errors import UsageError

if TYPE_CHECKING:
    from matese.annotation import Explanation, Rating
    from matese.annotator import Annotator
    from matese.cli.output import Output
    from matese.explanation.fitting import Places
    from matese.explanation.method import Method
    from matese.formats.segments import SystemSegments

_ENDINGS = {**output.TEXT, **output.LINES, **output.PAGE}
SUMMARY = "show which words lower the score of a translation, for any model that gives a score"
EPILOG = """methods (--by), with the default layer (L) and head (H):
  leave-one-out          how much the score rises without a word; for every model
  lime                   how much a word lowers the score in a linear model of shortened texts; for every model
  tags                   the expected penalty of a token; for taggers
  attention[:L[:H]]      how much attention all tokens pay to a token, in layer L (the last) and head H (the mean)
  attention-norm         the same times the norm of the token's value vector
  attention-gradient     the same times the gradient of the score, negated
  gradient-hidden[:L]    state times gradient of the score in layer L (the last; 0: embeddings), negated
  integrated-gradients   gradients of the score along the path from padding to the texts, negated
  embed-align[:L]        1 minus the highest cosine with a token of the other texts
  The methods below tags need an encoder of the RoBERTa family, as the embedded model and COMET models on XLM-R have.

A positive weight lowers the score; the absolute weights of a text have the mean 1.

--fit GOLD measures the methods against human spans on rated segments. It finds the best layer and head, and the weight
from which a word counts as an error; --min-weight applies that weight and so marks spans with any model. With --fit,
--output keeps the weights of each segment in a file; the same command resumes a stopped run from it.

examples:
  matese explain --ref ref.txt --hyp mt.txt
  matese explain --ref ref.txt --hyp mt.txt --by integrated-gradients --output heat.html
  matese explain --fit dev.jsonl --by attention attention-norm gradient-hidden --limit 200
  matese explain --ref ref.txt --hyp mt.txt --by attention:3:0 --min-weight 2.1 --output spans.jsonl
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    inputs.add_texts(parser)
    group = parser.add_argument_group("explanation")
    text = "method, with the layer and head of some (default: leave-one-out; several with --fit)"
    group.add_argument("--by", nargs="+", default=["leave-one-out"], metavar="METHOD", help=text)
    group.add_argument("--fit", metavar="GOLD", help="rated segments to find layer, head and weight on")
    text = "jsonl: mark words from this weight on as errors (default: the model's own errors)"
    kind = options.number("", lambda value: abs(value) < float("inf"))
    group.add_argument("--min-weight", type=kind, metavar="W", help=text)
    group = parser.add_argument_group("output")
    formats = options.Choice("format", tuple(name for names in _ENDINGS.values() for name in names))
    text = "terminal, jsonl or html (default: terminal; with --output FILE, the format of the ending of its name)"
    options.add_output(group, formats, text)
    options.add_limit(group, "explain only the first N segments of each system")
    model.add_options(parser, with_weights=False)


def run(args: argparse.Namespace) -> None:
    """Runs the command."""
    from matese.explanation import method

    methods = [method.parse(text) for text in args.by]
    args = argparse.Namespace(**{**vars(args), "precision": method.precision_for(methods)})
    if args.fit is not None:
        _fit(args, methods)
        return
    args.format = output.format_of(args.output, args.format, _ENDINGS) or "terminal"
    options.require(len(methods) == 1, f"--by {' '.join(args.by)}: give one method; several are for --fit")
    options.require(args.min_weight is None or args.format == "jsonl", "--min-weight is for --format jsonl only")
    output.check_apart(args.output, inputs.given_files(args))
    with output.opened(args.output) as results:
        systems, _ = inputs.segments(args)
        n_segments = sum(one.n_segments for one in systems)
        is_outside = methods[0].name in method.BLACK_BOX
        with model.loaded(args, n_segments=n_segments if is_outside else None) as annotator:
            _write(args, results, _explained(args, systems, annotator, methods[0]), ", ".join(s.name for s in systems))
            for warning in model.warnings_of(annotator.counts.untrained):
                messages.info(warning)


def _explained(
    args: argparse.Namespace, systems: Iterable[SystemSegments], annotator: Annotator, method: Method
) -> Iterator[Explanation]:
    from matese.explanation import explaining

    with messages.progress(sum(min(one.n_segments, args.limit or one.n_segments) for one in systems)) as bar:
        for system in systems:
            for explanation in explaining.explain_segments(islice(system.read(), args.limit), annotator, method):
                bar.advance()
                yield explanation


def _write(args: argparse.Namespace, results: Output, explanations: Iterator[Explanation], title: str) -> None:
    from matese.render import explanations as drawing

    if args.format == "html":
        results.write(drawing.page(title, list(explanations), weights=mqm.MATESE))
        return
    if args.format == "terminal":
        from matese.render import terminal

        style = terminal.Styler(results.stream)
        for explanation in explanations:
            results.write(style(drawing.draw(explanation, width=style.width if results.is_stdout else 80)) + "\n")
        return
    from matese.explanation import fitting
    from matese.formats.tables import jsonl

    for explanation in explanations:
        rating = explanation.rating if args.min_weight is None else fitting.spans(explanation, args.min_weight)
        line = jsonl.to_json(rating, weights=mqm.MATESE)
        results.write(json.dumps(line | {"explanation": drawing.to_json(explanation)}, ensure_ascii=False) + "\n")


def _fit(args: argparse.Namespace, methods: list[Method]) -> None:
    """Prints how well each method finds the errors that humans marked."""
    for name in ("hyp", "ref", "src", "input", "min_weight", "format"):
        if getattr(args, name):
            raise UsageError(f"--fit reads rated segments; leave out --{name.replace('_', '-')}")
    args.strict = False
    output.check_apart(args.output, [args.fit])
    from matese.formats import detection
    from matese.formats.format import ReadOptions

    golds = list(islice(detection.read(args.fit, ReadOptions(lang_pair=args.lang_pair)), args.limit))
    with model.loaded(args) as annotator:
        from matese.explanation import fitting
        from matese.render.tables import Table, decimal

        found = fitting.best(_words(golds, annotator, methods, args.output), methods)
        rows = [
            [str(one.method), decimal(one.auc), decimal(one.recall_at_k), decimal(one.min_weight), decimal(one.f1)]
            for one in found
        ]
        print(Table(["method", "AUC", "Recall@K", "min weight", "F1 of words"], rows), end="")
        messages.info(f"{found[0].n_segments:,} segments have both words in errors and others")


def _words(
    golds: Sequence[Rating], annotator: Annotator, methods: Sequence[Method], output: str | None
) -> Iterator[Places]:
    """Yields the words of the segments; after Ctrl-C, those of the finished segments."""
    from matese.explanation import fitting

    n_done = n_long = 0
    with messages.progress(len(golds)) as bar:
        found = fitting.words_of(golds, annotator, methods)
        if output is not None:
            found = fitting.resumed(golds, annotator, methods, Path(output))
        try:
            for own in found:
                bar.advance()
                n_done += 1
                if own is None:
                    n_long += 1
                else:
                    yield own
        except KeyboardInterrupt:
            messages.info(f"stopped: the figures are of the first {n_done:,} of {len(golds):,} segments")
    if n_long:
        messages.info(f"{n_long:,} segments are longer than the model reads at once: skipped")
