"""The values of options: what is allowed, and how a text of the command line or a Python value becomes one.

`take` returns the value, or raises a UsageError that says what is wrong with it and what is allowed. None of them
imports a library.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from matese import mqm
from matese.errors import FormatError, UsageError, one_of, shortened, unknown


class Value(Protocol):
    """What an option may be.

    Attributes:
        metavar: stands for the value in the help.
    """

    @property
    def metavar(self) -> str:
        """Stands for the value in the help."""

    def take(self, given: object) -> object:
        """Returns the value; raises a UsageError if it is not allowed."""


@dataclass(frozen=True, eq=False, repr=False)
class Text:
    """A text, such as a name."""

    metavar: str = "NAME"

    def take(self, given: object) -> str:
        """Returns the text."""
        if not isinstance(given, str):
            raise UsageError(f"{shortened(given)} must be a text")
        return given


@dataclass(frozen=True, eq=False, repr=False)
class File:
    """The path of a file or a folder."""

    metavar: str = "FILE"

    def take(self, given: object) -> str:
        """Returns the path."""
        if not isinstance(given, str | os.PathLike):
            raise UsageError(f"{shortened(given)} must be a path")
        return os.fspath(given)


@dataclass(frozen=True, eq=False, repr=False)
class Several:
    """Several values; one alone may stand for a list of one.

    Attributes:
        of: each of them.
        is_repeated: whether the command line takes one value each time the option is given, and not a list.
    """

    of: Value = File()
    is_repeated: bool = False

    @property
    def metavar(self) -> str:
        """That of each value."""
        return self.of.metavar

    def take(self, given: object) -> tuple[object, ...]:
        """Returns the values."""
        many = given if isinstance(given, Iterable) and not isinstance(given, str) else [given]
        return tuple(map(self.of.take, many))


@dataclass(frozen=True, eq=False, repr=False)
class OneOf:
    """One of the names of `what`. The error for other names suggests a near miss."""

    what: str
    first: tuple[str, ...]
    rest: Callable[[], Sequence[str]] = tuple
    """Returns further names; only called for values that are not among the first, so it may import a lot."""
    metavar: str = "NAME"

    @property
    def names(self) -> tuple[str, ...]:
        """All allowed names."""
        return tuple(dict.fromkeys((*self.first, *self.rest())))

    def take(self, given: object) -> str:
        """Returns the name."""
        if given not in self.first and given not in self.names:
            raise UsageError(unknown(self.what, str(given)[:100], self.names))
        return str(given)


@dataclass(frozen=True, eq=False, repr=False)
class Whole:
    """A whole number from `lowest` on."""

    lowest: int
    metavar: str = "N"

    def take(self, given: object) -> int:
        """Returns the number."""
        text = "" if isinstance(given, bool) else str(given)
        if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) < self.lowest:
            raise UsageError(f"{shortened(given)} must be a whole number, {self.lowest} or more")
        return int(text)


@dataclass(frozen=True, eq=False, repr=False)
class Real:
    """A number that a function allows; `allowed` describes such numbers."""

    allowed: str
    is_allowed: Callable[[float], bool]
    metavar: str = "X"

    def take(self, given: object) -> float:
        """Returns the number."""
        with contextlib.suppress(ValueError):
            if isinstance(given, str | int | float) and self.is_allowed(float(given)):
                return float(given)
        raise UsageError(f"{shortened(given)} must be a number{self.allowed}")


PROBABILITY = Real(" greater than 0 and less than 1", lambda value: 0 < value < 1, "P")
NOT_NEGATIVE = Real(", 0 or more", lambda value: 0 <= value < float("inf"))
POSITIVE = Real(" greater than 0", lambda value: 0 < value < float("inf"))
FINITE = Real("", lambda value: abs(value) < float("inf"))


@dataclass(frozen=True, eq=False, repr=False)
class Share:
    """A share from 0 to 1, or in per cent: "60%" is 0.6."""

    metavar: str = "P"

    def take(self, given: object) -> float:
        """Returns the share."""
        number = Real(" from 0 to 1, or from 0% to 100%", lambda value: 0 <= value <= 1)
        with contextlib.suppress(ValueError):
            if isinstance(given, str) and given.endswith("%"):
                return number.take(repr(float(given[:-1]) / 100))
        return number.take(given)


@dataclass(frozen=True, eq=False, repr=False)
class Penalties:
    """Penalties of errors: the name of a preset, a YAML file, or `matese.Weights`."""

    metavar: str = "NAME|FILE"

    @property
    def names(self) -> tuple[str, ...]:
        """The presets."""
        return tuple(mqm.PRESETS)

    def take(self, given: object) -> mqm.Weights:
        """Returns the weights."""
        if isinstance(given, mqm.Weights):
            return given
        name = str(given)
        if name in mqm.PRESETS:
            return mqm.PRESETS[name]
        if os.sep not in name and not name.endswith((".yaml", ".yml")) and not os.path.exists(name):
            allowed = one_of([*mqm.PRESETS, "a YAML file"])
            raise UsageError(unknown("weights", name, mqm.PRESETS, allowed=allowed))
        from matese.formats import weights_file

        try:
            return weights_file.read(name)
        except FormatError as error:
            raise UsageError(str(error)) from None


@dataclass(frozen=True, eq=False, repr=False)
class Device:
    """The name of a device; loading the model checks whether it is available."""

    metavar: str = "DEVICE"

    def take(self, given: object) -> str:
        """Returns the name."""
        names = ("auto", "cpu", "cuda", "mps")
        if given not in names and not re.fullmatch(r"cuda:[0-9]{1,3}", str(given)):
            raise UsageError(unknown("device", str(given), names, allowed=one_of((*names, "cuda:N"))))
        return str(given)
