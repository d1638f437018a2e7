"""Decode the words of a reference or of the source that a hypothesis lacks."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Literal

from matese.annotation import ErrorSpan, Omission, Segment, Severity
from matese.model.heads.tags.decoding import IntArray
from matese.model.prediction import OmissionProbabilities, Prediction
from matese.text import joins

_OMISSION = "Accuracy/Omission"
_MOST_WORDS = 3
"""Largest number of words of the hypothesis that count as a substitute for missing words."""
Range = tuple[int, int]


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
    missing = prediction.missing
    if missing is None:
        return (), ()
    omissions: list[Omission] = []
    substitutes: list[ErrorSpan] = []
    text = (segment.source or "") if missing.reference is None else segment.references[missing.reference]
    name: Literal["source", "reference"] = "source" if missing.reference is None else "reference"
    runs = _runs(missing, text, min_confidence)
    aligned = _align(missing, text, prediction) if runs and name == "reference" else []
    replaced = {place: other for kind, place, other in aligned if kind == "replace"}
    for start, end, probability in runs:
        if (start, end) in replaced:
            substitutes.append(ErrorSpan(*replaced[start, end], Severity.MAJOR, confidence=probability))
        elif not any(kind == "equal" and first <= start and end <= last for kind, (first, last), _ in aligned):
            omissions.append(Omission(name, missing.reference, start, end, Severity.MAJOR, _OMISSION, probability))
    return tuple(omissions), tuple(substitutes)


def _runs(missing: OmissionProbabilities, text: str, min_confidence: float) -> list[tuple[int, int, float]]:
    """Returns the start, end and probability of each run of missing words with a letter or digit."""
    runs: list[tuple[int, int, list[float]]] = []
    for (start, end), tokens in _words(missing.ranges, text):
        probability = sum(missing.probabilities[tokens].tolist()) / len(tokens)
        if probability < min_confidence or not any(character.isalnum() for character in text[start:end]):
            continue
        if runs and not text[runs[-1][1] : start].strip():
            first, _, others = runs.pop()
            runs.append((first, end, [*others, probability]))
        else:
            runs.append((start, end, [probability]))
    return [(start, end, round(sum(each) / len(each), 4)) for start, end, each in runs]


def _words(ranges: IntArray, text: str) -> list[tuple[Range, list[int]]]:
    """Returns the characters and the tokens of each word; in scripts without spaces, a token is a word."""
    words: list[tuple[Range, list[int]]] = []
    for token, (start, end) in enumerate(ranges.tolist()):
        if words and start < end and joins(text, start) and words[-1][0][1] >= start:
            (first, _), others = words.pop()
            words.append(((first, end), [*others, token]))
        elif start < end:
            words.append(((start, end), [token]))
    return words


def _align(missing: OmissionProbabilities, text: str, prediction: Prediction) -> list[tuple[str, Range, Range]]:
    """Returns the stretches of a text that also occur in the hypothesis ("equal") or are substituted ("replace")."""
    hypothesis = prediction.hypothesis
    places, others = (
        [characters for characters, _ in _words(*each)]
        for each in ((missing.ranges, text), (prediction.ranges, hypothesis))
    )
    words = [text[start:end].casefold() for start, end in places]
    other_words = [hypothesis[start:end].casefold() for start, end in others]
    return [
        (kind, (places[start][0], places[end - 1][1]), (others[to][0], others[to_end - 1][1]))
        for kind, start, end, to, to_end in SequenceMatcher(None, words, other_words, autojunk=False).get_opcodes()
        if kind == "equal" or (kind == "replace" and to_end - to <= _MOST_WORDS)
    ]
