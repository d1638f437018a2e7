"""`.seg.rating` files of mt-metrics-eval: the errors of each segment, one segment per line, in order for each system.

A line is SYSTEM, a rating and optionally the RATER, separated by tabs. The rating is "None" if the segment was not
rated, otherwise an object with `errors`, a list of objects with `start`, `end`, `category`, `severity`, `score` and
`is_source_error`; an empty list is a segment judged free of errors. Offsets are half-open, in code points.

Words of the source that the translation lacks are errors in the source with a category such as Accuracy/Omission.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec

from matese import mqm
from matese.annotation import AnyError, ErrorSpan, Rating, Segment, SegmentKey, UnplacedError, severities
from matese.errors import InputError
from matese.files import read_lines
from matese.formats.capabilities import TABS_AND_LINES, Capabilities
from matese.formats.corpora import omission_marks
from matese.formats.format import WriteOptions, rating_of
from matese.formats.row_issues import located
from matese.validation import plain_values

CAPABILITIES = Capabilities(
    lacks=("source", "no_spans", "confidence", "omissions"),
    key=("lang_pair", "system", "index"),
    references=0,
    scales=(),
    needs=("system", "index"),
    replaced=TABS_AND_LINES,
)
_NONE = "None"


class _Error(msgspec.Struct, forbid_unknown_fields=True):
    start: int
    end: int
    category: str | None = None
    severity: str | None = None
    score: Any = None
    is_source_error: bool | None = None


class _Errors(msgspec.Struct, forbid_unknown_fields=True):
    errors: list[_Error]


def read(
    path: str | Path, texts: Mapping[str, Sequence[str]], sources: Sequence[str] | None = None
) -> Iterator[Rating]:
    """Yields the ratings; a segment that was not rated has none.

    Args:
        path: the file.
        texts: the lines of each system's output.
        sources: the lines of the source.

    Raises:
        FormatError: if a line is not a rating, or its offsets do not fit its text.
    """
    for number, (system, index, errors, rater) in _lines(path):
        if errors is not None:
            with located(path, number):
                lines = texts.get(system, ())
                if index >= len(lines):
                    problem = f"line {index + 1} of system {system}: must be one of the {len(lines):,} of its text"
                    raise InputError(problem)
                source = None if sources is None else sources[index]
                segment = Segment(lines[index], source, key=SegmentKey(system=system, index=index))
                yield _rating(errors, segment, rater)


def scores(path: str | Path) -> dict[str, dict[int | str, float | None]]:
    """Returns the MQM score of each segment by system and number; None if it was not rated.

    Raises:
        FormatError: if a line is not a rating.
    """
    scores_by_system: dict[str, dict[int | str, float | None]] = {}
    for number, (system, index, errors, _) in _lines(path):
        with located(path, number):
            penalties = [mqm.penalty(_plain(error), mqm.GOOGLE) for error in errors or ()]
        scores_by_system.setdefault(system, {})[index] = None if errors is None else 0.0 - sum(penalties)
    return scores_by_system


def write(ratings: Iterable[Rating], options: WriteOptions) -> Iterator[str]:
    """Yields the lines."""
    systems: dict[str, dict[int, Rating]] = {}
    for rating in ratings:
        key = rating.segment.key or SegmentKey()
        if systems.setdefault(key.system or "", {}).setdefault(key.index or 0, rating) is not rating:
            problem = f"{rating.segment.label} of system {key.system} has two ratings"
            raise InputError(f"{problem}: must be one in a file of one language pair and rater")
    check_complete(systems, "the file")
    for system, of_system in systems.items():
        for _, rating in sorted(of_system.items(), key=itemgetter(0)):
            rater = "" if rating.rater is None else f"\t{rating.rater}"
            errors = [
                *(_to_json(span, options.weights) for span in rating.errors or ()),
                *(_to_json(span, options.weights, is_source=True) for span in rating.source_errors),
                *(_to_json(error, options.weights) for error in rating.unplaced),
            ]
            yield f"{system}\t{json.dumps({'errors': errors}, ensure_ascii=False)}{rater}\n"


def check_complete(systems: Mapping[str, Mapping[int, object]], place: str) -> None:
    """Checks that every system has every segment, since a file of mt-metrics-eval has no segment numbers.

    Raises:
        InputError: if a system lacks a segment, from the first to the last of all systems.
    """
    n_segments = max((index for of_system in systems.values() for index in of_system), default=-1) + 1
    for system, of_system in systems.items():
        missing = next((index for index in range(n_segments) if index not in of_system), None)
        if missing is not None:
            problem = f"system {system} has no segment {missing + 1} of {place}"
            raise InputError(f"{problem}: must have segments 1 to {n_segments}, as the file does not number them")


def _lines(path: str | Path) -> Iterator[tuple[int, tuple[str, int, list[_Error] | None, str | None]]]:
    """Yields the number of each line with system, segment, errors (None: not rated) and rater."""
    counts: Counter[str] = Counter()
    for number, line in enumerate(read_lines(path), start=1):
        with located(path, number):
            fields = line.split("\t")
            if len(fields) not in (2, 3):
                allowed = "must be a system, a rating and optionally a rater, separated by tabs"
                raise InputError(f"{len(fields)} fields: {allowed}")
            system, text, *rater = fields
            errors = None if text == _NONE else plain_values.from_json(text, _Errors).errors
        yield number, (system, counts[system], errors, rater[0] if rater else None)
        counts[system] += 1


def _plain(error: _Error) -> UnplacedError:
    return UnplacedError(severities.parse_optional(error.severity), error.category)


def _rating(errors: Iterable[_Error], segment: Segment, rater: str | None) -> Rating:
    marks: list[AnyError] = []
    source_marks: list[ErrorSpan] = []
    for error in errors:
        plain = _plain(error)
        span = ErrorSpan(error.start, error.end, plain.severity, plain.category) if error.start != error.end else None
        if span is not None and error.is_source_error:
            source_marks.append(span)
        else:
            marks.append(span or plain)  # without a character: without a place
    source_errors, omissions = omission_marks.split(source_marks)
    return rating_of(segment, rater, (*marks, *omissions), source_errors)


def _to_json(error: ErrorSpan | UnplacedError, weights: mqm.Weights, *, is_source: bool = False) -> dict[str, object]:
    start, end = (error.start, error.end) if isinstance(error, ErrorSpan) else (0, 0)
    plain = UnplacedError(error.severity, error.category)
    return {
        "start": start,
        "end": end,
        "category": error.category,
        "severity": None if error.severity is None else error.severity.value,
        "score": None if error.severity is None else mqm.penalty(plain, weights),
        "is_source_error": is_source,
    }
