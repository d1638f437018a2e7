"""Scores of systems and of their segments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from itertools import chain, islice
from typing import TextIO

from matese import mqm
from matese.annotation import Rating
from matese.mqm import Basis, SystemSummary
from matese.render import score_report, terminal
from matese.tasks import annotators, notices, sinks, texts
from matese.tasks.annotators import Loading
from matese.tasks.sinks import Output
from matese.tasks.texts import TextFiles, require
from matese.tasks.weights import Weighted
from matese.text.words import count_words
from matese.validation.options import File, group, option

_System = tuple[str, int, Iterable[Sequence[Rating]]]
"""Name, number of segments, and the ratings of each segment."""


@dataclass(frozen=True)
class Request(Weighted):
    """Score systems by their ratings, or by those of a model.

    Attributes:
        ratings: files of ratings, instead of texts.
        segments: also write the scores of the segments.
        by: score that decides: spans or expected (default: expected if all ratings have an expected score).
        json: write all figures as one object; - is standard output.
        scores_only: print only the score that ranks, one number a line.
    """

    ratings: Sequence[File] = option((), metavar="RATINGS")
    _: KW_ONLY
    texts: TextFiles = group(TextFiles)
    loading: Loading = group(Loading)
    segments: bool = False
    by: Basis | None = option(None, metavar="SCORE")
    json: File | None = None
    scores_only: bool = option(False, is_of_python=True)

    @property
    def files(self) -> list[str]:
        """The files that are read."""
        return [*self.ratings, *self.texts.files]


def run(request: Request, stream: TextIO | None = None) -> tuple[SystemSummary, ...]:
    """Scores systems by the errors in their translations; returns the counts and scores of each.

    The scores are written to `stream`, if there is one.
    """
    with sinks.results(request.json, request.files, stream=stream) as outputs, _systems(request) as (systems, by):
        from matese.evaluation.systems import system_ranking

        text = outputs.text
        summaries = [SystemSummary(name, request.penalties) for name, _, _ in systems]
        segments: list[list[Mapping[str, str | float | None]]] = [[] for _ in summaries]
        if text is not None and request.segments and not request.scores_only:
            text.write("\t".join(score_report.SEGMENT_HEADER) + "\n")
        every = (
            (summary, kept, number, rated)
            for (_, _, ratings), summary, kept in zip(systems, summaries, segments, strict=True)
            for number, rated in enumerate(ratings, start=1)
        )
        total = sum(n_segments for _, n_segments, _ in systems)
        for summary, kept, number, rated in notices.progress(every, total, results=text.stream if text else None):
            summary.add(*rated)
            if outputs.json is not None:  # counting takes longer than all else
                summary.n_source_words += count_words(rated[0].segment.source or "")
            if request.segments:
                figures = score_report.of_segment(rated, request.penalties)
                place = score_report.place_of(rated[0].segment, number)
                if text is not None:
                    signature = " ".join(filter(None, mqm.signatures(rated, request.penalties))) or None
                    named = (summary.system, *place.values())
                    text.write(_line(named, figures, signature, by=by, is_alone=request.scores_only))
                if outputs.json is not None:
                    kept.append({**place, **figures})
        if text is not None:
            _write(request, text, summaries, by)
        if outputs.json is not None:
            ranked = system_ranking.rank(summaries, by)
            outputs.write_json(score_report.to_json(ranked, segments if request.segments else None))
    return tuple(summaries)


def _write(request: Request, results: Output, summaries: Sequence[SystemSummary], by: Basis | None) -> None:
    """Writes the scores of the systems as text."""
    from matese.evaluation.systems import system_ranking

    if results.stream.isatty() and not request.scores_only:
        results.write("\n" if request.segments else "")
        style = terminal.Styler(results.stream)
        results.write(style(score_report.summary(system_ranking.rank(summaries, by), width=style.width)))
    elif not request.segments:
        results.write("" if request.scores_only else "\t".join(score_report.SYSTEM_HEADER) + "\n")
        for summary in summaries:
            figures = score_report.of_system(summary)
            results.write(_line((summary.system,), figures, summary.signature, by=by, is_alone=request.scores_only))


def _line(
    place: Sequence[str | None],
    figures: score_report.FiguresByName,
    signature: str | None,
    *,
    by: Basis | None,
    is_alone: bool,
) -> str:
    """Returns the line of a system or segment: all figures, or only the score that ranks."""
    return score_report.line(*((_ranking(figures, by),) if is_alone else (*place, *figures.values(), signature)))


def _ranking(figures: score_report.FiguresByName, by: Basis | None) -> float | None:
    """Returns the ranking score: the expected score if there is one, unless `by` names another."""
    expected = figures["expected_score"]
    return figures["score"] if by == "spans" or (by is None and expected is None) else expected


@contextmanager
def _systems(request: Request) -> Iterator[tuple[list[_System], Basis | None]]:
    """Yields the systems, and what ranks them; None for what the model gives. Reports what the model did."""
    if request.ratings:
        is_alone = not (request.texts.files or request.texts.test_set)
        require(is_alone, "RATINGS are scored as they are; give them without texts")
        require(
            request.loading.intervals.uncertainty is None, "--uncertainty needs a model; give texts instead of RATINGS"
        )
        from matese.evaluation.systems import quality, raters

        by_system = texts.systems(request.ratings, texts.read_options(request.texts))
        by = quality.choose_basis(chain.from_iterable(by_system.values()), request.by)
        of_raters = {name: raters.by_segment(ratings) for name, ratings in by_system.items()}
        yield [(name, len(ratings), ratings) for name, ratings in of_raters.items()], by
        return
    segments = texts.segments(request.texts)
    with annotators.loaded(request.loading, len(segments), weights=request.weights) as annotator:
        segments = texts.readable(segments, annotator, skip_incomplete=request.texts.skip_incomplete)
        rated = annotator.annotate_segments(segments.by_system())
        of_systems = ((name, n, ((rating,) for rating in islice(rated, n))) for name, n in segments.counts.items())
        yield list(of_systems), request.by
        notices.info(*annotator.counts.notices)
