"""Marks for a file that has none, so that a reader corrects marks instead of making all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from matese.annotation import Rating

if TYPE_CHECKING:
    from matese.model.annotator import Annotator


def is_unmarked(systems: Mapping[str, Sequence[Rating]]) -> bool:
    """Whether no translation of a file has marks or a judgement."""
    return all(
        rating.errors is None and rating.whole is None and not rating.all_errors
        for ratings in systems.values()
        for rating in ratings
    )


def readable(systems: Mapping[str, Sequence[Rating]], annotator: Annotator) -> list[Rating]:
    """Returns the ratings whose texts the model can read, in their order."""
    return [rating for ratings in systems.values() for rating in ratings if annotator.can_read(rating.segment)]


def with_marks(
    systems: Mapping[str, Sequence[Rating]], marked: Iterable[Rating], annotator: Annotator
) -> dict[str, list[Rating]]:
    """Returns the file with marks in place of the ratings that `readable` returned; the others stay as they are."""
    found = iter(marked)
    return {
        name: [next(found) if annotator.can_read(rating.segment) else rating for rating in ratings]
        for name, ratings in systems.items()
    }
