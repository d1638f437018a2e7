"""What comes out of a tagger: probabilities of tags and of omissions, and the expected MQM score.

A score head trained on few raters learns how severe errors are and how hard a source is. It is less good at ordering
two translations of one source; the tags and the overlap with the reference (chrF) are better at that. The weights of
these parts are fitted on dev data (`matese.training.blending`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from matese import mqm
from matese.annotation import TokenScores
from matese.encoder.encoding import Encoding, InputKind, IntArray
from matese.errors import InputError, ModelError
from matese.inference.model_input import ModelInput, contexts
from matese.mqm import LOWEST_SCORE
from matese.tagger import tags

FloatArray = npt.NDArray[np.floating]

_MAX_NGRAM, _BETA = 6, 2
_LEAST = 1e-4
"""Probability with the lowest log odds that count."""


class WindowOutput(NamedTuple):
    """What a tagger computes for an encoding.

    Attributes:
        encoding: what was read.
        log_probabilities: (hypothesis tokens, tags).
        score: of the score head; None without one.
        lacking: (tokens of the last context,), probability that the hypothesis lacks the token; None without a head.
        categories: (hypothesis tokens, categories), see `Prediction.categories`; None without a head.
    """

    encoding: Encoding
    log_probabilities: FloatArray
    score: float | None
    lacking: FloatArray | None
    categories: FloatArray | None


@dataclass(frozen=True, slots=True)
class OmissionProbabilities:
    """What a model predicts for the last text beside the hypothesis: the reference if it reads one, else the source.

    Attributes:
        reference: number of the reference; None for the source.
        ranges: (tokens, 2), of the text's tokens, half-open, in code points.
        probabilities: (tokens,), that the hypothesis lacks the token.
    """

    reference: int | None
    ranges: IntArray
    probabilities: FloatArray


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a model predicts for a hypothesis.

    Attributes:
        hypothesis: the text.
        ranges: (tokens, 2), of the hypothesis' tokens, half-open, in code points.
        log_probabilities: (tokens, tags).
        score: for a request, the expected score; for one reading, that of the score head, None without a head.
        is_windowed: whether the texts were read in overlapping windows.
        missing: what the hypothesis lacks; None for a model without an omission head.
        categories: (tokens, categories), logits of `mqm.CATEGORIES` if the token is in an error, whose mean over the
            tokens of an error decides; None for a model without a category head.
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
        """Whether the hypothesis was not read because it has no text."""
        return len(self.ranges) == 0

    def token_scores(self) -> TokenScores:
        """Returns the token ranges and tag probabilities as plain numbers."""
        probabilities = np.round(np.exp(self.log_probabilities), 6).tolist()
        return TokenScores(tuple(map(tuple, self.ranges.tolist())), tuple(map(tuple, probabilities)))


def average(predictions: Sequence[Prediction], score: float) -> Prediction:
    """Returns the mean of the probabilities in several predictions for one request.

    Args:
        predictions: over the same tokens.
        score: expected score of the result.
    """
    first = predictions[0]
    rows = np.log(np.mean([np.exp(one.log_probabilities) for one in predictions], axis=0))
    found = [one.missing for one in predictions if one.missing is not None]
    missing = None
    if len(found) == len(predictions) and len({one.reference for one in found}) == 1:
        missing = replace(found[0], probabilities=np.mean([one.probabilities for one in found], axis=0))
    is_windowed = any(one.is_windowed for one in predictions)
    score, categories = round(score, 4), _mean_categories(predictions)
    return Prediction(first.hypothesis, first.ranges, rows, score, is_windowed, missing, categories)


def _mean_categories(predictions: Sequence[Prediction]) -> FloatArray | None:
    """Returns the mean logits of the categories; None if a model has no category head."""
    found = [one.categories for one in predictions if one.categories is not None]
    return None if len(found) < len(predictions) else np.mean(found, axis=0)


def join_windows(hypothesis: str, windows: Sequence[tuple[Encoding, FloatArray, float | None]]) -> Prediction:
    """Returns the prediction for one reading; the score of each window is weighted by the share of it that is kept.

    Args:
        hypothesis: the text.
        windows: what was read, log-probabilities (tokens, tags) and score of each window.

    Raises:
        ModelError: if they hold NaN.
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
    """Raises a ModelError if a model has computed NaN."""
    if np.isnan(outputs).any() or (score is not None and math.isnan(score)):
        raise ModelError("the model computes NaN: its weights must be finite, and no larger than usual")


def join_missing(windows: Sequence[tuple[Encoding, FloatArray]], *, is_reference: bool) -> OmissionProbabilities:
    """Returns the joined prediction of overlapping windows: no window may have found a counterpart of a missing word.

    Args:
        windows: what was read, and a probability for each token of its part of the context: (tokens,).
        is_reference: whether that context is a reference.

    Raises:
        ModelError: if they hold NaN.
    """
    parts = [(encoding.context, found) for encoding, found in windows if encoding.context is not None]
    n_tokens = max((part.start + len(part.ranges) for part, _ in parts), default=0)
    ranges = np.zeros((n_tokens, 2), dtype=np.int32)
    probabilities = np.full(n_tokens, np.inf)
    for part, found in parts:
        check_numbers(found)
        own = slice(part.start, part.start + len(part.ranges))
        ranges[own] = part.ranges
        probabilities[own] = np.minimum(probabilities[own], found)
    return OmissionProbabilities(
        0 if is_reference else None, ranges, np.where(np.isfinite(probabilities), probabilities, 0.0)
    )


def closest(found: Sequence[OmissionProbabilities]) -> OmissionProbabilities | None:
    """Returns the prediction for the reference from which least is missing; None without any.

    A word that another reference has may be a matter of wording.
    """
    return min(found, key=lambda one: float(one.probabilities.sum()), default=None)


def combine(model_input: ModelInput, found: Sequence[Prediction], blend: Blend | None) -> Prediction:
    """Returns the prediction for a request: the mean of the probabilities and of the scores over its readings.

    Args:
        model_input: with one reading or more.
        found: the prediction for each reading.
        blend: how the expected score is made from its parts; None for the score head alone, or else the tags alone.
    """
    first = found[0]
    rows = first.log_probabilities
    if len(found) > 1:
        rows = np.log(np.mean([np.exp(one.log_probabilities) for one in found], axis=0))
    scores = []
    for reading, one in zip(model_input.readings, found, strict=True):
        if one.score is not None and blend is not None:
            by_tags = score_of_tags(one.log_probabilities)
            scores.append(blend.score(one.score, by_tags, one.hypothesis, contexts(reading)[-1]))
        elif one.score is not None:
            scores.append(one.score)
    score = math.fsum(scores) / len(scores) if scores else score_of_tags(rows)
    is_windowed = any(one.is_windowed for one in found)
    missing = [
        replace(one.missing, reference=number if reading.references else None)
        for number, (reading, one) in enumerate(zip(model_input.readings, found, strict=True))
        if one.missing is not None
    ]
    score, categories = round(score, 4), _mean_categories(found)
    return Prediction(first.hypothesis, first.ranges, rows, score, is_windowed, closest(missing), categories)


@dataclass(frozen=True, slots=True)
class Blend:
    """Weights of the parts of the expected score, for hypotheses read with one kind of input.

    Attributes:
        inputs: the kind of input.
        head: score points for each point of the score head.
        tags: score points for each point of the expected score of the tags (see `score_of_tags`).
        chrf: score points for each point of chrF (0 to 100); must be 0 if no reference is read.
        offset: score points added.
    """

    inputs: InputKind
    head: float
    tags: float
    chrf: float
    offset: float

    def __post_init__(self) -> None:
        if self.chrf and self.inputs == "source":
            raise InputError(f"chrf {self.chrf} of the inputs source: must be 0 where no reference is read")

    def score(self, head: float, tags: float, hypothesis: str, reference: str) -> float:
        """Returns the blended score, between the floor of MQM and 0; a sum far below 0 is hardly changed."""
        total = self.head * head + self.tags * tags + self.offset
        if self.chrf:
            total += self.chrf * chrf(hypothesis, reference)
        bounded = -math.log1p(math.exp(-total)) if total > 0 else total - math.log1p(math.exp(total))
        return max(bounded, LOWEST_SCORE)


@dataclass(frozen=True)
class SpanConfidence:
    """How the confidence of a span follows from its tokens, for hypotheses read with one kind of input.

    The mean error probability of the tokens alone hardly predicts whether raters mark an error there: of two spans with
    the same mean, the longer one overlaps a rater's more often. `matese calibrate` fits the weights.

    Attributes:
        inputs: the kind of input.
        min_probability: error probability from which a token belongs to a span.
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
            probability: error probability, the mean over its tokens.
            n_tokens: number of tokens that share a character with it, at least 1.

        >>> [round(SpanConfidence("source", 0.1, 1, 0.5, 0).of(0.2, n_tokens), 2) for n_tokens in (1, 4)]
        [0.2, 0.33]
        """
        odds, length = span_features(probability, n_tokens)
        return 1 / (1 + math.exp(-(self.probability * odds + self.length * length + self.offset)))


def span_features(probability: float, n_tokens: int) -> tuple[float, float]:
    """Returns the log odds of a probability, which are bounded, and the logarithm of a number of tokens."""
    bounded = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(bounded / (1 - bounded)), math.log(n_tokens)


def score_of_tags(log_probabilities: FloatArray) -> float:
    """Returns the expected score of the tags, P(B-Minor) + 5 P(B-Major) summed and negated, at least the floor.

    Args:
        log_probabilities: (tokens, tags).
    """
    n_minor, n_major = np.exp(log_probabilities[:, [tags.B_MINOR, tags.B_MAJOR]]).sum(0)
    penalty = mqm.MATESE.minor * float(n_minor) + mqm.MATESE.major * float(n_major)
    return max(0.0 - penalty, LOWEST_SCORE)


def chrf(hypothesis: str, reference: str) -> float:
    """Returns chrF2 of a segment, 0 to 100, as sacreBLEU's `CHRF().sentence_score` (Popović 2015).

    Implemented here because importing sacreBLEU takes longer than tagging some segments.

    >>> chrf("a cat", "a cat"), round(chrf("a hat", "a cat"), 2), chrf("", "a cat")
    (100.0, 27.08, 0.0)
    """
    texts = ["".join(text.split()) for text in (hypothesis, reference)]
    precisions, recalls = [], []
    for n in range(1, _MAX_NGRAM + 1):
        own, other = (Counter(text[at : at + n] for at in range(len(text) - n + 1)) for text in texts)
        if own and other:
            n_matched = (own & other).total()
            precisions.append(n_matched / own.total())
            recalls.append(n_matched / other.total())
    precision, recall = sum(precisions), sum(recalls)
    if not precision + recall:
        return 0.0
    factor = _BETA**2
    return 100 * (1 + factor) * precision * recall / (factor * precision + recall) / len(precisions)
