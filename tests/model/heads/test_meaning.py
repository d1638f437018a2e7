"""Errors of meaning lower the score in decoding, once, and alike in all engines."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matese
from matese.annotation import Segment
from matese.errors import InputError
from matese.model.arrays import Floats
from matese.model.heads.meaning import decoding
from matese.model.heads.meaning.decoding import Meaning, MeaningLogits
from matese.model.heads.meaning.settings import MeaningRule
from matese.model.heads.score.decoding import ExpectedScore
from matese.model.heads.tags.bio import TAGS
from matese.model.model_input import Row
from matese.model.prediction import Outputs, Prediction, TagProbabilities
from matese.model.storage import checkpoint
from matese.model.texts.encoding import Encoding
from tests.conftest import TinyModelFactory, make_config
from tests.model.engines.test_numpy_engine import ODD, check_agreement
from tests.model.test_annotator import random_segments

RULE = MeaningRule("reference", threshold=1.0)
SEGMENT = Segment("The cat sat on a mat.", "Le chat.", ("A cat was sitting there.",))
CONFIG = make_config(inputs=("reference", "source"), score={}, meaning={})


def prediction(logit: float, *token_logits: float, score: float | None = -5.0) -> Prediction:
    """Returns a prediction with the same tags for each token, 60 % O."""
    n_tokens = len(token_logits)
    logs = np.log(np.tile([0.6, 0.1, 0.1, 0.15, 0.05], (n_tokens, 1)))
    said: list[object] = [TagProbabilities(logs), MeaningLogits(logit, np.array(token_logits))]
    said += [] if score is None else [ExpectedScore(score)]
    return Prediction("x" * n_tokens, np.zeros((n_tokens, 2), np.int32), Outputs.of(said), score or -1.0)


ODDS = float(np.log(0.2 / 0.8))
"""Log odds of a Major tag."""


@pytest.mark.parametrize(
    ("rule", "found", "score", "expected"),
    [
        (RULE, -1.0, -5.0, -5.0),  # the ramp begins 2 below the threshold
        (RULE, 0.0, -5.0, -6.25),
        (RULE, 1.0, -5.0, -7.5),
        (RULE, 3.0, -5.0, -10.0),
        (RULE, 99.0, -5.0, -10.0),
        (RULE, 99.0, 0.0, -10.0),
        (RULE, 99.0, -12.0, -12.0),  # no score rises
        (replace(RULE, floor=-25.0), 99.0, -5.0, -25.0),
        (replace(RULE, ramp=1.0), 1.5, -5.0, -8.75),
    ],
)
def test_the_score_falls_along_a_ramp(rule: MeaningRule, found: float, score: float, expected: float) -> None:
    (changed,) = decoding.apply(rule, [prediction(found - ODDS, 0.0, 0.0, score=score)])
    assert changed.score == pytest.approx(expected)
    assert changed.outputs[ExpectedScore].value == changed.score


def test_only_the_score_changes() -> None:
    before = prediction(99.0, 9.0)
    without_score = prediction(99.0, 9.0, score=None)
    after, same = decoding.apply(RULE, [before, without_score])
    np.testing.assert_array_equal(after.log_probabilities, before.log_probabilities)
    assert same is without_score


def test_the_tags_count_as_evidence() -> None:
    doubtful = prediction(1.0, 0.0)
    clear = prediction(1.0, 0.0)
    certain = np.log(np.array([[0.05, 0.0001, 0.0499, 0.8, 0.1]]))
    clear = clear._replace(outputs=clear.outputs.changed(TagProbabilities(certain)))
    assert decoding.evidence([clear])[0] == pytest.approx(1 + np.log(9))
    assert decoding.evidence([doubtful])[0] < decoding.evidence([clear])[0]


def test_segments_without_tokens_are_no_trouble() -> None:
    empty, other = decoding.apply(RULE, [prediction(99.0), prediction(9.0, 0.0)])
    assert empty.log_probabilities.shape == (0, len(TAGS))
    assert other.log_probabilities.shape == (1, len(TAGS))
    assert decoding.apply(RULE, []) == []


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
    config["model"]["decoding"]["meaning"] = [{"inputs": inputs, "threshold": threshold} for inputs, threshold in rules]
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
    strict = replace(plain.decoding, meaning=(MeaningRule("reference", -100.0),))
    changed = plain.with_decoding(strict)
    assert judged(changed, by_source)[0] == judged(plain, by_source)[0]
    score, tags = judged(plain, by_reference)
    lower, major = judged(changed, by_reference)
    assert lower == pytest.approx(min(score, -10.0), abs=1e-3)
    assert lower < score or score < -10
    assert (major == tags).all()
    assert "meaning-100~2>-10" in changed.signature("reference")
    assert "meaning" not in plain.signature("reference")
    assert "meaning" not in changed.signature("source")


def test_a_copy_has_no_error_of_meaning(directory: Path) -> None:
    annotator = matese.load(with_rules(directory, ("reference", -100.0)), precision="float32", device="cpu")
    score, _ = judged(annotator, Segment("The cat.", None, ("The cat.",)))
    assert score == 0


@pytest.mark.parametrize("rules", [(), (("reference", -100.0), ("source", -0.05)), (("source", 0.0),)])
def test_numpy_computes_the_same(directory: Path, rules: Any) -> None:
    check_agreement(with_rules(directory, *rules), ODD + random_segments(40), least_spans=20)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"floor": 1.5}, "floor 1.5: must be between -25 and 0"),
        ({"ramp": 0.0}, "ramp 0.0: must be greater than 0"),
    ],
)
def test_impossible_rules_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(RULE, **change)


def test_a_kind_of_input_has_one_rule() -> None:
    with pytest.raises(InputError, match="meaning: reference has several entries"):
        replace(CONFIG.decoding, meaning=(RULE, RULE))
