"""What the figures of `evaluate` mean, in words: for its help, for tables, and for messages about undefined ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class FigureText:
    """The words for all figures whose names begin alike.

    Attributes:
        meaning: what they measure.
        main: those that are always shown, as far as they are measured, by name, and what each is called.
        undefined: why one has no value; empty if its denominator is 0.
    """

    meaning: str
    main: Mapping[str, str] = field(default_factory=dict)
    undefined: str = ""


_ALIKE = "one of the two scores is the same for all segments"
FIGURES = {
    "tsh": FigureText(
        "share of the gold spans that overlap a predicted one",
        {"tsh": "gold spans that are found, at least in part"},
        "there is no gold span",
    ),
    "hsh": FigureText(
        "share of the predicted spans that overlap a gold one",
        {"hsh": "predicted spans that overlap a gold one"},
        "no span is predicted",
    ),
    "mpp": FigureText(
        "spans matched one to one, with partial credit (report mpp micro F1)",
        {"mpp.micro.f1": "F1 of spans with partial credit"},
    ),
    "mp": FigureText("the same with any overlap"),
    "em": FigureText("the same if both ends are equal"),
    "exact": FigureText(
        "spans with equal units and severity",
        {
            "exact.precision": "precision of BIO spans, as by seqeval (strict)",
            "exact.recall": "recall of BIO spans",
            "exact.f1": "F1 of BIO spans",
        },
        "neither side has such spans",
    ),
    "tags": FigureText(
        "tags compared unit by unit",
        {
            "tags.macro.precision": "macro precision of BIO tags, as by torchmetrics",
            "tags.macro.recall": "macro recall of BIO tags",
            "tags.macro.f1": "macro F1 of BIO tags",
        },
        "neither side has such tags",
    ),
    "tags.tsh": FigureText("tsh of spans of units", undefined="there is no gold span"),
    "tags.hsh": FigureText("hsh of spans of units", undefined="no span is predicted"),
    "char_wmt23": FigureText(
        "precision, recall and F1 of marked characters, as in the WMT task of 2023",
        undefined="a language pair has no spans on one side",
    ),
    "char_wmt25": FigureText("the same as in the WMT task of 2025", {"char_wmt25.f1": "F1 of characters"}),
    "soft": FigureText("SoftF1: as characters, but a prediction near the gold one earns something, too"),
    "omissions": FigureText("omissions that overlap one of the other side; needs gold ratings with omissions"),
    "category": FigureText(
        "agreement on the main MQM categories of matched spans; --by category adds precision, recall and F1",
        undefined="no matched spans have such categories",
    ),
    "score": FigureText(
        "correlation and error of the MQM scores", {"score.pearson": "Pearson of the MQM scores"}, _ALIKE
    ),
    "expected_score": FigureText(
        "the same for the model's expected scores",
        {
            "expected_score.pearson": "Pearson of the expected scores",
            "expected_score.kendall": "Kendall of the expected scores",
        },
        _ALIKE,
    ),
    "calibration": FigureText("how well confidences match precision"),
    "error_free": FigureText(
        "labels of segments as free of errors; needs files written with --error-free. mcc is 1 if all labels are "
        "right and 0 if they are as good as chance; error_free.unmarked takes segments without marks for those free of "
        "errors",
        {"error_free.mcc": "error-free segments"},
    ),
    "pass": FigureText("precision and recall of good translations at every threshold of a score; needs --good"),
    "uncertainty": FigureText(
        "how well the intervals of expected scores fit the human scores; needs matese tag --uncertainty",
        undefined="one of the two scores, or the width of the intervals, is the same for all segments",
    ),
    "localisation": FigureText(
        "how well token scores find erroneous tokens; needs files written with --tokens",
        {"localisation.auroc": "token scores"},
        "no segment has both bad tokens and others",
    ),
}
"""By the beginning of their names, in the order of tables."""
MAIN = {name: label for text in FIGURES.values() for name, label in text.main.items()}
"""The figures that are always shown, as far as they are measured."""
DECISIVE = ("mpp.micro.f1", "expected_score.pearson", "score.pearson")
"""Of these, the first that is measured says which of two predictions is better."""
