"""Fit which tokens become marks, on dev data after training: their confidence, thresholds and severity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from matese.annotation import ErrorSpan, Rating, Severity
from matese.annotation.severities import COUNTED
from matese.evaluation.statistics.arrays import FloatArray
from matese.model.heads.tags.decoding import Run, find_runs
from matese.model.heads.tags.marking import MarkRule, log_odds
from matese.model.operating_point import OperatingPoint
from matese.training import logistic_regression
from matese.training.judged import Judged

PRECISION = 0.5
"""Least share of the marks that overlap a mark of people: a mark that people mostly do not confirm is none."""
RIGHT_SHORT = 4.0
"""Right short texts for a wrong one in use: a right contrast counts as so many texts, since contrasts come in pairs."""
ALARMS = 0.1
"""Most right strings of a user interface that may get a mark."""
THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8)
PROBABILITIES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)
"""Least error probabilities of a token that are tried."""
_SLOPES = np.arange(0, 2.25, 0.25).tolist()
"""Log odds for each doubling of the number of pieces that are tried."""
N_SENTENCES = (2, 4, 8)
"""Numbers of sentences of which one is wrong and half of the marks must be right."""
_FEWEST_RUNS = 50
"""Least number of runs that are hits, and of others, for a fit."""
_FEWEST_MARKS = 20
"""Least number of marks whose precision counts."""
_NOTHING = 1.0
"""Threshold that no confidence reaches."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A run of tokens that may be marked.

    Attributes:
        judged: its segment.
        run: the run.
        is_hit: whether a mark of people shares a character with it.
        weight: number of texts for which its segment stands.
    """

    judged: Judged
    run: Run
    is_hit: bool
    weight: float = 1.0

    def confidence(self, marking: MarkRule) -> float:
        """Returns the confidence of the mark."""
        return marking.confidence(self.run.worst, self.run.total)


class _Attempt(NamedTuple):
    """What follows from a least error probability of a token: see `MarkingFit`."""

    marking: MarkRule
    candidates: list[Candidate]
    f1: float


@dataclass(frozen=True)
class MarkingFit:
    """The fitted values of one kind of input.

    Attributes:
        marking: the fitted values.
        n: number of candidates.
        f1: harmonic mean of the shares of marked characters that people marked, and of characters that people marked
            that are marked.
        points: precision and recall of all marks from some minimum confidences on.
        of_long: precision and recall of the marks in hypotheses that are not short, at their threshold.
        of_short: the same in short hypotheses.
        major: share of Major marks.
        major_of_raters: the same of people's.
    """

    marking: MarkRule
    n: int
    f1: float
    points: tuple[OperatingPoint, ...]
    of_long: OperatingPoint
    of_short: OperatingPoint
    major: float | None
    major_of_raters: float | None


def fit(judged: Sequence[Judged], contrasts: Sequence[Judged], *, whole_words: bool) -> MarkingFit | None:
    """Returns what makes marks for one kind of input; None with too few candidates.

    Of several least error probabilities of a token, the one is chosen whose marks agree best with people's in
    characters, at the threshold where half of the marks are confirmed.

    Args:
        judged: what people and the model say.
        contrasts: the same of right and wrong texts: short ones for the thresholds of short texts, others for that of
            texts of several pieces.
        whole_words: the setting of the model.
    """
    rated = [segment for segment in judged if segment.rating.errors is not None]
    short_contrasts = [segment for segment in contrasts if segment.is_short]
    sentences = [segment for segment in contrasts if not segment.is_short]
    attempts = [_try(rated, least, whole_words=whole_words) for least in PROBABILITIES]
    best = max((attempt for attempt in attempts if attempt is not None), key=lambda attempt: attempt.f1, default=None)
    if best is None:
        return None
    marking, candidates, f1 = best
    of_contrasts = [
        replace(candidate, weight=1.0 if errors_of(candidate.judged.rating) else RIGHT_SHORT)
        for candidate in collect(short_contrasts, marking.min_probability, whole_words=whole_words)
    ]
    marking = _of_pieces(marking, sentences, whole_words=whole_words)
    marking = _of_short(marking, [*(candidate for candidate in candidates if candidate.judged.is_short), *of_contrasts])
    marking = _of_interface(marking, of_contrasts, short_contrasts)
    marks = marked(marking, candidates)
    severities = (span.severity for segment in rated for span in errors_of(segment.rating))
    share_of_raters = _major_share([severity for severity in severities if severity is not None])
    if share_of_raters is not None and marks:
        marking = replace(marking, major=_least_major(marking, marks, share_of_raters))
    n_major = sum(marking.is_major(mark.confidence(marking), mark.run.major_share) for mark in marks)
    long = [segment for segment in rated if not segment.is_short]
    short = [segment for segment in rated if segment.is_short]
    return MarkingFit(
        marking,
        n=len(candidates),
        f1=f1,
        points=tuple(_point(marking.from_confidence(least), candidates, rated, least) for least in THRESHOLDS),
        of_long=_point(marking, candidates, long, marking.least),
        of_short=_point(marking, candidates, short, marking.least_of_short),
        major=n_major / len(marks) if marks else None,
        major_of_raters=share_of_raters,
    )


def _try(judged: Sequence[Judged], least: float, *, whole_words: bool) -> _Attempt | None:
    candidates = collect(judged, least, whole_words=whole_words)
    hits = np.array([candidate.is_hit for candidate in candidates], dtype=np.float64)
    if min(hits.sum(), (1 - hits).sum()) < _FEWEST_RUNS:
        return None
    features = np.array([[log_odds(candidate.run.worst), math.log(candidate.run.total)] for candidate in candidates])
    (worst, total), offset = logistic_regression.fit(features, hits, [1, 1])
    marking = MarkRule(
        min_probability=least,
        worst=worst,
        total=total,
        offset=offset,
        least=PRECISION,
        least_of_short=PRECISION,
        least_of_interface=PRECISION,
        pieces=0.0,
        major=PRECISION,
    )
    long = [candidate for candidate in candidates if not candidate.judged.is_short]
    threshold = lowest(marking, long)
    marking = replace(marking, least=threshold, least_of_short=threshold, least_of_interface=threshold)
    return _Attempt(marking, candidates, _character_f1(judged, marked(marking, candidates)))


def collect(judged: Sequence[Judged], least: float, *, whole_words: bool) -> list[Candidate]:
    """Returns the runs of tokens with at least this error probability in some segments."""
    return [
        Candidate(segment, run, any(_meet(run, gold) for gold in errors_of(segment.rating)))
        for segment in judged
        for run in find_runs(segment.prediction, least, whole_words=whole_words)
    ]


def _meet(run: Run, gold: ErrorSpan) -> bool:
    """Whether a run and a mark of people share a character."""
    return run.start < gold.end and gold.start < run.end


def errors_of(gold: Rating) -> tuple[ErrorSpan, ...]:
    """Returns the spans of a rating that are errors: Neutral ones are none, undecided ones are."""
    return tuple(span for span in gold.errors or () if span.severity is None or span.severity in COUNTED)


def confidences(marking: MarkRule, candidates: Sequence[Candidate]) -> FloatArray:
    """Returns the confidence of each candidate: (candidates,)."""
    return np.array([candidate.confidence(marking) for candidate in candidates])


def marked(marking: MarkRule, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Returns the candidates that are marked."""
    return [
        candidate
        for candidate in candidates
        if candidate.confidence(marking)
        >= marking.least_confidence(candidate.judged.hypothesis, candidate.judged.prediction.n_pieces)
    ]


def lowest(marking: MarkRule, candidates: Sequence[Candidate]) -> float:
    """Returns the lowest threshold from which on `PRECISION` of the marks is right, as of all higher ones.

    1 if there is none.
    """
    confidence = confidences(marking, candidates)
    hits = np.array([candidate.is_hit for candidate in candidates])
    weights = np.array([candidate.weight for candidate in candidates])
    threshold = _NOTHING
    for percent in range(99, 0, -1):
        is_marked = confidence >= percent / 100
        if is_marked.sum() >= _FEWEST_MARKS:
            if weights[is_marked & hits].sum() < PRECISION * weights[is_marked].sum():
                break
            threshold = percent / 100
    return threshold


def _of_pieces(marking: MarkRule, sentences: Sequence[Judged], *, whole_words: bool) -> MarkRule:
    """Returns the marking with the least slope by which half of the marks are right where one sentence is wrong.

    A text of several sentences has the marks of a wrong contrast and, for each other sentence, those of a right one.
    If no slope reaches half, the one that comes nearest is taken.
    """
    right = [segment for segment in sentences if not segment.rating.all_errors]
    wrong = [segment for segment in sentences if errors_of(segment.rating)]
    if min(len(right), len(wrong)) < _FEWEST_RUNS:
        return marking
    in_right = collect(right, marking.min_probability, whole_words=whole_words)
    in_wrong = collect(wrong, marking.min_probability, whole_words=whole_words)
    of_right = confidences(marking, in_right)
    of_wrong = confidences(marking, in_wrong)
    is_hit = np.array([candidate.is_hit for candidate in in_wrong], dtype=np.bool_)

    def share_of_hits(slope: float, n_sentences: int) -> float:
        least = replace(marking, pieces=slope).least_of_pieces(n_sentences)
        hits = (of_wrong[is_hit] >= least).sum() / len(wrong)
        alarms = (of_wrong[~is_hit] >= least).sum() / len(wrong)
        alarms += (n_sentences - 1) * (of_right >= least).sum() / len(right)
        return float(hits / (hits + alarms)) if hits else 0.0

    reached = {slope: min(PRECISION, *(share_of_hits(slope, n) for n in N_SENTENCES)) for slope in _SLOPES}
    return replace(marking, pieces=max(_SLOPES, key=reached.__getitem__))


def _of_short(marking: MarkRule, short: Sequence[Candidate]) -> MarkRule:
    """Returns the marking with the threshold of short texts, which is not lower than that of others."""
    if len(short) < _FEWEST_MARKS:
        return marking
    return replace(marking, least_of_short=max(marking.least, lowest(marking, short)))


def _of_interface(marking: MarkRule, candidates: Sequence[Candidate], contrasts: Sequence[Judged]) -> MarkRule:
    """Returns the marking with the threshold from which on at most `ALARMS` of the right contrasts get a mark."""
    right = {id(segment): 0.0 for segment in contrasts if not errors_of(segment.rating)}
    if len(right) < _FEWEST_RUNS:
        return replace(marking, least_of_interface=marking.least_of_short)
    for candidate in candidates:
        if (key := id(candidate.judged)) in right:
            right[key] = max(right[key], candidate.confidence(marking))
    quantile = float(np.quantile(list(right.values()), 1 - ALARMS))
    return replace(marking, least_of_interface=min(max(math.ceil(100 * quantile + 1e-6) / 100, 0.01), 1.0))


def _least_major(marking: MarkRule, marks: Sequence[Candidate], share: float) -> float:
    """Returns the probability from which on as many marks are Major as people's."""
    products = confidences(marking, marks) * [mark.run.major_share for mark in marks]
    return round(float(np.quantile(products, 1 - share)), 4)


def _major_share(severities: Sequence[Severity]) -> float | None:
    """Returns the share of Major or worse ones; None with too few."""
    n = len(severities)
    return sum(severity >= Severity.MAJOR for severity in severities) / n if n >= _FEWEST_RUNS else None


def _point(
    marking: MarkRule, candidates: Sequence[Candidate], judged: Sequence[Judged], least: float
) -> OperatingPoint:
    """Returns the precision and recall of the marks in some segments."""
    runs: dict[int, list[Run]] = {id(segment): [] for segment in judged}
    marks = [mark for mark in marked(marking, candidates) if id(mark.judged) in runs]
    for mark in marks:
        runs[id(mark.judged)].append(mark.run)
    golds = [(gold, runs[id(segment)]) for segment in judged for gold in errors_of(segment.rating)]
    n_met = sum(any(_meet(run, gold) for run in marked_runs) for gold, marked_runs in golds)
    return OperatingPoint(least, sum(mark.is_hit for mark in marks) / max(1, len(marks)), n_met / max(1, len(golds)))


def _character_f1(judged: Sequence[Judged], marks: Sequence[Candidate]) -> float:
    golds = ((segment, span) for segment in judged for span in errors_of(segment.rating))
    by_raters = {(id(segment), place) for segment, span in golds for place in range(span.start, span.end)}
    by_model = {(id(mark.judged), place) for mark in marks for place in range(mark.run.start, mark.run.end)}
    return 2 * len(by_raters & by_model) / max(1, len(by_raters) + len(by_model))
