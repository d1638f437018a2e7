"""Plain values of JSON and YAML converted to types by msgspec. Errors are its sentences, after the place of the value.

A type is a msgspec struct, a dataclass, or anything else that msgspec converts to.
"""

from __future__ import annotations

import difflib
import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, reduce
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from matese.errors import InputError, one_of, shortened

Place = tuple[str | int, ...]
"""Keys and list indices that lead from the outermost value to an inner one."""
T = TypeVar("T")

_PATH = re.compile(r" - at `(?:key` in `)?\$([^`]*)`$")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_ANY_KEY = "[...]"
"""msgspec does not name the keys of a dict."""
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_NOT_A_NUMBER = re.compile(r"-?\b(?:NaN|Infinity)\b")
_ESCAPE = re.compile(r"\\u(?:d[89ab]..\\ud[c-f]..|(?P<half>d[89a-f]..))|\\.", re.IGNORECASE | re.DOTALL)
_decoder: Callable[[type], msgspec.json.Decoder[Any]] = cache(msgspec.json.Decoder)
_type_info = cache(inspect.type_info)
_MOST_STARTS = 200
"""Places of a text at which a JSON value is looked for."""


class InvalidValueError(InputError):
    """A value that its type does not allow.

    Attributes:
        place: of the value, or of the innermost value around it that could be located.
    """

    def __init__(self, problem: str, place: Place) -> None:
        super().__init__(problem, place)
        self.problem = problem
        self.place = place

    def __str__(self) -> str:
        return self.problem


def convert(value: object, kind: type[T], *, from_attributes: bool = False) -> T:
    """Returns a plain value as a type; with `from_attributes`, also an object that has its fields as attributes.

    Raises:
        InvalidValueError: if a value is missing or not allowed, or for a key that a struct forbids.
    """
    try:
        return msgspec.convert(value, kind, from_attributes=from_attributes)
    except msgspec.ValidationError as error:
        raise _explained(str(error), value, kind) from None


def to_plain(value: object) -> Any:  # noqa: ANN401  (what JSON holds)
    """Returns a value of such a type as plain mappings, lists and values: the inverse of `convert`."""
    return msgspec.to_builtins(value)


def from_json(text: str | bytes, kind: type[T]) -> T:
    """Returns the value of a JSON text as a type.

    Raises:
        InvalidValueError: if it is not JSON, or an object in it has a key twice, or as `convert`.
    """
    try:
        try:
            value: T = _decoder(kind).decode(text)
            check_unique_keys(text)
            return value
        except msgspec.ValidationError as error:
            raise _explained(str(error), _plain(text), kind) from None
    except msgspec.DecodeError as error:
        problem = f"not JSON ({explained(error, text)})" if text.strip() else "empty"
        raise InvalidValueError(f"{problem}: must be one JSON value", ()) from None
    except RecursionError:
        raise InvalidValueError("objects or lists are nested too deeply", ()) from None


def _plain(text: str | bytes) -> object:
    """Returns the value of a JSON text; None if it has a number that is too large."""
    try:
        return msgspec.json.decode(text)
    except msgspec.ValidationError:
        return None


def explained(error: msgspec.DecodeError, text: str | bytes) -> str:
    """Returns what is wrong with a text that is not JSON, where msgspec's message does not say it."""
    whole = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    outside = _STRING.sub('""', whole)
    if name := _NOT_A_NUMBER.search(outside):
        return f"{name[0]} is not a JSON value; a missing number is null"
    if half := next((escape[0] for escape in _ESCAPE.finditer(whole) if escape["half"]), None):
        return f"{half} is half of a surrogate pair; both halves make one character"
    return str(error)


def check_unique_keys(text: str | bytes) -> None:
    """Raises InvalidValueError if an object of a JSON text has a key twice; msgspec takes the last of them."""
    whole = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    if "{" in whole:
        json.loads(whole, object_pairs_hook=unique_keys, parse_int=str)  # int() refuses more than 4,300 digits


def unique_keys(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    """Returns the keys and values of an object, for `json`. Raises InvalidValueError if a key is given twice."""
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidValueError(f"key {twice!r} is given twice: must be given once in an object", ())
    return values


def check_keys(value: object, kind: type) -> None:
    """Checks that a plain value has no keys but those of its type, where msgspec ignores those that a dataclass lacks.

    Raises:
        InvalidValueError: for the first unknown key.
    """
    for place, key, keys, nested in _unknown_keys(value, _type_info(kind), ()):
        similar = {name.rpartition(".")[2]: name for name in (*nested, *keys)}
        close = difflib.get_close_matches(key.casefold(), similar, n=1)
        hint = f", did you mean {dotted((*place, similar[close[0]]))!r}?" if close else ":"
        raise InvalidValueError(f"unknown key {dotted((*place, key))!r}{hint} must be {one_of(keys)}", (*place, key))


def dotted(place: Place) -> str:
    """Returns a place as messages show it.

    >>> dotted(("errors", 1, "start"))
    'errors[1].start'
    """
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).lstrip(".")


def _explained(message: str, value: Any, kind: type) -> InvalidValueError:  # noqa: ANN401  (any JSON value)
    """Returns the error for a message of msgspec, such as "Expected `int`, got `str` - at `$.errors[0].start`"."""
    path = _PATH.search(message)
    sentence = message[: path.start()] if path else message
    steps = path[1] if path else ""
    shown = steps.lstrip(".")
    place: Place = tuple(int(index) if index else key for key, index in _STEP.findall(steps.partition(_ANY_KEY)[0]))
    if sentence.startswith("Object contains unknown field"):
        check_keys(value, kind)  # which knows similar keys
    # The message of a check in a type's constructor starts with the name of the attribute if it is about one.
    type_ = _type_at(kind, place)
    attribute = re.split(r"\W", sentence)[0]
    if attribute in _fields(type_):
        return InvalidValueError(f"{shown}.{sentence}".lstrip("."), (*place, attribute))
    actual = _value_at(value, place)
    if (choices := _choices(type_)) and isinstance(actual, str):
        sentence = f"{sentence}: must be {one_of(choices)}"
    elif sentence.startswith("Expected") and isinstance(actual, str | int | float):
        sentence = f"{sentence} (the value is {shortened(actual) if isinstance(actual, str) else json.dumps(actual)})"
    return InvalidValueError(f"{shown}: {sentence}" if shown else sentence, place)


def _members(type_: inspect.Type) -> tuple[inspect.Type, ...]:
    """Returns the alternatives of a union, or the type itself."""
    return type_.types if isinstance(type_, inspect.UnionType) else (type_,)


def _fields(type_: inspect.Type) -> Mapping[str, inspect.Type]:
    """Returns the types of the keys that an object of this type may have."""
    objects = (member for member in _members(type_) if isinstance(member, inspect.StructType | inspect.DataclassType))
    return {field.encode_name: field.type for member in objects for field in member.fields}


def _child(type_: inspect.Type, step: str | int) -> inspect.Type:
    """Returns the type of a key's value or of a list's item."""
    for member in _members(type_):
        if isinstance(step, str) and step in _fields(member):
            return _fields(member)[step]
        if isinstance(step, str) and isinstance(member, inspect.DictType):
            return member.value_type
        if isinstance(step, int) and isinstance(member, inspect.ListType | inspect.VarTupleType):
            return member.item_type
        if isinstance(step, int) and isinstance(member, inspect.TupleType) and step < len(member.item_types):
            return member.item_types[step]
    return inspect.AnyType()


def _type_at(kind: type, place: Place) -> inspect.Type:
    return reduce(_child, place, _type_info(kind))


def _unknown_keys(
    value: object, type_: inspect.Type, place: Place
) -> Iterator[tuple[Place, str, list[str], list[str]]]:
    """Yields for each unknown key its object's place, the key, the object's known keys, and those one level deeper."""
    if isinstance(type_, inspect.AnyType):
        return
    fields = _fields(type_)
    is_object = any(isinstance(member, inspect.StructType | inspect.DataclassType) for member in _members(type_))
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in items:
        if isinstance(value, dict) and is_object and step not in fields:
            nested = [f"{name}.{inner}" for name in fields for inner in _fields(fields[name])]
            yield place, str(step), list(fields), nested
        yield from _unknown_keys(item, _child(type_, step), (*place, step))


def _value_at(value: Any, place: Place) -> object:  # noqa: ANN401  (any JSON value)
    try:
        return reduce(operator.getitem, place, value)
    except (TypeError, LookupError):
        return None


def _choices(type_: inspect.Type) -> list[str]:
    """Returns the texts that a closed set allows, which msgspec does not list."""
    texts: list[str] = []
    for member in _members(type_):
        if isinstance(member, inspect.LiteralType):
            texts += [str(value) for value in member.values]
        elif isinstance(member, inspect.EnumType):
            texts += [str(value.value) for value in member.cls]
    return texts


def json_values(text: str, is_wanted: Callable[[Any], bool], *, starts: str = "{") -> Iterator[tuple[Any, int]]:
    """Yields the outermost JSON values of a text that are wanted, each with the place behind it.

    Args:
        text: of a model, which may think aloud before the values, or fence them.
        is_wanted: whether a value is one.
        starts: the characters with which they begin: "{" objects, "[" lists.
    """
    decoder = json.JSONDecoder()
    place = 0
    for _ in range(_MOST_STARTS):
        start = re.compile(f"[{re.escape(starts)}]").search(text, place)
        if start is None:
            return
        place = start.end()
        try:
            value, end = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            continue
        if is_wanted(value):
            yield value, end
            place = end
