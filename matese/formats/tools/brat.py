"""brat standoff: a folder with a document for each rating, its hypothesis as `.txt` and its errors as `.ann`.

`annotation.conf` defines the severities as types of text-bound annotations (`T1<tab>Major 4 8<tab>Haus`). A category is
the annotator's note on its error (`#1<tab>AnnotatorNotes T1<tab>Fluency/Grammar`). Offsets are half-open and in code
points. `segments.jsonl`, which brat ignores, has the other properties of the segments, as our JSONL without errors. A
folder without it can be read, too: each `.txt` with an `.ann` is a document of that name. A discontinuous annotation is
read from its first to its last character, and counted; a type other than a severity is the category of an error of
undecided severity.

Not held: confidences, errors in the source or without a place, omissions, and whether spans were asked for. A space
replaces line feeds in texts, since brat requires a span to be within one line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey
from matese.errors import FormatError
from matese.files import read_lines
from matese.formats import severities, whole_numbers
from matese.formats.capabilities import Capabilities
from matese.formats.format import STRICT, FileHead, ReadOptions, WriteOptions
from matese.formats.issues import IssueHandler, located
from matese.formats.tables import jsonl

CAPABILITIES = Capabilities(
    lacks=("no_spans", "confidence", "source_errors", "omissions", "unplaced"), replaced=(("[\n\r]", " "),)
)
SEGMENTS, CONFIG = "segments.jsonl", "annotation.conf"

_TYPES = {name.capitalize(): severity for name, severity in severities.LABELS.items()}


def matches(head: FileHead) -> bool:
    """Whether a folder has annotated documents."""
    return any(name.endswith(".ann") for name in head.files) or {SEGMENTS, CONFIG} <= set(head.files)


def save(ratings: Iterable[Rating], path: Path, options: WriteOptions) -> None:
    """Writes the folder."""
    path.mkdir()
    lists = "\n".join(("[entities]", *_TYPES, "", "[relations]", "", "[events]", "", "[attributes]", ""))
    (path / CONFIG).write_text(lists, encoding="utf-8")
    with open(path / SEGMENTS, "w", encoding="utf-8", newline="\n") as segments:
        for number, rating in enumerate(ratings):
            segments.write(jsonl.dumps(replace(rating, errors=None)) + "\n")
            text = rating.segment.hypothesis
            _write(path / f"{_stem(number)}.txt", text)
            _write(path / f"{_stem(number)}.ann", "".join(_lines(rating.errors or (), text)))


def _stem(number: int) -> str:
    return f"{number:08d}"


def _write(path: Path, text: str) -> None:
    with open(path, "w", encoding="utf-8", newline="") as stream:
        stream.write(text)


def _lines(errors: Iterable[ErrorSpan], text: str) -> Iterator[str]:
    for number, error in enumerate(errors, start=1):
        marked = text[error.start : error.end]
        yield f"T{number}\t{severities.label(error.severity).capitalize()} {error.start} {error.end}\t{marked}\n"
        if error.category is not None:
            yield f"#{number}\tAnnotatorNotes T{number}\t{error.category}\n"


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the rating of each document."""
    folder = Path(path)
    if (folder / SEGMENTS).is_file():
        for number, rating in enumerate(jsonl.read(folder / SEGMENTS)):
            text = _text(folder / f"{_stem(number)}.txt")
            if text != rating.segment.hypothesis:
                problem = f"differs from the hypothesis in line {number + 1} of {SEGMENTS}: must be unchanged"
                raise FormatError(str(folder / f"{_stem(number)}.txt"), None, problem)
            yield replace(rating, errors=_errors(folder / f"{_stem(number)}.ann", text, options))
        return
    for file in sorted(folder.glob("*.ann")):
        text = _text(file.with_suffix(".txt"))
        key = SegmentKey(document=file.stem)
        yield Rating(Segment(text, key=key), None, _errors(file, text, options))


def _text(path: Path) -> str:
    try:
        with open(path, encoding="utf-8", newline="") as stream:
            return stream.read()
    except UnicodeDecodeError:
        raise FormatError(str(path), None, "is not UTF-8: must be UTF-8 text") from None


def _errors(path: Path, text: str, options: ReadOptions) -> tuple[ErrorSpan, ...]:
    found: dict[str, ErrorSpan] = {}
    notes: dict[str, str] = {}
    issues = IssueHandler(str(path), options.report)
    for number, line in enumerate(read_lines(path), start=1):
        name, _, rest = line.partition("\t")
        if name.startswith("T"):
            place, tab, marked = rest.partition("\t")
            error = _error(place, issues, number)
            if not tab or error.end > len(text):
                problem = f"{place!r}: must be TYPE START END, a tab and the text, within {len(text)} characters"
                raise FormatError(str(path), number, problem)
            if ";" not in place and text[error.start : error.end] != marked:
                allowed = f"{marked!r} must be {text[error.start : error.end]!r}"
                issues.repair(number, "text of an annotation differs from the text at its offsets", allowed)
            found[name] = error
        elif name.startswith("#") and rest.startswith("AnnotatorNotes "):
            target, _, note = rest.removeprefix("AnnotatorNotes ").partition("\t")
            notes[target] = note
    return tuple(replace(error, category=notes[name]) if name in notes else error for name, error in found.items())


def _error(place: str, issues: IssueHandler, line: int) -> ErrorSpan:
    kind, _, offsets = place.partition(" ")
    numbers = [whole_numbers.parse(number) for number in offsets.replace(";", " ").split(" ")]
    start, end = numbers[0], numbers[-1]
    if len(numbers) < 2 or None in numbers or start is None or end is None:
        raise FormatError(issues.path, line, f"{place!r}: must be TYPE START END")
    if ";" in offsets:
        issues.repair(line, "discontinuous annotation read as one span", "must be one span")
    with located(issues.path, line):
        span = ErrorSpan(start, end, None)
    if kind in _TYPES:
        return replace(span, severity=_TYPES[kind])
    return replace(span, category=kind)
