"""chrF: its statistics for a corpus, between all translations of a source, and against their average n-gram counts."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from matese.evaluation.statistics.arrays import FloatArray

_PUNCTUATION = frozenset(string.punctuation)


@dataclass(frozen=True, slots=True)
class ChrfVariant:
    """A variant of chrF, with sacreBLEU's names and defaults: chrF2 of Popović 2015.

    Attributes:
        char_order: longest n-gram of characters, without white space.
        word_order: longest n-gram of words and the punctuation marks around them; 2 is chrF++.
        beta: how much more recall weighs than precision.
        lowercase: whether case does not matter.
    """

    char_order: int = 6
    word_order: int = 0
    beta: float = 2.0
    lowercase: bool = False


CHRF2 = ChrfVariant()


def statistics(hypothesis: str, references: Sequence[str], variant: ChrfVariant = CHRF2) -> FloatArray:
    """Returns the counts of n-grams of each order, with the best reference; those of segments are added for a corpus.

    Shape: (3 * orders,), matched n-grams, then those of the hypothesis, then those of the reference.
    """
    counts = _counts([hypothesis, *references], variant)
    matched = np.stack([np.minimum(table[:, :1], table[:, 1:]).sum(0, dtype=np.float64) for table in counts])
    totals = np.stack([table.sum(0, dtype=np.float64) for table in counts])  # (orders, texts)
    # As in sacreBLEU, an order for which the reference is too short does not count.
    both = np.stack([matched, np.where(totals[:, 1:] > 0, totals[:, :1], 0.0), totals[:, 1:]])
    return np.asarray(both[..., _f_score(*both, beta=variant.beta).argmax()].ravel())


def of_sums(rows: FloatArray, variant: ChrfVariant = CHRF2) -> FloatArray:
    """Returns chrF, 0 to 100, from sums of `statistics`. Shape: (samples, 3 * orders) to (samples,)."""
    return _f_score(*rows.reshape(len(rows), 3, -1).transpose(1, 2, 0), beta=variant.beta)


def pairwise(texts: Sequence[str]) -> FloatArray:
    """Returns chrF2, 0 to 100, of each text (row) with each text (column) as its reference.

    Each number is that of sacreBLEU's `CHRF().sentence_score`.

    >>> pairwise(["a cat", "a hat"]).round(2).tolist()
    [[100.0, 27.08], [27.08, 100.0]]
    """
    matched = []
    totals = []
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
    matched = []
    totals = []
    averages = []
    for counts in _counts(texts):
        average = counts @ weights  # (n-grams,)
        matched.append(np.minimum(counts, average[:, None]).sum(0))
        totals.append(counts.sum(0, dtype=np.float64))
        averages.append(average.sum())
    return _f_score(np.stack(matched), np.stack(totals), np.array(averages)[:, None])


def _counts(texts: Sequence[str], variant: ChrfVariant = CHRF2) -> list[npt.NDArray[np.int32]]:
    """Returns, for each order, how often each n-gram occurs in each text: (n-grams, texts)."""
    cased = [text.lower() for text in texts] if variant.lowercase else texts
    solid = ["".join(text.split()) for text in cased]
    orders: list[list[Counter[Hashable]]] = [
        [Counter(text[at : at + n] for at in range(len(text) - n + 1)) for text in solid]
        for n in range(1, variant.char_order + 1)
    ]
    separated = [tuple(_words(text)) for text in cased] if variant.word_order else []
    orders += [
        [Counter(words[at : at + n] for at in range(len(words) - n + 1)) for words in separated]
        for n in range(1, variant.word_order + 1)
    ]
    tables = []
    for ngrams_of_texts in orders:
        places: dict[Hashable, int] = {}
        columns = []
        for ngrams in ngrams_of_texts:
            columns.append(([places.setdefault(ngram, len(places)) for ngram in ngrams], list(ngrams.values())))
        counts = np.zeros((len(places), len(texts)), np.int32)
        for number, (rows, values) in enumerate(columns):
            counts[rows, number] = values
        tables.append(counts)
    return tables


def _words(text: str) -> Iterator[str]:
    """Yields words, and apart from each the mark that ends it, or else the one that begins it, as chrF++ does.

    >>> list(_words('He said: "(yes)" ...'))
    ['He', 'said', ':', '"(yes)', '"', '..', '.']
    """
    for word in text.split():
        if len(word) > 1 and word[-1] in _PUNCTUATION:
            yield from (word[:-1], word[-1])
        elif len(word) > 1 and word[0] in _PUNCTUATION:
            yield from (word[0], word[1:])
        else:
            yield word


def _f_score(
    matched: FloatArray, of_hypothesis: FloatArray, of_reference: FloatArray, *, beta: float = CHRF2.beta
) -> FloatArray:
    """Returns the F score of precision and recall, averaged over the orders, 0 to 100.

    Args:
        matched: (orders, ...), matched n-grams.
        of_hypothesis: (orders, ...), n-grams of the hypothesis.
        of_reference: (orders, ...), n-grams of the reference.
        beta: how much more recall weighs than precision.
    """
    # An order counts if both texts are long enough for it.
    counts = (of_hypothesis > 0) & (of_reference > 0)
    n_orders = np.maximum(counts.sum(0), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(counts, matched / of_hypothesis, 0.0).sum(0) / n_orders
        recall = np.where(counts, matched / of_reference, 0.0).sum(0) / n_orders
        factor = beta**2
        score = 100 * (1 + factor) * precision * recall / (factor * precision + recall)
    return np.asarray(np.nan_to_num(score))
