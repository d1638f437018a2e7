"""Ratings side by side: which belong to which system, which are of the same segment, and whether their models agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from matese.annotation import Rating, Segment, SegmentKey
from matese.errors import InputError, counted, shortened

_PLACE = ("test_set", "lang_pair", "document", "index")
StatedPlace = tuple[object, ...]
"""What all keys state of where a segment stands."""
Mismatch = tuple[str, object, object]
"""The name and both values of what two segments differ in."""


def by_system(collections: Mapping[str, Sequence[Rating]]) -> dict[str, tuple[Rating, ...]]:
    """Returns the ratings of each system, in their order, from collections by a name such as that of their file.

    A system is named by its ratings' keys, or else by the collection. If two collections have a system of the same
    name, the name of the collection tells them apart.
    """
    systems: list[tuple[str, str, list[Rating]]] = []  # with both names
    for collection, ratings in collections.items():
        by_name: dict[str, list[Rating]] = {}
        for rating in ratings:
            key = rating.segment.key
            by_name.setdefault((key and key.system) or collection, []).append(rating)
        for name, of_system in by_name.items():
            systems.append((name, collection if len(by_name) == 1 else f"{collection}: {name}", of_system))
    counts = Counter(name for name, *_ in systems)
    return {name if counts[name] == 1 else longer: tuple(of_system) for name, longer, of_system in systems}


def align(systems: Mapping[str, Sequence[Rating]]) -> dict[str, tuple[Rating, ...]]:
    """Returns the ratings of each system in the order of the first system's segments; see `match`.

    Two segments are the same if nothing that both state differs: place, source, references.

    Raises:
        InputError: if there is only one system, or the systems do not rate the same segments.
    """
    if len(systems) < 2:
        problem = f"{', '.join(systems)} is the only system; a comparison needs two or more"
        raise InputError(f"{problem}: mark the translations of each with matese tag --system NAME, and give both files")
    (first_name, first), *other_systems = systems.items()
    matched = {name: match(first, ratings, (first_name, name), _difference, _PLACE) for name, ratings in other_systems}
    return {first_name: tuple(first), **matched}


def match(
    first: Sequence[Rating],
    second: Sequence[Rating],
    names: tuple[str, str],
    difference: Callable[[Rating, Rating], Mismatch | None],
    place: Sequence[str] = (*_PLACE, "system"),
) -> tuple[Rating, ...]:
    """Returns the second ratings in the order of the first.

    Rating i of each is of the same segment; or else ratings are matched by what all keys state.

    Args:
        first: ratings, one per segment.
        second: ratings of the same segments.
        names: of the two sides, for messages.
        difference: returns what two segments differ in; None if they can be the same.
        place: fields of the keys that name a segment.

    Raises:
        InputError: if they are not of the same segments.
    """
    sides = (first, second)
    first_places, second_places = places_of(sides, place) or (
        [(number,) for number in range(len(side))] for side in sides
    )
    if len(first) != len(second):
        both = f"{names[0]} has {counted(len(first), 'rating')} and {names[1]} {len(second):,}"
        n_first = Counter(first_places)
        n_second = Counter(second_places)
        every = zip((*first, *second), (*first_places, *second_places), strict=True)
        segment, at = next((rating.segment, at) for rating, at in every if n_first[at] != n_second[at])
        numbers = f"{n_first[at]} in {names[0]} and {n_second[at]} in {names[1]}"
        raise InputError(f"{both}; both need one for each segment ({describe_segment(segment)}: {numbers})")
    ordered = tuple(second)
    is_unique = len({*first_places}) == len(first_places)
    if any(map(difference, first, second)) and is_unique and {*first_places} == {*second_places}:
        by_place = dict(zip(second_places, second, strict=True))
        ordered = tuple(by_place[at] for at in first_places)
    for number, mismatch in enumerate(map(difference, first, ordered), start=1):
        if mismatch:
            field, first_value, second_value = mismatch
            raise InputError(
                f"rating {number} is of different segments: {field} is {shortened(first_value)} in {names[0]} and "
                f"{shortened(second_value)} in {names[1]}: rating i of each must be of the same segment"
            )
    return ordered


def places_of(
    sides: Sequence[Sequence[Rating]], place: Sequence[str] = (*_PLACE, "system")
) -> list[list[StatedPlace]] | None:
    """Returns what all keys state of the place of each rating, by side; None if a key lacks the segment's number.

    Args:
        sides: ratings of the same segments.
        place: fields of the keys that name a segment.
    """
    keys = [rating.segment.key for side in sides for rating in side]
    stated = [name for name in place if all(getattr(key, name, None) is not None for key in keys)]
    if "index" not in stated:
        return None
    return [[tuple(getattr(rating.segment.key, name) for name in stated) for rating in side] for side in sides]


def common(sides: Sequence[Sequence[Rating]]) -> list[list[int]]:
    """Returns for each side which of its ratings are of segments that all sides have, in the order of the first side.

    Segments are the same if all keys state the same place, or else, if they have the same hypothesis; of equal
    hypotheses of one rater, the first of each side are of one segment, and so are the second, and so on.

    Raises:
        InputError: if no segment is common to all.

    >>> from matese.annotation import Segment
    >>> sides = [[Rating(Segment(text), None, ()) for text in texts] for texts in ("abc", "cxa")]
    >>> common(sides)
    [[0, 2], [2, 0]]
    """
    places = places_of(sides) or [_numbered(side) for side in sides]
    shared = set.intersection(*map(set, places))
    if not shared:
        raise InputError("no segment is common to all files: they must have segments of the same place or text")
    order: dict[StatedPlace, int] = {}
    for number, place in enumerate(places[0]):
        order.setdefault(place, number)
    return [
        sorted((number for number, place in enumerate(side) if place in shared), key=lambda number: order[side[number]])
        for side in places
    ]


def _numbered(ratings: Sequence[Rating]) -> list[StatedPlace]:
    """Returns the hypothesis of each rating with the number of equal ones of its rater before it."""
    counts: Counter[tuple[str, str | None]] = Counter()
    numbered: list[StatedPlace] = []
    for rating in ratings:
        text = rating.segment.hypothesis
        numbered.append((text, counts[text, rating.rater]))
        counts[text, rating.rater] += 1
    return numbered


def describe_segment(segment: Segment) -> str:
    """Returns the name of a segment in messages.

    >>> describe_segment(Segment("Hallo", key=SegmentKey(system="online-A", index=4)))
    "segment 5 of online-A ('Hallo')"
    """
    key = segment.key or SegmentKey()
    place = " ".join(name for name in (key.test_set, key.lang_pair, key.system) if name is not None)
    return f"{segment.label or 'segment'}{f' of {place}' if place else ''} ({shortened(segment.hypothesis)})"


def signature_difference(systems: Mapping[str, Iterable[Rating]]) -> str:
    """Returns how the signatures of the systems' models differ, as one sentence; "" if they do not.

    Ratings of humans have no signature. Fields are compared as sets of their values, since the texts of a segment
    decide which of them are read. Weights do not matter, as all ratings are scored again with the same ones.

    >>> from matese.annotation import Segment
    >>> raters = {"a": "matese|model:mini@1|precision:bf16", "b": "matese|model:mini@1|precision:float32"}
    >>> signature_difference({name: [Rating(Segment("h"), rater, ())] for name, rater in raters.items()})
    'signatures differ in precision (a: bf16; b: float32): the scores may not be comparable'
    """
    stated: dict[str, dict[str, set[str]]] = {}  # the values of each field, by system
    for system, ratings in systems.items():
        for rater in dict.fromkeys(rating.rater for rating in ratings):
            maker, *fields = (rater or "").split("|")
            for field in fields if maker == "matese" else ():
                name, _, value = field.partition(":")
                stated.setdefault(name, {}).setdefault(system, set()).add(value)
    parts = []
    for name, of_systems in stated.items():
        values = {system: " and ".join(sorted(of_systems.get(system, {"none"}))) for system in systems}
        if name != "weights" and len(set(values.values())) > 1:
            parts.append(f"{name} ({'; '.join(f'{system}: {value}' for system, value in values.items())})")
    return f"signatures differ in {', '.join(parts)}: the scores may not be comparable" if parts else ""


def _difference(first: Rating, second: Rating) -> Mismatch | None:
    left = first.segment
    right = second.segment
    if None not in (left.source, right.source) and left.source != right.source:
        return "source", left.source, right.source
    if left.references and right.references and left.references != right.references:
        return "reference", left.references[0], right.references[0]
    places = [(name, getattr(left.key, name, None), getattr(right.key, name, None)) for name in _PLACE]
    return next((place for place in places if None not in place and place[1] != place[2]), None)
