"""Which words lower the score of a translation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

from matese import mqm
from matese.errors import counted
from matese.tasks import annotators, notices, sinks, texts
from matese.tasks.annotators import Loading
from matese.tasks.sinks import Output
from matese.tasks.texts import TextFiles, require
from matese.validation.options import Count, File, Finite, Options, group, option

if TYPE_CHECKING:
    from matese.annotation import Explanation, Rating
    from matese.explanation.fitting import Fit, Places
    from matese.explanation.method import Method
    from matese.model.annotator import Annotator

_ENDINGS = {**sinks.TEXT, **sinks.LINES, **sinks.PAGE}


@dataclass(frozen=True, kw_only=True)
class Request(Options):
    """Explain scores, or measure on rated segments how well a method finds errors.

    Attributes:
        by: method, with the layer and head of some (default: leave-one-out; several with --fit).
        fit: rated segments to find layer, head and weight on.
        min_weight: jsonl: mark words from this weight on as errors (default: the model's own errors).
        format: terminal, jsonl or html (default: terminal; with --output FILE, the format of the ending of its name).
        output: write to a file, which appears when it is complete.
        limit: explain only the first N segments of each system.
    """

    texts: TextFiles = group(TextFiles)
    loading: Loading = group(Loading)
    by: Sequence[str] = option((), metavar="METHOD")
    fit: File | None = option(None, metavar="GOLD")
    min_weight: Finite | None = option(None, metavar="W")
    format: Literal["terminal", "jsonl", "html"] | None = None
    output: File | None = None
    limit: Count | None = None

    @property
    def methods(self) -> list[Method]:
        """The methods that are named; leave-one-out by default."""
        from matese.explanation import method

        return [method.parse(text) for text in self.by or ("leave-one-out",)]


def run(request: Request, stream: TextIO | None = None) -> tuple[Explanation, ...] | tuple[Fit, ...]:
    """Explains scores by the weights of words; with `fit`, returns how well each method finds marked errors.

    The explanations are written to `output` or `stream`, if there is one; otherwise they are returned.
    """
    from matese.explanation.method import BLACK_BOX, precision_for

    methods = request.methods
    computing = replace(request.loading.computing, precision=precision_for(methods))
    if not all(method.name in BLACK_BOX for method in methods):
        require(computing.engine != "numpy", "--engine numpy: this method needs the states of a model in torch")
        computing = replace(computing, engine="torch")
    exact = replace(request.loading, computing=computing)
    if request.fit is not None:
        return _fit(request, exact, methods, stream)
    form = sinks.format_of(request.output, request.format, _ENDINGS) or "terminal"
    require(len(methods) == 1, f"--by {' '.join(request.by)}: give one method; several are for --fit")
    require(request.min_weight is None or form == "jsonl", "--min-weight is for --format jsonl only")
    sinks.check_apart(request.output, request.texts.files)
    with sinks.opened_if_wanted(request.output, stream) as results:
        segments = texts.segments(request.texts)
        is_black_box = methods[0].name in BLACK_BOX
        with annotators.loaded(exact, len(segments.first(request.limit)) if is_black_box else None) as annotator:
            from matese.explanation import explainer

            skip = request.texts.skip_incomplete
            segments = texts.readable(segments, annotator, skip_incomplete=skip, limit=request.limit)
            segments = segments.first(request.limit)
            explained = explainer.explain_segments(segments.by_system(), annotator, methods[0])
            if results is None:
                return tuple(explained)
            shown = notices.progress(explained, len(segments), results=results.stream)
            _write(shown, results, form, annotator, title=", ".join(segments.counts), min_weight=request.min_weight)
            notices.info(*annotator.counts.warnings)
    return ()


def _write(
    explanations: Iterator[Explanation],
    results: Output,
    form: str,
    annotator: Annotator,
    *,
    title: str,
    min_weight: float | None,
) -> None:
    from matese.explanation import fitting
    from matese.formats.tables import jsonl
    from matese.render import explanations as drawing
    from matese.render import terminal

    if form == "html":
        every = list(explanations)
        results.write(drawing.page(title, every, weights=mqm.MATESE, notes=annotator.counts.warnings))
        return
    style = terminal.Styler(results.stream)
    for explanation in explanations:
        if form == "terminal":
            text = style(drawing.draw(explanation, width=style.width if results.is_stdout else 80))
        else:
            rating = explanation.rating if min_weight is None else fitting.spans(explanation, min_weight)
            line = jsonl.to_json(rating, weights=mqm.MATESE) | {"explanation": drawing.to_json(explanation)}
            text = json.dumps(line, ensure_ascii=False)
        results.write(f"{text}\n")


def _fit(request: Request, model: Loading, methods: list[Method], stream: TextIO | None) -> tuple[Fit, ...]:
    """Returns how well each method finds the errors that humans marked; writes it as a table."""
    gold = request.fit or ""
    options = request.given()
    for name in ("hyp", "ref", "src", "input", "min_weight", "format"):
        require(name not in options, f"--fit reads rated segments; leave out --{name.replace('_', '-')}")
    sinks.check_apart(request.output, [gold])
    from matese.formats import detection
    from matese.formats.format import ReadOptions

    golds = list(islice(detection.read(gold, ReadOptions(lang_pair=request.texts.lang_pair)), request.limit))
    with annotators.loaded(model) as annotator:
        from matese.explanation import fitting
        from matese.render.tables import Table, decimal

        fits = fitting.best(_words(golds, annotator, methods, request.output), methods)
        rows = [
            [str(fit.method), decimal(fit.auc), decimal(fit.recall_at_k), decimal(fit.min_weight), decimal(fit.f1)]
            for fit in fits
        ]
        if stream is not None:
            stream.write(str(Table(["method", "AUC", "Recall@K", "min weight", "F1 of words"], rows)))
        notices.info(f"segments that have both words in errors and others: {fits[0].n_segments:,}")
    return tuple(fits)


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
        for n_done, words in enumerate(notices.progress(segments, len(golds)), start=1):  # noqa: B007
            n_long += words is None
            if words is not None:
                yield words
    except KeyboardInterrupt:
        notices.info(f"stopped: the figures are of the first {n_done:,} of {len(golds):,} segments")
    if n_long:
        notices.info(f"skipped: {counted(n_long, 'segment')} longer than the model reads at once")
