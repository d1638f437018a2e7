"""Score files: what a metric, or a human, gives each system and each segment.

| form | its lines |
|---|---|
| mt-metrics-eval | SYSTEM SCORE, separated by white space; one line a system, or one a segment, in their order |
| WMT 2019 | METRIC LANG_PAIR TEST_SET SYSTEM [SEGMENT] SCORE [ENSEMBLE AVAILABLE], separated by tabs |
| WMT 2022 | METRIC LANG_PAIR TEST_SET DOMAIN [DOCUMENT] REFERENCE SYSTEM [SEGMENT] SCORE, separated by tabs; DOCUMENT \
and SEGMENT stand together or not at all |
| MQM averages | header `system mqm_avg_score seg_id`; SYSTEM SCORE SEGMENT, tabs and spaces mixed |
| our JSONL | a Rating a line, see `matese.formats.jsonl` |

The form is told by the first line. "None" is a score that is missing; NaN and infinity are none, and no system or
segment is scored twice.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from matese import mqm
from matese.formats import rating_scores
from matese.formats.lines import FormatError, name_of, read_lines
from matese.formats.score_file import ScoreFile, SegmentName, stem

MQM_HEADER = ["system", "mqm_avg_score", "seg_id"]
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Row:
    """One line. A segment of None is the system as a whole."""

    line: int
    name: str
    lang_pair: str | None
    system: str
    segment: int | None
    score: float | None
    domain: str | None = None


def read(path: str | Path, *, weights: mqm.Weights = mqm.GOOGLE) -> list[ScoreFile]:
    """Returns the scores of each metric and language pair that a file holds.

    Args:
        path: the file; its form is told by its first line.
        weights: what the errors of ratings cost; only JSONL holds some.

    Raises:
        FormatError: if it is in none of the forms, scores something twice, or holds NaN.
        OSError: if it cannot be read.
    """
    first = next(iter(read_lines(path)), None)
    if first is None:
        raise FormatError(name_of(path), None, "file is empty, must hold scores")
    if first.lstrip().startswith("{"):
        return rating_scores.read(path, weights=weights)
    if first.split() == MQM_HEADER:
        return _gather(path, _mqm_rows(path))
    n_fields = len(first.split("\t"))
    if n_fields >= 5:
        return _gather(path, _wmt_rows(path))
    return [read_positional(path, stem(path), is_segments=None)]


def read_positional(path: str | Path, name: str, *, is_segments: bool | None) -> ScoreFile:
    """Returns the scores of a file of SYSTEM SCORE; segments count from 1 in the order of the lines.

    Args:
        path: the file.
        name: of the metric.
        is_segments: whether it scores segments; None to tell it by the file's name (".seg.", ".sys."), or by whether a
            system has more than one line.

    Raises:
        FormatError: if a line is another one, or systems differ in their number of lines.
        OSError: if it cannot be read.
    """
    found: dict[str, list[float | None]] = {}
    number = 0
    for number, line in enumerate(read_lines(path), start=1):
        fields = line.split()
        if len(fields) != 2:
            raise FormatError(name_of(path), number, f"{len(fields)} fields: must be a system and its score")
        scores = found.setdefault(fields[0], [])
        scores.append(to_score(fields[1], path, number))
        if is_segments is False and len(scores) > 1:
            raise FormatError(name_of(path), number, f"system {fields[0]} is scored twice: must be scored once")
    lengths = {len(scores) for scores in found.values()}
    if is_segments is None:
        is_segments = ".seg." in Path(path).name or (".sys." not in Path(path).name and max(lengths, default=0) > 1)
        if not is_segments:
            return read_positional(path, name, is_segments=False)
    if len(lengths) > 1:
        shortest, longest = (choose(found, key=lambda one: len(found[one])) for choose in (min, max))
        counts = f"system {shortest} has {len(found[shortest]):,} lines and {longest} {len(found[longest]):,}"
        raise FormatError(name_of(path), None, f"{counts}: must be one a segment for each system")
    if not is_segments:
        return ScoreFile(name, systems={system: scores[0] for system, scores in found.items()})
    numbered: dict[str, dict[SegmentName, float | None]]
    numbered = {system: dict(enumerate(scores, 1)) for system, scores in found.items()}
    return ScoreFile(name, segments=numbered, is_positional=True)


def to_score(text: str, path: str | Path, line: int) -> float | None:
    """Returns a score, None for "None".

    Raises:
        FormatError: if it is no finite number.
    """
    if text == "None":
        return None
    # float() would take "nan", "infinity" and "1_0" too.
    score = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(score):
        raise FormatError(name_of(path), line, f"score {text!r}: must be a finite number, or None where there is none")
    return score


def _mqm_rows(path: str | Path) -> Iterator[_Row]:
    for number, line in enumerate(read_lines(path), start=1):
        fields = line.split()
        if number == 1:
            continue
        if len(fields) != 3:
            raise FormatError(name_of(path), number, f"{len(fields)} fields: must be a system, a score and a segment")
        segment = _to_segment(fields[2], path, number)
        yield _Row(number, stem(path), None, fields[0], segment, to_score(fields[1], path, number))


def _wmt_rows(path: str | Path) -> Iterator[_Row]:
    """Yields the rows of a submission; the number of fields tells the year and whether segments are scored."""
    for number, line in enumerate(read_lines(path), start=1):
        fields = [one.strip() for one in line.split("\t")]
        is_2022 = len(fields) == 9 or (len(fields) == 7 and not _NUMBER.fullmatch(fields[4]))
        if not is_2022 and len(fields) in (7, 8):
            fields = fields[:-2]  # ENSEMBLE and AVAILABLE
        if is_2022:
            metric, lang_pair, _, domain, *rest = fields
            reference, system, *last = rest[-4:] if len(fields) == 9 else rest
            name = f"{metric}-{reference}"
        elif len(fields) in (5, 6):
            (name, lang_pair, _, system, *last), domain = fields, None
        else:
            allowed = "must be those of WMT 2019 (5 or 6, 7 or 8) or of WMT 2022 (7 or 9), separated by tabs"
            raise FormatError(name_of(path), number, f"{len(fields)} fields: {allowed}")
        segment = _to_segment(last[0], path, number) if len(last) == 2 else None
        yield _Row(number, name, lang_pair, system, segment, to_score(last[-1], path, number), domain)


def _to_segment(text: str, path: str | Path, line: int) -> int:
    if not re.fullmatch(r"\d{1,9}", text, re.ASCII):
        raise FormatError(name_of(path), line, f"segment {text!r}: must be a whole number")
    return int(text)


def _gather(path: str | Path, rows: Iterator[_Row]) -> list[ScoreFile]:
    """Returns the scores by metric and language pair."""
    systems: dict[tuple[str, str | None], dict[str, float | None]] = {}
    segments: dict[tuple[str, str | None], dict[str, dict[SegmentName, float | None]]] = {}
    for row in rows:
        key = row.name, row.lang_pair
        of_systems, of_segments = systems.setdefault(key, {}), segments.setdefault(key, {})
        if row.segment is not None:
            scores, place, what = of_segments.setdefault(row.system, {}), row.segment, f"segment {row.segment} of "
            if place in scores:
                raise _twice(path, row, what)
            scores[place] = row.score
        elif row.domain is None or row.domain.casefold() == "all":
            # A system's score in one domain of several is not its score.
            if row.system in of_systems:
                raise _twice(path, row, "")
            of_systems[row.system] = row.score
    found = [
        ScoreFile(name, lang_pair, systems[name, lang_pair], segments[name, lang_pair]) for name, lang_pair in systems
    ]
    for one in found:
        if not one.systems and not one.segments:
            problem = f"{one.name} has scores of single domains only: must have those of the domain 'all'"
            raise FormatError(name_of(path), None, problem)
    return found


def _twice(path: str | Path, row: _Row, what: str) -> FormatError:
    return FormatError(name_of(path), row.line, f"{what}system {row.system} is scored twice: must be scored once")
