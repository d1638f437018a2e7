"""Every figure of `evaluate` has words."""

from __future__ import annotations

from dataclasses import replace

from matese import ErrorSpan, Estimate, Omission, Overall, Rating, Segment, Severity, evaluate
from matese.annotation import ErrorFree
from matese.evaluation.spans.figure_texts import FIGURES, MAIN

SEGMENT = Segment("Das Haus ist alt", "The house is not old")
GOLD = Rating(
    SEGMENT,
    "anna",
    (ErrorSpan(4, 8, Severity.MAJOR, "Accuracy/Mistranslation"), ErrorSpan(13, 16, Severity.MINOR)),
    omissions=(Omission("source", None, 13, 16, Severity.MAJOR),),
    overall=Overall(-6.0, "mqm"),
)
PREDICTED = replace(
    GOLD,
    rater="model",
    errors=(ErrorSpan(4, 8, Severity.MINOR, "Fluency", confidence=0.7),),
    overall=None,
    estimate=Estimate(-2.0, "mqm", low=-4.0, high=0.0, deviation=1.0),
    error_free=ErrorFree(False, 0.2),
)


def test_every_figure_has_words() -> None:
    names = evaluate([GOLD], [PREDICTED]).figures.keys()
    assert {name.partition(".")[0] for name in names} == FIGURES.keys() - {
        "pass",
        "localisation",
        "tags.hsh",
        "tags.tsh",
    }
    assert {name for name in MAIN if not name.startswith("localisation")} <= names
