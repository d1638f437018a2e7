"""`matese tag`: marks the errors of translations, for readers, for programs, or for other tools."""

from __future__ import annotations

import argparse
import contextlib
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from matese import mqm
from matese.annotation import Rating, Segment, TokenScores
from matese.cli import inputs, language_model, messages, model, options, output
from matese.cli.output import Output
from matese.mqm import SystemSummary

if TYPE_CHECKING:
    from matese.formats.segments import SystemSegments
    from matese.language_model.llm_annotator import LanguageModel
    from matese.model.annotator import Annotator
    from matese.shards import Shard

Rated = Iterator[tuple[Rating, TokenScores | None]]
OWN_FORMATS = ("terminal", "jsonl", "html")
LOCALISATION = ("xliff", "po")
TABLES = ("csv", "tsv")
FOR_PEOPLE = 0.5
"""Minimum confidence in formats that people correct, as a share of the model's own: a wrong span is removed more
quickly than a missing one is noticed."""
_FILE_WIDTH = 80
SUMMARY = "mark the errors of translations, each Minor or Major, and score them"
QUIET = (
    "show errors only, no notices and no progress; without --format, print one score per segment and nothing else "
    "unless the output is a terminal"
)
EPILOG = """examples:
  matese tag --ref ref.txt --hyp mt.txt
  matese tag --src src.txt --hyp mt.txt                      reference-free
  matese tag --ref a.txt --ref b.txt --hyp mt1.txt mt2.txt   two references, two systems
  matese tag --ref ref.txt --hyp mt.txt --output spans.jsonl
  matese tag --src src.txt --hyp mt.txt --format label-studio --output tasks
  matese tag --ref ref.txt --hyp mt.txt --output report.html
  matese tag --src src.txt --hyp mt.txt --shard 3/8 --output spans-3.jsonl
  matese tag --input data.csv --output out.csv               a table; its other columns are kept
  matese tag --src src.txt --hyp mt.txt --annotator openai:MODEL --base-url http://localhost:8080/v1
  matese tag --input mteval-test26.jsonl --error-free --format wmt26 --output submission.jsonl
  matese tag --engine ray --input texts --output spans       a folder or pattern of tables, on a cluster

A system has the name of its file without the last suffix ("stdin" for standard input), or its path if two names are
equal. docs/formats.md describes the formats; matese/formats/rating.schema.json is the JSON Schema of the JSONL. For
formats that people correct, such as label-studio, --min-confidence is by default half of the model's own minimum.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    inputs.add_texts(parser, has_test_sets=True)
    text = "leave out the references of --input, so that the model reads the source alone"
    parser.add_argument("--ignore-references", action="store_true", help=text)
    _add_output(parser.add_argument_group("output"))
    _add_scaling(parser.add_argument_group("large jobs", "docs/operation.md compares the two ways"))
    text = (
        "run rule-based checks, with the model (also) or without it (only): empty, copied and repeated texts, wrong "
        "scripts, wrong languages (with the extra 'languages'), numbers, brackets, quotation marks and placeholders"
    )
    ways = options.OneOf("value", ("also", "only"))
    parser.add_argument_group("checks").add_argument("--checks", type=ways, metavar="also|only", help=text)
    language_model.add_options(parser.add_argument_group("language model", "docs/models.md explains it"))
    model.add_uncertainty(parser.add_argument_group("uncertainty", "docs/explain.md explains the intervals"))
    text = "also decide which segments are free of errors; the model must be calibrated for that (docs/research/wmt.md)"
    parser.add_argument_group("error-free segments").add_argument("--error-free", action="store_true", help=text)
    model.add_options(parser, is_main=True)


def _add_output(group: argparse._ArgumentGroup) -> None:
    text = (
        "terminal, jsonl, html, or another that matese convert writes (default: terminal; with --output FILE, the "
        "format of the ending of its name)"
    )
    formats = options.OneOf("format", OWN_FORMATS, _written_formats)
    options.add_output(group, formats, text)
    group.add_argument("--only-errors", action="store_true", help="write only segments with errors")
    orders = options.OneOf("order", ("file", "worst"))
    text = "file, or worst for the lowest expected scores first, after all segments are annotated (default: file)"
    group.add_argument("--sort", default="file", type=orders, metavar="ORDER", help=text)
    text = (
        "annotate only the first N segments of each system; with --only-errors, until N have errors; "
        "with --sort worst, write the N worst"
    )
    options.add_limit(group, text)
    group.add_argument("--tokens", action="store_true", help="jsonl: add the probabilities of every token")


def _add_scaling(group: argparse._ArgumentGroup) -> None:
    text = (
        "annotate only the I-th of N parts, from 1; run the same command again to resume. With --precision "
        "float32, the joined parts equal the output of one process byte for byte"
    )
    group.add_argument("--shard", type=_shard, metavar="I/N", help=text)
    engines = options.OneOf("engine", ("local", "ray"))
    text = "local, or ray to annotate the files of a folder on a Ray cluster (default: local)"
    group.add_argument("--engine", default="local", type=engines, metavar="NAME", help=text)
    text = "ray: number of workers at most (default: as many as the cluster has room for)"
    group.add_argument("--workers", type=options.whole_number(1), metavar="N", help=text)


def _written_formats() -> Sequence[str]:
    from matese.formats.registry import WRITTEN

    return WRITTEN


def _shard(value: str) -> Shard:
    from matese.shards import Shard

    match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", value)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"{value!r} must be I/N, whole numbers, I from 1 to N")
    return Shard(int(match[1]), int(match[2]))


def run(args: argparse.Namespace) -> None:
    language_model.check(args)
    if args.engine == "ray":
        from matese.cli import cluster

        cluster.run(args)
        return
    options.require(args.workers is None, "--workers is for --engine ray only")
    if args.shard is not None:
        _annotate_shard(args)
        return
    output.check_apart(args.output, inputs.given_files(args))
    form = _format(args)
    has_model = args.checks != "only"
    require = options.require
    is_one = len(args.input) == 1
    require(form not in LOCALISATION or is_one, f"{form} is a copy of its input: give one file with --input")
    require(form == "jsonl" or not args.tokens, "--tokens is for --format jsonl only")
    require(has_model or not args.tokens, "--tokens needs a model; leave out --checks only")
    has_own_model = has_model and args.annotator is None
    require(has_own_model or not args.error_free, "--error-free needs a model: leave out --checks only and --annotator")
    require(has_model or args.uncertainty is None, "--uncertainty needs a model; leave out --checks only")
    can_sort = form not in LOCALISATION and not args.tokens
    problem = "--sort cannot be used with --tokens, or with xliff and po, which keep the order of the file"
    require(args.sort == "file" or can_sort, problem)
    with contextlib.ExitStack() as stack:
        results = stack.enter_context(output.opened(args.output)) if form in OWN_FORMATS else None
        systems, source_format = inputs.segments(args, needs_context=args.checks != "only")
        n_segments = sum(system.n_segments for system in systems)
        how = stack.enter_context(_annotating(args, form, n_segments))
        if how.model is not None:
            is_cut = not args.only_errors and args.sort == "file"
            systems = inputs.readable(systems, how.model, args, limit=args.limit if is_cut else None)
            n_segments = sum(system.n_segments for system in systems)
        summaries = [SystemSummary(system.name, args.weights) for system in systems]
        rated = _selected(args, systems, source_format, how.annotate, summaries, results)
        if results is None:
            _write_format(args, form, source_format, (rating for rating, _ in rated))
        else:
            _write(args, form, rated, results, n_segments, summaries, how.warnings)


def _format(args: argparse.Namespace) -> str:
    from matese.formats import file_endings

    known = {**file_endings.ENDINGS, **output.PAGE, **output.TEXT}
    ending = file_endings.of(args.output or "")
    is_alike = len(args.input) == 1 and ending == file_endings.of(args.input[0])
    if args.format is None and is_alike and ending not in known:
        from matese.formats import detection

        if (name := detection.detect(args.input[0])) in LOCALISATION:
            return name
    return output.format_of(args.output, args.format, known) or "terminal"


@dataclass(frozen=True, slots=True)
class _Annotating:
    """What annotates segments.

    Attributes:
        annotate: yields the rating of each segment.
        model: None for the checks alone.
        warnings: returns sentences for readers about what was annotated.
    """

    annotate: Callable[[Iterable[Segment]], Rated]
    model: Annotator | LanguageModel | None = None
    warnings: Callable[[], list[str]] = list


@contextlib.contextmanager
def _annotating(args: argparse.Namespace, form: str, n_segments: int) -> Iterator[_Annotating]:
    """Yields what annotates segments: a model, the checks, or both. Reports at the end what the model did."""
    if args.checks is not None:
        from matese.checks import checker

    def with_checks(rating: Rating) -> Rating:
        return checker.add_findings(rating) if args.checks == "also" and rating.errors is not None else rating

    if args.checks == "only":
        yield _Annotating(lambda segments: ((rating, None) for rating in checker.annotate_segments(segments)))
        return
    if args.annotator is not None:
        with language_model.opened(args) as other:
            marked = other.annotate_segments
            yield _Annotating(lambda segments: ((with_checks(rating), None) for rating in marked(segments)), other)
        return
    with model.loaded(args, n_segments) as annotator:
        if args.min_confidence is None and form not in OWN_FORMATS:
            from matese.formats.registry import BY_NAME

            chosen = annotator.options
            if BY_NAME[form].is_for_people and chosen.min_confidence is not None:
                lowered = replace(chosen, min_confidence=FOR_PEOPLE * chosen.min_confidence)
                annotator = annotator.with_options(lowered)

        def annotate(segments: Iterable[Segment]) -> Rated:
            rated: Rated = ((rating, None) for rating in annotator.annotate_segments(segments))
            if args.tokens:
                rated = annotator.annotate_tokens(segments)
            return ((with_checks(rating), tokens) for rating, tokens in rated)

        yield _Annotating(annotate, annotator, lambda: annotator.counts.warnings)
        messages.info(*annotator.counts.notices)


def _selected(
    args: argparse.Namespace,
    systems: Sequence[SystemSegments],
    source_format: str | None,
    annotate: Callable[[Iterable[Segment]], Rated],
    summaries: Sequence[SystemSummary],
    results: Output | None,
) -> Rated:
    """Yields the ratings that are written; all that are made are counted, in the summary of each system."""
    losses: Counter[str] = Counter()
    n_undecided = 0
    adapt = None
    if source_format in LOCALISATION:  # placeholders are not marked
        from matese.formats.registry import BY_NAME

        adapt = BY_NAME[source_format or ""].adapt
    summary_of = {summary.system: summary for summary in summaries}
    to_sort: dict[str, list[Rating]] = {system.name: [] for system in systems}
    with messages.bar(sum(system.n_segments for system in systems)) as bar:
        for system, marked, tokens in _annotated(args, systems, annotate):
            rating = marked if adapt is None else adapt(marked, losses)
            summary_of[system].add(rating)
            n_undecided += args.error_free and rating.error_free is None
            bar.advance()
            if not _is_written(args, rating):
                continue
            if args.sort == "worst":
                to_sort[system].append(rating)
                continue
            if results is not None and results.stream.isatty():
                bar.make_way()
            yield rating, tokens
        for system, ratings in to_sort.items():
            for rating in islice(mqm.worst_first(ratings, summary_of[system].weights), args.limit):
                yield rating, None
    if n_undecided:
        problem = "have no error-free label: the model is not calibrated for the texts that they have"
        messages.info(f"{n_undecided:,} segments {problem}")
    if losses:
        messages.info(f"left out: {'; '.join(f'{kind}: {n:,}' for kind, n in losses.most_common())}")


def _is_written(args: argparse.Namespace, rating: Rating) -> bool:
    return bool(rating.all_errors) or not args.only_errors


def _annotated(
    args: argparse.Namespace, systems: Sequence[SystemSegments], annotate: Callable[[Iterable[Segment]], Rated]
) -> Iterator[tuple[str, Rating, TokenScores | None]]:
    """Yields the rating of each segment that `--limit` allows, with the name of its system.

    Systems of one file are annotated together, in the order of the file; others follow one another.
    """
    from matese.formats.segments import in_order

    n_begun = Counter[str]()
    n_written = Counter[str]()
    limit = None if args.sort == "worst" else args.limit

    def is_complete(system: SystemSegments) -> bool:
        counts = n_written if args.only_errors else n_begun
        return limit is not None and counts[system.name] >= limit

    def texts(part: Sequence[SystemSegments], begun: deque[SystemSegments]) -> Iterator[Segment]:
        for system, segment in in_order(part):
            if all(map(is_complete, part)):
                return
            if not is_complete(system):
                n_begun[system.name] += 1
                begun.append(system)
                yield segment

    is_one_file = all(system.places is not None for system in systems)
    for part in [systems] if is_one_file else [[system] for system in systems]:
        begun: deque[SystemSegments] = deque()  # systems of the segments that were taken some batches ahead
        for rating, tokens in annotate(texts(part, begun)):
            system = begun.popleft()
            if not args.only_errors or not is_complete(system):
                n_written[system.name] += _is_written(args, rating)
                yield system.name, rating, tokens


def _filters(args: argparse.Namespace) -> str:
    """Returns the given options that leave segments out."""
    filters = {"--only-errors": args.only_errors, "--limit": args.limit is not None}
    return ", ".join(name for name, is_given in filters.items() if is_given)


def _write_format(args: argparse.Namespace, form: str, source_format: str | None, ratings: Iterable[Rating]) -> None:
    from matese.formats.format import WriteOptions

    is_copy = form == source_format and form in LOCALISATION
    how = WriteOptions(args.weights, template=Path(args.input[0]) if is_copy else None)
    first = args.input[0] if args.input else ""
    if form in TABLES and source_format in TABLES and Path(first).is_file():
        from matese.formats.tables import columns, csv_table

        how = replace(how, table=csv_table.style_of(first, columns.parse(args.columns)))
    output.write_ratings(ratings, args.output, form, how)
    if args.only_errors or args.limit is not None:
        messages.info(f"only some of the segments are written ({_filters(args)})")


def _write(
    args: argparse.Namespace,
    form: str,
    rated: Rated,
    results: Output,
    n_segments: int,
    summaries: Sequence[SystemSummary],
    warnings: Callable[[], list[str]],
) -> None:
    """Writes one of `OWN_FORMATS`."""
    weights = summaries[0].weights
    n_written = 0
    if form == "html":
        from matese.render import report_page

        by_system: dict[str, list[Rating]] = {summary.system: [] for summary in summaries}
        for rating, _ in rated:
            by_system[(rating.segment.key and rating.segment.key.system) or next(iter(by_system))].append(rating)
        notes = warnings()
        if part := _part(sum(map(len, by_system.values())), n_segments):
            notes.append(f"{part} are on this page ({_filters(args)}); all figures are computed from these")
        results.write(report_page.render(", ".join(by_system), by_system, weights=weights, notes=notes))
    elif form == "jsonl":
        from matese.formats.tables import jsonl

        for rating, tokens in rated:
            results.write(f"{jsonl.dumps(rating, weights=weights, tokens=tokens)}\n")
            n_written += 1
        if part := _part(n_written, n_segments):
            messages.info(f"{part} are written ({_filters(args)})")
    elif args.quiet and args.format is None and not results.stream.isatty():
        for rating, _ in rated:
            results.write(f"{mqm.ranking_score(rating, weights):.10g}\n")
    else:
        has_confidence = args.annotator is None and args.checks != "only"
        _draw(rated, results, n_segments, summaries, has_confidence=has_confidence)


def _draw(
    rated: Rated, results: Output, n_segments: int, summaries: Sequence[SystemSummary], *, has_confidence: bool
) -> None:
    """Writes the terminal format."""
    from matese.evaluation.systems.system_ranking import rank
    from matese.render import score_report, terminal

    style = terminal.Styler(results.stream)
    n_written = 0
    width = style.width if results.is_stdout else _FILE_WIDTH
    limit = width if results.stream.isatty() else None  # programs want a table in one piece
    for n_written, (rating, _) in enumerate(rated, start=1):
        if n_written == 1 and rating.errors is not None:
            results.write(f"{style(terminal.legend(has_confidence=has_confidence))}\n\n")
        results.write(style(terminal.draw(rating, width=width, weights=summaries[0].weights)) + "\n")
    part = _part(n_written, n_segments)
    results.write(style(score_report.summary(rank(summaries), part and f"{part} are shown", limit)))


def _part(n_written: int, n_segments: int) -> str:
    return f"{n_written:,} of {n_segments:,} segments" if n_written < n_segments else ""


def _annotate_shard(args: argparse.Namespace) -> None:
    """Annotates one part; a part that is complete is only checked."""
    from matese import shards
    from matese.files import is_device
    from matese.formats.segments import in_order

    is_file = args.output not in (None, "-") and not is_device(args.output)
    options.require(is_file and _format(args) == "jsonl", "--shard needs --output FILE.jsonl")
    is_whole = not args.only_errors and args.limit is None
    options.require(is_whole, "--shard writes all of its segments: leave out --only-errors and --limit")
    options.require(args.checks is None, "--shard: leave out --checks, and run them in a separate command")
    target = Path(args.output)
    for path in (target, shards.part_of(target)):
        output.check_apart(str(path), inputs.given_files(args))
    systems, _ = inputs.segments(args)
    n_segments = sum(system.n_segments for system in systems)
    # Of all parts, so that each is computed as the whole would be.
    with model.loaded(args, n_segments) as annotator:
        systems = inputs.readable(systems, annotator, args)
        indices = args.shard.indices(sum(system.n_segments for system in systems))
        segments = islice((segment for _, segment in in_order(systems)), indices.start, indices.stop)
        is_resumed = shards.part_of(target).exists()
        is_complete = target.exists()
        numbers = shards.annotate(segments, len(indices), target, annotator, with_tokens=args.tokens)
        n_done = next(numbers)
        if is_complete:
            messages.info(f"{target} is complete: nothing to do")
            return
        if is_resumed:
            messages.info(f"resuming after {n_done:,} of {len(indices):,} segments")
        for _ in messages.progress(numbers, len(indices) - n_done):
            pass
        messages.info(*annotator.counts.notices)
