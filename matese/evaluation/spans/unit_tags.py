"""Agreement of BIO tags, unit by unit, and of spans that are exactly the same in units.

A unit is a word, a character or a token of a model; see `Tagging`. The figures of tags are those of TorchMetrics (per
tag, macro average, Matthews' correlation coefficient), the figures of exact spans those of seqeval in strict mode.

Validation in training calls both libraries. Here they are only the oracle of the tests: they return figures of a whole
corpus, whereas the bootstrap and the groups need counts of each segment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from matese.annotation import ErrorSpan, Severity
from matese.annotation.severities import MINOR_MAJOR
from matese.evaluation.spans import span_hit
from matese.evaluation.statistics.arrays import FloatArray, divide, rates, row_means
from matese.evaluation.statistics.bootstrap import AdditiveStatistic

UnitTags = tuple[Sequence[int], Sequence[int]]
"""The tags of one segment, gold and predicted, as positions in `Tagging.names`: (units,) each."""


@dataclass(frozen=True, slots=True)
class Tagging:
    """How spans become tags.

    Attributes:
        unit: "word", "character", or the model whose tokens are the units.
        names: of the tags, by their ids.
        tag: from a text and its spans to the tag of each unit.
    """

    unit: str
    names: tuple[str, ...]
    tag: Callable[[str, Sequence[ErrorSpan]], Sequence[int]]


def tag_statistic(segments: Sequence[UnitTags], names: Sequence[str]) -> AdditiveStatistic:
    """Returns the figures `tags.NAME` of each tag, `tags.macro` and `tags.mcc`.

    The figures of a tag that neither side has are undefined; it does not count in the macro average. Precision and
    recall are 0 if only the other side has the tag. Matthews' coefficient is 0 if one side has a single tag only.
    """
    table = np.array([confusion(segment, len(names)) for segment in segments])
    flat = table.reshape(len(segments), len(names) ** 2)
    return AdditiveStatistic(flat, lambda totals: _tag_figures(totals, names))


def confusion(segment: UnitTags, n_tags: int) -> FloatArray:
    """Returns the number of units with each gold and predicted tag, (gold tags, predicted tags)."""
    gold, predicted = (np.asarray(tags, dtype=np.int64) for tags in segment)
    return np.bincount(gold * n_tags + predicted, minlength=n_tags**2).reshape(n_tags, n_tags).astype(np.float64)


def exact_statistic(segments: Sequence[UnitTags], names: Sequence[str]) -> AdditiveStatistic:
    """Returns the figures `exact` (same units and same severity) of all spans and of each severity.

    Precision or recall is 0 if only the other side has spans, and undefined if neither has.
    """
    rows = []
    for segment in segments:
        gold, predicted = (set(to_spans(tags, names)) for tags in segment)
        sides = (gold & predicted, predicted, gold)
        rows.append([sum(span.severity is severity for span in side) for severity in MINOR_MAJOR for side in sides])
    return AdditiveStatistic(np.array(rows, dtype=np.float64).reshape(len(segments), -1), _exact_figures)


def hit_statistic(segments: Sequence[UnitTags], names: Sequence[str]) -> AdditiveStatistic:
    """Returns `tags.hsh` and `tags.tsh`: HSH and TSH on units, as Perrella et al. 2022 compute them on tokens."""
    sides = ([to_spans(tags, names) for tags in segment] for segment in segments)
    return span_hit.statistic([span_hit.span_hit(gold, predicted) for gold, predicted in sides], prefix="tags.")


def to_spans(tags: Sequence[int], names: Sequence[str]) -> list[ErrorSpan]:
    """Returns the spans of a tag sequence, in units, as seqeval reads IOB2 in strict mode.

    A span is a B- and the following I- of its severity; an I- without a B- is no span.

    >>> spans = to_spans([0, 1, 2, 1, 4], ["O", "B-Minor", "I-Minor", "B-Major", "I-Major"])
    >>> [(span.start, span.end, span.severity.value) for span in spans]
    [(1, 3, 'minor'), (3, 4, 'minor')]
    """
    spans = []
    for start, tag in enumerate(tags):
        prefix, _, severity = names[tag].partition("-")
        if prefix == "B":
            end = start + 1
            while end < len(tags) and names[tags[end]] == f"I-{severity}":
                end += 1
            spans.append(ErrorSpan(start, end, Severity(severity.lower())))
    return spans


def _tag_figures(totals: FloatArray, names: Sequence[str]) -> Mapping[str, FloatArray]:
    matrix = totals.reshape(-1, len(names), len(names))
    hits = np.einsum("...tt->...t", matrix)
    gold = matrix.sum(axis=2)
    predicted = matrix.sum(axis=1)
    precision = _share(hits, predicted, gold)
    recall = _share(hits, gold, predicted)
    figures: dict[str, FloatArray] = {}
    for tag, name in enumerate(names):
        figures |= rates(f"tags.{name}", precision[:, tag], recall[:, tag])
    f1 = divide(2 * hits, gold + predicted)
    is_there = np.where(gold + predicted > 0, 1.0, np.nan)
    for key, values in (("precision", precision), ("recall", recall), ("f1", f1)):
        figures[f"tags.macro.{key}"] = row_means(values * is_there)
    # Matthews' correlation coefficient for several classes (Gorodkin 2004).
    n_units = gold.sum(axis=1)
    covariance = hits.sum(axis=1) * n_units - (gold * predicted).sum(axis=1)
    variances = [n_units**2 - (side**2).sum(axis=1) for side in (gold, predicted)]
    return figures | {"tags.mcc": divide(covariance, np.sqrt(np.prod(variances, axis=0)), empty=0.0)}


def _exact_figures(totals: FloatArray) -> Mapping[str, FloatArray]:
    by_severity = totals.reshape(-1, len(MINOR_MAJOR), 3)
    parts = {"exact": by_severity.sum(axis=1)}
    parts |= {f"exact.{severity.value}": by_severity[:, number] for number, severity in enumerate(MINOR_MAJOR)}
    figures: dict[str, FloatArray] = {}
    for name, counts in parts.items():
        hits, predicted, gold = counts.T
        figures |= rates(name, _share(hits, predicted, gold), _share(hits, gold, predicted))
    return figures


def _share(hits: FloatArray, side: FloatArray, other_side: FloatArray) -> FloatArray:
    """Returns the hits over a side's counts: 0 if only the other side has any, NaN if neither has."""
    return np.where(side + other_side > 0, divide(hits, side, empty=0.0), np.nan)
