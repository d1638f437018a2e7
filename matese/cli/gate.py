"""`matese gate`: exit code 1 where translations are not good enough, for CI jobs."""

from __future__ import annotations

import argparse
import math

from matese.cli import compare, figure_files, options, ratings

_EPILOG = """Every limit that is given is checked; where one is not kept, the exit code is 1 and the segments to
blame are listed, the worst first. A limit that is just met is kept.

  --not-worse-than fails where the mean score is lower than the other's and a paired permutation test finds the
  difference significant (--alpha, two-sided): on few segments only large losses are.

examples:
  matese gate spans.jsonl --max-major-per-1k 5 --min-score -3
  matese gate new.jsonl --not-worse-than released.jsonl --json gate.json
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser(
        "gate",
        help="fail where translations are not good enough",
        description="Checks translations against limits, for CI jobs: exit code 1 where one is not kept.",
        epilog=_EPILOG,
    )
    parser.add_argument("ratings", metavar="RATINGS", help="ratings of one system")
    group = parser.add_argument_group("limits")
    group.add_argument(
        "--max-major-per-1k", type=rate, metavar="X", help="Major and Critical errors per 1,000 words at most"
    )
    group.add_argument(
        "--max-errors-per-1k", type=rate, metavar="X", help="errors per 1,000 words at most, Minor ones too"
    )
    group.add_argument(
        "--per",
        default="words",
        type=options.choice("unit", "words", "characters"),
        metavar="UNIT",
        help="of these two, words or characters (default: words)",
    )
    group.add_argument("--min-score", type=score, metavar="X", help="mean score of the segments at least, 0 or less")
    group.add_argument("--not-worse-than", metavar="OTHER", help="ratings of another system on the same segments")
    group.add_argument(
        "--alpha", type=options.probability, default=0.05, metavar="P", help="up to which a loss counts (default: 0.05)"
    )
    group = parser.add_argument_group("figures")
    options.add_weights(group)
    compare.add_permutations(group)
    group = parser.add_argument_group("output")
    group.add_argument(
        "--top", type=options.whole_number(0), default=10, metavar="N", help="segments for each limit (default: 10)"
    )
    group.add_argument("--json", metavar="FILE", help="write all as one object; - is standard output")
    ratings.add_choice(parser)
    ratings.add_reading(parser)


def rate(value: str) -> float:
    """Returns the number, 0 or more, that an option's value is."""
    number = _number(value)
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"{value!r} must be a number, 0 or more")
    return number


def score(value: str) -> float:
    """Returns the number, 0 or less, that an option's value is."""
    number = _number(value)
    if not -math.inf < number <= 0:
        raise argparse.ArgumentTypeError(f"{value!r} must be a number, 0 or less: 0 is the best score")
    return number


def _number(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        return math.nan


def run(args: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    limits = (args.max_major_per_1k, args.max_errors_per_1k, args.min_score, args.not_worse_than)
    options.require(
        any(limit is not None for limit in limits),
        "no limit: must be --max-major-per-1k, --max-errors-per-1k, --min-score or --not-worse-than",
    )
    options.require(
        args.ratings != args.not_worse_than or args.ratings == "-",
        f"{args.ratings} is given 2 times: must be two files",
    )
    if args.not_worse_than is not None:
        least = math.ceil(2 / args.alpha) - 1  # one is added to both counts, see comparison.permutation
        options.require(
            args.permutations >= least,
            f"--permutations {args.permutations}: must be {least:,} or more for --alpha {args.alpha:g}",
        )
    given = [args.ratings, *([args.not_worse_than] if args.not_worse_than else [])]
    options.require(given.count("-") < 2, "- is given twice: standard input must be one file at most")
    weights = options.weights(args.weights)
    with figure_files.opened(args.json, given) as files:
        from matese.cli import gate_report

        return gate_report.write(args, weights, files)
