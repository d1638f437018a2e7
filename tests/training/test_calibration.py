from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import matese
from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.errors import InputError
from matese.model.heads.meaning.decoding import MeaningLogits
from matese.model.heads.score.decoding import ExpectedScore
from matese.model.model_input import ModelInput
from matese.model.prediction import Outputs, Prediction
from matese.model.predictor import Predictor
from matese.model.storage import checkpoint
from matese.training import calibration, meaning_rules
from matese.training.judged import Judged
from tests.training.material import RATINGS, write_ratings


@pytest.fixture
def directory(tiny_model_factory: Any) -> Path:
    made: Path = tiny_model_factory("raw", inputs=("reference", "source"), score={})
    return made


def calibrate(
    directory: Path,
    paths: list[Path],
    output: Path,
    further: Sequence[Path] = (),
    contrasts: Sequence[Path] = (),
    every: int = 1,
) -> calibration.Calibration:
    return calibration.calibrate(
        directory,
        paths,
        output,
        error_free_paths=further,
        contrast_paths=contrasts,
        every=every,
        progress=lambda _: None,
    )


def marked_and_free() -> tuple[Rating, ...]:
    """Returns ratings whose whole text is marked, and the same without errors."""
    return tuple(
        dataclasses.replace(rating, errors=errors, unplaced=(), omissions=(), overall=None)
        for rating in RATINGS
        for errors in ((ErrorSpan(0, len(rating.segment.hypothesis), Severity.MAJOR),), ())
    )


def test_the_new_model_holds_what_was_fitted_and_the_same_weights(directory: Path, tmp_path: Path) -> None:
    ratings = write_ratings(tmp_path / "dev.jsonl", marked_and_free() * 5)
    calibrated = calibrate(directory, [ratings], tmp_path / "new")
    old, new = (checkpoint.load(path) for path in (directory, tmp_path / "new"))
    fitted = tuple(input_fit.fitted for input_fit in calibrated.inputs)
    decoding = dataclasses.replace(old.config.model.decoding, fitted=fitted)
    assert new.config.model == dataclasses.replace(old.config.model, decoding=decoding)
    assert all(torch.equal(old.tensors[name], new.tensors[name]) for name in old.tensors)
    assert [entry.inputs for entry in fitted] == ["reference", "source"]
    assert all(entry.marking is not None for entry in fitted)
    assert matese.operating_points(tmp_path / "new") == calibrated.span_points != ()
    again = calibrate(tmp_path / "new", [ratings], tmp_path / "new")
    assert again == calibrated, "what was fitted before has no influence"


def test_other_ratings_decide_alone_on_the_detection_of_error_free_segments(directory: Path, tmp_path: Path) -> None:
    ratings = write_ratings(tmp_path / "dev.jsonl")
    further = write_ratings(tmp_path / "others.jsonl", RATINGS * 20)
    plain = calibrate(directory, [ratings], tmp_path / "plain")
    calibrated = calibrate(directory, [ratings], tmp_path / "new", [further])
    assert [input_fit.error_free for input_fit in plain.inputs] == [None, None]  # too few segments
    # By reference, too few segments are free of errors: most of these repeat the reference, which needs no model.
    assert [input_fit.inputs for input_fit in calibrated.inputs if input_fit.error_free is not None] == ["source"]
    without = tuple(dataclasses.replace(input_fit, error_free=None) for input_fit in calibrated.inputs)
    assert dataclasses.replace(calibrated, inputs=without) == plain
    annotator = matese.load(tmp_path / "new", choice=matese.DecodingChoice(error_free=True))
    assert annotator.config.decoding.of("source").error_free is not None


def test_only_short_contrasts_are_read(directory: Path, tmp_path: Path) -> None:
    ratings = write_ratings(tmp_path / "dev.jsonl", marked_and_free() * 5)
    free = [dataclasses.replace(rating, errors=(), omissions=(), unplaced=()) for rating in RATINGS]
    long = [
        dataclasses.replace(rating, segment=dataclasses.replace(rating.segment, hypothesis="Haus " * 9))
        for rating in free
    ]
    plain = calibrate(directory, [ratings], tmp_path / "plain")
    longer, calibrated = (
        calibrate(
            directory,
            [ratings],
            tmp_path / "new",
            contrasts=[write_ratings(tmp_path / "short.jsonl", tuple(texts) * 5)],
        )
        for texts in (long, free)
    )
    assert longer == plain
    assert calibrated != plain
    for input_fit, before in zip(calibrated.inputs, plain.inputs, strict=True):
        assert input_fit.marking is not None
        assert before.marking is not None
        assert input_fit.marking.marking.least == before.marking.marking.least
        assert input_fit.marking.marking.least_of_interface >= before.marking.marking.least_of_interface


def test_a_sample_of_contrasts_holds_right_and_wrong_ones() -> None:
    ratings = marked_and_free() * 100
    assert calibration.sample(ratings, len(ratings)) == ratings
    few = calibration.sample(ratings, 60)
    assert few == calibration.sample(ratings, 60)
    assert len(few) == 60
    assert 15 < sum(bool(rating.errors) for rating in few) < 45


def test_blank_texts_are_missing(directory: Path, tmp_path: Path) -> None:
    texts = (Segment("Das Auto", " ", ("Das Haus",)), Segment("Das Auto", "the house", (" ", "")))
    ratings = write_ratings(tmp_path / "others.jsonl", RATINGS * 20 + tuple(Rating(text, "hand", ()) for text in texts))
    calibrated = calibrate(directory, [ratings], tmp_path / "new")
    assert [input_fit.error_free.n for input_fit in calibrated.inputs if input_fit.error_free] == [
        20 * len(RATINGS) + 1
    ]


def test_ratings_without_a_known_tag_are_refused(directory: Path, tmp_path: Path) -> None:
    unplaced = Rating(Segment("Das Auto", "the house"), "hand", (), unplaced=(UnplacedError(Severity.MAJOR),))
    ratings = write_ratings(tmp_path / "dev.jsonl", (unplaced,))
    with pytest.raises(InputError, match="all errors are without a place"):
        calibrate(directory, [ratings], tmp_path / "new")


def test_each_segment_is_read_once_for_each_kind_of_input(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: Counter[tuple[str, ...]] = Counter()
    prepare = Predictor.prepare

    def counted(self: Predictor, model_inputs: Sequence[ModelInput]) -> Any:
        read.update(
            row.texts
            for model_input in model_inputs
            for reading in model_input.readings
            for row in reading.rows("together")
        )
        return prepare(self, model_inputs)

    monkeypatch.setattr(Predictor, "prepare", counted)
    distinct = tuple(
        dataclasses.replace(
            rating, segment=dataclasses.replace(rating.segment, hypothesis=f"{number} {rating.segment.hypothesis}")
        )
        for number, rating in enumerate(RATINGS * 3)
    )
    n_own = len(distinct) // 2
    dev = write_ratings(tmp_path / "dev.jsonl", distinct[:n_own])
    further = write_ratings(tmp_path / "others.jsonl", distinct[n_own:])
    calibrate(directory, [dev], tmp_path / "new", [further])
    assert set(read.values()) == {1}
    texts = {rating.segment.hypothesis for rating in distinct}
    assert Counter(row[0] for row in read) == dict.fromkeys(texts, 2)


def said(score: float, logit: float, gold: float, *, n_words: int = 12) -> Judged:
    text = " ".join("x" * n_words)
    segment = Segment(text, None, ("y",), SegmentKey(lang_pair="en-de"))
    outputs = Outputs.of([ExpectedScore(score), MeaningLogits(logit, np.zeros(1))])
    prediction = Prediction(text, np.array([[0, 1]], np.int32), outputs, score)
    return Judged(
        Rating(segment, None, (), overall=Overall(gold, "mqm")), ModelInput.of(segment, "reference"), prediction
    )


@pytest.mark.parametrize(("false_alarms", "lowest", "highest"), [(0, -4.0, -4.0), (30, -1.0, 8.0), (150, 1.0, 10.0)])
def test_a_rule_for_errors_of_meaning_costs_next_to_no_correlation(
    false_alarms: int, lowest: float, highest: float
) -> None:
    """Good translations with logits around 1 are false alarms; bad ones have high logits only if people see it, too."""
    rng = np.random.default_rng(5)
    golds = -rng.exponential(3, 600).clip(0, 20)
    scores = golds + rng.normal(0, 2, 600)
    logits = np.where(np.arange(600) < false_alarms, rng.normal(1, 2, 600), -9.0)
    rows = [said(*row) for row in zip(scores.tolist(), logits.tolist(), golds.tolist(), strict=True)]
    fit = meaning_rules.fit(rows, [], [])
    assert fit is not None
    assert lowest <= fit.rule.threshold <= highest
    assert fit.before - fit.after <= meaning_rules.PRICE
    assert (fit.right, fit.wrong) == (None, None)
    assert meaning_rules.fit(rows[:50], [], []) is None
    assert fit == meaning_rules.fit(rows[:300], rows[300:], []), "other ratings count the same"


def test_few_right_short_texts_score_badly_and_many_wrong_ones_do() -> None:
    rng = np.random.default_rng(6)
    rows = [said(score, -9.0, score) for score in rng.uniform(-9, 0, 200).tolist()]
    contrasts = [
        said(score, logit + (3 if gold else -3), gold, n_words=3)
        for score, logit in zip(rng.normal(-4, 1, 300).clip(-20, -0.1).tolist(), rng.normal(0, 1, 300), strict=True)
        for gold in (0.0, -5.0)
    ]
    fit = meaning_rules.fit(rows, [], contrasts)
    assert fit is not None
    assert fit.right is not None
    assert fit.wrong is not None
    assert fit.right <= meaning_rules.ALARMS + 0.01
    assert fit.wrong > 0.9
    assert fit.rule.meaning_of_short > 0


def test_a_calibrated_model_agrees_with_itself(directory: Path, tmp_path: Path) -> None:
    """All that is fitted is used: thresholds, severities and detectors of a model that marks at random."""
    ratings = write_ratings(tmp_path / "dev.jsonl", marked_and_free() * 5)
    calibrated = calibrate(directory, [ratings], tmp_path / "new")
    annotator = matese.load(tmp_path / "new", choice=matese.DecodingChoice(error_free=True))
    assert annotator.decoding.fitted == tuple(input_fit.fitted for input_fit in calibrated.inputs)
    rated = annotator.annotate(
        [rating.segment.hypothesis for rating in RATINGS], sources=["Tom and Mary"] * len(RATINGS)
    )
    for rating in rated:
        assert rating.error_free is not None
        assert not (rating.error_free.label and any(error.severity is Severity.MAJOR for error in rating.errors or ()))
