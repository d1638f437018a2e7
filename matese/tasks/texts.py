"""Requests for texts and ratings, and how they are found: systems of segments, candidates, systems of ratings."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Protocol, TypeAlias

from matese import mqm
from matese.annotation import Rating, Segment
from matese.errors import ModelError, UsageError, near_miss
from matese.files import abridged, short_names
from matese.merging import MergeMethod
from matese.tasks import notices
from matese.validation.options import File, Options, option

if TYPE_CHECKING:
    from matese.evaluation.spans.evaluation import NamedRatings
    from matese.formats.candidates import Candidates
    from matese.formats.format import ReadOptions
    from matese.formats.segments import GivenSegments
    from matese.tasks.files import RatingsLike

    RatingsOrFile: TypeAlias = RatingsLike | NamedRatings
    """Ratings in any form, perhaps with a name for messages and results."""
    Systems: TypeAlias = Mapping[str, RatingsOrFile] | Sequence[str | PathLike[str] | Sequence[Rating]]
    """Ratings by the name of their system, or a list of files or of lists of ratings, whose keys name the systems."""


@dataclass(frozen=True, kw_only=True)
class FileReading(Options):
    """How files are read.

    Attributes:
        lang_pair: language pair, such as en-de or english-german, in place of what files state.
        columns: columns with unusual names, such as hypothesis=mtA,mtB reference=gold comment=remarks.
    """

    lang_pair: str | None = option(None, metavar="PAIR")
    columns: Sequence[str] = option((), metavar="NAME=COLUMN")


@dataclass(frozen=True)
class TextFiles(FileReading):
    """Translations, in text files or tables, with what they are compared with.

    Attributes:
        hyp: translations, one file per system; a folder stands for all its files.
        src: the source; given a reference too, mini reads the reference alone.
        ref: a reference; repeatable.
        input: CSV, TSV, XLSX, JSON, JSONL, Parquet, XLIFF, PO, or any format that matese convert reads; also text files
            (.txt), with --src or --ref of as many lines; several files of one system are joined.
        test_set: source and references of this test set of sacreBLEU.
        system: name of the system, in place of the name that the file has or states.
        skip_incomplete: leave out segments without the texts that the model needs, and report their number.
        ignore_references: leave out the references of --input, so that the model reads the source alone.
        align: join the lines of translations and of their source or references that differ in number.
    """

    hyp: Sequence[File] = option((), flags=["-t"])
    _: KW_ONLY
    src: Sequence[File] = option((), flags=["-s"], is_repeated=True)
    ref: Sequence[File] = option((), flags=["-r"], is_repeated=True)
    input: Sequence[File] = ()
    test_set: str | None = None
    system: str | None = None
    skip_incomplete: bool = False
    ignore_references: bool = False
    align: bool = False

    @property
    def files(self) -> list[str]:
        """All files that are named."""
        return [*self.hyp, *self.ref, *self.src, *self.input]


@dataclass(frozen=True, kw_only=True)
class Raters(Options):
    """Which of several raters of a segment counts.

    Attributes:
        rater: take the ratings of this rater.
        merge: merge the raters' errors: union or majority.
    """

    rater: str | None = None
    merge: MergeMethod | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.rater is None or self.merge is None, "--rater and --merge are both given; give one of them")


@dataclass(frozen=True)
class CandidateTexts(FileReading):
    """Candidates of the same source.

    Attributes:
        nbest: an n-best list; - is standard input.
        hyp: translations, one file per system; a folder stands for all its files.
        src: the source.
        input: CSV, TSV, XLSX, JSON, JSONL, Parquet, XLIFF, PO, or any format that matese convert reads.
    """

    nbest: File | None = None
    _: KW_ONLY
    hyp: Sequence[File] = option((), flags=["-t"])
    src: Sequence[File] = option((), flags=["-s"], is_repeated=True)
    input: Sequence[File] = ()

    @property
    def files(self) -> list[str]:
        """All files that are named."""
        return [*self.hyp, *self.src, *self.input, *([self.nbest] if self.nbest else [])]


@dataclass(frozen=True, kw_only=True)
class JoinedTexts(Options):
    """Texts of a test set, which are joined to ratings without them.

    Attributes:
        src: text file of the test set's sources, for ratings without source or references.
        ref: text file of a reference of the test set; repeatable.
        texts_of: take source and references from a test set of sacreBLEU or a directory of mt-metrics-eval.
    """

    src: File | None = option(None, flags=["-s"])
    ref: Sequence[File] = option((), flags=["-r"], is_repeated=True)
    texts_of: str | None = option(None, metavar="TESTSET")

    @property
    def files(self) -> list[str]:
        """The text files that are named."""
        return [*([self.src] if self.src else []), *self.ref]


class Reads(Protocol):
    """An annotator, as far as `readable` asks it."""

    @property
    def needed(self) -> str:
        """The texts that it needs at least."""

    def can_read(self, segment: Segment) -> bool:
        """Whether a segment has them."""

    def check_texts(self, segment: Segment) -> None:
        """Raises a ModelError if a segment lacks one."""


def require(is_met: bool, problem: str) -> None:
    """Raises a UsageError unless a condition is met."""
    if not is_met:
        raise UsageError(problem)


def check_stdin(paths: Sequence[str]) -> None:
    """Raises a UsageError if standard input is given for several files."""
    n_given = list(paths).count("-")
    require(n_given < 2, f"- is given {n_given} times; standard input can be one file only")


def check_given_once(paths: Sequence[str]) -> None:
    """Raises a UsageError if a file is given several times."""
    check_stdin(paths)
    for path, count in Counter(paths).items():
        require(count == 1, f"{path} is given {count} times; give it once")


@contextlib.contextmanager
def counting_issues(options: ReadOptions, *, is_strict: bool = False) -> Iterator[ReadOptions]:
    """Yields options for reading ratings that tell at the end how many rows were skipped or repaired.

    With `is_strict`, such a row raises a FormatError.
    """
    from matese.formats.row_issues import IssueCounts

    issues = IssueCounts()
    yield replace(options, report=None if is_strict else issues)
    notices.info(*issues.messages())


def read_options(reading: FileReading, *, untranslated: bool = False, may_be_empty: bool = False) -> ReadOptions:
    """Returns how the files of a request are read."""
    from matese.formats.format import ReadOptions
    from matese.formats.tables import columns

    by_role = columns.parse(reading.columns)
    options = ReadOptions(
        lang_pair=reading.lang_pair, columns=by_role, untranslated=untranslated, may_be_empty=may_be_empty
    )
    if isinstance(reading, TextFiles):
        options = replace(options, test_set=reading.test_set, system=reading.system)
    return options


def segments(
    texts: TextFiles, *, needs_context: bool = True, untranslated: bool = False, may_be_empty: bool = False
) -> GivenSegments:
    """Returns the segments of all systems.

    Args:
        texts: names their files.
        needs_context: whether a source or a reference must be given.
        untranslated: read XLIFF and PO units without a translation as blank translations.
        may_be_empty: report localisation files without texts, and do not refuse them.

    Raises:
        UsageError: if the options do not fit together.
        InputError: if the files cannot be read as parallel texts.
    """
    from matese.formats import segments, source_files

    if texts.input:
        is_alone = not texts.hyp and not texts.test_set
        require(is_alone, "--input holds the translations: give it without --hyp and --test-set")
        check_stdin([*texts.input, *texts.src, *texts.ref])
        inputs, left_out = source_files.without_sources(texts.input)
        if left_out:
            notices.info(f"{abridged(left_out)}: the source of the others, by the names of folders and files")
        with counting_issues(read_options(texts, untranslated=untranslated, may_be_empty=may_be_empty)) as options:
            translations = segments.from_files(
                inputs, options, sources=texts.src, references=texts.ref, needs_context=needs_context
            )
        return translations.without_references() if texts.ignore_references else translations
    require(not texts.ignore_references, "--ignore-references is for --input only")
    require(bool(texts.hyp), "no translations: give --hyp FILE or --input FILE")
    require(not texts.columns, "--columns is for --input only")
    references = texts.ref
    sources = texts.src
    if texts.test_set is not None:
        from matese.formats.corpora import published_test_sets

        is_alone = not (references or sources)
        require(is_alone, "--test-set has source and references; leave out --ref and --src")
        require(texts.lang_pair is not None, "--test-set needs --lang-pair, such as en-de")
        test_source, references = published_test_sets.text_files(texts.test_set, texts.lang_pair or "")
        sources = [test_source]
    is_enough = bool(references or sources) or not needs_context
    require(is_enough, "nothing to compare with: give --ref FILE, --src FILE or both")
    require(len(sources) < 2, f"--src is given {len(sources)} times; all translations share one source file")
    check_stdin([*texts.hyp, *references, *sources])
    source = sources[0] if sources else None
    names = {"lang_pair": texts.lang_pair, "test_set": texts.test_set, "system": texts.system}
    return segments.from_texts(texts.hyp, references, source, **names, report=notices.info if texts.align else None)


def readable(
    segments: GivenSegments, annotator: Reads, *, skip_incomplete: bool, limit: int | None = None
) -> GivenSegments:
    """Returns the segments that have the texts which the model needs; tells how many have not.

    Args:
        segments: are read once, before the model works for an hour.
        annotator: with the model.
        skip_incomplete: whether segments that lack a text are left out.
        limit: number of segments of each system that matter; None for all.

    Raises:
        ModelError: if a segment lacks a text and is not left out, or if all do.
    """
    looked_at = segments.first(limit)
    lacking = [segment for segment in looked_at if not annotator.can_read(segment)]
    if not lacking:
        return segments
    if len(lacking) == len(looked_at):
        first_lacking = lacking[0]
        try:
            annotator.check_texts(replace(first_lacking, key=None, line=None, name=None))  # its error has no place
        except ModelError as error:
            if not (names := list(first_lacking.extra or ())):
                raise
            import json

            choice = f"name the source, such as by --columns source={json.dumps(names[0], ensure_ascii=False)}"
            raise ModelError(f"{error}; the other columns are {', '.join(names)}: {choice}") from None
    places = [*dict.fromkeys(segment.label for segment in lacking if segment.label)]
    problem = f"{len(lacking):,} of {len(looked_at):,} segments lack what the model needs, {annotator.needed}"
    first = f" ({abridged(places)})" if places else ""
    if not skip_incomplete:
        raise ModelError(f"{problem}{first}: add the texts, or leave these segments out with --skip-incomplete")
    notices.info(f"left out: {problem}{first}")
    return segments.where(annotator.can_read)


def all_segments(path: str, reading: FileReading) -> list[Segment]:
    """Returns the segments of a table or another file, in its order."""
    from matese.formats import segments

    with counting_issues(read_options(reading)) as options:
        return list(segments.from_file(path, options))


def ratings(path: str, options: ReadOptions) -> list[Rating]:
    """Returns the ratings of a file; tells how many rows were skipped or repaired, and counts undecided errors."""
    from matese.formats import detection

    with counting_issues(options) as counting_options:
        rated = list(detection.read(path, counting_options))
    if n_undecided := mqm.n_undecided(rated):
        notices.info(f"{path}: {n_undecided:,} undecided, not in the score")
    return rated


def is_rated(rating: Rating) -> bool:
    """Whether anybody has judged the translation, by spans or as a whole."""
    return rating.errors is not None or rating.whole is not None


def systems(paths: Sequence[str], options: ReadOptions, *, must_be_rated: bool = True) -> dict[str, tuple[Rating, ...]]:
    """Returns the ratings of each system in the files; a file holds one or several systems."""
    from matese.evaluation import alignment

    check_given_once(paths)
    is_single = len(paths) == 1 or options.system is None
    require(is_single, f"--system can name only one system; given: {len(paths)} files of ratings")
    by_file = {}
    for name, path in zip(short_names(paths), paths, strict=True):
        by_file[name] = rated = ratings(path, options)
        if must_be_rated and not any(map(is_rated, rated)):
            first = f"matese tag --input {path} --output ratings.jsonl"
            raise UsageError(f"{path} holds translations without ratings; mark them first with {first}")
    return alignment.by_system(by_file)


def with_texts(ratings: Iterable[Rating], texts: JoinedTexts, lang_pair: str | None) -> Iterable[Rating]:
    """Returns the ratings with the texts of a test set, if one is named; tells which segments have no reference."""
    from matese.formats import test_set_texts

    test_set = test_set_texts.read(texts.src, texts.ref, test_set=texts.texts_of, lang_pair=lang_pair)
    if test_set is None:
        return ratings
    joined = test_set_texts.join(ratings, test_set)
    notices.info(*joined.notices())
    return joined.ratings


def one_per_segment(
    rated: Sequence[Rating], raters: Raters, *, name: str, weights: mqm.Weights, predicted: Sequence[Rating] = ()
) -> list[Rating]:
    """Returns one rating per segment: of the rater, or of all of them merged.

    Tells which ratings were moved, and how the MQM score of merged ratings differs from that of their raters.
    """
    from matese.evaluation.systems import raters as choosing

    selection = choosing.one_per_segment(
        rated,
        name=name,
        rater=raters.rater,
        merge=raters.merge,
        predicted=predicted,
    )
    notices.info(*selection.notices())
    if raters.merge is not None and len(selection.ratings) < len(rated):
        merged = mqm.corpus_score(mqm.score(rating, weights) for rating in selection.ratings)
        of_raters = choosing.mean_score(rated, weights)
        notices.info(
            f"{name}: the merged errors score {merged:.2f} on average (weights {weights.name}), but the raters "
            f"{of_raters:.2f}: the MQM score is the raters' mean, which matese score and matese correlate compute from "
            "the ratings before merging"
        )
    return list(selection.ratings)


def candidates(texts: CandidateTexts, references: Sequence[str] = ()) -> list[Candidates]:
    """Returns the candidates of each source, with references if there are any.

    Raises:
        UsageError: if the options do not fit together, or each source has a single candidate.
        InputError: if the files cannot be read, or have unequal numbers of segments.
    """
    from matese.formats import candidates as reading
    from matese.formats import segments as files

    n_forms = bool(texts.nbest) + bool(texts.hyp) + bool(texts.input)
    require(n_forms == 1, f"{n_forms} of --nbest, --hyp and --input are given; give one of them")
    check_stdin([*texts.files, *references])
    if texts.nbest:
        require(len(texts.src) < 2, f"--src is given {len(texts.src)} times; give one file")
        sources = reading.read_parallel(texts.src[0]) if texts.src else None
        columns = [reading.read_parallel(path, None if sources is None else len(sources)) for path in references]
        lists = reading.read(texts.nbest, sources, list(zip(*columns, strict=True)))
    else:
        if texts.hyp and not texts.src and not references:
            translations = files.from_texts(texts.hyp, lang_pair=texts.lang_pair)
        else:
            text_files = TextFiles(
                texts.hyp,
                src=texts.src,
                ref=references,
                input=texts.input,
                lang_pair=texts.lang_pair,
                columns=texts.columns,
            )
            translations = segments(text_files, needs_context=False)
        lists = _candidates_of(translations)
    n_single = sum(len(candidates.texts) == 1 for candidates in lists)
    shown_files = texts.nbest or ", ".join(texts.input or texts.hyp)
    require(n_single < len(lists), f"{shown_files} has a single candidate of each source; give two or more")
    if n_single:
        notices.info(f"{n_single:,} of {len(lists):,} sources have a single candidate, which is chosen")
    return lists


def _candidates_of(translations: GivenSegments) -> list[Candidates]:
    """Returns the candidates of each segment; a system of a table may lack some segments."""
    from matese.choosing import choice
    from matese.formats import candidates as reading
    from matese.formats.segments import system_of

    systems: dict[str, list[Segment]] = {name: [] for name in translations.counts}
    for segment in translations:
        systems[system_of(segment)].append(segment)
    if translations.is_table and len(set(translations.counts.values())) > 1:
        lists = reading.by_place(list(systems.items()))
        if lists is not None:
            return lists
    unrated = {name: [Rating(segment, None, None) for segment in of_system] for name, of_system in systems.items()}
    return [candidates for candidates, _ in choice.of_ratings(unrated)]


def named(ratings: RatingsOrFile, otherwise: str, *, untranslated: bool = False) -> NamedRatings:
    """Returns ratings, or those of a file, with a name; `otherwise` is that of ratings without one.

    Raises:
        UsageError: if they are something else.
        InputError: if the file cannot be read.
    """
    from matese.evaluation.spans.evaluation import NamedRatings
    from matese.tasks.files import listed, read, read_tokens

    if isinstance(ratings, NamedRatings):
        return ratings
    if isinstance(ratings, str | PathLike):
        return NamedRatings(str(ratings), read(ratings, untranslated=untranslated), read_tokens(ratings))
    return NamedRatings(otherwise, listed(ratings, otherwise))


def by_system(systems: Systems, *, untranslated: bool = False) -> dict[str, tuple[Rating, ...]]:
    """Returns the ratings of each system.

    Raises:
        UsageError: if there is none, or a file is given twice.
        InputError: if a file cannot be read.
    """
    from matese.evaluation import alignment

    if isinstance(systems, str | PathLike):
        raise UsageError(f"{systems} is one file: give a list of files, or of lists of ratings")
    if not isinstance(systems, Mapping):
        systems = list(systems)
    if not systems:
        raise UsageError("no system is given: must be one or more")
    if isinstance(systems, Mapping):
        of_names = {
            name: tuple(named(ratings, name, untranslated=untranslated).ratings) for name, ratings in systems.items()
        }
        for name, ratings in of_names.items():
            inside = sorted({rating.segment.key.system or "" for rating in ratings if rating.segment.key} - {""})
            if len(inside) > 1:
                raise UsageError(
                    f"{name}: the name would stand for {len(inside)} systems ({abridged(inside)}): give a list of "
                    "files without names, or the ratings of one system"
                )
        return of_names
    paths = [str(path) for path in systems if isinstance(path, str | PathLike)]
    check_given_once(paths)
    names = dict(zip(paths, short_names(paths), strict=True))
    listed = [named(ratings, f"system {n}", untranslated=untranslated) for n, ratings in enumerate(systems, start=1)]
    return alignment.by_system({names.get(system.name, system.name): system.ratings for system in listed})


def baseline_name(
    baseline: str | None, *, files: Sequence[str], names: Collection[str], of_file: Collection[str], where: str
) -> str | None:
    """Returns the name of the system that is the baseline.

    Args:
        baseline: a system or one of the files; None for none.
        files: of ratings or translations.
        names: of all systems.
        of_file: systems that the baseline's own file names.
        where: what to do if the baseline is a file beside a table; "" if there is none.

    Raises:
        UsageError: if the baseline is not a system.
    """
    if baseline is not None and baseline in files:
        short = short_names(files)[files.index(baseline)]
        baseline = next((name for name in (short, *of_file) if name in names), baseline)
    if baseline is not None and baseline not in names:
        if where and os.path.isfile(baseline):
            problem = "is a file, but the translations are given with --input, which must hold the baseline too"
            first = "mark both first (matese tag)"
            raise UsageError(
                f"--baseline {baseline} {problem}: name one of its systems ({abridged(names)}), or {first}, {where}"
            )
        problem = f"no such file or system{near_miss(baseline, names)}"
        raise UsageError(f"--baseline {baseline}: {problem} must be a file or one of the systems: {abridged(names)}")
    return baseline
