r"""Subtitles: SubRip (SRT), and WebVTT (VTT), which also holds notes. A cue is a segment.

The copy of an SRT file with notes is a VTT file with the same cues and times; corrections alone make an SRT file, where
tags and line breaks of a cue stay beside their words.

The wrapped lines of a cue are joined by a space; without one between characters of East Asian scripts, which have no
spaces. Tags (`<i>`, `<v Bob>`, `{\an8}`) are not part of the text; in VTT, `&lt;` and its like are characters.

In VTT, ratings are notes (`notes`) in comments: a block "NOTE" before its cue, or before the first cue if it is of the
whole file. Everything else of the file stays as it is.

Files are cut into cues here, because pysubs2 takes a last line of digits for the number of a cue, and the names and
comments of VTT for text.
"""

from __future__ import annotations

import codecs
import html
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from matese.errors import FormatError, InputError
from matese.files import decode, name_of
from matese.formats import corrections
from matese.formats.localisation import notes
from matese.formats.localisation.units import LocalisationFile, Unit, splice

_TIMES = re.compile(r"^[ \t]*(?:\d+:)?\d{1,2}:\d{2}[,.]\d{1,3}[ \t]*-->")
_TIME = re.compile(r"(?:\d+:)?\d{1,2}:\d{2}[,.]\d{1,3}")
_TAG = re.compile(r"\{\\[^}]*\}|</?(?:[a-zA-Z][^<>]*|\d[\d:.]*)>")
_SHOWN = re.compile(rf"(?P<tag>{_TAG.pattern})|(?P<gap>\s*\n\s*)|.", re.DOTALL)
_VTT_TAG = re.compile(r"</?[biu]>")
"""A tag of SRT that means the same in VTT."""
_COMMA = re.compile(r"(?<=:\d\d),(?=\d)")
_NOTE = re.compile(r"NOTE(?:[ \t\n]|$)")


def parse(raw: bytes, path: str | Path, *, as_srt: bool = False) -> LocalisationFile:
    """Returns the cues of a file; a copy of SRT is VTT unless it must be SRT.

    Raises:
        FormatError: if it has no cue, or is not UTF-8.
    """
    text = decode(raw.removeprefix(codecs.BOM_UTF8), path)
    offset = len(codecs.BOM_UTF8) if raw.startswith(codecs.BOM_UTF8) else 0
    is_vtt = text.startswith("WEBVTT")
    file = _Vtt(text, offset, raw).file() if is_vtt else _of_srt(text, raw[:offset], as_srt=as_srt)
    if not file.units:
        allowed = "must be SRT or VTT, with a line such as 00:00:01,000 --> 00:00:03,000"
        raise FormatError(name_of(path), None, f"has no cue: {allowed}")
    return file


def times(lines: Iterable[str]) -> list[tuple[float, float]]:
    """Returns when each cue begins and ends, in seconds.

    >>> times(["1", "00:00:01,500 --> 00:01:02,000", "Hallo"])
    [(1.5, 62.0)]
    """
    time_lines = (line for line in lines if _TIMES.match(line))
    ends = ([_seconds(time) for time in _TIME.findall(line)[:2]] for line in time_lines)
    return [(start, end) for start, end in (pair if len(pair) == 2 else (0.0, float("inf")) for pair in ends)]


def _seconds(time: str) -> float:
    parts = reversed(time.replace(",", ".").split(":"))
    return sum((float(part) * 60.0**place for place, part in enumerate(parts)), 0.0)


def _of_srt(text: str, mark: bytes, *, as_srt: bool) -> LocalisationFile:
    lines = text.replace("\r\n", "\n").split("\n")
    starts = [number for number, line in enumerate(lines) if _TIMES.match(line)]
    units = {}
    cues = []
    places: dict[int, range] = {}  # of the lines of each cue
    for number, start in enumerate(starts):
        is_last = number == len(starts) - 1
        payload = lines[start + 1 : None if is_last else starts[number + 1]]
        if not is_last and payload and payload[-1].strip().isdecimal():
            payload = payload[:-1]  # the number of the next cue
        units[number] = _unit(payload, start + 1, number)
        cues.append(_as_vtt(lines[start], payload))
        places[number] = range(start + 1, start + 1 + len(payload))
    if as_srt:
        raw = mark + text.encode()

        def correct(translations: Mapping[int, str]) -> bytes:
            whole = text.split("\n")
            for index, words in sorted(translations.items(), reverse=True):
                here = places[index]
                changed = _corrected("\n".join(whole[here.start : here.stop]), words)
                whole[here.start : here.stop] = changed.split("\n")
            return mark + "\n".join(whole).encode()

        return LocalisationFile(units, lambda notes_by_unit: raw, correct, lambda: raw, holds_notes=False)

    vtt = "".join(["WEBVTT\n", *cues])
    return replace(_Vtt(vtt, 0, vtt.encode()).file(), units=units)


def _corrected(payload: str, words: str) -> str:
    r"""Returns the lines of a cue with other words; tags and line breaks stay where words around them stay.

    >>> _corrected("<i>We stay</i>\nfor long.\n", "We stayed here for long.")
    '<i>We stayed here</i>\nfor long.\n'
    """
    core = payload.rstrip()
    letters = list(_letters(core))
    for edit in reversed(corrections.edits("".join(letter for letter, _, _ in letters), " ".join(words.split()))):
        removed = letters[edit.start : edit.end]
        before = letters[edit.start - 1][2] if edit.start else 0
        at = removed[0][1] if removed else before
        for _, start, end in reversed(removed):
            core = core[:start] + core[end:]
        core = core[:at] + edit.text + core[at:]
    return core + payload[len(payload.rstrip()) :]


def _letters(core: str) -> Iterator[tuple[str, int, int]]:
    """Yields each letter of the text of a cue, as `_in_one_line` has it, and where it is: a line break is a space."""
    for match in _SHOWN.finditer(core):
        if match["tag"]:
            continue
        if match["gap"] is None:
            yield match[0], *match.span()
        elif not (_is_wide(core[match.start() - 1]) and _is_wide(core[match.end()])):
            yield " ", *match.span()


def _as_vtt(times: str, payload: Iterable[str]) -> str:
    r"""Returns a cue of SRT as one of VTT, which has no empty lines and fewer tags, and escapes other characters.

    >>> _as_vtt("00:00:01,000 --> 00:00:03,000", ["{\\an8}<i>A</i> < B", "", "C"])
    '\n00:00:01.000 --> 00:00:03.000\n<i>A</i> &lt; B\nC\n'
    """
    lines = [_COMMA.sub(".", times.strip())]
    for line in payload:
        # At odd places are the tags.
        parts = re.split(f"({_TAG.pattern})", line.strip())
        texts = [
            (part if _VTT_TAG.fullmatch(part) else "") if number % 2 else html.escape(part, quote=False)
            for number, part in enumerate(parts)
        ]
        lines.append("".join(texts))
    return "".join(["\n", *(f"{line}\n" for line in lines if line.strip())])


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines of a VTT file between empty ones.

    Attributes:
        start: its first byte.
        end: the byte after its last line.
        line: number of its first line, from 1.
        lines: without their ends.
    """

    start: int
    end: int
    line: int
    lines: Sequence[str]

    @property
    def times(self) -> int | None:
        """The number of the line with the times of a cue, from 0; None if it is no cue."""
        return next((number for number, line in enumerate(self.lines[:2]) if _TIMES.match(line)), None)

    @property
    def is_note(self) -> bool:
        """Whether it is a comment."""
        return _NOTE.match(self.lines[0]) is not None


class _Vtt:
    """A VTT file: its blocks, cues and notes."""

    def __init__(self, text: str, offset: int, raw: bytes) -> None:
        """Reads the text of a file, whose first byte is at `offset` of its bytes."""
        self.raw = raw
        self.header: list[str] = []
        self._end = "\r\n" if "\r\n" in text else "\n"
        self._blocks = list(_blocks(text, offset))
        self._cues: list[tuple[_Block, int]] = []
        of_cues: list[list[notes.Note]] = [[]]
        for block in self._blocks:
            lines = _comment(block)
            if (times := block.times) is not None:
                self._cues.append((block, times))
                of_cues.append([])
            elif block.is_note and notes.name_in(lines):
                self.header += lines
            elif block.is_note:
                of_cues[-1] += notes.split(lines)
        self.units = {
            number: _unit(block.lines[times + 1 :], block.line + times, number, of_cue, has_entities=True)
            for number, ((block, times), of_cue) in enumerate(zip(self._cues, of_cues[:-1], strict=True))
        }

    def file(self) -> LocalisationFile:
        """Returns the file; notes of the whole stand before its first cue, if it has one."""
        has_header = bool(self._cues)
        return LocalisationFile(
            self.units, self.add, self.correct, self.without_ours, has_header=has_header, header=self.header
        )

    def add(self, notes_by_unit: Mapping[int, Sequence[str]]) -> bytes:
        """Returns the file with notes; those of the whole file stand first."""
        pieces: dict[int, str] = defaultdict(str)
        for index, of_unit in sorted(notes_by_unit.items()):
            for note in of_unit:
                if "-->" in note:
                    raise InputError(
                        f"the note {note!r} has -->, which no comment of VTT can hold: write another format"
                    )
                body = note.replace("\n", self._end)
                pieces[self._cues[max(index, 0)][0].start] += f"NOTE{self._end}{body}{self._end}{self._end}"
        return splice(self.raw, ((place, place, piece) for place, piece in pieces.items()))

    def correct(self, translations: Mapping[int, str]) -> bytes:
        """Returns the file with other texts, each in one line, in place of those of cues."""
        pieces = []
        for index, text in translations.items():
            block, times = self._cues[index]
            start = block.start
            for _ in range(times + 1):
                start = self.raw.index(b"\n", start) + 1
            pieces.append((start, block.end, html.escape(text, quote=False) + self._end))
        return splice(self.raw, pieces)

    def without_ours(self) -> bytes:
        """Returns the file without the notes that `notes.is_ours` finds."""
        of_file = notes.name_in(self.header)
        removed = []
        for block in (block for block in self._blocks if block.is_note):
            lines = _comment(block)
            block_notes = list(notes.split(lines))
            if block_notes and all(notes.is_ours(note, of_file) for note in block_notes):
                removed.append((block.start, _after_empty_lines(self.raw, block.end), ""))
        return splice(self.raw, removed)


def _comment(block: _Block) -> list[str]:
    """Returns the lines of a comment, without the word NOTE."""
    first = block.lines[0].removeprefix("NOTE").strip()
    return [*([first] if first else []), *block.lines[1:]]


def _after_empty_lines(raw: bytes, place: int) -> int:
    match = re.compile(rb"(?:[ \t]*\r?\n)*").match(raw, place)
    return match.end() if match else place


def _blocks(text: str, offset: int) -> Iterator[_Block]:
    """Yields the blocks of a file that begins at a byte."""
    lines: list[str] = []
    start = at = offset
    first = 1
    for number, line in enumerate(text.split("\n"), start=1):
        length = len(line.encode()) + 1
        content = line.removesuffix("\r")
        if content.strip():
            if not lines:
                start = at
                first = number
            lines.append(content)
        elif lines:
            yield _Block(start, at, first, tuple(lines))
            lines = []
        at += length
    if lines:
        yield _Block(start, at - 1, first, tuple(lines))


def _in_one_line(lines: Iterable[str]) -> str:
    r"""Returns the lines of a cue in one.

    >>> _in_one_line(["We stayed", "for long "]), _in_one_line(["我们", "留下"])
    ('We stayed for long', '我们留下')
    """
    joined = ""
    for line in filter(None, map(str.strip, lines)):
        is_close = joined and _is_wide(joined[-1]) and _is_wide(line[0])
        joined += line if is_close or not joined else f" {line}"
    return joined


def _is_wide(character: str) -> bool:
    # Hangul is wide, too, but has spaces.
    is_hangul = unicodedata.name(character, "").startswith("HANGUL")
    return unicodedata.east_asian_width(character) in "WF" and not is_hangul


def _unit(
    lines: Sequence[str],
    line: int,
    number: int,
    of_cue: Sequence[notes.Note] = (),
    *,
    has_entities: bool = False,
) -> Unit:
    text = _in_one_line(_TAG.sub("", "\n".join(lines)).split("\n"))
    name = f"{number + 1} (line {line})"
    return Unit(name, line, None, html.unescape(text) if has_entities else text, None, of_cue, kind="cue")
