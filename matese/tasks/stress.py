"""Whether a model notices errors that are injected into translations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from matese.tasks import annotators, notices, sinks, texts
from matese.tasks.annotators import Loading
from matese.tasks.texts import TextFiles
from matese.validation.options import Count, File, Options, group, option

if TYPE_CHECKING:
    from matese.explanation.stress import KindResult

_OF_MARKS = ("recall", "elsewhere")


@dataclass(frozen=True, kw_only=True)
class Request(Options):
    """Inject errors into translations, and measure which are noticed.

    Attributes:
        kinds: kinds of errors (default: all).
        limit: use only the first N segments of each system.
        json: write all figures as one object; - is standard output.
        output: write the ratings of the corrupted translations as JSONL; their system is the kind of error.
    """

    texts: TextFiles = group(TextFiles)
    loading: Loading = group(Loading)
    kinds: Sequence[str] = option((), metavar="KIND")
    limit: Count | None = None
    json: File | None = None
    output: File | None = None


def run(request: Request, stream: TextIO | None = None) -> tuple[KindResult, ...]:
    """Injects each kind of error into translations; returns how a model reacts to each.

    A table is written to `stream`, if there is one.
    """
    from matese.explanation import stress
    from matese.formats import registry
    from matese.render import json_objects, tables

    kinds = stress.check_kinds(request.kinds)
    sinks.check_apart(request.output, request.texts.files)
    sinks.check_distinct({"--json": request.json, "--output": request.output})
    sinks.format_of(request.output, "jsonl", registry.ENDINGS)
    with sinks.results(request.json, request.texts.files, stream=stream) as outputs:
        segments = list(texts.segments(request.texts).first(request.limit).by_system())
        cases = stress.corrupt(segments, kinds)
        with annotators.loaded(request.loading, len(segments) + len(cases)) as annotator:
            results, ratings = stress.measure(cases, annotator.annotate_segments)
            notices.info(*annotator.counts.notices)
        rows = [
            [
                result.kind,
                f"{result.n:,}",
                *(f"{result.figures[name].value:.3f}" if name in result.figures else "" for name in _OF_MARKS),
                tables.bounded(result.figures["drop"], "{:.3f}".format),
                f"{result.figures['lower'].value:.3f}",
            ]
            for result in results
        ]
        outputs.write_text(tables.Table(["kind", "n", *_OF_MARKS, "drop", "lower"], rows))
        figures_of_kind = {
            result.kind: json_objects.nest_figures(result.figures, with_intervals=True) for result in results
        }
        absent = [kind for kind in kinds if kind not in figures_of_kind]
        notices.info(*(f"{kind}: no place found in these translations" for kind in absent))
        figures = [{"kind": result.kind, "n": result.n, **figures_of_kind[result.kind]} for result in results]
        outputs.write_json({"signature": ratings[0].rater, "kinds": figures})
        if request.output is not None:
            from matese.formats.format import WriteOptions

            sinks.write_ratings(ratings, request.output, "jsonl", WriteOptions(), stream=stream)
    return tuple(results)
