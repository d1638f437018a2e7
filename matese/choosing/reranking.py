"""Reranking: the candidate with the highest weighted sum of features, without a reference; fitting of the weights."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from matese import mqm
from matese.annotation import Rating
from matese.choosing import choice, preferences
from matese.choosing.choice import Choice
from matese.errors import InputError, UsageError, unknown
from matese.evaluation.metrics import chrf
from matese.evaluation.statistics.arrays import FloatArray
from matese.formats.candidates import Candidates
from matese.streams import grouped
from matese.text.words import count_words

if TYPE_CHECKING:
    from matese.model.annotator import Annotator

_MAX_PAIRS = 200
_PENALTY = 1e-3


@dataclass(frozen=True, slots=True)
class FeatureWeights:
    """The weight of each feature in the score of a candidate; if all are 0, the first candidate is chosen.

    Attributes:
        expected_score: of the model, higher is better.
        minor: for each Minor error.
        major: for each Major or Critical error.
        model_score: for each point of the score in the n-best list, a log-probability.
        length: for each word.
    """

    expected_score: float = 0.0
    minor: float = 0.0
    major: float = 0.0
    model_score: float = 0.0
    length: float = 0.0

    def __post_init__(self) -> None:
        if not all(map(np.isfinite, asdict(self).values())):
            raise InputError(f"weights {asdict(self)}: must be finite numbers")


FEATURES = tuple(field.name for field in fields(FeatureWeights))
OF_EXPECTED_SCORE = FeatureWeights(expected_score=1.0)
OF_ERRORS = FeatureWeights(minor=-mqm.MATESE.minor, major=-mqm.MATESE.major)
"""The default for ratings without an expected score."""


def rerank(
    candidates: Sequence[Sequence[str]],
    sources: Sequence[str],
    *,
    model: str | Path = "mini",
    weights: Mapping[str, float] | None = None,
    model_scores: Sequence[Sequence[float]] | None = None,
) -> list[Choice]:
    """Returns the best translation of each source, without a reference.

    Args:
        candidates: the translations of each source.
        sources: one text for each list of candidates.
        model: what `matese.load` takes; it must read a hypothesis with its source alone.
        weights: of the features in `FEATURES`; None for the expected score alone.
        model_scores: log-probabilities, one for each candidate.

    Raises:
        InputError: if the numbers of texts do not match, a weight has no feature, or the model cannot be used.

    >>> (choice,) = rerank([["Das Haus ist 1O m hoch!!", "Das Haus ist 10 m hoch."]], ["The house is 10 m high."])
    >>> choice.index, choice.text
    (1, 'Das Haus ist 10 m hoch.')
    """
    from matese.model.annotator import load

    lists = choice.make_candidates(candidates, sources, model_scores)
    annotator = load(model, n_segments=sum(map(len, candidates)))
    chosen = None if weights is None else make_weights(weights)
    return [choose(*pair, chosen) for pair in rated(lists, annotator)]


def tune_reranking(
    candidates: Sequence[Sequence[str]],
    sources: Sequence[str],
    gold: Sequence[Sequence[float | None]],
    *,
    model: str | Path = "mini",
    model_scores: Sequence[Sequence[float]] | None = None,
) -> dict[str, float]:
    """Returns the weights of the features that order the candidates of development data as `gold` does.

    Args:
        candidates: as `rerank` takes them, and so are `sources`, `model` and `model_scores`.
        sources: one text for each list of candidates.
        gold: how good each candidate is, by people or by a metric with a reference; None where that is not known.
        model: reads a hypothesis with its source alone.
        model_scores: log-probabilities.

    The result is empty if no weights choose better than the given order on these data.

    Raises:
        InputError: as `rerank`, or if the gold values do not tell candidates apart.
    """
    from matese.model.annotator import load

    lists = choice.make_candidates(candidates, sources, model_scores)
    annotator = load(model, n_segments=sum(map(len, candidates)))
    pairs = list(rated(lists, annotator))
    _, weights = keep_best(pairs, gold, tune(features(pairs), gold))
    return {name: value for name, value in asdict(weights).items() if value}


def make_weights(weights: Mapping[str, float]) -> FeatureWeights:
    """Returns weights by the name of their feature. Raises a UsageError for an unknown name."""
    for name in weights:
        if name not in FEATURES:
            raise UsageError(unknown("feature", name, FEATURES))
    return FeatureWeights(**weights)


def rated(lists: Iterable[Candidates], annotator: Annotator) -> Iterator[tuple[Candidates, list[Rating]]]:
    """Yields each list of candidates with their ratings, while further ones are annotated in the same batches."""
    if preferences.compares(annotator):
        every = list(lists)
        groups = [candidates.segments() for candidates in every]
        yield from zip(every, preferences.rate(annotator, groups), strict=True)
        return
    yield from grouped(annotator.annotate_segments, ((candidates, candidates.segments()) for candidates in lists))


def choose(candidates: Candidates, ratings: Sequence[Rating], weights: FeatureWeights | None = None) -> Choice:
    """Returns the candidate with the highest weighted sum of features.

    Args:
        candidates: of a source.
        ratings: one for each.
        weights: of the features; None for the expected score or, without one, the errors with the penalties of
            `mqm.MATESE`.

    Raises:
        InputError: if a feature that has a weight is not known.
    """
    features = [features_of(rating, score) for rating, score in _with_scores(candidates, ratings)]
    if weights is None:
        weights = OF_EXPECTED_SCORE if all("expected_score" in of_candidate for of_candidate in features) else OF_ERRORS
    used = {name: weight for name, weight in asdict(weights).items() if weight}
    for of_candidate in features:
        for name in used:
            if name not in of_candidate:
                raise InputError(f"no {name.replace('_', ' ')} of a candidate: {_NEEDED[name]}")
    sums = [float(sum(weight * of_candidate[name] for name, weight in used.items())) for of_candidate in features]
    return choice.best(candidates, sums, features)


_NEEDED = {
    "expected_score": "must be a model that gives one, or no weight for it",
    "minor": "must be a model that marks errors, or weights for other features",
    "major": "must be a model that marks errors, or weights for other features",
    "model_score": "must be an n-best list with scores, or no weight for it",
}


def features_of(rating: Rating, model_score: float | None = None) -> dict[str, float]:
    """Returns the features of a candidate, as far as they are known.

    >>> from matese import Segment
    >>> features_of(Rating(Segment("Das ist gut"), None, ()), -1.5)
    {'minor': 0.0, 'major': 0.0, 'model_score': -1.5, 'length': 3.0}
    """
    known: dict[str, float] = {}
    if (expected := mqm.expected_score(rating)) is not None:
        known["expected_score"] = expected
    if rating.errors is not None:
        known |= dict(zip(("minor", "major"), map(float, mqm.count(rating.all_errors)), strict=True))
    if model_score is not None:
        known["model_score"] = model_score
    known["length"] = float(count_words(rating.segment.hypothesis))
    return known


def chrf_of(lists: Sequence[Candidates]) -> list[list[float | None]]:
    """Returns chrF of each candidate, the highest of its references.

    Raises:
        InputError: if a source has no reference.
    """
    scores: list[list[float | None]] = []
    for number, candidates in enumerate(lists):
        if not candidates.references:
            raise InputError(f"source {number} has no reference; chrF needs one")
        pairs = chrf.pairwise([*candidates.texts, *candidates.references])
        n_texts = len(candidates.texts)
        scores.append(pairs[:n_texts, n_texts:].max(1).tolist())
    return scores


def scores_of(lists: Sequence[Candidates], ratings: Iterable[Rating]) -> list[list[float | None]]:
    """Returns the mean score that people gave to each candidate; None for one that nobody rated."""
    scores: dict[tuple[str | None, str], list[float]] = {}
    for rating in ratings:
        of_text = scores.setdefault((rating.segment.source, rating.segment.hypothesis), [])
        if rating.errors is not None:
            of_text.append(mqm.score(rating))
        elif rating.whole is not None:
            of_text.append(rating.whole.value)
    rows = [[scores.get((candidates.source, text)) for text in candidates.texts] for candidates in lists]
    return [[fmean(of_text) if of_text else None for of_text in row] for row in rows]


def mean_gold(
    rated: Sequence[tuple[Candidates, list[Rating]]],
    gold: Sequence[Sequence[float | None]],
    weights: FeatureWeights,
) -> tuple[int, dict[str, float]]:
    """Returns the number of sources, and the mean gold value of the first, default, tuned and best candidates.

    Sources whose choice has no gold value are left out.
    """
    rows = []
    for (candidates, ratings), scores in zip(rated, gold, strict=True):
        chosen = [0, choose(candidates, ratings).index, choose(candidates, ratings, weights).index]
        known = [score for score in scores if score is not None]
        row = [scores[number] for number in chosen]
        if None not in row:
            rows.append([*row, max(known)])
    means = np.array(rows, np.float64).mean(0) if rows else ()
    return len(rows), dict(zip(("first", "default", "tuned", "best"), map(float, means), strict=False))


def keep_best(
    rated: Sequence[tuple[Candidates, list[Rating]]], gold: Sequence[Sequence[float | None]], tuned: FeatureWeights
) -> tuple[str, FeatureWeights]:
    """Returns what chooses best on the development data, "tuned", "default" or "first", and its weights.

    Fitted weights order pairs of candidates, and may yet choose worse than the default or the given order does; without
    weights, the first candidate is chosen.
    """
    _, means = mean_gold(rated, gold, tuned)
    default = OF_EXPECTED_SCORE if all("expected_score" in one for row in features(rated) for one in row) else OF_ERRORS
    known = {"tuned": tuned, "default": default, "first": FeatureWeights()}
    best = max(known, key=lambda name: means.get(name, -math.inf))  # of equal ones the first
    return best, known[best]


def features(rated: Iterable[tuple[Candidates, list[Rating]]]) -> list[list[dict[str, float]]]:
    """Returns the features of each candidate of each source."""
    return [[features_of(*pair) for pair in _with_scores(candidates, ratings)] for candidates, ratings in rated]


def tune(
    features: Sequence[Sequence[Mapping[str, float]]], gold: Sequence[Sequence[float | None]], *, seed: int = 0
) -> FeatureWeights:
    """Returns weights with which the better of two candidates of a source has the higher sum.

    A logistic regression of the differences between two candidates, as in PRO (Hopkins and May 2011, "Tuning as
    Ranking"), each pair weighted by the difference of its gold values; of a long list some pairs are drawn. Features
    that are not known of all candidates, or are equal in all pairs, get no weight. The largest weight, in typical
    differences of its feature, is 1.

    Args:
        features: of each candidate of each source.
        gold: likewise, higher is better; None where it is not known.
        seed: of the draw.

    Raises:
        InputError: if no two candidates of a source differ in their gold value and in a feature.
    """
    if list(map(len, features)) != list(map(len, gold)):
        raise UsageError("candidates and gold values differ in number; each candidate needs one")
    names = [
        name for name in FEATURES if all(name in of_candidate for of_source in features for of_candidate in of_source)
    ]
    pairs, weights = _pairs(features, gold, names, np.random.default_rng(seed))
    scales = np.sqrt((pairs**2).mean(0)) if len(pairs) else np.zeros(len(names))
    if not scales.any():
        raise InputError(
            "no two candidates of a source differ in both gold values and features, so no weights can be fitted"
        )
    from scipy.optimize import minimize

    is_used = scales > 0
    scaled = pairs[:, is_used] / scales[is_used]
    shares = weights / weights.sum()

    def loss(coefficients: FloatArray) -> tuple[float, FloatArray]:
        margins = scaled @ coefficients
        gradient = -(shares * np.exp(-np.logaddexp(0, margins))) @ scaled + 2 * _PENALTY * coefficients
        return float(shares @ np.logaddexp(0, -margins) + _PENALTY * coefficients @ coefficients), gradient

    fitted = minimize(loss, np.zeros(is_used.sum()), jac=True, method="L-BFGS-B").x
    fitted /= np.abs(fitted).max() * scales[is_used]
    used = [name for name, is_in in zip(names, is_used, strict=True) if is_in]
    return FeatureWeights(**{name: round(float(value), 6) for name, value in zip(used, fitted, strict=True)})


def _pairs(
    features: Sequence[Sequence[Mapping[str, float]]],
    gold: Sequence[Sequence[float | None]],
    names: Sequence[str],
    random: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Returns features of the better candidate minus those of the worse, (pairs, names), and differences of gold."""
    differences = [np.zeros((0, len(names)))]
    weights = [np.zeros(0)]
    for of_source, values in zip(features, gold, strict=True):
        known = [number for number, value in enumerate(values) if value is not None]
        table = np.array([[of_source[number][name] for name in names] for number in known]).reshape(
            len(known), len(names)
        )
        numbers = np.array([values[number] for number in known], np.float64)
        better, worse = np.nonzero(numbers[:, None] > numbers[None, :])
        if len(better) > _MAX_PAIRS:
            drawn = random.choice(len(better), _MAX_PAIRS, replace=False)
            better = better[drawn]
            worse = worse[drawn]
        differences.append(table[better] - table[worse])
        weights.append(numbers[better] - numbers[worse])
    return np.concatenate(differences), np.concatenate(weights)


def _with_scores(candidates: Candidates, ratings: Sequence[Rating]) -> Iterator[tuple[Rating, float | None]]:
    scores = candidates.model_scores or (None,) * len(candidates.texts)
    return zip(ratings, scores, strict=True)
