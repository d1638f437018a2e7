"""The models of a command: options, quiet loading, and reports of segments that need attention."""

from __future__ import annotations

import argparse
import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matese import mqm
from matese.cli import messages, options, output
from matese.errors import one_of, unknown

if TYPE_CHECKING:
    from matese.model.annotator import Annotator

_PRECISIONS = ("auto", "bf16", "float32")


def add_options(parser: argparse.ArgumentParser, *, is_main: bool = False, with_weights: bool = True) -> None:
    """Adds the options of the model, with the defaults of `matese.load`; `is_main` adds the less common options."""
    group = parser.add_argument_group("model")
    text = "name of an embedded model, a model directory, or a hub id (ORG/NAME) (default: mini)"
    group.add_argument("--model", default="mini", help=text)
    if with_weights:
        options.add_weights(group)
    add_device(group)
    if not is_main:
        return
    text = "most padded tokens in a batch (default: chosen for the machine)"
    group.add_argument("--batch-tokens", type=options.whole_number(1), metavar="N", help=text)
    text = "mark every span with at least this confidence (between 0 and 1; default: the model's own minimum)"
    group.add_argument("--min-confidence", type=options.probability(), metavar="P", help=text)
    text = f"{one_of(_PRECISIONS)} (default: auto: float32 for small models, else bf16 if the hardware supports it)"
    names = options.OneOf("precision", _PRECISIONS)
    group.add_argument("--precision", default="auto", type=names, metavar="NAME", help=text)
    text = "CPU threads (default: the cores that the process may use)"
    group.add_argument("--threads", type=options.whole_number(1), metavar="N", help=text)


def add_device(group: argparse._ActionsContainer) -> None:
    """Adds the device of the model."""
    group.add_argument("--device", default="auto", type=device, help="auto, cpu, cuda, cuda:N or mps (default: auto)")


def add_new_model(parser: argparse.ArgumentParser) -> None:
    """Adds a model and the directory of the model that is made from it."""
    parser.add_argument("model", metavar="MODEL", help="a model directory, an embedded model or a hub id")
    parser.add_argument("--output", required=True, metavar="DIR", help="directory of the new model")


def source_and_target(args: argparse.Namespace) -> tuple[Path, Path]:
    """Returns the directories of the model and of the new model.

    Raises:
        UsageError: if they are the same, or the new one holds anything but a model.
        ModelError: if there is no such model.
    """
    from matese.model.storage import checkpoint

    target = output.model_directory(args.output)
    directory = checkpoint.resolve(args.model)
    is_other = target.resolve() != directory.resolve()
    options.require(is_other, f"--output {target} is the model itself; choose another directory")
    return directory, target


def add_uncertainty(group: argparse._ActionsContainer) -> None:
    """Adds the options for several predictions of each segment, and for the scale of their intervals."""
    text = (
        "make several predictions, for intervals and votes: dropout:N (N passes with dropout; dropout:N:P switches off "
        "a share P of the units, default 0.1), models:DIR,DIR (several models instead of --model, median of the "
        "expected scores), span-models:DIR,DIR (median of the scores of their spans) or references (each reference "
        "alone)"
    )
    group.add_argument("--uncertainty", metavar="HOW", help=text)
    add_interval_scale(group)


def add_interval_scale(group: argparse._ActionsContainer) -> None:
    """Adds the factor of the intervals of expected scores."""
    text = "factor of the intervals of expected scores: uncertainty.scale of matese evaluate on dev data (default: 1)"
    kind = options.number(" greater than 0", lambda value: 0 < value < float("inf"))
    group.add_argument("--interval-scale", type=kind, default=1.0, metavar="S", help=text)


def device(value: str) -> str:
    """Returns the name of a device; loading the model checks whether it is available."""
    names = ("auto", "cpu", "cuda", "mps")
    if value not in names and not re.fullmatch(r"cuda:[0-9]{1,3}", value):
        raise argparse.ArgumentTypeError(unknown("device", value, names, allowed=one_of((*names, "cuda:N"))))
    return value


_LOADING = (
    *("model", "device", "precision", "batch_tokens", "threads", "min_confidence"),
    *("uncertainty", "interval_scale", "weights", "error_free"),
)


def load_options(args: argparse.Namespace) -> dict[str, Any]:
    """Returns the arguments of `matese.load` from the options."""
    return {"weights": mqm.MATESE, **{name: value for name, value in vars(args).items() if name in _LOADING}}


@contextlib.contextmanager
def loaded(args: argparse.Namespace, n_segments: int | None = None) -> Iterator[Annotator]:
    """Loads the annotator of the options; in the body, other libraries write nothing to standard error.

    Args:
        args: options of `add_options`.
        n_segments: number of segments to annotate; None if unknown.

    Raises:
        ModelError: if there is no such model or it cannot be loaded.
        UsageError: if the device is not available on this machine.
    """
    how = getattr(args, "uncertainty", None)
    names = [args.model]
    if how is not None:
        from matese.model import uncertainty

        names = list(uncertainty.parse(how, scale=args.interval_scale).models) or names
    say_licences(names)
    with messages.quiet():
        with messages.undisturbed():  # torch is imported here, if the model needs it
            from matese.model.annotator import load

            annotator = load(**load_options(args), n_segments=n_segments)
        if (lowest := getattr(args, "min_confidence", None)) is not None:
            _say_expectation(names[0], lowest)
        # Without dropout in training, its passes are not samples of the model's uncertainty.
        if how is not None and how.startswith("dropout") and annotator.config.layers.dropout == 0:
            advice = "its intervals need --interval-scale, see docs/explain.md"
            messages.info(f"the model was trained without dropout: {advice}")
        yield annotator


def _say_expectation(model: str, min_confidence: float) -> None:
    """Reports precision and recall on the model's calibration data at a minimum confidence."""
    from matese.model.annotator import operating_points
    from matese.model.operating_point import nearest

    point = nearest(operating_points(model), min_confidence)
    if point is not None:
        measured = "" if point.min_confidence == min_confidence else f" (measured at {point.min_confidence:g})"
        messages.info(
            f"all spans from {min_confidence:g} on: on the calibration data{measured}, {100 * point.precision:.3g}% of "
            f"the marked spans overlap a span of a human rater, and {100 * point.recall:.3g}% of the raters' spans are "
            "found"
        )


def say_licences(models: Iterable[str]) -> None:
    """Reports the licences of foreign models.

    Raises:
        ModelError: if a model does not exist; torch, which takes seconds to load, is not needed for that.
    """
    from matese.model.storage import checkpoint, model_card

    for name in models:
        directory = checkpoint.resolve(name)
        if not checkpoint.is_tagger(directory) and (licence := model_card.licence(directory)) is not None:
            messages.info(f"licence of {name}: {licence}")


def add_metrics(group: argparse._ArgumentGroup, name: str) -> None:
    """Adds an option with this name for the metrics."""
    text = (
        "compute metrics from the texts: bleu, chrf or ter with sacrebleu, also with parameters (bleu:tok=intl,lc or "
        "chrf:beta=3); wer or eed with torchmetrics; bertscore, bertscore-idf or yisi with an encoder; sentinel-src or "
        "sentinel-mt, the length of one text; sentinel-src-fit or sentinel-mt-fit, a regression on it (correlate "
        "only); or any model that scores (embedded, a directory or a hub id)"
    )
    group.add_argument(name, nargs="+", action="extend", default=[], metavar="NAME", help=text)


def add_encoder(group: argparse._ArgumentGroup) -> None:
    """Adds the options for the metrics' encoder."""
    text = (
        "encoder of bertscore, yisi and the fitted sentinels: a model directory, a directory that transformers can "
        "load, or a hub id (default: mini)"
    )
    group.add_argument("--encoder", metavar="DIR", help=text)
    text = "layer of the encoder, 0 for its embeddings (default: the highest that reads each text alone, else the last)"
    group.add_argument("--layer", type=options.whole_number(0), metavar="N", help=text)


@contextlib.contextmanager
def scoring(metrics: Sequence[str]) -> Iterator[None]:
    """Keeps other libraries quiet while metrics are computed in the body; reports the licences of their models.

    Raises:
        ModelError: if a model does not exist.
    """
    from matese import baselines
    from matese.evaluation.metrics.correlation_options import BASELINES, SACREBLEU_BASELINES, base_name

    names = {base_name(name) for name in metrics}
    say_licences(name for name in metrics if base_name(name) not in BASELINES and baselines.is_model(name))
    with messages.quiet():
        if not names <= SACREBLEU_BASELINES.keys():
            with messages.undisturbed():
                import torch  # noqa: F401
        yield
