"""Ratings in another format; everything that it cannot hold is counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from matese.annotation import Rating, SegmentKey
from matese.errors import InputError, one_of
from matese.tasks import notices, sinks, texts
from matese.tasks.request import function, option, required
from matese.tasks.texts import check_stdin, require
from matese.tasks.values import File, OneOf, Real, Text
from matese.tasks.weights import Weighted

if TYPE_CHECKING:
    from matese.evaluation.systems.quality import Basis
    from matese.formats.format import Format, ReadOptions
    from matese.formats.person_review import Reviewed

_FIRST = Real(": 0 or 1", lambda value: value in (0, 1), "N")
_SHIFT = Real(" without decimals", lambda value: value == int(value), "N")


def _read() -> tuple[str, ...]:
    from matese.formats.registry import READ

    return tuple(READ)


def _written() -> tuple[str, ...]:
    from matese.formats.registry import WRITTEN

    return tuple(WRITTEN)


FORMAT_READ = OneOf("format", (), _read, metavar="FORMAT")
FORMAT_WRITTEN = OneOf("format", (), _written, metavar="FORMAT")


@dataclass(frozen=True)
class Request(texts.ReadingOptions, texts.Raters, texts.JoinedTexts, Weighted):
    """Convert ratings.

    Attributes:
        input: ratings; - is standard input.
        output: file or folder to write; - is standard output.
        to: format of the output (default: from the ending of OUT).
        from_: format of the input (default: detected).
        first_segment: number of the first segment in the file (default: as its format counts).
        strict: stop at the first faulty row, and write nothing if the format cannot hold everything (default: count
            both).
        end_shift: error-span TSV: add N to every end.
        single_characters: error-span TSV: an end equal to its start marks a character.
        predictions: Label Studio: read the marks of models instead of people's annotations.
        test_set: test set, for files that do not state it.
        texts: submissions of WMT 2026: the test set, which has the texts.
        as_rater: the person who rated, instead of the raters in IN, whose confidences and expected scores are left out;
            so are ratings of a model that the person has neither reviewed (a column reviewed) nor changed.
        all_reviewed: --as-rater has reviewed every row, also those that the column reviewed does not name.
        before: the marks that the raters saw: report how many they kept, changed, removed and added.
        method: name of the submission or campaign (default: matese).
        score: wmt-scores, mtme-scores: spans or expected (default: expected if all ratings have an expected score).
        system: name of the system, in place of the one that IN states.
        corrections_only: files of translators: write the corrected translations into the copy, and no notes.
        template: for a copy: the XLIFF, PO, XLSX or other file that the texts come from; of SRT, the copy may be VTT.
    """

    input: str = required(File())
    output: str = required(File())
    _: KW_ONLY
    to: str | None = option(None, FORMAT_WRITTEN)
    from_: str | None = option(None, FORMAT_READ)
    first_segment: float | None = option(None, _FIRST)
    strict: bool = False
    end_shift: float = option(0, _SHIFT)
    single_characters: bool = False
    predictions: bool = False
    test_set: str | None = option(None, Text())
    texts: str | None = option(None, File())
    as_rater: str | None = option(None, Text())
    all_reviewed: bool = False
    before: str | None = option(None, File())
    method: str = option("matese", Text())
    score: Basis | None = option(None, OneOf("score", ("spans", "expected")))
    system: str | None = option(None, Text())
    corrections_only: bool = False
    template: str | None = option(None, File())

    @property
    def reading(self) -> ReadOptions:
        """How the input is read."""
        return replace(
            texts.read_options(self),
            test_set=self.test_set,
            end_shift=int(self.end_shift),
            single_characters=self.single_characters,
            predictions=self.predictions,
            system=self.system,
            first_segment=None if self.first_segment is None else int(self.first_segment),
            texts=self.texts,
        )


def run(request: Request, stream: TextIO | None = None) -> None:
    """Converts ratings from one format to another; tells how much is lost, of each kind.

    "-" stands for `stream` as the output.

    Raises:
        InputError: if the ratings cannot be read, or cannot be written in this format or to this place.
    """
    from matese.formats import detection
    from matese.formats.file_endings import ENDINGS
    from matese.formats.format import WriteOptions
    from matese.formats.registry import WRITTEN

    others = [path for path in (request.before, request.src, request.texts, *request.ref) if path is not None]
    check_stdin([request.input, *others])
    sinks.check_apart(request.output, [request.input, *others])
    to = request.to or _format_of_copy(request.template, request.output)
    form = sinks.format_of(request.output, to, ENDINGS, option="--to")
    require(form is not None, f"no output format: give --to, one of {one_of(WRITTEN)}")
    with texts.counting_issues(request.reading, is_strict=request.strict) as how:
        ratings: Iterable[Rating] = detection.read(request.input, how, name=request.from_)
        reviewed = None if request.as_rater is None else _reviewed(request, how)
        ratings = _of_raters(request, texts.with_texts(ratings, request), reviewed)
        if request.before is not None:
            form_of_input = request.from_ or detection.detect(request.input)
            ratings = _with_edits(ratings, request.before, how, form=form_of_input)
        table = sinks.table_style(request.input, request.from_, form or "", request.columns)
        template = None if request.template is None else Path(request.template)
        writing = WriteOptions(
            request.penalties,
            request.method,
            template,
            request.score,
            table,
            corrections_only=request.corrections_only,
        )
        sinks.write_ratings(ratings, request.output, form or "", writing, strict=request.strict, stream=stream)
        if reviewed is not None and reviewed.notice:
            notices.info(reviewed.notice)


convert = function(Request, run)


def _format_of_copy(template: str | None, output: str) -> str | None:
    """Returns the format of a localisation file whose copy has the same ending; None if there is no such template."""
    from matese.formats import detection, file_endings
    from matese.formats.registry import BY_NAME

    if template is None or file_endings.of(template) != file_endings.of(output):
        return None
    form = detection.detect(template)
    return form if BY_NAME[form].is_for_localisation and BY_NAME[form].is_copy else None


def _of_raters(request: Request, ratings: Iterable[Rating], reviewed: Reviewed | None) -> Iterable[Rating]:
    """Returns the ratings of one rater, or of all of them merged, perhaps under another name."""
    if request.rater is not None:
        ratings = _of(request.rater, ratings)
    if request.merge is not None:
        ratings = texts.one_per_segment(list(ratings), request, name=request.input, weights=request.penalties)
    return ratings if reviewed is None else _each_once(reviewed.of(ratings))


def _of(rater: str, ratings: Iterable[Rating]) -> Iterator[Rating]:
    """Yields the ratings of a rater."""
    others: dict[str, None] = {}
    n_chosen = 0
    for rating in ratings:
        if rating.rater == rater:
            n_chosen += 1
            yield rating
        else:
            others[rating.rater or "none"] = None
    if not n_chosen:
        allowed = f"must be {one_of(sorted(others)[:10])}; --as-rater {rater} gives all ratings this rater"
        raise InputError(f"no rating of rater {rater!r} (--rater): {allowed}")


def _each_once(ratings: Iterable[Rating]) -> Iterator[Rating]:
    """Yields the ratings of one rater; raises an InputError at the second rating of a segment."""
    from matese.evaluation.alignment import describe_segment

    rated_before = set()
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


def _reviewed(request: Request, how: ReadOptions) -> Reviewed:
    """Returns what makes the ratings those of `--as-rater`."""
    from matese.formats import detection
    from matese.formats.person_review import Reviewed
    from matese.formats.registry import BY_NAME

    shown: dict[tuple[SegmentKey | None, str | None], Rating] = {}
    if request.before is not None:
        form = BY_NAME[request.from_ or detection.detect(request.input)]
        shown = {_place(rating): rating for rating in _held(request.before, how, form)}
    return Reviewed(request.as_rater or "", lambda rating: shown.get(_place(rating)), is_all=request.all_reviewed)


def _place(rating: Rating) -> tuple[SegmentKey | None, str | None]:
    """Returns what tells the segment of a rating from others."""
    segment = rating.segment
    return segment.key, segment.hypothesis if segment.key is None or segment.key.index is None else None


def _held(before: str, how: ReadOptions, form: Format) -> Iterator[Rating]:
    """Yields the ratings of a file, as far as a format can hold them."""
    from matese.formats import detection
    from matese.formats.capabilities import Reducer

    reducer = Reducer(form.capabilities, adapt=form.adapt)
    given = detection.read(before, replace(how, columns={}, first_segment=None))
    yield from (held for rating in given if (held := reducer.reduce(rating)) is not None)


def _with_edits(ratings: Iterable[Rating], before: str, how: ReadOptions, *, form: str) -> Iterator[Rating]:
    """Yields the ratings; tells at the end how they differ from those in a file, as their format can hold these."""
    from matese.evaluation.spans import annotation_changes
    from matese.formats.registry import BY_NAME

    after = list(ratings)
    changes = annotation_changes.measure(_held(before, how, BY_NAME[form]), after)
    yield from after
    notices.info(str(changes))
