"""Each rule overrides the model when it is on, leaves it alone when it is off, and stands in the signature."""

from __future__ import annotations

from pathlib import Path

import pytest

import matese
from matese import mqm
from matese.annotation import ErrorSpan, Estimate, Segment, SegmentKey, Severity
from matese.errors import UsageError
from matese.model.decoding_choice import OVERRIDES, Override
from matese.text.words import UNTRANSLATED
from tests.conftest import TinyModelFactory

TEXT = "the good thing is 12."


@pytest.fixture(scope="module")
def directory(tiny_model_factory: TinyModelFactory) -> Path:
    return tiny_model_factory("overrides", score={}, inputs=("reference", "source", "source+reference"))


def test_names_are_ordered_and_checked() -> None:
    assert matese.DecodingChoice(overrides=("blank", "copy")).overrides == ("copy", "blank")
    with pytest.raises(UsageError, match="'cpoy', did you mean 'copy'"):
        matese.DecodingChoice(overrides=("cpoy",))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("source", "references", "is_copy"),
    [
        (None, (TEXT,), True),
        ("Das ist 12.", ("bad", f" {TEXT}\n"), True),
        ("Das ist 12.", ("the good thing is 13.",), False),
        (TEXT, (TEXT,), True),  # a reference leaves it untranslated, too
    ],
)
def test_a_copy_of_a_reference_has_no_error(
    directory: Path, source: str | None, references: tuple[str, ...], is_copy: bool
) -> None:
    both: tuple[tuple[tuple[Override, ...], str], ...] = ((OVERRIDES, "copy+blank"), (("blank",), "blank"))
    for rules, signed in both:
        annotator = matese.load(directory, choice=matese.DecodingChoice(overrides=rules), precision="float32")
        ((rating, tokens),) = annotator.annotate_tokens([Segment(TEXT, source, references)])
        is_free = is_copy and "copy" in rules
        assert (not rating.errors, rating.estimate == Estimate(0.0, "mqm")) == (is_free, is_free)
        assert all(row[0] > 0.99 for row in tokens.probabilities) is is_free
        assert f"|overrides:{signed}|" in (rating.rater or "")


@pytest.mark.parametrize(
    ("hypothesis", "source", "references", "lang_pair", "is_untranslated"),
    [
        (TEXT, TEXT, (), None, True),
        (f" {TEXT}\n", TEXT, (), "en-de", True),
        (TEXT, TEXT, ("Das Gute ist 12.",), None, True),  # mini reads the reference alone
        (TEXT, TEXT, ("Das Gute ist 12.", " "), "en-de", True),
        (TEXT, TEXT, (), "en_US-en_GB", False),
        (TEXT, TEXT, ("the good thing is: 12",), "en-de", False),
        ("12", "12", ("zwölf",), "en-de", False),
        ("good", "good", ("gut",), "en-de", False),
        ("Das Good Thing", "Das Good Thing", ("bad",), "en-de", False),
        (TEXT, "Das ist 12.", ("bad",), "en-de", False),
    ],
)
def test_a_copy_of_the_source_is_one_error(
    directory: Path,
    hypothesis: str,
    source: str,
    references: tuple[str, ...],
    lang_pair: str | None,
    is_untranslated: bool,
) -> None:
    segment = Segment(hypothesis, source, references, SegmentKey(lang_pair=lang_pair))
    start = hypothesis.index(hypothesis.strip())
    error = ErrorSpan(start, start + len(hypothesis.strip()), Severity.MAJOR, UNTRANSLATED, rule="untranslated")
    several: tuple[tuple[Override, ...], ...] = (OVERRIDES, ("blank",))
    for rules in several:
        ((rating, tokens),) = matese.load(
            directory, choice=matese.DecodingChoice(overrides=rules), precision="float32"
        ).annotate_tokens([segment])
        is_found = is_untranslated and "copy" in rules
        assert (rating.errors == (error,)) is is_found
        assert (rating.estimate == Estimate(-25.0, "mqm")) is is_found
        assert not is_found or all(row[0] < 0.01 for row in tokens.probabilities)
        assert not (is_found and rating.omissions)


@pytest.mark.parametrize(("rules", "n_blank"), [(OVERRIDES, 3), (("copy",), 0), ((), 0)])
def test_a_blank_hypothesis_is_no_perfect_translation(
    directory: Path, rules: tuple[Override, ...], n_blank: int
) -> None:
    annotator = matese.load(directory, choice=matese.DecodingChoice(overrides=rules), precision="float32")
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
