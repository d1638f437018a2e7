from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from matese.annotation import ErrorSpan, Estimate, Omission, Rating, Segment, Severity, UnplacedError
from matese.model.heads import registry
from matese.model.heads.learning import IGNORED, Ragged
from matese.model.heads.meaning.targets import meaning_labels
from matese.model.heads.omissions.targets import omission_labels
from matese.model.heads.tags.bio import B_MAJOR
from matese.model.texts.encoding import Tokens
from tests.conftest import make_config

TOKENS = Tokens(np.arange(3, dtype=np.int32), np.array([(0, 2), (3, 6), (6, 9)], np.int32))
SEGMENT = Segment("Er kommt.", "He comes not", ("Er kommtnicht", "Er kommt nie"))
MAJOR = Severity.MAJOR


def rating(*omissions: Omission, errors: tuple[ErrorSpan, ...] | None = (), **others: object) -> Rating:
    return Rating(SEGMENT, "one", errors, omissions=omissions, **others)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "reference", "expected"),
    [
        (rating(), 0, [0, 0, 0]),
        (rating(), None, [0, 0, 0]),
        (rating(Omission("reference", 0, 4, 7, MAJOR)), 0, [0, 1, 1]),
        (rating(Omission("reference", 0, 4, 7, MAJOR)), 1, None),
        (rating(Omission("source", None, 0, 2, MAJOR)), None, [1, 0, 0]),
        (rating(Omission("source", None, 0, 2, MAJOR)), 0, None),
        (rating(unplaced=(UnplacedError(MAJOR, "Accuracy/Omission"),)), 0, None),
        (rating(errors=(ErrorSpan(0, 2, MAJOR, "Accuracy/Omission"),)), 0, None),
        (rating(errors=(ErrorSpan(0, 2, MAJOR, "Fluency"),)), 0, [0, 0, 0]),
        (rating(errors=None), 0, None),
        (rating(estimate=Estimate(0.5, "0-1")), 0, [0, 0, 0]),
    ],
)
def test_what_a_rating_says_about_omissions(given: Rating, reference: int | None, expected: list[int] | None) -> None:
    found = omission_labels(given, reference, TOKENS)
    assert (None if found is None else found.tolist()) == expected


CONTRAST = frozenset({"contrasts"})
UNPLACED = UnplacedError(MAJOR)


@pytest.mark.parametrize(
    ("rater", "errors", "unplaced", "tokens", "segment"),
    [
        ("contrasts", (), (), [0, 0], 0),
        ("contrasts", (ErrorSpan(0, 1, MAJOR),), (), [1, 0], 1),
        ("contrasts", (), (UNPLACED,), [IGNORED, IGNORED], 1),
        ("contrasts", (ErrorSpan(0, 1, MAJOR),), (UNPLACED,), [1, IGNORED], 1),
        ("rater1", (), (), [0, 0], 0),
        ("rater1", (ErrorSpan(0, 1, MAJOR),), (), [IGNORED, IGNORED], math.nan),
        ("rater1", None, (), [IGNORED, IGNORED], math.nan),
    ],
)
def test_errors_of_meaning_are_learned_from_contrasts(
    rater: str,
    errors: tuple[ErrorSpan, ...] | None,
    unplaced: tuple[UnplacedError, ...],
    tokens: list[int],
    segment: float,
) -> None:
    given = Rating(Segment("a b"), rater, errors, unplaced=unplaced)
    read = Tokens(np.zeros(2, np.int32), np.array([[0, 1], [2, 3]], np.int32))
    of_tokens, of_segment = meaning_labels(given, read, CONTRAST)
    assert of_tokens.tolist() == tokens
    assert of_segment == pytest.approx(segment, nan_ok=True)


@pytest.mark.parametrize(
    ("rater", "unplaced", "expected"),
    [
        ("rater1", (), [B_MAJOR, 0]),
        ("contrasts", (), [B_MAJOR, 0]),
        ("rewordings", (), [IGNORED, IGNORED]),
        ("contrasts", (UNPLACED,), [IGNORED, IGNORED]),
        ("rater1", (UNPLACED,), [IGNORED, IGNORED]),
    ],
)
def test_only_marked_contrasts_and_errors_with_a_place_teach_the_tags(
    rater: str, unplaced: tuple[UnplacedError, ...], expected: list[int]
) -> None:
    errors = () if unplaced else (ErrorSpan(0, 1, MAJOR),)
    given = Rating(Segment("a b"), rater, errors, unplaced=unplaced)
    read = Tokens(np.zeros(2, np.int32), np.array([[0, 1], [2, 3]], np.int32))
    tags, *_ = registry.targets(make_config(), ("contrasts", "rewordings"), ("contrasts",))
    columns = tags.columns([given], {"a b": read}, Counter())
    labels = columns["tag_ids"]
    assert isinstance(labels, Ragged)
    assert labels[0].tolist() == expected
