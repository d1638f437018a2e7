"""TMX, translation memories, which can only be read: each pair of variants of a unit is a source and its translation.

The source language is the one that the file names, or that of `--lang-pair`, which also selects the target language.
Inline code (`<ph>`, `<bpt>`, ...) is not part of the texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import permutations
from pathlib import Path
from xml.parsers import expat

from matese.annotation import Rating, Segment, SegmentKey
from matese.errors import FormatError, InputError
from matese.files import name_of, open_binary
from matese.formats import languages
from matese.formats.format import STRICT, FileHead, ReadOptions

_CODE = {"bpt", "ept", "it", "ph", "ut", "sub"}
_CHUNK = 1 << 16


def matches(head: FileHead) -> bool:
    """Whether a file begins like TMX, or has its name (it may be in UTF-16)."""
    return re.search(r"<tmx\b", head.text) is not None or head.name.casefold().endswith((".tmx", ".tmx.gz"))


class _Reader:
    """Collects the variants of each unit while the parser calls its methods."""

    def __init__(self) -> None:
        self.source_lang = ""
        self.units: list[tuple[str, dict[str, str]]] = []
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler, self.parser.EndElementHandler = self._start, self._end
        self.parser.CharacterDataHandler, self.parser.EntityDeclHandler = self._take, _refuse
        self._own_source, self._lang = "", ""
        self._texts: dict[str, str] = {}
        self._collected: list[str] | None = None
        self._n_code = 0

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "header":
            self.source_lang = attributes.get("srclang", "")
        elif name == "tu":
            self._own_source, self._texts = attributes.get("srclang", self.source_lang), {}
        elif name == "tuv":
            self._lang = (attributes.get("xml:lang") or attributes.get("lang") or "").replace("-", "_")
        elif name == "seg":
            self._collected, self._n_code = [], 0
        self._n_code += name in _CODE

    def _take(self, text: str) -> None:
        if self._collected is not None and not self._n_code:
            self._collected.append(text)

    def _end(self, name: str) -> None:
        self._n_code -= name in _CODE
        if name == "seg":
            self._texts[self._lang], self._collected = "".join(self._collected or ()), None
        elif name == "tu":
            self.units.append((self._own_source.replace("-", "_"), self._texts))


def _refuse(*_: object) -> None:
    raise InputError("declares an entity: must be plain TMX")


def read(path: str | Path, reading: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the pairs of each unit; units count from 0."""
    reader, number = _Reader(), -1
    with open_binary(path) as stream:
        while chunk := stream.read(_CHUNK):
            _parse(chunk, reader, path)
            for source, texts in reader.units:
                number += 1
                yield from _ratings(texts, source, number, reading)
            reader.units.clear()
        _parse(b"", reader, path)


def _parse(chunk: bytes, reader: _Reader, path: str | Path) -> None:
    """Passes a part of a file to the parser; an empty one is its end."""
    try:
        reader.parser.Parse(chunk, not chunk)
    except (expat.ExpatError, LookupError, ValueError) as error:  # the last two for encodings that expat lacks
        raise FormatError(name_of(path), reader.parser.CurrentLineNumber, f"not TMX: {error}") from None


def _ratings(texts: Mapping[str, str], source: str, number: int, reading: ReadOptions) -> Iterator[Rating]:
    known = [lang for lang in texts if lang.casefold() == source.casefold()] or list(texts)[:1]
    for lang, other in permutations(texts, 2):
        pair = f"{lang}-{other}"
        if languages.agree(pair, reading.lang_pair) if reading.lang_pair else lang in known:
            key = SegmentKey(lang_pair=pair, index=number)
            yield Rating(Segment(texts[other], texts[lang], key=key), None, None)
