"""How texts become rows: windows, equal rows once, several references, and batches of any size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matese
from matese.annotation import Segment
from matese.errors import UsageError

COMET = Path(__file__).parent / "released" / "comet"
LONG = "Das Haus ist sehr alt und der Hund schläft auf dem Tisch. " * 6


def load(name: str, **options: Any) -> matese.Annotator:
    return matese.load(COMET / name, precision="float32", device="cpu", **options)


def scores(annotator: matese.Annotator, segments: list[Segment]) -> list[float]:
    return [rating.estimate.value for rating in annotator.annotate_segments(segments) if rating.estimate]


def rows_of(annotator: matese.Annotator) -> list[tuple[int, ...]]:
    """Returns a list to which every row that the encoder reads is added."""
    seen: list[tuple[int, ...]] = []
    predictor: Any = annotator.predictor

    def note(_: object, __: object, arguments: dict[str, Any]) -> None:
        for ids, mask in zip(arguments["input_ids"], arguments["attention_mask"], strict=True):
            seen.append(tuple(ids[mask.bool()].tolist()))

    predictor.module.encoder.register_forward_pre_hook(note, with_kwargs=True)
    return seen


def test_a_text_is_embedded_once_for_all_systems() -> None:
    annotator = load("estimator")
    seen = rows_of(annotator)
    sources = ["The house", "The dog"]
    references = ["Das Haus", "Der Hund"]
    first = [Segment("Ein Haus", sources[0], (references[0],)), Segment("Das Haus", sources[1], (references[1],))]
    before = scores(annotator, first)
    assert len(seen) == len(set(seen)) == 5, "Das Haus is a hypothesis and a reference"
    scores(annotator, [Segment("Mein Haus", sources[0], (references[0],)), first[1]])
    assert len(seen) == 6
    annotator.predictor.forget()
    assert scores(annotator, first) == before
    assert len(seen) == 11


@pytest.mark.parametrize("name", ["estimator", "xcomet"])
def test_scores_do_not_depend_on_batches(name: str) -> None:
    texts = ["Das Haus", "Der Hund schläft", LONG, "", "Gut."]
    segments = [Segment(text, source, ("Das Haus ist alt",)) for text in texts for source in ("A house", "A dog")]
    together = scores(load(name), segments)
    np.testing.assert_allclose(scores(load(name, batch_tokens=1), segments), together, atol=2e-6)
    alone = [scores(load(name), [segment])[0] for segment in segments[:2]]
    np.testing.assert_allclose(alone, together[:2], atol=2e-6)


def test_several_references_are_averaged() -> None:
    annotator = load("estimator")
    references = ("Das Haus", "Ein Hund")
    by_first, by_second = (scores(annotator, [Segment("Gut", "Good", (reference,))])[0] for reference in references)
    assert scores(annotator, [Segment("Gut", "Good", references)])[0] == pytest.approx(
        (by_first + by_second) / 2, abs=2e-6
    )


def test_a_long_text_is_read_in_windows_that_cover_it() -> None:
    annotator = load("xcomet")
    seen = rows_of(annotator)
    (rating,) = annotator.annotate_segments([Segment(LONG, "A house")])
    assert annotator.counts.windowed == 1
    assert max(map(len, seen)) <= 66
    assert rating.errors is not None
    assert max(error.end for error in rating.errors) > 0.9 * len(LONG.strip())
    estimator = load("estimator")
    list(estimator.annotate_segments([Segment("Gut", LONG, ("Gut",))]))
    assert estimator.counts.windowed == 1


def test_a_model_that_scores_has_no_tag_probabilities() -> None:
    with pytest.raises(UsageError, match=r"model xcomet@.* has no tag probabilities; use a tagger"):
        list(load("xcomet").annotate_tokens([Segment("Gut", "Good")]))
