"""Each rule overrides the model when it is on, leaves it alone when it is off, and stands in the signature."""

from __future__ import annotations

import pytest

import matese
from matese import mqm
from matese.annotation import Estimate, Rating, Segment
from matese.errors import UsageError
from matese.model import copy_and_blank
from matese.model.copy_and_blank import OVERRIDES, Override
from tests.conftest import TinyModelFactory

TEXT = "the good thing is 12."


@pytest.fixture(scope="module")
def directory(tiny_model_factory: TinyModelFactory) -> object:
    return tiny_model_factory("overrides", score_head=True, inputs=("reference", "source", "source+reference"))


def annotate(directory: object, segment: Segment, *without: Override) -> Rating:
    chosen = [name for name in OVERRIDES if name not in without]
    annotator = matese.load(directory, overrides=chosen, precision="float32")  # type: ignore[arg-type]
    (rating,) = annotator.annotate_segments([segment])
    return rating


def test_names_are_ordered_and_checked() -> None:
    assert copy_and_blank.check(["blank", "copy"]) == ("copy", "blank")
    assert copy_and_blank.check([]) == ()
    with pytest.raises(UsageError, match=r"unknown override 'cpoy', did you mean 'copy'. must be copy or blank"):
        copy_and_blank.check(["cpoy"])


def test_a_copy_of_a_reference_is_judged_by_the_model_without_the_rule(directory: object) -> None:
    segment = Segment(TEXT, None, (TEXT,))
    on = annotate(directory, segment)
    off = annotate(directory, segment, "copy")
    assert (on.errors, on.estimate) == ((), Estimate(0.0, "mqm"))
    assert off.errors
    assert off.estimate is not None
    assert off.estimate.value < 0
    assert "|overrides:copy+blank|" in (on.rater or "")
    assert "|overrides:blank|" in (off.rater or "")


def test_a_blank_hypothesis_is_read_without_the_rule(directory: object) -> None:
    for text in ("", " ", "\u2003 "):
        on, off = (annotate(directory, Segment(text, "Das", ()), *without) for without in ((), ("blank",)))
        assert on.errors == off.errors == ()
        assert on.estimate == Estimate(-25.0, "mqm")
        assert (on.unplaced, off.unplaced) == ((mqm.NON_TRANSLATION,), ())
        assert off.estimate is not None
        assert -25 < off.estimate.value < 0
    assert "|overrides:none|" in (annotate(directory, Segment("", "Das", ()), *OVERRIDES).rater or "")


def test_a_blank_hypothesis_counts_as_an_error_only_with_the_rule(directory: object) -> None:
    for rules, n_blank in ((OVERRIDES, 1), (("copy",), 0)):
        annotator = matese.load(directory, overrides=rules, precision="float32")  # type: ignore[arg-type]
        list(annotator.annotate_segments([Segment(" ", "Das", ())]))
        assert annotator.counts.blank == n_blank


def test_a_blank_hypothesis_beside_a_blank_reference_is_no_copy(directory: object) -> None:
    assert annotate(directory, Segment(" ", None, ("good", "")), *()).estimate == Estimate(-25.0, "mqm")
