"""Marks the errors of translations: for readers, for programs, or for other tools."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO, TypeGuard

from matese import mqm
from matese.annotation import Rating, Segment
from matese.errors import UsageError, counted
from matese.files import beside, is_device
from matese.mqm import SystemSummary
from matese.render.rating_list import Ratings
from matese.tasks import annotators, notices, sinks, texts
from matese.tasks.annotators import Asking, Loading, Marker, Marking
from matese.tasks.request import function
from matese.tasks.sinks import Job, Output
from matese.tasks.texts import TextFiles, require
from matese.tasks.weights import Weighted
from matese.validation.options import Count, File, Options, group, leaves, option, options_of

if TYPE_CHECKING:
    from matese.formats.format import WriteOptions
    from matese.formats.segments import GivenSegments
    from matese.tasks.annotators import AnnotatedSegments

OWN_FORMATS = ("terminal", "jsonl", "html")


def _written_formats() -> Sequence[str]:
    from matese.formats.registry import WRITTEN

    return (*OWN_FORMATS, *(name for name in WRITTEN if name not in OWN_FORMATS))


def _shard(value: object) -> tuple[int, int]:
    """Returns the number of a part, from 1, and the number of parts: of "I/N", or of the pair."""
    text = "/".join(map(str, value)) if isinstance(value, tuple) else str(value)
    match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise UsageError(f"{value!r} must be I/N, whole numbers, I from 1 to N")
    return int(match[1]), int(match[2])


@dataclass(frozen=True, kw_only=True)
class TagSelection(Options):
    """Which segments are annotated and written, and in what order.

    Attributes:
        only_errors: write only segments with errors.
        sort: file, or worst for the lowest expected scores first, after all segments are annotated (default: file).
        limit: annotate only the first N segments of each system; with --only-errors, until N have errors; with --sort
            worst, write the N worst.
    """

    only_errors: bool = False
    sort: Literal["file", "worst"] = option("file", metavar="ORDER")
    limit: Count | None = None

    @property
    def first(self) -> int | None:
        """How many segments of each system are annotated, as far as this is known before; None for all."""
        return self.limit if self.sort == "file" and not self.only_errors else None

    def is_written(self, rating: Rating) -> bool:
        """Whether a rating is one of those that are written."""
        return bool(rating.all_errors) or not self.only_errors


@dataclass(frozen=True, kw_only=True)
class LargeJobs(Options):
    """What divides the work among several processes.

    Attributes:
        shard: annotate only the I-th of N parts of the segments, from 1; with --precision float32, the joined parts
            equal the output of one process.
        cluster: annotate the files of a folder on a cluster: ray.
        workers: ray: number of workers at most (default: as many as the cluster has room for).
    """

    shard: tuple[int, int] | str | None = option(None, take=_shard, metavar="I/N")
    cluster: Literal["ray"] | None = None
    workers: Count | None = None


@dataclass(frozen=True)
class Request(Weighted):
    """Mark the errors of translations.

    Attributes:
        format: terminal, jsonl, html, or another that matese convert writes (default: terminal; with --output FILE, the
            format of the ending of its name).
        output: write to a file, which appears when it is complete.
        tokens: jsonl: add the probabilities of every token.
        correct: ask a language model for the corrected translation, too.
        dry_run: only tell how many requests a language model would still get, and about how many tokens.
        scores_only: where no format is given, print only the score that ranks, one number a line.
    """

    texts: TextFiles = group(TextFiles, kw_only=False)
    _: KW_ONLY
    format: str | None = option(None, names=_written_formats)
    output: File | None = None
    selection: TagSelection = group(TagSelection)
    jobs: LargeJobs = group(LargeJobs)
    tokens: bool = False
    marking: Marking = group(Marking)
    asking: Asking = group(Asking)
    correct: bool = False
    dry_run: bool = False
    scores_only: bool = option(False, is_of_python=True)

    @property
    def filters(self) -> str:
        """The options of this request that leave segments out."""
        options = self.given()
        return ", ".join(f"--{name.replace('_', '-')}" for name in ("only_errors", "limit", "shard") if name in options)

    @property
    def has_own_model(self) -> bool:
        """Whether the marks are those of a model of ours."""
        return not self.marking.is_only_checks and self.asking.annotator is None


@dataclass(frozen=True)
class Tagged:
    """What was marked.

    Attributes:
        systems: counts and scores of each system, of all segments that were annotated.
        ratings: those that would be written; none if they were written.
    """

    systems: tuple[SystemSummary, ...]
    ratings: Ratings

    def __repr__(self) -> str:
        """Returns what was marked in how many segments, and how to get at it."""
        marked = "; ".join(
            f"{summary.system}: {counted(summary.n_segments, 'segment')}, "
            f"{summary.n_minor:,} Minor, {summary.n_major:,} Major"
            for summary in self.systems
        )
        return f"<Tagged {marked}; see .ratings, .systems[number]>"


def run(request: Request, stream: TextIO | None = None) -> Tagged:
    """Marks the errors of translations; returns the ratings, or writes them to a file.

    A run with `output` that was interrupted is resumed by the same request. Without `output`, the ratings are written
    to `stream`, if there is one.
    """
    if request.jobs.cluster is not None:
        return _on_cluster(request)
    form = _check(request)
    if request.dry_run:
        return _estimate(request)
    with contextlib.ExitStack() as stack:
        is_kept = request.output is None and stream is None
        output = request.output if _is_file(request.output) else None
        kept = (output, request.asking.cache) if request.has_own_model else (None, None)
        finished = stack.enter_context(annotators.finished_work(*kept))  # ends after the output is complete
        is_own = form in OWN_FORMATS and not is_kept
        results = stack.enter_context(sinks.opened(request.output, stream)) if is_own else None
        marking = request.marking
        segments = texts.segments(request.texts, needs_context=not marking.is_only_checks)
        require(
            is_own or form == segments.form or not _is_copy(form),
            f"{form} copies an input of this format: write that of the input, or one that is no copy, such as JSONL",
        )
        annotators.tell_rules(marking, segments)
        if segments.alignment and output is not None:
            path = Path(f"{output}.alignment.tsv")
            path.write_text(segments.alignment, encoding="utf-8")
            notices.info(f"{path} says which lines belong together")
        # The number of all parts, so that each is computed as the whole would be.
        opened = annotators.opened(
            marking,
            len(segments),
            segments.forms,
            weights=request.weights,
            asked=request.asking,
            has_correction=request.correct,
            has_tokens=request.tokens,
            finished=finished,
            for_people=_is_for_people(form),
        )
        marker = stack.enter_context(opened)
        limit = request.selection.first
        shard = request.jobs.shard
        if not marking.is_only_checks:
            skip = request.texts.skip_incomplete
            looked_at = limit if shard is None else None
            segments = texts.readable(segments, marker.needs, skip_incomplete=skip, limit=looked_at)
        if isinstance(shard, tuple):
            segments = segments.part(*shard)
            require(form not in ("terminal", "html") or len(segments) > 0, "--shard: the part has no segment")
        summaries = {name: SystemSummary(name, request.penalties) for name in segments.counts}
        job = Job(tuple(summaries.values()), request.penalties, len(segments), request.filters, marker.warnings)
        n_earlier = 0 if finished is None else finished.n_earlier
        rated = _selected(request, segments.first(limit), marker, summaries, results, n_earlier)
        if is_kept:
            return Tagged(job.summaries, Ratings(rating for rating, _ in rated))
        if results is None:
            ratings: Iterator[Rating] = (rating for rating, _ in rated)
            if _is_copy(form):
                ratings = map(_without_comment, ratings)
            options = _write_options(request, form, segments)
            sinks.write_ratings(ratings, request.output, form, options, stream=stream)
            if request.filters:
                notices.info(f"only some of the segments are written ({request.filters})")
        else:
            _sink(request, form, results)(rated, results, job)
    return Tagged(job.summaries, Ratings())


def _estimate(request: Request) -> Tagged:
    """Reports what the answers of a language model would cost."""
    segments = texts.segments(request.texts)
    with annotators.asked_model(request.asking, weights=request.weights, has_correction=request.correct) as model:
        n_requests, n_tokens = model.cost(segments)
    sent = f"{counted(n_requests, 'request')} with about {counted(n_tokens, 'token')} in prompts"
    notices.info(f"{sent}; answers and repeated requests come on top; nothing was sent")
    return Tagged((), Ratings())


def _on_cluster(request: Request) -> Tagged:
    """Marks the files of a folder; nothing comes back."""
    from matese.tasks import cluster

    require(request.asking.annotator is None, "--annotator: leave out --cluster")
    allowed = {each.name for _, each in leaves(cluster.Request)} | {"cluster", "scores_only"}
    for name in request.given():
        require(name in allowed, f"--cluster ray: leave out --{name.replace('_', '-')}")
    folders = request.texts.input
    marking = request.marking
    cluster.run(
        cluster.Request(
            input=folders[0] if len(folders) == 1 else "",
            output=request.output or "",
            format=request.format,
            workers=request.jobs.workers,
            columns=request.texts.columns,
            weights=request.weights,
            loading=Loading(**{each.name: getattr(marking, each.name) for each in options_of(Loading)}),
        )
    )
    return Tagged((), Ratings())


tag = function(Request, run)


def _check(request: Request) -> str:
    """Returns the format of the output; raises a UsageError if the options do not fit together."""
    from matese.formats.registry import BY_NAME

    files = request.texts.files
    marking = request.marking
    require(request.jobs.workers is None, "--workers is for --cluster ray only")
    sinks.check_apart(request.output, files)
    if _is_file(request.output):
        sinks.check_apart(str(beside(request.output)), files)
    form = _format(request)
    if _is_file(request.output) and form not in OWN_FORMATS:
        from matese.formats import writing

        writing.check_target(request.output, form)
    is_asked = request.asking.annotator is not None
    require(is_asked or not request.dry_run, "--dry-run is for --annotator only")
    require(is_asked or not request.correct, "--correct is for --annotator only")
    if is_asked:
        _check_asked(request)
    has_model = not marking.is_only_checks
    is_one = len(request.texts.input) == 1
    is_copy = _is_copy(form)
    problem = f"{form} can hold no notes: write another format, such as JSONL"
    require(not is_copy or BY_NAME[form].writes == "copy", problem)
    require(not is_copy or is_one, f"{form} is a copy of its input: give one file with --input")
    require(form == "jsonl" or not request.tokens, "--tokens is for --format jsonl only")
    require(has_model or not request.tokens, "--tokens needs a model; leave out --checks only")
    no_model = "--error-free needs a model: leave out --checks only and --annotator"
    require(request.has_own_model or not marking.error_free, no_model)
    if not has_model:
        marking.check_without_model()
    can_sort = not is_copy and not request.tokens
    problem = "--sort cannot be used with --tokens, or with a copy of the input, which keeps the order of the file"
    require(request.selection.sort == "file" or can_sort, problem)
    return form


def _check_asked(request: Request) -> None:
    """Raises a UsageError at an option that is for models of ours, and not for a language model."""
    require(request.marking.model == "mini", "--annotator and --model are both given; give one of them")
    require(not request.marking.is_only_checks, "--annotator: leave out --checks only")
    options = request.given()
    for name in ("min_confidence", "use", "batch_tokens", "threads", "tokens", "uncertainty"):
        flag = "for" if name == "use" else name.replace("_", "-")
        require(name not in options, f"--{flag} is for --model; leave out --annotator")


def _is_file(path: str | None) -> TypeGuard[str]:
    return path is not None and path not in ("-", "/dev/stdout") and not is_device(path)


def _is_copy(form: str | None) -> bool:
    """Whether a copy of the input with notes is written in a format."""
    from matese.formats.registry import BY_NAME

    return form in BY_NAME and BY_NAME[form or ""].is_copy


def _is_for_people(form: str) -> bool:
    from matese.formats.registry import BY_NAME

    return form not in OWN_FORMATS and BY_NAME[form].is_for_people


def _format(request: Request) -> str:
    from matese.formats import registry

    by_ending = {**registry.ENDINGS, **sinks.PAGE, **sinks.TEXT}
    ending = registry.ending_of(request.output or "")
    inputs = request.texts.input
    is_alike = len(inputs) == 1 and ending == registry.ending_of(inputs[0])
    if request.format is None and is_alike and ending not in by_ending:
        from matese.formats import detection

        if _is_copy(name := detection.detect(inputs[0])):
            return name
    return sinks.format_of(request.output, request.format, by_ending) or "terminal"


def _sink(request: Request, form: str, results: Output) -> Callable[[AnnotatedSegments, Output, Job], None]:
    """Returns what writes one of `OWN_FORMATS`."""
    if form == "html":
        return sinks.write_page
    if form == "jsonl":
        return sinks.write_lines
    if request.scores_only and request.format is None and not results.stream.isatty():
        return sinks.write_scores
    return partial(sinks.draw, has_confidence=request.has_own_model)


def _selected(
    request: Request,
    segments: GivenSegments,
    marker: Marker,
    summaries: Mapping[str, SystemSummary],
    results: Output | None,
    n_earlier: int,
) -> AnnotatedSegments:
    """Yields the ratings that are written; all that are made are counted, in the summary of each system."""
    from matese.formats.segments import system_of

    losses: Counter[str] = Counter()
    n_undecided = 0
    adapt = None
    if request.texts.input and _is_copy(segments.form):  # placeholders are not marked
        from matese.formats.registry import BY_NAME

        adapt = BY_NAME[segments.form or ""].adapt
    to_sort: dict[str, list[Rating]] = {system: [] for system in summaries}
    with notices.bar(len(segments), n_earlier=n_earlier) as bar:
        for marked, tokens in _annotated(request, segments, marker):
            system = system_of(marked.segment)
            rating = marked if adapt is None else adapt(marked, losses)
            summaries[system].add(rating)
            n_undecided += request.marking.error_free and rating.error_free is None
            bar.advance()
            if not request.selection.is_written(rating):
                continue
            if request.selection.sort == "worst":
                to_sort[system].append(rating)
                continue
            if results is not None and results.stream.isatty():
                bar.make_way()
            yield rating, tokens
        for ratings in to_sort.values():
            for rating in islice(mqm.worst_first(ratings, request.penalties), request.selection.limit):
                yield rating, None
    if n_undecided:
        problem = "without an error-free label: the model is not calibrated for their texts"
        notices.info(f"{counted(n_undecided, 'segment')} {problem}")
    if losses:
        notices.info(f"left out: {'; '.join(f'{kind}: {n:,}' for kind, n in losses.most_common())}")


def _annotated(request: Request, segments: GivenSegments, marker: Marker) -> AnnotatedSegments:
    """Yields the rating of each segment, up to the limit of segments with errors of each system."""
    from matese.formats.segments import system_of

    selection = request.selection
    if selection.limit is None or not selection.only_errors or selection.sort == "worst":
        yield from marker.annotate(segments)
        return
    n_left = dict.fromkeys(segments.counts, selection.limit)

    def unfinished() -> Iterator[Segment]:
        for segment in segments:
            if not any(n_left.values()):
                return
            if n_left[system_of(segment)]:
                yield segment

    for rating, tokens in marker.annotate(unfinished()):
        if n_left[system := system_of(rating.segment)]:  # some are annotated before it is known that there are enough
            n_left[system] -= selection.is_written(rating)
            yield rating, tokens


def _write_options(request: Request, form: str, segments: GivenSegments) -> WriteOptions:
    from matese.formats.format import WriteOptions

    inputs = request.texts.input
    options = WriteOptions(request.penalties, template=Path(inputs[0]) if _is_copy(form) else None)
    if inputs and (source_format := segments.forms.get(inputs[0])):
        options = replace(options, table=sinks.table_style(inputs[0], source_format, form, request.texts.columns))
    return options


def _without_comment(rating: Rating) -> Rating:
    """Returns the rating without a person's comment, which the copy of the file holds under the person's name."""
    from matese.formats.tables.headings import COMMENT

    extra = {name: value for name, value in (rating.segment.extra or {}).items() if name != COMMENT}
    return replace(rating, segment=replace(rating.segment, extra=extra or None))
