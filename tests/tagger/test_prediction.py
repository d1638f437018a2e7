from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest

import matese
from matese.annotation import Segment
from matese.errors import ModelError
from matese.tagger.prediction import Blend, score_of_tags
from matese.tagger.tags import B_MAJOR
from tests.tagger.test_decoding import certain


def test_expected_score_of_tags() -> None:
    rows = np.log(np.array([[0.5, 0.2, 0.05, 0.2, 0.05], [0.7, 0.1, 0.1, 0.05, 0.05]]))
    assert score_of_tags(rows) == pytest.approx(-(0.3 + 5 * 0.25))
    assert score_of_tags(certain(*[B_MAJOR] * 9)) == -25
    assert score_of_tags(np.zeros((0, 5))) == 0


def test_scores_are_sums_that_bend_before_zero_and_end_at_the_floor() -> None:
    blend = Blend("reference", head=0.5, tags=1.0, offset=2.0)
    assert blend.score(-4.0, -3.0) == pytest.approx(-2 - 3 + 2, abs=0.06)
    assert -0.2 < blend.score(0.0, 0.0) < 0
    assert blend.score(-25.0, -25.0) == -25
    totals = [blend.score(head, 0.0) for head in (-25, -9, -2, -0.1, 0, 5)]
    assert totals == sorted(totals)
    assert Blend("source", 1.0, 0.0, 800.0).score(0, 0) == pytest.approx(0, abs=1e-9)


@pytest.fixture
def blended(tiny_model_factory: Any) -> matese.Annotator:
    blends = [{"inputs": "reference", "head": 0.0, "tags": 2.0, "offset": -5.0}]
    return matese.load(
        tiny_model_factory("blended", inputs=("reference", "source"), score_head=True, blends=blends), device="cpu"
    )


def test_the_expected_score_is_the_blend_where_there_is_one(blended: matese.Annotator) -> None:
    [(rating, tokens)] = blended.annotate_tokens([Segment("ac at", references=("a cat",))])
    assert rating.estimate is not None
    by_tags = score_of_tags(np.log(np.array(tokens.probabilities)))
    assert rating.estimate.value == pytest.approx(2 * by_tags - 5, abs=0.02)
    assert "|score:blend|" in (rating.rater or "")
    [alone] = blended.annotate(["a cat"], sources=["eine Katze"])
    assert "|score:head|" in (alone.rater or "")


def test_several_references_count_alike_and_a_blank_hypothesis_is_worth_nothing(blended: matese.Annotator) -> None:
    both, one, other, blank = blended.annotate(
        ["ac at", "ac at", "ac at", " "], references=[["a cat", "the dog"], ["a cat"], ["the dog"], ["a cat"]]
    )
    values = [rating.estimate.value for rating in (both, one, other, blank) if rating.estimate is not None]
    assert values[0] == pytest.approx((values[1] + values[2]) / 2, abs=1e-3)
    assert values[3] == -25


def test_order_and_neighbours_change_nothing(blended: matese.Annotator) -> None:
    random.seed(1)
    texts = ["".join(random.choices("abc d", k=random.randint(1, 40))) for _ in range(30)]
    found = blended.annotate(texts, references=texts[::-1])
    again = blended.annotate(texts[::-1], references=texts)[::-1]
    for one, two in zip(found, again, strict=True):
        assert one.estimate is not None
        assert two.estimate is not None
        assert one.estimate.value == pytest.approx(two.estimate.value, abs=1e-3)


def test_an_incomplete_blend_is_refused(tiny_model_factory: Any) -> None:
    directory = tiny_model_factory("impossible", score_head=True)
    config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    config["settings"]["blends"] = [{"inputs": "source"}]
    (directory / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(ModelError, match=r"config.json: blends\[0\].head is missing: must be a finite number"):
        matese.load(directory)
