"""The format of a file that is written, by the ending of its name; the registry has the endings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import PurePath

from matese.errors import UsageError, near_miss, one_of
from matese.formats.registry import TABLE

ENDINGS: Mapping[str, tuple[str, ...]] = {
    # The format that has the name of the ending is written if none is named.
    ending: tuple(
        sorted((form.name for form in TABLE if ending in form.endings), key=lambda name: f".{name}" != ending)
    )
    for ending in dict.fromkeys(ending for form in TABLE if form.writes for ending in form.endings)
}
"""Formats by the ending of a file's name; the first is written if no format is named."""


def of(path: str) -> str:
    """Returns the ending of a file's name, in lower case and without ".gz"."""
    return PurePath(path.removesuffix(".gz")).suffix.lower()


def format_of(
    path: str, name: str | None, endings: Mapping[str, tuple[str, ...]] = ENDINGS, *, option: str = "format="
) -> str:
    """Returns the name of the format that a file is written in: the named one, or that of the ending of its name.

    Args:
        path: of the file; ".gz" at its end is skipped.
        name: of the format; None for that of the ending.
        endings: formats by the ending.
        option: that names a format, for messages.

    Raises:
        UsageError: if the ending belongs to other formats than the named one, or to none and no format is named.

    >>> format_of("out/Spans.CSV.gz", None), format_of("ted.tsv", "mqm-tsv"), format_of("tasks", "label-studio")
    ('csv', 'mqm-tsv', 'label-studio')
    """
    ending = of(path)
    if name is None and os.path.isdir(path):
        raise UsageError(f"{path}: is a directory; choose a file that can be written, or name the format with {option}")
    if name is None and ending in endings:
        return endings[ending][0]
    if name is None and ending not in ENDINGS and any(ending in form.endings for form in TABLE):
        raise UsageError(f"{path}: {ending} files can only be read; choose {one_of(tuple(endings))}")
    if name is None:
        hint = near_miss(ending, endings) if ending else ""
        problem = f"{path}: the name has no ending that stands for a format{hint or ':'}"
        raise UsageError(f"{problem} use {one_of(tuple(endings))}, or name the format with {option}")
    if name not in endings.get(ending, (name,)):
        usual = next((f"a name in {suffix}, or " for suffix, names in endings.items() if name in names), "")
        problem = f"{path}: {ending} stands for {one_of(endings[ending])}, but the format is {name}"
        raise UsageError(f"{problem}: use {usual}another format")
    return name
