"""Reranking: the candidate with the highest weighted sum of features, without a reference; fitting of the weights."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
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


_OF_MODEL = ("expected_score", "minor", "major")
_NEEDED = {
    "expected_score": "must be a model that gives one, or no weight for it",
    "minor": "must be a model that marks errors, or weights for other features",
    "major": "must be a model that marks errors, or weights for other features",
    "model_score": "must be an n-best list with scores, or no weight for it",
}
FeatureWeights = Mapping[str, float]
"""The weight of each feature in the score of a candidate; without any, the first candidate is chosen."""
RatedCandidates = tuple[Candidates, Sequence[Sequence[Rating]]]
"""Candidates, and by each model their ratings."""
OF_EXPECTED_SCORE: FeatureWeights = {"expected_score": 1.0}
OF_ERRORS: FeatureWeights = {"minor": -mqm.MATESE.minor, "major": -mqm.MATESE.major}
"""The default for ratings without an expected score."""


def feature_names(n_models: int = 1) -> tuple[str, ...]:
    """Returns the names of all features of candidates.

    >>> feature_names(2)
    ('expected_score', 'minor', 'major', 'expected_score_2', 'minor_2', 'major_2', 'model_score', 'length')
    """
    of_models = (f"{name}{_suffix(number)}" for number in range(n_models) for name in _OF_MODEL)
    return (*of_models, "model_score", "length")


def _suffix(model: int) -> str:
    """Returns the end of the names of a model's features, "" for the first model."""
    return f"_{model + 1}" if model else ""


def rerank(
    candidates: Sequence[Sequence[str]],
    sources: Sequence[str],
    *,
    model: str | Path | Sequence[str | Path] = "mini",
    weights: FeatureWeights | None = None,
    model_scores: Sequence[Sequence[float]] | None = None,
) -> list[Choice]:
    """Returns the best translation of each source, without a reference.

    Args:
        candidates: the translations of each source.
        sources: one text for each list of candidates.
        model: what `matese.load` takes, or several; each must read a hypothesis with its source alone.
        weights: of the features: expected_score, minor, major (expected_score_2 ... are those of the second model),
            model_score, length; None for the expected score of the first model alone.
        model_scores: log-probabilities, one for each candidate.

    Raises:
        InputError: if the numbers of texts do not match, a weight has no feature, or the model cannot be used.

    >>> (choice,) = rerank([["Das Haus ist 1O m hoch!!", "Das Haus ist 10 m hoch."]], ["The house is 10 m high."])
    >>> choice.index, choice.text
    (1, 'Das Haus ist 10 m hoch.')
    """
    lists = choice.make_candidates(candidates, sources, model_scores)
    annotators = _load(model, lists)
    checked = None if weights is None else make_weights(weights, len(annotators))
    return [choose(*pair, checked) for pair in rated_by(lists, annotators)]


def tune_reranking(
    candidates: Sequence[Sequence[str]],
    sources: Sequence[str],
    gold: Sequence[Sequence[float | None]],
    *,
    model: str | Path | Sequence[str | Path] = "mini",
    weights: FeatureWeights | None = None,
    model_scores: Sequence[Sequence[float]] | None = None,
) -> FeatureWeights:
    """Returns the weights of the features that order the candidates of development data as `gold` does.

    Args:
        candidates: as `rerank` takes them, and so are `sources`, `model` and `model_scores`.
        sources: one text for each list of candidates.
        gold: how good each candidate is, by people or by a metric with a reference; None where that is not known.
        model: one or several, which read a hypothesis with its source alone.
        weights: to beat on these data, or else they are returned; None for those of `rerank`.
        model_scores: log-probabilities.

    The result is empty if no weights choose better than the given order on these data.

    Raises:
        InputError: as `rerank`, or if the gold values do not tell candidates apart.
    """
    lists = choice.make_candidates(candidates, sources, model_scores)
    annotators = _load(model, lists)
    to_beat = None if weights is None else make_weights(weights, len(annotators))
    pairs = list(rated_by(lists, annotators))
    return keep_best(pairs, gold, tune(features(pairs), gold), to_beat)[1]


def _load(model: str | Path | Sequence[str | Path], lists: Sequence[Candidates]) -> list[Annotator]:
    from matese.model.annotator import load

    names = [model] if isinstance(model, str | Path) else model
    return [load(name, n_segments=sum(len(candidates.texts) for candidates in lists)) for name in names]


def make_weights(weights: FeatureWeights, n_models: int = 1) -> FeatureWeights:
    """Returns the weights that are not 0, in the order of the features.

    Raises:
        UsageError: for an unknown feature.
        InputError: for a weight that is not finite.
    """
    names = feature_names(n_models)
    for name in weights:
        if name not in names:
            raise UsageError(unknown("feature", name, names))
    if not all(map(np.isfinite, weights.values())):
        raise InputError(f"weights {dict(weights)}: must be finite numbers")
    return {name: weights[name] for name in names if weights.get(name)}


def rated_by(lists: Sequence[Candidates], annotators: Sequence[Annotator]) -> Iterator[RatedCandidates]:
    """Yields each list of candidates with their ratings by each model."""
    for pairs in zip(*(rated(lists, annotator) for annotator in annotators), strict=True):
        yield pairs[0][0], [ratings for _, ratings in pairs]


def rated(lists: Iterable[Candidates], annotator: Annotator) -> Iterator[tuple[Candidates, list[Rating]]]:
    """Yields each list of candidates with their ratings, while further ones are annotated in the same batches."""
    if preferences.compares(annotator):
        every = list(lists)
        groups = [candidates.segments() for candidates in every]
        yield from zip(every, preferences.rate(annotator, groups), strict=True)
        return
    yield from grouped(annotator.annotate_segments, ((candidates, candidates.segments()) for candidates in lists))


def choose(
    candidates: Candidates, ratings: Sequence[Sequence[Rating]], weights: FeatureWeights | None = None
) -> Choice:
    """Returns the candidate with the highest weighted sum of features.

    Args:
        candidates: of a source.
        ratings: by each model, one for each candidate.
        weights: of the features; None for the expected score of the first model or, without one, its errors with the
            penalties of `mqm.MATESE`.

    Raises:
        InputError: if a feature that has a weight is not known.
    """
    (of_candidates,) = features([(candidates, ratings)])
    if weights is None:
        weights = _default([of_candidates])
    for of_candidate in of_candidates:
        for name in weights:
            if name not in of_candidate:
                needed = _NEEDED[name.rstrip("_0123456789")]
                raise InputError(f"no {name.replace('_', ' ')} of a candidate: {needed}")
    sums = [
        float(sum(weight * of_candidate[name] for name, weight in weights.items())) for of_candidate in of_candidates
    ]
    return choice.best(candidates, sums, of_candidates)


def _default(features: Sequence[Sequence[Mapping[str, float]]]) -> FeatureWeights:
    has_expected = all("expected_score" in of_candidate for of_source in features for of_candidate in of_source)
    return OF_EXPECTED_SCORE if has_expected else OF_ERRORS


def features_of(ratings: Sequence[Rating], model_score: float | None = None) -> dict[str, float]:
    """Returns the features of a candidate, as far as they are known, from its rating by each model.

    >>> from matese import Segment
    >>> features_of([Rating(Segment("Das ist gut"), None, ())], -1.5)
    {'minor': 0.0, 'major': 0.0, 'model_score': -1.5, 'length': 3.0}
    """
    of_candidate: dict[str, float] = {}
    for number, rating in enumerate(ratings):
        if (expected := mqm.expected_score(rating)) is not None:
            of_candidate[f"expected_score{_suffix(number)}"] = expected
        if rating.errors is not None:
            n_minor, n_major = mqm.count(rating.all_errors)
            of_candidate |= {f"minor{_suffix(number)}": float(n_minor), f"major{_suffix(number)}": float(n_major)}
    if model_score is not None:
        of_candidate["model_score"] = model_score
    of_candidate["length"] = float(count_words(ratings[0].segment.hypothesis))
    return of_candidate


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
    rated: Sequence[RatedCandidates], gold: Sequence[Sequence[float | None]], weights: Mapping[str, FeatureWeights]
) -> tuple[int, dict[str, float]]:
    """Returns the number of sources, and the mean gold value of the candidates chosen by each weights, and of the best.

    Sources whose choice has no gold value are left out.
    """
    rows = []
    for (candidates, ratings), scores in zip(rated, gold, strict=True):
        row = [scores[choose(candidates, ratings, weighting).index] for weighting in weights.values()]
        if None not in row:
            rows.append([*row, max(score for score in scores if score is not None)])
    means = np.array(rows, np.float64).mean(0) if rows else ()
    return len(rows), dict(zip((*weights, "best"), map(float, means), strict=False))


def keep_best(
    rated: Sequence[RatedCandidates],
    gold: Sequence[Sequence[float | None]],
    tuned: FeatureWeights,
    to_beat: FeatureWeights | None = None,
) -> tuple[str, FeatureWeights, int, dict[str, float]]:
    """Returns what chooses best on the development data, its weights, and the figures of `mean_gold`.

    Fitted weights order pairs of candidates, and may yet choose worse ("tuned") than the given weights ("given"), or
    without these the default ones ("default"), or than the given order ("first"), which no weights keep.
    """
    earlier = {"default": _default(features(rated))} if to_beat is None else {"given": to_beat}
    weightings = {"first": {}, **earlier, "tuned": tuned}
    n_sources, means = mean_gold(rated, gold, weightings)
    best = max(reversed(weightings), key=lambda name: means.get(name, -math.inf))  # of equal ones the tuned ones
    return best, weightings[best], n_sources, means


def features(rated: Iterable[RatedCandidates]) -> list[list[dict[str, float]]]:
    """Returns the features of each candidate of each source."""
    return [
        [
            features_of(ratings, score)
            for *ratings, score in zip(
                *by_model, candidates.model_scores or (None,) * len(candidates.texts), strict=True
            )
        ]
        for candidates, by_model in rated
    ]


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
        InputError: if a gold value is not finite, or no two candidates of a source differ in theirs and in a feature.
    """
    if list(map(len, features)) != list(map(len, gold)):
        raise UsageError("candidates and gold values differ in number; each candidate needs one")
    if not all(value is None or np.isfinite(value) for of_source in gold for value in of_source):
        raise InputError("a gold value is not finite: must be a number, or None")
    every = [of_candidate for of_source in features for of_candidate in of_source]
    names = [name for name in (every[0] if every else ()) if all(name in of_candidate for of_candidate in every)]
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
    rounded = ((name, round(float(value), 6)) for name, value in zip(compress(names, is_used), fitted, strict=True))
    return {name: value for name, value in rounded if value}


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
        judged = [
            (of_candidate, value) for of_candidate, value in zip(of_source, values, strict=True) if value is not None
        ]
        rows = [[of_candidate[name] for name in names] for of_candidate, _ in judged]
        table = np.array(rows).reshape(len(judged), len(names))
        gold_values = np.array([value for _, value in judged], np.float64)
        better, worse = np.nonzero(gold_values[:, None] > gold_values[None, :])
        if len(better) > _MAX_PAIRS:
            drawn = random.choice(len(better), _MAX_PAIRS, replace=False)
            better = better[drawn]
            worse = worse[drawn]
        differences.append(table[better] - table[worse])
        weights.append(gold_values[better] - gold_values[worse])
    return np.concatenate(differences), np.concatenate(weights)
