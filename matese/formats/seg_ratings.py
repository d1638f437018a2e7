"""`.seg.rating` files of mt-metrics-eval: what each rater marked, a segment a line, the segments of a system in order.

A line is SYSTEM, a rating and perhaps the RATER, separated by tabs. The rating is "None" where the segment was not
rated, otherwise an object with `errors`, a list of objects with `start`, `end`, `category`, `severity`, `score` and
`is_source_error`; an empty list is a segment judged free of errors. Offsets are half-open, in code points.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from matese import mqm
from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.formats import json_values
from matese.formats.json_values import Fields
from matese.formats.lines import FormatError, name_of, read_lines
from matese.formats.score_file import SegmentName

_KEYS = ("errors",)
_ERROR_KEYS = ("start", "end", "category", "severity", "score", "is_source_error")
_NONE = "None"


def read(path: str | Path, texts: dict[str, Sequence[str]], sources: Sequence[str] | None = None) -> Iterator[Rating]:
    """Yields the ratings; a segment that was not rated has none.

    Args:
        path: the file.
        texts: the lines of each system's output.
        sources: the lines of the source.

    Raises:
        FormatError: if a line is no rating, or its offsets do not fit its text.
        OSError: if the file cannot be read.
    """
    for number, system, index, rating, rater in _lines(path):
        if rating is None:
            continue
        if index > len(texts.get(system, ())):
            problem = (
                f"segment {index} of system {system}: must be one of the {len(texts.get(system, ())):,} of its text"
            )
            raise FormatError(name_of(path), number, problem)
        source = None if sources is None else sources[index - 1]
        segment = Segment(texts[system][index - 1], source, key=SegmentKey(system=system, index=index))
        try:
            yield _rating(rating, segment, rater)
        except ValueError as error:
            raise FormatError(name_of(path), number, str(error)) from None


def scores(path: str | Path, *, weights: mqm.Weights = mqm.GOOGLE) -> dict[str, dict[SegmentName, float | None]]:
    """Returns the MQM score of each segment by system and number from 1; None where it was not rated.

    Raises:
        FormatError: if a line is no rating.
        ValueError: if the weights need the words of the hypothesis.
        OSError: if the file cannot be read.
    """
    if weights.per_words is not None:
        raise ValueError(f"weights {weights.name} count errors per word: must be others, as the file holds no words")
    found: dict[str, dict[SegmentName, float | None]] = {}
    for number, system, index, rating, _ in _lines(path):
        score = None
        if rating is not None:
            try:
                score = 0.0 - sum(mqm.penalty(_unplaced(error), weights) for error in _errors(rating))
            except ValueError as error:
                raise FormatError(name_of(path), number, str(error)) from None
            score = score if weights.floor is None else max(score, weights.floor)
        found.setdefault(system, {})[index] = score
    return found


def _lines(path: str | Path) -> Iterator[tuple[int, str, int, object, str | None]]:
    """Yields line, system, the segment's number from 1, the rating as JSON or None, and the rater."""
    counts: dict[str, int] = {}
    for number, line in enumerate(read_lines(path), start=1):
        fields = line.split("\t")
        if len(fields) not in (2, 3):
            problem = f"{len(fields)} fields: must be a system, a rating and perhaps a rater, separated by tabs"
            raise FormatError(name_of(path), number, problem)
        system, text, *rest = fields
        counts[system] = counts.get(system, 0) + 1
        try:
            rating = None if text == _NONE else json_values.parse(text)
        except ValueError as error:
            raise FormatError(name_of(path), number, str(error)) from None
        yield number, system, counts[system], rating, rest[0] if rest else None


def _errors(rating: object) -> list[Fields]:
    return list(Fields.of(rating, "", _KEYS).objects("errors", _ERROR_KEYS))


def _rating(rating: object, segment: Segment, rater: str | None) -> Rating:
    placed: dict[bool, list[ErrorSpan]] = {True: [], False: []}
    unplaced: list[UnplacedError] = []
    for error in _errors(rating):
        start, end = (error.needed(name, error.integer(name)) for name in ("start", "end"))
        plain = _unplaced(error)
        if start == end:  # a place without a character
            unplaced.append(plain)
        else:
            is_source = error.values.get("is_source_error") is True
            placed[is_source].append(ErrorSpan(start, end, plain.severity, plain.category))
    return Rating(segment, rater, tuple(placed[False]), tuple(placed[True]), tuple(unplaced))


def _unplaced(error: Fields) -> UnplacedError:
    severity = error.string("severity")
    name = None if severity is None else severity.casefold()
    known = {one.value: one for one in Severity}
    if name is not None and name not in known:
        raise ValueError(f"unknown severity {severity!r}: must be one of {', '.join(known)}")
    return UnplacedError(None if name is None else known[name], error.string("category"))
