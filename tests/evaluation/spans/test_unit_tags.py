from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matese.evaluation.spans import unit_tags
from matese.evaluation.spans.unit_tags import UnitTags
from matese.evaluation.statistics import bootstrap
from tests.evaluation.material import NAMES

O, B_MINOR, I_MINOR, B_MAJOR, I_MAJOR = range(5)  # noqa: E741

tag_rows = st.integers(0, 8).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 4), min_size=n, max_size=n), st.lists(st.integers(0, 4), min_size=n, max_size=n)
    )
)
segments = st.lists(tag_rows, min_size=1, max_size=5)


def figures(one: bootstrap.AdditiveStatistic) -> dict[str, float]:
    return {name: float(values[0]) for name, values in one.figures(bootstrap.whole_sample(len(one.table))).items()}


@settings(deadline=None)  # the first call loads a library
@given(segments.filter(lambda given_segments: any(gold for gold, _ in given_segments)))
def test_as_torchmetrics_has_them(given_segments: list[UnitTags]) -> None:
    import torch
    from torchmetrics.functional import classification

    gold = torch.tensor([tag for one in given_segments for tag in one[0]])
    predicted = torch.tensor([tag for one in given_segments for tag in one[1]])
    found = figures(unit_tags.tag_statistic(given_segments, NAMES))
    for name, measure in {
        "precision": classification.multiclass_precision,
        "recall": classification.multiclass_recall,
        "f1": classification.multiclass_f1_score,
    }.items():
        macro = measure(predicted, gold, num_classes=5, average="macro")
        each = measure(predicted, gold, num_classes=5, average=None)
        assert found[f"tags.macro.{name}"] == pytest.approx(float(macro), abs=1e-6)
        # Of a tag that neither side has, torchmetrics has 0.
        is_there = [bool(((gold == tag) | (predicted == tag)).any()) for tag in range(5)]
        expected = [one if there else np.nan for one, there in zip(each.tolist(), is_there, strict=True)]
        assert [found[f"tags.{tag}.{name}"] for tag in NAMES] == pytest.approx(expected, abs=1e-6, nan_ok=True)
    matthews = classification.multiclass_matthews_corrcoef(predicted, gold, num_classes=5)
    assert found["tags.mcc"] == pytest.approx(float(matthews), abs=1e-5)
    matrix = classification.multiclass_confusion_matrix(predicted, gold, num_classes=5)
    assert sum(unit_tags.confusion(one, 5) for one in given_segments).tolist() == matrix.tolist()  # type: ignore[union-attr]


@settings(deadline=None)  # the first call loads a library
@given(segments)
def test_exact_spans_as_seqeval_has_them(given_segments: list[UnitTags]) -> None:
    from seqeval.metrics import classification_report
    from seqeval.scheme import IOB2

    named = [[[NAMES[tag] for tag in side] for side in (one[0], one[1])] for one in given_segments]
    found = figures(unit_tags.exact_statistic(given_segments, NAMES))
    # seqeval refuses a corpus without any span; in ours, nothing is defined there.
    golds, predictions = ([sides[side] for sides in named] for side in (0, 1))
    if not any(tag.startswith("B") for sides in named for side in sides for tag in side):
        assert np.isnan(list(found.values())).all()
        return
    report = classification_report(golds, predictions, mode="strict", scheme=IOB2, output_dict=True, zero_division=0)
    empty = {"precision": np.nan, "recall": np.nan, "f1-score": np.nan}
    for name, key in (("micro avg", "exact"), ("Minor", "exact.minor"), ("Major", "exact.major")):
        expected = report.get(name, empty)
        ours = [found[f"{key}.{rate}"] for rate in ("precision", "recall", "f1")]
        assert ours == pytest.approx([expected[rate] for rate in ("precision", "recall", "f1-score")], nan_ok=True)


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ([], []),
        ([O, O], []),
        ([B_MINOR], [(0, 1, "minor")]),
        ([B_MAJOR, I_MAJOR, I_MAJOR], [(0, 3, "major")]),
        ([B_MINOR, B_MINOR], [(0, 1, "minor"), (1, 2, "minor")]),
        ([I_MINOR, I_MINOR], []),
        ([B_MINOR, I_MAJOR, I_MINOR], [(0, 1, "minor")]),
        ([B_MINOR, O, I_MINOR], [(0, 1, "minor")]),
    ],
)
def test_spans_of_tags(tags: list[int], expected: list[tuple[int, int, str]]) -> None:
    found = unit_tags.to_spans(tags, NAMES)
    assert [(span.start, span.end, str(span.severity and span.severity.value)) for span in found] == expected


def test_hits_on_units() -> None:
    found = figures(unit_tags.hit_statistic([([B_MINOR, I_MINOR, O, B_MAJOR], [O, B_MAJOR, O, O])], NAMES))
    assert found == {"tags.hsh": 1.0, "tags.tsh": 0.5}


def test_hits_of_a_side_without_spans_are_undefined() -> None:
    found = figures(unit_tags.hit_statistic([([B_MINOR], [O])], NAMES))
    assert np.isnan(found["tags.hsh"])
    assert found["tags.tsh"] == 0.0
