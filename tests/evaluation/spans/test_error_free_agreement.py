"""Gold labels of error-free segments, and the agreement of decisions with them."""

from __future__ import annotations

import numpy as np
import pytest

import matese
from matese.annotation import ErrorFree, ErrorSpan, Overall, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.evaluation.spans import error_free_agreement

SEGMENT = Segment("Das Haus", "The house")
MINOR, NEUTRAL = (ErrorSpan(0, 3, severity) for severity in (Severity.MINOR, Severity.NEUTRAL))
ESA85 = Overall(85, "esa")
ESA84 = Overall(84.9, "esa")
DA90 = Overall(90, "da")


@pytest.mark.parametrize(
    ("rating", "label"),
    [
        (Rating(SEGMENT, None, None), None),
        (Rating(SEGMENT, None, None, overall=ESA85), None),  # people may have seen errors that they did not mark
        (Rating(SEGMENT, None, None, overall=Overall(0, "mqm")), True),
        (Rating(SEGMENT, None, None, overall=Overall(-0.1, "mqm")), False),
        (Rating(SEGMENT, None, ()), True),
        (Rating(SEGMENT, None, (NEUTRAL,)), True),
        (Rating(SEGMENT, None, (MINOR,)), False),
        (Rating(SEGMENT, None, (ErrorSpan(0, 3, None),)), False),
        (Rating(SEGMENT, None, (), unplaced=(UnplacedError(Severity.MAJOR),)), False),
        (Rating(SEGMENT, None, (), overall=ESA85), True),
        (Rating(SEGMENT, None, (), overall=ESA84), False),
        (Rating(SEGMENT, None, (), overall=DA90), True),
        (Rating(SEGMENT, None, (MINOR,), overall=DA90), False),
        (Rating(SEGMENT, None, (), overall=Overall(-1.5, "z")), True),
    ],
)
def test_gold_labels(rating: Rating, label: bool | None) -> None:
    assert error_free_agreement.gold_label(rating) is label


def pairs(*cells: tuple[bool, bool | None, bool]) -> tuple[list[Rating], list[Rating]]:
    """Returns gold and predicted ratings; a cell is whether it is free of errors, the decision, and whether marked."""
    gold = []
    predicted = []
    for index, (is_free, decision, is_marked) in enumerate(cells):
        segment = Segment("Das Haus", "The house", key=SegmentKey(index=index))
        gold.append(Rating(segment, None, () if is_free else (MINOR,)))
        decided = None if decision is None else ErrorFree(decision, 0.5)
        predicted.append(Rating(segment, "m", (MINOR,) if is_marked else (), error_free=decided))
    return gold, predicted


def test_figures_agree_with_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(1)
    cells = [(bool(a), bool(b), bool(c)) for a, b, c in rng.integers(0, 2, (40, 3))]
    figures = matese.evaluate(*pairs(*cells)).figures
    golds, decided, marked = zip(*cells, strict=True)
    for name, labels in (("error_free", decided), ("error_free.unmarked", [not one for one in marked])):
        assert figures[f"{name}.mcc"].value == pytest.approx(metrics.matthews_corrcoef(golds, labels))
        assert figures[f"{name}.precision"].value == pytest.approx(metrics.precision_score(golds, labels))
        assert figures[f"{name}.recall"].value == pytest.approx(metrics.recall_score(golds, labels))
        assert figures[f"{name}.f1"].value == pytest.approx(metrics.f1_score(golds, labels))


@pytest.mark.parametrize(
    ("cells", "mcc"),
    [
        ([(True, True, False), (False, False, True)], 1.0),
        ([(True, False, False), (False, True, True)], -1.0),
        ([(True, True, False), (False, True, True)], 0.0),
        ([(True, True, False)], 0.0),
        ([(True, True, False), (False, None, True)], None),
    ],
)
def test_figures_need_a_decision_for_each_segment(cells: list[tuple[bool, bool | None, bool]], mcc: float) -> None:
    figures = matese.evaluate(*pairs(*cells)).figures
    found = figures.get("error_free.mcc")
    assert (found and found.value) == mcc


def test_predicted_scores_as_decisions_at_every_threshold() -> None:
    gold, predicted = pairs((True, None, False), (False, None, False), (False, None, True))
    assert matese.evaluate(gold, predicted).pass_curves == {}
    (curve,) = matese.evaluate(gold, predicted, figures=matese.SpanFigures(good=0)).pass_curves.values()
    assert [(one.threshold, one.precision, one.recall) for one in curve] == [(0, 0.5, 1), (-1, pytest.approx(1 / 3), 1)]
