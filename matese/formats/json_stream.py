"""JSON files, element by element, with the line of each.

Three layouts can be read: a list, `[element, ...]`; an object, `{"key": [element, ...], "other": value}`, whose lists
are read element by element and other values as they are; and JSON lines, one value a line. A reader names the keys by
which it knows an object that is itself an element.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import msgspec

from matese.errors import FormatError, InputError
from matese.files import decode, name_of, open_binary
from matese.formats.row_issues import located
from matese.validation import plain_values

_LARGEST = 1 << 30
"""Bytes; a small archive can hold a file that fits into no memory."""
_CHUNK = 1 << 16
_BYTE = re.compile(r" \((?:byte|position) (\d+)\)")
_SPACE = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class Element:
    """An element of the file.

    Attributes:
        line: its first line, from 1.
        key: under which it is, or its list, in an object; None in other layouts.
        value: any JSON value.
    """

    line: int
    key: str | None
    value: object


def read(path: str | Path, *, record: Collection[str] = ()) -> Iterator[Element]:
    """Yields the elements of a file, in order.

    Args:
        path: of the file.
        record: keys of which an object has one if it is itself an element, such as the only one of a file.

    Raises:
        FormatError: if it is not JSON.
        OSError: if it cannot be read.
    """
    name = name_of(path)
    with open_binary(path) as stream:
        chunks = islice(iter(partial(stream.read, _CHUNK), b""), _LARGEST // _CHUNK + 1)
        data = b"".join(chunks).removeprefix(codecs.BOM_UTF8)
    if len(data) > _LARGEST:
        raise FormatError(name, None, f"is longer than {_LARGEST:,} bytes: must be shorter")
    decode(data, path)
    if not data.startswith(b"[") and _is_lines(data):
        for number, line in enumerate(data.split(b"\n"), start=1):
            if line.strip(_SPACE):
                yield _element(name, number, None, line)
        return
    at = 0
    line_number = 1
    counted = 0
    parts = _parts(name, data, list[msgspec.Raw] | dict[str, msgspec.Raw])
    if any(key in record for key, _ in parts):
        yield _element(name, data.count(b"\n", 0, len(data) - len(data.lstrip(_SPACE))) + 1, None, data)
        return
    for key, value in parts:
        at = data.index(value, at)
        inner = _parts(name, value, list[msgspec.Raw]) if key is not None and value.startswith(b"[") else [(key, value)]
        for _, element in inner:
            at = data.index(element, at)
            line_number += data.count(b"\n", counted, at)
            counted = at
            yield _element(name, line_number, key, element)
            at += len(element)


def write_list(elements: Iterable[str]) -> Iterator[str]:
    """Yields the text of a list of JSON texts, each on a line of its own."""
    yield "["
    for number, element in enumerate(elements):
        yield f"{',' if number else ''}\n{element}"
    yield "\n]\n"


def _is_lines(data: bytes) -> bool:
    """Whether the first line is a complete value that is followed by others."""
    line, _, rest = data.strip(_SPACE).partition(b"\n")
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return bool(rest)


def _parts(name: str, data: bytes, kind: object) -> list[tuple[str | None, bytes]]:
    """Returns the elements of a list or the values of an object, each as JSON."""
    if not data.strip(_SPACE):
        return []
    try:
        parts = msgspec.json.decode(data, type=kind)
        if isinstance(parts, dict):
            plain_values.check_unique_keys(data)
            return [(key, bytes(value)) for key, value in parts.items()]
        return [(None, bytes(value)) for value in parts]
    except msgspec.DecodeError as error:
        place = _BYTE.search(str(error))
        line = data.count(b"\n", 0, int(place[1]) if place else len(data)) + 1
        fault = _BYTE.sub("", plain_values.explained(error, data))
        problem = f"not JSON ({fault}): must be one list or object, or JSON lines"
        raise FormatError(name, line, problem) from None
    except RecursionError:
        raise FormatError(name, 1, "lists are nested too deeply") from None
    except InputError as error:
        raise FormatError(name, None, str(error)) from None


def _element(name: str, line: int, key: str | None, value: bytes) -> Element:
    with located(name, line):
        return Element(line, key, plain_values.from_json(value, object))
