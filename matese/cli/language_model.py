"""The options of a language model as an annotator, and a report of its work."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from matese import mqm
from matese.cli import messages, options

if TYPE_CHECKING:
    from matese.language_model.annotator import LanguageModel

_PREFIX = "openai:"
_OF_MODELS = (
    *("min_confidence", "all_above", "batch_tokens", "threads", "tokens", "shard"),
    "uncertainty",
)


@dataclass(frozen=True)
class Settings:
    """The keys of `--set`, with the defaults of `LanguageModel` and `RunLimits`."""

    prompt: Literal["mqm", "esa"] = "mqm"
    parameters: dict[str, Any] = field(default_factory=dict)
    cache: str | None = None
    concurrency: int = 8
    timeout: float = 120.0
    requests_per_minute: float | None = None
    max_tokens: int | None = None


def add_options(group: argparse._ArgumentGroup) -> None:
    """Adds the options of a language model."""
    text = "openai:MODEL: ask a language model instead of --model; the key is in the environment, OPENAI_API_KEY"
    group.add_argument("--annotator", metavar="NAME", help=text)
    text = "address of the endpoint, such as http://localhost:8080/v1 (default: that of OpenAI)"
    group.add_argument("--base-url", metavar="URL", help=text)
    text = (
        "prompt=mqm|esa, max_tokens=N, requests_per_minute=N, concurrency=N, timeout=SECONDS, cache=DIR, or "
        "parameters.NAME=VALUE for a parameter of each request; repeatable"
    )
    group.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help=text)


def check(args: argparse.Namespace) -> None:
    """Raises a UsageError if the options do not fit together."""
    if args.annotator is None:
        for name in ("base_url", "set"):
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
    from matese.formats import optional_packages, settings

    optional_packages.check("--annotator", "httpx2", extra="llm")
    from matese.language_model.annotator import OPENAI, LanguageModel
    from matese.language_model.client import RunLimits

    how = settings.parse("{}", Settings, path="--set", overrides=options.parse_settings(args.set))
    limits = RunLimits(
        concurrency=how.concurrency,
        timeout=how.timeout,
        requests_per_minute=how.requests_per_minute,
        max_tokens=how.max_tokens,
    )
    annotator = LanguageModel(
        args.annotator.removeprefix(_PREFIX),
        base_url=args.base_url or OPENAI,
        prompt=how.prompt,
        parameters=how.parameters,
        limits=limits,
        cache_directory=how.cache,
        weights=weights,
    )
    try:
        yield annotator
    finally:
        _say(annotator)


def _say(annotator: LanguageModel) -> None:
    """Reports inexact quotes, segments without a usable answer, and the cost."""
    tally = annotator.tally
    if not tally.n_segments:
        return
    kinds = tally.quotes.kinds
    for kind, what in (
        ("inexact", "differ from the text in case, spaces or quotation marks"),
        ("ambiguous", "occur several times: the model's count decides"),
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
