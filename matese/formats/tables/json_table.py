"""Tables in JSON: a line per row, as our JSONL (`jsonl`) and that of COMET have it, or one list of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from matese.annotation import AnnotationError, Rating
from matese.errors import FormatError, InputError
from matese.files import decode, head_of, name_of, read_raw_lines
from matese.formats import json_stream
from matese.formats.capabilities import EVERYTHING
from matese.formats.format import STRICT, ReadOptions, WriteOptions
from matese.formats.tables import columns, jsonl

CAPABILITIES = EVERYTHING
_HEAD_BYTES = 64


def write_json(ratings: Iterable[Rating], options: WriteOptions) -> Iterator[str]:
    """Yields the list, an object per line."""
    return json_stream.write_list(jsonl.dumps(rating, weights=options.weights) for rating in ratings)


def write(ratings: Iterable[Rating], options: WriteOptions) -> Iterator[str]:
    """Yields the lines."""
    return (f"{jsonl.dumps(rating, weights=options.weights)}\n" for rating in ratings)


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the ratings of each row."""
    if head_of(path, _HEAD_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
        rows = ((element.line, element.value) for element in json_stream.read(path))
        yield from columns.ratings(rows, path, options.columns, options.lang_pair, unit="line", options=options)
        return
    lines = read_raw_lines(path)
    for number, raw in enumerate(lines, start=1):
        try:
            rating = None if options.columns else jsonl.complete(raw, number)
        except (InputError, AnnotationError) as error:
            raise FormatError(name_of(path), number, str(error)) from None
        if rating is not None:
            yield rating
            continue
        line = decode(raw, path, number)
        try:
            row = jsonl.parse(line)
        except InputError as error:
            problem = str(error)
            if "truncated" in problem and line.lstrip().startswith("{") and any(rest.strip() for rest in lines):
                problem = "a JSON object over several lines: must be one object per line, or one list of all objects"
            raise FormatError(name_of(path), number, problem) from None
        yield from columns.ratings(
            [(number, row)], path, options.columns, options.lang_pair, unit="line", options=options
        )
