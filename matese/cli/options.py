"""Options that commands share, and what their values may be."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable
from dataclasses import dataclass

from matese import mqm
from matese.cli.errors import UsageError
from matese.formats.settings import near_miss, one_of

MODEL_HELP = "name of an embedded model, a model directory, or a hub id (ORG/NAME) (default: mini)"


def add_texts(parser: argparse.ArgumentParser, *, is_needed: bool = True) -> argparse._ArgumentGroup:
    """Adds what is read: hypotheses, references, sources; returns their group."""
    group = parser.add_argument_group("texts", "UTF-8, one segment a line, gzip too; - is standard input, at most once")
    group.add_argument(
        "--hyp",
        nargs="+",
        action="extend",
        required=is_needed,
        default=None if is_needed else [],
        metavar="FILE",
        help="translations, one file a system",
    )
    group.add_argument("--ref", action="append", default=[], metavar="FILE", help="a reference; repeat it for several")
    group.add_argument("--src", action="append", default=[], metavar="FILE", help="the sources")
    return group


def add_model(parser: argparse.ArgumentParser) -> None:
    """Adds what runs and how; the defaults are those of `matese.load`."""
    group = parser.add_argument_group("model")
    group.add_argument("--model", default="mini", help=MODEL_HELP)
    add_weights(group)
    group.add_argument(
        "--min-confidence",
        type=probability,
        metavar="P",
        help="mark what is at least as probable, between 0 and 1 (default: as the model has it)",
    )
    group.add_argument(
        "--whole-words",
        action=argparse.BooleanOptionalAction,
        help="widen spans to whole words, or not (default: as the model has it)",
    )
    group.add_argument("--device", default="auto", type=device, help="auto, cpu, cuda, cuda:N or mps (default: auto)")
    precisions = ("auto", "bf16", "float32")
    group.add_argument(
        "--precision",
        default="auto",
        type=choice("precision", *precisions),
        metavar="NAME",
        help=f"{one_of(precisions)} (default: auto)",
    )
    group.add_argument(
        "--batch-tokens",
        type=whole_number(1),
        metavar="N",
        help="padded tokens of a batch at most (default: as suits the machine)",
    )
    group.add_argument(
        "--threads",
        type=whole_number(1),
        metavar="N",
        help="threads of the CPU (default: its cores, as far as they are granted)",
    )


def add_weights(group: argparse._ArgumentGroup) -> None:
    """Adds what errors cost."""
    group.add_argument(
        "--weights",
        type=known_weights,
        default="matese",
        metavar="NAME|FILE",
        help=f"what errors cost: {one_of(list(mqm.PRESETS))}, or a YAML file (default: matese)",
    )


@dataclass(frozen=True, slots=True)
class Choice:
    """A type of argparse that takes one of some names and tells the near miss of others.

    Attributes:
        what: what is named.
        names: all that are allowed.
    """

    what: str
    names: tuple[str, ...]

    def __call__(self, value: str) -> str:
        """Returns the name."""
        if value not in self.names:
            raise argparse.ArgumentTypeError(
                f"unknown {self.what} {value!r}{near_miss(value, self.names)} must be {one_of(self.names)}"
            )
        return value


def choice(what: str, *names: str) -> Choice:
    """Returns the type of an option whose value is one of the names."""
    return Choice(what, names)


def whole_number(lowest: int) -> Callable[[str], int]:
    """Returns a type of argparse that takes whole numbers from `lowest` on."""

    def take(value: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", value) or int(value) < lowest:
            raise argparse.ArgumentTypeError(f"{value!r} must be a whole number, {lowest} or more")
        return int(value)

    return take


def probability(value: str) -> float:
    """Returns the number between 0 and 1, exclusive, that an option's value is."""
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"{value!r} must be a number greater than 0 and less than 1")
    return number


def device(value: str) -> str:
    """Returns the name of a device; whether the machine has it is seen when the model is loaded."""
    names = ("auto", "cpu", "cuda", "mps")
    if value not in names and not re.fullmatch(r"cuda:[0-9]{1,3}", value):
        hint = near_miss(value, names)
        raise argparse.ArgumentTypeError(f"unknown device {value!r}{hint} must be {one_of((*names, 'cuda:N'))}")
    return value


def known_weights(value: str) -> str:
    """Returns the name of a preset or the path of a YAML file."""
    is_path = os.sep in value or value.endswith((".yaml", ".yml")) or os.path.exists(value)
    if value not in mqm.PRESETS and not is_path:
        allowed = ", ".join(mqm.PRESETS)
        raise argparse.ArgumentTypeError(
            f"unknown weights {value!r}{near_miss(value, mqm.PRESETS)} must be {allowed} or a YAML file"
        )
    return value


def weights(value: str) -> mqm.Weights:
    """Returns the preset of that name, or the weights that a file holds.

    Raises:
        FormatError: if the file does not hold weights.
        OSError: where it cannot be read.
    """
    from matese.formats import weights as weights_file

    return mqm.PRESETS[value] if value in mqm.PRESETS else weights_file.read(value)


def require(is_met: bool, problem: str) -> None:
    """Raises the UsageError of the problem unless the condition is met."""
    if not is_met:
        raise UsageError(problem)
