"""Reading a file of ratings in any format, which is detected by how the file begins."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from matese.annotation import Rating, SegmentKey
from matese.errors import FormatError, InputError, UsageError, near_miss, one_of
from matese.files import UTF16_MARKS, head_of, name_of
from matese.formats import signs
from matese.formats.format import STRICT, ReadOptions, renumbered
from matese.formats.registry import BY_NAME, READ, TABLE
from matese.formats.row_issues import RowIssue, RowIssues, located
from matese.formats.signs import FileHead
from matese.formats.tables import headings
from matese.text import languages

_HEAD_BYTES = 1 << 14


class SkippedError(FormatError):
    """A file has rows, and all of them are skipped."""


def detect(path: str | Path) -> str:
    """Returns the name of the format of a file or folder. A pipe that cannot be inspected is taken for JSONL.

    Raises:
        FormatError: if it is in no known format.
    """
    is_lasting = str(path) != "-" and (os.path.isdir(path) or stat.S_ISREG(os.stat(path).st_mode))
    head = _head(path)
    if not head.text and not is_lasting:
        return "jsonl"
    if not head.text.strip() and not head.files:
        kind = (
            "folder is empty" if os.path.isdir(path) else "file has only blank lines" if head.text else "file is empty"
        )
        raise FormatError(name_of(path), None, f"{kind}; it must hold one or more ratings")
    if foreign := signs.other_document(head):
        raise FormatError(name_of(path), None, f"{foreign[0]}, which matese cannot read: {foreign[1]}")
    if name := next((form.name for form in TABLE if form.matches(head)), None):
        return name
    if "\0" not in head.text and re.match(r"\s*[^\s{\[<][^\t\n]*(\n|$)", head.text):
        problem = (
            "a text file: give it with --hyp, --src or --ref; where ratings are expected, mark it with matese tag --hyp"
        )
        raise FormatError(name_of(path), None, problem)
    if head.files:
        raise FormatError(name_of(path), None, "a folder in no format that is read: give the files in it")
    raise FormatError(name_of(path), 1, f"format not recognised: must be {one_of(READ)}")


def form_of_cues(path: str) -> str | None:
    """Returns the format of a file that is given as a text file, if its cues are segments; None for lines of text.

    Raises:
        FormatError: if it is in another format, whose markup would be read as text.
    """
    head = _head(path)
    name = name_of(path)
    if foreign := signs.other_document(head):
        raise FormatError(name, None, f"{foreign[0]}, not one segment per line: {foreign[1]}")
    form = next((form for form in TABLE if form.matches(head)), None) if signs.is_no_text(head) else None
    if form is None or form.stands_for_lines:
        return None if form is None else form.name
    title = form.title.partition(",")[0]
    raise FormatError(
        name, None, f"is in the format {form.name} ({title}), not one segment per line: give it with --input"
    )


def holds_ratings(path: str) -> bool:
    """Whether a file or folder, and not a pipe, holds ratings in another format than JSONL; score files do not."""
    if not (os.path.isfile(path) or os.path.isdir(path)):
        return False
    try:
        form = detect(path)
    except FormatError:
        return False
    if form in ("csv", "tsv"):
        return headings.is_table(re.split("[,;\t]", _head(path).text.partition("\n")[0].replace('"', "")))
    return form not in ("jsonl", "mtme")


def read(path: str | Path, options: ReadOptions = STRICT, *, name: str | None = None) -> Iterator[Rating]:
    """Yields the ratings of a file or folder.

    Args:
        path: "-" is standard input.
        options: how it is read.
        name: of the format; None to detect it.

    Raises:
        UsageError: if the format of this name can only be written.
        FormatError: if the file is in no known format, does not follow its format, or holds no rating.
    """
    format_name = name or detect(path)
    form = BY_NAME.get(format_name)
    if form is None or not form.reads:
        raise UsageError(f"format {format_name!r} cannot be read{near_miss(format_name, READ)} must be {one_of(READ)}")
    reader = form.read
    assert reader is not None
    start = form.first_segment if options.first_segment is None else options.first_segment
    rating = None
    skipped: list[RowIssue] = []
    systems: set[str] = set()
    lang_pairs: set[str] = set()
    is_as_given = not start and options.lang_pair is None and options.test_set is None and options.system is None
    try:
        for file_rating in reader(path, _noting_first_skip(options, skipped)):
            extra = file_rating.segment.extra
            rating = file_rating if extra is None or headings.CORRECTED not in extra else _with_corrections(file_rating)
            if is_as_given:
                yield rating
                continue
            with located(path, None):
                _check_single(rating, systems, options)
                _check_lang_pair(
                    rating, lang_pairs, RowIssues(name_of(path), options.report, rating.segment.line or 1), options
                )
                completed = _completed(renumbered(rating, -start), options)
            yield completed
        if rating is None and options.may_be_empty and form.is_for_localisation:
            RowIssues(name_of(path), options.report, 1).assume("holds no text that is to be translated")
        elif rating is None and skipped:
            first = skipped[0]
            why = f"{first.reason}: {first.allowed}" if first.allowed else first.reason
            raise SkippedError(name_of(path), first.line or None, f"every row is skipped: {why}")
        elif rating is None:
            wanted = f" in {options.lang_pair}" if options.lang_pair else ""
            raise FormatError(name_of(path), None, f"holds no rating or translation{wanted}")
    except (InputError, OSError) as error:
        likely = None if rating is not None or name is None else _readable_as(path)
        if likely in (None, name):
            raise
        problem = f"cannot be read as {name} ({error}), but begins like {likely}"
        raise FormatError(name_of(path), None, f"{problem}: must be read as {likely}") from None


def _with_corrections(rating: Rating) -> Rating:
    from matese.formats import corrections  # which most files do not need

    return corrections.marked(rating)


def _noting_first_skip(options: ReadOptions, skipped: list[RowIssue]) -> ReadOptions:
    """Returns the options with a `report` that also adds the first skipped row to a list."""
    report = options.report
    if report is None:
        return options

    def note(issue: RowIssue) -> None:
        if issue.kind == "skipped" and not skipped:
            skipped.append(issue)
        report(issue)

    return replace(options, report=note)


def _check_single(rating: Rating, stated: set[str], options: ReadOptions) -> None:
    """Raises an InputError if a file whose system is renamed has several; `stated` are those before."""
    key = rating.segment.key
    if options.system is None or key is None or key.system is None:
        return
    stated.add(key.system)
    if len(stated) > 1:
        raise InputError(
            f"has the systems {' and '.join(sorted(stated))}, and {options.system} (--system) can name only one: "
            "choose its translations with --columns hypothesis=..., or leave out --system"
        )


def _check_lang_pair(rating: Rating, stated: set[str], issues: RowIssues, options: ReadOptions) -> None:
    """Reports a language pair of the file that is not the one of the options; `stated` are those before.

    Raises:
        InputError: if the file has several pairs, so that it is not merely one that is stated wrongly.
    """
    key = rating.segment.key
    if options.lang_pair is None or key is None or key.lang_pair is None:
        return
    stated.add(key.lang_pair)
    if all(languages.agree(pair, options.lang_pair) for pair in stated):
        return
    if len(stated) > 1:
        problem = f"has {' and '.join(sorted(stated))}: must be in {options.lang_pair} (--lang-pair) alone"
        raise FormatError(issues.path, issues.line, problem)
    reason = f"states {key.lang_pair}, read as {options.lang_pair} (--lang-pair)"
    issues.repair(reason, f"must be in {options.lang_pair}")


def _completed(rating: Rating, options: ReadOptions) -> Rating:
    """Returns a rating with test set, language pair and system of the options.

    The file's own test set has precedence, and its language pair if that agrees; its system is renamed.
    """
    if options.lang_pair is None and options.test_set is None and options.system is None:
        return rating
    key = rating.segment.key or SegmentKey()
    is_right = key.lang_pair and (options.lang_pair is None or languages.agree(key.lang_pair, options.lang_pair))
    completed = replace(
        key,
        test_set=key.test_set or options.test_set,
        lang_pair=key.lang_pair if is_right else options.lang_pair,
        system=options.system or key.system,
    )
    return rating if completed == key else replace(rating, segment=replace(rating.segment, key=completed))


def _readable_as(path: str | Path) -> str | None:
    """Returns the format that a file begins like, if its first rating can be read in it."""
    if str(path) == "-":
        return None
    try:
        name = detect(path)
        reader = BY_NAME[name].read
        is_readable = reader is not None and any(True for _ in reader(path, ReadOptions(lambda issue: None)))
    except (InputError, OSError):
        return None
    return name if is_readable else None


def _head(path: str | Path) -> FileHead:
    name = Path(path).name
    if os.path.isdir(path):
        # Some of the names are enough where there are thousands of files.
        with os.scandir(path) as entries:
            return FileHead(name, files=tuple(sorted(entry.name for entry in islice(entries, 1000))))
    head = head_of(path, _HEAD_BYTES)
    is_utf16 = head.startswith(UTF16_MARKS)  # of standard input; texts of files are UTF-8 by now
    return FileHead(name, head.decode("utf-16" if is_utf16 else "utf-8-sig", "replace"))
