"""Notes in copies of translation files: they are read again, and nothing else of the file changes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from matese.annotation import Rating
from matese.formats.format import WriteOptions
from matese.formats.localisation import translation_files


def noted(path: Path, ratings: Sequence[Rating], earlier: Sequence[Rating] = (), name: str = "noted") -> bytes:
    """Writes ratings into a copy of a file, checks that they come back with the others, and returns the copy."""
    copy = path.with_name(name)
    translation_files.save(ratings, copy, WriteOptions(template=path))
    assert list(translation_files.read(copy)) == [*ratings, *earlier]
    assert without_notes(copy.read_bytes()) == without_notes(path.read_bytes())
    return copy.read_bytes()


def without_notes(raw: bytes) -> bytes:
    """A file as it was before we wrote notes into it."""
    note = rb'<(\w+:)?note (?:from|(?:id="[^"]*" )?category)="matese">.*?</(\w+:)?note>'
    emptied = re.sub(rb"<((?:\w+:)?header)></\1>", b"", re.sub(note, b"", raw, flags=re.DOTALL))
    lines = rb"# (\[matese|(Minor |Major |)[Ee]rror).*\n"
    return re.sub(lines, b"", emptied.replace(b"<notes></notes>", b""))
