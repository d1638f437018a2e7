"""Soft labels: the probabilities that a teacher gives to the tags of its tokens, for the tokens of a student.

A student that learns them instead of the marked spans also learns how sure the teacher is (Hinton et al. 2015,
"Distilling the knowledge in a neural network", with temperature 1).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from matese.annotation import Rating, Severity, TokenScores
from matese.encoder.encoding import Tokens
from matese.tagger.judgement import Labels
from matese.tagger.tags import B_MAJOR, B_MINOR, I_MAJOR, I_MINOR, TAGS, O

Probabilities = npt.NDArray[np.float32]
_BEGIN = {Severity.MINOR: B_MINOR, Severity.MAJOR: B_MAJOR}
_PAIRS = ((B_MINOR, I_MINOR), (B_MAJOR, I_MAJOR))
_NO_TOKENS = TokenScores((), ())


@dataclass(frozen=True, slots=True)
class SoftRating(Rating):
    """A rating with the probabilities that its spans were made from.

    Attributes:
        tokens: probabilities of the tags of the rater's tokens.
    """

    tokens: TokenScores = _NO_TOKENS


def soften(rating: Rating, tokens: TokenScores) -> SoftRating:
    """Returns the rating with probabilities of its tokens."""
    own = {field.name: getattr(rating, field.name) for field in dataclasses.fields(rating)}
    return SoftRating(**own, tokens=tokens)


def of_tags(rating: SoftRating, tokens: Tokens) -> Probabilities:
    """Returns the probabilities of the tags for the tokens of another tokenizer: (tokens, tags).

    The probability of a severity is the mean over the rater's tokens, weighted by the characters that they share with a
    token. A token may begin an error if the first of them begins within it. NaN for a token without characters.

    Args:
        rating: of the segment.
        tokens: of its hypothesis.
    """
    given = np.array(rating.tokens.probabilities, dtype=np.float32).reshape(-1, len(TAGS))
    theirs = np.array(rating.tokens.ranges, dtype=np.int64).reshape(-1, 2)
    own = tokens.ranges.astype(np.int64)
    if not len(theirs):
        return np.full((len(own), len(TAGS)), np.nan, dtype=np.float32)
    ends, starts = np.minimum(own[:, 1:], theirs[:, 1]), np.maximum(own[:, :1], theirs[:, 0])
    shared = np.clip(ends - starts, 0, None).astype(np.float32)  # (tokens, their tokens)
    with np.errstate(invalid="ignore"):
        means = shared / shared.sum(1, keepdims=True) @ given
    first = (shared > 0).argmax(1)
    begins = (theirs[first, 0] >= own[:, 0]) & (np.diff(own[:, 0], prepend=-1) > 0)
    found: Probabilities = np.zeros_like(means)
    found[:, O] = means[:, O]
    for begin, inside in _PAIRS:
        mass, of_first = means[:, begin] + means[:, inside], given[first, begin] + given[first, inside]
        share = np.divide(given[first, begin], of_first, out=np.zeros_like(of_first), where=of_first > 0)
        found[:, begin] = mass * share * begins
        found[:, inside] = mass - found[:, begin]
    return found


def of_severities(rating: SoftRating, tokens: Tokens, severities: Sequence[Severity]) -> Probabilities:
    """Returns the probabilities of no error and of each severity: (tokens, 1 + severities); see `of_tags`.

    A severity that the student does not have counts as the other one.

    Args:
        rating: of the segment.
        tokens: of its hypothesis.
        severities: of the student, Minor, Major or both.
    """
    given = of_tags(rating, tokens)
    found = np.zeros((len(given), 1 + len(severities)), dtype=np.float32)
    found[:, 0] = given[:, O]
    for severity, begin in _BEGIN.items():
        column = 1 + (severities.index(severity) if severity in severities else 0)
        found[:, column] += given[:, begin] + given[:, begin + 1]
    return found


def to_tags(labels: Labels, severities: Sequence[Severity]) -> TokenScores:
    """Returns label probabilities as probabilities of tags; Critical counts as Major.

    A token is inside an error if the most probable label of the token before it has the same severity.

    Args:
        labels: of a model of `matese.regression`.
        severities: of its labels from 1 on.
    """
    given = labels.probabilities
    major = [1 + place for place, severity in enumerate(severities) if severity in (Severity.MAJOR, Severity.CRITICAL)]
    minor = [1 + place for place, severity in enumerate(severities) if severity is Severity.MINOR]
    masses = np.stack([given[:, minor].sum(1), given[:, major].sum(1)], axis=1)
    errors = masses.sum(1)
    found = np.zeros((len(given), len(TAGS)))
    found[:, O] = 1 - errors
    is_error = errors > found[:, O]
    for column, (begin, inside) in enumerate(_PAIRS):
        is_after = np.roll(is_error & (masses.argmax(1) == column), 1)
        is_after[:1] = False
        found[:, begin] = masses[:, column] * ~is_after
        found[:, inside] = masses[:, column] * is_after
    found = np.round(found.clip(0, 1), 6)
    ranges = tuple((int(start), int(end)) for start, end in labels.ranges)
    return TokenScores(ranges, tuple(map(tuple, found.tolist())))
