"""The options of a language model as an annotator, and a report of its work."""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from matese import mqm
from matese.cli import messages, options
from matese.errors import UsageError

if TYPE_CHECKING:
    from matese.language_model.annotator import LanguageModel

_PREFIX = "openai:"
_OWN = ("base_url", "prompt", "parameter", "cache", "concurrency", "timeout", "requests_per_minute", "max_tokens")
_OF_MODELS = (
    "min_confidence",
    "all_above",
    "batch_tokens",
    "threads",
    "tokens",
    "shard",
    "uncertainty",
)


def add_options(group: argparse._ArgumentGroup) -> None:
    """Adds the options of a language model."""
    text = "openai:MODEL: ask a language model instead of --model; the key is in the environment, OPENAI_API_KEY"
    group.add_argument("--annotator", metavar="NAME", help=text)
    text = "address of the endpoint, such as http://localhost:8080/v1 (default: that of OpenAI)"
    group.add_argument("--base-url", metavar="URL", help=text)
    text = "mqm (errors with categories) or esa (errors and a score from 0 to 100) (default: mqm)"
    group.add_argument("--prompt", type=options.Choice("prompt", ("mqm", "esa")), metavar="NAME", help=text)
    text = "parameter of each request, such as seed=1; null removes a default, such as response_format=null"
    group.add_argument("--parameter", action="append", default=[], metavar="NAME=JSON", help=text)
    group.add_argument("--cache", metavar="DIR", help="folder of answers (default: in the user's cache folder)")
    for name, default, text in (
        ("--concurrency", 8, "requests at the same time"),
        ("--timeout", 120, "seconds for one answer"),
    ):
        group.add_argument(name, type=options.whole_number(1), metavar="N", help=f"{text} (default: {default})")
    for name, text in (
        ("--requests-per-minute", "most requests per minute (default: no limit)"),
        ("--max-tokens", "stop after N tokens of prompts and answers; the same command continues (default: no limit)"),
    ):
        group.add_argument(name, type=options.whole_number(1), metavar="N", help=text)


def check(args: argparse.Namespace) -> None:
    """Raises a UsageError if the options do not fit together."""
    if args.annotator is None:
        for name in _OWN:
            options.require(not getattr(args, name), f"--{name.replace('_', '-')} is for --annotator only")
        return
    is_named = args.annotator.startswith(_PREFIX) and args.annotator != _PREFIX
    options.require(is_named, f"--annotator {args.annotator}: must be openai:MODEL, the model as the endpoint names it")
    options.require(args.model == "mini", "--annotator and --model are both given; give one of them")
    options.require(args.engine == "local", "--annotator: leave out --engine")
    options.require(args.checks != "only", "--annotator: leave out --checks only")
    for name in _OF_MODELS:
        is_given = getattr(args, name) not in (None, False, [])
        options.require(not is_given, f"--{name.replace('_', '-')} is for --model; leave out --annotator")


@contextlib.contextmanager
def opened(args: argparse.Namespace, weights: mqm.Weights) -> Iterator[LanguageModel]:
    """Yields the annotator of the options; reports at the end what it did.

    Raises:
        UsageError: if an option cannot be used, or the HTTP client is not installed.
    """
    from matese.formats import optional_packages

    optional_packages.check("--annotator", "httpx2", extra="llm")
    from matese.language_model.annotator import OPENAI, LanguageModel
    from matese.language_model.client import RunLimits

    names = ("concurrency", "timeout", "requests_per_minute", "max_tokens")
    limits = RunLimits(**{name: getattr(args, name) for name in names if getattr(args, name) is not None})
    annotator = LanguageModel(
        args.annotator.removeprefix(_PREFIX),
        base_url=args.base_url or OPENAI,
        prompt=args.prompt or "mqm",
        parameters=dict(map(_parameter, args.parameter)),
        limits=limits,
        cache_directory=args.cache,
        weights=weights,
    )
    try:
        yield annotator
    finally:
        _say(annotator)


def _parameter(item: str) -> tuple[str, object]:
    name, is_given, value = item.partition("=")
    try:
        if name and is_given:
            return name, json.loads(value)
    except ValueError:
        pass
    raise UsageError(f"--parameter {item}: must be NAME=JSON, such as seed=1 or reasoning_effort='\"low\"'")


def _say(annotator: LanguageModel) -> None:
    """Reports quotes that were not found once, segments without a usable answer, and the cost."""
    tally = annotator.tally
    if not tally.n_segments:
        return
    kinds = tally.quotes.kinds
    for kind, what in (
        ("inexact", "found only without regard to case, spaces and kinds of marks"),
        ("ambiguous", "occur several times: placed as the model counts them"),
        ("missing", "occur nowhere: their errors have no place"),
    ):
        if kinds[kind]:
            messages.info(f"{kinds[kind]:,} of {tally.quotes.n_quotes:,} quotes {what}")
    if 0 < tally.problems.total() < tally.n_segments:  # if all failed, the error says so
        problem, _ = tally.problems.most_common(1)[0]
        failed = f"{tally.problems.total():,} of {tally.n_segments:,} segments got no usable answer and have no rating"
        messages.info(f"{failed} (most often: {problem}); the same command asks again for these only")
    others = [name for name in tally.models if name and name != annotator.model]
    answered = f"; answered by {', '.join(others)}" if others else ""
    messages.info(
        f"{tally.n_segments:,} segments, {tally.n_cached:,} of them answered before; {tally.n_tokens:,} tokens; "
        f"{tally.n_retries:,} requests repeated{answered}"
    )
