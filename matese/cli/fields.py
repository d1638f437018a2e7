"""Options of the command line from the fields of a task's request, and the request from the options."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from matese.errors import UsageError
from matese.tasks.request import value_of
from matese.tasks.values import File, Several, Text, Value
from matese.validation.docstrings import attribute_docs

R = TypeVar("R")


@dataclass(frozen=True)
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
    is_required: bool = False,
) -> None:
    """Adds options for fields of a request, with their documentation, defaults and allowed values.

    Args:
        group: of the options.
        request: a dataclass whose docstring documents its fields.
        names: of the fields; `only_errors` becomes `--only-errors`.
        flags: short forms of the option, such as "-t".
        option: name of the option; None for that of the field.
        metavar: stands for the value in the help; None for that of the value's type.
        is_required: whether a command must have them.
    """
    for name in names:
        how = _keywords(request, name, metavar) | ({"required": True} if is_required else {})
        group.add_argument(*flags, option or f"--{name.replace('_', '-')}", dest=name, **how)


def add_positional(
    parser: argparse._ActionsContainer, request: type, name: str, *, metavar: str, is_required: bool = False
) -> None:
    """Adds a positional argument for a field of a request: as many values as the field takes."""
    field = _fields(request)[name]
    how: dict[str, Any] = {}
    is_required = is_required or field.default is dataclasses.MISSING
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
    known = _fields(request)  # type: ignore[arg-type]
    return request(**{name: given[name] for name in known if name in given} | others)


@cache
def names(request: type) -> tuple[str, ...]:
    """Returns the names of a request's fields."""
    return tuple(_fields(request))


def _fields(request: Hashable) -> dict[str, dataclasses.Field[Any]]:
    return {field.name: field for field in dataclasses.fields(request)}  # type: ignore[arg-type]


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
    if isinstance(value, Several):
        default: Sequence[object] | None = field.default  # type: ignore[assignment]
        how["default"] = None if default is None else list(default)
        if value.is_repeated:
            how["action"] = "append"
        else:
            how["nargs"] = "+"
            how["action"] = "store" if default is None else "extend"  # None: what is given replaces something else
        value = value.of
    else:
        how["default"] = field.default
    if not isinstance(value, Text | File):
        how["type"] = Argument(value)
    return how


def refuse(request: Any, other: type, problem: str, *, allowed: Collection[str] = ()) -> None:  # noqa: ANN401
    """Raises a UsageError if a field of a request is given that another one does not have.

    Args:
        request: a dataclass.
        other: the type of the other request.
        problem: begins the message, which ends with the option.
        allowed: fields that may be given all the same.
    """
    for field in dataclasses.fields(request):
        is_given = getattr(request, field.name) not in (field.default, ())
        if is_given and field.name not in (*_fields(other), *allowed):
            raise UsageError(f"{problem} --{field.name.replace('_', '-')}")
