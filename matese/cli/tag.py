"""`matese tag`: marks the errors of translations, for readers, for programs, or for other tools."""

from __future__ import annotations

import argparse
import contextlib
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from matese import mqm
from matese.annotation import Rating, Segment, TokenScores
from matese.cli import inputs, language_model, messages, model, options, output
from matese.cli.output import Output
from matese.errors import InputError, counted
from matese.files import beside, is_device
from matese.mqm import SystemSummary
from matese.version import __version__

if TYPE_CHECKING:
    from matese.formats.segments import SystemSegments
    from matese.language_model.llm_annotator import LanguageModel
    from matese.model.annotator import Annotator

Rated = Iterator[tuple[Rating, TokenScores | None]]
OWN_FORMATS = ("terminal", "jsonl", "html")
LOCALISATION = ("xliff", "po")
FOR_PEOPLE = 0.5
"""Minimum confidence in formats that people correct, as a share of the model's own: a wrong span is removed more
quickly than a missing one is noticed."""
_FILE_WIDTH = 80
SUMMARY = "mark the errors of translations, and score them"
QUIET = (
    "show errors only, no notices and no progress; without --format, print one score per segment and nothing else "
    "unless the output is a terminal"
)
USUAL = ("hyp", "src", "ref", "lang-pair", "input", "format", "output", "only-errors", "sort", "checks", "model")
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
        "annotate only the I-th of N parts of the segments, from 1; with --precision float32, the joined parts equal "
        "the output of one process"
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


def _shard(value: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", value)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"{value!r} must be I/N, whole numbers, I from 1 to N")
    return int(match[1]), int(match[2])


def run(args: argparse.Namespace) -> None:
    from matese.formats import segments

    language_model.check(args)
    if args.engine == "ray":
        from matese.cli import cluster

        cluster.run(args)
        return
    options.require(args.workers is None, "--workers is for --engine ray only")
    output.check_apart(args.output, inputs.given_files(args))
    if _is_file(args.output):
        output.check_apart(str(beside(args.output)), inputs.given_files(args))
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
        journals = stack.enter_context(contextlib.ExitStack())  # ends after the output is complete
        results = stack.enter_context(output.opened(args.output)) if form in OWN_FORMATS else None
        systems, source_format = inputs.segments(args, needs_context=args.checks != "only")
        n_segments = sum(system.n_segments for system in systems)
        # Of all parts, so that each is computed as the whole would be.
        how = stack.enter_context(_annotating(args, form, n_segments))
        if how.model is not None:
            is_cut = not args.only_errors and args.sort == "file" and args.shard is None
            systems = inputs.readable(systems, how.model, args, limit=args.limit if is_cut else None)
        if args.shard is not None:
            systems = segments.part(systems, *args.shard)
            is_empty = not any(system.n_segments for system in systems)
            require(form not in ("terminal", "html") or not is_empty, "--shard: the part has no segment")
        n_segments = sum(system.n_segments for system in systems)
        if how.signature and _is_file(args.output):
            how = journals.enter_context(_resumable(args, systems, how, n_segments))
        summaries = [SystemSummary(system.name, args.weights) for system in systems]
        rated = _selected(args, systems, source_format, how, summaries, results)
        if results is None:
            _write_format(args, form, source_format, (rating for rating, _ in rated))
        else:
            _write(args, form, rated, results, n_segments, summaries, how.warnings)


def _is_file(path: str | None) -> TypeGuard[str]:
    return path is not None and path not in ("-", "/dev/stdout") and not is_device(path)


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
        signature: names what can change a rating; None if the annotator itself resumes an interrupted run.
        warnings: returns sentences for readers about what was annotated.
        counted: returns what the warnings and notices are made of.
        count_on: continues from what an earlier run has counted.
        n_earlier: number of ratings that an earlier run has left.
    """

    annotate: Callable[[Iterable[Segment]], Rated]
    model: Annotator | LanguageModel | None = None
    signature: str | None = None
    warnings: Callable[[], list[str]] = list
    counted: Callable[[], Mapping[str, object]] = dict
    count_on: Callable[[Mapping[str, object]], None] = lambda counts: None
    n_earlier: int = 0


@contextlib.contextmanager
def _annotating(args: argparse.Namespace, form: str, n_segments: int) -> Iterator[_Annotating]:
    """Yields what annotates segments: a model, the checks, or both. Reports at the end what the model did."""
    if args.checks is not None:
        from matese.checks import checker

    def with_checks(rating: Rating) -> Rating:
        return checker.add_findings(rating) if args.checks == "also" and rating.errors is not None else rating

    if args.checks == "only":
        found = checker.annotate_segments
        yield _Annotating(lambda segments: ((rating, None) for rating in found(segments)), signature=__version__)
        return
    if args.annotator is not None:
        with language_model.opened(args) as other:
            marked = other.annotate_segments
            yield _Annotating(lambda segments: ((with_checks(rating), None) for rating in marked(segments)), other)
        return
    from matese.formats import validation

    with model.loaded(args, n_segments) as annotator:
        from matese.model.annotator import Counts

        if args.min_confidence is None and form not in OWN_FORMATS:
            from matese.formats.registry import BY_NAME

            chosen = annotator.decoding
            if BY_NAME[form].is_for_people and chosen.min_confidence is not None:
                lowered = replace(chosen, min_confidence=FOR_PEOPLE * chosen.min_confidence, span_budget=None)
                annotator = annotator.with_decoding(lowered)

        def annotate(segments: Iterable[Segment]) -> Rated:
            rated: Rated = ((rating, None) for rating in annotator.annotate_segments(segments))
            if args.tokens:
                rated = annotator.annotate_tokens(segments)
            return ((with_checks(rating), tokens) for rating, tokens in rated)

        yield _Annotating(
            annotate,
            annotator,
            " ".join(annotator.signature(kind) for kind in annotator.config.texts.inputs),
            warnings=lambda: annotator.counts.warnings,
            counted=lambda: asdict(annotator.counts),
            count_on=lambda counts: annotator.count_on(validation.convert(counts, Counts)),
        )
        messages.info(*annotator.counts.notices)


# Options that change which ratings are written, where and how fast, but no rating; what is in the inputs is in the
# texts, and what the model is in its signature.
_WITHOUT_EFFECT = (
    *("command", "version", "quiet", "output", "format", "sort", "only_errors", "limit", "skip_incomplete"),
    *("engine", "workers", "device", "batch_tokens", "threads", "model", "min_confidence"),
    *("hyp", "src", "ref", "input", "test_set", "lang_pair", "system", "columns", "ignore_references"),
)


@contextlib.contextmanager
def _resumable(
    args: argparse.Namespace, systems: Sequence[SystemSegments], how: _Annotating, n_segments: int
) -> Iterator[_Annotating]:
    """Yields an annotator that keeps its ratings beside the output until it is complete, and takes those of before."""
    from matese.formats.segments import in_order
    from matese.tasks.journal import Journal, Origin, digest

    texts = digest((system.name, segment) for system, segment in in_order(systems))
    options = digest(sorted((name, value) for name, value in vars(args).items() if name not in _WITHOUT_EFFECT))
    with Journal(beside(args.output), Origin(texts, options, how.signature or "")) as journal:
        if journal.n_earlier:
            messages.info(f"resuming after {journal.n_earlier:,} of {counted(n_segments, 'segment')}")
        annotate = partial(journal.annotate, how=how.annotate, counted=how.counted, count_on=how.count_on)
        try:
            yield replace(how, annotate=annotate, n_earlier=journal.n_earlier)
        except BaseException as failure:
            if journal.n_kept:
                kept = f"{journal.n_kept:,} of {counted(n_segments, 'segment')}"
                kept += f" {'is' if journal.n_kept == 1 else 'are'} kept in {journal.path}"
                if isinstance(failure, InputError):  # the same command would fail again
                    messages.info(f"stopped by an error: {kept}")
                else:
                    messages.info(f"interrupted: {kept}; the same command resumes")
            raise


def _selected(
    args: argparse.Namespace,
    systems: Sequence[SystemSegments],
    source_format: str | None,
    how: _Annotating,
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
    with messages.bar(sum(system.n_segments for system in systems), n_earlier=how.n_earlier) as bar:
        for system, marked, tokens in _annotated(args, systems, how.annotate):
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
        problem = "without an error-free label: the model is not calibrated for their texts"
        messages.info(f"{counted(n_undecided, 'segment')} {problem}")
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
    filters = {
        "--only-errors": args.only_errors,
        "--limit": args.limit is not None,
        "--shard": args.shard is not None,
    }
    return ", ".join(name for name, is_given in filters.items() if is_given)


def _write_format(args: argparse.Namespace, form: str, source_format: str | None, ratings: Iterable[Rating]) -> None:
    from matese.formats.format import WriteOptions

    is_copy = form == source_format and form in LOCALISATION
    how = WriteOptions(args.weights, template=Path(args.input[0]) if is_copy else None)
    if is_copy:
        ratings = map(_without_comment, ratings)
    if args.input:
        how = replace(how, table=output.table_style(args.input[0], source_format, form, args.columns))
    output.write_ratings(ratings, args.output, form, how)
    if filters := _filters(args):
        messages.info(f"only some of the segments are written ({filters})")


def _without_comment(rating: Rating) -> Rating:
    """Returns the rating without a person's comment, which the copy of the file holds under the person's name."""
    from matese.formats.localisation import notes

    extra = {name: value for name, value in (rating.segment.extra or {}).items() if name != notes.COMMENT}
    return replace(rating, segment=replace(rating.segment, extra=extra or None))


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
