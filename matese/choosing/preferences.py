"""Translations of one source, each scored against the others by a model that compares two (PEAR)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from matese.annotation import Estimate, Rating, Segment

if TYPE_CHECKING:
    from matese.model.annotator import Annotator


def compares(annotator: Annotator) -> bool:
    """Whether a model compares a translation with another one, so that it can score several without a reference."""
    return annotator.config.heads.preference is not None


def rate(annotator: Annotator, groups: Sequence[Sequence[Segment]]) -> Iterator[list[Rating]]:
    """Yields the ratings of the translations of each source: the mean score against the others, 0 against equal ones.

    Each pair is computed in one order, and counts with the opposite sign for the other translation, as in pear-mt's
    default for minimum Bayes risk. Pairs of several sources share batches.
    """
    distinct = [list(dict.fromkeys(segment.hypothesis for segment in group)) for group in groups]
    pairs = (
        Segment(left, group[0].source, (right,))
        for group, texts in zip(groups, distinct, strict=True)
        for left, right in combinations(texts, 2)
    )
    scores = (rating.estimate.value for rating in annotator.annotate_segments(pairs) if rating.estimate is not None)
    signature = annotator.signature("source+reference")
    for group, texts in zip(groups, distinct, strict=True):
        counts = Counter(segment.hypothesis for segment in group)
        sums = dict.fromkeys(texts, 0.0)
        for (left, right), score in zip(combinations(texts, 2), scores, strict=False):
            sums[left] += counts[right] * score
            sums[right] -= counts[left] * score
        n_others = max(len(group) - 1, 1)
        yield [
            Rating(segment, signature, None, estimate=Estimate(sums[segment.hypothesis] / n_others, "comet"))
            for segment in group
        ]
