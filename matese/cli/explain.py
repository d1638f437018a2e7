"""`matese explain`: which words lower the score of a translation."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from matese import mqm
from matese.cli import inputs, messages, model, options, output
from matese.errors import counted

if TYPE_CHECKING:
    from matese.annotation import Explanation, Rating
    from matese.cli.output import Output
    from matese.explanation.fitting import Places
    from matese.explanation.method import Method
    from matese.model.annotator import Annotator

_ENDINGS = {**output.TEXT, **output.LINES, **output.PAGE}
SUMMARY = "show which words lower the score of a translation"
USUAL = ("hyp", "src", "ref", "by", "format", "output", "limit", "model")
EPILOG = """methods (--by), with a layer L and a head H; docs/explain.md describes them:
  every model                     leave-one-out, lime
  taggers                         tags
  encoders of the RoBERTa family  attention[:L[:H]], attention-norm, attention-gradient, gradient-hidden[:L],
                                  integrated-gradients, embed-align[:L]

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
    inputs.add_texts(parser)
    group = parser.add_argument_group("explanation")
    text = "method, with the layer and head of some (default: leave-one-out; several with --fit)"
    group.add_argument("--by", nargs="+", default=["leave-one-out"], metavar="METHOD", help=text)
    group.add_argument("--fit", metavar="GOLD", help="rated segments to find layer, head and weight on")
    text = "jsonl: mark words from this weight on as errors (default: the model's own errors)"
    kind = options.number("", lambda value: abs(value) < float("inf"))
    group.add_argument("--min-weight", type=kind, metavar="W", help=text)
    group = parser.add_argument_group("output")
    formats = options.OneOf("format", tuple(name for names in _ENDINGS.values() for name in names))
    text = "terminal, jsonl or html (default: terminal; with --output FILE, the format of the ending of its name)"
    options.add_output(group, formats, text)
    options.add_limit(group, "explain only the first N segments of each system")
    model.add_options(parser, with_weights=False)


def run(args: argparse.Namespace) -> None:
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
        n_segments = sum(min(system.n_segments, args.limit or system.n_segments) for system in systems)
        is_outside = methods[0].name in method.BLACK_BOX
        with model.loaded(args, n_segments=n_segments if is_outside else None) as annotator:
            from matese.explanation import explainer

            systems = inputs.readable(systems, annotator, args, limit=args.limit)
            n_segments = sum(min(system.n_segments, args.limit or system.n_segments) for system in systems)
            segments = chain.from_iterable(islice(system.read(), args.limit) for system in systems)
            explained = explainer.explain_segments(segments, annotator, methods[0])
            shown = messages.progress(explained, n_segments, results=results.stream)
            _write(args, results, shown, ", ".join(system.name for system in systems), annotator)
            messages.info(*annotator.counts.warnings)


def _write(
    args: argparse.Namespace, results: Output, explanations: Iterator[Explanation], title: str, annotator: Annotator
) -> None:
    from matese.explanation import fitting
    from matese.formats.tables import jsonl
    from matese.render import explanations as drawing
    from matese.render import terminal

    if args.format == "html":
        every = list(explanations)
        results.write(drawing.page(title, every, weights=mqm.MATESE, notes=annotator.counts.warnings))
        return
    style = terminal.Styler(results.stream)
    for explanation in explanations:
        if args.format == "terminal":
            text = style(drawing.draw(explanation, width=style.width if results.is_stdout else 80))
        else:
            rating = explanation.rating if args.min_weight is None else fitting.spans(explanation, args.min_weight)
            line = jsonl.to_json(rating, weights=mqm.MATESE) | {"explanation": drawing.to_json(explanation)}
            text = json.dumps(line, ensure_ascii=False)
        results.write(f"{text}\n")


def _fit(args: argparse.Namespace, methods: list[Method]) -> None:
    """Prints how well each method finds the errors that humans marked."""
    for name in ("hyp", "ref", "src", "input", "min_weight", "format"):
        options.require(not vars(args)[name], f"--fit reads rated segments; leave out --{name.replace('_', '-')}")
    output.check_apart(args.output, [args.fit])
    from matese.formats import detection
    from matese.formats.format import ReadOptions

    golds = list(islice(detection.read(args.fit, ReadOptions(lang_pair=args.lang_pair)), args.limit))
    with model.loaded(args) as annotator:
        from matese.explanation import fitting
        from matese.render.tables import Table, decimal

        fits = fitting.best(_words(golds, annotator, methods, args.output), methods)
        rows = [
            [str(fit.method), decimal(fit.auc), decimal(fit.recall_at_k), decimal(fit.min_weight), decimal(fit.f1)]
            for fit in fits
        ]
        print(Table(["method", "AUC", "Recall@K", "min weight", "F1 of words"], rows), end="")
        messages.info(f"segments that have both words in errors and others: {fits[0].n_segments:,}")


def _words(
    golds: Sequence[Rating], annotator: Annotator, methods: Sequence[Method], output: str | None
) -> Iterator[Places]:
    """Yields the words of the segments; after Ctrl-C, those of the finished segments."""
    from matese.explanation import fitting

    segments = fitting.words_of(golds, annotator, methods)
    if output is not None:
        segments = fitting.resumed(golds, annotator, methods, Path(output))
    n_done = n_long = 0
    try:
        for n_done, words in enumerate(messages.progress(segments, len(golds)), start=1):  # noqa: B007
            n_long += words is None
            if words is not None:
                yield words
    except KeyboardInterrupt:
        messages.info(f"stopped: the figures are of the first {n_done:,} of {len(golds):,} segments")
    if n_long:
        messages.info(f"skipped: {counted(n_long, 'segment')} longer than the model reads at once")
