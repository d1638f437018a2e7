"""Error spans as ESA interfaces have them, `start_i` and `end_i`: UTF-16 code units, the end inclusive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from matese.annotation import ErrorSpan, Severity, UnplacedError
from matese.formats.json_values import Fields
from matese.formats.lines import Faults
from matese.formats.utf16 import Units, whole

MISSING = "missing"
UNDECIDED = "undecided"

_SEVERITIES: dict[str, Severity | None] = {UNDECIDED: None, **{one.value: one for one in Severity}}


@dataclass(frozen=True, slots=True)
class Spans:
    """The errors of one hypothesis.

    Attributes:
        placed: in the text.
        unplaced: omissions.
    """

    placed: tuple[ErrorSpan, ...]
    unplaced: tuple[UnplacedError, ...]


def to_places(text: str, spans: Iterable[ErrorSpan]) -> Iterator[tuple[int, int]]:
    """Yields first and last code unit of each span."""
    units = Units(text)
    for span in spans:
        yield units.of(span.start), units.of(span.end) - 1


def read(text: str, marks: Sequence[Fields], faults: Faults, line: int, *, category: str = "category") -> Spans:
    """Returns the errors that are listed.

    An index of `missing`, or one beyond the text, where interfaces show a token [missing], is an omission.

    Args:
        text: the hypothesis.
        marks: objects of `start_i`, `end_i`, `severity` and a category.
        faults: is told of ends beyond the text and of those within a character, which is then taken whole.
        line: of the file, for messages.
        category: the key of the category.

    Raises:
        ValueError: if an index or a severity is none.
    """
    units, placed, unplaced = Units(text), [], []
    for mark in marks:
        name = (mark.string("severity") or UNDECIDED).casefold()
        if name not in _SEVERITIES:
            raise ValueError(f"{mark.where}severity is {name!r}: must be one of {', '.join(_SEVERITIES)}, or null")
        severity, kind = _SEVERITIES[name], mark.string(category)
        if MISSING in (mark.values.get("start_i"), mark.values.get("end_i")):
            unplaced.append(UnplacedError(severity, kind))
            continue
        first, last = (mark.needed(key, mark.integer(key)) for key in ("start_i", "end_i"))
        if not 0 <= first <= last:
            raise ValueError(f"{mark.where.removesuffix('.')}: {first}..{last}: must have 0 <= start_i <= end_i")
        if first >= units.n_units:
            unplaced.append(UnplacedError(severity, kind))
            continue
        if last >= units.n_units:
            faults.repair(line, "span ends beyond the text", f"{last} must be less than {units.n_units}")
        start = whole(units, first, -1, faults, line)
        end = whole(units, min(last + 1, units.n_units), 1, faults, line)
        placed.append(ErrorSpan(start, end, severity, kind))
    return Spans(tuple(placed), tuple(unplaced))
