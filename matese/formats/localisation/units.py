"""A unit of a localisation file, and a file with its units.

XLIFF and PO have parsers of our own because translate-toolkit does not return every byte: it adds and removes blank
lines of PO files, rewrites XML declarations and quotes, and fails on PO in Latin-1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from matese.annotation import Codes
from matese.errors import InputError
from matese.formats.localisation.notes import Note


@dataclass(frozen=True, slots=True)
class Unit:
    """A text and its translation.

    Attributes:
        name: as messages show it, after its kind.
        line: in the file; 0 if only the file of the source has it.
        source: without inline code; None if the file has translations only.
        target: likewise.
        lang_pair: "en-de_AT"; None if the file does not say it.
        notes: our notes.
        form: number of the plural form; None if the text has only one.
        is_for_one: whether the form is for one number, or a few, so that its translation may leave the number out.
        is_finished: whether the file calls the translation finished, or says nothing of it.
        context: what the file says to translators, such as `msgctxt` and notes that are not ours; "" if nothing.
        codes: the inline codes of source and target; None if there are none.
        kind: what the file calls it.
        ignored_rules: names of the rules that do not hold for it, "all" for every one.
        placeholder_kinds: see `Segment`.
        with_issues: source and target with tags of errors, as `mqm_tags` reads them; None if it has none.
        not_understood: what the file says of the translation that the reader does not understand: for each, a reason
            and what is allowed, as `RowIssues.ignore` takes them.
    """

    name: str
    line: int
    source: str | None
    target: str
    lang_pair: str | None
    notes: Sequence[Note]
    form: int | None = None
    is_for_one: bool = False
    is_finished: bool = True
    context: str = ""
    codes: Codes | None = None
    kind: str = "unit"
    not_understood: Sequence[tuple[str, str]] = ()
    ignored_rules: tuple[str, ...] = ()
    placeholder_kinds: tuple[str, ...] = ()
    with_issues: tuple[str, str] | None = None

    @property
    def is_translated(self) -> bool:
        """Whether it has a finished translation, which is not only white space."""
        return self.is_finished and bool(self.target.strip())


@dataclass(frozen=True, slots=True)
class LocalisationFile:
    """A file with its units.

    Attributes:
        units: those with a source or a target, by their numbers, which count all texts from 0.
        add: returns the file with notes, given by the number of their unit; -1 stands for the header of the file.
            Everything else is as it was.
        correct: returns the file with other translations, given by the number of their unit.
        without_ours: returns the file without the notes that `notes.is_ours` finds.
        has_header: whether the header of the file can hold notes.
        header: the lines of the notes in it.
        obsolete: the line of each text with our notes that the file keeps, but no longer uses.
        lacks_source_lang: whether it names the language of the translations, but not that of the source.
        holds_notes: whether it can hold notes; else only corrections are written.
        remarks: what the reader has assumed.
    """

    units: Mapping[int, Unit]
    add: Callable[[Mapping[int, Sequence[str]]], bytes]
    correct: Callable[[Mapping[int, str]], bytes]
    without_ours: Callable[[], bytes]
    has_header: bool = False
    header: Sequence[str] = ()
    obsolete: Sequence[int] = ()
    lacks_source_lang: bool = False
    holds_notes: bool = True
    remarks: Sequence[str] = ()


def splice(raw: bytes, pieces: Iterable[tuple[int, int, str]], encoding: str = "utf-8") -> bytes:
    """Returns bytes with texts in place of parts of them. Raises InputError if the encoding lacks a character.

    Args:
        raw: the bytes.
        pieces: of each, its first byte, the byte after it, and the text; the parts must not overlap.
        encoding: of the texts.

    >>> splice(b"abcd", [(3, 4, ""), (0, 0, "x"), (1, 2, "y")])
    b'xayc'
    """
    parts = []
    last = 0
    for start, end, text in sorted(pieces):
        try:
            parts += [raw[last:start], text.encode(encoding)]
        except UnicodeError:
            raise InputError(f"a note has characters that {encoding} lacks: the file must be in UTF-8") from None
        last = end
    return b"".join([*parts, raw[last:]])
