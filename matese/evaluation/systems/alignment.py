"""Ratings of several systems side by side: which ratings belong to which system, and which rate the same segment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from matese.annotation import Rating, SegmentKey
from matese.errors import InputError, shortened
from matese.evaluation.spans.rating_pairs import describe_segment

_PLACE = ("test_set", "lang_pair", "document", "index")


def by_system(collections: Mapping[str, Sequence[Rating]]) -> dict[str, tuple[Rating, ...]]:
    """Returns the ratings of each system, in their order.

    A system is named by its ratings' keys, or else by the collection. If two collections have a system of the same
    name, the name of the collection tells them apart.

    Args:
        collections: ratings, of one system or several, by a name such as that of their file.
    """
    found: list[tuple[str, str, list[Rating]]] = []
    for collection, ratings in collections.items():
        own: dict[str, list[Rating]] = {}
        for rating in ratings:
            key = rating.segment.key
            own.setdefault((key and key.system) or collection, []).append(rating)
        found += [(name, collection if len(own) == 1 else f"{collection}: {name}", one) for name, one in own.items()]
    counts = Counter(name for name, *_ in found)
    return {name if counts[name] == 1 else longer: tuple(own) for name, longer, own in found}


def align(systems: Mapping[str, Sequence[Rating]]) -> dict[str, tuple[Rating, ...]]:
    """Returns the ratings of each system in the order of the first system's segments.

    Rating i of each system rates the same segment. If the segments differ in this order, ratings are matched by their
    keys without the system. Two segments are the same if nothing that both state differs: place, source, references.

    Raises:
        InputError: if there is only one system, or the systems do not rate the same segments.
    """
    if len(systems) < 2:
        raise InputError(f"{', '.join(systems)} is the only system; a comparison needs two or more")
    (name, first), *others = systems.items()
    return {name: tuple(first), **{other: _matched(name, first, other, own) for other, own in others}}


def _matched(name: str, first: Sequence[Rating], other: str, ratings: Sequence[Rating]) -> tuple[Rating, ...]:
    if len(first) != len(ratings):
        (lacking, fewer), (_, more) = sorted([(name, first), (other, ratings)], key=lambda one: len(one[1]))
        known = {_place(rating) for rating in fewer}
        missing = next((one for one in more if _place(one) not in known), more[len(fewer)])
        counts = f"{name} has {len(first):,} ratings and {other} {len(ratings):,}"
        raise InputError(
            f"{counts}: must be one for each segment, but {lacking} has none of {describe_segment(missing.segment)}"
        )
    ordered = ratings
    if any(map(_difference, first, ratings)):
        ordered = _in_order_of(first, ratings) or ratings
    for number, (one, two) in enumerate(zip(first, ordered, strict=True), start=1):
        if difference := _difference(one, two):
            field, own, others = difference
            raise InputError(
                f"rating {number} is of different segments: {field} is {shortened(own)} in {name} and "
                f"{shortened(others)} in {other}: rating i of each must be of the same segment"
            )
    return tuple(ordered)


def _difference(one: Rating, two: Rating) -> tuple[str, object, object] | None:
    """Returns the name and both values of what differs; None if the segments can be the same."""
    segment, other = one.segment, two.segment
    if segment.source is not None and other.source is not None and segment.source != other.source:
        return "source", segment.source, other.source
    if segment.references and other.references and segment.references != other.references:
        return "reference", segment.references[0], other.references[0]
    for name in _PLACE:
        own, others = getattr(segment.key, name, None), getattr(other.key, name, None)
        if own is not None and others is not None and own != others:
            return name, own, others
    return None


def _in_order_of(first: Sequence[Rating], ratings: Sequence[Rating]) -> list[Rating] | None:
    """Returns the ratings in the order of the first system's places, None if places do not identify them."""
    found = {_place(rating): rating for rating in ratings}
    wanted = [_place(rating) for rating in first]
    if SegmentKey() in found or len(found) < len(ratings) or set(wanted) != set(found):
        return None
    return [found[place] for place in wanted]


def _place(rating: Rating) -> SegmentKey:
    return replace(rating.segment.key or SegmentKey(), system=None)
