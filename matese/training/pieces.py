"""Ratings of texts of several sentences, cut into ratings of their pieces, as a model reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from matese.annotation import ErrorSpan, Omission, Rating, Segment
from matese.text import alignment
from matese.text.ranges import Range

_Placed = TypeVar("_Placed", ErrorSpan, Omission)


def cut(rating: Rating) -> Iterator[Rating]:
    """Yields a rating of each piece that has a counterpart in the source or a reference, with the errors in it.

    A piece has no judgement of the whole segment: its score follows from its errors. None follow from a rating without
    spans, or with an error without a place, which might be in any of the pieces.
    """
    segment = rating.segment
    if rating.errors is None or rating.unplaced:
        return
    of_source = {} if segment.source is None else _counterparts(segment.hypothesis, segment.source)
    of_references = [_counterparts(segment.hypothesis, reference) for reference in segment.references]
    for place in sorted({place for counterparts in (of_source, *of_references) for place in counterparts}):
        source = of_source.get(place)
        references = [(number, of_one[place]) for number, of_one in enumerate(of_references) if place in of_one]
        yield Rating(
            Segment(
                segment.hypothesis[slice(*place)],
                None if source is None else (segment.source or "")[slice(*source)],
                tuple([segment.references[number][slice(*part)] for number, part in references]),
                segment.key,
            ),
            rating.rater,
            tuple(_within(rating.errors, place)),
            source_errors=() if source is None else tuple(_within(rating.source_errors, source)),
            omissions=(
                *(omission for omission in _within(rating.omissions, source or (0, 0)) if omission.reference is None),
                *(
                    replace(omission, reference=new)
                    for new, (number, part) in enumerate(references)
                    for omission in _within(rating.omissions, part)
                    if omission.reference == number
                ),
            ),
        )


def _counterparts(hypothesis: str, context: str) -> Mapping[Range, Range]:
    """Returns the pieces of a hypothesis, each with its counterpart; none if there is only one piece."""
    pieces = alignment.pieces(hypothesis, context)
    return {piece.hypothesis: piece.other for piece in pieces if piece.is_paired} if len(pieces) > 1 else {}


def _within(errors: Iterable[_Placed], place: Range) -> Iterator[_Placed]:
    """Yields what of the errors is in a part of a text, with places in that part."""
    first, end = place
    for error in errors:
        if error.start < end and first < error.end:
            yield replace(error, start=max(error.start, first) - first, end=min(error.end, end) - first)
