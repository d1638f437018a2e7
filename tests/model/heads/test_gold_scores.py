"""The score that a rating teaches, or that it teaches none."""

from __future__ import annotations

import math

import pytest

from matese.annotation import ErrorSpan, Omission, Overall, Rating, Segment, Severity, UnplacedError
from matese.model.heads.gold_scores import quality_of, score_of

SEGMENT = Segment("der Hund", "the dog")


@pytest.mark.parametrize("severity", [None, Severity.MINOR, Severity.MAJOR])
def test_an_error_of_undecided_severity_leaves_the_score_unknown(severity: Severity | None) -> None:
    ratings = (
        Rating(SEGMENT, "r", (ErrorSpan(0, 3, severity),)),
        Rating(SEGMENT, "r", (), source_errors=(ErrorSpan(0, 3, severity),)),
        Rating(SEGMENT, "r", (), omissions=(Omission("source", None, 0, 3, severity),)),
        Rating(SEGMENT, "r", (), unplaced=(UnplacedError(severity),)),
    )
    for rating in ratings:
        expected = {None: math.nan, Severity.MINOR: -1.0, Severity.MAJOR: -5.0}[severity]
        assert score_of(rating) == pytest.approx(expected, nan_ok=True)
        assert quality_of(rating) == pytest.approx(1 + expected / 25, nan_ok=True)
    judged = Rating(SEGMENT, "r", (), unplaced=(UnplacedError(severity),), overall=Overall(-3.0, "mqm"))
    assert score_of(judged) == -3
