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
from matese.model.heads.meaning.settings import MeaningRule
from matese.model.heads.score.decoding import ExpectedScore
from matese.model.heads.tags.bio import TAGS, O
from matese.model.model_input import ModelInput
from matese.model.prediction import Outputs, Prediction, TagProbabilities
from matese.model.predictor import Predictor
from matese.model.storage import checkpoint
from matese.training import calibration, judged, meaning_rules, tag_calibration
from matese.training.judged import Judged
from tests.training.material import RATINGS, write_ratings


def drawn(temperature: float, bias: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns logits and tags drawn from what they would say with this temperature and this bias of O."""
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn(20_000, len(TAGS), generator=generator) * 3
    true = logits / temperature
    true[:, O] += bias
    return logits, torch.multinomial(true.softmax(-1), 1, generator=generator).squeeze(-1)


def test_temperature_and_biases_are_found() -> None:
    temperature, biases = tag_calibration.fit(*drawn(2.0, 1.0))
    assert temperature == pytest.approx(2.0, rel=0.05)
    assert (biases[O] - biases[1:].mean()).item() == pytest.approx(1.0, abs=0.1)


def test_calibration_error_is_small_where_nothing_is_wrong() -> None:
    assert tag_calibration.calibration_error(*drawn(1.0, 0.0)) < 0.01
    assert tag_calibration.calibration_error(*drawn(3.0, 0.0)) > 0.05


def test_a_lower_confidence_marks_more() -> None:
    logits, tag_ids = drawn(1.0, 1.0)
    points = tag_calibration.token_points(logits, tag_ids)
    recalls = [point.recall for point in points]
    assert recalls == sorted(recalls, reverse=True)
    assert points[0].precision < points[-1].precision
    exact = logits.argmax(-1)
    at_half = tag_calibration.token_points(logits, exact)[-1]
    assert (at_half.precision, at_half.recall, at_half.f1, at_half.macro_f1) == pytest.approx((1, 1, 1, 1))


@pytest.fixture
def directory(tiny_model_factory: Any) -> Path:
    made: Path = tiny_model_factory("raw", inputs=("reference", "source"), score={})
    return made


def calibrate(
    directory: Path,
    paths: list[Path],
    output: Path,
    others: Sequence[Path] = (),
    short: Sequence[Path] = (),
    every: int = 1,
) -> calibration.Calibration:
    return calibration.calibrate(
        directory, paths, output, error_free_paths=others, short_paths=short, every=every, progress=lambda _: None
    )


def test_the_new_model_holds_what_was_fitted(directory: Path, tmp_path: Path) -> None:
    ratings = write_ratings(tmp_path / "dev.jsonl")
    found = calibrate(directory, [ratings], tmp_path / "new")
    old, new = (checkpoint.load(path) for path in (directory, tmp_path / "new"))
    assert found.error_after < found.error_before
    decoding = dataclasses.replace(
        old.config.model.decoding,
        min_confidence=found.min_confidence,
        thresholds=found.thresholds,
        confidences=found.confidences,
        meaning=found.meaning,
        error_free=found.error_free,
    )
    assert new.config.model == dataclasses.replace(old.config.model, decoding=decoding)
    changed = {name for name in old.tensors if not torch.equal(old.tensors[name], new.tensors[name])}
    assert changed == {"tag_head.weight", "tag_head.bias"}
    assert matese.load(tmp_path / "new").config.decoding.min_confidence == found.min_confidence
    again = calibrate(tmp_path / "new", [ratings], tmp_path / "new")
    assert again.temperature == pytest.approx(1, abs=0.05)
    assert again.error_before == pytest.approx(found.error_after, abs=0.01)


def test_other_ratings_change_only_the_detection_of_error_free_segments(directory: Path, tmp_path: Path) -> None:
    ratings = write_ratings(tmp_path / "dev.jsonl")
    others = write_ratings(tmp_path / "others.jsonl", RATINGS * 20)
    plain = calibrate(directory, [ratings], tmp_path / "plain")
    found = calibrate(directory, [ratings], tmp_path / "new", [others])
    assert plain.error_free == ()  # too few segments
    # By reference, too few segments are free of errors: most of these repeat the reference, which needs no model.
    assert [(one.inputs, one.lang_pairs) for one in found.error_free] == [("source", ())]
    assert dataclasses.replace(found, error_free=(), error_free_fits=()) == plain
    annotator = matese.load(tmp_path / "new", choice=matese.DecodingChoice(error_free=True))
    assert annotator.config.decoding.error_free == found.error_free


def test_more_short_texts_change_only_their_threshold(directory: Path, tmp_path: Path) -> None:
    ratings = write_ratings(tmp_path / "dev.jsonl", RATINGS * 20)
    free = [dataclasses.replace(rating, errors=()) for rating in RATINGS]
    long = [dataclasses.replace(one, segment=dataclasses.replace(one.segment, hypothesis="Haus " * 9)) for one in free]
    plain = calibrate(directory, [ratings], tmp_path / "plain")
    longer, found = (
        calibrate(
            directory, [ratings], tmp_path / "new", short=[write_ratings(tmp_path / "short.jsonl", tuple(texts) * 40)]
        )
        for texts in (long, free)
    )
    assert longer == plain
    assert found != plain
    assert all(new.least == old.least for new, old in zip(found.thresholds, plain.thresholds, strict=True))
    assert any(
        new.least_of_short > old.least_of_short for new, old in zip(found.thresholds, plain.thresholds, strict=True)
    )
    assert (found.chosen, found.meaning, found.temperature) == (plain.chosen, plain.meaning, plain.temperature)


def test_blank_texts_are_missing(directory: Path, tmp_path: Path) -> None:
    texts = (Segment("Das Auto", " ", ("Das Haus",)), Segment("Das Auto", "the house", (" ", "")))
    others = write_ratings(tmp_path / "others.jsonl", RATINGS * 20 + tuple(Rating(text, "hand", ()) for text in texts))
    found = calibrate(directory, [others], tmp_path / "new")
    assert [fit.n for fit in found.error_free_fits] == [20 * len(RATINGS) + 1]


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
        read.update(row.texts for one in model_inputs for reading in one.readings for row in reading.rows("together"))
        return prepare(self, model_inputs)

    monkeypatch.setattr(Predictor, "prepare", counted)
    distinct = tuple(
        dataclasses.replace(
            one, segment=dataclasses.replace(one.segment, hypothesis=f"{number} {one.segment.hypothesis}")
        )
        for number, one in enumerate(RATINGS * 3)
    )
    n_own = len(distinct) // 2
    own = write_ratings(tmp_path / "dev.jsonl", distinct[:n_own])
    others = write_ratings(tmp_path / "others.jsonl", distinct[n_own:])
    calibrate(directory, [own], tmp_path / "new", [others])
    assert set(read.values()) == {1}
    texts = {one.segment.hypothesis for one in distinct}
    assert Counter(row[0] for row in read) == dict.fromkeys(texts, 2)


def test_every_nth_rating_is_read_and_all_short_ones() -> None:
    long = "one two three four five six seven"
    short = "one two three"
    ratings = [Rating(Segment(text, str(number)), None, ()) for number, text in enumerate([long, short] * 6)]
    chosen = judged.choose(ratings, 4)
    assert [int(one.rating.segment.source or "") for one in chosen] == [0, 1, 3, 4, 5, 7, 8, 9, 11]
    assert [int(one.rating.segment.source or "") for one in chosen if one.is_sampled] == [0, 4, 8]


def said(score: float, logit: float, gold: float, *, pair: str = "en-de") -> Judged:
    segment = Segment("x", None, ("y",), SegmentKey(lang_pair=pair))
    rows = np.log(np.array([[0.5, 0.0, 0.0, 0.5, 0.0]]) + 1e-9)
    outputs = Outputs.of([TagProbabilities(rows), ExpectedScore(score), MeaningLogits(logit, np.zeros(1))])
    prediction = Prediction("x", np.array([[0, 1]], np.int32), outputs, score)
    return Judged(
        Rating(segment, None, (), overall=Overall(gold, "mqm")), ModelInput.of(segment, "reference"), prediction
    )


@pytest.mark.parametrize(("false_alarms", "lowest", "highest"), [(0, -4.0, -4.0), (30, 0.25, 8.0), (150, 2.0, 10.0)])
def test_a_rule_for_errors_of_meaning_costs_next_to_no_correlation(
    false_alarms: int, lowest: float, highest: float
) -> None:
    """Good translations with logits around 1 are false alarms; bad ones have high logits only if people see it, too."""
    rng = np.random.default_rng(5)
    golds = -rng.exponential(3, 600).clip(0, 20)
    scores = golds + rng.normal(0, 2, 600)
    logits = np.where(np.arange(600) < false_alarms, rng.normal(1, 2, 600), -9.0)
    rows = [said(*row) for row in zip(scores.tolist(), logits.tolist(), golds.tolist(), strict=True)]
    found = meaning_rules.fit(rows, MeaningRule("reference", 99.0))
    assert found is not None
    assert lowest <= found.rule.threshold <= highest
    assert found.before - found.after <= meaning_rules.PRICE
    assert meaning_rules.fit(rows[:50], MeaningRule("reference", 99.0)) is None


def test_a_calibrated_model_agrees_with_itself(directory: Path, tmp_path: Path) -> None:
    """All that is fitted is used: thresholds, severities and detectors of a model that marks at random."""
    wholes = (ErrorSpan(0, len(rating.segment.hypothesis), Severity.MAJOR) for rating in RATINGS)
    marked = tuple(dataclasses.replace(rating, errors=(whole,)) for rating, whole in zip(RATINGS, wholes, strict=True))
    ratings = write_ratings(
        tmp_path / "dev.jsonl",
        (
            *marked * 20,
            *(dataclasses.replace(one, errors=(), unplaced=(), omissions=(), overall=None) for one in RATINGS * 20),
        ),
    )
    found = calibrate(directory, [ratings], tmp_path / "new")
    assert found.error_free
    annotator = matese.load(tmp_path / "new", choice=matese.DecodingChoice(error_free=True))
    assert annotator.decoding.thresholds == found.thresholds
    rated = annotator.annotate([one.segment.hypothesis for one in RATINGS], sources=["Tom and Mary"] * len(RATINGS))
    for one in rated:
        assert one.error_free is not None
        assert not (one.error_free.label and any(error.severity is Severity.MAJOR for error in one.errors or ()))
