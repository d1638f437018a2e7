"""Pieces of long texts: sentences of the hypothesis beside those of the other text that they translate.

A hypothesis of several sentences is read as a whole, and in pieces. By the reference, pieces follow from the letters of
the sentences; by the source, from their states in the reading of the whole. What is too long to be read as a whole is
read in runs of consecutive pieces.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from matese.model.arrays import Floats, Int32Array
from matese.model.config import ModelConfig
from matese.model.texts.encoding import Encoding, InputKind, TextEncoder, Tokens
from matese.model.texts.windows import plan
from matese.text import alignment
from matese.text.alignment import Bead, Likeness
from matese.text.ranges import Range
from matese.text.sentences import sentence_ranges, size, splitter

_SHARE_OF_STATES = 0.5
"""Likeness of two sentences whose states have the cosine 1: they tell less than letters, of which few are alike."""


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


@dataclass(frozen=True, slots=True)
class LongText:
    """A hypothesis of several sentences, or one that is too long to be read at once, beside another text.

    Attributes:
        encoder: the model's.
        inputs: which text is the other one.
        hypothesis: the hypothesis.
        other: the other text.
        runs: sentences of both texts that are read at once, in order.
    """

    encoder: TextEncoder
    inputs: InputKind
    hypothesis: Sentences
    other: Sentences
    runs: Sequence[Bead]

    @classmethod
    def of(
        cls,
        config: ModelConfig,
        encoder: TextEncoder,
        texts: Sequence[str],
        tokens: Sequence[Tokens],
        inputs: InputKind | None,
    ) -> LongText | None:
        """Returns the long text of a row; None if it is read at once, without pieces.

        Args:
            config: of the model.
            encoder: the model's.
            texts: of the row.
            tokens: of these texts.
            inputs: which text is beside the hypothesis.
        """
        if not config.reads_pieces or inputs not in ("source", "reference") or encoder.has_decoder:
            return None
        is_whole = sum(len(one.ids) for one in tokens) <= encoder.capacity(2)
        hypothesis = Sentences.of(texts[0], tokens[0])
        if not hypothesis.texts or (is_whole and len(hypothesis.texts) < 2):
            return None
        other = Sentences.of(texts[1], tokens[1])
        whole = Bead((0, len(hypothesis.texts)), (0, len(other.texts)))
        runs = [whole] if is_whole else _runs(hypothesis, other, encoder.capacity(2))
        return cls(encoder, inputs, hypothesis, other, runs)

    @property
    def is_by_states(self) -> bool:
        """Whether the runs must be read before the pieces are known."""
        return self.inputs == "source"

    def whole(self) -> list[Encoding]:
        """Returns the model's input for all runs; the first is cut if a part of the other text is in no run."""
        encodings = []
        for run in self.runs:
            if not self.other.count(run.other):  # sentences without a counterpart are read beside the whole
                run = Bead(run.first, (0, len(self.other.texts)))
            read = self._encode(run)
            if self.is_by_states and len(read) == 1 and self.other.count(run.other):
                read = [read[0]._replace(sentences=self._places(run, read[0]))]
            encodings += read
        if sum(self.other.count(run.other) for run in self.runs) < len(self.other.tokens.ids):
            encodings[0] = encodings[0]._replace(is_cut=True)
        return encodings

    def _places(self, run: Bead, read: Encoding) -> Int32Array:
        """Returns the places of a run's sentences in its row: (sentences, 2)."""
        assert read.context is not None
        places = []
        for sentences, (first, end), start in (
            (self.hypothesis, run.first, read.first),
            (self.other, run.other, read.context.first),
        ):
            starts = np.array(sentences.starts[first : end + 1], np.int32) - sentences.starts[first] + start
            places.append(np.stack([starts[:-1], starts[1:]], 1))
        return np.concatenate(places)

    def pieces(self, read: Sequence[tuple[Encoding, SentenceStates | None]] = ()) -> list[Encoding]:
        """Returns the model's input for all pieces with text on both sides; none if there is only one piece.

        Args:
            read: each row of `whole`, and the states of its sentences.
        """
        likeness = alignment.likeness_of(self.hypothesis.texts, self.other.texts)
        for encoding, states in read:
            if states is not None:
                self._compare(encoding, states.vectors, likeness)
        found = _align(self.hypothesis, self.other, likeness)
        return [
            encoding._replace(is_piece=True)
            for bead in found
            if len(found) > 1 and self.hypothesis.count(bead.first) and self.other.count(bead.other)
            for encoding in self._encode(bead)
        ]

    def _compare(self, row: Encoding, vectors: Floats, likeness: Likeness) -> None:
        """Fills the likeness of the sentences of a row."""
        assert row.context is not None
        assert row.sentences is not None
        n_first = int((row.sentences[:, 0] < row.context.first).sum())
        own = vectors[:n_first]
        others = vectors[n_first:]
        # States of one text are all alike, so that the cosine of what is particular to a sentence tells more.
        centre = (own.mean(0) + others.mean(0)) / 2
        first = bisect_left(self.hypothesis.starts, row.start)
        other = bisect_left(self.other.starts, row.context.start)
        likeness[first : first + len(own), other : other + len(others)] = (
            _SHARE_OF_STATES * _at_length_1(own - centre) @ _at_length_1(others - centre).T
        )

    def _encode(self, part: Bead) -> list[Encoding]:
        windows = plan(self.hypothesis.count(part.first), [self.other.count(part.other)], room=self.encoder.capacity(2))
        starts = (self.hypothesis.starts[part.first[0]], self.other.starts[part.other[0]])
        shifted = [window.shifted(*starts) for window in windows]
        return self.encoder.encode(self.hypothesis.tokens, [self.other.tokens], self.inputs, shifted)


def _at_length_1(vectors: Floats) -> Floats:
    scaled: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return scaled


def _align(hypothesis: Sentences, other: Sentences, likeness: Likeness) -> list[Bead]:
    return alignment.align(list(map(size, hypothesis.texts)), list(map(size, other.texts)), likeness)


def _runs(hypothesis: Sentences, other: Sentences, room: int) -> list[Bead]:
    """Returns runs of consecutive beads that fit into a row, by the letters; a longer bead is a run of its own.

    Sentences of the other text that do not fit beside any of the hypothesis are in no run.
    """
    runs: list[Bead] = []
    for bead in _align(hypothesis, other, alignment.likeness_of(hypothesis.texts, other.texts)):
        if runs:
            joint = Bead((runs[-1].first[0], bead.first[1]), (runs[-1].other[0], bead.other[1]))
            if hypothesis.count(joint.first) + other.count(joint.other) <= room:
                runs[-1] = joint
                continue
        runs.append(bead)
    return [run for run in runs if hypothesis.count(run.first)]
