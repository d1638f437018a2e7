"""Decode the words of a reference or of the source that a hypothesis lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from matese.annotation import ErrorSpan, Omission, Segment, Severity
from matese.model.arrays import Floats, Int32Array
from matese.model.decoding import Decoding
from matese.model.encoder.numpy_layers import StoredTensors, two_layers
from matese.model.heads.head import Head, NumpyHead, RowStates, Said
from matese.model.model_input import ModelInput, Row
from matese.model.prediction import Marks, Prediction, check_numbers
from matese.model.texts.encoding import InputKind
from matese.text.ranges import Range, sequence_edits
from matese.text.words import joins

_OMISSION = "Accuracy/Omission"
_NEARLY = 1 - 1e-9
"""Leaves room for the rounding of a mean."""
_MOST_WORDS = 3
"""Largest number of words of the hypothesis that count as a substitute for missing words."""


@dataclass(frozen=True, slots=True)
class OmissionProbabilities:
    """Probabilities that the hypothesis lacks tokens of the reference or, if the model reads none, of the source.

    Attributes:
        reference: number of the reference; None for the source.
        ranges: (tokens, 2), range of each token, half-open, in code points.
        probabilities: (tokens,), probability that the hypothesis lacks the token.
    """

    reference: int | None
    ranges: Int32Array
    probabilities: Floats


class Omissions(Head):
    """Says which words of the last context are missing: `OmissionProbabilities`."""

    name = "omissions"
    part = "omission_head"
    output = OmissionProbabilities

    def layers(self, tensors: StoredTensors, width: int) -> NumpyHead:
        """Returns the head in numpy: the probability of each token of the last context."""
        head = two_layers(tensors, ("omission_head.0", "omission_head.2"), (width, width, 1))

        def compute(states: RowStates) -> OmissionProbabilities | None:
            context = states.encoding.context
            if context is None:
                return None
            logits = head(states.final[context.first : context.first + len(context.ranges)])[:, 0]
            probabilities = 1 / (1 + np.exp(-logits.astype(np.float64)))
            return OmissionProbabilities(context.reference, context.ranges, probabilities)

        return compute

    def check(self, outputs: Sequence[OmissionProbabilities]) -> None:
        """Raises a ModelError if an output contains NaN."""
        check_numbers([output.probabilities for output in outputs])

    def join(
        self, row: Row, parts: Said[OmissionProbabilities], whole: Said[OmissionProbabilities]
    ) -> OmissionProbabilities:
        """Returns the probabilities of the pieces and, for words that are in none, of the whole."""
        return join_missing(whole, [(encoding, said) for encoding, said in parts if encoding.is_piece])

    def mean(self, outputs: Sequence[OmissionProbabilities]) -> OmissionProbabilities:
        """Returns the mean probabilities for one text."""
        first = outputs[0]
        means = np.mean([output.probabilities for output in outputs], axis=0)
        return OmissionProbabilities(first.reference, first.ranges, means)

    def over_readings(
        self, model_input: ModelInput, outputs: Sequence[OmissionProbabilities | None]
    ) -> OmissionProbabilities | None:
        """Returns the probabilities for the reference of which least is missing.

        A word of only one of the references may be a choice of wording.
        """
        missing = [
            OmissionProbabilities(None if reading.reference is None else number, output.ranges, output.probabilities)
            for number, (reading, output) in enumerate(zip(model_input.readings, outputs, strict=True))
            if output is not None
        ]
        return min(missing, key=lambda output: float(output.probabilities.sum()), default=None)

    def over_models(self, outputs: Sequence[OmissionProbabilities | None]) -> OmissionProbabilities | None:
        """Returns the mean probabilities; None if the models found words of different references."""
        present = [output for output in outputs if output is not None]
        if len(present) < len(outputs) or len({output.reference for output in present}) > 1:
            return None
        return self.mean(present)

    def of_copy(self, output: OmissionProbabilities) -> None:
        """Returns None: nothing is missing."""

    def mark(self, model_input: ModelInput, prediction: Prediction, marks: Marks, decoding: Decoding) -> Marks:
        """Adds the omissions, and the words of the hypothesis that replace missing ones."""
        omissions, substitutes = decode(prediction, model_input.segment, decoding.min_omission_confidence)
        sure = [
            error
            for error in substitutes
            if (error.confidence or 0.0) >= decoding.least_confidence(model_input, prediction.n_pieces)
        ]
        return Marks((*marks.errors, *sure), (*marks.omissions, *omissions))

    def signature(self, inputs: InputKind, decoding: Decoding) -> Sequence[str]:
        """Returns what omissions depend on."""
        return [f"omissions{decoding.min_omission_confidence:g}"]


def join_missing(whole: Said[OmissionProbabilities], pieces: Said[OmissionProbabilities] = ()) -> OmissionProbabilities:
    """Returns the joint probabilities of a text that was read in pieces or overlapping windows.

    A word is missing only if all its windows lack it. What pieces say takes the place of what the whole says.

    Args:
        whole: windows of the text, and the probabilities for their parts of the context.
        pieces: the same of pieces.
    """
    parts = [encoding.context for encoding, _ in (*whole, *pieces) if encoding.context is not None]
    n_tokens = max((part.start + len(part.ranges) for part in parts), default=0)
    ranges = np.zeros((n_tokens, 2), dtype=np.int32)
    for part in parts:
        ranges[part.start : part.start + len(part.ranges)] = part.ranges
    probabilities = _least(pieces, n_tokens)
    probabilities = np.where(np.isfinite(probabilities), probabilities, _least(whole, n_tokens))
    return OmissionProbabilities(parts[0].reference, ranges, np.where(np.isfinite(probabilities), probabilities, 0.0))


def _least(windows: Said[OmissionProbabilities], n_tokens: int) -> Floats:
    """Returns the least probability of each token of the context, (tokens,); infinite for one that is in no window."""
    least = np.full(n_tokens, np.inf)
    for encoding, said in windows:
        if encoding.context is not None:
            place = slice(encoding.context.start, encoding.context.start + len(said.probabilities))
            least[place] = np.minimum(least[place], said.probabilities)
    return least


def decode(
    prediction: Prediction, segment: Segment, min_confidence: float
) -> tuple[tuple[Omission, ...], tuple[ErrorSpan, ...]]:
    """Returns the omissions of a segment, and the words that replace missing ones; all are Major errors.

    Words are missing if their probability is at least `min_confidence`; adjacent missing words are one run. The
    probability of a word is the mean over its tokens, that of a run the mean over its words. The reference is aligned
    with the hypothesis: a run aligned with nothing is an omission; a run aligned with up to three other words makes
    those an error span; a run aligned with the same words is not missing.

    Args:
        prediction: has no omission probabilities if the model has no omission head.
        segment: the segment, as it was given to the model.
        min_confidence: least probability of a missing word, between 0 and 1.
    """
    missing = prediction.outputs.get(OmissionProbabilities)
    if missing is None or missing.probabilities.max(initial=0.0) < min_confidence * _NEARLY:
        return (), ()  # the mean over the tokens of a word is at most the largest of them
    omissions: list[Omission] = []
    substitutes: list[ErrorSpan] = []
    text = (segment.source or "") if missing.reference is None else segment.references[missing.reference]
    name: Literal["source", "reference"] = "source" if missing.reference is None else "reference"
    words = _words(missing.ranges, text)
    runs = _runs(words, missing.probabilities.tolist(), text, min_confidence)
    aligned = _align([place for place, _ in words], text, prediction) if runs and name == "reference" else []
    replaced = {place: substitute for kind, place, substitute in aligned if kind == "replace"}
    for start, end, probability in runs:
        if (start, end) in replaced:
            substitutes.append(ErrorSpan(*replaced[start, end], Severity.MAJOR, confidence=probability))
        elif not any(kind == "equal" and first <= start and end <= last for kind, (first, last), _ in aligned):
            omissions.append(Omission(name, missing.reference, start, end, Severity.MAJOR, _OMISSION, probability))
    return tuple(omissions), tuple(substitutes)


def _runs(
    words: Sequence[tuple[Range, Sequence[int]]], probabilities: Sequence[float], text: str, min_confidence: float
) -> list[tuple[int, int, float]]:
    """Returns the start, end and probability of each run of missing words with a letter or digit."""
    runs: list[tuple[int, int, list[float]]] = []
    for (start, end), tokens in words:
        probability = sum(map(probabilities.__getitem__, tokens)) / len(tokens)
        if probability < min_confidence or not any(character.isalnum() for character in text[start:end]):
            continue
        if runs and not text[runs[-1][1] : start].strip():
            first, _, earlier = runs.pop()
            runs.append((first, end, [*earlier, probability]))
        else:
            runs.append((start, end, [probability]))
    return [(start, end, round(sum(of_words) / len(of_words), 4)) for start, end, of_words in runs]


def _words(ranges: Int32Array, text: str) -> list[tuple[Range, list[int]]]:
    """Returns the characters and the tokens of each word; in scripts without spaces, a token is a word."""
    words: list[tuple[Range, list[int]]] = []
    for token, (start, end) in enumerate(ranges.tolist()):
        if words and words[-1][0][1] >= start and start < end and joins(text, start):
            (first, _), earlier_tokens = words.pop()
            words.append(((first, end), [*earlier_tokens, token]))
        elif start < end:
            words.append(((start, end), [token]))
    return words


def _align(places: Sequence[Range], text: str, prediction: Prediction) -> list[tuple[str, Range, Range]]:
    """Returns the stretches of a text that also occur in the hypothesis ("equal") or are substituted ("replace").

    Args:
        places: of the words of the text.
        text: the text.
        prediction: of the hypothesis.
    """
    hypothesis = prediction.hypothesis
    hypothesis_places = [place for place, _ in _words(prediction.ranges, hypothesis)]
    words = [text[start:end].casefold() for start, end in places]
    hypothesis_words = [hypothesis[start:end].casefold() for start, end in hypothesis_places]
    return [
        (kind, (places[start][0], places[end - 1][1]), (hypothesis_places[to][0], hypothesis_places[to_end - 1][1]))
        for kind, start, end, to, to_end in sequence_edits(words, hypothesis_words)
        if kind == "equal" or (kind == "replace" and to_end - to <= _MOST_WORDS)
    ]
