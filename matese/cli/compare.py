"""`matese compare`: two systems or more, side by side."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator

from matese.cli import figure_files, filters, options, output, ratings
from matese.cli.errors import UsageError

_EPILOG = """RATINGS are files of ratings of the same segments by the same rater or model, one system each or several;
the first system is what the others are compared with. Rating i of each must be of one segment; where the order differs,
segments are found by their keys.

output:
  systems      mean scores with 95% intervals, errors per 1,000 words and characters, segments by their severest errors
  differences  of each other system and the first: score, errors and Major errors a segment, with the interval of the
               paired bootstrap and the p-value of the paired permutation test; wins among the resamples; and errors
               that are fixed, introduced, softened, worsened and kept, spans being matched as in matese evaluate
  segments     the largest differences of score first, with what became of each error
  docs/compare.md defines them all, and the keys of --json.

examples:
  matese compare old.jsonl new.jsonl
  matese compare old.jsonl new.jsonl --length 20: --contains number --html compare.html --json compare.json
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser(
        "compare",
        help="set systems side by side",
        description="Compares systems by the errors in their translations, without a gold standard.",
        epilog=_EPILOG,
    )
    parser.add_argument("ratings", nargs="+", metavar="RATINGS", help="files of ratings")
    group = parser.add_argument_group("figures")
    options.add_weights(group)
    group.add_argument(
        "--bootstrap",
        type=options.whole_number(0),
        default=1000,
        metavar="N",
        help="resamples of the bootstrap; 0 for none (default: 1000)",
    )
    add_permutations(group)
    filters.add(parser)
    group = parser.add_argument_group("output")
    group.add_argument(
        "--top", type=options.whole_number(0), default=10, metavar="N", help="segments listed (default: 10)"
    )
    group.add_argument("--json", metavar="FILE", help="write all figures as one object; - is standard output")
    group.add_argument("--html", metavar="FILE", help="write a page with plots and all segments")
    ratings.add_choice(parser)
    ratings.add_reading(parser)


def add_permutations(group: argparse._ArgumentGroup) -> None:
    """Adds how the permutation test is drawn."""
    group.add_argument(
        "--permutations",
        type=options.whole_number(1),
        default=1000,
        metavar="N",
        help="sign flips of the test (default: 1000)",
    )
    group.add_argument(
        "--seed", type=options.whole_number(0), default=0, metavar="N", help="of all chance (default: 0)"
    )


def run(args: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    options.require(args.ratings.count("-") < 2, "- is given twice: standard input must be one file at most")
    options.require(args.json != "-" or args.html != "-", "--json and --html are both -: must be two outputs")
    weights = options.weights(args.weights)
    with contextlib.ExitStack() as stack:
        files = stack.enter_context(figure_files.opened(args.json, args.ratings))
        page = None
        if args.html is not None:
            with _named_html():
                output.check_apart(args.html, args.ratings)
                page = stack.enter_context(output.opened(args.html))
        from matese.cli import compare_report

        compare_report.write(args, weights, files, page)
    return 0


@contextlib.contextmanager
def _named_html() -> Iterator[None]:
    """Says of an output that it is `--html` which must be another."""
    try:
        yield
    except UsageError as error:
        raise UsageError(str(error).replace("--output", "--html", 1)) from None
