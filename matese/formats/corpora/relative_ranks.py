"""Relative ranks of the WMT metrics tasks: which of two translations of a segment humans found better (daRR).

| file | fields of a line, separated by white space |
|---|---|
| `RR-seglevel.csv` of WMT17 to WMT19 | LP [DATA] SID BETTER WORSE |
| `DArr-seglevel.csv` of WMT20 | LP DATA SID BETTER WORSE DIFFERENCE; SID is DOCUMENT::NUMBER |
| verdicts on all metrics, made from these (`RR-newstest2019-deen-seg-nohy-agree.csv`) | SID BETTER WORSE and for each \
metric 1 if it agrees, otherwise 0 |

The header names the fields. That of `RR-seglevel.csv` of WMT18 lacks DATA and that of `DArr-seglevel.csv` lacks
DIFFERENCE, so that the number of fields decides. Segments count from 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matese.errors import FormatError, InputError
from matese.files import name_of, read_lines
from matese.formats.corpora import score_files
from matese.formats.row_issues import located
from matese.text.whole_numbers import parse_whole_number

_BETTER_WORSE = ["BETTER", "WORSE"]
_N_OF_PAIR = 3
"""Fields of SID, BETTER and WORSE."""


@dataclass(frozen=True, slots=True)
class RankedPair:
    """Two translations of a segment.

    Attributes:
        document: None if segments are numbered through the test set.
        index: number of the segment, from 0.
        better: system of the translation that humans found better.
        worse: system of the other one.
    """

    document: str | None
    index: int
    better: str
    worse: str


@dataclass(frozen=True, slots=True)
class RelativeRanks:
    """The relative ranks of one language pair.

    Attributes:
        lang_pair: None if the file does not name it.
        pairs: in the order of the file.
        n_close: pairs left out, because their human scores differ too little.
        verdicts: of each metric, whether it agrees with each pair; none in most files.
    """

    lang_pair: str | None
    pairs: tuple[RankedPair, ...]
    n_close: int
    verdicts: dict[str, tuple[bool, ...]]


def holds_ranks(path: str | Path) -> bool:
    """Whether the header of a file, not a pipe, is one of relative ranks."""
    return _place_of_better(_header(path)) is not None


def holds_verdicts(path: str | Path) -> bool:
    """Whether a file, not a pipe, has relative ranks and the verdicts of metrics on them."""
    header = _header(path)
    return _place_of_better(header) == 1 and len(header) > _N_OF_PAIR


def _header(path: str | Path) -> list[str]:
    """Returns the fields of the first line; none of a pipe or a file that is no text."""
    if not Path(path).is_file():
        return []
    try:
        return next(iter(read_lines(path)), "").split()
    except InputError:
        return []


def _place_of_better(header: Sequence[str]) -> int | None:
    names = [name.upper() for name in header]
    return next((at for at in range(1, len(names)) if names[at : at + 2] == _BETTER_WORSE), None)


def read(path: str | Path, *, least_difference: float, first_segment: int = 1) -> list[RelativeRanks]:
    """Returns the relative ranks of each language pair of a file.

    Args:
        path: in a form of the module.
        least_difference: pairs whose human scores do not differ by more are left out, if the file has the difference.
        first_segment: number of the first segment.

    Raises:
        FormatError: if a line has another form, or ranks a pair twice.
    """
    _, *lines = enumerate(read_lines(path), start=1)
    metrics = _header(path)[_N_OF_PAIR:] if holds_verdicts(path) else []
    if len(set(metrics)) < len(metrics):
        raise FormatError(name_of(path), 1, "two columns of metrics have the same name; give them different names")
    pairs: dict[str | None, dict[RankedPair, tuple[bool, ...]]] = {}
    n_close: dict[str | None, int] = {}
    for number, line in lines:
        with located(path, number):
            lang_pair, pair, rest = _parse(line.split(), len(metrics), first_segment)
            of_pair = pairs.setdefault(lang_pair, {})
            if not metrics and rest and _difference(rest[0]) <= least_difference:
                n_close[lang_pair] = n_close.get(lang_pair, 0) + 1
            elif pair in of_pair:
                raise InputError(f"{pair.better} and {pair.worse} are ranked twice in a segment; rank them once")
            else:
                of_pair[pair] = tuple(_verdict(field) for field in rest) if metrics else ()
    if not any(pairs.values()):
        raise FormatError(name_of(path), None, "no pair of translations; it must rank at least one")
    return [
        RelativeRanks(
            lang_pair,
            tuple(of_pair),
            n_close.get(lang_pair, 0),
            {name: tuple(verdicts[at] for verdicts in of_pair.values()) for at, name in enumerate(metrics)},
        )
        for lang_pair, of_pair in pairs.items()
        if of_pair
    ]


def _parse(fields: Sequence[str], n_metrics: int, first_segment: int) -> tuple[str | None, RankedPair, Sequence[str]]:
    """Returns the language pair of a line, its pair of translations, and what follows."""
    if n_metrics:
        if len(fields) != _N_OF_PAIR + n_metrics:
            raise InputError(f"{len(fields)} fields: must be SID, BETTER, WORSE and {n_metrics} verdicts")
        return None, _pair(*fields[:_N_OF_PAIR], first_segment=first_segment), fields[_N_OF_PAIR:]
    if not 4 <= len(fields) <= 6:
        raise InputError(f"{len(fields)} fields: must be LP, DATA if any, SID, BETTER, WORSE and the difference if any")
    start = 1 if len(fields) == 4 else 2
    end = start + _N_OF_PAIR
    return fields[0], _pair(*fields[start:end], first_segment=first_segment), fields[end:]


def _pair(segment: str, better: str, worse: str, *, first_segment: int) -> RankedPair:
    document, _, number = segment.rpartition("::")
    index = parse_whole_number(number)
    if index is None or index < first_segment:
        raise InputError(
            f"segment {segment!r}: must be a whole number, {first_segment} or more, perhaps after DOCUMENT::"
        )
    if better == worse:
        raise InputError(f"{better} is ranked against itself; a pair needs two systems")
    return RankedPair(document or None, index - first_segment, better, worse)


def _difference(field: str) -> float:
    difference = score_files.to_score(field)
    return math.nan if difference is None else abs(difference)


def _verdict(field: str) -> bool:
    if field not in ("0", "1"):
        raise InputError(f"verdict {field!r}: must be 1 if the metric agrees, otherwise 0")
    return field == "1"
