from __future__ import annotations

import pytest

from matese.annotation import Rating, Segment
from matese.errors import InputError
from matese.evaluation.metrics import lexical_metrics
from matese.evaluation.systems import differences
from matese.evaluation.systems.differences import MetricComparison
from matese.evaluation.systems.sampling import Sampling

CHRF = lexical_metrics.of_sacrebleu("chrf")
SAMPLING = Sampling(bootstrap=20, permutations=20, seed=3)
REFERENCES = ("It rains.", "Come in.", "Go.")
SYSTEMS = {"old": ("It rain.", "Come.", "Go on."), "new": ("It rains.", "In.", "On.")}


def compare(references: dict[str, tuple[str | None, ...]]) -> MetricComparison:
    ratings = {
        system: [
            Rating(Segment(text, None, () if reference is None else (reference,)), None, ())
            for text, reference in zip(texts, references[system], strict=True)
            if reference != "left out"
        ]
        for system, texts in SYSTEMS.items()
    }
    return differences.compare_metrics(ratings, [CHRF], SAMPLING, [("old", "new")])["chrF"]


def test_segments_without_a_reference_are_left_out_and_counted() -> None:
    both = ("It rains.", "left out", "Go.")
    expected = compare({"old": both, "new": both})
    for missing in (None, "", " \ufeff"):
        made = compare(dict.fromkeys(SYSTEMS, ("It rains.", missing, "Go.")))
        assert (made.scores, made.differences) == (expected.scores, expected.differences)
        assert (made.n_left_out, expected.n_left_out) == (1, 0)


def test_blank_references_are_those_of_another_system() -> None:
    made = compare({"old": ("", None, " "), "new": REFERENCES})
    assert made == compare({"old": REFERENCES, "new": REFERENCES})


@pytest.mark.parametrize("references", [("", None, " "), ("", None, "Go.")])
def test_too_few_segments_with_references(references: tuple[str | None, ...]) -> None:
    with pytest.raises(InputError):
        compare({"old": references, "new": references})
