"""Figures of `evaluate` on whole ratings are those of torchmetrics and seqeval, and Span Hit that of `SpanHit`."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from seqeval.metrics import classification_report
from seqeval.scheme import IOB2
from torchmetrics.classification import MulticlassF1Score, MulticlassPrecision, MulticlassRecall

import matese
from matese.annotation import ErrorSpan, Rating
from matese.evaluation.spans import rating_pairs
from matese.tasks import tag_units
from tests.evaluation.material import NAMES, major, minor, rating

DATA = Path(os.environ.get("MATESE_DATA", "")) / "mqm" / "mqm_newstest2020_ende.tsv.gz"
WORKED: tuple[tuple[str, list[ErrorSpan], list[ErrorSpan]], ...] = (
    ("Zwei Hunde bellten laut.", [minor(0, 10), major(5, 17), minor(18, 24)], [major(5, 10), minor(18, 23)]),
    ("Es regnet.", [], [minor(0, 2)]),
    ("Gut, sehr gut!", [major(0, 3), minor(5, 9)], [major(0, 3), major(5, 13)]),
    ("你好 العالم", [minor(3, 5)], []),
    ("", [], []),
)
"""Text, gold and predicted errors."""


def of_two_raters() -> tuple[list[Rating], list[Rating]]:
    """The first two ratings of 1,000 segments that have the same text."""
    segments = defaultdict(list)
    for one in matese.read(DATA, report=lambda _: None):
        segments[one.segment].append(one)
    several = [raters[:2] for raters in segments.values() if len(raters) > 1][:1000]
    return [first for first, _ in several], [second for _, second in several]


def tags(ratings: Sequence[Rating]) -> list[list[str]]:
    tagging = tag_units.tagging("word")
    marked = (tagging.tag(one.segment.hypothesis, rating_pairs.counted_spans(one)) for one in ratings)
    return [[NAMES[tag] for tag in text] for text in marked]


def test_figures_of_ratings_by_hand() -> None:
    gold = [rating(*errors, text=text) for text, errors, _ in WORKED]
    check(gold, [rating(*errors, text=text) for text, _, errors in WORKED])


@pytest.mark.skipif("MATESE_DATA" not in os.environ, reason="needs the raw ratings")
def test_figures_of_real_ratings() -> None:
    check(*of_two_raters())


def check(gold: Sequence[Rating], predicted: Sequence[Rating]) -> None:
    found = {name: one.value for name, one in matese.evaluate(gold, predicted).figures.items()}
    sides = (tags(gold), tags(predicted))
    target, hypothesis = (torch.tensor([NAMES.index(tag) for text in side for tag in text]) for side in sides)
    macro = {"precision": MulticlassPrecision, "recall": MulticlassRecall, "f1": MulticlassF1Score}
    for name, metric in macro.items():
        expected = metric(num_classes=5, average="macro")(hypothesis, target)
        assert found[f"tags.macro.{name}"] == pytest.approx(float(expected), abs=1e-6)
    report = classification_report(*sides, mode="strict", scheme=IOB2, output_dict=True, zero_division=0)
    exact = [found[f"exact.{rate}"] for rate in ("precision", "recall", "f1")]
    assert exact == pytest.approx([report["micro avg"][rate] for rate in ("precision", "recall", "f1-score")])
    hits = matese.SpanHit()(*([rating_pairs.counted_spans(one) for one in side] for side in (predicted, gold)))
    assert {name: found[name] for name in ("hsh", "tsh")} == pytest.approx(
        {name: float(value) for name, value in hits.items()}
    )
