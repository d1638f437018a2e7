"""chrF: its statistics for a corpus, between all translations of a source, and against their average n-gram counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from matese.evaluation.statistics.arrays import FloatArray

_ORDER, _BETA = 6, 2.0
"""chrF2 of Popović 2015, with the defaults of sacreBLEU: n-grams of 1 to 6 characters without white space."""


def statistics(hypothesis: str, references: Sequence[str]) -> FloatArray:
    """Returns the counts of n-grams of each order, with the best reference; those of segments are added for a corpus.

    Shape: (3 * orders,), matched n-grams, then those of the hypothesis, then those of the reference.
    """
    counts = _counts([hypothesis, *references])
    matched = np.stack([np.minimum(table[:, :1], table[:, 1:]).sum(0, dtype=np.float64) for table in counts])
    totals = np.stack([table.sum(0, dtype=np.float64) for table in counts])  # (orders, texts)
    # As in sacreBLEU, an order for which the reference is too short does not count.
    both = np.stack([matched, np.where(totals[:, 1:] > 0, totals[:, :1], 0.0), totals[:, 1:]])
    return np.asarray(both[..., _f_score(*both).argmax()].ravel())


def of_sums(rows: FloatArray) -> FloatArray:
    """Returns chrF2, 0 to 100, from sums of `statistics`. Shape: (samples, 3 * orders) to (samples,)."""
    return _f_score(*rows.reshape(len(rows), 3, _ORDER).transpose(1, 2, 0))


def pairwise(texts: Sequence[str]) -> FloatArray:
    """Returns chrF2, 0 to 100, of each text (row) with each text (column) as its reference.

    Each number is that of sacreBLEU's `CHRF().sentence_score`.

    >>> pairwise(["a cat", "a hat"]).round(2).tolist()
    [[100.0, 27.08], [27.08, 100.0]]
    """
    matched, totals = [], []
    for counts in _counts(texts):  # (n-grams, texts)
        shared = np.empty((len(texts), len(texts)))
        for number, column in enumerate(counts.T):
            present = column.nonzero()[0]  # n-grams that a text lacks match nothing
            shared[number] = np.minimum(counts[present], column[present, None]).sum(0)
        matched.append(shared)
        totals.append(counts.sum(0, dtype=np.float64))
    return _f_score(np.stack(matched), np.stack(totals)[:, :, None], np.stack(totals)[:, None, :])


def against_average(texts: Sequence[str], weights: FloatArray) -> FloatArray:
    """Returns chrF2, 0 to 100, of each text with the average n-gram counts of all texts as its reference.

    DeNero et al. 2009 ("Fast Consensus Decoding over Translation Forests") put expected counts in the place of many
    references; Vamvas and Sennrich 2024 ("Linear-time Minimum Bayes Risk Decoding with Reference Aggregation") do so
    for chrF. The cost grows with the number of texts, not with its square.

    Args:
        texts: the translations.
        weights: of each text in the average; their sum is 1.
    """
    matched, totals, averages = [], [], []
    for counts in _counts(texts):
        average = counts @ weights  # (n-grams,)
        matched.append(np.minimum(counts, average[:, None]).sum(0))
        totals.append(counts.sum(0, dtype=np.float64))
        averages.append(average.sum())
    return _f_score(np.stack(matched), np.stack(totals), np.array(averages)[:, None])


def _counts(texts: Sequence[str]) -> list[npt.NDArray[np.int32]]:
    """Returns, for each order, how often each n-gram occurs in each text: (n-grams, texts)."""
    solid = ["".join(text.split()) for text in texts]
    tables = []
    for n in range(1, _ORDER + 1):
        places: dict[str, int] = {}
        columns = []
        for text in solid:
            ngrams = Counter(text[at : at + n] for at in range(len(text) - n + 1))
            columns.append(([places.setdefault(ngram, len(places)) for ngram in ngrams], list(ngrams.values())))
        counts = np.zeros((len(places), len(texts)), np.int32)
        for number, (rows, values) in enumerate(columns):
            counts[rows, number] = values
        tables.append(counts)
    return tables


def _f_score(matched: FloatArray, of_hypothesis: FloatArray, of_reference: FloatArray) -> FloatArray:
    """Returns the F score of precision and recall, averaged over the orders, 0 to 100.

    Args:
        matched: (orders, ...), matched n-grams.
        of_hypothesis: (orders, ...), n-grams of the hypothesis.
        of_reference: (orders, ...), n-grams of the reference.
    """
    # An order counts if both texts are long enough for it.
    counts = (of_hypothesis > 0) & (of_reference > 0)
    n_orders = np.maximum(counts.sum(0), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(counts, matched / of_hypothesis, 0.0).sum(0) / n_orders
        recall = np.where(counts, matched / of_reference, 0.0).sum(0) / n_orders
        factor = _BETA**2
        score = 100 * (1 + factor) * precision * recall / (factor * precision + recall)
    return np.asarray(np.nan_to_num(score))
