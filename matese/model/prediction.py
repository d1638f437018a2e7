"""The output of a tagger: probabilities of tags and of omissions, and the expected MQM score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from matese import mqm
from matese.annotation import TokenScores
from matese.errors import InputError, ModelError
from matese.model.heads.tags import bio
from matese.model.model_input import ModelInput
from matese.model.texts.encoding import Encoding, InputKind, IntArray
from matese.mqm import LOWEST_SCORE

FloatArray = npt.NDArray[np.floating]

_LEAST = 1e-4
"""Lower bound of probabilities, which bounds their log odds."""


class WindowOutput(NamedTuple):
    """A tagger's output for an encoding.

    Attributes:
        encoding: the encoding.
        log_probabilities: (hypothesis tokens, tags).
        score: output of the score head; None without one.
        lacking: (tokens of the last context,), probability that the hypothesis lacks the token; None without an
            omission head.
        categories: (hypothesis tokens, categories), see `Prediction.categories`; None without a category head.
    """

    encoding: Encoding
    log_probabilities: FloatArray
    score: float | None
    lacking: FloatArray | None
    categories: FloatArray | None


@dataclass(frozen=True, slots=True)
class OmissionProbabilities:
    """Probabilities that the hypothesis lacks tokens of the reference or, if the model reads none, of the source.

    Attributes:
        reference: number of the reference; None for the source.
        ranges: (tokens, 2), range of each token, half-open, in code points.
        probabilities: (tokens,), probability that the hypothesis lacks the token.
    """

    reference: int | None
    ranges: IntArray
    probabilities: FloatArray


@dataclass(frozen=True, slots=True)
class Prediction:
    """A tagger's prediction for a hypothesis.

    Attributes:
        hypothesis: the text.
        ranges: (tokens, 2), range of each token, half-open, in code points.
        log_probabilities: (tokens, tags).
        score: for a request, the expected score; for one reading, the score head's, None without a score head.
        is_windowed: whether the texts were read in overlapping windows.
        missing: omission probabilities; None for a model without an omission head.
        categories: (tokens, categories), logits of `mqm.CATEGORIES` given that the token is in an error; the largest
            mean over the tokens of an error decides; None for a model without a category head.
    """

    hypothesis: str
    ranges: IntArray
    log_probabilities: FloatArray
    score: float | None = None
    is_windowed: bool = False
    missing: OmissionProbabilities | None = None
    categories: FloatArray | None = None

    @property
    def is_blank(self) -> bool:
        """Whether the hypothesis is blank, so that the model did not read it."""
        return len(self.ranges) == 0

    def token_scores(self) -> TokenScores:
        """Returns the token ranges and tag probabilities as plain numbers."""
        probabilities = np.round(np.exp(self.log_probabilities), 6).tolist()
        return TokenScores(tuple(map(tuple, self.ranges.tolist())), tuple(map(tuple, probabilities)))


def average(predictions: Sequence[Prediction], score: float) -> Prediction:
    """Returns a prediction with the mean probabilities of several predictions for one request.

    Args:
        predictions: predictions for the same tokens.
        score: expected score of the result.
    """
    first = predictions[0]
    rows = np.log(np.mean([np.exp(prediction.log_probabilities) for prediction in predictions], axis=0))
    missing_parts = [prediction.missing for prediction in predictions if prediction.missing is not None]
    missing = None
    if len(missing_parts) == len(predictions) and len({part.reference for part in missing_parts}) == 1:
        missing = replace(
            missing_parts[0], probabilities=np.mean([part.probabilities for part in missing_parts], axis=0)
        )
    is_windowed = any(prediction.is_windowed for prediction in predictions)
    score, categories = round(score, 4), _mean_categories(predictions)
    return Prediction(first.hypothesis, first.ranges, rows, score, is_windowed, missing, categories)


def _mean_categories(predictions: Sequence[Prediction]) -> FloatArray | None:
    """Returns the mean logits of the categories; None if any model lacks a category head."""
    logits = [prediction.categories for prediction in predictions if prediction.categories is not None]
    return None if len(logits) < len(predictions) else np.mean(logits, axis=0)


def join_windows(hypothesis: str, windows: Sequence[tuple[Encoding, FloatArray, float | None]]) -> Prediction:
    """Returns the prediction for one reading; the score of each window is weighted by the kept share of its tokens.

    Args:
        hypothesis: the text.
        windows: encoding, log-probabilities, (tokens, tags), and score of each window.

    Raises:
        ModelError: if they contain NaN.
    """
    for _, rows, score in windows:
        check_numbers(rows, score)
    ranges = np.concatenate([encoding.ranges[slice(*encoding.kept)] for encoding, _, _ in windows])
    joined = np.concatenate([rows[slice(*encoding.kept)] for encoding, rows, _ in windows])
    if len(windows) == 1:
        return Prediction(hypothesis, ranges, joined, windows[0][2])
    shares = [(encoding.kept[1] - encoding.kept[0]) / len(encoding.ranges) for encoding, _, _ in windows]
    scores = [score for _, _, score in windows if score is not None]
    total = math.fsum(score * share for score, share in zip(scores, shares, strict=True)) if scores else None
    return Prediction(hypothesis, ranges, joined, None if total is None else max(total, LOWEST_SCORE), is_windowed=True)


def check_numbers(outputs: FloatArray, score: float | None = None) -> None:
    """Raises a ModelError if the output of a model contains NaN."""
    if np.isnan(outputs).any() or (score is not None and math.isnan(score)):
        raise ModelError("the model's output is NaN: its weights must be finite and not too large")


def join_missing(windows: Sequence[tuple[Encoding, FloatArray]], *, is_reference: bool) -> OmissionProbabilities:
    """Returns the joint probabilities of overlapping windows: a word is missing only if all its windows lack it.

    Args:
        windows: encoding of each window, and a probability for each token of its part of the context: (tokens,).
        is_reference: whether that context is a reference.

    Raises:
        ModelError: if they contain NaN.
    """
    parts = [(encoding.context, values) for encoding, values in windows if encoding.context is not None]
    n_tokens = max((part.start + len(part.ranges) for part, _ in parts), default=0)
    ranges = np.zeros((n_tokens, 2), dtype=np.int32)
    probabilities = np.full(n_tokens, np.inf)
    for part, values in parts:
        check_numbers(values)
        place = slice(part.start, part.start + len(part.ranges))
        ranges[place] = part.ranges
        probabilities[place] = np.minimum(probabilities[place], values)
    return OmissionProbabilities(
        0 if is_reference else None, ranges, np.where(np.isfinite(probabilities), probabilities, 0.0)
    )


def closest(candidates: Sequence[OmissionProbabilities]) -> OmissionProbabilities | None:
    """Returns the probabilities for the reference of which least is missing; None without any.

    A word of only one of the references may be a choice of wording.
    """
    return min(candidates, key=lambda candidate: float(candidate.probabilities.sum()), default=None)


def combine(model_input: ModelInput, predictions: Sequence[Prediction]) -> Prediction:
    """Returns the prediction for a request: the mean of the probabilities and of the scores over its readings.

    The expected score is the score head's or, without one, that of the tags.

    Args:
        model_input: the request, with one reading or more.
        predictions: the prediction for each reading.
    """
    first = predictions[0]
    rows = first.log_probabilities
    if len(predictions) > 1:
        rows = np.log(np.mean([np.exp(prediction.log_probabilities) for prediction in predictions], axis=0))
    scores = [prediction.score for prediction in predictions if prediction.score is not None]
    score = math.fsum(scores) / len(scores) if scores else score_of_tags(rows)
    is_windowed = any(prediction.is_windowed for prediction in predictions)
    missing = [
        replace(prediction.missing, reference=number if reading.references else None)
        for number, (reading, prediction) in enumerate(zip(model_input.readings, predictions, strict=True))
        if prediction.missing is not None
    ]
    score, categories = round(score, 4), _mean_categories(predictions)
    return Prediction(first.hypothesis, first.ranges, rows, score, is_windowed, closest(missing), categories)


@dataclass(frozen=True)
class SpanConfidence:
    """How the confidence of a span follows from its tokens, for one kind of input.

    The mean error probability of the tokens alone is a weak predictor of whether raters mark an error there: of two
    spans with the same mean, the longer one overlaps a rater's span more often. `matese calibrate` fits the weights.

    Attributes:
        inputs: the kind of input.
        min_probability: least error probability of a token that belongs to a span.
        probability: weight of the log odds of the mean error probability.
        length: weight of the logarithm of the number of tokens.
        offset: log odds added.
    """

    inputs: InputKind
    min_probability: float
    probability: float
    length: float
    offset: float

    def __post_init__(self) -> None:
        if not 0 < self.min_probability < 1:
            raise InputError(f"min_probability {self.min_probability}: must be greater than 0 and less than 1")

    def of(self, probability: float, n_tokens: int) -> float:
        """Returns the confidence of a span, the probability that it overlaps a rater's span.

        Args:
            probability: mean error probability of its tokens.
            n_tokens: number of tokens that share a character with it, at least 1.

        >>> [round(SpanConfidence("source", 0.1, 1, 0.5, 0).of(0.2, n_tokens), 2) for n_tokens in (1, 4)]
        [0.2, 0.33]
        """
        odds, length = span_features(probability, n_tokens)
        return 1 / (1 + math.exp(-(self.probability * odds + self.length * length + self.offset)))


def span_features(probability: float, n_tokens: int) -> tuple[float, float]:
    """Returns the log odds of a probability, bounded, and the logarithm of a number of tokens."""
    bounded = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(bounded / (1 - bounded)), math.log(n_tokens)


def score_of_tags(log_probabilities: FloatArray) -> float:
    """Returns the expected score of the tags: minus the sum of P(B-Minor) + 5 P(B-Major), at least the lowest score.

    Args:
        log_probabilities: (tokens, tags).
    """
    n_minor, n_major = np.exp(log_probabilities[:, [bio.B_MINOR, bio.B_MAJOR]]).sum(0)
    penalty = mqm.MATESE.minor * float(n_minor) + mqm.MATESE.major * float(n_major)
    return max(0.0 - penalty, LOWEST_SCORE)
