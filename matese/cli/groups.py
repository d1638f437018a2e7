"""Groups of options that commands share, and standard output."""

from __future__ import annotations

import argparse
import sys
from typing import TextIO

from matese.cli import fields
from matese.errors import UsageError


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
    """Adds the options of `matese.tasks.texts.Translations`, or of `Texts` without references."""
    group = parser.add_argument_group("texts", "UTF-8, one segment per line, plain or gzip; - is standard input")
    fields.add(group, request, "hyp", flags=("-t",))
    fields.add(group, request, "src", flags=("-s",))
    if has_references:
        fields.add(group, request, "ref", flags=("-r",))
    if has_test_sets:
        fields.add(group, request, "test_set")
    fields.add(group, request, "lang_pair")
    if has_references:
        fields.add(group, request, "skip_incomplete")
    group = parser.add_argument_group("tables", "all texts in one file or several")
    fields.add(group, request, "input")
    if has_references:
        fields.add(group, request, "system")
    fields.add(group, request, "columns")


def add_raters(parser: argparse.ArgumentParser, request: type) -> None:
    """Adds the options of `matese.tasks.texts.Raters`."""
    group = parser.add_argument_group("segments with several raters")
    fields.add(group.add_mutually_exclusive_group(), request, "rater", "merge")


def add_model(
    parser: argparse.ArgumentParser, request: type, *, is_main: bool = False, has_weights: bool = True
) -> None:
    """Adds the options of `matese.tasks.annotators.Model`; `is_main` adds the less common ones."""
    group = parser.add_argument_group("model")
    fields.add(group, request, "model")
    if has_weights:
        fields.add(group, request, "weights")
    fields.add(group, request, "device")
    if is_main:
        fields.add(group, request, "batch_tokens", "min_confidence", "precision", "threads")
