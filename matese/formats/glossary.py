"""Glossary files: one term per line, or a term, a tab and its translation."""

from __future__ import annotations

from pathlib import Path

from matese.errors import FormatError
from matese.files import name_of, read_lines


def read(path: str | Path) -> dict[str, str | None]:
    """Returns the terms, each with its translation or None. The last line of a term counts.

    Raises:
        FormatError: if the file holds no term, or a line is not as it must be.
    """
    terms: dict[str, str | None] = {}
    for number, line in enumerate(read_lines(path), start=1):
        term, *translations = (field.strip() for field in line.split("\t"))
        if not term or len(translations) > 1 or not line.replace("\t", "").isprintable():
            problem = "not a line of a glossary: must be a term, or a term, a tab and its translation"
            raise FormatError(name_of(path), number, problem)
        terms[term] = translations[0] if translations else None
    if not terms:
        raise FormatError(name_of(path), None, "holds no term; give one per line")
    return terms
