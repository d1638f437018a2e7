"""What a format of rating files is: a name, its capabilities, and functions that recognise, read and write a file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeVar

from matese import mqm
from matese.annotation import AnyError, ErrorSpan, Estimate, Omission, Overall, Rating, Segment, UnplacedError
from matese.errors import InputError
from matese.formats import languages
from matese.formats.capabilities import Capabilities
from matese.formats.row_issues import RowIssue

T = TypeVar("T")
_JSON_TOKEN = re.compile(r'"(?P<key>(?:[^"\\]|\\.)*+)"\s*:|"(?:[^"\\]|\\.)*+"?|[{}\[\]]', re.DOTALL)
Columns = Mapping[str, Sequence[str]]
"""Names of columns by what they hold; see `matese.formats.tables.columns.ROLES`."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a file is read.

    Attributes:
        report: called with each row that is skipped or repaired; None: such a row raises a FormatError.
        test_set: for the segments' keys, if the file does not name it.
        lang_pair: for the segments' keys, if the file does not name it; in any form that `languages.parse` reads.
        end_shift: error-span TSV only: added to every end; -3 for the files of 2021 en-ru, whose ends count a tag.
        single_characters: error-span TSV only: whether an end equal to its start marks one character, as in 2022.
        predictions: Label Studio only: whether the marks of models are read, in place of people's annotations.
        system: for the segments' keys, in place of the name that the file states; it must not name several.
        columns: tables only: columns that are not recognised by their names.
        first_segment: number of the first segment in the file, 0 or 1; None for that of the format.
        naming: tables only: how the user names a column, for messages; see `columns.ratings`.
        texts: submissions of WMT 2026 only: the test set, which has the texts.
        untranslated: XLIFF and PO only: whether units without a target are read, as blank translations.
        only_texts: XLIFF and PO only: whether the ratings are not needed, so that notes of an older text, whose words
            are no longer there, are counted and left out.
    """

    report: Callable[[RowIssue], None] | None = None
    test_set: str | None = None
    lang_pair: str | None = None
    end_shift: int = 0
    single_characters: bool = False
    predictions: bool = False
    system: str | None = None
    columns: Columns = field(default_factory=dict)
    first_segment: int | None = None
    naming: str = "--columns {}={}"
    untranslated: bool = False
    only_texts: bool = False
    texts: str | None = None

    def __post_init__(self) -> None:
        if self.lang_pair is not None:
            object.__setattr__(self, "lang_pair", languages.parse(self.lang_pair))


STRICT = ReadOptions()
"""The first faulty row is an error; keys hold what the file says."""


@dataclass(frozen=True, slots=True)
class TableStyle:
    """How a table is written, such as the one that came in.

    Attributes:
        delimiter: of the cells of a CSV.
        has_mark: whether it begins with a byte order mark.
        headings: names of the columns "hypothesis", "source" and "references", as far as they are others.
        columns: XLSX only: names and roles of the columns of the table that came in, in their order; a role is "" if
            the column has none. Ours follow.
    """

    delimiter: str = ","
    has_mark: bool = False
    headings: Mapping[str, str] = field(default_factory=dict)
    columns: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """What a file needs besides the ratings.

    Attributes:
        weights: of errors, for scores.
        method: name of the submission, metric or campaign.
        table: CSV, TSV and XLSX only: separator, byte order mark and headings.
        score: of score files: "spans" or "expected"; None for the expected score if all ratings have one.
        template: XLIFF and PO only: the file that the texts come from; the errors are written into a copy of it.
        report: XLIFF and PO only: called with a sentence about what else is not in the copy as it was in the template.
    """

    weights: mqm.Weights = mqm.MATESE
    method: str = "matese"
    template: Path | None = None
    score: Literal["spans", "expected"] | None = None
    table: TableStyle = field(default_factory=TableStyle)
    report: Callable[[str], None] = lambda sentence: None


@dataclass(frozen=True, slots=True)
class FileHead:
    """The beginning of a file or folder, from which its format is detected.

    Attributes:
        name: without its directories.
        text: first characters of a file; empty for a folder.
        files: names of the files in a folder.
    """

    name: str
    text: str = ""
    files: tuple[str, ...] = ()

    @property
    def fields(self) -> list[str]:
        """The tab-separated fields of the first line."""
        return self.text.partition("\n")[0].removesuffix("\r").split("\t")

    def is_json(self, *keys: str) -> bool:
        """Whether it begins like JSON and contains these keys."""
        return self.text.lstrip()[:1] in ("{", "[") and all(f'"{key}"' in self.text for key in keys)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the first JSON object, without those of objects inside it, as far as the text goes.

        >>> FileHead("", '[{"a": {"b": "}"}, "c": [{"d": 1}], "e": "f').keys
        ('a', 'c', 'e')
        """
        keys: list[str] = []
        depth = 0
        text = self.text.lstrip("[ \t\r\n")
        for token in _JSON_TOKEN.finditer(text if text.startswith("{") else ""):
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
            if depth == 0:
                break
            if depth == 1 and token["key"] is not None:
                keys.append(token["key"])
        return tuple(keys)


def renumbered(rating: Rating, shift: int) -> Rating:
    """Returns the rating with a shifted segment number, if it has one.

    Raises:
        InputError: if the number would be negative.
    """
    segment = rating.segment
    if not shift or segment.key is None or segment.key.index is None:
        return rating
    index = segment.key.index + shift
    if index < 0:
        allowed = f"must be {-shift} or more, unless segments count from 0 (--first-segment 0)"
        raise InputError(f"segment number {segment.key.index}: {allowed}")
    return replace(rating, segment=replace(segment, key=replace(segment.key, index=index)))


def rating_of(
    segment: Segment,
    rater: str | None,
    errors: Iterable[AnyError],
    source_errors: Iterable[ErrorSpan] = (),
    *,
    overall: Overall | None = None,
    estimate: Estimate | None = None,
) -> Rating:
    """Returns the rating with these errors, each in the field of its type, in their order."""
    marks = tuple(errors)

    def of(kind: type[T]) -> tuple[T, ...]:
        return tuple(mark for mark in marks if isinstance(mark, kind))

    placed = of(ErrorSpan)
    omissions = of(Omission)
    unplaced = of(UnplacedError)
    return Rating(segment, rater, placed, tuple(source_errors), omissions, unplaced, overall, estimate)


Reader = Callable[[str | Path, ReadOptions], Iterator[Rating]]
"""Yields ratings. Raises a FormatError at what does not follow the format and is not reported, an OSError where a file
cannot be read, and an InputError without a package that it needs."""
TextWriter = Callable[[Iterable[Rating], WriteOptions], Iterator[str]]
PathWriter = Callable[[Iterable[Rating], Path, WriteOptions], None]
"""Like `TextWriter`, raises an InputError for ratings that cannot be written, and an OSError where it cannot write."""
Adapter = Callable[[Rating, Counter[str]], Rating]


@dataclass(frozen=True, slots=True)
class Format:
    """A format of rating files.

    Attributes:
        name: for `--to`, `--from` and `--format`.
        title: a few words for help texts.
        capabilities: what it can hold; ratings are reduced to that before they are written.
        adapt: reduces a rating further, in a way that `Capabilities` cannot express, and counts what is lost.
        read: yields the ratings; None if they cannot be read back.
        write: yields the text of a file, piece by piece.
        save: writes a folder or a binary file to a path that does not exist yet.
        is_folder: whether `save` makes a folder.
        is_for_people: whether people correct what is written, so that too many marks are better than too few.
        matches: whether the beginning of a file is that of this format.
        first_segment: number of the first segment of a test set or document in files of this format, and in what
            `read` yields and `write` and `save` take. `detection.read` and `writing.write` convert from and to 0.
    """

    name: str
    title: str
    capabilities: Capabilities = field(default_factory=Capabilities)
    read: Reader | None = None
    write: TextWriter | None = None
    save: PathWriter | None = None
    adapt: Adapter | None = None
    is_folder: bool = False
    is_for_people: bool = False
    matches: Callable[[FileHead], bool] = lambda head: False
    first_segment: int = 0

    @property
    def writes(self) -> bool:
        """Whether it can be written."""
        return self.write is not None or self.save is not None
