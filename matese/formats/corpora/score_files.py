"""Score files: the scores that a metric, or a human, gives each system and each segment.

| form | lines |
|---|---|
| mt-metrics-eval | SYSTEM SCORE, separated by white space; one line for each system, or for each segment in order |
| WMT 2019 | METRIC LANG_PAIR TEST_SET SYSTEM [SEGMENT] SCORE [ENSEMBLE AVAILABLE], separated by tabs |
| WMT 2021 | METRIC LANG_PAIR TEST_SET [DOCUMENT] REFERENCE SYSTEM [SEGMENT] SCORE, separated by tabs |
| WMT 2022 | METRIC LANG_PAIR TEST_SET DOMAIN [DOCUMENT] REFERENCE SYSTEM [SEGMENT] SCORE, separated by tabs; DOCUMENT \
and SEGMENT appear together or not at all |
| CSV | header with `system`, `score` and, if any, `metric`, `lang_pair`, `document` and `segment` |
| MQM averages | header `system mqm_avg_score seg_id`; SYSTEM SCORE SEGMENT, separated by tabs or spaces |
| our JSONL | a Rating a line, see `tables.jsonl`; the score of a segment is the mean over its raters |

The first line identifies the form. "None" is a missing score; NaN and infinity are errors, and so is a second score of
the same system or segment. WMT submissions and MQM averages count segments from 1, and are read from 0, like all else.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from matese import mqm
from matese.annotation import Rating, Segment, SegmentKey
from matese.errors import FormatError, one_of
from matese.files import name_of, read_lines
from matese.formats.format import renumbered
from matese.formats.issues import located
from matese.formats.tables import jsonl
from matese.text import parse_whole_number

_CSV_COLUMNS = ("system", "score", "metric", "lang_pair", "document", "segment")
MQM_HEADER = ["system", "mqm_avg_score", "seg_id"]
_ValueT = TypeVar("_ValueT")
_Place = tuple[str | None, int]
"""A document and a segment's number, which counts through the test set or in each document."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)

_FIRST_SEGMENT = 1
"""Number of the first segment in WMT submissions and MQM averages."""

SegmentName = int | str
"""The segment's number, from 0, or DOCUMENT/NUMBER if numbers start again in each document."""


@dataclass(frozen=True, slots=True)
class MetricScores:
    """The scores of one metric, or of humans, in one language pair.

    Attributes:
        name: as the file names the metric, with the reference as last part if the file has one ("BLEU-refA"); otherwise
            the file's own name.
        lang_pair: None if the file does not name it.
        systems: the score of each system that has one of its own; None if it is missing.
        segments: of each system, the scores by the segment's name; None if one is missing.
        is_positional: whether segments are numbered by their line; the file then has all of them.
        texts: the segments of each system by their names, if the file has them.
        is_sure: whether the first segment is known to be 0. JSONL and CSV are numbered by whoever wrote them.
    """

    name: str
    lang_pair: str | None = None
    systems: Mapping[str, float | None] = field(default_factory=dict)
    segments: Mapping[str, Mapping[SegmentName, float | None]] = field(default_factory=dict)
    is_positional: bool = False
    texts: Mapping[str, Mapping[SegmentName, Segment]] = field(default_factory=dict)
    is_sure: bool = True


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of a file that names its segments. A segment of None is the system as a whole."""

    line: int
    name: str
    lang_pair: str | None
    system: str
    segment: int | None
    score: float | None
    domain: str | None = None
    document: str | None = None


def read(path: str | Path, *, name: str | None = None, first_segment: int | None = None) -> list[MetricScores]:
    """Returns the scores of each metric and language pair in a file.

    Args:
        path: in any form of the module.
        name: replaces that of the metric.
        first_segment: number of the first segment in JSONL and CSV; None if it is not known, but probably 0.

    Raises:
        FormatError: if the file is in no such form, scores something twice, contains NaN, or is a pipe.
        OSError: if it cannot be read.
    """
    first = _first_line(path)
    if first is None:
        raise FormatError(name_of(path), None, "file is empty; it must hold scores")
    if first.lstrip().startswith("{"):
        ratings = jsonl.read(path)
        return of_ratings(ratings, name or stem(path), place=name_of(path), first_segment=first_segment)
    if first.split() == MQM_HEADER:
        found = _gather(path, _mqm_rows(path))
    elif _is_csv(path, first):
        rows = _csv_rows(path, first_segment or 0)
        found = [replace(one, is_sure=first_segment is not None) for one in _gather(path, rows, first_segment or 0)]
    elif len(first.split("\t")) >= 5:
        found = _gather(path, _wmt_rows(path))
    else:
        found = [read_positional(path, stem(path), is_segments=None)]
    return found if name is None else [replace(one, name=name) for one in found]


def _is_csv(path: str | Path, first: str) -> bool:
    """Whether the first line is the header of a CSV; raises a FormatError if it has other columns."""
    delimiter = max(",;\t", key=first.count)
    names = [name.strip().lower() for name in first.split(delimiter)]
    if "system" not in names or len(names) == 1 or _NUMBER.fullmatch(names[-1]):
        return False
    if delimiter != ",":
        raise FormatError(name_of(path), 1, f"columns are separated by {delimiter!r}: must be separated by commas")
    if "score" not in names:
        optional = one_of(_CSV_COLUMNS[2:]).replace(" or ", " and ")
        problem = f"lacks column score: must be system, score and, if any, {optional}; rename or remove the others"
        raise FormatError(name_of(path), 1, problem)
    return True


def read_positional(path: str | Path, name: str, *, is_segments: bool | None) -> MetricScores:
    """Returns the scores of a file of SYSTEM SCORE; segments are in the order of the lines.

    Args:
        path: the file.
        name: of the metric.
        is_segments: whether it scores segments; None to infer it from the file's name (".seg.", ".sys."), or from
            whether a system has more than one line.

    Raises:
        FormatError: if a line has another form, or systems differ in their number of lines.
        OSError: if it cannot be read.
    """
    found: dict[str, list[float | None]] = {}
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
        raise FormatError(name_of(path), None, f"{counts}: must be one for each segment and system")
    if not is_segments:
        return MetricScores(name, systems={system: scores[0] for system, scores in found.items()})
    numbered: dict[str, dict[SegmentName, float | None]]
    numbered = {system: dict(enumerate(scores)) for system, scores in found.items()}
    return MetricScores(name, segments=numbered, is_positional=True)


def to_score(text: str, path: str | Path, line: int) -> float | None:
    """Returns a score, None for "None".

    Raises:
        FormatError: if it is not a finite number.
    """
    if text == "None":
        return None
    # float() would accept "nan", "infinity" and "1_0", too.
    score = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(score):
        raise FormatError(name_of(path), line, f"score {text!r}: must be a finite number, or None if it is missing")
    return score


def stem(path: str | Path) -> str:
    """Returns the name of a metric whose file does not name it.

    >>> stem("scores/BLEU-refA.seg.score"), stem("mini.jsonl.gz")
    ('BLEU-refA', 'mini')
    """
    return re.sub(r"(\.(sys|seg|score|jsonl|json|csv|tsv|txt|gz))+$", "", Path(name_of(path)).name)


def _csv_rows(path: str | Path, first_segment: int) -> Iterator[_Row]:
    header: list[str] = []
    for number, cells in enumerate(map(_cells, read_lines(path)), start=1):
        header = header or [cell.lower() for cell in cells]
        if unknown := [name for name in header if name not in _CSV_COLUMNS or header.count(name) > 1]:
            allowed = f"must be {one_of(_CSV_COLUMNS)}, each once"
            raise FormatError(name_of(path), number, f"column {unknown[0]!r}: {allowed}")
        if len(cells) != len(header):
            raise FormatError(name_of(path), number, f"{len(cells)} fields: must be {len(header)}, as in the header")
        if number > 1:
            row = dict(zip(header, cells, strict=True))
            segment = _to_segment(row["segment"], path, number, first_segment) if row.get("segment") else None
            name, score = row.get("metric") or stem(path), to_score(row["score"] or "None", path, number)
            yield _Row(number, name, row.get("lang_pair"), row["system"], segment, score, None, row.get("document"))


def _cells(line: str) -> list[str]:
    return next(csv.reader([line]), [])


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
    """Yields the rows of a submission. All years have the same order of fields, of which they lack different ones."""
    for number, line in enumerate(read_lines(path), start=1):
        fields = [one.strip() for one in line.split("\t")]
        if not 5 <= len(fields) <= 9:
            problem = f"{len(fields)} fields: must be 5 to 9 of a WMT submission, separated by tabs"
            raise FormatError(name_of(path), number, problem)
        if len(fields) in (7, 8) and _NUMBER.fullmatch(fields[-3]) and not _NUMBER.fullmatch(fields[-1]):
            fields = fields[:-2]  # ENSEMBLE and AVAILABLE
        name, lang_pair, _, *place, score = fields
        has_segment = len(place) > 1 and (len(place) == 5 or place[-1].isdecimal())
        segment = _to_segment(place.pop(), path, number) if has_segment else None
        system = place.pop()
        name = f"{name}-{place.pop()}" if place else name
        document = place[-1] if place and has_segment else None
        domain = place[0] if place and not has_segment else None
        yield _Row(number, name, lang_pair, system, segment, to_score(score, path, number), domain, document)


def _to_segment(text: str, path: str | Path, line: int, first: int = _FIRST_SEGMENT) -> int:
    if (segment := parse_whole_number(text)) is None or segment < first:
        raise FormatError(name_of(path), line, f"segment {text!r}: must be a whole number, {first} or more")
    return segment - first


def _gather(path: str | Path, rows: Iterator[_Row], first_segment: int = _FIRST_SEGMENT) -> list[MetricScores]:
    """Returns the scores by metric and language pair."""
    systems: dict[tuple[str, str | None], dict[str, float | None]] = {}
    segments: dict[tuple[str, str | None], dict[str, dict[_Place, float | None]]] = {}
    for row in rows:
        key = row.name, row.lang_pair
        of_systems, of_segments = systems.setdefault(key, {}), segments.setdefault(key, {})
        if row.segment is not None:
            own = of_segments.setdefault(row.system, {})
            if (row.document, row.segment) in own:
                raise _scored_twice(path, row, f"segment {row.segment + first_segment} of ")
            own[row.document, row.segment] = row.score
        elif row.domain is None or row.domain.casefold() == "all":
            # A system's score in one of several domains is not its score.
            if row.system in of_systems:
                raise _scored_twice(path, row, "")
            of_systems[row.system] = row.score
    for key in systems:
        if not systems[key] and not segments[key]:
            problem = f"{key[0]} has scores of single domains only: must have those of the domain 'all'"
            raise FormatError(name_of(path), None, problem)
    return [MetricScores(*key, systems[key], _by_name(segments[key])) for key in systems]


def _by_name(systems: Mapping[str, Mapping[_Place, _ValueT]]) -> dict[str, dict[SegmentName, _ValueT]]:
    names = _segment_names(place for own in systems.values() for place in own)
    return {system: {names[place]: value for place, value in own.items()} for system, own in systems.items()}


def _scored_twice(path: str | Path, row: _Row, what: str) -> FormatError:
    return FormatError(name_of(path), row.line, f"{what}system {row.system} is scored twice: must be scored once")


_Judged = dict[tuple[str, _Place], list[tuple[float | None, ...]]]
"""By system and place: the MQM score, the overall score and the estimate of each rater."""


def of_ratings(
    ratings: Iterable[Rating], name: str, *, place: str | None = None, first_segment: int | None = None
) -> list[MetricScores]:
    """Returns the MQM scores of ratings, as NAME.overall people's judgements and as NAME.expected models' estimates.

    Each is there if every rating has it; the first of them is called NAME.

    Systems of different test sets are never compared: if there are several, each language pair becomes one of its test
    set ("wmt22/en-de").

    Args:
        ratings: of one or several language pairs and test sets.
        name: of the metric or the human scores.
        place: name of the ratings in messages; None for `name`.
        first_segment: number of the first segment; None if it is not known, but probably 0.

    Raises:
        FormatError: if a rating does not name its segment and system, or a rater rates a segment twice; its line is the
            number of the rating.
    """
    place = place or name
    with located(place, None):
        ratings = [renumbered(rating, -(first_segment or 0)) for rating in ratings]
    texts = segments_of(ratings)
    found: list[MetricScores] = []
    for pair, judged_segments in _named(_judged(ratings, place)).items():
        scored = {kind: _means(judged_segments, number) for number, kind in enumerate(("", ".overall", ".expected"))}
        given = {kind: segments for kind, segments in scored.items() if segments is not None}
        if not given:
            problem = "some ratings have only errors, some only overall scores: must be alike"
            raise FormatError(place, None, problem)
        first, *_ = given
        for kind, segments in given.items():
            title, is_sure = name if kind == first else name + kind, first_segment is not None
            found.append(MetricScores(title, pair, segments=segments, texts=texts[pair], is_sure=is_sure))
    return found


def _judged(ratings: Iterable[Rating], place: str) -> dict[tuple[str | None, str | None], _Judged]:
    """Returns the judgements of each test set and language pair."""
    collected: dict[tuple[str | None, str | None], _Judged] = {}
    rated: set[tuple[SegmentKey, str | None]] = set()
    for number, rating in enumerate(ratings, start=1):
        key = rating.segment.key or SegmentKey()
        if key.system is None or key.index is None:
            raise FormatError(place, number, "no system or no index; scores are compared by both")
        if (key, rating.rater) in rated:
            problem = f"segment {key.index} of system {key.system} is rated twice by one rater"
            raise FormatError(place, number, f"{problem}: must be rated once")
        rated.add((key, rating.rater))
        score = None if rating.errors is None else mqm.score(rating, mqm.GOOGLE)
        own = collected.setdefault((key.test_set, key.lang_pair), {})
        judged = own.setdefault((key.system, (key.document, key.index)), [])
        wholes = (rating.overall, rating.estimate)
        judged.append((score, *(None if one is None else one.value for one in wholes)))
    if len(pairs := {pair for _, pair in collected}) > 1 and None in pairs:
        raise FormatError(place, None, "some ratings have a language pair and some have none; state it for all")
    return collected


def segments_of(ratings: Iterable[Rating]) -> dict[str | None, dict[str, dict[SegmentName, Segment]]]:
    """Returns the rated segments by language pair, system and name, each as `of_ratings` names them."""
    collected: dict[tuple[str | None, str | None], dict[tuple[str, _Place], Segment]] = {}
    for rating in ratings:
        key = rating.segment.key
        if key is not None and key.system is not None and key.index is not None:
            own = collected.setdefault((key.test_set, key.lang_pair), {})
            own.setdefault((key.system, (key.document, key.index)), rating.segment)
    found: dict[str | None, dict[str, dict[SegmentName, Segment]]] = {}
    for pair, segments in _named(collected).items():
        names = _segment_names(place for _, place in segments)
        of_pair = found.setdefault(pair, {})
        for (system, place), segment in segments.items():
            of_pair.setdefault(system, {})[names[place]] = segment
    return found


def _first_line(path: str | Path) -> str | None:
    """Returns the first line of a file that is read again; None if the file is empty."""
    if str(path) == "-" or (Path(path).exists() and not Path(path).is_file()):
        raise FormatError(name_of(path), None, "scores are read twice: give a regular file, not a pipe")
    return next(iter(read_lines(path)), None)


def _named(collected: Mapping[tuple[str | None, str | None], _ValueT]) -> dict[str | None, _ValueT]:
    """Returns values by the name of the language pair, which has that of the test set if there are several."""
    is_one = len({test_set for test_set, _ in collected}) == 1
    return {
        lang_pair if is_one else f"{test_set or 'none'}/{lang_pair or 'all'}": value
        for (test_set, lang_pair), value in collected.items()
    }


def _segment_names(places: Iterable[_Place]) -> dict[_Place, SegmentName]:
    """Returns the names of segments: their numbers, or DOCUMENT/NUMBER if these start again in each document."""
    distinct = set(places)
    names: dict[_Place, SegmentName] = {place: place[1] for place in distinct}
    if len(set(names.values())) < len(distinct):
        names = {place: f"{place[0] or 'none'}/{place[1]}" for place in distinct}
    return names


def _means(judged: _Judged, kind: int) -> dict[str, dict[SegmentName, float | None]] | None:
    """Returns the mean over the raters of each system and segment, None if a rating lacks this kind of score."""
    names = _segment_names(place for _, place in judged)
    means: dict[str, dict[SegmentName, float | None]] = {}
    for (system, place), values in judged.items():
        scores = [value[kind] for value in values]
        if None in scores:
            return None
        means.setdefault(system, {})[names[place]] = mqm.corpus_score([one for one in scores if one is not None])
    return means
