"""Requests: frozen dataclasses whose fields are the options of a task, checked when one is made.

A field is written once: `limit: int | None = option(None, Whole(1))`. Its text under Attributes in the docstring is the
help of the option and the reference of the Python function. Its type of values (`matese.tasks.values`) checks and
converts what Python users give, and what stands on a command line.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import sys
from collections.abc import Callable, Collection
from typing import Any, ParamSpec, TypeVar

from matese.errors import ModelError, UsageError
from matese.tasks.values import Value
from matese.validation.docstrings import attribute_docs

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
_VALUE = "value"


def option(default: T, value: Value) -> T:
    """Returns the default of a field, whose values are checked and converted by `value`."""
    field: T = dataclasses.field(default=default, metadata={_VALUE: value})
    return field


def required(value: Value) -> Any:  # noqa: ANN401
    """Returns a field without a default, whose values are checked and converted by `value`."""
    return dataclasses.field(metadata={_VALUE: value})


def value_of(field: dataclasses.Field[Any]) -> Value | None:
    """Returns what checks the values of a field; None if anything is allowed, as for a flag."""
    value: Value | None = field.metadata.get(_VALUE)
    return value


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Checked:
    """A request; fields made by `option` are checked and converted, None where it is the default is not."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            given = getattr(self, field.name)
            value = value_of(field)
            if value is None or (given is None and field.default is None):
                continue
            try:
                object.__setattr__(self, field.name, value.take(given))
            except UsageError as error:
                raise UsageError(f"{field.name}: {error}") from None


def function(request: Callable[P, R], run: Callable[[R], T]) -> Callable[P, T]:
    """Returns a task as a function of the fields of its request, whose docstring lists them."""

    @functools.wraps(run)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        if "IPython" in sys.modules:  # a notebook shows results as tables
            from matese.render import notebook

            notebook.install()
        try:
            return run(request(*args, **kwargs))
        except (UsageError, ModelError) as error:
            raise type(error)(_as_python(str(error), known.parameters)) from None

    documented = attribute_docs(request) if isinstance(request, type) else {}
    known = inspect.signature(request)
    lines = [f"    {name}: {_as_python(documented.get(name, ''), known.parameters)}" for name in known.parameters]
    given = inspect.cleandoc(run.__doc__ or "")
    summary, _, more = given.partition("\n\n")
    call.__name__ = call.__qualname__ = run.__module__.rpartition(".")[2]  # as help and tracebacks show it
    call.__doc__ = "\n".join([summary, "", "Args:", *lines, *(["", more] if more else [])])
    vars(call)["__signature__"] = known.replace(return_annotation=inspect.signature(run).return_annotation)
    return call


def _as_python(message: str, names: Collection[str]) -> str:
    """Returns a message with the names that options have in Python.

    >>> _as_python("--error-free needs a model: leave out --checks only", ["error_free", "checks"])
    'error_free needs a model: leave out checks only'
    """

    def name_of(match: re.Match[str]) -> str:
        name = match[1].replace("-", "_")
        return next((known for known in (name, f"{name}_") if known in names), match[0])

    return re.sub(r"--([a-z][a-z-]*[a-z])", name_of, message)
