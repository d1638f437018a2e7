"""What labels of severity learn: 0 for no error, else 1 + the number of the severity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from matese.annotation import Rating, Severity
from matese.model.config import TaggerConfig
from matese.model.heads.learning import IGNORED, Columns, HeadTargets, Ragged, of_hypotheses, within
from matese.model.texts.encoding import Tokens
from matese.text import severity_rank


class WordLabelTargets(HeadTargets):
    """Learns the labels of a model of the COMET family that marks errors of these severities, if any."""

    name = "word_labels"

    def __init__(self, severities: Sequence[Severity]) -> None:
        super().__init__(TaggerConfig())
        self.severities = tuple(severities)

    def columns(self, ratings: Sequence[Rating], tokens: Mapping[str, Tokens], skipped: Counter[str]) -> Columns:
        """Returns the labels of each hypothesis."""
        pairs = zip(ratings, of_hypotheses(ratings, tokens), strict=True)
        labels = (severity_labels(rating, each, self.severities) for rating, each in pairs)
        return {"tag_ids": Ragged.of(labels, np.zeros(0, np.int8))}


def severity_labels(rating: Rating, tokens: Tokens, severities: Sequence[Severity]) -> npt.NDArray[np.int8]:
    """Returns the label of each token of the hypothesis: 0 for no error, else 1 + the number of the severity.

    A severity that the model lacks becomes the nearest one that it has; neutral errors are not labelled. Where errors
    overlap, the worst counts. IGNORED for errors of undecided severity, and without spans or severities.
    """
    labels = np.zeros(len(tokens.ids), dtype=np.int8)
    if rating.errors is None or not severities:
        return np.full_like(labels, IGNORED)
    for span in sorted(rating.errors, key=lambda other: severity_rank(other.severity)):
        if span.severity is Severity.NEUTRAL:
            continue
        label = IGNORED
        if (severity := span.severity) is not None:
            distances = [abs(severity_rank(other) - severity_rank(severity)) for other in severities]
            label = 1 + distances.index(min(distances))
        labels[within(span, tokens)] = label
    return labels
