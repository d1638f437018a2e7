"""What is learned of a rated hypothesis and of each of its tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from matese import mqm
from matese.annotation import Rating
from matese.encoder.encoding import Tokens
from matese.tagger import tags
from matese.tagger.alignment import tokens_within
from matese.tagger.batch import IGNORED
from matese.tagger.model import LOWEST_SCORE

TagIds = npt.NDArray[np.int8]
Doubts = npt.NDArray[np.float16]

_SHARE_LOST: Mapping[str, Callable[[float], float]] = {
    "unit": lambda value: 1 - value,
    "esa": lambda value: 1 - value / 100,
    "da": lambda value: 1 - value / 100,
    "hter": lambda value: value,
}
"""What is lost of the best that a scale has, from 0 (nothing) to 1 (all)."""


def has_score(rating: Rating) -> bool:
    """Whether a judgement of the whole can be learned, spans or not."""
    return rating.overall is not None and (rating.overall.scale == "mqm" or rating.overall.scale in _SHARE_LOST)


def score_of(rating: Rating) -> float:
    """Returns the MQM score to learn: the judgement of the whole where there is one, else that of the spans.

    Of several raters the spans are a union, which holds more errors than any of them marked; their mean stands in
    `overall`. What stands on another scale of fixed ends is spread over that of MQM.
    """
    overall = rating.overall
    if overall is not None and overall.scale == "mqm":
        score = overall.value
    elif overall is not None and overall.scale in _SHARE_LOST:
        score = LOWEST_SCORE * _SHARE_LOST[overall.scale](overall.value)
    else:
        score = mqm.score(rating)
    return max(score, LOWEST_SCORE)


def token_labels(rating: Rating, tokens: Tokens) -> tuple[TagIds, Doubts]:
    """Returns the tags and the doubts of a hypothesis' tokens, of which a rating gives one or the other.

    A rating on the scale "unit" says how far other translations agree. The spans of such a rating are of undecided
    severity and hold in their confidence the share of the others that do not have the words: nothing that is to be
    tagged, and the doubt that is to be learned. In all other ratings the spans are errors. A rating without spans
    gives neither.
    """
    ranges: list[tuple[int, int]] = tokens.ranges.tolist()
    unknown = np.full(len(ranges), np.nan, dtype=np.float16)
    if rating.errors is None:
        return np.full(len(ranges), IGNORED, dtype=np.int8), unknown
    spans = rating.errors
    if rating.overall is None or rating.overall.scale != "unit":
        tag_ids = np.array(tags.from_spans(spans, ranges), dtype=np.int8)
        return tag_ids, unknown
    doubts = np.zeros(len(ranges), dtype=np.float16)
    for span in spans:
        within = list(tokens_within(span.start, span.end, ranges))
        doubts[within] = np.maximum(doubts[within], span.confidence or 0.0)
    return np.full(len(ranges), IGNORED, dtype=np.int8), doubts
