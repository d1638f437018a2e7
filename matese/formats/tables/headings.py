"""Names of the columns of tables, by what they hold, and the first line of a table."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

NAMES = {
    "hypothesis": (
        *("hypothesis", "hyp", "hyp_text", "mt", "mt_text", "translation", "target", "target_text", "tgt", "tgt_text"),
        *("output", "prediction", "predictions"),
    ),
    "source": ("source", "src", "source_text", "src_text"),
    "system": ("system", "model", "engine"),
    "document": ("document", "doc", "document_id", "doc_id"),
    "index": ("index", "id", "segment_id", "seg_id"),
    "lang_pair": ("lang_pair", "language_pair", "lp"),
    "test_set": ("test_set",),
    "domain": ("domain",),
}
TRANSLATED_NAMES = {
    "hypothesis": ("traduction", "texte cible", "cible", "übersetzung", "zieltext", "ziel"),
    "source": ("texte source", "quelltext", "quelle", "ausgangstext", "original"),
}
"""Names in other languages, which are recognised where no column has a usual name."""
COMMENT = "comment"
"""The other column that holds a person's remarks on a segment."""
CORRECTED = "corrected"
"""The other column that holds the translation of a segment as a person has corrected it."""
REFERENCE = re.compile(r"ref(?:erence)?s?(?:[a-z]|\d+|text)?")
_CELL = re.compile(r'"(?:[^"]|"")*"')


def role_of(name: str) -> str | None:
    """Returns what a column with this name holds; None if the name does not say it."""
    if REFERENCE.fullmatch(plain(name)):
        return "reference"
    by_role = (*NAMES.items(), *TRANSLATED_NAMES.items())
    return next((role for role, names in by_role if plain(name) in map(plain, names)), None)


def is_table(names: Sequence[str]) -> bool:
    """Whether one of several columns holds translations."""
    return len(names) > 1 and any(role_of(name) == "hypothesis" for name in names)


def plain(name: str) -> str:
    """Returns a name as it is compared: "Source Text" as "sourcetext"."""
    return re.sub(r"[\W_]+", "", name).casefold()


def split(line: str) -> tuple[str, Sequence[str]]:
    r"""Returns the delimiter that a first line has most often between names, and the names of columns, each in a line.

    >>> split('"Source, EN";"Target,\n DE"')
    (';', ['Source, EN', 'Target, DE'])
    """
    delimiter = max("\t,;", key=_CELL.sub("", line).count)
    try:
        cells = next(csv.reader(io.StringIO(line, newline=""), delimiter=delimiter), [])
        return delimiter, [re.sub(r"\s*[\r\n]\s*", " ", name.strip()) for name in cells]
    except csv.Error:
        return delimiter, []
