"""Candidates: several translations of each source, read from an n-best list or made from the texts of systems.

Two forms of n-best lists are read. The first has one candidate per line, as Moses, Marian and fairseq's tools write it,
the candidates of a source one after the other and sources counted from 0::

    0 ||| Das ist gut. ||| LM0= -9.1 ||| -4.2

The features are not read and may be absent; the last field, if it is a number, is the model score (a log-probability).
The second form is JSON Lines, one source per line::

    {"source": "That is good.", "candidates": [{"text": "Das ist gut.", "score": -4.2}, "Das ist toll."]}
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import msgspec

from matese.annotation import Segment, SegmentKey
from matese.errors import FormatError, InputError, counted
from matese.files import name_of, read_lines
from matese.formats.row_issues import located
from matese.text.whole_numbers import parse_whole_number
from matese.validation import plain_values

_SEPARATOR = "|||"
_MOSES = "INDEX ||| TEXT ||| FEATURES ||| SCORE"


@dataclass(frozen=True, slots=True)
class Candidates:
    """The translations of one source from which one is chosen.

    Attributes:
        texts: at least one; equal texts may occur several times, as samples of a model do.
        source: None if it is not known.
        references: only used to fit weights, never to choose.
        model_scores: one for each text, higher is better (a log-probability); () if they are not known.
        systems: one name for each text; () for the output of one system.
        key: where the segment stands.
    """

    texts: tuple[str, ...]
    source: str | None = None
    references: tuple[str, ...] = ()
    model_scores: tuple[float, ...] = ()
    systems: tuple[str, ...] = ()
    key: SegmentKey | None = None

    def __post_init__(self) -> None:
        if not self.texts:
            raise InputError("a source has no candidates; it needs one or more")
        for name, values in (("model scores", self.model_scores), ("systems", self.systems)):
            if values and len(values) != len(self.texts):
                raise InputError(f"{len(self.texts)} candidates and {len(values)} {name}; every candidate needs one")
        if not all(map(math.isfinite, self.model_scores)):
            raise InputError(f"model scores {self.model_scores}: must be finite numbers")

    def segments(self) -> tuple[Segment, ...]:
        """Returns the candidates as segments without references, so that a choice cannot depend on them."""
        return tuple(Segment(text, self.source, (), self.key) for text in self.texts)


class _Candidate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: str
    score: float | None = None


class _Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    candidates: tuple[str | _Candidate, ...]
    source: str | None = None
    references: tuple[str, ...] = ()


def read(path: str, sources: Sequence[str] | None = None, references: Sequence[Sequence[str]] = ()) -> list[Candidates]:
    """Returns the candidates of each source of an n-best list.

    Args:
        path: of the list; "-" is standard input.
        sources: line i is the source of the list's number i; None if they are not known or stand in the list.
        references: of each source; empty if there are none or they stand in the list.

    Raises:
        FormatError: if the list has neither form, is not grouped by source, or lacks the candidates of a source.
        InputError: if the numbers of sources differ.
    """
    lines = list(read_lines(path))
    if not lines:
        raise FormatError(name_of(path), None, f"file is empty: must be lines of {_MOSES!r}, or JSON")
    lists = (_from_json if lines[0].lstrip().startswith("{") else _from_moses)(path, lines)
    for name, texts in (("sources", sources), ("references", references)):
        if texts and len(texts) != len(lists):
            problem = f"candidates of {counted(len(lists), 'source')}, and {len(texts):,} {name} are given"
            raise FormatError(name_of(path), None, f"{problem}: every source needs candidates")
    for number, source in enumerate(sources or ()):
        if lists[number].source not in (None, source):
            problem = "source differs from that of the source file: must be the same"
            raise FormatError(name_of(path), number + 1, problem)
        lists[number] = replace(lists[number], source=source)
    for number, of_source in enumerate(references):
        lists[number] = replace(lists[number], references=tuple(of_source))
    return lists


def from_systems(systems: Sequence[tuple[str, Sequence[Segment]]]) -> list[Candidates]:
    """Returns the candidates of each segment: the translations of all systems.

    Args:
        systems: name and segments of each system; segment i of each has the same source.
    """
    names = [name for name, _ in systems]
    rows = zip(*(segments for _, segments in systems), strict=True)
    return [_of_systems(names, translations) for translations in rows]


def _of_systems(names: Sequence[str], translations: Sequence[Segment]) -> Candidates:
    """Returns the translations of a source by these systems."""
    first = translations[0]
    key = None if first.key is None else replace(first.key, system=None)
    texts = tuple(segment.hypothesis for segment in translations)
    return Candidates(texts, first.source, first.references, (), tuple(names), key)


def by_place(systems: Sequence[tuple[str, Sequence[Segment]]]) -> list[Candidates] | None:
    """Returns the candidates of each segment: the translations of the systems that have one; in order of appearance.

    Segments are told apart by the places that their keys state. Returns None where a key has no index.

    Args:
        systems: name and segments of each system.
    """
    by_key: dict[SegmentKey, list[tuple[str, Segment]]] = {}
    for name, segments in systems:
        for segment in segments:
            if segment.key is None or segment.key.index is None:
                return None
            by_key.setdefault(replace(segment.key, system=None), []).append((name, segment))
    return [_of_systems(*zip(*translations, strict=True)) for translations in by_key.values()]


def _from_moses(path: str, lines: Sequence[str]) -> list[Candidates]:
    rows = []
    for line, row in enumerate(lines, start=1):
        with located(path, line):
            rows.append((line, *_parsed(row)))
    lists: list[Candidates] = []
    for number, group in groupby(rows, key=itemgetter(1)):
        line_numbers, _, texts, stated_scores = zip(*group, strict=True)
        with located(path, line_numbers[0]):
            _check_order(number, len(lists))
        scores = tuple(score for score in stated_scores if score is not None)
        if 0 < len(scores) < len(texts):
            problem = f"{len(texts) - len(scores)} of {len(texts)} candidates of source {number} have no score"
            raise FormatError(name_of(path), line_numbers[-1], f"{problem}; all or none need one")
        lists.append(Candidates(texts, model_scores=scores, key=SegmentKey(index=number)))
    return lists


def _check_order(number: int, expected: int) -> None:
    if number == expected:
        return
    if expected == 0:
        raise InputError(f"the first candidate is of source {number}; sources are numbered from 0")
    allowed = "the candidates of a source must follow each other"
    if number > expected:
        allowed = "every source needs candidates, numbered without gaps"
    raise InputError(f"source {number} after source {expected - 1}; {allowed}")


def _parsed(row: str) -> tuple[int, str, float | None]:
    """Returns number, text and score of a line."""
    fields = [field.strip(" ") for field in row.split(_SEPARATOR)]
    number = parse_whole_number(fields[0])
    if len(fields) < 2 or number is None:
        raise InputError(f"not a line of an n-best list: must be {_MOSES!r}, or JSON")
    score = None
    if len(fields) > 2:
        try:
            score = float(fields[-1] if len(fields) == 3 else fields[3])
        except ValueError:
            if len(fields) > 3:
                raise InputError(f"score is {fields[3]!r}: must be a number, in {_MOSES!r}") from None
    if score is not None and not math.isfinite(score):
        raise InputError(f"score is {score}: must be a finite number")
    return number, fields[1], score


def _from_json(path: str, lines: Sequence[str]) -> list[Candidates]:
    lists = []
    for number, line in enumerate(lines):
        with located(path, number + 1):
            row = plain_values.from_json(line, _Line)
            candidates = [_Candidate(text) if isinstance(text, str) else text for text in row.candidates]
            scores = tuple(candidate.score for candidate in candidates if candidate.score is not None)
            texts = tuple(candidate.text for candidate in candidates)
            lists.append(Candidates(texts, row.source, row.references, scores, key=SegmentKey(index=number)))
    return lists


def read_parallel(path: str | Path, n_lines: int | None = None) -> list[str]:
    """Returns the lines of a text file; raises InputError if their number is not `n_lines`."""
    lines = list(read_lines(path))
    if n_lines is not None and len(lines) != n_lines:
        raise InputError(
            f"{name_of(path)} has {counted(len(lines), 'line')}; it needs {n_lines:,}, one for each source"
        )
    return lines
