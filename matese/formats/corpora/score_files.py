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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from matese import mqm
from matese.annotation import Rating, Segment, SegmentKey
from matese.errors import FormatError, InputError, counted, one_of
from matese.files import name_of, read_lines
from matese.formats.format import renumbered
from matese.formats.row_issues import located
from matese.formats.tables import jsonl
from matese.text.whole_numbers import parse_whole_number

_CSV_COLUMNS = ("system", "score", "metric", "lang_pair", "document", "segment")
_MQM_HEADER = ["system", "mqm_avg_score", "seg_id"]
_ValueT = TypeVar("_ValueT")
_Group = tuple[str | None, str | None]
"""Test set and language pair."""
_Place = tuple[str | None, int]
"""A document and a segment's number, which counts through the test set or in each document."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)

_FIRST_SEGMENT = 1
"""Number of the first segment in WMT submissions and MQM averages."""

SegmentName = int | str
"""The segment's number, from 0, or DOCUMENT/NUMBER if numbers start again in each document."""


def _not_a_score(line: str, n_fields: int) -> str:
    """Returns what is wrong with a line that has no system and score."""
    names = next(csv.reader([line]))
    if len(names) < 2:
        return f"{n_fields} fields: a line must be a system and its score, separated by white space"
    lacking = [name for name in ("system", "score") if name not in names]
    noun = "column" if len(lacking) == 1 else "columns"
    problem = f"a CSV without the {noun} {' and '.join(lacking)}"
    return f"{problem}: rename those of {', '.join(names)} that hold them"


def label(name: SegmentName) -> str:
    """Returns what readers call a segment: they count from 1.

    >>> label(0), label("news/9")
    ('segment 1', 'segment news/10')
    """
    document, slash, number = str(name).rpartition("/")
    return f"segment {document}{slash}{int(number) + 1}"


@dataclass(frozen=True, slots=True)
class MetricScores:
    """The scores of one metric, or of humans, in one language pair.

    Attributes:
        name: as the file names the metric, with the reference as last part if the file has one ("BLEU-refA"); otherwise
            the file's own name.
        lang_pair: None if the file does not name it.
        systems: the scores of whole systems; None if one is missing.
        segments: of each system, the scores by the segment's name; None if one is missing.
        is_positional: whether segments are numbered by their line; the file then has all of them.
        texts: the segments of each system by their names, if the file has them.
        is_sure: whether segment 0 is known to be the first. JSONL and CSV are numbered by whoever wrote them: from 0
            if they have a segment 0, and otherwise from 0 or 1.
        signature: what made the scores of ratings: the signatures of models, or the number of people; and the weights
            of MQM scores. "" for other scores.
    """

    name: str
    lang_pair: str | None = None
    systems: Mapping[str, float | None] = field(default_factory=dict)
    segments: Mapping[str, Mapping[SegmentName, float | None]] = field(default_factory=dict)
    is_positional: bool = False
    texts: Mapping[str, Mapping[SegmentName, Segment]] = field(default_factory=dict)
    is_sure: bool = True
    signature: str = ""

    def score_of(self, system: str, place: int, segment: Segment) -> float:
        """Returns the score of a segment of a system, by its number, its line, or its place among others.

        Raises:
            InputError: if there is none.
        """
        if system not in self.segments:
            raise InputError(f"{self.name} has no scores of {system}: must have {one_of(list(self.segments))}")
        index = segment.key.index if segment.key is not None else None
        line = None if segment.line is None else segment.line - 1
        number = next(number for number in (index, line, place) if number is not None)
        value = self.segments[system].get(number)
        if value is None:
            raise InputError(f"{self.name} has no score of segment {number + 1} of {system}: must have one for each")
        return value


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of a file that names its segments. A segment of None is the system as a whole.

    Segments are numbered as in the file.
    """

    name: str
    lang_pair: str | None
    system: str
    segment: int | None
    score: float | None
    domain: str | None = None
    document: str | None = None


def read(
    path: str | Path, *, name: str | None = None, first_segment: int | None = None, otherwise: int | None = None
) -> list[MetricScores]:
    """Returns the scores of each metric and language pair in a file.

    Args:
        path: in any form of the module.
        name: replaces that of the metric.
        first_segment: number of the first segment; None for that of the form.
        otherwise: number of the first segment in JSONL and CSV, whose forms have none; None if it is not known.

    Raises:
        FormatError: if the file is in no such form, scores something twice, contains NaN, is a pipe, or has no numbers
            of segments although the first is stated.
    """
    if str(path) == "-" or (Path(path).exists() and not Path(path).is_file()):
        raise FormatError(name_of(path), None, "scores are read twice: give a regular file, not a pipe")
    first = next(iter(read_lines(path)), None)
    if first is None:
        raise FormatError(name_of(path), None, "file is empty; it must hold scores")
    own_name = stem(path)
    stated = otherwise if first_segment is None else first_segment
    by_form = _FIRST_SEGMENT if first_segment is None else first_segment
    if first.lstrip().startswith("{"):
        return of_ratings(jsonl.read(path), name or own_name, place=name_of(path), first_segment=stated)
    if first.split() == _MQM_HEADER:
        metrics = _gather(path, lambda line: _mqm_row(line, own_name), n_header=1, first_segment=by_form)
    elif header := _csv_header(path, first):
        rows = _gather(path, lambda line: _csv_row(line, header, own_name), n_header=1, first_segment=stated or 0)
        metrics = [replace(scores, is_sure=stated is not None) for scores in rows]
    elif len(first.split("\t")) >= 5:
        metrics = _gather(path, _wmt_row, first_segment=by_form)
    else:
        metrics = [read_positional(path, own_name, is_segments=None)]
        if first_segment is not None:
            problem = f"no segment numbers, so that --first-segment {first_segment} has no meaning; leave it out"
            raise FormatError(name_of(path), 1, problem)
    return metrics if name is None else [replace(scores, name=name) for scores in metrics]


def of_segments(path: str | Path) -> MetricScores:
    """Returns the scores of segments in a file of one metric and language pair; raises as `read`, or an InputError."""
    metrics = [scores for scores in read(path) if scores.segments]
    if len(metrics) != 1:
        raise InputError(f"{path} has scores of segments of {len(metrics)} metrics and language pairs: must be of one")
    return metrics[0]


def _csv_header(path: str | Path, first: str) -> list[str] | None:
    """Returns the columns that the first line names, None if it names none."""
    delimiter = max(",;\t", key=first.count)
    names = [name.strip().lower() for name in first.split(delimiter)]
    if "system" not in names or len(names) == 1 or _NUMBER.fullmatch(names[-1]):
        return None
    with located(path, 1):
        if delimiter != ",":
            raise InputError(f"columns are separated by {delimiter!r}: must be separated by commas")
        if "score" not in names:
            optional = one_of(_CSV_COLUMNS[2:]).replace(" or ", " and ")
            problem = f"lacks column score: must be system, score and, if any, {optional}; rename or remove the others"
            raise InputError(problem)
        if unknown := [name for name in names if name not in _CSV_COLUMNS or names.count(name) > 1]:
            raise InputError(f"column {unknown[0]!r}: must be {one_of(_CSV_COLUMNS)}, each once")
    return names


def read_positional(path: str | Path, name: str, *, is_segments: bool | None) -> MetricScores:
    """Returns the scores of a file of SYSTEM SCORE; segments are in the order of the lines.

    Args:
        path: the file.
        name: of the metric.
        is_segments: whether it scores segments; None to infer it from the file's name (".seg.", ".sys."), or from
            whether a system has more than one line.

    Raises:
        FormatError: if a line has another form, or systems differ in their number of lines.
    """
    scores: dict[str, list[float | None]] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(read_lines(path), start=1):
        with located(path, number):
            fields = line.split()
            if len(fields) != 2:
                raise InputError(_not_a_score(line, len(fields)))
            scores.setdefault(fields[0], []).append(to_score(fields[1]))
            if len(scores[fields[0]]) == 2:
                lines[fields[0]] = number
    if is_segments is None:
        is_segments = ".seg." in Path(path).name or (".sys." not in Path(path).name and bool(lines))
    if not is_segments:
        for system, number in lines.items():
            raise FormatError(name_of(path), number, f"system {system} is scored twice; score it once")
        return MetricScores(name, systems={system: of_system[0] for system, of_system in scores.items()})
    if len({len(of_system) for of_system in scores.values()}) > 1:
        shortest, longest = (choose(scores, key=lambda system: len(scores[system])) for choose in (min, max))
        counts = (
            f"system {shortest} has {counted(len(scores[shortest]), 'line')} and {longest} {len(scores[longest]):,}"
        )
        raise FormatError(name_of(path), None, f"{counts}: must be one for each segment and system")
    numbered: dict[str, dict[SegmentName, float | None]]
    numbered = {system: dict(enumerate(of_system)) for system, of_system in scores.items()}
    return MetricScores(name, segments=numbered, is_positional=True)


def to_score(text: str) -> float | None:
    """Returns a score, None for "None". Raises InputError if it is not a finite number."""
    if text == "None":
        return None
    # float() would accept "nan", "infinity" and "1_0", too.
    score = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(score):
        raise InputError(f"score {text!r}: must be a finite number, or None if it is missing")
    return score


def stem(path: str | Path) -> str:
    """Returns the name of a metric whose file does not name it.

    >>> stem("scores/BLEU-refA.seg.score"), stem("mini.jsonl.gz")
    ('BLEU-refA', 'mini')
    """
    return re.sub(r"(\.(sys|seg|score|jsonl|json|csv|tsv|txt|gz))+$", "", Path(name_of(path)).name)


def _csv_row(line: str, header: Sequence[str], name: str) -> _Row:
    cells = next(csv.reader([line]), [])
    if len(cells) != len(header):
        raise InputError(f"{len(cells)} fields: must be {len(header)}, as in the header")
    row = dict(zip(header, cells, strict=True))
    segment = to_segment(row["segment"]) if row.get("segment") else None
    score = to_score(row["score"] or "None")
    return _Row(
        row.get("metric") or name, row.get("lang_pair"), row["system"], segment, score, document=row.get("document")
    )


def _mqm_row(line: str, name: str) -> _Row:
    fields = line.split()
    if len(fields) != 3:
        raise InputError(f"{len(fields)} fields; a line needs system, score and segment")
    return _Row(name, None, fields[0], to_segment(fields[2]), to_score(fields[1]))


def _wmt_row(line: str) -> _Row:
    """Returns the row of a submission. All years have the same order of fields, of which they lack different ones."""
    fields = [field.strip() for field in line.split("\t")]
    if not 5 <= len(fields) <= 9:
        raise InputError(f"{len(fields)} fields: must be 5 to 9 of a WMT submission, separated by tabs")
    if len(fields) in (7, 8) and _NUMBER.fullmatch(fields[-3]) and not _NUMBER.fullmatch(fields[-1]):
        fields = fields[:-2]  # ENSEMBLE and AVAILABLE
    name, lang_pair, _, *place, score = fields
    has_segment = len(place) > 1 and (len(place) == 5 or place[-1].isdecimal())
    segment = to_segment(place.pop()) if has_segment else None
    system = place.pop()
    name = f"{name}-{place.pop()}" if place else name
    document = place[-1] if place and has_segment else None
    domain = place[0] if place and not has_segment else None
    return _Row(name, lang_pair, system, segment, to_score(score), domain, document)


def to_segment(text: str) -> int:
    """Returns the number of a segment as a file has it. Raises InputError if it is not a whole number."""
    if (segment := parse_whole_number(text)) is None:
        raise InputError(f"segment {text!r}: must be a whole number")
    return segment


def _gather(
    path: str | Path, parse: Callable[[str], _Row], *, n_header: int = 0, first_segment: int
) -> list[MetricScores]:
    """Returns the scores by metric and language pair, with segments numbered from 0.

    `parse` raises InputError for a malformed line.
    """
    systems: dict[tuple[str, str | None], dict[str, float | None]] = {}
    segments: dict[tuple[str, str | None], dict[tuple[str, _Place], float | None]] = {}
    for number, line in enumerate(read_lines(path), start=1):
        if number <= n_header:
            continue
        with located(path, number):
            row = parse(line)
            key = row.name, row.lang_pair
            of_systems = systems.setdefault(key, {})
            of_segments = segments.setdefault(key, {})
            if row.segment is not None:
                if row.segment < first_segment:
                    raise InputError(f"segment {row.segment}: must be a whole number, {first_segment} or more")
                place = row.system, (row.document, row.segment - first_segment)
                if place in of_segments:
                    what = f"segment {row.segment} of system {row.system}"
                    raise InputError(f"{what} is scored twice; score it once")
                of_segments[place] = row.score
            elif row.domain is None or row.domain.casefold() == "all":
                # A system's score in one of several domains is not its score.
                if row.system in of_systems:
                    raise InputError(f"system {row.system} is scored twice; score it once")
                of_systems[row.system] = row.score
    for key in systems:
        if not systems[key] and not segments[key]:
            problem = f"{key[0]} has scores of single domains only: must have those of the domain 'all'"
            raise FormatError(name_of(path), None, problem)
    return [MetricScores(*key, systems[key], _by_name(segments[key])) for key in systems]


def of_ratings(
    ratings: Iterable[Rating], name: str, *, place: str | None = None, first_segment: int | None = None
) -> list[MetricScores]:
    """Returns the MQM scores of ratings, as NAME.overall people's judgements and as NAME.expected models' estimates.

    Each is the mean over the raters, and is there if every rating has it; the first of them is called NAME, or in error
    span annotation, whose scores are official, the judgements (and the MQM scores NAME.mqm).

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
    by_group = _by_group(ratings, place)
    test_sets = {test_set for test_set, _ in by_group}
    metrics: list[MetricScores] = []
    for (test_set, lang_pair), judged in by_group.items():
        pair = lang_pair if len(test_sets) == 1 else f"{test_set or 'none'}/{lang_pair or 'all'}"
        texts = _by_name({where: of_segment[0].segment for where, of_segment in judged.items()})
        scored = {
            ".mqm": _means(judged, lambda rating: None if rating.errors is None else mqm.score(rating, mqm.GOOGLE)),
            ".overall": _means(judged, lambda rating: None if rating.overall is None else rating.overall.value),
            ".expected": _means(judged, lambda rating: None if rating.estimate is None else rating.estimate.value),
        }
        complete = {kind: segments for kind, segments in scored.items() if segments is not None}
        if not complete:
            problem = "some ratings have only errors, others only overall scores; all need the same"
            raise FormatError(place, None, problem)
        rated = [rating for of_segment in judged.values() for rating in of_segment]
        is_esa = all(rating.overall is not None and rating.overall.scale == "esa" for rating in rated)
        main = ".overall" if is_esa else next(iter(complete))
        for kind in sorted(complete, key=lambda kind: kind != main):
            segments = complete[kind]
            title = name if kind == main else name + kind
            is_sure = first_segment is not None
            signature = _signature(rated, is_mqm=kind == ".mqm")
            scores = MetricScores(title, pair, segments=segments, texts=texts, is_sure=is_sure, signature=signature)
            metrics.append(scores)
    return metrics


def _signature(ratings: Sequence[Rating], *, is_mqm: bool) -> str:
    """Returns the signatures of the models that rated, or how many people did, and the weights of MQM scores."""
    raters = {rating.rater: rating for rating in ratings}
    if all(map(mqm.is_signature, raters)):
        return " ".join(sorted(set(mqm.signatures(raters.values(), mqm.GOOGLE))))
    weights = f"weights:{mqm.GOOGLE.name}" if is_mqm else ""
    mean = f"mean of {len(raters)} raters" if len(raters) > 1 else ""
    return "|".join(filter(None, (weights, mean)))


def _by_group(ratings: Iterable[Rating], place: str) -> dict[_Group, dict[tuple[str, _Place], list[Rating]]]:
    """Returns the ratings of each system and segment."""
    groups: dict[_Group, dict[tuple[str, _Place], list[Rating]]] = {}
    for number, rating in enumerate(ratings, start=1):
        key = rating.segment.key or SegmentKey()
        if key.system is None or key.index is None:
            raise FormatError(place, number, "no system or no index; scores are compared by both")
        group = groups.setdefault((key.test_set, key.lang_pair), {})
        of_segment = group.setdefault((key.system, (key.document, key.index)), [])
        if any(earlier.rater == rating.rater for earlier in of_segment):
            problem = f"{label(key.index)} of system {key.system} is rated twice by one rater"
            raise FormatError(place, number, f"{problem}; rate it once")
        of_segment.append(rating)
    if len(pairs := {pair for _, pair in groups}) > 1 and None in pairs:
        raise FormatError(place, None, "some ratings have a language pair and some have none; state it for all")
    return groups


def _means(
    judged: Mapping[tuple[str, _Place], Sequence[Rating]], score: Callable[[Rating], float | None]
) -> dict[str, dict[SegmentName, float | None]] | None:
    """Returns the mean over the raters of each system and segment, None if a rating lacks this kind of score."""
    means: dict[tuple[str, _Place], float | None] = {}
    for where, ratings in judged.items():
        scores = [number for rating in ratings if (number := score(rating)) is not None]
        if len(scores) < len(ratings):
            return None
        means[where] = mqm.corpus_score(scores)
    return _by_name(means)


def _by_name(values: Mapping[tuple[str, _Place], _ValueT]) -> dict[str, dict[SegmentName, _ValueT]]:
    """Returns values by system and name of the segment."""
    places = {place for _, place in values}
    are_unique = len({number for _, number in places}) == len(places)
    named: dict[str, dict[SegmentName, _ValueT]] = {}
    for (system, (document, number)), value in values.items():
        named.setdefault(system, {})[number if are_unique else f"{document or 'none'}/{number}"] = value
    return named
