"""The model of a command: loaded without noise, and what it did specially, told at the end."""

from __future__ import annotations

import argparse
import contextlib
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from matese import mqm
from matese.cli import interrupts, streams

if TYPE_CHECKING:
    from matese.annotator import Annotator, Counts


@contextlib.contextmanager
def loaded(args: argparse.Namespace, weights: mqm.Weights) -> Iterator[Annotator]:
    """Loads the annotator that the options ask for; in the body, other libraries keep off standard error.

    Raises:
        ModelError: if there is no such model or it cannot be loaded.
        ValueError: if the device is not on this machine.
    """
    from matese.encoder import checkpoint

    checkpoint.resolve(args.model)  # says that there is no such model before torch takes its seconds to load
    with interrupts.deferred():
        from matese import annotator
    with _quiet():
        yield annotator.load(
            args.model,
            device=args.device,
            precision=args.precision,
            batch_tokens=args.batch_tokens,
            threads=args.threads,
            min_confidence=args.min_confidence,
            whole_words=args.whole_words,
            weights=weights,
        )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keeps what other libraries say of themselves off standard error while the body runs."""
    with interrupts.deferred():
        from transformers.utils import logging as transformers_logging

    logging: Any = transformers_logging  # its functions have no types
    verbosity, has_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(verbosity)
        if has_bars:
            logging.enable_progress_bar()


def say_counts(counts: Counts, n_hypotheses: int) -> None:
    """Tells what was handled specially, if anything was."""
    if counts.windowed:
        streams.say(f"{counts.windowed:,} of {n_hypotheses:,} segments are longer than the model reads at once: "
                    "tagged in overlapping windows")  # fmt: skip
    if counts.blank:
        streams.say(f"{counts.blank:,} of {n_hypotheses:,} hypotheses are blank: nothing to mark, so score 0, "
                    "and the lowest expected score")  # fmt: skip
