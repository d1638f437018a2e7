from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import matese
from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity
from matese.training import blending
from matese.training.blending import Evidence


def evidence(worth: tuple[float, float], *, n_sources: int = 5000, n_systems: int = 4, hard: float = 0.0) -> Evidence:
    """Returns evidence by which human scores are of the two parts, and of how hard a source is."""
    drawn = np.random.default_rng(1)
    n = n_sources * n_systems
    parts = np.stack([drawn.normal(-4, 2, n), drawn.normal(-3, 1, n)], axis=1)
    items = np.repeat(np.arange(n_sources), n_systems)
    human = parts @ np.array(worth) - 2 + drawn.normal(0, 4, n) + hard * drawn.normal(0, 3, n_sources)[items]
    return Evidence(parts, np.minimum(human, -0.5), items.tolist())


@pytest.mark.parametrize("hard", [0.0, 1.0])
def test_what_made_the_scores_is_found_however_hard_the_sources_are(hard: float) -> None:
    found = blending.fit(evidence((1.0, 0.5), hard=hard), "reference")
    assert found.tags / found.head == pytest.approx(0.5, abs=0.2)
    if not hard:
        assert found.head == pytest.approx(1.0, abs=0.15)
        assert found.offset == pytest.approx(-2, abs=1)


def test_nothing_counts_backwards() -> None:
    found = blending.fit(evidence((1.0, -1.0)), "source")
    assert found.head > 0
    assert 0 <= found.tags < 0.1 * found.head


def test_what_few_sources_say_counts_little_beside_equal_weights() -> None:
    few, many = (blending.fit(evidence((1.0, 0.0), n_sources=number), "reference") for number in (10, 5000))
    deviations = (2, 1)
    shares = [part * spread for part, spread in zip((few.head, few.tags), deviations, strict=True)]
    assert min(shares) > 0.5 * max(shares)
    assert many.tags < 0.2 * many.head


def test_without_two_translations_of_a_source_there_is_nothing_to_fit() -> None:
    with pytest.raises(ValueError, match="no two translations of the same source"):
        blending.fit(evidence((1.0, 1.0), n_systems=1), "reference")


@pytest.fixture
def annotator(tiny_model_factory: Any) -> matese.Annotator:
    inputs = ("reference", "source", "source+reference")
    return matese.load(tiny_model_factory("raw", inputs=inputs, score_head=True), device="cpu")


def ratings(n_sources: int) -> list[Rating]:
    made = []
    for source in range(n_sources):
        for number, text in enumerate(("a cat sat", "a hat sat", "the bat")):
            key = SegmentKey("set", "de-en", f"s{number}", None, source)
            errors = [ErrorSpan(0, 3, Severity.MAJOR)] * (number > 0)
            made.append(Rating(Segment(text, f"Quelle {source}", (f"a cat sat {source}",), key), "r", tuple(errors)))
    return made


def test_each_input_of_a_model_gets_its_own(annotator: matese.Annotator) -> None:
    found = blending.fit_all(annotator.annotate_tokens, ratings(30), annotator.config.inputs)
    assert [blend.inputs for blend in found] == ["reference", "source", "source+reference"]


def test_too_few_pairs_leave_the_head_alone(annotator: matese.Annotator) -> None:
    assert blending.fit_all(annotator.annotate_tokens, ratings(3), annotator.config.inputs) == ()
