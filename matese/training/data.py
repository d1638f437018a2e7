"""From files of ratings to batches: every distinct text is tokenised once and kept as numbers."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from matese.annotation import Rating
from matese.encoder.encoding import Encoding, Inputs, TextEncoder
from matese.tagger.batch import IGNORED, Example
from matese.training.labels import has_score, score_of, token_labels
from matese.training.reading import texts_of
from matese.training.texts import Ints, TextStore


class Draw(NamedTuple):
    """One way to read a segment.

    Attributes:
        segment: its number.
        inputs: number of the kind of input in the corpus' `inputs`.
        reference: number of the reference.
        window: which of the windows of a long text, from 0 (the first) to less than 1 (the last).
        group: segments of one number are translations of one source, drawn and read together; -1 for alone.
    """

    segment: int
    inputs: int
    reference: int
    window: float
    group: int = -1


@dataclass(frozen=True)
class Corpus:
    """Rated segments as numbers.

    Attributes:
        inputs: the kinds of input a model reads.
        encoder: joins texts to what it reads.
        texts: all distinct texts.
        hypotheses: (segments,): number of each hypothesis in `texts`.
        sources: (segments,): of each source; -1 where there is none.
        references: numbers of all references, one segment's behind the other's.
        reference_starts: (segments + 1,): where each segment's begin in `references`, and the end.
        tag_ids: of all tokens of all segments' hypotheses, one segment's behind the other's.
        tag_starts: (segments + 1,).
        doubts: of all tokens of all segments' hypotheses, as `Example.doubts`.
        scores: (segments,), MQM.
        groups: (segments,): translations of one source with the same references have one number.
        siblings: (segments,): those of a group have one number that are of one system, changed or not.
        habits: (segments,): number of the raters' habits.
        ratings: the ratings themselves; empty if they were not to be kept.
        skipped: how many ratings are not among the segments, by reason.
    """

    inputs: tuple[Inputs, ...]
    encoder: TextEncoder
    texts: TextStore
    hypotheses: Ints
    sources: Ints
    references: Ints
    reference_starts: Ints
    tag_ids: Ints
    tag_starts: Ints
    doubts: npt.NDArray[np.float16]
    scores: npt.NDArray[np.float32]
    groups: Ints
    siblings: Ints
    habits: Ints
    ratings: tuple[Rating, ...]
    skipped: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.hypotheses)

    @property
    def n_references(self) -> Ints:
        """References of each segment: (segments,)."""
        return np.diff(self.reference_starts)

    def usable(self) -> npt.NDArray[np.bool_]:
        """Returns which kinds of input each segment has the texts for: (segments, inputs)."""
        has = {"source": self.sources >= 0, "reference": self.n_references > 0}
        return np.stack([np.all([has[text] for text in kind.split("+")], axis=0) for kind in self.inputs], axis=1)

    def windows(self, draw: Draw) -> list[Encoding]:
        """Returns what the model reads of a segment."""
        contexts = []
        kind = self.inputs[draw.inputs].split("+")  # the source before the reference, as `encoding.contexts`
        if "source" in kind:
            contexts.append(self.texts[self.sources[draw.segment]])
        if "reference" in kind:
            contexts.append(self.texts[self.references[self.reference_starts[draw.segment] + draw.reference]])
        return self.encoder.join(self.texts[self.hypotheses[draw.segment]], contexts, self.inputs[draw.inputs])

    def example(self, draw: Draw) -> Example:
        """Returns what is learned from a segment; of a long one, a window, whose score is not known."""
        windows = self.windows(draw)
        tag_ids, doubts = self.tags(draw.segment), self._doubts(draw.segment)
        habit = int(self.habits[draw.segment])
        if len(windows) == 1:
            return Example(windows[0], tag_ids, float(self.scores[draw.segment]), doubts, draw.group, habit)
        number = int(draw.window * len(windows))
        start = sum(window.kept[1] - window.kept[0] for window in windows[:number]) - windows[number].kept[0]
        doubts = doubts[start : start + len(windows[number].ranges)]
        return Example(windows[number], _only(tag_ids[start:], windows[number]), doubts=doubts, habit=habit)

    def tags(self, segment: int) -> npt.NDArray[np.int32]:
        """Returns the tag ids of a segment's hypothesis: (tokens,)."""
        return self.tag_ids[self.tag_starts[segment] : self.tag_starts[segment + 1]].astype(np.int32)

    def _doubts(self, segment: int) -> npt.NDArray[np.float32]:
        return self.doubts[self.tag_starts[segment] : self.tag_starts[segment + 1]].astype(np.float32)

    def fingerprint(self) -> str:
        """Returns a digest of everything that is learned from."""
        digest = hashlib.sha256(repr(self.inputs).encode())
        arrays = (self.texts.ids, self.texts.starts, self.hypotheses, self.sources, self.references, self.tag_ids)
        for array in (*arrays, self.reference_starts, self.scores, self.doubts, self.siblings, self.habits):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]


def _only(tag_ids: npt.NDArray[np.int32], window: Encoding) -> npt.NDArray[np.int32]:
    """Returns the window's tags, ignored where another window's count."""
    kept = np.full(len(window.ranges), IGNORED, dtype=np.int32)
    kept[slice(*window.kept)] = tag_ids[slice(*window.kept)]
    return kept


def build(
    ratings: Iterable[Rating],
    encoder: TextEncoder,
    inputs: tuple[Inputs, ...],
    *,
    keep_ratings: bool = False,
    with_spans: bool = False,
    habits: Sequence[str] = (),
) -> Corpus:
    """Returns the corpus of all ratings that can be learned from; the others are counted.

    Args:
        ratings: with spans, or with a judgement of the whole alone, from which only a score is learned.
        encoder: of the model.
        inputs: the kinds of input that the model reads; a segment needs the texts of one of them.
        keep_ratings: whether the ratings are needed later, to compare with.
        with_spans: whether those without spans are left out, as where no score is learned.
        habits: test sets and raters with habits of their own.

    Raises:
        ValueError: if none can be learned from.
    """
    usable, skipped = _usable(ratings, inputs, with_spans=with_spans)
    numbers = {text: number for number, text in enumerate(dict.fromkeys(_texts(usable)))}
    texts = TextStore.tokenize(list(numbers), encoder)
    lengths = texts.lengths
    kept = _kept(usable, lambda rating: bool(lengths[numbers[rating.segment.hypothesis]]), skipped)
    references = [[numbers[text] for text in rating.segment.references] for rating in kept]
    sources = [-1 if rating.segment.source is None else numbers[rating.segment.source] for rating in kept]
    hypotheses = [numbers[rating.segment.hypothesis] for rating in kept]
    groups = _numbered((source, *own) for source, own in zip(sources, references, strict=True))
    labels = [token_labels(rating, texts[hypothesis]) for rating, hypothesis in zip(kept, hypotheses, strict=True)]
    return Corpus(
        inputs=inputs,
        encoder=encoder,
        texts=texts,
        hypotheses=np.array(hypotheses, dtype=np.int32),
        sources=np.array(sources, dtype=np.int32),
        references=np.array(list(itertools.chain.from_iterable(references)), dtype=np.int32),
        reference_starts=np.cumsum([0, *map(len, references)]),
        tag_ids=np.concatenate([tags for tags, _ in labels]),
        tag_starts=np.cumsum([0, *(len(tags) for tags, _ in labels)]),
        doubts=np.concatenate([doubts for _, doubts in labels]),
        scores=np.array([score_of(rating) for rating in kept], dtype=np.float32),
        groups=groups,
        siblings=_numbered(zip(groups.tolist(), map(_system, kept), strict=True)),
        habits=np.array([_habit(rating, habits) for rating in kept], dtype=np.int64),
        ratings=tuple(kept) if keep_ratings else (),
        skipped={reason: number for reason, number in skipped.items() if number},
    )


def _kept(usable: Sequence[Rating], has_tokens: Callable[[Rating], bool], skipped: Counter[str]) -> list[Rating]:
    """Returns the ratings with a token in the hypothesis: a tokenizer may leave nothing of control characters."""
    kept = list(filter(has_tokens, usable))
    skipped.update(["without a token in the hypothesis"] * (len(usable) - len(kept)))
    if not kept:
        reasons = ", ".join(f"{number} {reason}" for reason, number in skipped.items() if number) or "there are none"
        raise ValueError(f"no ratings to learn from or validate on ({reasons}): must be one or more")
    return kept


def _numbered(values: Iterable[Hashable]) -> Ints:
    """Returns a number for each value, one for equal ones."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)


def _texts(ratings: Iterable[Rating]) -> Iterator[str]:
    return itertools.chain.from_iterable(map(texts_of, ratings))


def _system(rating: Rating) -> str:
    """Returns the system of a rating, also of one into whose output errors were put ("Online-A+number")."""
    key = rating.segment.key
    return ((key and key.system) or "").partition("+")[0]


def _habit(rating: Rating, habits: Sequence[str]) -> int:
    """Returns the number of the raters' habits, those of a rater before those of a test set; 0 for the usual ones."""
    key = rating.segment.key
    names = (rating.rater, key.test_set if key is not None else None)
    return next((habits.index(name) + 1 for name in names if name in habits), 0)


def _usable(
    ratings: Iterable[Rating], inputs: Sequence[Inputs], *, with_spans: bool
) -> tuple[list[Rating], Counter[str]]:
    """Returns what can be learned from, and how many cannot, by reason."""
    usable, skipped = [], Counter[str]()
    for rating in ratings:
        reason = _unusable(rating, inputs, with_spans=with_spans)
        if reason is None:
            usable.append(rating)
        else:
            skipped[reason] += 1
    return usable, skipped


def _unusable(rating: Rating, inputs: Sequence[Inputs], *, with_spans: bool) -> str | None:
    """Returns why nothing can be learned from a rating; None if something can."""
    segment = rating.segment
    if rating.errors is None and (with_spans or not has_score(rating)):
        return "without spans"
    if not segment.hypothesis.strip():
        return "with a blank hypothesis"
    has = {"source": segment.source is not None, "reference": bool(segment.references)}
    if not any(all(has[text] for text in kind.split("+")) for kind in inputs):
        return f"without what the model reads ({', '.join(inputs)})"
    return None
