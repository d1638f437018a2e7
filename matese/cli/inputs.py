"""Read the input of commands: texts, candidates of the same source, and files of ratings in any format."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress, islice
from typing import TYPE_CHECKING

from matese.annotation import Rating, Segment
from matese.cli import messages, model, options
from matese.errors import ModelError, UsageError, near_miss
from matese.files import short_names, shown

if TYPE_CHECKING:
    from matese.formats.candidates import Candidates
    from matese.formats.format import ReadOptions
    from matese.formats.segments import SystemSegments
    from matese.language_model.llm_annotator import LanguageModel
    from matese.model.annotator import Annotator


def add_texts(parser: argparse.ArgumentParser, *, has_references: bool = True, has_test_sets: bool = False) -> None:
    """Adds the options for translations: text files or a table."""
    parser.set_defaults(test_set=None)
    group = parser.add_argument_group("texts", "UTF-8, one segment per line, plain or gzip; - is standard input")
    text = "translations, one file per system; a folder stands for all its files"
    group.add_argument("-t", "--hyp", nargs="+", action="extend", default=[], metavar="FILE", help=text)
    text = "the source; given a reference too, mini reads the reference alone" if has_references else "the source"
    group.add_argument("-s", "--src", action="append", default=[], metavar="FILE", help=text)
    if has_references:
        group.add_argument("-r", "--ref", action="append", default=[], metavar="FILE", help="a reference; repeatable")
    if has_test_sets:
        text = "source and references of this test set of sacreBLEU"
        group.add_argument("--test-set", metavar="NAME", help=text)
    add_lang_pair(group)
    if has_references:
        text = "leave out segments without the texts that the model needs, and report their number"
        group.add_argument("--skip-incomplete", action="store_true", help=text)
    group = parser.add_argument_group("tables", "all texts in one file or several")
    text = (
        "CSV, TSV, XLSX, JSON, JSONL, Parquet, XLIFF, PO, or any format that matese convert reads; also text files "
        "(.txt), with --src or --ref of as many lines; several files of one system are joined"
    )
    group.add_argument("--input", nargs="+", action="extend", default=[], metavar="FILE", help=text)
    if has_references:
        text = "name of the system, in place of the name that the file has or states"
        group.add_argument("--system", metavar="NAME", help=text)
    add_columns(group)


def add_columns(group: argparse._ActionsContainer) -> None:
    """Adds the names of columns."""
    text = "columns with unusual names, such as hypothesis=mtA,mtB reference=gold comment=remarks"
    group.add_argument("--columns", nargs="+", action="extend", default=[], metavar="NAME=COLUMN", help=text)


def segments(args: argparse.Namespace, *, needs_context: bool = True) -> tuple[list[SystemSegments], str | None]:
    """Returns the segments of each system from the options of `add_texts`, and the format if the files have one.

    Raises:
        UsageError: if the options do not fit together.
        InputError: if the files cannot be read as parallel texts.
    """
    from matese.formats import segments

    if args.input:
        is_alone = not any(vars(args).get(name) for name in ("hyp", "test_set"))
        options.require(is_alone, "--input holds the translations: give it without --hyp and --test-set")
        check_stdin([*args.input, *args.src, *(vars(args).get("ref") or [])])
        with read_options(args) as how:
            systems, form = segments.from_files(
                args.input,
                how,
                sources=args.src,
                references=vars(args).get("ref") or [],
                needs_context=needs_context,
            )
        is_reduced = vars(args).get("ignore_references", False)
        return [segments.without_references(system) for system in systems] if is_reduced else systems, form
    options.require(not vars(args).get("ignore_references"), "--ignore-references is for --input only")
    options.require(bool(args.hyp), "no translations: give --hyp FILE or --input FILE")
    options.require(not args.columns, "--columns is for --input only")
    references = args.ref
    sources = args.src
    if args.test_set is not None:
        from matese.formats.corpora import published_test_sets

        is_alone = not (references or sources)
        options.require(is_alone, "--test-set has source and references; leave out --ref and --src")
        options.require(args.lang_pair is not None, "--test-set needs --lang-pair, such as en-de")
        test_source, references = published_test_sets.text_files(args.test_set, args.lang_pair)
        sources = [test_source]
    is_enough = bool(references or sources) or not needs_context
    options.require(is_enough, "nothing to compare with: give --ref FILE, --src FILE or both")
    options.require(len(sources) < 2, f"--src is given {len(sources)} times; all translations share one source file")
    check_stdin([*args.hyp, *references, *sources])
    source = sources[0] if sources else None
    names = {"lang_pair": args.lang_pair, "test_set": args.test_set, "system": vars(args).get("system")}
    return segments.from_texts(args.hyp, references, source, **names), None


def readable(
    systems: Sequence[SystemSegments],
    annotator: Annotator | LanguageModel,
    args: argparse.Namespace,
    *,
    limit: int | None = None,
) -> list[SystemSegments]:
    """Returns the systems with the segments that have the texts which the model needs; reports how many have not.

    Args:
        systems: their segments are read once, before the model works for an hour.
        annotator: with the model.
        args: options of `add_texts`.
        limit: number of segments of each system that matter; None for all.

    Raises:
        ModelError: if a segment lacks a text, unless `--skip-incomplete` leaves it out, or if all do.
    """
    lacking = [
        [segment for segment in islice(system.read(), limit) if not annotator.can_read(segment)] for system in systems
    ]
    n_lacking = sum(map(len, lacking))
    if n_lacking == 0:
        return list(systems)
    n_segments = sum(min(system.n_segments, limit or system.n_segments) for system in systems)
    if n_lacking == n_segments:
        first_lacking = lacking[0][0]
        try:
            annotator.check_texts(replace(first_lacking, key=None, line=None, name=None))  # its error has no place
        except ModelError as error:
            if not (names := list(first_lacking.extra or ())):
                raise
            choice = f"name the source, such as by --columns source={json.dumps(names[0], ensure_ascii=False)}"
            raise ModelError(f"{error}; the other columns are {', '.join(names)}: {choice}") from None
    places = [*dict.fromkeys(segment.label for segments in lacking for segment in segments if segment.label)]
    problem = f"{n_lacking:,} of {n_segments:,} segments lack what the model needs, {annotator.needed}"
    first = f" ({shown(places)})" if places else ""
    if not args.skip_incomplete:
        raise ModelError(f"{problem}{first}: add the texts, or leave these segments out with --skip-incomplete")
    messages.info(f"left out: {problem}{first}")
    return [_readable(system, annotator) for system in systems]


def _readable(system: SystemSegments, annotator: Annotator | LanguageModel) -> SystemSegments:
    are_kept = list(map(annotator.can_read, system.read()))
    return replace(
        system,
        n_segments=sum(are_kept),
        read=lambda: compress(system.read(), are_kept),
        places=None if system.places is None else list(compress(system.places, are_kept)),
    )


def all_segments(args: argparse.Namespace, path: str) -> list[Segment]:
    """Returns the segments of a table or another file, in its order."""
    from matese.formats import segments

    with read_options(args) as how:
        systems, _ = segments.from_file(path, how)
        return [segment for _, segment in segments.in_order(systems)]


def check_stdin(paths: Sequence[str]) -> None:
    """Raises a UsageError if standard input is given for several files."""
    n_given = paths.count("-")
    options.require(n_given < 2, f"- is given {n_given} times; standard input can be one file only")


def add_from(parser: argparse.ArgumentParser) -> None:
    """Adds the format of the input."""
    from matese.formats.registry import READ

    formats = options.OneOf("format", READ)
    text = "format of the input (default: detected)"
    parser.add_argument("--from", dest="from_", type=formats, metavar="FORMAT", help=text)


def add_lang_pair(parser: argparse._ActionsContainer) -> None:
    """Adds the language pair of files that do not state it."""
    text = "language pair, such as en-de or english-german, for files that do not state it"
    parser.add_argument("--lang-pair", metavar="PAIR", help=text)


def add_test_set_texts(parser: argparse._ActionsContainer) -> None:
    """Adds the texts that are joined to ratings without them."""
    text = "text file of the test set's sources, for ratings without source or references"
    parser.add_argument("-s", "--src", metavar="FILE", help=text)
    text = "text file of a reference of the test set; repeatable"
    parser.add_argument("-r", "--ref", action="append", default=[], metavar="FILE", help=text)
    text = "take source and references from a test set of sacreBLEU or a directory of mt-metrics-eval"
    parser.add_argument("--texts-of", metavar="TESTSET", help=text)


def with_texts(ratings: Iterable[Rating], args: argparse.Namespace) -> Iterable[Rating]:
    """Returns the ratings with the texts of the options of `add_test_set_texts`; reports segments without reference."""
    from matese.formats import test_set_texts

    texts = test_set_texts.read(args.src, args.ref, test_set=args.texts_of, lang_pair=args.lang_pair)
    if texts is None:
        return ratings
    joined = test_set_texts.join(ratings, texts)
    messages.info(*joined.notices())
    return joined.ratings


@contextlib.contextmanager
def read_options(args: argparse.Namespace) -> Iterator[ReadOptions]:
    """Yields the options for reading ratings; reports at the end how many rows were skipped or repaired."""
    from matese.formats.format import ReadOptions
    from matese.formats.row_issues import IssueCounts
    from matese.formats.tables import columns

    issues = IssueCounts()
    values = vars(args)
    names = ("test_set", "lang_pair", "end_shift", "single_characters", "first_segment", "predictions", "system")
    known = {name: values[name] for name in (*names, "untranslated", "texts") if name in values}
    report = None if values.get("strict") else issues
    yield ReadOptions(report, **known, columns=columns.parse(values.get("columns", ())))
    messages.info(*issues.messages())


def ratings(path: str, args: argparse.Namespace) -> list[Rating]:
    """Returns the ratings of a file; reports how many rows were skipped or repaired."""
    from matese.formats import detection

    with read_options(args) as how:
        return list(detection.read(path, how))


def systems(
    paths: Sequence[str], args: argparse.Namespace, *, must_be_rated: bool = True
) -> dict[str, tuple[Rating, ...]]:
    """Returns the ratings of each system in the files; a file holds one or several systems."""
    from matese.evaluation import alignment

    check_stdin(paths)
    for path, count in Counter(paths).items():
        options.require(count == 1, f"{path} is given {count} times; give it once")
    is_single = len(paths) == 1 or vars(args).get("system") is None
    options.require(is_single, f"--system can name only one system; given: {len(paths)} files of ratings")
    by_file = {}
    for name, path in zip(short_names(paths), paths, strict=True):
        by_file[name] = rated = ratings(path, args)
        if must_be_rated and all(rating.errors is None and rating.whole is None for rating in rated):
            first = f"matese tag --input {path} --output ratings.jsonl"
            unread = f" ({names} not read as errors)" if (names := ", ".join(_unread(rated))) else ""
            raise UsageError(f"{path} holds translations without ratings{unread}; mark them first with {first}")
        if n_undecided := sum(error.severity is None for rating in rated for error in rating.all_errors):
            messages.info(f"{path}: errors without a severity: {n_undecided:,}; they do not count in scores")
    return alignment.by_system(by_file)


def _unread(ratings: Iterable[Rating]) -> list[str]:
    """Returns the names of other columns with lists of objects, which may be errors in the form of another tool."""
    return sorted(
        {
            name
            for rating in ratings
            for name, value in (rating.segment.extra or {}).items()
            if re.match(r"\[\s*\{", json.dumps(value) if isinstance(value, list) else str(value))
        }
    )


def add_rater_choice(parser: argparse.ArgumentParser) -> None:
    """Adds the options that choose one of several raters of a segment."""
    group = parser.add_argument_group("segments with several raters")
    chosen = group.add_mutually_exclusive_group()
    chosen.add_argument("--rater", metavar="NAME", help="take the ratings of this rater")
    methods = options.OneOf("merging method", ("union", "majority"))
    chosen.add_argument("--merge", type=methods, metavar="NAME", help="merge the raters' errors: union or majority")


def one_per_segment(
    rated: Sequence[Rating], name: str, args: argparse.Namespace, predicted: Sequence[Rating] = ()
) -> list[Rating]:
    """Returns one rating per segment, according to `--rater` and `--merge`; reports ratings that were moved."""
    from matese.evaluation.systems import raters

    chosen = raters.one_per_segment(rated, name=name, rater=args.rater, merge=args.merge, predicted=predicted)
    messages.info(*chosen.notices())
    return list(chosen.ratings)


CANDIDATES = """candidates:
  --nbest FILE  an n-best list, sources from 0: lines such as "0 ||| text ||| features ||| score" (Moses, Marian), or
                one JSON object per source: {"source": ..., "candidates": [{"text": ..., "score": ...}]}
  --hyp FILES   the translations of several systems, one segment per line
  --input FILE  a table with the translations of several systems

output:
  text: the chosen translations, one per line. jsonl: one object per source with `index`, `source`, `choice` (the number
  of the chosen candidate, from 0), `text`, `system`, `candidates` (objects with `text`, `system`, `score`,
  `model_score` and `features`; the score of a pruned candidate is null) and `signature`.
"""


def add_candidates(parser: argparse.ArgumentParser) -> None:
    """Adds the options for candidates and for the output."""
    group = parser.add_argument_group("candidates")
    group.add_argument("--nbest", metavar="FILE", help="an n-best list; - is standard input")
    add_texts(parser, has_references=False)
    group = parser.add_argument_group("output")
    text = "text (the chosen translations) or jsonl (default: text; jsonl for --output FILE.jsonl)"
    options.add_output(group, options.OneOf("format", ("text", "jsonl")), text)


def candidates(args: argparse.Namespace) -> list[Candidates]:
    """Returns the candidates of each source.

    Raises:
        UsageError: if the options do not fit together, or each source has a single candidate.
        InputError: if the files cannot be read, or have unequal numbers of segments.
    """
    from matese.formats import candidates as reading
    from matese.formats import segments as texts

    n_forms = bool(args.nbest) + bool(args.hyp) + bool(args.input)
    options.require(n_forms == 1, f"{n_forms} of --nbest, --hyp and --input are given; give one of them")
    check_stdin(given_files(args))
    references = vars(args).get("ref") or []  # of rerank --tune
    if args.nbest:
        options.require(len(args.src) < 2, f"--src is given {len(args.src)} times; give one file")
        sources = reading.read_parallel(args.src[0]) if args.src else None
        columns = [reading.read_parallel(path, None if sources is None else len(sources)) for path in references]
        lists = reading.read(args.nbest, sources, list(zip(*columns, strict=True)))
    else:
        if args.hyp and not args.src and not references:
            systems = texts.from_texts(args.hyp, lang_pair=args.lang_pair)
        else:
            systems, _ = segments(argparse.Namespace(**{**vars(args), "ref": references}), needs_context=False)
        lists = _candidates_of(systems)
    n_single = sum(len(candidates.texts) == 1 for candidates in lists)
    shown_files = args.nbest or ", ".join(args.input or args.hyp)
    options.require(n_single < len(lists), f"{shown_files} has a single candidate of each source; give two or more")
    if n_single:
        messages.info(f"{n_single:,} of {len(lists):,} sources have a single candidate, which is chosen")
    return lists


def _candidates_of(systems: Sequence[SystemSegments]) -> list[Candidates]:
    """Returns the candidates of each segment; a system of a table may lack some segments."""
    from matese.choosing import choice
    from matese.formats import candidates as reading

    if len(systems) > 1 and len({system.n_segments for system in systems}) > 1:
        lists = reading.by_place([(system.name, list(system.read())) for system in systems])
        if lists is not None and all(system.places is not None for system in systems):
            return lists
    unrated = {system.name: [Rating(segment, None, None) for segment in system.read()] for system in systems}
    return [candidates for candidates, _ in choice.of_ratings(unrated)]


def add_rated(parser: argparse.ArgumentParser) -> None:
    """Adds the options for files of ratings, for translations, and for the model."""
    parser.add_argument("ratings", nargs="*", metavar="RATINGS", help="files of ratings, instead of texts")
    parser.set_defaults(untranslated=True)
    add_texts(parser)
    add_rater_choice(parser)
    model.add_options(parser)


def given_files(args: argparse.Namespace) -> list[str]:
    """Returns the files that the options of a command name."""
    named = [vars(args).get(name) or [] for name in ("ratings", "hyp", "ref", "src", "input", "nbest", "gold")]
    return [path for paths in named for path in ([paths] if isinstance(paths, str) else paths)]


def with_baseline(args: argparse.Namespace) -> argparse.Namespace:
    """Returns the options with the name of a system as the baseline; a baseline file is added to the ratings.

    Raises:
        UsageError: if neither ratings nor texts are given.
    """
    n_forms = bool(args.ratings) + bool(args.hyp) + bool(args.input)
    options.require(n_forms == 1, "give either RATINGS, translations (--hyp) or a table (--input)")
    files = args.ratings or args.hyp
    is_file = args.baseline is not None and not args.input and (args.baseline == "-" or os.path.isfile(args.baseline))
    if is_file and args.baseline not in files:
        files = [args.baseline, *files]
    return argparse.Namespace(**{**vars(args), "ratings" if args.ratings else "hyp": files})


@dataclass(frozen=True, slots=True)
class Rated:
    """Systems to compare.

    Attributes:
        systems: the ratings of each, one per segment.
        baseline: its name; None for none.
        warnings: of the model that rated them.
    """

    systems: dict[str, list[Rating]]
    baseline: str | None
    warnings: Sequence[str] = ()


def rated(args: argparse.Namespace) -> Rated:
    """Returns the ratings of files, or the model's, from options of `add_rated` and `with_baseline`."""
    if args.ratings:
        several = systems(args.ratings, args)
        single = {name: one_per_segment(rated_of_system, name, args) for name, rated_of_system in several.items()}
        return Rated(single, _baseline(args, several))
    texts, _ = segments(args)
    baseline = _baseline(args, [system.name for system in texts])  # before the model works for an hour
    n_segments = sum(system.n_segments for system in texts)
    with model.loaded(args, n_segments) as annotator:
        texts = readable(texts, annotator, args)
        n_segments = sum(system.n_segments for system in texts)
        every = (segment for system in texts for segment in system.read())
        ratings = iter(list(messages.progress(annotator.annotate_segments(every), n_segments)))
        of_systems = {system.name: list(islice(ratings, system.n_segments)) for system in texts}
        messages.info(*annotator.counts.notices)
    return Rated(of_systems, baseline, annotator.counts.warnings)


def _baseline(args: argparse.Namespace, names: Collection[str]) -> str | None:
    """Returns the name of the baseline; raises a UsageError if it is not a system."""
    files = [*args.ratings, *args.hyp]
    baseline: str | None = args.baseline
    if baseline is not None and baseline in files:
        short = short_names(files)[files.index(baseline)]
        # A file of ratings may name its system.
        of_file = systems([baseline], args) if args.ratings else ()
        baseline = next((name for name in (short, *of_file) if name in names), baseline)
    if baseline is not None and baseline not in names:
        if args.input and os.path.isfile(baseline):
            problem = "is a file, but the translations are given with --input, which must hold the baseline too"
            first = "mark both first (matese tag)"
            then = f"then give files of ratings, as in matese {args.command} new.jsonl --baseline old.jsonl"
            raise UsageError(
                f"--baseline {baseline} {problem}: name one of its systems ({shown(names)}), or {first}, {then}"
            )
        problem = f"no such file or system{near_miss(baseline, names)}"
        raise UsageError(f"--baseline {baseline}: {problem} must be a file or one of the systems: {shown(names)}")
    return baseline
