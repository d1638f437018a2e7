"""Options: frozen dataclasses whose fields are checked and converted when one is made.

The type of a field says what is allowed: `limit: Count | None = None`. Its text under Attributes in the docstring is
the help of the option and the reference of the Python function. `option` adds what a type cannot say, and `group` makes
a field of further options.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass
from functools import cache, cached_property
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from matese.errors import InputError, UsageError, shortened, unknown

T = TypeVar("T")
_LARGEST = sys.float_info.max
Count = Annotated[int, Meta(ge=1)]
CountOrZero = Annotated[int, Meta(ge=0)]
Finite = Annotated[float, Meta(ge=-_LARGEST, le=_LARGEST)]
Positive = Annotated[float, Meta(gt=0, le=_LARGEST)]
NonNegative = Annotated[float, Meta(ge=0, le=_LARGEST)]
NonPositive = Annotated[float, Meta(ge=-_LARGEST, le=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
InnerShare = Annotated[float, Meta(gt=0, lt=1)]
"""A share that is neither 0 nor 1."""
ShareBelowOne = Annotated[float, Meta(ge=0, lt=1)]
AboveZeroShare = Annotated[float, Meta(gt=0, le=1)]
File = Annotated[str, Meta(title="FILE")]
Folder = Annotated[str, Meta(title="DIR")]
Name = Annotated[str, Meta(title="NAME", pattern=r"\S")]
_METAVARS = {int: "N", float: "X"}


def option(
    default: Any = MISSING,  # noqa: ANN401
    *,
    take: Callable[[Any], object] | None = None,
    take_all: Callable[[Any], object] | None = None,
    names: Callable[[], Sequence[str]] | None = None,
    metavar: str | None = None,
    flags: Sequence[str] = (),
    is_repeated: bool = False,
    is_of_python: bool = False,
) -> Any:  # noqa: ANN401
    """Returns a field.

    Args:
        default: of the field; without one, it is required.
        take: returns what stands for a given value, in place of what the type says; raises a UsageError.
        take_all: the same for all values of a list, or for what else Python users give.
        names: returns the allowed names.
        metavar: stands for the value in the help.
        flags: short forms on the command line ("-t"), or the whole name there ("--from") in place of the field's.
        is_repeated: whether the command line takes one value each time the option is given, and not a list.
        is_of_python: whether the command line has no such option.
    """
    metadata = {
        "take": take,
        "take_all": take_all,
        "names": names,
        "metavar": metavar,
        "flags": flags,
        "is_repeated": is_repeated,
        "is_of_python": is_of_python,
    }
    return dataclasses.field(default=default, metadata=metadata)


def share(value: object) -> float:
    """Returns a share, which may be given in per cent: "60%" is 0.6."""
    is_percentage = isinstance(value, str) and value.endswith("%")
    try:
        number = float(value[:-1]) / 100 if is_percentage else float(value)  # type: ignore[index, arg-type]
    except (TypeError, ValueError):
        number = -1.0
    if not 0 <= number <= 1:
        raise UsageError(f"{shortened(value)}: must be from 0 to 1, or from 0% to 100%")
    return number


def group(kind: type[T], *, kw_only: bool = True) -> T:
    """Returns a field of further options; the help lists them under the first line of their docstring."""
    field: T = dataclasses.field(default_factory=kind, kw_only=kw_only, metadata={"is_group": True})
    return field


@dataclass(frozen=True)
class OptionField:
    """An option: a field, and what its type says.

    Attributes:
        field: of the dataclass.
        type: of each value, or of a group; `object` if anything is allowed.
        is_several: whether there are several values, of which one alone may stand for a list of one.
    """

    field: dataclasses.Field[Any]
    type: Any
    is_several: bool

    @property
    def name(self) -> str:
        """The name in Python."""
        return self.field.name

    @cached_property
    def flag(self) -> str:
        """The name on the command line."""
        named = [flag for flag in self.field.metadata.get("flags", ()) if flag.startswith("--")]
        return named[0] if named else f"--{self.name.rstrip('_').replace('_', '-')}"

    @property
    def is_group(self) -> bool:
        """Whether the field holds further options."""
        return bool(self.field.metadata.get("is_group"))

    @property
    def is_required(self) -> bool:
        """Whether there is no default."""
        return self.field.default is MISSING and self.field.default_factory is MISSING

    @property
    def names(self) -> tuple[str, ...]:
        """The allowed names; none if other values are allowed."""
        names = self.field.metadata.get("names")
        literal = get_args(self.type) if get_origin(self.type) is Literal else ()
        return tuple(names()) if names is not None else literal

    @property
    def metavar(self) -> str:
        """What stands for the value in the help."""
        base, *metas = get_args(self.type) if get_origin(self.type) is Annotated else (self.type,)
        titles = [meta.title for meta in metas if meta.title]
        return self.field.metadata.get("metavar") or next(iter(titles), None) or _METAVARS.get(base, "NAME")

    def take(self, value: object) -> object:
        """Returns the value that stands for a given one; raises an InputError if it is not allowed."""
        if value is None and self.field.default is None:
            return None
        if self.is_group:
            if not isinstance(value, self.type):
                raise UsageError(f"{shortened(value)} must be matese.{self.type.__name__}(...)")
            return value
        if (take_all := self.field.metadata.get("take_all")) is not None:
            return take_all(value)
        if not self.is_several:
            return self._converted(value)
        is_one = isinstance(value, str | os.PathLike) or not isinstance(value, Iterable)
        return tuple(map(self._converted, [value] if is_one else cast("Iterable[object]", value)))

    def _converted(self, value: object) -> object:
        if (take := self.field.metadata.get("take")) is not None:
            return take(value)
        plain = os.fspath(value) if isinstance(value, os.PathLike) else value
        if names := self.names:
            if plain not in names:
                what = self.field.metadata.get("metavar") or self.name.replace("_", " ")
                raise UsageError(unknown(what.lower(), str(plain)[:100], names))
            return plain
        if self.type is object:
            return plain
        if hasattr(plain, "item") and not isinstance(plain, Iterable):  # a number of numpy
            plain = plain.item()
        try:
            return msgspec.convert(plain, self.type, strict=False)
        except msgspec.ValidationError as error:
            raise UsageError(f"{shortened(value)}: must be {described(self.type) or str(error)}") from None


def described(kind: Any) -> str | None:  # noqa: ANN401
    """Returns in words what names and numbers a type allows; None for a type of other values.

    >>> described(Count), described(InnerShare), described(Finite), described(Name)
    ('a whole number, at least 1', 'a number, greater than 0, less than 1', 'a number', 'a text that is not blank')
    """
    base, *metas = get_args(kind) if get_origin(kind) is Annotated else (kind,)
    if kind == Name:
        return "a text that is not blank"
    words = {int: "a whole number", float: "a number"}.get(base)
    if words is None:
        return None
    bounds = {"ge": "at least", "gt": "greater than", "le": "at most", "lt": "less than"}
    limits = ((name, getattr(meta, key)) for meta in metas for key, name in bounds.items())
    return ", ".join(
        [words, *(f"{name} {limit}" for name, limit in limits if limit is not None and abs(limit) < _LARGEST)]
    )


def _options(kind: Any) -> tuple[OptionField, ...]:  # noqa: ANN401
    return tuple(_option(kind, field) for field in dataclasses.fields(kind))


options_of: Callable[[Any], tuple[OptionField, ...]] = cache(_options)
"""Returns the options of a dataclass."""


def _option(kind: type, field: dataclasses.Field[Any]) -> OptionField:
    if field.metadata.get("take_all") is not None:
        return OptionField(field, object, is_several=True)
    owner = next(parent for parent in kind.__mro__ if field.name in vars(parent).get("__annotations__", ()))
    annotation = field.type
    if field.metadata.get("take") is not None or field.metadata.get("names") is not None:
        return OptionField(field, object, is_several="Sequence[" in str(annotation))
    if isinstance(annotation, str):  # as `from __future__ import annotations` has it
        # This field's alone: the types of others may be known to type checkers only.
        alone = type(owner.__name__, (), {"__annotations__": {field.name: annotation}, "__module__": owner.__module__})
        annotation = get_type_hints(alone, include_extras=True)[field.name]
    if get_origin(annotation) in (types.UnionType, Union):
        annotation = next(member for member in get_args(annotation) if member is not type(None))
    is_several = get_origin(annotation) in (Sequence, tuple)
    return OptionField(field, get_args(annotation)[0] if is_several else annotation, is_several)


def leaves(kind: type, group: str | None = None) -> Iterator[tuple[str | None, OptionField]]:
    """Yields all options, those of groups and of groups in these after the name of the outer group."""
    for each in options_of(kind):
        if each.is_group:
            yield from leaves(each.type, group or each.name)
        else:
            yield group, each


class Options:
    """A frozen dataclass of options, which are checked and converted."""

    def __post_init__(self) -> None:
        for each in options_of(type(self)):
            value = getattr(self, each.name)
            try:
                object.__setattr__(self, each.name, each.take(value))
            except InputError as error:
                raise UsageError(f"{each.name}: {error}") from None

    def given(self) -> dict[str, object]:
        """Returns the options, also those of groups, that have another value than their default, by name."""
        values: dict[str, object] = {}
        for each in options_of(type(self)):
            value = getattr(self, each.name)
            if isinstance(value, Options):
                values |= value.given()
            elif value not in (each.field.default, (), None):
                values[each.name] = value
        return values


def make(kind: type[T], values: Mapping[str, Any]) -> T:
    """Returns options from values by name, also those of groups; others than its own are left out.

    Raises:
        UsageError: if a value is not allowed.
    """
    nested = {
        each.name: make(each.type, values) if each.is_group and each.name not in values else values[each.name]
        for each in options_of(kind)
        if each.is_group or each.name in values
    }
    return kind(**nested)


def attribute_docs(kind: type) -> dict[str, str]:
    """Returns the documentation of each attribute from the docstrings of a class and of those that it extends.

    >>> class Size:
    ...     '''How large something is.
    ...
    ...     Attributes:
    ...         width: in metres,
    ...             without the frame.
    ...     '''
    >>> attribute_docs(Size)
    {'width': 'in metres, without the frame.'}
    """
    documented: dict[str, str] = {}
    for parent in reversed(kind.__mro__):
        section = inspect.cleandoc(vars(parent).get("__doc__") or "").partition("Attributes:\n")[2]
        entries = re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", section, re.MULTILINE)
        documented |= {name: " ".join(text.split()) for name, text in entries}
    return documented
