"""Black-box explanations: how the score changes when words are left out."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from matese.annotation import Rating, Segment, is_blank
from matese.evaluation.statistics.arrays import BoolArray, FloatArray
from matese.explanation.method import LEAVE_ONE_OUT
from matese.streams import grouped
from matese.text.words import word_ranges

Rate = Callable[[Iterable[Segment]], Iterable[Rating]]
"""Yields a rating with an estimate for each segment, in order."""
_SAMPLES = 8
"""Texts from which LIME learns, for each word; half of the words are left out of each."""
_KERNEL = 0.25
"""Width of LIME's kernel for the cosine distance of texts as sets of words, as in the authors' `LimeTextExplainer`."""
_RIDGE = 0.1


@dataclass(frozen=True, slots=True)
class TextWords:
    """A text of a segment ("hypothesis", "source" or "reference" and its number) and the ranges of its words."""

    name: str
    reference: int | None
    text: str
    ranges: Sequence[tuple[int, int]]

    @property
    def may_be_empty(self) -> bool:
        """Whether it can be read without any of its words: a blank source or reference counts as missing."""
        return self.name == "hypothesis" or not is_blank(self._without(range(len(self.ranges))))

    def without(self, segment: Segment, left_out: Iterable[int]) -> Segment:
        """Returns the segment without the words of these numbers."""
        text = self._without(left_out)
        if self.name == "hypothesis":
            return replace(segment, hypothesis=text)
        if self.reference is None:
            return replace(segment, source=text)
        references = segment.references[: self.reference], segment.references[self.reference + 1 :]
        return replace(segment, references=(*references[0], text, *references[1]))

    def _without(self, left_out: Iterable[int]) -> str:
        text = self.text
        for number in sorted(left_out, reverse=True):
            start, end = self.ranges[number]
            before = text[:start]
            after = text[end:]
            if not after[:1].isalnum():  # no space is left before a mark, after another space, or at an end
                after = after if before.strip() else after.lstrip()
                before = before.rstrip()
            text = before + after
        return text


def texts_of(segment: Segment) -> list[TextWords]:
    """Returns the texts of a segment."""
    source = [] if segment.source is None else [("source", None, segment.source)]
    references = [("reference", number, text) for number, text in enumerate(segment.references)]
    named = [("hypothesis", None, segment.hypothesis), *source, *references]
    return [TextWords(name, number, text, word_ranges(text)) for name, number, text in named]


def weights(
    by: str, read: Iterable[tuple[Segment, Sequence[TextWords]]], rate: Rate
) -> Iterator[tuple[Rating, list[FloatArray]]]:
    """Yields the rating of each segment, and the weight of each word of its texts: (words,). Lazily and in order.

    The variants of all segments are one stream, so that a model can batch them.

    Args:
        by: "leave-one-out", how much the score rises without a word; or "lime", how much a word lowers the score in a
            linear model around the segment (Ribeiro et al. 2016, "Why Should I Trust You?", with ridge regression).
        read: segments and their texts that have words.
        rate: the model.
    """

    def variants() -> Iterator[tuple[list[BoolArray], list[Segment]]]:
        for segment, parts in read:
            draws = [_draw(by, words) for words in parts]
            changed = [
                words.without(segment, np.flatnonzero(~row).tolist())
                for words, kept in zip(parts, draws, strict=True)
                for row in kept
            ]
            yield draws, [segment, *changed]

    weigh = _leave_one_out if by == LEAVE_ONE_OUT else _lime
    for draws, (rating, *of_variants) in grouped(rate, variants()):
        scores = iter(map(_score, of_variants))
        yield rating, [weigh(kept, np.array(list(islice(scores, len(kept)))), _score(rating)) for kept in draws]


def _score(rating: Rating) -> float:
    assert rating.estimate is not None
    return rating.estimate.value


def _draw(by: str, words: TextWords) -> BoolArray:
    """Returns which words are kept in each variant: (variants, words)."""
    n_words = len(words.ranges)
    if by == LEAVE_ONE_OUT:
        kept = ~np.eye(n_words, dtype=np.bool_)
    else:
        # The draws follow from the text. Each comes with its complement: every word is left out of half of them.
        rng = np.random.default_rng(zlib.crc32(words.text.encode("utf-8", "surrogatepass")))
        drawn = rng.random((n_words * _SAMPLES // 2, n_words)) < 0.5
        kept = np.concatenate([drawn, ~drawn])
    return kept if words.may_be_empty else kept[kept.any(1)]


def _leave_one_out(kept: BoolArray, scores: FloatArray, score: float) -> FloatArray:
    """Returns how much the score rises without each word; 0 for one without which the text could not be read."""
    weights = np.zeros(kept.shape[1])
    weights[np.nonzero(~kept)[1]] = scores - score
    return weights


def _lime(kept: BoolArray, scores: FloatArray, score: float) -> FloatArray:
    """Returns the negative weights of the words in a ridge regression of the scores of the text and its variants.

    They are 0 without variants.
    """
    if not len(kept):
        return np.zeros(kept.shape[1])
    kept = np.vstack([np.ones((1, kept.shape[1]), dtype=np.bool_), kept])
    scores = np.append(score, scores)
    distances = 1 - np.sqrt(kept.mean(1))
    closeness = np.sqrt(np.exp(-(distances**2) / _KERNEL**2))
    features = np.column_stack([np.ones(len(kept)), kept])
    penalty = _RIDGE * np.eye(features.shape[1])
    penalty[0, 0] = 0
    weighted = features * closeness[:, None]
    return -np.linalg.solve(features.T @ weighted + penalty, weighted.T @ scores)[1:]
