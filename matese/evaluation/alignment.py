"""Ratings side by side: which belong to which system, and which are of the same segment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from matese.annotation import Rating, Segment, SegmentKey
from matese.errors import InputError, shortened

_PLACE = ("test_set", "lang_pair", "document", "index")
Difference = tuple[str, object, object]
"""The name and both values of what two segments differ in."""


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
    """Returns the ratings of each system in the order of the first system's segments; see `match`.

    Two segments are the same if nothing that both state differs: place, source, references.

    Raises:
        InputError: if there is only one system, or the systems do not rate the same segments.
    """
    if len(systems) < 2:
        raise InputError(f"{', '.join(systems)} is the only system; a comparison needs two or more")
    (name, first), *others = systems.items()
    matched = {other: match(first, own, (name, other), _difference, _PLACE) for other, own in others}
    return {name: tuple(first), **matched}


def match(
    first: Sequence[Rating],
    second: Sequence[Rating],
    names: tuple[str, str],
    difference: Callable[[Rating, Rating], Difference | None],
    place: Sequence[str] = (*_PLACE, "system"),
) -> tuple[Rating, ...]:
    """Returns the second ratings in the order of the first.

    Rating i of each is of the same segment; or else ratings are matched by what all keys state.

    Args:
        first: ratings, one per segment.
        second: ratings of the same segments.
        names: of both in messages.
        difference: returns what two segments differ in; None if they can be the same.
        place: fields of the keys that name a segment.

    Raises:
        InputError: if they are not of the same segments.
    """
    every = (*first, *second)
    stated = [name for name in place if all(getattr(one.segment.key, name, None) is not None for one in every)]
    places, others = (
        [tuple(getattr(one.segment.key, name) for name in stated) if "index" in stated else (at,) for at, one in own]
        for own in map(enumerate, (first, second))
    )
    if len(first) != len(second):
        uneven = _first_uneven(names, every, (places, others))
        counts = f"{names[0]} has {len(first):,} ratings and {names[1]} {len(second):,}"
        raise InputError(f"{counts}: must be one for each segment{uneven}")
    ordered = tuple(second)
    if any(map(difference, first, second)) and len({*places}) == len(places) and {*places} == {*others}:
        found = dict(zip(others, second, strict=True))
        ordered = tuple(found[one] for one in places)
    for number, (one, two) in enumerate(zip(first, ordered, strict=True), start=1):
        if differing := difference(one, two):
            field, own, other = differing
            raise InputError(
                f"rating {number} is of different segments: {field} is {shortened(own)} in {names[0]} and "
                f"{shortened(other)} in {names[1]}: rating i of each must be of the same segment"
            )
    return ordered


def describe_segment(segment: Segment) -> str:
    """Returns the name of a segment in messages.

    >>> describe_segment(Segment("Hallo", key=SegmentKey(system="online-A", index=4)))
    "segment 4 of online-A ('Hallo')"
    """
    key = segment.key or SegmentKey()
    number = "segment" if key.index is None else f"segment {key.index}"
    place = " ".join(name for name in (key.test_set, key.lang_pair, key.system) if name is not None)
    return f"{number}{f' of {place}' if place else ''} ({shortened(segment.hypothesis)})"


def _first_uneven(
    names: tuple[str, str], ratings: Sequence[Rating], places: Sequence[Sequence[tuple[object, ...]]]
) -> str:
    """Returns what names the first segment with more ratings on one side; "" if there is none.

    Args:
        names: of the two sides.
        ratings: of the first side and then the second.
        places: of the ratings of each side.
    """
    counts = [Counter(own) for own in places]
    for rating, place in zip(ratings, (*places[0], *places[1]), strict=True):
        numbers = [f"{own[place]} in {name}" for own, name in zip(counts, names, strict=True)]
        if counts[0][place] != counts[1][place]:
            return f" ({describe_segment(rating.segment)}: {' and '.join(numbers)})"
    return ""


def _difference(one: Rating, two: Rating) -> Difference | None:
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
