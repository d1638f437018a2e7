"""Tasks as functions of Python: their parameters are the options of their request."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ParamSpec, TypeVar

from matese.errors import FormatError, InputError, near_miss
from matese.tasks import notices
from matese.validation.options import Options, attribute_docs, leaves, options_of

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
_FORMER = {"start": "from_"}
"""Names that parameters had, and have now."""


def function(request: Callable[P, R], run: Callable[[R], T]) -> Callable[P, T]:
    """Returns a task as a function of the fields of its request, whose docstring lists them."""
    assert isinstance(request, type)
    signature = inspect.signature(request)
    names = {each.flag: each.name for _, each in leaves(request)}
    documented = attribute_docs(request)
    documented |= {each.name: f"see `matese.{each.type.__name__}`." for each in options_of(request) if each.is_group}

    @functools.wraps(run)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        return run(request(*args, **kwargs))

    lines = [f"    {name}: {_as_python(documented.get(name, ''), names)}" for name in signature.parameters]
    docstring = inspect.cleandoc(run.__doc__ or "")
    summary, _, more = docstring.partition("\n\n")
    call.__name__ = call.__qualname__ = run.__module__.rpartition(".")[2]  # as help and tracebacks show it
    call.__doc__ = "\n".join([summary, "", "Args:", *lines, *(["", more] if more else [])])
    vars(call)["__signature__"] = signature.replace(return_annotation=inspect.signature(run).return_annotation)
    return public(call, names)


def public(called: Callable[P, T], flags: Mapping[str, str] | None = None) -> Callable[P, T]:
    """Returns a function of ours as users call it: messages name parameters, and wrong calls say what to write.

    Args:
        called: the function.
        flags: the parameters by the options of the command line; those of the same name by default.
    """
    signature = inspect.signature(called)
    names = flags or {f"--{name.replace('_', '-')}": name for name in signature.parameters}

    @functools.wraps(called)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        from matese.render import notebook

        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{call.__name__}() {error}{_advice(signature, args, kwargs)}") from None
        try:
            with notices.worded(lambda text: _as_python(text, names)):
                return called(*args, **kwargs)
        except InputError as error:
            error.args = tuple(_as_python(part, names) if isinstance(part, str) else part for part in error.args)
            if isinstance(error, FormatError):
                error.problem = _as_python(error.problem, names)
            raise
        finally:
            notebook.install()

    return call


def _advice(signature: inspect.Signature, args: tuple[object, ...], kwargs: Mapping[str, object]) -> str:
    """Returns what to write in place of a call that a function does not take; "" if it is not known."""
    kinds = {name: parameter.kind for name, parameter in signature.parameters.items()}
    by_name = [name for name, kind in kinds.items() if kind is inspect.Parameter.KEYWORD_ONLY]
    if len(args) > len(kinds) - len(by_name) and by_name:
        return f": name the options, such as {by_name[0]}=..."
    for name in kwargs:
        if name not in kinds:
            former = _FORMER.get(name)
            for written in _writings(signature, name):
                return f": write {written}"
            return f": it is {former} now" if former in kinds else near_miss(name, kinds).rstrip(":")
    return ""


def _writings(signature: inspect.Signature, name: str) -> Iterator[str]:
    """Yields how an option is given by a parameter whose value is an object of options."""
    import matese

    for parameter in signature.parameters.values():
        for word in re.findall(r"\w+", str(parameter.annotation)):
            kind: Any = getattr(matese, word) if word in matese.__all__ else None
            if isinstance(kind, type) and issubclass(kind, Options) and (call := _nested_call(kind, name)):
                yield f"{parameter.name}={call}"


def _nested_call(kind: type, name: str) -> str | None:
    """Returns the call that makes an object of options with one of them, perhaps of a group in it; None without it."""
    for each in options_of(kind):
        inner = _nested_call(each.type, name) if each.is_group else "..." if each.name == name else None
        if inner is not None:
            return f"matese.{kind.__name__}({each.name}={inner})"
    return None


def _as_python(message: str, names: Mapping[str, str]) -> str:
    """Returns a message with the names that options have in Python.

    >>> _as_python("--error-free needs a model: leave out --checks only", {"--error-free": "error_free"})
    'error_free needs a model: leave out --checks only'
    """
    return re.sub(r"--[a-z][a-z0-9-]*[a-z0-9]", lambda match: names.get(match[0], match[0]), message)
