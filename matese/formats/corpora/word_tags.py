"""OK/BAD tags of words, as in the WMT quality estimation tasks: a folder of parallel text files.

`ratings.mt` has a hypothesis a line, `ratings.src` its source, and `ratings.tags` a tag for each of its words, which
white space separates. A word that an error touches is BAD; consecutive BAD words are read as one error of undecided
severity. Files of the tasks up to 2021 can be read, too: they have 2 N + 1 tags, for the gaps before, between and after
the words as well, and a BAD gap is an error without a place. The path may also be that of the tags, next to files of
the same name with the suffixes `.mt` and `.src`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import groupby, zip_longest
from operator import itemgetter
from pathlib import Path

from matese.annotation import ErrorSpan, Rating, Segment, UnplacedError
from matese.errors import FormatError, InputError
from matese.files import read_lines
from matese.formats.capabilities import TABS_AND_LINES, Capabilities
from matese.formats.format import STRICT, ReadOptions, WriteOptions
from matese.formats.row_issues import located

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
OK = "OK"
BAD = "BAD"

_WORD = re.compile(r"\S+")


def adapt(rating: Rating, losses: Counter[str]) -> Rating:
    """Returns the rating with its errors extended to runs of whole words."""
    spans = rating.errors or ()
    errors = _bad_runs(rating.segment.hypothesis, _are_bad(rating))
    places = {(span.start, span.end) for span in errors}
    n_changed = sum((span.start, span.end) not in places for span in spans)
    lost = {
        "spans other than runs of whole words, or next to others": n_changed,
        "spans at one place": len(spans) - n_changed - len(errors),
    }
    losses.update({kind: count for kind, count in lost.items() if count > 0})
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
            tags.write(" ".join(BAD if is_bad else OK for is_bad in _are_bad(rating)) + "\n")


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the rating of each line."""
    tags = Path(path)
    if tags.is_dir():
        tag_files = sorted(tags.glob("*.tags"))
        if len(tag_files) != 1:
            raise FormatError(str(path), None, f"{len(tag_files)} files of tags: must be one NAME.tags")
        tags = tag_files[0]
    source = tags.with_suffix(".src")
    files = [tags, tags.with_suffix(".mt"), *([source] if source.is_file() else [])]
    for number, lines in enumerate(zip_longest(*map(read_lines, files)), start=1):
        with located(tags, number):
            if None in lines:
                raise InputError("not as many lines as its .mt or .src: line i must be one segment")
            yield _rating(*lines)


def _rating(line: str, text: str, source: str | None = None) -> Rating:
    tags = line.split()
    n_words = len(text.split())
    if wrong := [tag for tag in tags if tag not in (OK, BAD)]:
        raise InputError(f"tag {wrong[0]!r}: must be {OK} or {BAD}")
    if len(tags) not in (n_words, 2 * n_words + 1):
        allowed = f"must be {n_words}, one for each word, or {2 * n_words + 1} with gaps"
        raise InputError(f"{len(tags)} tags: {allowed}")
    gaps, of_words = ([], tags) if len(tags) == n_words else (tags[::2], tags[1::2])
    errors = _bad_runs(text, [tag == BAD for tag in of_words])
    return Rating(Segment(text, source), None, errors, unplaced=(UnplacedError(None),) * gaps.count(BAD))


def _are_bad(rating: Rating) -> list[bool]:
    """Returns for each word whether an error touches it."""
    words = [match.span() for match in _WORD.finditer(rating.segment.hypothesis)]
    return [any(error.start < end and start < error.end for error in rating.errors or ()) for start, end in words]


def _bad_runs(text: str, are_bad: Iterable[bool]) -> tuple[ErrorSpan, ...]:
    """Returns an error for each run of words that are bad."""
    words = [match.span() for match in _WORD.finditer(text)]
    runs = groupby(zip(are_bad, words, strict=True), key=itemgetter(0))
    places = [[word for _, word in run] for is_bad, run in runs if is_bad]
    return tuple(ErrorSpan(run[0][0], run[-1][1], None) for run in places)
