"""Errors of meaning lower the score in decoding, once, and alike in all engines."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import matese
from matese.annotation import Segment
from matese.errors import InputError
from matese.model.arrays import Floats
from matese.model.decoding import Fitted
from matese.model.heads.meaning.decoding import Meaning, MeaningLogits, words_of_longest
from matese.model.heads.meaning.settings import MeaningRule
from matese.model.heads.score.decoding import ExpectedScore
from matese.model.model_input import ModelInput, Row
from matese.model.prediction import Outputs, Prediction, TagProbabilities
from matese.model.storage import checkpoint
from matese.model.texts.encoding import Encoding
from matese.validation import plain_values
from tests.conftest import TinyModelFactory, make_config
from tests.model.engines.test_numpy_engine import ODD, check_agreement
from tests.model.test_annotator import random_segments

RULE = MeaningRule(threshold=1.0)
SEGMENT = Segment("The cat sat on a mat.", "Le chat.", ("A cat was sitting there.",))
CONFIG = make_config(inputs=("reference", "source"), score={}, meaning={})


def prediction(logit: float, *token_logits: float, score: float | None = -5.0) -> Prediction:
    """Returns a prediction with the same tags for each token, 60 % O."""
    n_tokens = len(token_logits)
    logs = np.log(np.tile([0.6, 0.1, 0.1, 0.15, 0.05], (n_tokens, 1)))
    said: list[object] = [TagProbabilities(logs), MeaningLogits(logit, np.array(token_logits))]
    said += [] if score is None else [ExpectedScore(score)]
    return Prediction("x" * n_tokens, np.zeros((n_tokens, 2), np.int32), Outputs.of(said), score or -1.0)


LONG = " ".join(["word"] * 12)


@pytest.mark.parametrize(
    ("logit", "score", "expected"),
    [
        (-9.0, -5.0, -5.0),
        (1.0, -5.0, -5.8),  # at the threshold, half of what a certain error costs
        (99.0, -5.0, -6.6),
        (99.0, -2.0, -6.0),  # the order of certain errors stays
        (-99.0, -2.0, -2.0),
        (99.0, -12.0, -12.0),  # no score of a long text rises
        (99.0, 0.0, 0.0),  # other rules decided it
        (99.0, -25.0, -25.0),
    ],
)
def test_long_texts_fall_where_the_logit_is_high(logit: float, score: float, expected: float) -> None:
    assert RULE.score(score, logit, 12) == pytest.approx(expected, abs=1e-3)


@given(st.floats(-24.9, -0.01), st.floats(-24.9, -0.01), st.floats(-9, 9), st.floats(0, 9), st.integers(1, 15))
def test_the_score_falls_with_the_evidence_and_rises_with_the_score(
    score: float, other_score: float, logit: float, rise: float, n_words: int
) -> None:
    rule = MeaningRule(1.0, score_of_short=0.7, meaning_of_short=0.3, offset_of_short=-2.0)
    low, high = sorted((score, other_score))
    assert -25 <= rule.score(score, logit + rise, n_words) <= rule.score(score, logit, n_words) + 1e-9 <= 1e-9
    assert rule.score(low, logit, n_words) <= rule.score(high, logit, n_words) + 1e-9


def test_scores_of_short_texts_can_rise() -> None:
    rule = replace(RULE, meaning_of_short=0.5, offset_of_short=-2.0)
    right, wrong, of_long = (rule.score(-5.0, logit, n_words) for logit, n_words in ((-3.0, 1), (3.0, 1), (-3.0, 12)))
    assert right > -1 > wrong
    assert of_long == pytest.approx(-5, abs=1e-2)
    between = rule.score(-5.0, -3.0, 7)
    assert of_long < between < right


def test_half_of_a_long_text_is_not_short() -> None:
    half = ModelInput.of(Segment("Save", LONG, ("Save",)), "source")
    assert [
        words_of_longest(model_input.readings) for model_input in (half, ModelInput.of(half.segment, "reference"))
    ] == [9, 1]


def test_only_the_score_changes() -> None:
    config = make_config(
        inputs=("reference", "source"), score={}, meaning={}, fitted=(Fitted("reference", meaning=RULE),)
    )
    head = Meaning(config)
    model_input = ModelInput.of(replace(SEGMENT, hypothesis=LONG), "reference")
    before = prediction(99.0, 9.0)._replace(hypothesis=LONG)
    after = head.change(model_input, before, config.decoding)
    np.testing.assert_array_equal(after.log_probabilities, before.log_probabilities)
    assert after.score is not None
    assert after.score < -5
    assert after.outputs[ExpectedScore].value == after.score
    without_score = prediction(99.0, 9.0, score=None)
    assert head.change(model_input, without_score, config.decoding) is without_score
    assert head.change(ModelInput.of(SEGMENT, "source"), before, config.decoding) is before


@pytest.mark.parametrize("name", ["score_of_short", "meaning_of_short"])
def test_weights_are_not_negative(name: str) -> None:
    with pytest.raises(InputError, match=f"{name}: Expected `float` >= 0"):
        plain_values.convert({"threshold": 1.0, name: -1}, MeaningRule)


def window(n_tokens: int, *kept: int) -> Encoding:
    ids = np.zeros(n_tokens + 2, np.int32)
    return Encoding(ids, ids, None, 1, np.zeros((n_tokens, 2), np.int32), (kept[0], kept[1]))


def test_an_error_in_one_window_is_one_of_the_text() -> None:
    head = Meaning(CONFIG)
    windows = [
        (window(4, 0, 3), MeaningLogits(-1.0, np.arange(4.0))),
        (window(4, 1, 4), MeaningLogits(2.0, np.arange(10.0, 14.0))),
    ]
    joined = head.join(Row(("x",)), windows, windows)
    assert joined.segment == 2.0
    assert joined.tokens.tolist() == [0, 1, 2, 11, 12, 13]
    mean = head.mean([MeaningLogits(1.0, np.array([1.0])), MeaningLogits(2.0, np.array([3.0]))])
    assert (mean.segment, mean.tokens.tolist()) == (1.5, [2.0])


def with_rules(directory: Path, *rules: tuple[str, float]) -> Path:
    path = directory / checkpoint.CONFIG
    config = json.loads(path.read_text(encoding="utf-8"))
    config["model"]["decoding"]["fitted"] = [
        {"inputs": inputs, "meaning": {"threshold": threshold, "meaning_of_short": 0.5}} for inputs, threshold in rules
    ]
    path.write_text(json.dumps(config), encoding="utf-8")
    return directory


@pytest.fixture
def directory(tiny_model_factory: TinyModelFactory) -> Path:
    return tiny_model_factory(inputs=("reference", "source"), score={}, meaning={})


def judged(annotator: matese.Annotator, segment: Segment) -> tuple[float, Floats]:
    """Returns the expected score of a segment, and the probabilities of its tags."""
    ((rating, tokens),) = annotator.annotate_tokens([segment])
    assert rating.estimate is not None
    return rating.estimate.value, np.array(tokens.probabilities)


def test_each_kind_of_input_has_its_rule(directory: Path) -> None:
    plain = matese.load(directory, precision="float32", device="cpu")
    by_source = replace(SEGMENT, references=())
    by_reference = replace(SEGMENT, source=None)
    strict = replace(plain.decoding, fitted=(Fitted("reference", meaning=MeaningRule(-100.0, offset_of_short=1.0)),))
    changed = plain.with_decoding(strict)
    assert judged(changed, by_source)[0] == judged(plain, by_source)[0]
    score, tags = judged(plain, by_reference)
    lower, major = judged(changed, by_reference)
    assert lower < score
    assert (major == tags).all()
    assert "meaning-100~1~0~1" in changed.signature("reference")
    assert "meaning" not in plain.signature("reference")
    assert "meaning" not in changed.signature("source")


def test_a_copy_has_no_error_of_meaning(directory: Path) -> None:
    annotator = matese.load(with_rules(directory, ("reference", -100.0)), precision="float32", device="cpu")
    score, _ = judged(annotator, Segment("The cat.", None, ("The cat.",)))
    assert score == 0


@pytest.mark.parametrize("rules", [(), (("reference", -100.0), ("source", -0.05)), (("source", 0.0),)])
def test_numpy_computes_the_same(directory: Path, rules: Any) -> None:
    check_agreement(with_rules(directory, *rules), ODD + random_segments(40), least_spans=20)


def test_a_kind_of_input_has_one_entry() -> None:
    with pytest.raises(InputError, match="fitted: reference has several entries"):
        replace(CONFIG.decoding, fitted=(Fitted("reference", meaning=RULE), Fitted("reference")))
