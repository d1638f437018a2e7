from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

import matese
from matese.annotation import ErrorSpan, Rating, Segment, Severity, UnplacedError
from matese.errors import InputError
from matese.model.heads.tags.bio import TAGS, O
from matese.model.storage import checkpoint
from matese.training import calibration, confidences
from matese.training.confidences import Annotate
from tests.training.material import RATINGS, write_ratings


def drawn(temperature: float, bias: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns logits and tags drawn from what they would say with this temperature and this bias of O."""
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn(20_000, len(TAGS), generator=generator) * 3
    true = logits / temperature
    true[:, O] += bias
    return logits, torch.multinomial(true.softmax(-1), 1, generator=generator).squeeze(-1)


def test_temperature_and_biases_are_found() -> None:
    temperature, biases = calibration.fit(*drawn(2.0, 1.0))
    assert temperature == pytest.approx(2.0, rel=0.05)
    assert (biases[O] - biases[1:].mean()).item() == pytest.approx(1.0, abs=0.1)


def test_calibration_error_is_small_where_nothing_is_wrong() -> None:
    assert calibration.calibration_error(*drawn(1.0, 0.0)) < 0.01
    assert calibration.calibration_error(*drawn(3.0, 0.0)) > 0.05


def test_a_lower_confidence_marks_more() -> None:
    logits, tag_ids = drawn(1.0, 1.0)
    points = calibration.token_points(logits, tag_ids)
    recalls = [point.recall for point in points]
    assert recalls == sorted(recalls, reverse=True)
    assert points[0].precision < points[-1].precision
    exact = logits.argmax(-1)
    at_half = calibration.token_points(logits, exact)[-1]
    assert (at_half.precision, at_half.recall, at_half.f1, at_half.macro_f1) == pytest.approx((1, 1, 1, 1))


@pytest.fixture
def directory(tiny_model_factory: Any) -> Path:
    made: Path = tiny_model_factory("raw", inputs=("reference", "source"), score={})
    return made


def calibrate(directory: Path, paths: list[Path], output: Path, others: Sequence[Path] = ()) -> calibration.Calibration:
    def load_annotate(model_directory: Path) -> Annotate:
        return matese.load(model_directory).annotate_tokens

    return calibration.calibrate(
        directory, paths, output, error_free_paths=others, progress=lambda _: None, load_annotate=load_annotate
    )


def test_the_new_model_holds_what_was_fitted(directory: Path, tmp_path: Path) -> None:
    ratings = write_ratings(tmp_path / "dev.jsonl")
    found = calibrate(directory, [ratings], tmp_path / "new")
    old, new = (checkpoint.load(path) for path in (directory, tmp_path / "new"))
    assert found.error_after < found.error_before
    decoding = dataclasses.replace(
        old.config.model.decoding,
        min_confidence=found.min_confidence,
        confidences=found.confidences,
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
    assert [(one.inputs, one.lang_pairs) for one in found.error_free] == [("reference", ()), ("source", ())]
    assert dataclasses.replace(found, error_free=(), error_free_fits=()) == plain
    assert matese.load(tmp_path / "new", error_free=True).config.decoding.error_free == found.error_free


def test_blank_texts_are_missing(directory: Path, tmp_path: Path) -> None:
    texts = (Segment("Das Auto", " ", ("Das Haus",)), Segment("Das Auto", "the house", (" ", "")))
    others = write_ratings(tmp_path / "others.jsonl", RATINGS * 20 + tuple(Rating(text, "hand", ()) for text in texts))
    found = calibrate(directory, [others], tmp_path / "new")
    assert [fit.n for fit in found.error_free_fits] == [20 * len(RATINGS) + 1] * 2


def test_ratings_without_a_known_tag_are_refused(directory: Path, tmp_path: Path) -> None:
    unplaced = Rating(Segment("Das Auto", "the house"), "hand", (), unplaced=(UnplacedError(Severity.MAJOR),))
    ratings = write_ratings(tmp_path / "dev.jsonl", (unplaced,))
    with pytest.raises(InputError, match="all errors are without a place"):
        calibrate(directory, [ratings], tmp_path / "new")


@pytest.mark.parametrize("kind", ["reference", "source"])
def test_confidences_are_fitted_to_all_spans_whatever_the_budget(
    kind: Any, tiny_model_factory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The raters mark nearly everything, so that a model without skill does so, too."""
    wholes = (ErrorSpan(0, len(rating.segment.hypothesis), Severity.MAJOR) for rating in RATINGS)
    marked = tuple(dataclasses.replace(rating, errors=(whole,)) for rating, whole in zip(RATINGS, wholes, strict=True))
    ratings = write_ratings(tmp_path / "dev.jsonl", marked)
    collect = confidences.collect
    n_spans = []

    def counted(*arguments: Any) -> confidences.Spans:
        n_spans.append(len(collect(*arguments).segments))
        return collect(*arguments)

    monkeypatch.setattr(confidences, "collect", counted)
    for budget in (None, 0.1):
        model = tiny_model_factory("budget", inputs=(kind,), score={}, span_budget=budget)
        calibrate(model, [ratings], tmp_path / f"new-{budget}")
    with_budget = checkpoint.read_config(tmp_path / "new-0.1").model.decoding.span_budget
    assert with_budget == 0.1
    assert n_spans[0] == n_spans[1] > 10
