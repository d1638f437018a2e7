"""JSON files that may be too large for memory, element by element.

Three layouts can be read: a list, `[element, ...]`; an object, `{"key": [element, ...], "other": value}`, whose lists
are read element by element and other values as they are; and JSON lines, one value a line.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NoReturn

from matese.errors import FormatError, InputError
from matese.files import name_of, open_binary
from matese.formats import validation

_CHUNK = 1 << 16
_LONGEST_LINE = 1 << 20
_LONGEST_VALUE = 1 << 28
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SPACE = " \t\n\r"
_NEAR = 16
"""An error as close to the end of the buffer means that the buffer ends within a value (except for strings)."""


def _refuse_constant(name: str) -> NoReturn:
    raise InputError(f"{name}: must be a finite number or null")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=validation.unique_keys)


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


def read(path: str | Path) -> Iterator[Element]:
    """Yields the elements of a file, in order.

    Raises:
        FormatError: if it is not JSON.
        OSError: if it cannot be read.
    """
    with open_binary(path) as stream:
        text = _Text(stream, name_of(path))
        first = text.peek()
        if first == "[":
            yield from _list(text, None)
        elif first == "{" and not text.is_lines():
            yield from _object(text)
        else:
            while text.peek():
                yield Element(text.line, None, text.value())
            return
        if text.peek():
            raise text.error("continues after its end: must be one list or object")


def _list(text: _Text, key: str | None) -> Iterator[Element]:
    text.take("[")
    while text.peek() != "]":
        line = text.line
        yield Element(line, key, text.value())
        if text.peek() != "]":
            text.take(",")
            if text.peek() == "]":
                raise text.error("comma before the end of a list: must be followed by an element")
    text.take("]")


def _object(text: _Text) -> Iterator[Element]:
    text.take("{")
    while text.peek() != "}":
        line = text.line
        key = text.value()
        if not isinstance(key, str):
            raise text.error("key of an object is not a string: must be one")
        text.take(":")
        if text.peek() == "[":
            yield from _list(text, key)
        else:
            yield Element(line, key, text.value())
        if text.peek() != "}":
            text.take(",")
    text.take("}")


class _Text:
    """The text of a stream; only the part that is being read is in memory."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream, self._name = stream, name
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._buffer, self._at, self._is_whole = "", 0, False
        self.line = 1

    def peek(self) -> str:
        """Returns the next character other than white space, without taking it; "" at the end."""
        while True:
            while self._at < len(self._buffer) and self._buffer[self._at] in _SPACE:
                self.line += self._buffer[self._at] == "\n"
                self._at += 1
            if self._at < len(self._buffer) or not self._more(_CHUNK):
                return self._buffer[self._at : self._at + 1]

    def take(self, expected: str) -> None:
        """Takes the next character, which must be the expected one."""
        found = self.peek()
        if found != expected:
            there = repr(found) if found else "the end"
            raise self.error(f"not JSON ({there} in place of {expected!r})")
        self._at += 1

    def value(self) -> object:
        """Takes the next value."""
        self.peek()
        size = _CHUNK
        while True:
            try:
                value, end = _DECODER.raw_decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                is_cut = error.msg.startswith("Unterminated") or error.pos >= len(self._buffer) - _NEAR
                if is_cut and len(self._buffer) - self._at > _LONGEST_VALUE:
                    raise self.error(f"value is longer than {_LONGEST_VALUE:,} characters: must be shorter") from None
                if is_cut and self._more(size):
                    size *= 2
                    continue
                line = self.line + self._buffer.count("\n", self._at, error.pos)
                raise FormatError(self._name, line, f"not JSON ({error.msg}): must be whole JSON values") from None
            except InputError as error:
                raise self.error(str(error)) from None
            except RecursionError:
                raise self.error("lists are nested too deeply: must be a few levels") from None
            except ValueError as error:  # Python converts no integer of thousands of digits
                raise self.error(f"not a number ({error}): must have fewer digits") from None
            # A number may continue in the unread part.
            if end < len(self._buffer) or not self._more(size):
                if _SURROGATE.search(self._buffer, self._at, end):
                    self._check_surrogates(value)
                self.line += self._buffer.count("\n", self._at, end)
                self._at = end
                return value

    def _check_surrogates(self, value: object) -> None:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise self.error("half of a surrogate pair: must be Unicode text") from None

    def is_lines(self) -> bool:
        """Whether the first line is a complete value: JSON lines."""
        while "\n" not in self._buffer[self._at :] and len(self._buffer) < _LONGEST_LINE and self._more(_CHUNK):
            pass
        line, _, rest = self._buffer[self._at :].partition("\n")
        try:
            json.loads(line)
        except (ValueError, RecursionError):
            return False
        # One object and a line end may be either: an object of lists is read as a whole.
        while not rest.strip(_SPACE) and self._more(_CHUNK):
            rest = self._buffer[self._at :].partition("\n")[2]
        return bool(rest.strip(_SPACE))

    def error(self, problem: str) -> FormatError:
        """Returns an error at the current place."""
        return FormatError(self._name, self.line, problem)

    def _more(self, size: int) -> bool:
        """Reads more text; returns whether there was any."""
        if self._is_whole:
            return False
        raw = self._stream.read(size)
        try:
            text = self._decoder.decode(raw, final=not raw)
        except UnicodeDecodeError:
            raise self.error("is not UTF-8: must be UTF-8 text") from None
        self._buffer, self._at = self._buffer[self._at :] + text, 0
        self._is_whole = not raw
        return bool(raw)
