"""What a format of rating files is: a name, its capabilities, and functions that recognise, read and write a file."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, cast

from matese import mqm
from matese.annotation import AnyError, ErrorSpan, Estimate, Omission, Overall, Rating, Segment, UnplacedError
from matese.errors import InputError
from matese.formats.capabilities import Capabilities
from matese.formats.row_issues import RowIssue
from matese.formats.signs import FileHead
from matese.text import languages

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
        untranslated: XLIFF, PO and tables with a column of states: whether units without a finished translation are
            read, as blank translations.
        only_texts: XLIFF and PO only: whether the ratings are not needed, so that notes of an older text, whose words
            are no longer there, are counted and left out.
        may_be_empty: localisation files only: whether a file without texts is reported, and no error.
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
    may_be_empty: bool = False
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
        workbook: XLSX only: the one that came in, into a copy of which the ratings are written.
        user_columns: columns of the workbook that the user has named.
    """

    delimiter: str = ","
    has_mark: bool = False
    headings: Mapping[str, str] = field(default_factory=dict)
    workbook: Path | None = None
    user_columns: Columns = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """What a file needs besides the ratings.

    Attributes:
        weights: of errors, for scores.
        method: name of the submission, metric or campaign.
        table: CSV, TSV and XLSX only: separator, byte order mark and headings.
        score: of score files: "spans" or "expected"; None for the expected score if all ratings have one.
        template: XLIFF, PO, VTT and XLSX only: the file that the texts come from; a copy of it gets the errors.
        corrections_only: XLIFF, PO and VTT only: whether the copy gets the corrected translations alone, and no notes.
        report: XLIFF and PO only: called with a sentence about what else is not in the copy as it was in the template.
    """

    weights: mqm.Weights = mqm.MATESE
    method: str = "matese"
    template: Path | None = None
    score: Literal["spans", "expected"] | None = None
    table: TableStyle = field(default_factory=TableStyle)
    corrections_only: bool = False
    report: Callable[[str], None] = lambda sentence: None


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
        allowed = f"must be {-shift} or more, unless segments count from 0 (convert --first-segment 0)"
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
    return Rating(
        segment,
        rater,
        errors=tuple(mark for mark in marks if isinstance(mark, ErrorSpan)),
        source_errors=tuple(source_errors),
        omissions=tuple(mark for mark in marks if isinstance(mark, Omission)),
        unplaced=tuple(mark for mark in marks if isinstance(mark, UnplacedError)),
        overall=overall,
        estimate=estimate,
    )


Reader = Callable[[str | Path, ReadOptions], Iterator[Rating]]
"""Yields ratings. Raises a FormatError at what does not follow the format and is not reported, an OSError where a file
cannot be read, and an InputError without a package that it needs."""
TextWriter = Callable[[Iterable[Rating], WriteOptions], Iterator[str]]
PathWriter = Callable[[Iterable[Rating], Path, WriteOptions], None]
"""Like `TextWriter`, raises an InputError for ratings that cannot be written, and an OSError where it cannot write."""
Adapter = Callable[[Rating, Counter[str]], Rating]


Written = Literal["text", "binary file", "folder", "copy", "corrections"]
"""What is written: text; a binary file; a folder; or a copy of the file that the texts came from
(`WriteOptions.template`), in which only notes and corrections are new, or corrections alone."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format of rating files: what is known of it before its module is imported, and what the module has.

    A module has `CAPABILITIES`, and as far as the format is read or written, the functions that are properties here.
    What the formats of a module do not share has their names at its end: `read_parquet`.

    Attributes:
        name: for `--to`, `--from` and `--format`.
        title: a few words for help texts.
        module: where it is read and written: a module in a folder of this package.
        matches: whether the beginning of a file is that of this format.
        endings: of names of files that are written in it.
        reads: whether it can be read.
        writes: in what form it is written; None if it is not.
        needs_other_files: whether other files than the given one are read with it.
        stands_for_lines: whether its segments can stand for the lines of a text file, as the cues of subtitles do.
        is_for_large_jobs: whether files of any length are read and written row by row, as a cluster does.
        first_segment: number of the first segment of a test set or document in files of this format, and in what
            `read` yields and `write` and `save` take. `detection.read` and `writing.write` convert from and to 0.
    """

    name: str
    title: str
    module: str
    matches: Callable[[FileHead], bool] = lambda head: False
    endings: tuple[str, ...] = ()
    reads: bool = True
    writes: Written | None = "text"
    needs_other_files: bool = False
    stands_for_lines: bool = False
    is_for_large_jobs: bool = False
    first_segment: int = 0

    @property
    def is_for_people(self) -> bool:
        """Whether people correct what is written, so that too many marks are better than too few."""
        return self.module.startswith("tools.")

    @property
    def is_for_localisation(self) -> bool:
        """Whether translators' tools make and read it; rules check such files by default."""
        return self.module.startswith("localisation.")

    @property
    def capabilities(self) -> Capabilities:
        """What it can hold; ratings are reduced to that before they are written."""
        return cast(Capabilities, self._part("CAPABILITIES") or Capabilities())

    @property
    def read(self) -> Reader | None:
        """Yields the ratings; None if they cannot be read back."""
        return cast(Reader | None, self._part("read") if self.reads else None)

    @property
    def write(self) -> TextWriter | None:
        """Yields the text of a file, piece by piece; None if it is written in another form."""
        return cast(TextWriter | None, self._part("write") if self.writes == "text" else None)

    @property
    def save(self) -> PathWriter | None:
        """Writes a folder, a binary file or a copy to a path that does not exist yet; None for texts."""
        return cast(PathWriter | None, self._part("save") if self.writes not in (None, "text") else None)

    @property
    def adapt(self) -> Adapter | None:
        """Reduces a rating further, in a way that `Capabilities` cannot express, and counts what is lost."""
        return cast(Adapter | None, self._part("adapt"))

    def style_of(self, input_format: Format, path: str | Path, user_columns: Columns) -> TableStyle:
        """Returns how a table that comes from a file in another format is written.

        If the two are of one kind (tables of texts, workbooks), the file's separator, mark and headings are kept.
        `user_columns` are columns that the user has named.
        """
        styled = cast(Callable[[str | Path, Columns], TableStyle] | None, self._part("style_of"))
        return TableStyle() if styled is None or input_format.module != self.module else styled(path, user_columns)

    @property
    def is_folder(self) -> bool:
        """Whether a folder is written."""
        return self.writes == "folder"

    @property
    def is_copy(self) -> bool:
        """Whether a copy of the file that the texts came from is written."""
        return self.writes in ("copy", "corrections")

    def _part(self, name: str) -> object:
        module = importlib.import_module(f"matese.formats.{self.module}")
        return getattr(module, f"{name}_{self.name.replace('-', '_')}", getattr(module, name, None))
