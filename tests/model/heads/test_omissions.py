from __future__ import annotations

import numpy as np
import pytest

from matese.annotation import Segment, Severity
from matese.model.heads.omissions.decoding import OmissionProbabilities, Omissions, decode, join_missing
from matese.model.model_input import ModelInput
from matese.model.prediction import Outputs, Prediction
from matese.model.texts.encoding import ContextPart, Encoding
from tests.conftest import make_config


def window(start: int, n_tokens: int, *, reference: int | None = 0) -> Encoding:
    nothing = np.zeros(0, np.int32)
    numbers = np.arange(start, start + n_tokens, dtype=np.int32)
    part = ContextPart(5, start, np.stack([2 * numbers, 2 * numbers + 1], axis=1), reference)
    return Encoding(nothing, nothing, None, 1, np.zeros((0, 2), np.int32), (0, 0), part)


def said(*probabilities: float) -> OmissionProbabilities:
    """Returns what the head says of a window."""
    return OmissionProbabilities(None, np.zeros((len(probabilities), 2), np.int32), np.array(probabilities))


def test_a_word_is_missing_only_if_no_window_finds_it() -> None:
    joined = join_missing([(window(0, 3), said(0.9, 0.8, 0.1)), (window(1, 3), said(0.2, 0.7, 0.6))])
    np.testing.assert_allclose(joined.probabilities, [0.9, 0.2, 0.1, 0.6])
    assert joined.ranges.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert joined.reference == 0


def test_a_token_in_no_window_is_not_missing() -> None:
    joined = join_missing([(window(0, 1, reference=None), said(0.9)), (window(2, 1, reference=None), said(0.8))])
    assert joined.probabilities.tolist() == [0.9, 0, 0.8]
    assert joined.reference is None


def test_what_pieces_say_counts_for_their_words() -> None:
    joined = join_missing([(window(0, 3), said(0.9, 0.2, 0.1))], [(window(1, 1), said(0.7))])
    assert joined.probabilities.tolist() == [0.9, 0.7, 0.1]


def test_the_closest_reference_is_the_one_from_which_least_is_missing() -> None:
    ranges = np.array([[0, 1]], np.int32)
    outputs = [OmissionProbabilities(0, ranges, np.array([value])) for value in (0.7, 0.2, 0.4)]
    model_input = ModelInput.of(Segment("a", None, ("b", "c", "d")), "reference")
    head = Omissions(make_config(omissions={}))
    nearest = head.over_readings(model_input, outputs)
    assert nearest is not None
    assert (nearest.reference, nearest.probabilities.tolist()) == (1, [0.2])
    assert head.over_readings(model_input, [None, None, None]) is None


def missing(text: str, *tokens: tuple[str, float], reference: int | None = 0) -> OmissionProbabilities:
    ranges = []
    place = 0
    for token, _ in tokens:
        place = text.index(token, place)
        ranges.append((place, place + len(token)))
        place += len(token)
    probabilities = np.array([probability for _, probability in tokens])
    return OmissionProbabilities(reference, np.array(ranges, np.int32).reshape(-1, 2), probabilities)


def prediction(lacking: OmissionProbabilities | None) -> Prediction:
    return Prediction("x", np.zeros((0, 2), np.int32), Outputs.of([lacking]))


def test_a_model_without_a_head_finds_nothing() -> None:
    assert decode(prediction(None), Segment("x", "y"), 0.5) == ((), ())


@pytest.mark.parametrize(
    ("text", "tokens", "expected"),
    [
        ("", [], []),
        ("Er kommt nicht.", [("Er", 0.1), ("kommt", 0.2), ("nicht", 0.9), (".", 0.9)], [("nicht", 0.9)]),
        ("sehr bald da", [("sehr", 0.8), ("bald", 0.6), ("da", 0.1)], [("sehr bald", 0.7)]),
        ("ohne Wiederholung", [("ohne", 0.1), ("Wieder", 0.9), ("holung", 0.5)], [("Wiederholung", 0.7)]),
        ("Wiederholung", [("Wieder", 0.9), ("holung", 0.05)], []),
        ("我没去过", [("我", 0.1), ("没", 0.9), ("去", 0.1), ("过", 0.8)], [("没", 0.9), ("过", 0.8)]),
    ],
)
def test_runs_of_missing_words(text: str, tokens: list[tuple[str, float]], expected: list[tuple[str, float]]) -> None:
    segment = Segment("x", None, (text,))
    omissions, _ = decode(prediction(missing(text, *tokens)), segment, 0.5)
    assert [(omission.words(segment), omission.confidence) for omission in omissions] == expected
    assert {(omission.text, omission.reference, omission.severity) for omission in omissions} <= {
        ("reference", 0, Severity.MAJOR)
    }


def test_without_a_reference_words_of_the_source_are_missing() -> None:
    segment = Segment("x", "not now")
    lacking = missing("not now", ("not", 0.8), ("now", 0.2), reference=None)
    ((omission,), _) = decode(prediction(lacking), segment, 0.5)
    assert (omission.text, omission.reference, omission.words(segment)) == ("source", None, "not")


@pytest.mark.parametrize(
    ("hypothesis", "reference", "lacking", "omitted", "substitutes"),
    [
        ("Er kommt am Tag .", "Er kommt nicht am Tag .", {"nicht": 0.9}, ["nicht"], []),
        ("bis 17 Uhr", "bis 19 Uhr", {"19": 0.9}, [], [("17", 0.9)]),
        ("im sehr neuen alten Haus", "im Zug Haus", {"Zug": 0.8}, [], [("sehr neuen alten", 0.8)]),
        ("im sehr neuen alten lauten Haus", "im Zug Haus", {"Zug": 0.8}, ["Zug"], []),
        ("er kommt", "er fährt nicht", {"nicht": 0.8}, ["nicht"], []),  # nobody knows which of two words is replaced
        ("fast alle Kinder", "Alle Kinder", {"Alle": 0.8}, [], []),
    ],
)
def test_words_in_place_of_missing_ones_are_wrong_and_nothing_is_missing(
    hypothesis: str,
    reference: str,
    lacking: dict[str, float],
    omitted: list[str],
    substitutes: list[tuple[str, float]],
) -> None:
    tokens = missing(hypothesis, *((token, 0.0) for token in hypothesis.split()))
    read = missing(reference, *((token, lacking.get(token, 0.0)) for token in reference.split()))
    segment = Segment(hypothesis, None, (reference,))
    omissions, spans = decode(Prediction(hypothesis, tokens.ranges, Outputs.of([read])), segment, 0.5)
    assert [omission.words(segment) for omission in omissions] == omitted
    assert [(hypothesis[span.start : span.end], span.confidence) for span in spans] == substitutes
    assert {span.severity for span in spans} <= {Severity.MAJOR}
