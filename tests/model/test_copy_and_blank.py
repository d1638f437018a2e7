"""Each rule overrides the model when it is on, leaves it alone when it is off, and stands in the signature."""

from __future__ import annotations

from pathlib import Path

import pytest

import matese
from matese import mqm
from matese.annotation import Estimate, Segment
from matese.errors import UsageError
from matese.model import copy_and_blank
from matese.model.copy_and_blank import OVERRIDES
from tests.conftest import TinyModelFactory

TEXT = "the good thing is 12."


@pytest.fixture(scope="module")
def directory(tiny_model_factory: TinyModelFactory) -> Path:
    return tiny_model_factory("overrides", score={}, inputs=("reference", "source", "source+reference"))


def test_names_are_ordered_and_checked() -> None:
    assert copy_and_blank.check(["blank", "copy"]) == ("copy", "blank")
    with pytest.raises(UsageError, match="'cpoy', did you mean 'copy'"):
        copy_and_blank.check(["cpoy"])


@pytest.mark.parametrize(
    ("source", "references", "is_copy"),
    [
        (None, (TEXT,), True),
        ("Das ist 12.", ("bad", f" {TEXT}\n"), True),
        ("Das ist 12.", ("the good thing is 13.",), False),
        (TEXT, (), False),  # a copy of the source may well be an error
    ],
)
def test_a_copy_of_a_reference_has_no_error(
    directory: Path, source: str | None, references: tuple[str, ...], is_copy: bool
) -> None:
    for rules, signed in ((OVERRIDES, "copy+blank"), (("blank",), "blank")):
        annotator = matese.load(directory, overrides=rules, precision="float32")
        ((rating, tokens),) = annotator.annotate_tokens([Segment(TEXT, source, references)])
        is_free = is_copy and "copy" in rules
        assert (not rating.errors, rating.estimate == Estimate(0.0, "mqm")) == (is_free, is_free)
        assert all(row[0] > 0.99 for row in tokens.probabilities) is is_free
        assert f"|overrides:{signed}|" in (rating.rater or "")


@pytest.mark.parametrize(("rules", "n_blank"), [(OVERRIDES, 3), (("copy",), 0), ((), 0)])
def test_a_blank_hypothesis_is_no_perfect_translation(directory: Path, rules: tuple[str, ...], n_blank: int) -> None:
    annotator = matese.load(directory, overrides=rules, precision="float32")
    ratings = list(annotator.annotate_segments(Segment(text, "Das", ("good", " ")) for text in ("", " ", "\u2003 ")))
    for rating in ratings:
        assert rating.estimate is not None
        if n_blank:
            assert (rating.estimate, rating.unplaced) == (Estimate(-25.0, "mqm"), (mqm.NON_TRANSLATION,))
            assert {mqm.score(rating, weights) for weights in mqm.PRESETS.values()} == {-25}
        else:
            assert -25 < rating.estimate.value < 0
            assert rating.unplaced == ()
    assert annotator.counts.blank == n_blank
    assert f"|overrides:{'+'.join(rules) or 'none'}|" in (ratings[0].rater or "")
