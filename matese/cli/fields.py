"""Options of the command line from the fields of a task's request, and the request from the options."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from matese.docstrings import attribute_docs
from matese.errors import UsageError
from matese.tasks.request import value_of
from matese.tasks.values import File, Several, Text, Value

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Argument:
    """An argparse type: the values of a field."""

    value: Value

    @property
    def names(self) -> tuple[str, ...]:
        """The allowed names, if they are a closed set; the shell completes them."""
        names: tuple[str, ...] = getattr(self.value, "names", ())
        return names

    def __call__(self, text: str) -> object:
        """Returns the value of a text."""
        try:
            return self.value.take(text)
        except UsageError as error:
            raise argparse.ArgumentTypeError(str(error)) from None


def add(
    group: argparse._ActionsContainer,
    request: type,
    *names: str,
    flags: tuple[str, ...] = (),
    option: str | None = None,
    metavar: str | None = None,
) -> None:
    """Adds options for fields of a request, with their documentation, defaults and allowed values.

    Args:
        group: of the options.
        request: a dataclass whose docstring documents its fields.
        names: of the fields; `only_errors` becomes `--only-errors`.
        flags: short forms of the option, such as "-t".
        option: name of the option; None for that of the field.
        metavar: stands for the value in the help; None for that of the value's type.
    """
    for name in names:
        how = _keywords(request, name, metavar)
        group.add_argument(*flags, option or f"--{name.replace('_', '-')}", dest=name, **how)


def add_positional(parser: argparse._ActionsContainer, request: type, name: str, *, metavar: str) -> None:
    """Adds a positional argument for a field of a request: as many values as the field takes."""
    field = _fields(request)[name]
    is_required = field.default is dataclasses.MISSING
    how: dict[str, Any] = {}
    if isinstance(value_of(field), Several):
        how = {"nargs": "+" if is_required else "*"}
    elif not is_required:
        how = {"nargs": "?"}
    parser.add_argument(name, metavar=metavar, help=_help(request, name), **how)


def make(args: argparse.Namespace, request: type[R], **others: object) -> R:
    """Returns a request of the options that have the names of its fields; `others` have other names.

    Fields without either have their defaults.

    Raises:
        UsageError: if the options do not fit together.
    """
    given: Mapping[str, Any] = vars(args)
    known = _fields(request)
    return request(**{name: given[name] for name in known if name in given} | others)


@cache
def _fields(request: type) -> dict[str, dataclasses.Field[Any]]:
    return {field.name: field for field in dataclasses.fields(request)}


@cache
def _docs(request: type) -> dict[str, str]:
    return attribute_docs(request)


def _help(request: type, name: str) -> str:
    return _docs(request)[name].rstrip(".").replace("%", "%%")


def _keywords(request: type, name: str, metavar: str | None) -> dict[str, Any]:
    """Returns the arguments of `add_argument` for a field."""
    field = _fields(request)[name]
    text = _help(request, name)
    if field.default is False:
        return {"action": "store_true", "help": text}
    value = value_of(field)
    assert value is not None, f"{request.__module__}.{name} has no type of values"
    how: dict[str, Any] = {"help": text, "metavar": metavar or value.metavar}
    if field.default is dataclasses.MISSING:
        how["required"] = True
    elif not isinstance(value, Several):
        how["default"] = field.default
    if isinstance(value, Several):
        how |= {"default": [], "action": "append"} if value.is_repeated else {"nargs": "+", "action": "extend"}
        how["default"] = list(field.default)
        value = value.of
    if not isinstance(value, Text | File):
        how["type"] = Argument(value)
    return how
