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


def rating(*omissions: Omission, errors: tuple[ErrorSpan, ...] | None = (), **fields: object) -> Rating:
    return Rating(SEGMENT, "one", errors, omissions=omissions, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rated", "reference", "expected"),
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
def test_what_a_rating_says_about_omissions(rated: Rating, reference: int | None, expected: list[int] | None) -> None:
    labels = omission_labels(rated, reference, TOKENS)
    assert (None if labels is None else labels.tolist()) == expected


UNPLACED = UnplacedError(MAJOR)


@pytest.mark.parametrize(
    ("errors", "unplaced", "tokens", "segment"),
    [
        ((), (), [0, 0], 0),
        ((ErrorSpan(0, 1, MAJOR),), (), [1, 0], 1),
        ((), (UNPLACED,), [IGNORED, IGNORED], 1),
        ((ErrorSpan(0, 1, MAJOR),), (UNPLACED,), [1, IGNORED], 1),
        (None, (), [IGNORED, IGNORED], math.nan),
    ],
)
def test_every_error_is_one_of_meaning(
    errors: tuple[ErrorSpan, ...] | None, unplaced: tuple[UnplacedError, ...], tokens: list[int], segment: float
) -> None:
    rated = Rating(Segment("a b"), "contrasts", errors, unplaced=unplaced)
    read = Tokens(np.zeros(2, np.int32), np.array([[0, 1], [2, 3]], np.int32))
    of_tokens, of_segment = meaning_labels(rated, read)
    assert of_tokens.tolist() == tokens
    assert of_segment == pytest.approx(segment, nan_ok=True)


@pytest.mark.parametrize(("unplaced", "expected"), [((), [B_MAJOR, 0]), ((UNPLACED,), [IGNORED, IGNORED])])
def test_errors_with_a_place_teach_the_tags(unplaced: tuple[UnplacedError, ...], expected: list[int]) -> None:
    errors = () if unplaced else (ErrorSpan(0, 1, MAJOR),)
    rated = Rating(Segment("a b"), "r", errors, unplaced=unplaced)
    read = Tokens(np.zeros(2, np.int32), np.array([[0, 1], [2, 3]], np.int32))
    tags, *_ = registry.targets(make_config())
    columns = tags.columns([rated], {"a b": read}, Counter())
    labels = columns["tag_ids"]
    assert isinstance(labels, Ragged)
    assert labels[0].tolist() == expected
