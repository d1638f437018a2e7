"""Marks for a file that has none, so that a reader corrects marks instead of making all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from matese.annotation import Rating, Segment


def is_unmarked(systems: Mapping[str, Sequence[Rating]]) -> bool:
    """Whether no translation of a file has marks or a judgement."""
    return all(
        rating.errors is None and rating.whole is None and not rating.all_errors
        for ratings in systems.values()
        for rating in ratings
    )


def of_file(systems: Mapping[str, Sequence[Rating]], file: str) -> dict[str, list[Rating]]:
    """Returns the ratings with segments that name their file."""
    return {
        name: [replace(rating, segment=replace(rating.segment, file=file)) for rating in ratings]
        for name, ratings in systems.items()
    }


def readable(systems: Mapping[str, Sequence[Rating]], can_read: Callable[[Segment], bool]) -> list[Rating]:
    """Returns the ratings whose texts the model can read, in their order."""
    return [rating for ratings in systems.values() for rating in ratings if can_read(rating.segment)]


def with_marks(
    systems: Mapping[str, Sequence[Rating]], marked: Iterable[Rating], can_read: Callable[[Segment], bool]
) -> dict[str, list[Rating]]:
    """Returns the file with marks in place of the ratings that `readable` returned; the others stay as they are."""
    marks = iter(marked)
    return {
        name: [next(marks) if can_read(rating.segment) else rating for rating in ratings]
        for name, ratings in systems.items()
    }
