"""Soft labels: a teacher's probabilities for a student's tokens, in the losses, and in what a student learns."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from matese.annotation import ErrorSpan, Rating, Segment, Severity, TokenScores
from matese.encoder.encoding import Tokens
from matese.formats.tables import jsonl
from matese.tagger.batch import IGNORED
from matese.tagger.judgement import Labels
from matese.training import labels, losses, soft_labels
from matese.training.reading import read
from matese.training.soft_labels import SoftRating

MINOR, MAJOR, CRITICAL = Severity.MINOR, Severity.MAJOR, Severity.CRITICAL
# "Das alte Haus": a teacher with the tokens Das, alte, Haus.
TEACHER = TokenScores(((0, 3), (4, 8), (9, 13)), ((0.9, 0.1, 0, 0, 0), (0.2, 0.1, 0.1, 0.6, 0), (0.4, 0, 0, 0.1, 0.5)))
RATING = soft_labels.soften(
    Rating(Segment("Das alte Haus", None, ("Das Haus",)), "t", (ErrorSpan(4, 13, MAJOR),)), TEACHER
)


def tokens(*ranges: tuple[int, int]) -> Tokens:
    return Tokens(np.arange(len(ranges), dtype=np.int32), np.array(ranges, np.int32))


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (TEACHER.ranges, TEACHER.probabilities),
        # The second half of "alte" continues what its first half begins.
        (((4, 6), (6, 8)), [(0.2, 0.1, 0.1, 0.6, 0), (0.2, 0, 0.2, 0, 0.6)]),
        # A token of two of the teacher's: the mean by characters (3 of 7), which may begin where the first one does.
        (((0, 8),), [((3 * 0.9 + 4 * 0.2) / 7, (3 * 0.1 + 4 * 0.2) / 7, 0, 0, 4 * 0.6 / 7)]),
        # Bytes of one character: only the first may begin an error. White space has no characters.
        (((4, 8), (4, 8), (8, 8)), [(0.2, 0.1, 0.1, 0.6, 0), (0.2, 0, 0.2, 0, 0.6), (math.nan,) * 5]),
    ],
)
def test_probabilities_for_other_tokens(own: tuple[tuple[int, int], ...], expected: list[tuple[float, ...]]) -> None:
    np.testing.assert_allclose(soft_labels.of_tags(RATING, tokens(*own)), np.array(expected), atol=1e-6)


def test_no_tokens_are_unknown() -> None:
    empty = soft_labels.soften(Rating(Segment("Das"), "t", ()), TokenScores((), ()))
    assert np.isnan(soft_labels.of_tags(empty, tokens((0, 3)))).all()


@pytest.mark.parametrize(
    ("severities", "expected"),
    [((MINOR, MAJOR), (0.2, 0.2, 0.6)), ((MAJOR, MINOR), (0.2, 0.6, 0.2)), ((MAJOR,), (0.2, 0.8))],
)
def test_probabilities_of_severities(severities: tuple[Severity, ...], expected: tuple[float, ...]) -> None:
    learned = labels.of_regression(severities)
    assert learned.soft is not None
    np.testing.assert_allclose(learned.soft(RATING, tokens((4, 8)))[0], expected, atol=1e-6)


def test_other_severities_are_learned_from_spans() -> None:
    assert labels.of_regression((MINOR, MAJOR, CRITICAL)).soft is None
    assert labels.of_regression(()).soft is None


def test_labels_as_tags() -> None:
    given = np.array([[1, 0, 0, 0], [0.1, 0.1, 0.3, 0.5], [0.3, 0.1, 0.6, 0], [0.4, 0.5, 0.1, 0]])
    made = soft_labels.to_tags(Labels(np.array([(0, 0), (0, 3), (4, 8), (9, 13)]), given), (MINOR, MAJOR, CRITICAL))
    expected = [(1, 0, 0, 0, 0), (0.1, 0.1, 0, 0.8, 0), (0.3, 0.1, 0, 0, 0.6), (0.4, 0.5, 0, 0, 0.1)]
    np.testing.assert_allclose(made.probabilities, expected, atol=1e-6)
    assert made.ranges[-1] == (9, 13)


def test_lines_with_tokens_are_soft(tmp_path: Path) -> None:
    hard = Rating(Segment("Das"), "t", ())
    path = tmp_path / "train.jsonl"
    path.write_text(f"{jsonl.dumps(RATING, tokens=TEACHER)}\n{jsonl.dumps(hard)}\n", encoding="utf-8")
    first, second = read([path], is_soft=True)
    assert isinstance(first, SoftRating)
    assert (first.tokens, first.errors, second) == (TEACHER, RATING.errors, hard)
    assert not any(isinstance(one, SoftRating) for one in read([path]))


def test_losses_with_probabilities_of_one_are_those_of_labels() -> None:
    torch.manual_seed(3)
    logits, ids = torch.randn(2, 4, 5), torch.tensor([[0, 3, 4, IGNORED], [1, -1, 0, IGNORED]])
    soft = functional.one_hot(ids.clamp(min=0), 5).float()
    soft[1] = math.nan  # the second segment has labels only
    torch.testing.assert_close(losses.tags(logits, ids, soft), losses.tags(logits, ids))
    labelled, weights = ids.clamp(min=IGNORED).masked_fill(ids == -1, 2), torch.tensor([0.1, 1, 1, 2, 2])
    expected = losses.labels(logits, labelled, weights)
    torch.testing.assert_close(losses.labels(logits, labelled, weights, soft), expected)


def test_the_loss_is_least_at_the_probabilities() -> None:
    soft = torch.tensor([[[0.2, 0.1, 0.1, 0.6, 0.0001]]])
    soft = soft / soft.sum()
    ids = torch.tensor([[3]])
    best = losses.tags(soft.log(), ids, soft)
    torch.testing.assert_close(best, -(soft * soft.log()).sum())
    assert losses.tags(torch.tensor([[[0.0, 0, 0, 9, 0]]]), ids, soft) > best
