from __future__ import annotations

import numpy as np
import pytest

from matese.annotation import Segment, SegmentKey
from matese.errors import InputError
from matese.evaluation.metrics import sentinels


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        (["a", "a", "b", "b"], [0, 0, 2, 2]),
        ([None] * 5, [0, 1, 2, 3, 4]),
        ([None] * 10, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]),
        (["a"], [0]),
    ],
)
def test_a_document_is_in_one_part(documents: list[str | None], expected: list[int]) -> None:
    keys = [SegmentKey(document=document, index=index) for index, document in enumerate(documents)]
    segments = [Segment(system, key=key) for system in ("A", "B") for key in keys]
    assert sentinels.folds(segments).tolist() == expected * 2


def test_a_regression_has_not_seen_the_part_that_it_scores() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(60, 3))
    gold = vectors @ [1.0, -2.0, 0.5] + rng.normal(0, 0.1, 60)
    gold[7] = np.nan
    parts = np.arange(60) // 12
    scores = sentinels.cross_fit(vectors, gold, parts)
    known = np.isfinite(gold)
    assert np.corrcoef(scores[known], gold[known])[0, 1] > 0.99
    changed = gold.copy()
    changed[parts == 2] = rng.normal(size=12)
    assert sentinels.cross_fit(vectors, changed, parts)[parts == 2] == pytest.approx(scores[parts == 2])
    # Scores that have nothing to do with the texts are not found in them.
    noise = sentinels.cross_fit(rng.normal(size=(60, 200)), gold, parts)
    assert abs(np.corrcoef(noise[known], gold[known])[0, 1]) < 0.5


def test_one_document_is_too_few() -> None:
    with pytest.raises(InputError, match="fewer than two documents"):
        sentinels.cross_fit(np.ones((3, 2)), np.arange(3.0), np.zeros(3, dtype=int))
