"""Tasks as functions of Python: their parameters are the options of their request."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from typing import ParamSpec, TypeVar

from matese.errors import ModelError, UsageError
from matese.validation.options import attribute_docs, leaves, options_of

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def function(request: Callable[P, R], run: Callable[[R], T]) -> Callable[P, T]:
    """Returns a task as a function of the fields of its request, whose docstring lists them."""
    assert isinstance(request, type)
    signature = inspect.signature(request)
    of_flags = {each.flag: each.name for _, each in leaves(request)}
    documented = attribute_docs(request)
    groups = {each.name: each.type.__name__ for each in options_of(request) if each.is_group}
    documented |= {name: f"see `matese.{kind}`." for name, kind in groups.items()}

    @functools.wraps(run)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        if "IPython" in sys.modules:  # a notebook shows results as tables
            from matese.render import notebook

            notebook.install()
        for name, each in leaves(request):
            if name is not None and each.name in kwargs and each.name not in signature.parameters:
                raise TypeError(
                    f"{each.name} is an option of {name}: write {name}=matese.{groups[name]}({each.name}=...)"
                )
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{call.__name__}() {error}") from None
        try:
            return run(request(*args, **kwargs))
        except (UsageError, ModelError) as error:
            raise type(error)(_as_python(str(error), of_flags)) from None

    lines = [f"    {name}: {_as_python(documented.get(name, ''), of_flags)}" for name in signature.parameters]
    given = inspect.cleandoc(run.__doc__ or "")
    summary, _, more = given.partition("\n\n")
    call.__name__ = call.__qualname__ = run.__module__.rpartition(".")[2]  # as help and tracebacks show it
    call.__doc__ = "\n".join([summary, "", "Args:", *lines, *(["", more] if more else [])])
    vars(call)["__signature__"] = signature.replace(return_annotation=inspect.signature(run).return_annotation)
    return call


def _as_python(message: str, names: Mapping[str, str]) -> str:
    """Returns a message with the names that options have in Python.

    >>> _as_python("--error-free needs a model: leave out --checks only", {"--error-free": "error_free"})
    'error_free needs a model: leave out --checks only'
    """
    return re.sub(r"--[a-z][a-z0-9-]*[a-z0-9]", lambda match: names.get(match[0], match[0]), message)
