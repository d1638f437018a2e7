"""What is asked of a tagger for one segment, and what its answers say of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from matese.annotation import Segment, TokenScores
from matese.encoder.encoding import Inputs, Tokens, contexts
from matese.tagger import decoding
from matese.tagger.blending import Blend
from matese.tagger.decoding import FloatArray, Tagged
from matese.tagger.model import LOWEST_SCORE
from matese.tagger.predictor import Row, Scored
from matese.tagger.tags import TAGS

_NO_ERROR = np.log(np.array([1 - 4e-6 if tag == "O" else 1e-6 for tag in TAGS]))
"""Of a token in a copy of a reference; no probability is 0, whose logarithm could not be multiplied."""


def reduced(segment: Segment, inputs: Inputs) -> Segment:
    """Returns the segment with the texts of these inputs and no others: of its references the first."""
    source = None if inputs == "reference" else segment.source
    return replace(segment, source=source, references=() if inputs == "source" else segment.references[:1])


@dataclass(frozen=True, slots=True)
class Question:
    """A segment, which of its texts are read, and the rows that the model is given: one a reference.

    `blend` is what the expected score is made of beside the score head. `is_source_known` says whether the source, if
    there is one, is in a script that the model knows.
    """

    segment: Segment
    inputs: Inputs
    rows: Sequence[Row]
    blend: Blend | None = None
    is_source_known: bool = True

    @property
    def n_tokens(self) -> int:
        """About how many tokens the model reads, which are not cut yet: a third of the characters."""
        return sum(len(row.hypothesis) + sum(map(len, row.contexts)) for row in self.rows) // 3 + 1

    def answer(self, tokens: Mapping[str, Tokens], scored: Mapping[Row, Scored]) -> Answer:
        """Returns the mean of what the model says of the rows; a blank hypothesis has no results.

        In a copy of a reference there is no error, whatever the model says.
        """
        results = [scored[row] for row in self.rows if row in scored]
        text = self.segment.hypothesis
        if not results:
            return Answer(self, (), Tagged(np.zeros((0, len(TAGS))), (), text))
        mean = _mean([one.log_probabilities for one in results])
        if is_copy(self.segment, self.inputs):
            mean = np.broadcast_to(_NO_ERROR, mean.shape)
        return Answer(self, results, Tagged(mean, tokens[text].ranges.tolist(), text))


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model says of a segment.

    Attributes:
        question: what it was asked.
        results: of each row; none for a blank hypothesis.
        tagged: their mean.
    """

    question: Question
    results: Sequence[Scored]
    tagged: Tagged

    @property
    def is_windowed(self) -> bool:
        """Whether it was tagged in windows."""
        return any(result.is_windowed for result in self.results)

    def expected_score(self) -> float:
        """Returns the expected score: of the score head where there is one, or its blend, otherwise of the tags.

        A blank hypothesis has the lowest, unless there was nothing to translate; a copy of a reference the highest.
        """
        if not self.results:
            has_context = any(text.strip() for row in self.question.rows for text in row.contexts)
            return LOWEST_SCORE if has_context else 0.0
        if is_copy(self.question.segment, self.question.inputs):
            return 0.0
        rows = zip(self.question.rows, self.results, strict=True)
        scores = [self._score(row, one, one.score) for row, one in rows if one.score is not None]
        if not scores:
            return round(decoding.expected_score(self.tagged.log_probabilities), 4)
        return round(math.fsum(scores) / len(scores), 4)

    def _score(self, row: Row, result: Scored, head: float) -> float:
        blend = self.question.blend
        if blend is None:
            return head
        tags = decoding.expected_score(result.log_probabilities)
        return blend.score(head, tags, row.hypothesis, row.contexts[-1])

    def token_scores(self) -> TokenScores:
        """Returns the tokens of the hypothesis and the probabilities of their tags."""
        probabilities = np.round(np.exp(self.tagged.log_probabilities), 6).tolist()
        return TokenScores(
            tuple((start, end) for start, end in self.tagged.ranges), tuple(tuple(row) for row in probabilities)
        )


@dataclass(frozen=True, slots=True)
class Counts:
    """What was handled specially.

    Attributes:
        windowed: segments tagged in windows.
        blank: blank hypotheses, which are not tagged at all.
        unknown_sources: in a script that the model does not know: not read beside a reference, of little use without.
        lowered_batch_tokens: padded tokens of a batch since the device ran out of memory; None where it did not.
    """

    windowed: int = 0
    blank: int = 0
    unknown_sources: int = 0
    lowered_batch_tokens: int | None = None

    def counted(self, answer: Answer, allowed: Sequence[Inputs]) -> Counts:
        """Returns the counts with one segment more, from a model that can take these inputs."""
        is_wanted = any("source" in inputs for inputs in allowed)
        return replace(
            self,
            windowed=self.windowed + answer.is_windowed,
            blank=self.blank + (not answer.results),
            unknown_sources=self.unknown_sources + (is_wanted and not answer.question.is_source_known),
        )


def is_copy(segment: Segment, inputs: Inputs) -> bool:
    """Whether the hypothesis of a segment is one of the references that are read, but for spaces around it."""
    return inputs != "source" and segment.hypothesis.strip() in map(str.strip, segment.references)


def choose(segment: Segment, allowed: Sequence[Inputs], *, is_source_known: bool) -> Inputs | None:
    """Returns the most of a segment that a model can take; None where it lacks what every input needs.

    Args:
        segment: what there is.
        allowed: what the model can take.
        is_source_known: whether the source's script is in its vocabulary. Another one would be noise beside a reference
            and is left out where the model can take the reference alone.
    """
    source, has_reference = segment.source, bool(segment.references)
    fits: dict[Inputs, bool] = {
        "source+reference": source is not None and has_reference,
        "reference": has_reference,
        "source": source is not None,
    }
    usable = [inputs for inputs, has_all in fits.items() if has_all and inputs in allowed]
    if usable[:2] == ["source+reference", "reference"] and not is_source_known:
        usable = usable[1:]
    return usable[0] if usable else None


def ask(segment: Segment, inputs: Inputs, blend: Blend | None = None, *, is_source_known: bool = True) -> Question:
    """Returns the question with a row for each reference, or one where none is read."""
    n_references = 1 if inputs == "source" else len(segment.references)
    own = [contexts(segment, inputs, number) for number in range(n_references)]
    return Question(segment, inputs, [Row(segment.hypothesis, one, inputs) for one in own], blend, is_source_known)


def _mean(log_probabilities: Sequence[FloatArray]) -> FloatArray:
    """Returns the logarithm of the mean probabilities over several references."""
    if len(log_probabilities) == 1:
        return log_probabilities[0]
    mean: FloatArray = np.log(np.mean(np.exp(log_probabilities), axis=0))
    return mean
