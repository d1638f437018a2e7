"""The options of a command line from those of a task, and the task's request from what is given."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any, TypeVar

from matese.errors import UsageError
from matese.validation.options import OptionField, attribute_docs, leaves, make, options_of

R = TypeVar("R")


def add(parser: argparse._ActionsContainer, request: type, *, is_group: bool = False) -> None:
    """Adds the options of a request, with their documentation; those of its groups under the titles of these.

    A field that may be given without its name is a positional argument. What is not given is left out of the result.
    """
    documented = attribute_docs(request)
    for each in options_of(request):
        metadata = each.field.metadata
        if each.is_group:
            title, _, _ = (each.type.__doc__ or "").partition(".\n")
            outer = parser if is_group else parser.add_argument_group(f"{title[0].lower()}{title[1:]}")
            add(outer, each.type, is_group=True)
            continue
        if metadata.get("is_of_python"):
            continue
        text = documented[each.name].rstrip(".").replace("%", "%%")
        arguments: dict[str, Any] = {"help": text, "default": argparse.SUPPRESS}
        if each.field.default is False:
            parser.add_argument(each.flag, action="store_true", dest=each.name, **arguments)
            continue
        arguments["metavar"] = each.metavar
        if is_group or each.field.kw_only:
            flags = [flag for flag in metadata.get("flags", ()) if flag != each.flag]
            arguments |= {"dest": each.name, "required": each.is_required, **_arity(each)}
            action = parser.add_argument(*flags, each.flag, **arguments)
        else:
            if each.is_several:
                arguments["nargs"] = "+" if each.is_required else "*"
            elif not each.is_required:
                arguments["nargs"] = "?"
            action = parser.add_argument(each.name, **arguments)
        vars(action)["option"] = each


def _arity(each: OptionField) -> dict[str, Any]:
    if not each.is_several:
        return {}
    if each.field.metadata.get("is_repeated"):
        return {"action": "append"}
    return {"nargs": "+", "action": "store" if each.field.default is None else "extend"}  # None: others are replaced


def request(kind: type[R], values: Mapping[str, Any]) -> R:
    """Returns a request of the values of its options by name.

    Raises:
        UsageError: if an option has a value that is not allowed, or the options do not fit together.
    """
    try:
        return make(kind, values)
    except UsageError as error:
        name, _, problem = str(error).partition(": ")
        flags = {each.name: each.flag if group or each.field.kw_only else each.metavar for group, each in leaves(kind)}
        raise UsageError(f"{flags[name]}: {problem}" if name in flags else str(error)) from None
