"""A unit of a localisation file, and a file with its units."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from matese.errors import InputError


@dataclass(frozen=True, slots=True)
class Unit:
    """A translated text.

    Attributes:
        name: as messages show it.
        line: in the file.
        source: without inline code.
        target: likewise.
        lang_pair: "en-de_AT"; None if the file does not say it.
        notes: the lines of each of our notes.
        form: number of the plural form; None if the text has only one.
    """

    name: str
    line: int
    source: str
    target: str
    lang_pair: str | None
    notes: Sequence[Sequence[str]]
    form: int | None = None


@dataclass(frozen=True, slots=True)
class LocalisationFile:
    """A file with its units.

    Attributes:
        units: those with a target, by their numbers, which count all texts from 0.
        add: returns the file with notes, given by the number of their unit; -1 stands for the header of the file.
            Everything else is as it was.
        untranslated: units with a source and no target, by their numbers.
        lang: the language of its notes, if it is stated.
        has_header: whether the header of the file can hold notes.
        header: the lines of the notes in it.
    """

    units: Mapping[int, Unit]
    add: Callable[[Mapping[int, Sequence[str]]], bytes]
    untranslated: Mapping[int, Unit]
    lang: str | None = None
    has_header: bool = False
    header: Sequence[str] = ()


def insert(raw: bytes, pieces: Mapping[int, str], encoding: str = "utf-8") -> bytes:
    """Returns bytes with texts inserted before given offsets. Raises InputError if the encoding lacks a character.

    >>> insert(b"abc", {0: "x", 2: "y", 3: "z"})
    b'xabycz'
    """
    parts, last = [], 0
    for place in sorted(pieces):
        try:
            parts += [raw[last:place], pieces[place].encode(encoding)]
        except UnicodeError:
            raise InputError(f"a note has characters that {encoding} lacks: the file must be in UTF-8") from None
        last = place
    return b"".join([*parts, raw[last:]])
