"""The model of a command: loaded without noise, and what it did specially, told at the end."""

from __future__ import annotations

import argparse
import contextlib
import logging
import sys
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from matese import mqm
from matese.cli import interrupts, streams

if TYPE_CHECKING:
    from matese.annotator import Annotator
    from matese.tagger.questions import Counts


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
    with quiet():
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
def quiet() -> Iterator[None]:
    """Keeps what other libraries say of themselves off standard error while the body runs."""
    if "huggingface_hub" in sys.modules:  # the model is of the hub; it has been fetched, with a bar
        from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

        disable_progress_bars()
    disabled = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)


def say_counts(counts: Counts, n_hypotheses: int) -> None:
    """Tells what was handled specially, if anything was."""
    if counts.lowered_batch_tokens:
        streams.say(f"out of memory on the device: went on as with --batch-tokens {counts.lowered_batch_tokens}")
    if counts.windowed:
        streams.say(f"{counts.windowed:,} of {n_hypotheses:,} segments are longer than the model reads at once: "
                    "tagged in overlapping windows")  # fmt: skip
    if counts.unknown_sources:
        streams.say(f"{counts.unknown_sources:,} of {n_hypotheses:,} sources are in a script that the model does not "
                    "know: not read beside a reference, of little use without")  # fmt: skip
    if counts.blank:
        streams.say(f"{counts.blank:,} of {n_hypotheses:,} hypotheses are blank: nothing to mark, so score 0, "
                    "and the lowest expected score")  # fmt: skip
