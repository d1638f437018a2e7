"""Groups of options that commands share, and standard output."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from typing import TextIO

from matese.cli import fields
from matese.errors import UsageError
from matese.tasks.annotators import DecodingOptions


def standard_output() -> TextIO:
    """Returns standard output.

    Raises:
        UsageError: if it is closed.
    """
    if sys.stdout is None:
        raise UsageError("standard output is closed; give --output FILE")
    return sys.stdout


def add_texts(
    parser: argparse.ArgumentParser, request: type, *, has_references: bool = True, has_test_sets: bool = False
) -> None:
    """Adds the options of `matese.tasks.texts.Translations`, or of `TextFiles` without references."""
    group = parser.add_argument_group("texts", "UTF-8, one segment per line, plain or gzip; - is standard input")
    fields.add(group, request, "hyp", flags=("-t",))
    fields.add(group, request, "src", flags=("-s",))
    if has_references:
        fields.add(group, request, "ref", flags=("-r",))
    if has_test_sets:
        fields.add(group, request, "test_set")
    fields.add(group, request, "lang_pair")
    if has_references:
        fields.add(group, request, "skip_incomplete", "align")
    group = parser.add_argument_group("tables", "all texts in one file or several")
    fields.add(group, request, "input")
    if has_references:
        fields.add(group, request, "system")
    fields.add(group, request, "columns")


def add_raters(parser: argparse.ArgumentParser, request: type) -> None:
    """Adds the options of `matese.tasks.texts.Raters`."""
    group = parser.add_argument_group("segments with several raters")
    fields.add(group.add_mutually_exclusive_group(), request, "rater", "merge")


def add_checks(parser: argparse.ArgumentParser, request: type) -> None:
    """Adds the option of `matese.tasks.annotators.Checking`."""
    fields.add(parser.add_argument_group("checks"), request, "checks", "terms")


def add_model(parser: argparse.ArgumentParser, request: type, *, has_weights: bool = True) -> None:
    """Adds the options of `matese.tasks.annotators.Model`."""
    group = parser.add_argument_group("model")
    fields.add(group, request, "model")
    if has_weights:
        fields.add(group, request, "weights")
    decoding = [name for name in fields.names(DecodingOptions) if name != "use"]
    fields.add(group, request, "device", "engine", "batch_tokens", *decoding, "precision", "threads")
    fields.add(group, request, "use", option="--for")


CANDIDATES = """candidates:
  --nbest FILE  an n-best list, sources from 0: lines such as "0 ||| text ||| features ||| score" (Moses, Marian), or
                one JSON object per source: {"source": ..., "candidates": [{"text": ..., "score": ...}]}
  --hyp FILES   the translations of several systems, one segment per line
  --input FILE  a table with the translations of several systems

output:
  text: the chosen translations, one per line. jsonl: one object per source with `index`, `source`, `choice` (the number
  of the chosen candidate, from 0), `text`, `system`, `candidates` (objects with `text`, `system`, `score`,
  `model_score` and `features`; the score of a pruned candidate is null) and `signature`.
"""


def add_candidates(parser: argparse.ArgumentParser, request: type) -> None:
    """Adds the options of `matese.tasks.texts.CandidateTexts` and of the output."""
    fields.add(parser.add_argument_group("candidates"), request, "nbest")
    add_texts(parser, request, has_references=False)
    fields.add(parser.add_argument_group("output"), request, "format", "output")


def add_joined_texts(group: argparse._ActionsContainer, request: type) -> None:
    """Adds the options of `matese.tasks.texts.JoinedTexts`, but for the language pair."""
    fields.add(group, request, "src", flags=("-s",))
    fields.add(group, request, "ref", flags=("-r",))
    fields.add(group, request, "texts_of")


def add_new_model(parser: argparse.ArgumentParser, request: type) -> None:
    """Adds the options of `matese.tasks.models.NewModel`."""
    fields.add_positional(parser, request, "model", metavar="MODEL", is_required=True)
    fields.add(parser, request, "output", is_required=True)


@contextlib.contextmanager
def training() -> Iterator[None]:
    """Shows the progress of a training in the body on standard error, and says how to go on after Ctrl-C."""
    import rich

    rich.reconfigure(stderr=True)  # the console that Lightning's progress bar uses
    try:
        yield
    except KeyboardInterrupt as stopped:
        from matese.training import run, run_setup

        if isinstance(stopped, run.Interrupted) and run_setup.is_first_process():
            print(stopped, file=sys.stderr)
        raise


def add_rated(parser: argparse.ArgumentParser, request: type) -> None:
    """Adds the options of `matese.tasks.rated.Rated`, but for the baseline."""
    fields.add_positional(parser, request, "ratings", metavar="RATINGS")
    add_texts(parser, request)
    add_raters(parser, request)
    add_checks(parser, request)
    add_model(parser, request)


def add_figures(group: argparse._ActionsContainer, request: type) -> None:
    """Adds the options of `matese.tasks.evaluate.Figures`."""
    fields.add(group, request, "unit", "weights", "bootstrap")
