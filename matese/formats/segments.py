"""Segments to annotate: the lines of parallel text files, or the segments of a file in any format."""

from __future__ import annotations

import heapq
import os
import stat
import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, islice, repeat
from operator import itemgetter

from matese.annotation import Segment, SegmentKey
from matese.errors import FormatError, InputError, UsageError, counted
from matese.files import name_of, read_lines, short_names
from matese.formats import detection
from matese.formats.format import STRICT, ReadOptions
from matese.formats.registry import BY_NAME
from matese.text import languages


@dataclass(frozen=True, slots=True)
class SystemSegments:
    """The segments that one system translated.

    Attributes:
        name: of the system, unique among all.
        n_segments: their number.
        read: returns them; each call reads the files again.
        places: of the segments among those of all systems of a file, ascending; None if each system has its own file.
    """

    name: str
    n_segments: int
    read: Callable[[], Iterable[Segment]]
    places: Sequence[int] | None = None


def in_order(systems: Iterable[SystemSegments]) -> Iterator[tuple[SystemSegments, Segment]]:
    """Yields the segments of all systems in the order of their file, each with its system.

    Systems that have their own files follow one another.
    """
    apart = [system for system in systems if system.places is None]
    together = [system for system in systems if system.places is not None]
    for system in apart:
        yield from ((system, segment) for segment in system.read())
    placed = (zip(system.places or (), repeat(system), system.read(), strict=False) for system in together)
    for _, system, segment in heapq.merge(*placed, key=itemgetter(0)):
        yield system, segment


def part(systems: Sequence[SystemSegments], number: int, count: int) -> list[SystemSegments]:
    """Returns one of several parts, which together hold every segment once and in order (see `in_order`).

    Args:
        systems: all of them, either of one file or each of its own. One without a segment in the part is left out,
            unless all are.
        number: of the part, from 1.
        count: number of parts.
    """
    n_segments = sum(system.n_segments for system in systems)
    start = n_segments * (number - 1) // count
    stop = n_segments * number // count
    every_place = sorted(place for system in systems for place in system.places or ())
    parts = []
    n_before = 0
    for system in systems:
        if system.places is None:
            first = start - n_before
            end = stop - n_before
        else:
            first = bisect_left(system.places, every_place[start]) if start < n_segments else system.n_segments
            end = bisect_left(system.places, every_place[stop]) if stop < n_segments else system.n_segments
        parts.append(_between(system, max(first, 0), min(max(end, 0), system.n_segments)))
        n_before += system.n_segments
    return [system for system in parts if system.n_segments > 0] or parts[:1]


def _between(system: SystemSegments, first: int, end: int) -> SystemSegments:
    places = None if system.places is None else system.places[first:end]
    n_segments = max(end - first, 0)
    return replace(system, n_segments=n_segments, read=lambda: islice(system.read(), first, end), places=places)


def without_references(system: SystemSegments) -> SystemSegments:
    """Returns the segments of a system without their references."""
    return replace(system, read=lambda: (replace(segment, references=()) for segment in system.read()))


@dataclass(frozen=True, slots=True)
class _TextFile:
    """A text file that was read once without an error; `lines` is None if it can be read again."""

    path: str
    n_lines: int
    lines: Sequence[str] | None = None
    unit: str = "line"

    def read(self) -> Iterator[str]:
        number = 0
        for number, line in enumerate(read_lines(self.path) if self.lines is None else self.lines, start=1):
            if number <= self.n_lines:
                yield line
        if number != self.n_lines:
            change = f"changed from {counted(self.n_lines, 'line')} to {number:,} while it was read"
            raise FormatError(self.path, None, f"{change}: must stay as it is")


def from_texts(
    hypotheses: Sequence[str],
    references: Sequence[str] = (),
    source: str | None = None,
    *,
    lang_pair: str | None = None,
    test_set: str | None = None,
    system: str | None = None,
) -> list[SystemSegments]:
    """Returns the segments of each system; all files are read to their end first, and again when segments are read.

    Args:
        hypotheses: one text file per system, one segment per line; "-" is standard input, here and below. A folder
            stands for its files, without those whose names begin with a dot.
        references: text files.
        source: a text file; None if there is none.
        lang_pair: in any form that `languages.parse` reads; stored in the keys of the segments, as is the test set.
        test_set: its name.
        system: name of the only system; None for that of its file.

    Raises:
        FormatError: if a file is empty or not UTF-8.
        InputError: if the files differ in length, a system is given twice, or a folder has no files.
    """
    hypotheses = [file for path in hypotheses for file in _files(path)]
    for path, times in Counter(hypotheses).items():
        if times > 1:
            raise InputError(f"{path} is given {times} times: each system must be given once")
    systems = [_open(path) for path in hypotheses]
    context = [_open(path) for path in (*references, *([] if source is None else [source]))]
    pair = lang_pair and languages.parse(lang_pair)
    first = systems[0]
    for other in (*systems, *context):
        if other.n_lines != first.n_lines:
            has = f"{name_of(first.path)} has {counted(first.n_lines, first.unit)}"
            others = counted(other.n_lines, other.unit) if other.unit != first.unit else f"{other.n_lines:,}"
            allowed = f"{first.unit} i of each must be one segment"
            raise InputError(f"{has} and {name_of(other.path)} {others}: {allowed}")

    def read(name: str, system: _TextFile) -> Iterator[Segment]:
        lines = zip(*(file.read() for file in (system, *context)), strict=True)
        for index, (hypothesis, *others) in enumerate(lines):
            of_source = None if source is None else others.pop()
            key = SegmentKey(test_set, pair, name, index=index)
            yield Segment(
                hypothesis,
                of_source,
                tuple(others),
                key,
                line=index + 1,
                file=system.path,
                name=f"{system.unit} {index + 1}",
            )

    if system is not None and len(systems) > 1:
        raise InputError(f"{counted(len(systems), 'system')}: {system} can name only one")
    names = short_names(hypotheses) if system is None else [system]
    named = zip(names, systems, strict=True)
    return [SystemSegments(name, file.n_lines, partial(read, name, file)) for name, file in named]


def from_file(
    path: str, options: ReadOptions | None = None, *, name: str | None = None
) -> tuple[list[SystemSegments], str]:
    """Returns the segments of a file of ratings or translations, each once however many raters it has.

    Args:
        path: a file in any format that can be read. A system without a name is named after it. Translations without an
            index get the numbers, from 0, that no other one of the system has.
        options: how it is read; None to stop at the first faulty row.
        name: of the format; None to detect it.

    Returns:
        The segments of each system, and the name of the format.

    Raises:
        FormatError: if the file cannot be read, or two translations have the same place.
    """
    name = name or detection.detect(path)
    systems: dict[str, dict[object, Segment]] = {}
    places: dict[str, list[int]] = {}
    columns: dict[str, None] = {}
    how = replace(options or STRICT, only_texts=True)
    for number, rating in enumerate(detection.read(path, how, name=name)):
        segment = replace(rating.segment, file=path)
        key = segment.key or SegmentKey()
        system = key.system or short_names([path])[0]
        of_system = systems.setdefault(system, {})
        place: object = segment
        if rating.errors is None and rating.rater is None:
            place = key if key.index is not None else (key, len(of_system))
            segment = replace(segment, key=key)
            if place in of_system:
                allowed = "must differ in system, document, language pair or index"
                way = "of a table, name the column that does, as in --columns document=file"
                problem = f"two translations of {_describe(key, segment.label)}: {allowed}; {way}"
                raise FormatError(name_of(path), None, problem)
        if place not in of_system:  # else another rater's
            places.setdefault(system, []).append(number)
        of_system[place] = segment
        columns |= dict.fromkeys(segment.extra or ())
    for of_system in systems.values():
        _number(of_system)
    if columns:  # a row of JSON may lack some
        for of_system in systems.values():
            for place, segment in of_system.items():
                of_system[place] = replace(segment, extra={**columns, **(segment.extra or {})})
    return [
        SystemSegments(system, len(segments), segments.values, places[system]) for system, segments in systems.items()
    ], name


def from_files(
    paths: Sequence[str],
    options: ReadOptions | None = None,
    *,
    sources: Sequence[str] = (),
    references: Sequence[str] = (),
    needs_context: bool = True,
) -> tuple[list[SystemSegments], str | None]:
    """Returns the segments of each system in several files, and the format if all files have the same one.

    Segments of one system in several files follow one another; each file is a document of its own unless it names its
    documents. See `from_file`.

    Args:
        paths: files in any format that can be read, and text files (`.txt`) with one translation per line.
        options: how they are read.
        sources: text files, each the source of every text file among `paths` that has as many lines.
        references: text files, likewise.
        needs_context: whether a text file must have a source or a reference.

    Raises:
        FormatError: if a file cannot be read.
        InputError: if a file is given twice, or the sources and references do not fit the text files.
    """
    for path, times in Counter(paths).items():
        if times > 1:
            raise InputError(f"{path} is given {times} times; give it once")
    is_in_pairs = bool(sources or references)
    texts = [path for path in paths if _is_text(path) or (is_in_pairs and _stands_for_lines(path))]
    if needs_context and not is_in_pairs and (alone := next(filter(_stands_for_lines, paths), None)) is not None:
        raise InputError(_needs_context(alone, "cues"))
    context = _Context(texts, sources, references)
    if not texts and len(paths) == 1:
        return from_file(paths[0], options)
    parts: dict[str, list[tuple[str, int, SystemSegments]]] = {}
    formats = set()
    n_before = 0
    for path, document in zip(paths, short_names(paths), strict=True):
        if path in texts:
            systems = context.read(path, options, needs_context=needs_context)
            form = detection.detect(path) if _stands_for_lines(path) else "text"
        else:
            systems, form = from_file(path, options)
        formats.add(form)
        for system in systems:
            parts.setdefault(system.name, []).append((document, n_before, system))
        n_before += sum(len(system.places or ()) for system in systems)
    joined = [_joined(name, of_system) for name, of_system in parts.items()]
    return joined, formats.pop() if len(formats) == 1 else None


def _is_text(path: str) -> bool:
    """Whether a file holds one translation per line: it is called so and in no other format."""
    if not path.removesuffix(".gz").lower().endswith(".txt") or not os.path.isfile(path):
        return False
    try:
        detection.detect(path)
    except FormatError:
        return True
    return False


def _stands_for_lines(path: str) -> bool:
    """Whether a file is one of subtitles, whose cues are segments."""
    return os.path.isfile(path) and not _is_text(path) and BY_NAME[detection.detect(path)].stands_for_lines


def _needs_context(path: str, units: str) -> str:
    """Returns what is wrong with a file of translations alone, and what helps."""
    kind = "a text file" if units == "lines" else "a file"
    return (
        f"{path} holds translations alone: give its source or reference, {kind} of as many {units}, with --src or --ref"
    )


class _Context:
    """The sources and references of text files, which fit where they have as many lines."""

    def __init__(self, texts: Sequence[str], sources: Sequence[str], references: Sequence[str]) -> None:
        if not texts and (sources or references):
            option = "--src" if sources else "--ref"
            raise InputError(f"{option} is for text files; of --input, each file holds all of its texts itself")
        lengths = {path: _open(path).n_lines for path in (*texts, *sources, *references)}
        for path in (*sources, *references):
            if lengths[path] not in [lengths[text] for text in texts]:
                others = ", ".join(f"{text} {lengths[text]:,}" for text in texts)
                has = f"{path} has {counted(lengths[path], 'line')} and {others}"
                raise InputError(f"{has}: line i of a source or reference must belong to line i of a text file")
        self._sources = {text: [path for path in sources if lengths[path] == lengths[text]] for text in texts}
        self._references = {text: [path for path in references if lengths[path] == lengths[text]] for text in texts}

    def read(self, path: str, options: ReadOptions | None, *, needs_context: bool) -> list[SystemSegments]:
        """Returns the segments of the system in a text file."""
        sources = self._sources[path]
        references = self._references[path]
        if len(sources) > 1:
            raise InputError(f"{' and '.join(sources)} have as many lines as {path}: must be one source")
        if needs_context and not sources and not references:
            raise InputError(_needs_context(path, "lines"))
        how = options or STRICT
        (system,) = from_texts(
            [path],
            references,
            sources[0] if sources else None,
            lang_pair=how.lang_pair,
            test_set=how.test_set,
            system=how.system,
        )
        return [replace(system, places=range(system.n_segments))]


def _joined(name: str, parts: Sequence[tuple[str, int, SystemSegments]]) -> SystemSegments:
    """Returns the segments of a system in several files: of each, its document, its first place, and its segments."""

    def read() -> Iterator[Segment]:
        for document, _, part in parts:
            for segment in part.read():
                key = segment.key or SegmentKey()
                is_named = len(parts) == 1 or key.document is not None
                yield segment if is_named else replace(segment, key=replace(key, document=document))

    places = [n_before + place for _, n_before, part in parts for place in part.places or ()]
    return SystemSegments(name, sum(part.n_segments for *_, part in parts), read, places)


def _number(segments: dict[object, Segment]) -> None:
    """Gives numbers to the translations of a system that have none."""
    used = {segment.key.index for segment in segments.values() if segment.key is not None}
    free = (number for number in count() if number not in used)
    for place, segment in segments.items():
        if isinstance(place, tuple) and segment.key is not None:
            segments[place] = replace(segment, key=replace(segment.key, index=next(free)))


def _describe(key: SegmentKey, label: str) -> str:
    names = {
        "test_set": "test set ",
        "lang_pair": "",
        "system": "system ",
        "document": "document ",
    }
    values = ((name, getattr(key, field)) for field, name in names.items())
    stated = [f"{name}{value}" for name, value in values if value is not None]
    return ", ".join([*stated, *filter(None, [label])])


def _files(path: str) -> list[str]:
    if not os.path.isdir(path):
        return [path]
    paths = sorted(entry.path for entry in os.scandir(path) if entry.is_file() and not entry.name.startswith("."))
    if not paths:
        raise InputError(f"{path} has no files; give a file, or a folder with one file per system")
    return paths


def _open(path: str) -> _TextFile:
    """Reads a file to its end. Lines that can be read only once are kept in memory; of subtitles, cues are lines.

    Raises:
        FormatError: also if it is in another format, whose markup would be read as text.
    """
    if path == "-" and (sys.stdin is None or sys.stdin.closed):
        raise FormatError(name_of(path), None, "is closed; give a text file with one segment per line")
    if (cues := detection.cues(path)) is not None:
        file = _TextFile(path, len(cues), cues, "cue")
    elif path != "-" and stat.S_ISREG(os.stat(path).st_mode):
        file = _TextFile(path, sum(1 for _ in read_lines(path)))
    else:
        lines = tuple(read_lines(path))
        file = _TextFile(path, len(lines), lines)
    if file.n_lines == 0:
        raise FormatError(name_of(path), None, "file is empty; give a text file with one segment per line")
    return file


def _not_a_text(given: object) -> str:
    """Returns the end of the sentence about a value in place of a text."""
    advice = {"Segment": "them", "Rating": "their segments"}.get(type(given).__name__)
    if advice is None:
        return f"{given!r}; give a string, which may be empty"
    return f"a {type(given).__name__}: give strings, or give {advice} to annotate_segments"


def of_texts(
    hypotheses: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]] | None = None,
    sources: Sequence[str] | None = None,
) -> list[Segment]:
    """Returns a segment for each hypothesis. Arguments and errors are those of `Annotator.annotate`."""
    for name, texts in (("hypotheses", hypotheses), ("references", references), ("sources", sources)):
        if isinstance(texts, str | Mapping) or hasattr(texts, "columns"):
            kind = type(texts).__name__
            raise TypeError(f"{name} is a {kind}: must be a sequence of strings, one for each segment")
        if texts is not None and len(texts) != len(hypotheses):
            raise UsageError(f"{len(hypotheses)} hypotheses and {len(texts)} {name}; give one for each segment")
    n = len(hypotheses)
    segments = []
    sources_or_none = [None] * n if sources is None else sources
    references_or_none = [()] * n if references is None else references
    # Iterated, because a pandas.Series is indexed by its labels.
    rows = zip(hypotheses, sources_or_none, references_or_none, strict=True)
    for number, (hypothesis, source, of_segment) in enumerate(rows):
        for name, text in (("hypothesis", hypothesis), ("source", "" if source is None else source)):
            if not isinstance(text, str):
                raise TypeError(f"{name} {number} is {_not_a_text(text)}")
        if not isinstance(of_segment, Iterable):
            raise TypeError(f"reference {number} is {of_segment!r}; give a string, or a list of strings")
        segments.append(
            Segment(hypothesis, source, (of_segment,) if isinstance(of_segment, str) else tuple(of_segment))
        )
    return segments
