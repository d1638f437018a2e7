"""`matese score`: score systems and their segments."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING

from matese import mqm
from matese.annotation import Rating
from matese.cli import inputs, messages, model, options, output
from matese.mqm import SystemSummary
from matese.render import score_report, terminal

if TYPE_CHECKING:
    from matese.evaluation.systems.quality import Basis

    _System = tuple[str, int, Iterable[Sequence[Rating]]]
    """Name, number of segments, and the ratings of each segment."""

SUMMARY = "score systems by the errors in their translations"
USUAL = ("hyp", "src", "ref", "input", "segments", "weights", "json", "model")
EPILOG = """output:
  On a terminal a table with a header, best system first, with 95% intervals and the p-value of the difference from the
  first system (paired permutation test); elsewhere a header and one line per system, its fields separated by tabs:
    system, score, expected score, segments, segments with errors, Minor, Major (Critical included), blank hypotheses,
    signature
  --quiet: only the score that ranks the systems, one number per system, or per segment with --segments
  --segments: one line per segment, before the table or in place of the lines of the systems:
    system, document (if several files are joined, the file), segment (its line or name in the file), score, expected
    score, Minor, Major, signature
  --json: one object with `signature`, `weights`, `ranking` (names, best first) and `systems`, a list of objects with
    `system`, `score`, `expected_score`, `segments`, `with_errors`, `minor`, `major`, `blank`, `score_interval`,
    `expected_score_interval`, `p` and, with --segments, `segment_scores`, a list of objects with `index` (from 0,
    over all segments of the system), `document`, `segment`, `score`, `expected_score`, `minor` and `major`.

  A system's score is the mean of its segments' scores: 0 is best, lower is worse. The score adds up the penalties of
  the marked errors; the expected score is the model's estimate of the score that people would give. Systems are ranked
  by the expected score if there is one, or as --by says. COMET models give an expected score on their own scale, on
  which higher is better. For a model that marks no errors, the score and the counts of errors are empty.

  The score of a segment with several raters is their mean; the counts are those of all its raters' errors.

  RATINGS are scored without a model, human annotations too, in any format that matese convert reads.

examples:
  matese score --ref ref.txt --hyp sys1.txt sys2.txt
  matese score --src src.txt --hyp mt.txt --segments --quiet
  matese score --input data.csv --columns hypothesis=mtA,mtB
  matese score spans.jsonl --weights google
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ratings", nargs="*", metavar="RATINGS", help="files of ratings, instead of texts")
    inputs.add_texts(parser, has_test_sets=True)
    group = parser.add_argument_group("output")
    group.add_argument("--segments", action="store_true", help="also write the scores of the segments")
    options.add_basis(group)
    options.add_json(group)
    model.add_uncertainty(parser.add_argument_group("uncertainty", "docs/explain.md explains the intervals"))
    model.add_options(parser, is_main=True)


def run(args: argparse.Namespace) -> None:
    with output.results(args.json, inputs.given_files(args)) as outputs, _systems(args) as (systems, by):
        from matese.evaluation.systems import system_ranking

        text = outputs.text
        summaries = [SystemSummary(name, args.weights) for name, _, _ in systems]
        segments: list[list[Mapping[str, str | float | None]]] = [[] for _ in summaries]
        if text is not None and args.segments and not args.quiet:
            text.write("\t".join(score_report.SEGMENT_HEADER) + "\n")
        every = (
            (summary, kept, number, rated)
            for (_, _, ratings), summary, kept in zip(systems, summaries, segments, strict=True)
            for number, rated in enumerate(ratings, start=1)
        )
        total = sum(n_segments for _, n_segments, _ in systems)
        for summary, kept, number, rated in messages.progress(every, total, results=text.stream if text else None):
            summary.add(*rated)
            if args.segments:
                figures = score_report.of_segment(rated, args.weights)
                place = score_report.place_of(rated[0].segment, number)
                if text is not None:
                    signature = _raters(args, rated)
                    named = (summary.system, *place.values())
                    text.write(_line(named, figures, signature, by=by, is_quiet=args.quiet))
                if outputs.json is not None:
                    kept.append({**place, **figures})
        if text is not None:
            _write(args, text, summaries, by)
        if outputs.json is not None:
            ranked = system_ranking.rank(summaries, by)
            outputs.write_json(score_report.to_json(ranked, segments if args.segments else None))


def _write(
    args: argparse.Namespace, results: output.Output, summaries: Sequence[SystemSummary], by: Basis | None
) -> None:
    """Writes the scores of the systems as text."""
    from matese.evaluation.systems import system_ranking

    if results.stream.isatty() and not args.quiet:
        results.write("\n" if args.segments else "")
        style = terminal.Styler(results.stream)
        results.write(style(score_report.summary(system_ranking.rank(summaries, by), width=style.width)))
    elif not args.segments:
        results.write("" if args.quiet else "\t".join(score_report.SYSTEM_HEADER) + "\n")
        for summary in summaries:
            figures = score_report.of_system(summary)
            results.write(_line((summary.system,), figures, summary.signature, by=by, is_quiet=args.quiet))


def _line(
    place: Sequence[str | None],
    figures: score_report.Figures,
    signature: str | None,
    *,
    by: Basis | None,
    is_quiet: bool,
) -> str:
    """Returns the line of a system or segment: all figures, or only the ranking score with `--quiet`."""
    return score_report.line(*((_ranking(figures, by),) if is_quiet else (*place, *figures.values(), signature)))


def _raters(args: argparse.Namespace, ratings: Sequence[Rating]) -> str | None:
    return " ".join(filter(None, mqm.signatures(ratings, args.weights))) or None


def _ranking(figures: score_report.Figures, by: Basis | None) -> float | None:
    """Returns the ranking score: the expected score if there is one, unless `by` names another."""
    expected = figures["expected_score"]
    return figures["score"] if by == "spans" or (by is None and expected is None) else expected


@contextmanager
def _systems(args: argparse.Namespace) -> Iterator[tuple[list[_System], Basis | None]]:
    """Yields the systems, and what ranks them; None for what the model gives. Reports what the model did."""
    if args.ratings:
        is_alone = not any((args.hyp, args.ref, args.src, args.test_set, args.input))
        options.require(is_alone, "RATINGS are scored as they are; give them without texts")
        options.require(args.uncertainty is None, "--uncertainty needs a model; give texts instead of RATINGS")
        from matese.evaluation.systems import quality, raters

        by_system = inputs.systems(args.ratings, args)
        by = quality.choose_basis(chain.from_iterable(by_system.values()), args.by)
        segments = {name: raters.by_segment(ratings) for name, ratings in by_system.items()}
        yield [(name, len(ratings), ratings) for name, ratings in segments.items()], by
        return
    systems, _ = inputs.segments(args)
    n_segments = sum(system.n_segments for system in systems)
    with model.loaded(args, n_segments) as annotator:
        systems = inputs.readable(systems, annotator, args)
        yield (
            [
                (system.name, system.n_segments, ((rating,) for rating in annotator.annotate_segments(system.read())))
                for system in systems
            ],
            args.by,
        )
        messages.info(*annotator.counts.notices)
