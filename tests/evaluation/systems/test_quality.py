from __future__ import annotations

import pytest

from matese import mqm
from matese.annotation import ErrorSpan, Rating, Segment, Severity, UnplacedError
from matese.errors import InputError
from matese.evaluation.systems import quality
from tests.evaluation.material import major, minor

TEXT = "Das Haus am See"


def rating(*errors: ErrorSpan, text: str = TEXT, unplaced: tuple[UnplacedError, ...] = ()) -> Rating:
    return Rating(Segment(text), None, errors, unplaced=unplaced)


@pytest.mark.parametrize(
    ("one", "share", "n_errors"),
    [
        (rating(), "no_error", 0),
        (rating(text=""), "no_error", 0),
        (rating(ErrorSpan(0, 3, Severity.NEUTRAL)), "no_error", 0),
        (rating(ErrorSpan(0, 3, Severity.NEUTRAL), ErrorSpan(0, 3, None)), "undecided", 0),
        (rating(minor(0, 3), minor(0, 3)), "only_minor", 2),
        (rating(minor(0, 3), major(4, 8)), "one_major", 2),
        (rating(ErrorSpan(0, 3, Severity.CRITICAL)), "one_major", 1),
        (rating(major(4, 8), unplaced=(UnplacedError(Severity.MAJOR),)), "several_major", 2),
    ],
)
def test_share_and_number(one: Rating, share: str, n_errors: int) -> None:
    assert (quality.severity_group(one), quality.n_errors(one)) == (share, n_errors)


def test_figures() -> None:
    ratings = [rating(minor(0, 3), major(4, 8)), rating(), rating(text="")]
    figures = quality.figures(ratings, mqm.MATESE)
    assert figures["score"] == -2.0
    assert (figures["minor"], figures["major"], figures["critical"]) == (1, 1, 0)
    # 8 words and 30 characters in all.
    assert figures["per_1000_words.errors"] == pytest.approx(1000 * 2 / 8)
    assert figures["per_1000_characters.major"] == pytest.approx(1000 / 30)
    assert [figures[f"share.{name}"] for name in quality.SHARES] == pytest.approx([2 / 3, 0, 1 / 3, 0])


def test_rates_of_nothing_are_undefined() -> None:
    assert str(quality.figures([rating(text="")], mqm.MATESE)["per_1000_words.errors"]) == "nan"


def test_ratings_without_spans_are_refused() -> None:
    with pytest.raises(InputError, match=r"^rating of segment \('Das Haus am See'\) has no spans .errors is null."):
        quality.statistic([Rating(Segment(TEXT), None, None)], mqm.MATESE)
