"""Metrics of words that no package offers as sums over segments: PER, CDER and NIST."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from matese.evaluation.statistics.arrays import FloatArray

NIST_ORDER = 5
"""Longest n-grams of NIST (Doddington 2002)."""
_Ngram = tuple[str, ...]


def position_independent_edits(hypothesis: Sequence[str], reference: Sequence[str]) -> int:
    """Returns the edits of PER (Tillmann et al. 1997): words without a partner, whatever their order.

    >>> position_independent_edits("b a x y".split(), "a b c".split())
    2
    """
    n_matched = sum((Counter(hypothesis) & Counter(reference)).values())
    return max(len(hypothesis), len(reference)) - n_matched


def block_edits(hypothesis: Sequence[str], reference: Sequence[str]) -> int:
    """Returns the edits of CDER (Leusch et al. 2006): those of the Levenshtein distance, and jumps in the hypothesis.

    Each word of the reference is covered once, from the beginning of the hypothesis to its end.

    >>> block_edits("c d e a b".split(), "a b c d e".split())  # two jumps, and one to the end
    3
    """
    costs = [0, *[1] * len(hypothesis)]
    for reference_word in reference:
        following = [costs[0] + 1]
        for place, word in enumerate(hypothesis, start=1):
            following.append(min(following[-1] + 1, costs[place] + 1, costs[place - 1] + (word != reference_word)))
        jump = min(following) + 1
        costs = [min(cost, jump) for cost in following]
    return costs[-1]


def information(references: Iterable[Sequence[str]]) -> Mapping[_Ngram, float]:
    """Returns how much each n-gram of all references tells: the bits of its last word after the others."""
    counts = Counter[_Ngram]()
    n_words = 0
    for words in references:
        n_words += len(words)
        for order in range(1, NIST_ORDER + 1):
            counts.update(_ngrams(words, order))
    return {ngram: math.log2((counts[ngram[:-1]] if len(ngram) > 1 else n_words) / n) for ngram, n in counts.items()}


def nist_sums(
    hypothesis: Sequence[str], references: Sequence[Sequence[str]], weights: Mapping[_Ngram, float]
) -> list[float]:
    """Returns what a segment adds: of each order the information that is matched and the n-grams, then both lengths.

    Of each order, the reference with the highest information counts, as in nltk.
    """
    sums: list[float] = []
    n_reference_words = 0
    for order in range(1, NIST_ORDER + 1):
        ngrams = Counter(_ngrams(hypothesis, order))
        of_references = []
        for words in references:
            matched = ngrams & Counter(_ngrams(words, order))
            of_references.append((sum(weights[ngram] * n for ngram, n in matched.items()), len(words)))
        matched_information, length = max(of_references)
        sums += [matched_information, ngrams.total()]
        n_reference_words += length
    return [*sums, NIST_ORDER * len(hypothesis), n_reference_words]


def nist(sums: FloatArray) -> FloatArray:
    """Returns the scores of sums, (samples, sums of `nist_sums`); 5 is the penalty's exponent at 2/3 of the length."""
    information_sums = sums[:, 0:-2:2]
    totals = sums[:, 1:-2:2]
    information_per_ngram = np.divide(
        information_sums, totals, out=np.zeros_like(information_sums), where=totals > 0
    ).sum(axis=1)
    n_words, n_reference_words = sums[:, -2:].T
    ratio = np.divide(n_words, n_reference_words, out=np.ones_like(n_words), where=n_reference_words > 0).clip(0, 1)
    with np.errstate(divide="ignore"):
        penalty = np.exp(math.log(0.5) / math.log(1.5) ** 2 * np.log(ratio) ** 2)
    scores: FloatArray = information_per_ngram * penalty
    return scores


def _ngrams(words: Sequence[str], order: int) -> Iterable[_Ngram]:
    return zip(*(words[start:] for start in range(order)), strict=False)
