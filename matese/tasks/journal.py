"""Ratings that are kept beside an output while it is made, so that the command that made them can be resumed.

A journal is a file of lines: what its ratings depend on, then a line for each rating, in the order of the segments.
Every line is on its way to the disk before the next one is made, so that a process may be killed at any moment.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import msgspec

from matese.annotation import Rating, Segment, TokenScores
from matese.errors import FormatError
from matese.files import cut_incomplete_line, naming, read_lines
from matese.formats.row_issues import located
from matese.formats.tables import jsonl
from matese.validation import plain_values

_START = b'{"texts": '
AnnotatedSegments = Iterator[tuple[Rating, TokenScores | None]]
"""Ratings in the order of their segments, with token scores if they are wanted."""


def digest(value: object) -> str:
    """Returns a short text that differs where the values differ; of an iterable, its items are read."""
    hashed = hashlib.sha256()
    for item in value if isinstance(value, Iterator) else (value,):
        hashed.update(f"{item!r}\n".encode("utf-8", "surrogatepass"))
    return hashed.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Origin:
    """What the ratings of a journal depend on.

    Attributes:
        texts: digest of the segments, in their order.
        options: digest of the options that can change a rating.
        signature: of the model or the checks.
    """

    texts: str
    options: str
    signature: str


class _Record(msgspec.Struct, forbid_unknown_fields=True):
    """A line of a journal.

    Attributes:
        rating: a line of our JSONL, without other columns.
        counts: what the annotator has counted up to here.
    """

    rating: msgspec.Raw
    counts: dict[str, Any]


class Journal:
    """A journal that may hold the ratings of an interrupted run. As a context, it is removed unless the body fails.

    Attributes:
        path: of the file, which appears with the first rating.
        n_earlier: number of ratings that an earlier run left.
        n_kept: number of ratings in the file.
    """

    def __init__(self, path: Path, origin: Origin) -> None:
        """Looks at what an earlier run left.

        Raises:
            FormatError: if the file is not a journal, or its ratings depend on something else.
            OSError: if it cannot be read.
        """
        self.path = path
        self.n_earlier = 0
        self._origin = origin
        self._n_bytes = 0
        self._stream: BinaryIO | None = None
        self._earlier: Iterator[_Record] = iter(())
        if path.exists():
            self._check_is_journal()
            cut_incomplete_line(path)
            self._n_bytes = path.stat().st_size
        if self._n_bytes > 0:
            self._check_origin()
            self.n_earlier = sum(1 for _ in read_lines(path)) - 1
            self._earlier = self._records(self.n_earlier)
        self.n_kept = self.n_earlier

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None:
            with contextlib.suppress(OSError):  # every line has been flushed, or has failed already
                self._stream.close()
        if kind is None:
            self.path.unlink(missing_ok=True)

    def annotate(
        self,
        segments: Iterable[Segment],
        how: Callable[[Iterator[Segment]], AnnotatedSegments],
        *,
        counted: Callable[[], Mapping[str, Any]] = dict,
        count_on: Callable[[Mapping[str, Any]], None] = lambda counts: None,
    ) -> AnnotatedSegments:
        """Yields the rating of each segment: those of the earlier run, then others, which are kept.

        It may be called several times, for segments that follow one another.

        Args:
            segments: in the order of the earlier run. An earlier rating of any other segment is skipped.
            how: annotates segments, lazily and in order.
            counted: returns what the annotator has counted so far.
            count_on: gives the annotator the counts of the earlier run.

        Raises:
            FormatError: if a line of the file is damaged, or another command writes to it.
            OSError: if the file cannot be written.
        """
        rest = iter(segments)
        new: list[Segment] = []
        for segment in rest:
            earlier = self._take(segment)
            if earlier is None:
                new.append(segment)
                break
            rating, record = earlier
            count_on(record.counts)
            yield rating, jsonl.token_scores(bytes(record.rating).decode())
        for rating, tokens in how(chain(new, rest)):
            self._keep(rating, tokens, counted())
            yield rating, tokens

    def _take(self, segment: Segment) -> tuple[Rating, _Record] | None:
        """Returns the earlier rating of a segment, with what only the segment has; None if there is none."""
        for record in self._earlier:
            rating = jsonl.loads(bytes(record.rating).decode())
            known = rating.segment
            if known in (segment, segment.without_blanks()):
                complete = replace(segment, source=known.source, references=known.references)
                return replace(rating, segment=complete), record
        return None

    def _keep(self, rating: Rating, tokens: TokenScores | None, counts: Mapping[str, Any]) -> None:
        is_bare = rating.segment.extra is None
        bare = rating if is_bare else replace(rating, segment=replace(rating.segment, extra=None))
        line = f'{{"rating": {jsonl.dumps(bare, tokens=tokens)}, "counts": {json.dumps(counts)}}}\n'
        with naming(str(self.path)):
            if self._stream is None:
                self._stream = open(self.path, "ab")  # noqa: SIM115  (closed by `__exit__`)
            if self._n_bytes == 0:
                line = json.dumps(asdict(self._origin)) + f"\n{line}"
            if os.fstat(self._stream.fileno()).st_size != self._n_bytes:
                allowed = "run this one again if that does not complete it"
                raise FormatError(str(self.path), None, f"another command writes to it; {allowed}")
            self._n_bytes += self._stream.write(line.encode())
            self._stream.flush()
        self.n_kept += 1

    def _check_is_journal(self) -> None:
        with open(self.path, "rb") as stream:
            if not _START.startswith(start := stream.read(len(_START))):
                what = f"is not what an interrupted run leaves (it begins with {start!r})"
                raise FormatError(str(self.path), None, f"{what}: move it, or choose another output")

    def _check_origin(self) -> None:
        first = next(read_lines(self.path))
        with located(self.path, 1):
            origin = plain_values.from_json(first, Origin)
        named = {"texts": "other texts", "options": "other options", "signature": "another model"}
        others = [
            named[field.name]
            for field in fields(Origin)
            if getattr(origin, field.name) != getattr(self._origin, field.name)
        ]
        if others:
            what = f"is of an interrupted run with {' and '.join(others)}"
            raise FormatError(
                str(self.path), 1, f"{what}: repeat that command to resume it, or remove the file to start again"
            )

    def _records(self, count: int) -> Iterator[_Record]:
        """Yields the lines that the earlier run left; others are added below them in the meantime."""
        lines = read_lines(self.path)
        next(lines)
        for number, line in enumerate(lines, start=2):
            with located(self.path, number):
                yield plain_values.from_json(line, _Record)
            if number > count:
                return
