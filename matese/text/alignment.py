"""Alignment of two texts in order: which of their sentences, or lines, translate each other.

The costs follow Gale and Church (1993), "A program for aligning sentences in bilingual corpora", with a term for the
likeness of sentences. The likeness is a matrix, so that any model can give it; without one, `likeness_of` compares the
letters, which finds reworded sentences of one language, and shared names and numbers of two.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from matese.text.ranges import Range
from matese.text.sentences import is_ideograph, sentence_ranges, size

Likeness = npt.NDArray[np.floating]
"""(sentences, sentences of the other text), at most 1; 0 for two that have nothing in common."""

_PRIORS = {(1, 1): 0.89, (1, 2): 0.0445, (2, 1): 0.0445, (2, 2): 0.011, (1, 0): 0.05, (0, 1): 0.05}
"""Weight of each kind of bead: the probabilities of Gale and Church 1993, table 5, except that a sentence without a
counterpart has ten times theirs, since machine translations leave out and invent sentences."""
_DEVIATION = 0.35
"""Standard deviation of the logarithm of the ratio of the lengths of two sentences that translate each other."""
_WORST_LENGTH = 4.0
"""Highest cost of lengths that do not match."""
_ADDED_LENGTH = 10
"""Added to each length, since the ratio of short sentences varies more."""
_RATIO = 1.5
"""Highest ratio of the lengths of two texts that is taken for that of their languages; what exceeds it is missing."""
_WEIGHT = 10.0
"""Gain of a sentence that is aligned with an equal one, in units of the logarithm of a probability."""
_STRANGER = 0.15
"""A sentence that is that much more like another one than its counterpart has none: it stands at another place."""
_N_LETTERS = 4
_N_BUCKETS = 2**12
_DROPPED_BITS = np.uint32(20)  # of 32, so that 12 are left
_MULTIPLIER = np.uint32(0x9E3779B1)  # Knuth's multiplicative hash: 2**32 divided by the golden ratio


class Bead(NamedTuple):
    """Sentences that translate each other: their numbers in both texts. One of the ranges may be empty."""

    first: Range
    other: Range


class AlignedPiece(NamedTuple):
    """A part of a hypothesis and its counterpart in another text, without white space at their ends.

    Attributes:
        hypothesis: characters of the hypothesis; empty if the hypothesis lacks what `other` says.
        other: characters of the other text; empty if the part has no counterpart.
    """

    hypothesis: Range
    other: Range

    @property
    def is_paired(self) -> bool:
        """Whether there is text on both sides."""
        return self.hypothesis[0] < self.hypothesis[1] and self.other[0] < self.other[1]


def align(lengths: Sequence[float], other_lengths: Sequence[float], likeness: Likeness) -> list[Bead]:
    """Returns the best alignment of two texts: beads of 1-1, 1-2, 2-1, 2-2, 1-0 and 0-1 sentences, in order.

    Sentences in another order have no counterpart, unless two neighbours have changed places, which is a 2-2 bead.

    Args:
        lengths: of the sentences of one text, such as their `size`.
        other_lengths: those of the other text.
        likeness: of each two sentences.

    >>> align([10, 20, 30], [31, 30], np.zeros((3, 2)))
    [Bead(first=(0, 2), other=(0, 1)), Bead(first=(2, 3), other=(1, 2))]
    """
    n_first = len(lengths)
    n_other = len(other_lengths)
    costs = {bead: _costs(bead, lengths, other_lengths, likeness) for bead in _PRIORS}
    best = np.full((n_first + 1, n_other + 1), np.inf)
    best[0, 0] = 0
    taken = np.zeros((n_first + 1, n_other + 1), np.int8)
    for diagonal in range(1, n_first + n_other + 1):
        rows = np.arange(max(0, diagonal - n_other), min(diagonal, n_first) + 1)
        for kind, ((n, m), cost) in enumerate(costs.items()):
            ends = rows[(rows >= n) & (diagonal - rows >= m)]
            columns = diagonal - ends
            total = best[ends - n, columns - m] + cost[ends - n, columns - m]
            is_better = total < best[ends, columns]
            best[ends[is_better], columns[is_better]] = total[is_better]
            taken[ends[is_better], columns[is_better]] = kind
    kinds = list(_PRIORS)
    beads = []
    end = n_first
    end_of_other = n_other
    while end or end_of_other:
        n, m = kinds[taken[end, end_of_other]]
        beads.append(Bead((end - n, end), (end_of_other - m, end_of_other)))
        end -= n
        end_of_other -= m
    return [part for bead in reversed(beads) for part in _apart(bead, likeness)]


def _apart(bead: Bead, likeness: Likeness) -> list[Bead]:
    """Returns the bead, or two without a counterpart if one of its sentences is more like one outside of it."""
    (start, end), (other_start, other_end) = bead
    within = likeness[start:end, other_start:other_end]
    if not within.size:
        return [bead]
    most = max(likeness[start:end].max(), likeness[:, other_start:other_end].max())
    if most <= within.max() + _STRANGER:
        return [bead]
    return [Bead(bead.first, (other_start, other_start)), Bead((end, end), bead.other)]


def _costs(
    bead: tuple[int, int], lengths: Sequence[float], other_lengths: Sequence[float], likeness: Likeness
) -> npt.NDArray[np.floating]:
    """Returns the cost of the bead that begins at each place of both texts."""
    n, m = bead
    prior = -np.log(_PRIORS[bead])
    shape = (max(0, len(lengths) - n + 1), max(0, len(other_lengths) - m + 1))
    if not n or not m or not all(shape):
        return np.full(shape, prior)
    sums = _sums(lengths, n)
    other_sums = _sums(other_lengths, m)
    # Sentences whose vectors are orthogonal and as long as the root of their lengths: the cosine of sums of them.
    weighted = likeness * np.sqrt(np.outer(lengths, other_lengths))
    together = sum(weighted[i : i + shape[0], j : j + shape[1]] for i in range(n) for j in range(m))
    alike = together / np.sqrt(np.maximum(np.outer(sums, other_sums), 1))
    ratio = np.clip(sum(other_lengths) / max(sum(lengths), 1), 1 / _RATIO, _RATIO)
    apart = np.log((other_sums + _ADDED_LENGTH) / (sums * ratio + _ADDED_LENGTH)[:, None])
    of_lengths = np.minimum((apart / _DEVIATION) ** 2 / 2, _WORST_LENGTH)
    costs: npt.NDArray[np.floating] = prior + of_lengths - _WEIGHT * (n + m) / 2 * alike
    return costs


def _sums(lengths: Sequence[float], n: int) -> npt.NDArray[np.float64]:
    """Returns the sum of each n consecutive lengths."""
    totals = np.array([0.0, *accumulate(lengths)])
    sums: npt.NDArray[np.float64] = totals[n:] - totals[:-n]
    return sums


def likeness_of(sentences: Sequence[str], other_sentences: Sequence[str]) -> Likeness:
    """Returns the likeness of the letters of each two sentences: the cosine of their n-grams, rare ones counting more.

    Numbers count as well, in whatever digits they are written.

    >>> likeness_of(["Heute regnet es", "Kommt um 9"], ["Ab ٩", "Es regnet heute"]).argmax(1).tolist()
    [1, 0]
    """
    texts = [*sentences, *other_sentences]
    counts = np.stack([_counts(text) for text in texts]) if texts else np.zeros((0, _N_BUCKETS))
    n_with = (counts > 0).sum(0)
    vectors = np.sqrt(counts) * np.log((len(texts) + 1) / np.maximum(n_with, 1))
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    likeness: Likeness = vectors[: len(sentences)] @ vectors[len(sentences) :].T
    return likeness


def _counts(text: str) -> npt.NDArray[np.float64]:
    """Returns how often each n-gram and number of a text occurs: (buckets of their hashes,)."""
    words = "".join(map(_folded, text.casefold())).split()
    letters = np.frombuffer(f" {' '.join(words)} ".encode("utf-32-le", "surrogatepass"), np.uint32)
    hashes = np.zeros(max(1, len(letters) - _N_LETTERS + 1), np.uint32)
    for number in range(min(_N_LETTERS, len(letters))):
        hashes = (hashes ^ letters[number : number + len(hashes)]) * _MULTIPLIER
    counts = np.bincount(hashes >> _DROPPED_BITS, minlength=_N_BUCKETS).astype(np.float64)
    for word in words:
        if word.isdecimal():
            counts[crc32(word.encode()) % _N_BUCKETS] += _N_LETTERS
    return counts


def _folded(character: str) -> str:
    """Returns a letter, a western digit for any digit, two of a character that stands for a word, and else a space."""
    if character.isdecimal():
        return str(int(character))
    if unicodedata.category(character)[0] not in "LMN":
        return " "
    return 2 * character if is_ideograph(character) else character


def pieces(hypothesis: str, other: str, likeness: Likeness | None = None) -> list[AlignedPiece]:
    """Returns a hypothesis and a reference or source in aligned pieces of one or two sentences, in order.

    Each character of either text that is no white space is in exactly one piece.

    Args:
        hypothesis: the translation.
        other: the reference or source.
        likeness: of each two of their sentences (`sentence_ranges`); by default, that of the letters.

    >>> hypothesis = "Der Rhein ist lang. Er fließt nach Norden. Das Wasser ist kalt."
    >>> other = "Der Rhein ist ein langer Fluss, der nach Norden fließt. Sein Wasser ist kalt."
    >>> for piece in pieces(hypothesis, other):
    ...     print(hypothesis[slice(*piece.hypothesis)], "|", other[slice(*piece.other)])
    Der Rhein ist lang. Er fließt nach Norden. | Der Rhein ist ein langer Fluss, der nach Norden fließt.
    Das Wasser ist kalt. | Sein Wasser ist kalt.
    """
    ranges = sentence_ranges(hypothesis)
    other_ranges = sentence_ranges(other)
    sentences = [hypothesis[start:end] for start, end in ranges]
    other_sentences = [other[start:end] for start, end in other_ranges]
    if likeness is None:
        likeness = likeness_of(sentences, other_sentences)
    beads = align(list(map(size, sentences)), list(map(size, other_sentences)), likeness)
    return [AlignedPiece(_characters(bead.first, ranges), _characters(bead.other, other_ranges)) for bead in beads]


def _characters(numbers: Range, sentences: Sequence[Range]) -> Range:
    """Returns the characters of consecutive sentences; an empty range for none."""
    first, end = numbers
    if first == end:
        place = sentences[first - 1][1] if first else 0
        return place, place
    return sentences[first][0], sentences[end - 1][1]
