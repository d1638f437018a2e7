"""Sources and references of a test set, joined to ratings whose file lacks them (MQM TSV, error-span TSV, ...).

A rating belongs to a line of the test set by its source, where both have one. Otherwise it belongs by its segment
number: that of the test set, or that of its document if the test set has documents.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from matese.annotation import Rating, Segment, SegmentKey
from matese.errors import InputError, UsageError, counted
from matese.files import name_of, read_lines
from matese.formats.corpora import published_test_sets
from matese.formats.corpora.mt_metrics_eval import TestSet
from matese.text import languages


@dataclass(frozen=True, slots=True)
class TestSetTexts:
    """The texts of a test set, one line per segment.

    Attributes:
        name: of the files or the test set, in messages.
        sources: None if there are none.
        references: by the name of their translator or file.
        documents: name of the document of each line; None if it is not known.
    """

    __test__ = False  # its name would make pytest collect it

    name: str
    sources: Sequence[str] | None
    references: Mapping[str, Sequence[str]]
    documents: Sequence[str] | None = None

    @property
    def n_lines(self) -> int:
        """Number of segments."""
        return len(self.sources if self.sources is not None else next(iter(self.references.values())))


@dataclass(frozen=True, slots=True)
class Joined:
    """Ratings with the texts of a test set.

    Attributes:
        ratings: all ratings, in their order.
        n_segments: number of their segments.
        n_without: segments that have no reference after the join.
        name: of the test sets.
    """

    ratings: tuple[Rating, ...]
    n_segments: int
    n_without: int
    name: str

    def notices(self) -> tuple[str, ...]:
        """Returns a sentence about the segments without a reference, if there are any."""
        if not self.n_without:
            return ()
        return (f"{self.name}: {self.n_without:,} of {self.n_segments:,} segments have no reference",)


def read(
    source: str | None = None,
    references: Sequence[str] = (),
    *,
    test_set: str | None = None,
    lang_pair: str | None = None,
) -> TestSetTexts | None:
    """Returns the texts of files or of a test set; None if neither is given.

    Args:
        source: text file of the sources.
        references: text files of the references.
        test_set: a directory of mt-metrics-eval, or the name of a test set of sacreBLEU; instead of files.
        lang_pair: of the test set, in any form that `languages.parse` reads.

    Raises:
        UsageError: if both files and a test set are given, or the language pair is missing or unknown.
        InputError: if files differ in length, or the test set cannot be read.
    """
    if test_set is None:
        return _of_files(source, references) if source is not None or references else None
    if source is not None or references:
        raise UsageError(f"{test_set} has source and references; give no other files for them")
    if lang_pair is None:
        raise UsageError(f"{test_set}: the language pair is needed, such as en-de")
    if Path(test_set).is_dir():
        return _of_directory(TestSet(Path(test_set)), languages.parse(lang_pair))
    source, files = published_test_sets.text_files(test_set, lang_pair)
    return replace(_of_files(source, files), name=f"{test_set} {lang_pair}")


def join(ratings: Iterable[Rating], *texts: TestSetTexts) -> Joined:
    """Returns the ratings with the references of their segments, and with their sources where they have none.

    References of the ratings themselves are replaced where the test set has some. A rated human translation is not a
    reference of itself, if system and reference have the same name. With several test sets, a rating belongs to the
    first one that has its source, since a number would be ambiguous.

    Raises:
        InputError: if no rating belongs to a line of a test set, or segment numbers are needed and restart.
    """
    read_ratings = tuple(ratings)
    completed = read_ratings
    keys = {rating.segment.key for rating in read_ratings if rating.segment.key is not None}
    finders = [_Lines(of_set, keys, needs_source=len(texts) > 1) for of_set in texts]
    for lines in reversed(finders):  # so that the first one decides
        completed = tuple(replace(rating, segment=lines.complete(rating.segment)) for rating in completed)
    names = " and ".join(of_set.name for of_set in texts)
    if read_ratings and not any(lines.n_found for lines in finders):
        n_lines = sum(of_set.n_lines for of_set in texts)
        raise InputError(f"{names}: no rating belongs to the {counted(n_lines, 'segment')}{finders[0].advice()}")
    segments = {rating.segment for rating in completed}
    return Joined(completed, len(segments), sum(not segment.references for segment in segments), names)


class _Lines:
    """Finds the line of a segment in a test set."""

    def __init__(self, texts: TestSetTexts, keys: Iterable[SegmentKey], *, needs_source: bool) -> None:
        self.n_found = 0
        self._needs_source = needs_source
        self._texts = texts
        self._by_source: dict[str, list[int]] = defaultdict(list)
        for number, source in enumerate(texts.sources or ()):
            if source.strip():
                self._by_source[_plain(source)].append(number)
        self._by_place: dict[tuple[str, int], int] = {}
        n_lines: Counter[str] = Counter()
        for number, document in enumerate(texts.documents or ()):
            self._by_place[document, n_lines[document]] = number
            n_lines[document] += 1
        self._restarts = _restarts(keys)

    def complete(self, segment: Segment) -> Segment:
        """Returns the segment with the texts of its line."""
        number = self._number(segment)
        if number is None:
            return segment
        self.n_found += 1
        system = segment.key.system if segment.key is not None else None
        of_line = [lines[number] for name, lines in self._texts.references.items() if name != system]
        references = tuple(text for text in of_line if text.strip())
        source = segment.source
        if source is None and self._texts.sources is not None:
            source = self._texts.sources[number]
        return replace(segment, source=source, references=references or segment.references)

    def advice(self) -> str:
        """Returns why no line was found."""
        if self._texts.sources is None and self._restarts:
            return ", because segment numbers restart in each document: give the sources, too"
        return ": source or segment number must agree"

    def _number(self, segment: Segment) -> int | None:
        place = self._place(segment.key or SegmentKey())
        if segment.source is None or not segment.source.strip() or self._texts.sources is None:
            return None if self._needs_source else place
        same = self._by_source.get(_plain(segment.source), [])
        if place in same:
            return place
        # A source that stands in several lines is ambiguous, unless they have the same references.
        distinct = {tuple(lines[number] for lines in self._texts.references.values()) for number in same}
        return same[0] if len(distinct) == 1 else None

    def _place(self, key: SegmentKey) -> int | None:
        """Returns the line that a key names by document and number, or by number alone."""
        if key.index is None:
            return None
        documents = self._texts.documents
        if documents is not None and key.document is not None:
            in_test_set = key.index < len(documents) and documents[key.index] == key.document
            if in_test_set and not self._restarts:
                return key.index
            return self._by_place.get((key.document, key.index))
        return key.index if key.index < self._texts.n_lines and not self._restarts else None


def _restarts(keys: Iterable[SegmentKey]) -> bool:
    """Whether segments are numbered in each document: a number of one system and test set has several documents."""
    documents: dict[object, str | None] = {}
    for key in keys:
        place = (key.test_set, key.lang_pair, key.system, key.index)
        if documents.setdefault(place, key.document) != key.document:
            return True
    return False


def _of_files(source: str | None, references: Sequence[str]) -> TestSetTexts:
    files = [*references, *([] if source is None else [source])]
    lines = {path: tuple(read_lines(path)) for path in files}
    for path in files:
        if len(lines[path]) != len(lines[files[0]]):
            has = f"{name_of(files[0])} has {counted(len(lines[files[0]]), 'line')}"
            raise InputError(f"{has} and {name_of(path)} {len(lines[path]):,}: line i of each must be one segment")
    of_references = {path: lines[path] for path in references}
    return TestSetTexts(", ".join(files), None if source is None else lines[source], of_references)


def _of_directory(test_set: TestSet, lang_pair: str) -> TestSetTexts:
    return TestSetTexts(
        f"{test_set.root} {lang_pair}",
        test_set.sources(lang_pair),
        {name: test_set.reference(lang_pair, name) for name in test_set.references(lang_pair)},
        [document for _, document in test_set.documents(lang_pair)] if test_set.has_documents(lang_pair) else None,
    )


def _plain(source: str) -> str:
    return " ".join(source.split())
