from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import matese
from matese.annotation import Segment
from matese.model.heads.tags.bio import B_MAJOR
from matese.model.heads.tags.decoding import score_of_tags
from tests.model.heads.tags.test_decoding import certain


def test_expected_score_of_tags() -> None:
    rows = np.log(np.array([[0.5, 0.2, 0.05, 0.2, 0.05], [0.7, 0.1, 0.1, 0.05, 0.05]]))
    assert score_of_tags(rows) == pytest.approx(-(0.3 + 5 * 0.25))
    assert score_of_tags(certain(*[B_MAJOR] * 9)) == -25
    assert score_of_tags(np.zeros((0, 5))) == 0


@pytest.fixture
def annotator(tiny_model_factory: Any) -> matese.Annotator:
    return matese.load(tiny_model_factory("scored", inputs=("reference", "source"), score_head=True), device="cpu")


def test_the_expected_score_is_the_score_head_s_if_there_is_one(
    annotator: matese.Annotator, tiny_model_factory: Any
) -> None:
    [(rating, _)] = annotator.annotate_tokens([Segment("ac at", references=("a cat",))])
    assert "|score:head|" in (rating.rater or "")
    without = matese.load(tiny_model_factory("unscored"), device="cpu")
    [(rating, tokens)] = without.annotate_tokens([Segment("ac at", references=("a cat",))])
    assert rating.estimate is not None
    by_tags = score_of_tags(np.log(np.array(tokens.probabilities)))
    assert rating.estimate.value == pytest.approx(by_tags, abs=0.001)
    assert "|score:tags|" in (rating.rater or "")




