"""`matese gate`: exit code 1 if translations are not good enough, for CI jobs."""

from __future__ import annotations

import argparse
import math

from matese.cli import inputs, messages, options, output
from matese.errors import UsageError
from matese.files import shown

FAILED = 1
_TOP = 10
"""The exit code of a violated limit, and the segments that are listed for each limit."""
SUMMARY = "check translations against limits of quality"
USUAL = (
    *("hyp", "src", "ref", "input", "max-major-per-1k", "max-errors-per-1k", "min-score"),
    *("min-error-free", "baseline", "json"),
)
EPILOG = """All given limits are checked. If one is violated, the exit code is 1, and the segments that violate it
are listed, worst first. A value equal to its limit passes. Blank translations fail unless --max-blank allows them.
--min-score and --baseline use the expected score if all ratings have one, or the score that --by names. The model
marks translations (--hyp, --input) first.

  --baseline fails if the mean score is lower than that of the other system and a paired permutation test finds the
  difference significant (p < .05, two-sided). With few segments, only large losses are significant.

examples:
  matese gate --hyp new.txt --baseline old.txt --src src.txt --min-score -3
  matese gate spans.jsonl --max-major-per-1k 5 --min-score -3
  matese gate spans.jsonl --min-error-free 60%
  matese gate new.jsonl --baseline released.jsonl --json gate.json
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    inputs.add_rated(parser)
    group = parser.add_argument_group("limits")
    score = options.number("", math.isfinite)
    for name, kind, text in (
        ("--max-major-per-1k", options.not_negative(), "allow at most X Major and Critical errors per 1,000 words"),
        ("--max-errors-per-1k", options.not_negative(), "allow at most X errors per 1,000 words"),
        ("--min-score", score, "require a mean score of at least X (0 is best; COMET models have other scales)"),
    ):
        group.add_argument(name, type=kind, metavar="X", help=text)
    text = "require at least this share of segments that are free of errors, such as 60%%; see matese tag --error-free"
    group.add_argument("--min-error-free", type=options.share(), metavar="P", help=text)
    text = "fail if this other system, a name or a file, is significantly better"
    group.add_argument("--baseline", metavar="SYSTEM", help=text)
    text = "allow at most N blank translations of a text (default: 0)"
    group.add_argument("--max-blank", type=options.whole_number(0), metavar="N", help=text)
    text = "refuse a baseline that another model or other settings have rated"
    group.add_argument("--require-same-signature", action="store_true", help=text)
    options.add_basis(parser.add_argument_group("figures"))
    options.add_json(parser.add_argument_group("output"))


def run(args: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    limits = ("max_major_per_1k", "max_errors_per_1k", "min_score", "min_error_free", "baseline", "max_blank")
    allowed = "give --max-major-per-1k, --max-errors-per-1k, --min-score, --min-error-free, --baseline or --max-blank"
    options.require(any(vars(args)[name] is not None for name in limits), f"no limit to check: {allowed}")
    args = inputs.with_baseline(args)
    args.error_free = args.min_error_free is not None
    with output.results(args.json, inputs.given_files(args)) as outputs:
        from matese import api
        from matese.evaluation.spans.evaluation import NamedRatings
        from matese.render import gate_report

        rated = inputs.rated(args)
        checked = [NamedRatings(name, ratings) for name, ratings in rated.systems.items() if name != rated.baseline]
        if len(checked) != 1:
            named = shown(rated.systems) if checked else f"only the baseline, {rated.baseline}"
            raise UsageError(f"gate checks one system; given: {named} (--baseline names the one to compare with)")
        result = api.gate(
            checked[0],
            max_major_per_1k=args.max_major_per_1k,
            max_errors_per_1k=args.max_errors_per_1k,
            min_score=args.min_score,
            min_error_free=args.min_error_free,
            max_blank=args.max_blank or 0,
            baseline=rated.baseline and NamedRatings(rated.baseline, rated.systems[rated.baseline]),
            weights=args.weights,
            by=args.by,
            require_same_signature=args.require_same_signature,
        )
        messages.info(*filter(None, (result.notice, *(check.notice for check in result.checks))))
        outputs.write_text(gate_report.text(result, _TOP))
        outputs.write_json(gate_report.to_json(result, checked[0].name, _TOP))
    return 0 if result.passed else FAILED
