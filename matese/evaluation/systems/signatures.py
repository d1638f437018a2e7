"""Signatures of models: whether the ratings of several systems were made in the same way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from matese.annotation import Rating
from matese.errors import InputError

_IGNORED = "weights"
"""Ratings are scored again with the same weights."""


def difference(systems: Mapping[str, Iterable[Rating]]) -> str:
    """Returns how the signatures of the systems' models differ, as one sentence; "" if they do not.

    Ratings of humans have no signature. Fields are compared as sets of their values, since the texts of a segment
    decide which of them are read.

    >>> from matese.annotation import Segment
    >>> raters = {"a": "matese|model:mini@1|precision:bf16", "b": "matese|model:mini@1|precision:float32"}
    >>> difference({name: [Rating(Segment("h"), rater, ())] for name, rater in raters.items()})
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
        if name != _IGNORED and len(set(values.values())) > 1:
            parts.append(f"{name} ({'; '.join(f'{system}: {value}' for system, value in values.items())})")
    return f"signatures differ in {', '.join(parts)}: the scores may not be comparable" if parts else ""


def require_same(systems: Mapping[str, Iterable[Rating]]) -> None:
    """Raises an InputError if the signatures differ."""
    if problem := difference(systems):
        raise InputError(f"{problem.partition(': the scores')[0]}: must be the same")
