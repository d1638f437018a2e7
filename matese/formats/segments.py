"""Segments to annotate: the lines of parallel text files, or the segments of a file in any format."""

from __future__ import annotations

import os
import stat
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set, Sized
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count, islice

from matese.annotation import Segment, SegmentKey
from matese.errors import FormatError, InputError, UsageError, counted, shortened
from matese.files import name_of, read_lines, short_names
from matese.formats import detection
from matese.formats.format import STRICT, ReadOptions
from matese.formats.registry import BY_NAME
from matese.text import languages
from matese.text.ranges import Range


@dataclass(frozen=True, slots=True)
class GivenSegments:
    """Segments of one or several systems in the order of their files, which can be read again.

    Those of tables are in memory. Text files are read again each time, so that memory does not grow with them.

    Attributes:
        counts: number of segments of each system, by its name (`system_of`).
        read: returns the segments.
        forms: the format of each file that is not lines of text.
        is_table: whether the segments are of files that hold all their texts, and not of parallel text files.
        alignment: a TSV of the lines that were joined; "" if none were.
    """

    counts: Mapping[str, int]
    read: Callable[[], Iterable[Segment]]
    forms: Mapping[str, str] = field(default_factory=dict)
    is_table: bool = False
    alignment: str = ""

    @classmethod
    def of(cls, segments: Sequence[Segment], forms: Mapping[str, str]) -> GivenSegments:
        """Returns the segments of tables."""
        return cls(Counter(map(system_of, segments)), lambda: segments, forms, is_table=True)

    def __iter__(self) -> Iterator[Segment]:
        return iter(self.read())

    def __len__(self) -> int:
        return sum(self.counts.values())

    @property
    def form(self) -> str | None:
        """The format of the files, if it is the same of all."""
        return next(iter(self.forms.values())) if len(set(self.forms.values())) == 1 else None

    def where(self, is_kept: Callable[[Segment], bool]) -> GivenSegments:
        """Returns the segments that meet a condition; a system may have none."""
        kept = replace(self, read=lambda: filter(is_kept, self.read()))
        return replace(kept, counts={**dict.fromkeys(self.counts, 0), **Counter(map(system_of, kept))})

    def part(self, number: int, n_parts: int) -> GivenSegments:
        """Returns one of several parts, from 1, which together hold every segment once and in order."""
        start = len(self) * (number - 1) // n_parts
        stop = len(self) * number // n_parts
        part = replace(self, read=lambda: islice(self.read(), start, stop))
        return replace(part, counts=Counter(map(system_of, part)))

    def first(self, limit: int | None) -> GivenSegments:
        """Returns the first segments of each system; all without a limit."""
        if limit is None:
            return self

        def read() -> Iterator[Segment]:
            n_left = dict.fromkeys(self.counts, limit)
            for segment in self.read():
                if n_left[system := system_of(segment)]:
                    n_left[system] -= 1
                    yield segment

        return replace(self, counts={name: min(n, limit) for name, n in self.counts.items()}, read=read)

    def by_system(self) -> Iterable[Segment]:
        """Returns the segments with systems that follow one another, as those of text files do."""
        if not self.is_table or len(self.counts) < 2:
            return self
        place = {name: number for number, name in enumerate(self.counts)}
        return sorted(self, key=lambda segment: place[system_of(segment)])

    def without_references(self) -> GivenSegments:
        """Returns the segments without their references."""
        return replace(self, read=lambda: (replace(segment, references=()) for segment in self.read()))


def system_of(segment: Segment) -> str:
    """Returns the name of the system that translated a segment; without a name, it is named after its file."""
    if segment.key is not None and segment.key.system is not None:
        return segment.key.system
    return "" if segment.file is None else _short_name(segment.file)


@lru_cache(maxsize=1 << 10)
def _short_name(path: str) -> str:
    return short_names([path])[0]


@dataclass(frozen=True, slots=True)
class _TextFile:
    """A text file that was read once without an error.

    Attributes:
        path: of the file.
        n_lines: its lines, or the cues of subtitles.
        lines: they; None if the file can be read again.
        form: the format of subtitles; None for lines of text.
        times: when each cue of subtitles begins and ends, in seconds.
    """

    path: str
    n_lines: int
    lines: Sequence[str] | None = None
    form: str | None = None
    times: Sequence[tuple[float, float]] = ()

    @property
    def unit(self) -> str:
        """What a line of it is called."""
        return "line" if self.form is None else "cue"

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
    report: Callable[[str], None] | None = None,
) -> GivenSegments:
    """Returns the segments of systems; all files are read to their end first, and again when segments are read.

    Args:
        hypotheses: one text file per system, one segment per line; "-" is standard input, here and below. A folder
            stands for its files, without those whose names begin with a dot.
        references: text files.
        source: a text file; None if there is none.
        lang_pair: in any form that `languages.parse` reads; stored in the keys of the segments, as is the test set.
        test_set: its name.
        system: name of the only system; None for that of its file.
        report: called with a sentence about lines that were joined, see `line_alignment`; None: all files must have
            equally many lines.

    Raises:
        FormatError: if a file is empty or not UTF-8.
        InputError: if the files differ in length, a system is given twice, or a folder has no files.
    """
    hypotheses = [file for path in hypotheses for file in _files(path)]
    _check_distinct(hypotheses)
    systems = [_open(path) for path in hypotheses]
    context = [_open(path) for path in (*references, *([] if source is None else [source]))]
    first = systems[0]
    alignment = ""
    if report is not None and context and any(file.n_lines != first.n_lines for file in (*systems, *context)):
        systems, context, alignment = _aligned(systems, context, report)
        first = systems[0]
    for file in (*systems, *context):
        if file.n_lines != first.n_lines:
            has = f"{name_of(first.path)} has {counted(first.n_lines, first.unit)}"
            lines = counted(file.n_lines, file.unit) if file.unit != first.unit else f"{file.n_lines:,}"
            allowed = f"{first.unit} i of each must be one segment, or be aligned (--align)"
            raise InputError(f"{has} and {name_of(file.path)} {lines}: {allowed}")
    if system is not None and len(systems) > 1:
        raise InputError(f"{counted(len(systems), 'system')}: {system} can name only one")
    names = short_names(hypotheses) if system is None else [system]
    key = SegmentKey(test_set, lang_pair and languages.parse(lang_pair))
    segments = _parallel(
        dict(zip(names, systems, strict=True)), context[: len(references)], context[len(references) :], key
    )
    return replace(segments, alignment=alignment)


def _aligned(
    systems: Sequence[_TextFile], context: Sequence[_TextFile], report: Callable[[str], None]
) -> tuple[list[_TextFile], list[_TextFile], str]:
    """Returns files whose lines are joined so that they have equally many, and the alignment.

    Source and references belong together line by line. Lines of several systems are joined until all are cut alike.
    """
    from matese.formats import line_alignment

    anchor = next(file for file in context if any(file.n_lines != system.n_lines for system in systems))
    if any(file.n_lines != anchor.n_lines for file in context):
        counts = ", ".join(f"{name_of(file.path)} {file.n_lines:,}" for file in (*systems, *context))
        raise InputError(f"lines cannot be aligned ({counts}): source and references must have equally many")
    lines = list(anchor.read())
    alignments = [line_alignment.align(list(system.read()), lines) for system in systems]
    for system, alignment in zip(systems, alignments, strict=True):
        for n, file, kind in ((alignment.n_added, system, "additions"), (alignment.n_omitted, anchor, "omissions")):
            if n:
                name = f"{name_of(system.path)}, {name_of(anchor.path)}" if len(systems) > 1 else name_of(file.path)
                report(f"{name}: {counted(n, 'line')} without a counterpart ({kind}), read with a neighbour")
    beads = line_alignment.shared([alignment.beads for alignment in alignments])

    def rejoined(file: _TextFile, ranges: Iterable[Range]) -> _TextFile:
        lines = list(file.read())
        texts = [" ".join(filter(str.strip, lines[slice(*of_text)])) for of_text in ranges]
        return _TextFile(file.path, len(texts), texts, file.form)

    names = short_names([file.path for file in systems])
    return (
        [
            rejoined(system, (bead.first for bead in beads_of_system))
            for system, beads_of_system in zip(systems, beads, strict=True)
        ],
        [rejoined(file, (bead.other for bead in beads[0])) for file in context],
        line_alignment.table(dict(zip(names, beads, strict=True))),
    )


def _parallel(
    systems: Mapping[str, _TextFile], references: Sequence[_TextFile], sources: Sequence[_TextFile], key: SegmentKey
) -> GivenSegments:
    """Returns the segments of text files of the same length, with at most one source; the key has test set and pair."""
    for file in systems.values():
        for context in (*references, *sources):
            _check_times(file, context)

    def read() -> Iterator[Segment]:
        for name, file in systems.items():
            of_segment = replace(key, system=name)
            lines = zip(*(text_file.read() for text_file in (file, *references, *sources)), strict=True)
            for index, (hypothesis, *texts) in enumerate(lines):
                yield Segment(
                    hypothesis,
                    texts.pop() if sources else None,
                    tuple(texts),
                    replace(of_segment, index=index),
                    line=index + 1,
                    file=file.path,
                    name=f"{file.unit} {index + 1}",
                )

    forms = {file.path: file.form for file in systems.values() if file.form is not None}
    return GivenSegments({name: file.n_lines for name, file in systems.items()}, read, forms)


def _check_times(file: _TextFile, context: _TextFile) -> None:
    """Raises an InputError if cues of two files are not shown at the same time, but for a shift of all of them."""
    if not len(file.times) == len(context.times) == file.n_lines:
        return
    shift = statistics.median(
        start - context_start for (start, _), (context_start, _) in zip(file.times, context.times, strict=True)
    )
    for number, (cue, context_cue) in enumerate(zip(file.times, context.times, strict=True), start=1):
        if cue[0] - shift > context_cue[1] or cue[1] - shift < context_cue[0]:
            where = f"cue {number} of {name_of(file.path)} and of {name_of(context.path)}"
            raise InputError(f"{where} are not shown at the same time: cue i of each must be one segment")


def from_file(path: str, options: ReadOptions | None = None, *, name: str | None = None) -> GivenSegments:
    """Returns the segments of a file of ratings or translations, each once however many raters it has.

    Args:
        path: a file in any format that can be read. Translations without an index get the numbers, from 0, that no
            other one of the system has.
        options: how it is read; None to stop at the first faulty row.
        name: of the format; None to detect it.

    Raises:
        FormatError: if the file cannot be read, or two translations have the same place.
    """
    name = name or detection.detect(path)
    segments: dict[tuple[str, object], Segment] = {}
    n_of_system = Counter[str]()
    columns: dict[str, None] = {}
    read_options = replace(options or STRICT, only_texts=True)
    for rating in detection.read(path, read_options, name=name):
        segment = replace(rating.segment, file=path)
        key = segment.key or SegmentKey()
        system = system_of(segment)
        place: object = segment
        if rating.errors is None and rating.rater is None:
            place = key if key.index is not None else (key, n_of_system[system])
            segment = replace(segment, key=key)
            if (system, place) in segments:
                allowed = "must differ in system, document, language pair or index"
                way = "of a table, name the column that does, as in --columns document=file"
                problem = f"two translations of {_describe(key, segment.label)}: {allowed}; {way}"
                raise FormatError(name_of(path), None, problem)
        n_of_system[system] += (system, place) not in segments  # else another rater's
        segments[system, place] = segment
        columns |= dict.fromkeys(segment.extra or ())
    _number(segments)
    if columns:  # a row of JSON may lack some
        for where, segment in segments.items():
            segments[where] = replace(segment, extra={**columns, **(segment.extra or {})})
    return GivenSegments.of(list(segments.values()), {path: name})


def from_files(
    paths: Sequence[str],
    options: ReadOptions | None = None,
    *,
    sources: Sequence[str] = (),
    references: Sequence[str] = (),
    needs_context: bool = True,
) -> GivenSegments:
    """Returns the segments of several files, one after the other.

    If a system is in several files, each file is a document of its own unless it names its documents. See `from_file`.

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
    _check_distinct(paths)
    forms = {path: _form_of(path) for path in paths}
    cues = [path for path, form in forms.items() if form is not None and BY_NAME[form].stands_for_lines]
    is_in_pairs = bool(sources or references)
    if needs_context and not is_in_pairs and cues:
        raise InputError(_needs_context(cues[0], "cues"))
    texts = [path for path, form in forms.items() if form is None or (is_in_pairs and path in cues)]
    if not texts and is_in_pairs:
        option = "--src" if sources else "--ref"
        raise InputError(f"{option} is for text files; of --input, each file holds all of its texts itself")
    files = {path: _open(path) for path in (*texts, *sources, *references)}
    _check_context(files, texts, (*sources, *references))
    stated = options or STRICT
    parts: dict[str, GivenSegments] = {}
    for path, form in forms.items():
        if path not in texts:
            try:
                parts[path] = from_file(path, options, name=form)
            except detection.SkippedError:  # of a file that is not translated yet, nothing is left
                if path == paths[-1] and not parts:
                    raise
            continue
        own_sources, own_references = (
            [files[context] for context in paths_of_context if files[context].n_lines == files[path].n_lines]
            for paths_of_context in (sources, references)
        )
        if len(own_sources) > 1:
            twice = " and ".join(source.path for source in own_sources)
            raise InputError(f"{twice} have as many lines as {path}: must be one source")
        if needs_context and not own_sources and not own_references:
            raise InputError(_needs_context(path, "lines"))
        key = SegmentKey(stated.test_set, stated.lang_pair and languages.parse(stated.lang_pair))
        parts[path] = _parallel({stated.system or _short_name(path): files[path]}, own_references, own_sources, key)
    return next(iter(parts.values())) if len(parts) == 1 else _joined([*parts.values()], short_names([*parts]))


def _check_distinct(paths: Sequence[str]) -> None:
    for path, times in Counter(paths).items():
        if times > 1:
            raise InputError(f"{path} is given {times} times: must be given once")


def _form_of(path: str) -> str | None:
    """Returns the format of a file; None if it has one translation per line: it is called so and in no other format."""
    is_called_text = path.removesuffix(".gz").lower().endswith(".txt") and os.path.isfile(path)
    try:
        return detection.detect(path)
    except FormatError:
        if is_called_text:
            return None
        raise


def _needs_context(path: str, units: str) -> str:
    """Returns what is wrong with a file of translations alone, and what helps."""
    kind = "a text file" if units == "lines" else "a file"
    return (
        f"{path} holds translations alone: give its source or reference, {kind} of as many {units}, with --src or --ref"
    )


def _check_context(files: Mapping[str, _TextFile], texts: Sequence[str], context: Sequence[str]) -> None:
    """Raises an InputError if a source or a reference has as many lines as no text file."""
    for path in context:
        if files[path].n_lines not in [files[text].n_lines for text in texts]:
            counts = ", ".join(f"{text} {files[text].n_lines:,}" for text in texts)
            has = f"{path} has {counted(files[path].n_lines, 'line')} and {counts}"
            raise InputError(f"{has}: line i of a source or reference must belong to line i of a text file")


def _joined(parts: Sequence[GivenSegments], documents: Sequence[str]) -> GivenSegments:
    """Returns the segments of several files; `documents` are names for those of systems that are in several."""
    n_files = Counter(system for part in parts for system in part.counts)

    def read() -> Iterator[Segment]:
        for part, document in zip(parts, documents, strict=True):
            for segment in part:
                key = segment.key or SegmentKey()
                is_named = n_files[system_of(segment)] == 1 or key.document is not None
                yield segment if is_named else replace(segment, key=replace(key, document=document))

    counts = sum((Counter(part.counts) for part in parts), Counter[str]())
    forms = {path: form for part in parts for path, form in part.forms.items()}
    return GivenSegments(counts, read, forms, is_table=True)


def _number(segments: dict[tuple[str, object], Segment]) -> None:
    """Gives numbers to the translations that have none: those that no other one of the system has."""
    used: dict[str, set[object]] = {}
    for (system, _), segment in segments.items():
        used.setdefault(system, set()).add(segment.key and segment.key.index)
    free = {system: (number for number in count() if number not in used[system]) for system in used}
    for (system, place), segment in segments.items():
        if isinstance(place, tuple) and segment.key is not None:
            segments[system, place] = replace(segment, key=replace(segment.key, index=next(free[system])))


def _describe(key: SegmentKey, label: str) -> str:
    names = {"test set": key.test_set, "": key.lang_pair, "system": key.system, "document": key.document}
    stated = [f"{name} {value}".strip() for name, value in names.items() if value is not None]
    return ", ".join(filter(None, [*stated, label]))


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
    form = detection.form_of_cues(path)
    if form is not None:
        from matese.formats.localisation import subtitles  # which most texts do not need

        read_options = ReadOptions(untranslated=True, only_texts=True)
        cues = [rating.segment.hypothesis for rating in detection.read(path, read_options, name=form)]
        file = _TextFile(path, len(cues), cues, form, subtitles.times(read_lines(path)))
    elif path != "-" and stat.S_ISREG(os.stat(path).st_mode):
        file = _TextFile(path, sum(1 for _ in read_lines(path)))
    else:
        lines = tuple(read_lines(path))
        file = _TextFile(path, len(lines), lines)
    if file.n_lines == 0:
        raise FormatError(name_of(path), None, "file is empty; give a text file with one segment per line")
    return file


def _not_a_text(value: object) -> str:
    """Returns the end of the sentence about a value in place of a text."""
    advice = {"Segment": "them", "Rating": "their segments"}.get(type(value).__name__)
    if advice is None:
        return f"{shortened(value)}; give a string, which may be empty"
    return f"a {type(value).__name__}: give strings, or give {advice} to annotate_segments"


def of_texts(
    hypotheses: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]] | None = None,
    sources: Sequence[str | None] | None = None,
    lang_pair: str | None = None,
) -> list[Segment]:
    """Returns a segment for each hypothesis. Arguments and errors are those of `Annotator.annotate`."""
    key = None if lang_pair is None else SegmentKey(lang_pair=languages.parse(lang_pair))
    for name, texts in (("hypotheses", hypotheses), ("references", references), ("sources", sources)):
        if isinstance(texts, str | Mapping | Set) or not isinstance(texts, Sized | None) or hasattr(texts, "columns"):
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
            raise TypeError(f"reference {number} is {shortened(of_segment)}; give a string, a list of strings, or []")
        segments.append(
            Segment(hypothesis, source, (of_segment,) if isinstance(of_segment, str) else tuple(of_segment), key)
        )
    return segments
