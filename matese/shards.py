"""One part of the segments, annotated into a file that a killed run can resume.

The output is the state of the run: lines in FILE.part, which is renamed to FILE when it is complete. A later run
compares each line with the segment it would annotate and the signature it would give, and continues after the last one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from matese.annotation import Rating, Segment, TokenScores
from matese.errors import FormatError
from matese.files import cut_incomplete_line, naming, read_lines
from matese.formats.row_issues import located
from matese.formats.tables import jsonl

if TYPE_CHECKING:
    from matese.annotator import Annotator

_OTHER = "has other texts, or another model or options; resume with the same ones, or remove the file"


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several parts, which together hold every segment once and in order.

    Attributes:
        number: of the part, from 1.
        count: number of parts.
    """

    number: int
    count: int

    def indices(self, n_segments: int) -> range:
        """Returns which of all segments the part has.

        >>> [list(Shard(number, 3).indices(7)) for number in (1, 2, 3)]
        [[0, 1], [2, 3], [4, 5, 6]]
        """
        return range(n_segments * (self.number - 1) // self.count, n_segments * self.number // self.count)


def part_of(path: Path) -> Path:
    """Returns the name of a file while it is incomplete."""
    return path.with_name(f"{path.name}.part")


def annotate(
    segments: Iterator[Segment], n_segments: int, path: Path, annotator: Annotator, *, with_tokens: bool = False
) -> Iterator[int]:
    """Yields the number of segments in the file: those of an earlier run, then one more after each annotated segment.

    Args:
        segments: of the part, in order.
        n_segments: their number.
        path: JSONL file for the ratings. If it exists, it is only checked.
        annotator: what annotates them.
        with_tokens: write the probabilities of every token.

    Raises:
        FormatError: if a file of an earlier run has other texts, another model or other options, or another command
            writes to it.
        OSError: if a file cannot be read or written.
    """
    part = part_of(path)
    if path.exists():
        n_done = _check(path, segments, annotator, with_tokens=with_tokens)
        if n_done < n_segments:
            allowed = "remove it to start again"
            raise FormatError(
                str(path), None, f"holds {n_done:,} of the {n_segments:,} segments of the shard; {allowed}"
            )
        yield n_done
        return
    n_done = n_bytes = 0
    if part.exists():
        cut_incomplete_line(part)
        n_bytes = part.stat().st_size
        n_done = _check(part, segments, annotator, with_tokens=with_tokens)
    yield n_done
    rated: Iterator[tuple[Rating, TokenScores | None]] = annotator.annotate_tokens(segments)
    if not with_tokens:
        rated = ((rating, None) for rating in annotator.annotate_segments(segments))
    with naming(str(part)), open(part, "ab") as stream:
        for number, (rating, tokens) in enumerate(rated, start=1):
            line = f"{jsonl.dumps(rating, weights=annotator.options.weights, tokens=tokens)}\n".encode()
            _check_size(part, stream, n_bytes)
            stream.write(line)
            stream.flush()
            n_bytes += len(line)
            yield n_done + number
        os.fsync(stream.fileno())  # some file systems notice only now that the disk is full
        _check_size(part, stream, n_bytes)
    os.replace(part, path)


def _check_size(part: Path, stream: BinaryIO, n_bytes: int) -> None:
    if os.fstat(stream.fileno()).st_size != n_bytes:
        allowed = "run this one again if that does not complete it"
        raise FormatError(str(part), None, f"another command writes to it; {allowed}")


def _check(path: Path, segments: Iterator[Segment], annotator: Annotator, *, with_tokens: bool) -> int:
    """Takes the segments that a file holds from the iterator and returns their number.

    Raises:
        FormatError: at the first line that this run would write differently.
    """
    number = 0
    for number, line in enumerate(read_lines(path), start=1):
        segment = next(segments, None)
        with located(path, number):
            rating = jsonl.loads(line)
        has_tokens = "tokens" in json.loads(line)
        signature = annotator.signature(annotator.choose_inputs(rating.segment), len(rating.segment.references))
        is_same = segment is not None and rating.segment == segment.without_blanks()
        if not is_same or has_tokens != with_tokens or rating.rater != signature:
            raise FormatError(str(path), number, _OTHER)
    return number
