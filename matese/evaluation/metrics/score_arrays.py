"""Scores of systems and of their segments in arrays, by a human or a metric, and those of one language pair together.

A missing score is NaN in these arrays and nowhere else: files that hold NaN are rejected when they are read.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from matese.errors import InputError, counted
from matese.evaluation.statistics.arrays import BoolArray, FloatArray, row_means
from matese.formats.corpora import score_files
from matese.formats.corpora.score_files import MetricScores, SegmentName

MIN_SYSTEMS = 3
"""The correlation of two systems is always 1 or -1."""

RANKED_ROWS = ("better", "worse")
"""The rows of ranked pairs of translations."""
NO_DOMAIN = "none"
"""Name of the domain of segments without one."""
_MAD_SCALE = 1.483
_MAD_CUTOFF = 2.5


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """The scores of some systems by a human or a metric.

    Attributes:
        name: of the metric or of the human scores.
        systems: their names, each once.
        system: (systems,), NaN where missing.
        segment: (systems, segments), NaN where missing; None if only systems are scored.
        numbers: names of the segments in messages; empty if they are numbered from 0.
    """

    name: str
    systems: tuple[str, ...]
    system: FloatArray
    segment: FloatArray | None = None
    numbers: tuple[SegmentName, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.systems)) != len(self.systems):
            raise ValueError(f"{self.name} names a system twice; it must score each once")
        n_systems = len(self.systems)
        if {self.system.shape, *([] if self.segment is None else [self.segment.shape[:-1]])} != {(n_systems,)}:
            raise ValueError(f"{self.name}: scores of other shapes than ({n_systems},) and ({n_systems}, segments)")

    def select(self, systems: Sequence[str]) -> Scores:
        """Returns the scores of these systems, in this order.

        Raises:
            InputError: if a system has no scores.
        """
        rows = {system: row for row, system in enumerate(self.systems)}
        for system in systems:
            if system not in rows:
                allowed = f"must score every system that has a human score, {', '.join(systems)}"
                raise InputError(f"{self.name} lacks system {system}: {allowed}")
        order = [rows[system] for system in systems]
        segment = None if self.segment is None else self.segment[order]
        return replace(self, systems=tuple(systems), system=self.system[order], segment=segment)


@dataclass(frozen=True, slots=True, eq=False)
class LangPairScores:
    """Human and metric scores of the systems of one language pair.

    Attributes:
        lang_pair: "en-de".
        gold: human scores of the systems that are compared.
        metrics: scores of the same systems in the same order, by the metric's name; see `match`.
        reference: that the metrics used; None if it is unknown.
        full_names: name of each metric with its reference.
        signatures: of the computed metrics.
        left_out: systems that are not compared, and why.
        domain: that all segments are of; None for those of all domains.
        sources: of the segments, each once; none if they are unknown.
        ranked: None, unless humans only ranked pairs of translations (daRR): the systems of these. The rows of `gold`
            and `metrics` are then `RANKED_ROWS` instead of systems, and a column is a pair.
        ranked_pairs: the better and the worse system of each column.
    """

    lang_pair: str
    gold: Scores
    metrics: Mapping[str, Scores]
    reference: str | None = None
    full_names: Mapping[str, str] = field(default_factory=dict)
    signatures: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    domain: str | None = None
    sources: frozenset[str] = frozenset()
    ranked: tuple[str, ...] | None = None
    ranked_pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, lang_pair: str, gold: Scores, metrics: Iterable[Scores]) -> LangPairScores:
        """Returns the scores of the systems that have a human score.

        Raises:
            InputError: if a metric lacks a system or a segment that has a human score, or none has one.
        """
        has_score = np.isfinite(gold.system)
        if gold.segment is not None:
            has_score |= np.isfinite(gold.segment).any(axis=1)
        if not has_score.any():
            raise InputError(f"{gold.name}: no system has a human score; at least one needs it")
        rated = gold.select(list(itertools.compress(gold.systems, has_score)))
        return cls(lang_pair, rated, {metric.name: match(rated, metric) for metric in metrics})

    def select(self, is_selected: Sequence[bool] | BoolArray) -> LangPairScores:
        """Returns the scores of some of the systems."""
        systems = list(itertools.compress(self.gold.systems, is_selected))
        metrics = {name: metric.select(systems) for name, metric in self.metrics.items()}
        return replace(self, gold=self.gold.select(systems), metrics=metrics)


def by_domain(pair: LangPairScores, domains: Mapping[SegmentName, str | None]) -> list[LangPairScores]:
    """Returns the scores of the segments of each domain, named "LANG_PAIR.DOMAIN", in the order of the domains' names.

    The score of a system is the mean of its segments of the domain. Systems without a human score there are left out,
    and so are metrics that score systems only. Segments without a domain are of the domain "none".

    Args:
        pair: human and metric scores.
        domains: of the segments, by their names.

    Raises:
        InputError: if humans scored systems only, or no segment has a domain.
    """
    if pair.gold.segment is None or not any(domains.values()):
        lacking = "segments have no human score" if pair.gold.segment is None else "segments have no domain"
        allowed = "must be in human scores of segments, and in documents/LP.docs or the keys of the ratings"
        raise InputError(f"{pair.lang_pair}: {lacking}: {allowed} for figures by domain")
    names = np.array([domains.get(number) or NO_DOMAIN for number in pair.gold.numbers])
    parts = {domain: _of_domain(pair, domain, names == domain) for domain in sorted(set(names.tolist()))}
    return [part for part in parts.values() if part.gold.systems]


def _of_domain(pair: LangPairScores, domain: str, is_member: BoolArray) -> LangPairScores:
    assert pair.gold.segment is not None
    is_rated = np.isfinite(pair.gold.segment[:, is_member])

    def restricted(scores: Scores) -> Scores:
        assert scores.segment is not None
        segment = scores.segment[:, is_member]
        numbers = tuple(itertools.compress(scores.numbers, is_member))
        return replace(scores, system=row_means(np.where(is_rated, segment, np.nan)), segment=segment, numbers=numbers)

    metrics = {name: restricted(metric) for name, metric in pair.metrics.items() if metric.segment is not None}
    gold = restricted(pair.gold)
    part = replace(pair, lang_pair=f"{pair.lang_pair}.{domain}", gold=gold, metrics=metrics, domain=domain)
    return part.select(np.asarray(is_rated.any(axis=1)))


def from_segments(
    name: str, segments: Mapping[str, Mapping[SegmentName, float | None]], numbers: Sequence[SegmentName]
) -> Scores:
    """Returns scores from those of segments; the score of a system is the mean of its segments.

    The columns are in the order of `numbers`; None is a missing score.
    """
    rows = [[_or_nan(scores.get(number)) for number in numbers] for scores in segments.values()]
    table = np.array(rows, dtype=np.float64).reshape(len(segments), len(numbers))
    return Scores(name, tuple(segments), row_means(table), table, tuple(numbers))


def _or_nan(score: float | None) -> float:
    return math.nan if score is None else score


def from_file(file: MetricScores, gold: MetricScores) -> Scores:
    """Returns the scores of a file, with the segments of the human scores as columns.

    Raises:
        InputError: if the segments of one file are not those of the other.
    """
    check_same_segments(file, gold)
    numbers = _numbers(gold)
    names = list(dict.fromkeys([*file.systems, *file.segments]))
    segments = {name: file.segments.get(name, {}) for name in names}
    scores = from_segments(file.name, segments, numbers if file.segments else [])
    stated = np.array([_or_nan(file.systems.get(name)) for name in names])
    scores = replace(scores, system=np.where(np.isfinite(stated), stated, scores.system))
    return scores if file.segments else replace(scores, segment=None, numbers=())


def _numbers(file: MetricScores) -> list[SegmentName]:
    return sorted({number for scores in file.segments.values() for number in scores})


def check_same_segments(file: MetricScores, gold: MetricScores) -> None:
    """Checks that a number means the same segment in both files: by texts, or else by numbers.

    Raises:
        InputError: if it does not, or if nothing shows that it does.
    """
    if file.texts and gold.texts:
        both = [
            (system, name, text.hypothesis != gold.texts[system][name].hypothesis)
            for system, texts in file.texts.items()
            for name, text in texts.items()
            if name in gold.texts.get(system, {})
        ]
        differing = [(system, name) for system, name, is_other in both if is_other]
        # Raters and tools change single texts; numbers that are off by one make nearly all differ.
        if 2 * len(differing) > len(both):
            counts = f"{len(differing):,} of {len(both):,} texts of {file.name} differ from those of {gold.name}"
            system, name = differing[0]
            raise InputError(
                f"{counts} (first: {score_files.label(name)} of {system}); number the segments of both alike"
            )
        return
    numbers = _positions(file)
    gold_numbers = _positions(gold)
    if not numbers or not gold_numbers:
        return
    if file.is_positional and gold.is_positional and len(numbers) != len(gold_numbers):
        counts = f"{file.name} scores {counted(len(numbers), 'segment')} a system and {gold.name} {len(gold_numbers):,}"
        raise InputError(f"{counts}; both need the same segments")
    unsure = [
        scores.name
        for scores, first in ((file, numbers[0]), (gold, gold_numbers[0]))
        if not scores.is_sure and first > 0  # a file with a segment 0 counts from 0
    ]
    if len(unsure) == 2 and numbers == gold_numbers:  # whoever numbered both began with the same number
        return
    goes_beyond = (gold.is_positional and numbers[-1] > gold_numbers[-1]) or (
        file.is_positional and gold_numbers[-1] > numbers[-1]
    )
    if unsure or goes_beyond:
        ranges = (
            f"{file.name} has segments {numbers[0]} to {numbers[-1]} and {gold.name} {gold_numbers[0]} to "
            f"{gold_numbers[-1]}"
        )
        if not unsure:
            raise InputError(f"{ranges}: must be the same ones")
        problem = f"{ranges}, and nothing shows whether {' and '.join(unsure)} counts from 0 or from 1"
        raise InputError(f"{problem}; state it with --first-segment 0 or 1, or FILE=0 or FILE=1 for a single file")


def _positions(file: MetricScores) -> list[int]:
    """Returns the numbers of a file's segments, in ascending order, whatever their documents."""
    names = {name for scores in file.segments.values() for name in scores}
    return sorted({name if isinstance(name, int) else int(name.rpartition("/")[2]) for name in names})


def match(gold: Scores, metric: Scores) -> Scores:
    """Returns a metric's scores of the systems that have a human score, in the same order.

    Segments are matched by position. Scores without a human score may be missing.

    Raises:
        InputError: if the metric lacks a system or a segment with a human score, or has another number of segments.
    """
    matched = metric.select(gold.systems)
    for system, human, score in zip(gold.systems, gold.system, matched.system, strict=True):
        if np.isfinite(human) and not np.isfinite(score):
            raise InputError(f"{metric.name} has no score of system {system}, which has a human score")
    if gold.segment is None or matched.segment is None:
        return replace(matched, segment=None) if gold.segment is None else matched
    n_gold = gold.segment.shape[1]
    n_metric = matched.segment.shape[1]
    if n_gold != n_metric:
        counts = f"{metric.name} scores {counted(n_metric, 'segment')} a system and {gold.name} {n_gold:,}"
        raise InputError(f"{counts}; both need the same segments")
    missing = np.argwhere(np.isfinite(gold.segment) & ~np.isfinite(matched.segment))
    if len(missing):
        row, column = missing[0]
        name = gold.numbers[column] if gold.numbers else int(column)
        place = f"{score_files.label(name)} of system {gold.systems[row]}"
        more = f" (and {len(missing) - 1:,} more)" if len(missing) > 1 else ""
        raise InputError(f"{metric.name} lacks {place}{more}: must score every segment that has a human score")
    return matched


def outliers(scores: FloatArray) -> BoolArray:
    """Returns which systems are further from the median than 2.5 times the scaled median absolute deviation.

    Mathur et al. 2020, section 4.2. If more than half of the systems have the same score, none is an outlier.
    Shape: (systems,).
    """
    distances = np.abs(scores - np.median(scores))
    typical = _MAD_SCALE * float(np.median(distances))
    if typical == 0:
        return np.zeros(len(scores), dtype=np.bool_)
    return np.asarray(distances / typical > _MAD_CUTOFF)
