"""Ratings in another format; everything that it cannot hold is counted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

from msgspec import Meta

from matese.annotation import Rating, SegmentKey
from matese.errors import InputError, one_of
from matese.mqm import Basis
from matese.tasks import notices, rated, sinks, texts
from matese.tasks.request import function
from matese.tasks.texts import check_stdin, require
from matese.tasks.weights import Weighted
from matese.validation.options import File, Name, Options, group, option

if TYPE_CHECKING:
    from matese.formats.format import ReadOptions
    from matese.formats.person_review import Reviewed
    from matese.tasks.texts import RatingsOrFile


def read_formats() -> Sequence[str]:
    """Returns the formats that can be read."""
    from matese.formats.registry import READ

    return READ


def written_formats() -> Sequence[str]:
    """Returns the formats that can be written."""
    from matese.formats.registry import WRITTEN

    return WRITTEN


@dataclass(frozen=True, kw_only=True)
class ConvertReading(texts.FileReading):
    """How the input of a conversion is read.

    Attributes:
        first_segment: number of the first segment in the file (default: as its format counts).
        end_shift: error-span TSV: add N to every end.
        single_characters: error-span TSV: an end equal to its start marks a character.
        predictions: Label Studio: read the marks of models instead of people's annotations.
        test_set: test set, for files that do not state it.
        texts: submissions of WMT 2026: the test set, which has the texts.
        before: the marks that the raters saw: report how many they kept, changed, removed and added.
    """

    test_set: str | None = None
    first_segment: Annotated[int, Meta(ge=0, le=1)] | None = None
    end_shift: int = 0
    single_characters: bool = False
    predictions: bool = False
    texts: File | None = None
    before: RatingsOrFile | None = option(None, take=rated.ratings_given, metavar="FILE")


@dataclass(frozen=True, kw_only=True)
class ConvertWriting(Options):
    """What a conversion writes.

    Attributes:
        as_rater: the person who rated, instead of the raters in IN, whose confidences and expected scores are left out;
            so are ratings of a model that the person has neither reviewed (a column reviewed) nor changed.
        all_reviewed: --as-rater has reviewed every row, also those that the column reviewed does not name.
        method: name of the submission or campaign (default: matese).
        score: wmt-scores, mtme-scores: spans or expected (default: expected if all ratings have an expected score).
        system: name of the system, in place of the one that IN states.
        corrections_only: files of translators: write the corrected translations into the copy, and no notes.
        template: for a copy: the XLIFF, PO, XLSX or other file that the texts come from; of SRT, the copy may be VTT.
    """

    as_rater: Name | None = None
    all_reviewed: bool = False
    method: str = "matese"
    score: Basis | None = option(None, metavar="SCORE")
    system: str | None = None
    corrections_only: bool = False
    template: File | None = None


@dataclass(frozen=True)
class Request(Weighted):
    """Convert ratings.

    Attributes:
        input: ratings in any form, or their file; - is standard input.
        output: file or folder to write; - is standard output.
        to: format of the output (default: from the ending of OUT).
        from_: format of the input (default: detected).
        strict: stop at the first faulty row, and write nothing if the format cannot hold everything (default: count
            both).
    """

    input: RatingsOrFile = option(take=rated.ratings_given, metavar="IN")
    output: str | PathLike[str] = option(take=os.fspath, metavar="OUT")
    _: KW_ONLY
    to: str | None = option(None, names=written_formats, metavar="FORMAT")
    from_: str | None = option(None, names=read_formats, metavar="FORMAT")
    strict: bool = False
    reading: ConvertReading = group(ConvertReading)
    joined: texts.JoinedTexts = group(texts.JoinedTexts)
    raters: texts.Raters = group(texts.Raters)
    writing: ConvertWriting = group(ConvertWriting)

    def __post_init__(self) -> None:
        super().__post_init__()
        is_file = isinstance(self.input, str)
        require(is_file or self.from_ is None, "--from is for a file; leave it out")
        of_file = self.reading.given().keys() - {"before"}
        require(is_file or not of_file, f"{', '.join(sorted(of_file))}: for a file; leave it out")

    @property
    def path(self) -> str | None:
        """The file that is read; None for ratings in memory."""
        return self.input if isinstance(self.input, str) else None

    @property
    def form(self) -> str:
        """The format of the input; that of ratings in memory is our own."""
        from matese.formats import detection

        return "jsonl" if self.path is None else self.from_ or detection.detect(self.path)

    def read_options(self) -> ReadOptions:
        """Returns how the input is read."""
        reading = self.reading
        return replace(
            texts.read_options(reading),
            test_set=reading.test_set,
            end_shift=reading.end_shift,
            single_characters=reading.single_characters,
            predictions=reading.predictions,
            system=self.writing.system,
            first_segment=reading.first_segment,
            texts=reading.texts,
        )


def run(request: Request, stream: TextIO | None = None) -> None:
    """Converts ratings from one format to another; tells how much is lost, of each kind.

    "-" stands for `stream` as the output.

    Raises:
        InputError: if the ratings cannot be read, or cannot be written in this format or to this place.
    """
    from matese.formats.format import TableStyle, WriteOptions
    from matese.formats.registry import BY_NAME, ENDINGS, WRITTEN

    reading = request.reading
    writing = request.writing
    path = request.path
    output = os.fspath(request.output)
    sources = (path, reading.before, reading.texts, *request.joined.files)
    inputs = [source for source in sources if isinstance(source, str)]
    check_stdin(inputs)
    sinks.check_apart(output, inputs)
    to = request.to or _format_of_copy(writing.template, output)
    form = sinks.format_of(output, to, ENDINGS, option="--to")
    require(form is not None, f"no output format: give --to, one of {one_of(WRITTEN)}")
    is_copy = BY_NAME[form or ""].is_copy
    problem = f"{output} is written as {form}, no copy of a file: leave out"
    require(is_copy or form == "xlsx" or writing.template is None, f"{problem} --template")
    require(is_copy or not writing.corrections_only, f"{problem} --corrections-only")
    with texts.counting_issues(request.read_options(), is_strict=request.strict) as read_options:
        ratings = _read(request.input, "input", read_options, form=request.from_)
        reviewed = None if writing.as_rater is None else _reviewed(request, read_options)
        ratings = _of_raters(request, texts.with_texts(ratings, request.joined, reading.lang_pair), reviewed)
        if reading.before is not None:
            ratings = _with_edits(ratings, request, read_options)
        table = TableStyle()
        if path is not None:
            table = sinks.table_style(path, request.from_, form or "", reading.columns)
        write_options = WriteOptions(
            request.penalties,
            writing.method,
            None if writing.template is None else Path(writing.template),
            writing.score,
            table,
            corrections_only=writing.corrections_only,
        )
        sinks.write_ratings(ratings, output, form or "", write_options, strict=request.strict, stream=stream)
        if reviewed is not None and reviewed.notice:
            notices.info(reviewed.notice)


convert = function(Request, run)


def _format_of_copy(template: str | None, output: str) -> str | None:
    """Returns the format of a localisation file whose copy has the same ending; None if there is no such template."""
    from matese.formats import detection, registry
    from matese.formats.registry import BY_NAME

    if template is None or registry.ending_of(template) != registry.ending_of(output):
        return None
    form = detection.detect(template)
    return form if BY_NAME[form].is_for_localisation and BY_NAME[form].is_copy else None


def _of_raters(request: Request, ratings: Iterable[Rating], reviewed: Reviewed | None) -> Iterable[Rating]:
    """Returns the ratings of one rater, or of all of them merged, perhaps under another name."""
    if request.raters.rater is not None:
        ratings = _ratings_by(request.raters.rater, ratings)
    if request.raters.merge is not None:
        name = request.path or "input"
        ratings = texts.one_per_segment(list(ratings), request.raters, name=name, weights=request.penalties)
    return ratings if reviewed is None else _each_once(reviewed.of(ratings), reviewed)


def _ratings_by(rater: str, ratings: Iterable[Rating]) -> Iterator[Rating]:
    """Yields the ratings of a rater."""
    other_raters: dict[str, None] = {}
    n_chosen = 0
    for rating in ratings:
        if rating.rater == rater:
            n_chosen += 1
            yield rating
        else:
            other_raters[rating.rater or "none"] = None
    if not n_chosen:
        allowed = f"must be {one_of(sorted(other_raters)[:10])}; --as-rater {rater} gives all ratings this rater"
        raise InputError(f"no rating of rater {rater!r} (--rater): {allowed}")


def _each_once(ratings: Iterable[Rating], reviewed: Reviewed) -> Iterator[Rating]:
    """Yields the ratings of one rater; raises an InputError at the second one of a segment, or if all are left out."""
    from matese.evaluation.alignment import describe_segment

    rated_before = set()
    rating = None
    for rating in ratings:
        key = rating.segment.key
        if key is not None and key.index is not None:
            segment = (key, rating.segment.hypothesis)
            if segment in rated_before:
                place = describe_segment(rating.segment)
                choice = "choose one with --rater NAME, or merge them with --merge union"
                raise InputError(f"--as-rater {rating.rater}: {place} has ratings of several raters: {choice}")
            rated_before.add(segment)
        yield rating
    if rating is None and reviewed.notice:
        raise InputError(f"nothing is written: {reviewed.notice}")


def _reviewed(request: Request, options: ReadOptions) -> Reviewed:
    """Returns what makes the ratings those of `--as-rater`."""
    from matese.formats.person_review import Reviewed

    earlier = {_place(rating): rating for rating in _marks_before(request, options)}
    writing = request.writing
    return Reviewed(writing.as_rater or "", lambda rating: earlier.get(_place(rating)), is_all=writing.all_reviewed)


def _place(rating: Rating) -> tuple[SegmentKey | None, str | None]:
    """Returns what tells the segment of a rating from others."""
    segment = rating.segment
    return segment.key, segment.hypothesis if segment.key is None or segment.key.index is None else None


def _read(ratings: RatingsOrFile, name: str, options: ReadOptions, *, form: str | None = None) -> Iterable[Rating]:
    """Returns ratings, or those of a file in a format; `name` is that of ratings in memory."""
    from matese.formats import detection

    if isinstance(ratings, str):
        return detection.read(ratings, options, name=form)
    return texts.named(ratings, name).ratings


def _marks_before(request: Request, options: ReadOptions) -> Iterator[Rating]:
    """Yields the ratings of `--before`, as far as the format of the input can hold them; nothing without the option."""
    from matese.formats.capabilities import Reducer
    from matese.formats.registry import BY_NAME

    if request.reading.before is None:
        return
    form = BY_NAME[request.form]
    reducer = Reducer(form.capabilities, adapt=form.adapt)
    for rating in _read(request.reading.before, "before", replace(options, columns={}, first_segment=None)):
        reduced = reducer.reduce(rating)
        if reduced is not None:
            yield reduced


def _with_edits(ratings: Iterable[Rating], request: Request, options: ReadOptions) -> Iterator[Rating]:
    """Yields the ratings; tells at the end how they differ from those before, as their format can hold these."""
    from matese.evaluation.spans import annotation_changes

    after = list(ratings)
    changes = annotation_changes.measure(_marks_before(request, options), after)
    yield from after
    notices.info(str(changes))
