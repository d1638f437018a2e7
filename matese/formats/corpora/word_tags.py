"""OK/BAD tags of words, as in the WMT quality estimation tasks: a folder of parallel text files.

`ratings.mt` has a hypothesis a line, `ratings.src` its source, and `ratings.tags` a tag for each of its words, which
white space separates. A word that an error touches is BAD; consecutive BAD words are read as one error of undecided
severity. Files of the tasks up to 2021 can be read, too: they have 2 N + 1 tags, for the gaps before, between and after
the words as well, and a BAD gap is an error without a place. The path may also be that of the tags, next to files of
the same name with the suffixes `.mt` and `.src`.

Not held: everything except hypothesis, source and which words have errors.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import groupby, zip_longest
from pathlib import Path

from matese.annotation import ErrorSpan, Rating, Segment, UnplacedError
from matese.errors import FormatError
from matese.files import read_lines
from matese.formats.capabilities import TABS_AND_LINES, Capabilities
from matese.formats.format import STRICT, FileHead, ReadOptions, WriteOptions

CAPABILITIES = Capabilities(
    lacks=("rater", "no_spans", "category", "confidence", "source_errors", "omissions", "unplaced"),
    key=(),
    references=0,
    severities=(),
    scales=(),
    needs=("source",),
    replaced=(*TABS_AND_LINES, ("\r", " "), ("\ufeff", " ")),
)
STEM = "ratings"
OK, BAD = "OK", "BAD"

_WORD = re.compile(r"\S+")


def matches(head: FileHead) -> bool:
    """Whether a folder has such files, or a file such tags."""
    if head.files:
        return any(name.endswith(".tags") for name in head.files)
    return head.name.endswith(".tags")


def adapt(rating: Rating, losses: Counter[str]) -> Rating:
    """Returns the rating with its errors extended to runs of whole words."""
    errors = tuple(
        ErrorSpan(words[0][0], words[-1][1], None)
        for is_bad, words in _runs(rating.segment.hypothesis, _tags(rating))
        if is_bad
    )
    places = {(span.start, span.end) for span in errors}
    n_changed = sum((span.start, span.end) not in places for span in rating.errors or ())
    n_joined = len(rating.errors or ()) - n_changed - len(errors)
    if n_changed:
        losses["spans other than runs of whole words, or next to others"] += n_changed
    if n_joined > 0:
        losses["spans at one place"] += n_joined
    return replace(rating, errors=errors)


def save(ratings: Iterable[Rating], path: Path, options: WriteOptions) -> None:
    """Writes the folder."""
    path.mkdir()
    with ExitStack() as stack:
        hypotheses, sources, tags = (
            stack.enter_context(open(path / f"{STEM}.{suffix}", "w", encoding="utf-8", newline="\n"))
            for suffix in ("mt", "src", "tags")
        )
        for rating in ratings:
            hypotheses.write(f"{rating.segment.hypothesis}\n")
            sources.write(f"{rating.segment.source or ''}\n")
            tags.write(" ".join(BAD if is_bad else OK for is_bad in _tags(rating)) + "\n")


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the rating of each line."""
    tags = Path(path)
    if tags.is_dir():
        found = sorted(tags.glob("*.tags"))
        if len(found) != 1:
            raise FormatError(str(path), None, f"{len(found)} files of tags: must be one NAME.tags")
        tags = found[0]
    source = tags.with_suffix(".src")
    files = [read_lines(tags), read_lines(tags.with_suffix(".mt"))]
    files += [read_lines(source)] if source.is_file() else []
    for number, lines in enumerate(zip_longest(*files), start=1):
        line, text, *rest = lines
        if line is None or text is None or None in rest:
            raise FormatError(str(tags), number, "not as many lines as its .mt or .src: line i must be one segment")
        yield _rating(line.split(), text, rest[0] if rest else None, tags, number)


def _rating(tags: list[str], text: str, source: str | None, path: Path, number: int) -> Rating:
    n_words = len(_WORD.findall(text))
    wrong = next((tag for tag in tags if tag not in (OK, BAD)), None)
    if wrong is not None:
        raise FormatError(str(path), number, f"tag {wrong!r}: must be {OK} or {BAD}")
    if len(tags) not in (n_words, 2 * n_words + 1):
        allowed = f"must be {n_words}, one for each word, or {2 * n_words + 1} with gaps"
        raise FormatError(str(path), number, f"{len(tags)} tags: {allowed}")
    gaps = tags[::2] if len(tags) != n_words else []
    own = tags[1::2] if len(tags) != n_words else tags
    runs = _runs(text, [tag == BAD for tag in own])
    errors = tuple(ErrorSpan(words[0][0], words[-1][1], None) for is_bad, words in runs if is_bad)
    return Rating(Segment(text, source), None, errors, unplaced=(UnplacedError(None),) * gaps.count(BAD))


def _tags(rating: Rating) -> list[bool]:
    """Returns for each word whether an error touches it."""
    words = [match.span() for match in _WORD.finditer(rating.segment.hypothesis)]
    errors = rating.errors or ()
    return [any(error.start < end and start < error.end for error in errors) for start, end in words]


def _runs(text: str, tags: Iterable[bool]) -> Iterator[tuple[bool, list[tuple[int, int]]]]:
    """Yields runs of words with one tag: whether it is BAD, and the places of the words."""
    words = [match.span() for match in _WORD.finditer(text)]
    for is_bad, own in groupby(zip(tags, words, strict=True), key=lambda pair: pair[0]):
        yield is_bad, [word for _, word in own]
