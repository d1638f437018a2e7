"""`matese gate`: exit code 1 if translations are not good enough, for CI jobs."""

from __future__ import annotations

import argparse
import math

from matese.cli import inputs, messages, options, output
from matese.errors import UsageError
from matese.files import shown

FAILED, _TOP = 1, 10
"""The exit code of a violated limit, and the segments that are listed for each limit."""
SUMMARY = "check translations against quality limits; the exit code is 1 if a limit is violated"
EPILOG = """All given limits are checked. If one is violated, the exit code is 1, and the segments that violate it
are listed, worst first. A value equal to its limit passes. Blank translations fail unless --max-blank allows them.
--min-score and --baseline use the expected score if all ratings have one, or the score that --by names. The model
marks translations (--hyp, --input) first.

  --baseline fails if the mean score is lower than that of the other system and a paired permutation test finds the
  difference significant (p < .05, two-sided). With few segments, only large losses are significant.

examples:
  matese gate --hyp new.txt --baseline old.txt --src src.txt --min-score -3
  matese gate spans.jsonl --max-major-per-1k 5 --min-score -3
  matese gate new.jsonl --baseline released.jsonl --json gate.json
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    inputs.add_rated(parser)
    group = parser.add_argument_group("limits")
    score = options.number("", math.isfinite)
    for name, convert, text in (
        ("--max-major-per-1k", options.not_negative(), "allow at most X Major and Critical errors per 1,000 words"),
        ("--max-errors-per-1k", options.not_negative(), "allow at most X errors per 1,000 words"),
        (
            "--min-score",
            score,
            "require a mean segment score of at least X (0 is best; COMET models have other scales)",
        ),
    ):
        group.add_argument(name, type=convert, metavar="X", help=text)
    units, text = options.Choice("unit", ("words", "characters")), "unit of the first two limits: words or characters"
    group.add_argument("--per", default="words", type=units, metavar="UNIT", help=f"{text} (default: words)")
    text = "fail if this other system, a name or a file, is significantly better"
    group.add_argument("--baseline", metavar="SYSTEM", help=text)
    text = "allow at most N blank translations of a text (default: 0)"
    group.add_argument("--max-blank", type=options.whole_number(0), metavar="N", help=text)
    text = "refuse a baseline that another model or other settings have rated"
    group.add_argument("--require-same-signature", action="store_true", help=text)
    group = parser.add_argument_group("figures")
    options.add_basis(group)
    group = parser.add_argument_group("output")
    options.add_json(group)


def run(args: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    limits = (args.max_major_per_1k, args.max_errors_per_1k, args.min_score, args.baseline, args.max_blank)
    options.require(
        limits != (None,) * 5,
        "no limit to check: give --max-major-per-1k, --max-errors-per-1k, --min-score, --baseline or --max-blank",
    )
    args = inputs.with_baseline(argparse.Namespace(**{**vars(args), "max_blank": args.max_blank or 0}))
    weights = options.weights(args.weights)
    with output.results(args.json, inputs.given_files(args)) as outputs:
        from matese import api
        from matese.evaluation.spans.evaluation import NamedRatings
        from matese.render import gate_report

        systems, baseline = inputs.rated(args, weights)
        checked = [NamedRatings(name, own) for name, own in systems.items() if name != baseline]
        if len(checked) != 1:
            given = shown(systems) if checked else f"only the baseline, {baseline}"
            raise UsageError(f"gate checks one system; given: {given} (--baseline names the one to compare with)")
        names = ("max_major_per_1k", "max_errors_per_1k", "per", "min_score", "max_blank")
        result = api.gate(
            checked[0],
            baseline=None if baseline is None else NamedRatings(baseline, systems[baseline]),
            weights=weights,
            by=args.by,
            require_same_signature=args.require_same_signature,
            **{name: getattr(args, name) for name in names},
        )
        for notice in (result.notice, *(check.notice for check in result.checks)):
            if notice:
                messages.info(notice)
        outputs.write_text(gate_report.text(result, _TOP))
        outputs.write_json(gate_report.to_json(result, checked[0].name, _TOP))
    return 0 if result.passed else FAILED
