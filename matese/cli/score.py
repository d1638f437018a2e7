"""`matese score`: the score of each system, and of each segment where that is asked for."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from matese import mqm
from matese.annotation import Rating, Severity
from matese.cli import inputs, model, options, output, progress, writers
from matese.cli.inputs import Texts
from matese.cli.output import Output
from matese.cli.tally import Tally, count
from matese.render.visible import show

if TYPE_CHECKING:
    from matese.annotator import Annotator

_EPILOG = """output:
  On a terminal a table with a header; elsewhere a line a system without one, its fields separated by tabs:
    system, score, expected score, segments, segments with errors, Minor, Major, blank hypotheses, signature
  --segments: a line a segment, its fields separated by tabs, before the table or instead of the systems' lines:
    system, line (from 1), score, expected score, Minor, Major, signature
  --json: one object with `signature`, `weights` and `systems`, a list of objects with `system`, `score`,
    `expected_score`, `segments`, `with_errors`, `minor`, `major`, `blank` and, with --segments, `segment_scores`, a
    list of objects with `index` (from 0), `score`, `expected_score`, `minor` and `major`.

  A system's score is the mean of its segments' scores: 0 is best, lower is worse.

examples:
  matese score --ref ref.txt --hyp sys1.txt sys2.txt
  matese score --src src.txt --hyp mt.txt --segments | cut -f 2,4
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser(
        "score",
        help="score systems by the errors in their translations",
        description="Scores systems by the errors in their translations.",
        epilog=_EPILOG,
    )
    options.add_texts(parser)
    group = parser.add_argument_group("output")
    group.add_argument("--segments", action="store_true", help="scores of the segments too")
    group.add_argument("--json", action="store_true", help="one JSON object")
    options.add_model(parser)


def run(args: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    weights = options.weights(args.weights)
    with output.opened(None) as results:
        texts = inputs.read(args.hyp, args.ref, args.src)
        with model.loaded(args, weights) as annotator:
            _score(args, texts, annotator, results)
    return 0


def _score(args: argparse.Namespace, texts: Texts, annotator: Annotator, results: Output) -> None:
    weights = annotator.options.weights
    tallies = [Tally(system.name, weights) for system in texts.systems]
    segments: list[list[Mapping[str, float | None]]] = [[] for _ in tallies]
    with progress.shown(len(tallies) * texts.n_segments) as bar:
        for system, tally, scores in zip(texts.systems, tallies, segments, strict=True):
            for index, rating in enumerate(annotator.annotate_segments(texts.segments(system))):
                tally.add(rating)
                if args.segments and args.json:
                    scores.append({"index": index, **_segment_fields(rating, weights)})
                elif args.segments:
                    bar.give_way(results)
                    results.write(
                        _line(system.name, index + 1, *_segment_fields(rating, weights).values(), rating.rater)
                    )
                bar.advance()
    if args.json:
        results.write(_object(tallies, segments if args.segments else None))
    elif results.stream.isatty():
        results.write("\n" if args.segments else "")
        writers.make("terminal", results, weights).finish(tallies, len(tallies) * texts.n_segments)
    elif not args.segments:
        for tally in tallies:
            results.write(_line(tally.system, *_system_fields(tally).values(), tally.signature))
    model.say_counts(annotator.counts, len(tallies) * texts.n_segments)


def _segment_fields(rating: Rating, weights: mqm.Weights) -> dict[str, float | None]:
    """Returns the figures of a segment, in the order of the columns."""
    return {
        "score": mqm.score(rating, weights),
        "expected_score": None if rating.overall is None else rating.overall.value,
        "minor": count(rating, Severity.MINOR),
        "major": count(rating, Severity.MAJOR),
    }


def _system_fields(tally: Tally) -> dict[str, float | None]:
    """Returns the figures of a system, in the order of the columns."""
    return {
        "score": tally.score,
        "expected_score": tally.expected_score,
        "segments": tally.n_segments,
        "with_errors": tally.n_with_errors,
        "minor": tally.n_minor,
        "major": tally.n_major,
        "blank": tally.n_blank,
    }


def _line(*fields: str | float | None) -> str:
    """Returns a line of fields separated by tabs; a tab within a name is shown and not written."""
    return "\t".join(map(_field, fields)) + "\n"


def _field(value: str | float | None) -> str:
    if value is None:
        return ""
    return show(value) if isinstance(value, str) else f"{value:.10g}"


def _object(tallies: Sequence[Tally], segments: Sequence[Sequence[Mapping[str, float | None]]] | None) -> str:
    systems: list[dict[str, object]] = [{"system": tally.system, **_system_fields(tally)} for tally in tallies]
    if segments is not None:
        for system, scores in zip(systems, segments, strict=True):
            system["segment_scores"] = scores
    first = tallies[0]
    return (
        json.dumps({"signature": first.signature, "weights": first.weights.name, "systems": systems}, indent=2) + "\n"
    )
