"""`matese gate`: exit code 1 if translations are not good enough, for CI jobs."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.tasks import gate
from matese.tasks.gate import Request

FAILED = 1
"""The exit code of a violated limit."""
USUAL = (
    *("input", "checks", "max", "min-score", "baseline", "since", "accept"),
    *("json", "sarif", "github"),
)
EPILOG = """All given limits are checked. If one is violated, the exit code is 1, and the segments that violate it
are listed, worst first. A value equal to its limit passes. Blank translations fail unless --max-blank allows them.
--min-score and --baseline use the expected score if all ratings have one, or the score that --by names. The model
marks translations (--hyp, --input) first.

--checks also adds marks of rules, which change the score, but not the expected score. To let them count, limit the
marks with --max-major-per-1k, or give --by spans.

  --since checks only what is new or changed. A false alarm is silenced once: --accept WHY writes the findings to
  matese-accepted.jsonl, which holds until their texts change; so do a reviewer's "no errors" in the file, and Weblate's
  flags in PO (ignore-same, ...).

  --baseline fails if the mean score is lower than that of the other system and a paired permutation test finds the
  difference significant (p < .05, two-sided). With few segments, only large losses are significant.

examples:
  matese gate --hyp new.txt --baseline old.txt --src src.txt --min-score -3
  matese gate spans.jsonl --max-major-per-1k 40 --min-score -3
  matese gate locales/*.po --since origin/main --github
  matese gate locales/*.po --since origin/main --accept "product names"
  matese gate marked.jsonl --max critical=0 errors=3/segment major=5/1k
  matese gate new.jsonl --baseline released.jsonl --json gate.json
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    groups.add_rated(parser, Request)
    limits = ("max_major_per_1k", "max_errors_per_1k", "max", "min_score", "min_error_free", "baseline", "max_blank")
    fields.add(parser.add_argument_group("limits"), Request, *limits, "max_findings", "require_same_signature")
    fields.add(parser.add_argument_group("changes"), Request, "since", "accepted", "accept")
    fields.add(parser.add_argument_group("figures"), Request, "by")
    fields.add(parser.add_argument_group("output"), Request, "json", "junit", "sarif", "github")


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request)


def run(request: Request) -> int:
    """Runs the command and returns its exit code."""
    return 0 if gate.run(request, groups.standard_output()).passed else FAILED
