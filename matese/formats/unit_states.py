"""What files of localisers say of a unit's translation: states of XLIFF, PO's flag "fuzzy", and columns with either."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

UNFINISHED = frozenset({"new", "needs-translation", "needs-l10n", "needs-adaptation", "initial"})
FINISHED = frozenset(
    {
        *("translated", "signed-off", "reviewed", "final"),
        *("needs-review-translation", "needs-review-l10n", "needs-review-adaptation"),
    }
)
"""States of XLIFF 1.2 and 2; what is to be reviewed has been translated."""
NOT_TRANSLATED = "unit without a translation"
NOT_THERE = "text of the source that the file lacks"
NOT_FINISHED = "unit whose translation is not finished"

_FUZZY = "fuzzy"
_STATE = "state"
_TRUE = frozenset({"true", "yes", "1", _FUZZY})


def columns(names: Iterable[str]) -> tuple[str, ...]:
    """Returns the columns that say whether a translation is finished, as Weblate and other tools call them.

    >>> columns(["Source", "Target", "Fuzzy"])
    ('Fuzzy',)
    """
    return tuple(name for name in names if name.strip().casefold() in (_FUZZY, _STATE))


def why_left_out(translation: str, extra: Mapping[str, object]) -> str | None:
    """Returns why a row of a table with such a column is no translation, as its unit of XLIFF or PO would not be.

    >>> why_left_out("Katze", {"fuzzy": "True"}), why_left_out("Katze", {"state": "translated"})
    ('unit whose translation is not finished', None)
    >>> why_left_out(" ", {"state": ""}), why_left_out(" ", {})
    ('unit without a translation', None)
    """
    state_columns = columns(extra)
    if not state_columns:
        return None
    values = {name.strip().casefold(): str(extra[name] or "").strip().casefold() for name in state_columns}
    if values.get(_FUZZY) in _TRUE or values.get(_STATE) in UNFINISHED | {_FUZZY}:
        return NOT_FINISHED
    return None if translation.strip() else NOT_TRANSLATED
