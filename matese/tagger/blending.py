"""The expected score from all that is known of a segment: what the score head says, what the tags say, and chrF.

A head trained on few raters knows well how bad errors are and how hard a source is, and less well which of two
translations of one source is better; the tags and the share of the reference that is there know it better. What each
is worth is fitted on dev data (`matese.training.blending`).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from matese import mqm
from matese.encoder.encoding import Inputs

_LONGEST, _BETA = 6, 2


@dataclass(frozen=True, slots=True)
class Blend:
    """Points of MQM for what is known of a hypothesis and one reference of it.

    Attributes:
        inputs: what must be read for it to apply.
        head: points a point of the score head.
        tags: points a point of the expected penalty of the tags (see `matese.tagger.decoding.expected_score`).
        chrf: points a point of chrF, 0 to 100; must be 0 where no reference is read.
        offset: points added.
    """

    inputs: Inputs
    head: float
    tags: float
    chrf: float
    offset: float

    def __post_init__(self) -> None:
        if self.chrf and self.inputs == "source":
            raise ValueError(f"chrf {self.chrf} of the inputs source: must be 0 where no reference is read")

    def score(self, head: float, tags: float, hypothesis: str, reference: str) -> float:
        """Returns the score, below 0 and not below the floor of MQM; sums well below 0 stay as they are."""
        total = self.head * head + self.tags * tags + self.offset
        if self.chrf:
            total += self.chrf * chrf(hypothesis, reference)
        bounded = -math.log1p(math.exp(-total)) if total > 0 else total - math.log1p(math.exp(total))
        floor = mqm.MATESE.floor
        return bounded if floor is None else max(bounded, floor)


def chrf(hypothesis: str, reference: str) -> float:
    """Returns chrF2 of a segment, 0 to 100, as sacreBLEU's `CHRF().sentence_score` (Popović 2015).

    Here because importing sacreBLEU takes longer than some segments take to tag.

    >>> chrf("a cat", "a cat"), round(chrf("a hat", "a cat"), 2), chrf("", "a cat")
    (100.0, 27.08, 0.0)
    """
    texts = ["".join(text.split()) for text in (hypothesis, reference)]
    precisions, recalls = [], []
    for n in range(1, _LONGEST + 1):
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
