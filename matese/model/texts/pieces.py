"""Pieces of long texts: sentences of the hypothesis beside those of the other texts that they translate.

A hypothesis of several sentences is read as a whole, and in pieces. By the source, pieces follow from the sentences'
states in the reading of the whole; by the reference, by source and reference together, and where a decoder reads the
hypothesis, whose states are not like the encoder's, from their letters, numbers and lengths. What is too long to be
read as a whole is read in runs of consecutive pieces.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from matese.model.arrays import Floats, Int32Array
from matese.model.config import ModelConfig
from matese.model.texts.encoding import Encoding, InputKind, LanguageCodes, TextEncoder, Tokens
from matese.text import alignment
from matese.text.alignment import Likeness
from matese.text.ranges import Range
from matese.text.sentences import sentence_ranges, size

_SHARE_OF_STATES = 0.5
"""Likeness of two sentences whose states have the cosine 1: they tell less than letters, of which few are alike."""


@cache
def splitter() -> str:
    """Returns what splits texts into sentences, for signatures."""
    from importlib.metadata import version  # takes a millisecond

    return f"sentencex{version('sentencex')}"


def signature(config: ModelConfig) -> dict[str, str]:
    """Returns the field of a model's signature that says how it cuts texts; none if it reads no pieces."""
    return {"pieces": splitter()} if config.reads_pieces else {}


@dataclass(frozen=True, slots=True)
class SentenceStates:
    """What an engine says of a row with `Encoding.sentences`.

    Attributes:
        vectors: (sentences, width), the mean of the encoder's states of each.
    """

    vectors: Floats


@dataclass(frozen=True, slots=True)
class Sentences:
    """A tokenised text that is cut into sentences.

    Attributes:
        tokens: of the text.
        texts: the sentences.
        starts: (sentences + 1,), the first token of each sentence, and the number of all tokens.
    """

    tokens: Tokens
    texts: Sequence[str]
    starts: Sequence[int]

    @classmethod
    def of(cls, text: str, tokens: Tokens) -> Sentences:
        """Returns the sentences of a text; a token of two sentences counts to the one in which it begins."""
        places = sentence_ranges(text)
        inner = np.searchsorted(tokens.ranges[:, 0], [start for start, _ in places[1:]]).tolist()
        return cls(tokens, [text[start:end] for start, end in places], [0, *inner, len(tokens.ids)])

    def count(self, numbers: Range) -> int:
        """Returns the number of tokens of consecutive sentences."""
        return self.starts[numbers[1]] - self.starts[numbers[0]]


class Part(NamedTuple):
    """Sentences that are read at once: their numbers in the hypothesis, and in each of the other texts."""

    hypothesis: Range
    contexts: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class LongText:
    """A hypothesis of several sentences, or one that is too long to be read at once, beside other texts.

    Attributes:
        encoder: the model's.
        inputs: which texts are beside the hypothesis.
        languages: see `TextEncoder.languages`.
        hypothesis: the hypothesis.
        contexts: the other texts, the source before the reference.
        runs: sentences of all texts that are read at once, in order.
    """

    encoder: TextEncoder
    inputs: InputKind
    languages: LanguageCodes | None
    hypothesis: Sentences
    contexts: Sequence[Sentences]
    runs: Sequence[Part]

    @classmethod
    def of(
        cls,
        config: ModelConfig,
        encoder: TextEncoder,
        texts: Sequence[str],
        tokens: Sequence[Tokens],
        inputs: InputKind | None,
        languages: LanguageCodes | None = None,
    ) -> LongText | None:
        """Returns the long text of a row; None if it is read at once, without pieces.

        Args:
            config: of the model.
            encoder: the model's.
            texts: of the row: the hypothesis and the contexts.
            tokens: of these texts.
            inputs: which texts are beside the hypothesis.
            languages: see `TextEncoder.languages`.
        """
        if not config.reads_pieces or inputs is None:
            return None
        n_tokens, *lengths = [len(of_text.ids) for of_text in tokens]
        is_whole = len(encoder.plan(n_tokens, lengths)) == 1
        hypothesis = Sentences.of(texts[0], tokens[0])
        if not hypothesis.texts or (is_whole and len(hypothesis.texts) < 2):
            return None
        contexts = [Sentences.of(text, of_text) for text, of_text in zip(texts[1:], tokens[1:], strict=True)]
        whole = Part((0, len(hypothesis.texts)), tuple([(0, len(context.texts)) for context in contexts]))
        runs = [whole] if is_whole else _runs(encoder, hypothesis, contexts)
        return cls(encoder, inputs, languages, hypothesis, contexts, runs)

    @property
    def is_by_states(self) -> bool:
        """Whether the runs must be read before the pieces are known."""
        return self.inputs == "source" and not self.encoder.has_decoder

    def whole(self) -> list[Encoding]:
        """Returns the model's input for all runs; the first is cut if a part of another text is in no run."""
        encodings = []
        for run in self.runs:
            # Sentences without a counterpart are read beside the whole.
            ranges = [
                numbers if context.count(numbers) else (0, len(context.texts))
                for context, numbers in zip(self.contexts, run.contexts, strict=True)
            ]
            read = self._encode(Part(run.hypothesis, tuple(ranges)))
            if self.is_by_states and len(read) == 1 and self.contexts[0].count(run.contexts[0]):
                read = [read[0]._replace(sentences=self._places(run, read[0]))]
            encodings += read
        for number, context in enumerate(self.contexts):
            if sum(context.count(run.contexts[number]) for run in self.runs) < len(context.tokens.ids):
                encodings[0] = encodings[0]._replace(is_cut=True)
        return encodings

    def _places(self, run: Part, read: Encoding) -> Int32Array:
        """Returns the places of a run's sentences in its row: (sentences, 2)."""
        assert read.context is not None
        places = []
        for sentences, (first, end), start in (
            (self.hypothesis, run.hypothesis, read.first),
            (self.contexts[0], run.contexts[0], read.context.first),
        ):
            starts = np.array(sentences.starts[first : end + 1], np.int32) - sentences.starts[first] + start
            places.append(np.stack([starts[:-1], starts[1:]], 1))
        return np.concatenate(places)

    def pieces(self, read: Sequence[tuple[Encoding, SentenceStates | None]] = ()) -> list[Encoding]:
        """Returns the model's input for all pieces with text on all sides; none if there is only one piece.

        Args:
            read: each row of `whole`, and the states of its sentences.
        """
        likeness = _letters(self.hypothesis, self.contexts)
        for encoding, states in read:
            if states is not None:
                self._compare(encoding, states.vectors, likeness[0])
        parts = _align(self.hypothesis, self.contexts, likeness)
        return [
            encoding._replace(is_piece=True)
            for part in parts
            if len(parts) > 1 and min(_counts(self.hypothesis, self.contexts, part))
            for encoding in self._encode(part)
        ]

    def _compare(self, row: Encoding, vectors: Floats, likeness: Likeness) -> None:
        """Fills the likeness of the sentences of a row."""
        assert row.context is not None
        assert row.sentences is not None
        n_first = int((row.sentences[:, 0] < row.context.first).sum())
        of_hypothesis = vectors[:n_first]
        of_context = vectors[n_first:]
        # States of one text are all alike, so that the cosine of what is particular to a sentence tells more.
        centre = (of_hypothesis.mean(0) + of_context.mean(0)) / 2
        first = bisect_left(self.hypothesis.starts, row.start)
        first_of_context = bisect_left(self.contexts[0].starts, row.context.start)
        likeness[first : first + len(of_hypothesis), first_of_context : first_of_context + len(of_context)] = (
            _SHARE_OF_STATES * _at_length_1(of_hypothesis - centre) @ _at_length_1(of_context - centre).T
        )

    def _encode(self, part: Part) -> list[Encoding]:
        n_tokens, *lengths = _counts(self.hypothesis, self.contexts, part)
        start = self.hypothesis.starts[part.hypothesis[0]]
        starts = [context.starts[first] for context, (first, _) in zip(self.contexts, part.contexts, strict=True)]
        windows = [window.shifted(start, starts) for window in self.encoder.plan(n_tokens, lengths)]
        tokens = [context.tokens for context in self.contexts]
        return self.encoder.encode(self.hypothesis.tokens, tokens, self.inputs, self.languages, windows)


def _at_length_1(vectors: Floats) -> Floats:
    scaled: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return scaled


def _counts(hypothesis: Sentences, contexts: Sequence[Sentences], part: Part) -> list[int]:
    """Returns the number of tokens of a part in the hypothesis and in each other text."""
    return [hypothesis.count(part.hypothesis), *map(Sentences.count, contexts, part.contexts)]


def _letters(hypothesis: Sentences, contexts: Sequence[Sentences]) -> list[Likeness]:
    return [alignment.likeness_of(hypothesis.texts, context.texts) for context in contexts]


def _align(hypothesis: Sentences, contexts: Sequence[Sentences], likeness: Sequence[Likeness]) -> list[Part]:
    """Returns the aligned parts of the texts, in order; several other texts are cut where all alignments are."""
    sizes = list(map(size, hypothesis.texts))
    alignments = [
        alignment.align(sizes, list(map(size, context.texts)), likeness_of_context)
        for context, likeness_of_context in zip(contexts, likeness, strict=True)
    ]
    if len(alignments) == 1:
        return [Part(bead.first, (bead.other,)) for bead in alignments[0]]
    ends = [{0: 0} | {bead.first[1]: bead.other[1] for bead in beads if bead.first[1]} for beads in alignments]
    cuts = sorted(set.intersection(*map(set, ends)))
    return [
        Part((start, end), tuple([(of_context[start], of_context[end]) for of_context in ends]))
        for start, end in pairwise(cuts)
    ]


def _runs(encoder: TextEncoder, hypothesis: Sentences, contexts: Sequence[Sentences]) -> list[Part]:
    """Returns runs of consecutive parts that fit into a row, by the letters; a longer part is a run of its own.

    Sentences of another text that do not fit beside any of the hypothesis are in no run.
    """
    runs: list[Part] = []
    for part in _align(hypothesis, contexts, _letters(hypothesis, contexts)):
        if runs:
            ranges = [(before[0], after[1]) for before, after in zip(runs[-1].contexts, part.contexts, strict=True)]
            joint = Part((runs[-1].hypothesis[0], part.hypothesis[1]), tuple(ranges))
            n_tokens, *lengths = _counts(hypothesis, contexts, joint)
            if len(encoder.plan(n_tokens, lengths)) == 1:
                runs[-1] = joint
                continue
        runs.append(part)
    return [run for run in runs if hypothesis.count(run.hypothesis)]
