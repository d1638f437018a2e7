"""One text for all raters of a segment: some type into what they mark, and spans of different texts do not compare."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from matese.annotation import Rating, SegmentKey
from matese.cli import streams
from matese.formats import projection

_LEAST_ALIKE = 0.8
"""Texts that are less alike are of different translations that bear one key."""


@dataclass(frozen=True, slots=True)
class CommonTexts:
    """Ratings on common texts.

    Attributes:
        ratings: in their order.
        n_moved: ratings whose hypothesis was another state of the common one.
        n_lost: spans of these that have no place in it, and are errors without one now.
    """

    ratings: tuple[Rating, ...]
    n_moved: int
    n_lost: int


def put(ratings: Sequence[Rating]) -> CommonTexts:
    """Returns the ratings with the hypothesis that most raters of their segment have; of equal ones the first."""
    texts: dict[SegmentKey, Counter[str]] = {}
    for rating in ratings:
        if rating.segment.key is not None and rating.segment.key.index is not None:
            texts.setdefault(rating.segment.key, Counter())[rating.segment.hypothesis] += 1
    common = {key: counts.most_common(1)[0][0] for key, counts in texts.items() if len(counts) > 1}
    moved = [_moved(rating, common) for rating in ratings]
    changed = [(one, rating) for one, rating in zip(moved, ratings, strict=True) if one is not rating]
    n_lost = sum(len(one.unplaced) - len(rating.unplaced) for one, rating in changed)
    return CommonTexts(tuple(moved), len(changed), n_lost)


def put_and_say(ratings: Sequence[Rating]) -> tuple[Rating, ...]:
    """Returns the ratings of `put`, and tells how many it has changed."""
    common = put(ratings)
    if common.n_moved:
        streams.say(
            f"{common.n_moved:,} ratings hold another text than most raters of their segment: put on that one, on "
            f"which {common.n_lost:,} of their spans have no place"
        )
    return common.ratings


def _moved(rating: Rating, common: dict[SegmentKey, str]) -> Rating:
    own, key = rating.segment.hypothesis, rating.segment.key
    text = own if key is None else common.get(key, own)
    if text == own or rating.errors is None:
        return rating
    if difflib.SequenceMatcher(None, own, text, autojunk=False).ratio() < _LEAST_ALIKE:
        return rating
    errors, lost = projection.project(rating.errors, own, text)
    segment = replace(rating.segment, hypothesis=text)
    return replace(rating, segment=segment, errors=errors, unplaced=(*rating.unplaced, *lost))
