"""The options of a language model as an annotator, and a report of its work."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from matese.cli import messages, options
from matese.errors import check_installed

if TYPE_CHECKING:
    from matese.language_model.llm_annotator import LanguageModel

_PREFIX = "openai:"
_OF_MODELS = ("min_confidence", "batch_tokens", "threads", "tokens", "uncertainty")


def add_options(group: argparse._ArgumentGroup) -> None:
    """Adds the options of a language model."""
    text = "openai:MODEL: ask a language model instead of --model; the key is in the environment, OPENAI_API_KEY"
    group.add_argument("--annotator", metavar="NAME", help=text)
    text = "address of the endpoint, such as http://localhost:8080/v1 (default: that of OpenAI)"
    group.add_argument("--base-url", metavar="URL", help=text)
    text = (
        "prompt=mqm|esa, steps=2 (score of esa in a second request), judgements=N (mean score without outliers), "
        "max_tokens=N, requests_per_minute=N, concurrency=N, timeout=SECONDS, cache=DIR, or parameters.NAME=VALUE for "
        "a parameter of each request; repeatable"
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
def opened(args: argparse.Namespace) -> Iterator[LanguageModel]:
    """Yields the annotator of the options; reports at the end what it did.

    Raises:
        UsageError: if an option cannot be used, or the HTTP client is not installed.
    """
    from matese.formats import settings

    check_installed("--annotator", "openai", extra="llm")
    from matese.language_model.llm_annotator import OPENAI, LanguageModel, Settings

    how = settings.parse("{}", Settings, path="--set", overrides=options.parse_settings(args.set))
    annotator = LanguageModel(
        args.annotator.removeprefix(_PREFIX),
        base_url=args.base_url or OPENAI,
        prompt=how.prompt,
        steps=how.steps,
        judgements=how.judgements,
        parameters=how.parameters,
        limits=how,
        cache_directory=how.cache,
        weights=args.weights,
    )
    try:
        yield annotator
    finally:
        messages.info(*annotator.tally.notices(annotator.model))
