"""Where results go: a stream of the caller, such as standard output, or a file, which appears when it is complete."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

from matese import mqm
from matese.errors import UsageError, counted
from matese.files import is_device, naming, open_text, reason, replacing
from matese.mqm import SystemSummary, Weights
from matese.render.labels import show
from matese.tasks import notices
from matese.validation.options import File, Options

if TYPE_CHECKING:
    from matese.annotation import Rating
    from matese.choosing.choice import Choice
    from matese.formats.format import TableStyle, WriteOptions
    from matese.render.tables import Look
    from matese.tasks.annotators import AnnotatedSegments

_STDOUT = ("-", "/dev/stdout")
_FILE_WIDTH = 80
"""Columns of drawings in a file."""
# Formats of commands by the ending of a file name; `matese.formats.registry` has the formats of ratings.
PAGE = {".html": ("html",)}
TEXT = {".txt": ("terminal",)}
LINES = {".jsonl": ("jsonl",)}


@dataclass(frozen=True)
class Output:
    """A stream of results.

    Attributes:
        stream: UTF-8 text.
        name: name of the output in messages.
        is_stdout: whether the output is standard output.
        is_live: whether somebody may already be reading the output, so that every write is flushed.
        waiting: texts that are not written yet, because files come first; None if everything is written at once.
    """

    stream: TextIO
    name: str
    is_stdout: bool
    is_live: bool
    waiting: list[str] | None = None

    def write(self, text: str) -> None:
        """Writes complete lines; an OSError names the output."""
        if self.waiting is not None:
            self.waiting.append(text)
            return
        with naming(self.name):
            self.stream.write(text)
            if self.is_live:
                self.stream.flush()


@dataclass(frozen=True)
class Results:
    """The outputs of a command that measures; None for an output that was not requested."""

    text: Output | None
    json: Output | None
    html: Output | None

    def write_text(self, *parts: object, look: Look = "text") -> None:
        """Writes texts and tables, fitted to a terminal, unless another output uses standard output."""
        if self.text is not None:
            from matese.render import tables

            width = shutil.get_terminal_size().columns if self.text.stream.isatty() else None
            for part in parts:
                text = tables.drawn(part, look, width)
                self.text.write("\n".join(map(show, text.split("\n"))))

    def write_json(self, value: Mapping[str, object]) -> None:
        """Writes one object; does nothing without `--json`."""
        if self.json is not None:
            from matese.render import json_objects

            self.json.write(json_objects.dumps(value))


@contextlib.contextmanager
def opened(path: str | None, stream: TextIO | None = None, option: str = "--output") -> Iterator[Output]:
    """Opens an output before the work, so that an unwritable place is reported at once.

    A file is replaced as a whole when the body ends; see `matese.files.replacing`. Pipes, terminals and other devices
    are written directly.

    Args:
        path: of the output; None or "-" for the stream.
        stream: standard output, or what stands for it.
        option: the one that names the path.

    Raises:
        UsageError: if the file cannot be created, or there is no stream.
    """
    if path is None or path in _STDOUT:
        if stream is None:
            raise UsageError(f"standard output is closed; give {option} FILE")
        yield Output(stream, "standard output", is_stdout=True, is_live=True)
        return
    is_live = is_device(path)
    if not is_live:
        check_target(path, option)
    with replacing(path) as target:
        # With O_CREAT the permissions of a new file are those of the umask.
        flags = os.O_APPEND if is_live else os.O_CREAT | os.O_EXCL
        with _reporting_as(f"{option} {path}"):
            descriptor = os.open(target, os.O_WRONLY | flags, 0o666)
        with naming(path), open_text(descriptor, path, errors="backslashreplace") as stream:
            yield Output(stream, path, is_stdout=False, is_live=is_live)


@contextlib.contextmanager
def opened_if_wanted(path: str | None, stream: TextIO | None) -> Iterator[Output | None]:
    """Opens an output as `opened`; None without a path and a stream: the caller wants the results themselves."""
    if path is None and stream is None:
        yield None
        return
    with opened(path, stream) as results:
        yield results


@contextlib.contextmanager
def results(
    json_path: str | None, inputs: Sequence[str], html_path: str | None = None, *, stream: TextIO | None
) -> Iterator[Results]:
    """Opens the outputs of a task that measures, before its work.

    The paths are the values of `--json` and `--html`; None for no such output. "-" is the stream, which then gets no
    text. None of the outputs may replace one of the inputs. Beside a file, the stream gets its results once the file is
    in place: whoever reads it may close it after a line. Without a stream, nobody gets the text.

    Raises:
        UsageError: if an output is one of the inputs or the other output, or cannot be created.
    """
    paths = {"--json": json_path, "--html": html_path}
    check_distinct(paths)
    has_file = any(path is not None and path not in _STDOUT for path in paths.values())
    with contextlib.ExitStack() as stack:
        outputs = []
        for option, path in paths.items():
            check_apart(path, inputs, option)
            outputs.append(None if path is None else stack.enter_context(opened(path, stream, option)))
        is_text = stream is not None and "-" not in paths.values()
        text = stack.enter_context(opened(None, stream)) if is_text else None
        opened_outputs = [
            replace(output, waiting=[]) if output is not None and output.is_stdout and has_file else output
            for output in (text, *outputs)
        ]
        yield Results(*opened_outputs)
    for output in opened_outputs:
        if output is not None and output.waiting is not None:
            replace(output, waiting=None).write("".join(output.waiting))


def format_of(
    path: str | None, name: str | None, by_ending: Mapping[str, tuple[str, ...]], *, option: str = "--format"
) -> str | None:
    """Returns the format of an output: the given one, otherwise that of the ending of a file's name.

    For standard output and devices it is the given one, which may be None.

    Raises:
        UsageError: if the ending belongs to other formats than the given one, or to none of the known.
    """
    from matese.formats import registry

    if path is None or path in _STDOUT or is_device(path):
        return name
    # Any text may be in a file named .txt.
    by_ending = {ending: names for ending, names in by_ending.items() if ending not in TEXT or name is None}
    if name in registry.BY_NAME and registry.BY_NAME[name].is_folder and registry.ending_of(path) in by_ending:
        folder = os.path.splitext(path)[0]
        raise UsageError(f"{path}: {name} writes a folder: give a name without an ending, such as {folder}")
    return registry.format_of(path, name, by_ending, option=option)


def write_ratings(
    ratings: Iterable[Rating],
    path: str | None,
    name: str,
    options: WriteOptions,
    *,
    strict: bool = False,
    stream: TextIO | None = None,
) -> None:
    """Writes ratings in the format `name`, atomically, and tells everything that the format cannot hold.

    The path is a file or folder; None or "-" is the stream. With `strict`, nothing may be lost.

    Raises:
        InputError: if the place cannot be written, or something would be lost with `strict`.
    """
    import tempfile

    from matese.formats import writing
    from matese.formats.capabilities import EXPECTED_SCORES

    options = replace(options, report=notices.info)
    if path is None or path in _STDOUT or is_device(path):
        writing.check_has_name(name, "standard output" if path is None or path in _STDOUT else path)
        # Written to a file first, so that nothing is printed if a rating is invalid in the format.
        with opened(path, stream) as results, tempfile.TemporaryDirectory() as folder:
            temporary = os.path.join(folder, "output")
            losses = writing.write(ratings, temporary, name, options, strict=strict)
            with open(temporary, encoding="utf-8", newline="") as stream:
                for line in stream:
                    results.write(line)
    else:
        losses = writing.write(ratings, path, name, options, strict=strict)
    if options.template is not None:  # a copy of a file for translators, which has no place for them in any case
        losses = Counter({kind: n for kind, n in losses.items() if not kind.startswith(EXPECTED_SCORES)})
    if losses:
        notices.info(f"{name}: left out or changed: {writing.describe_losses(losses)}")


def table_style(path: str, source_format: str | None, form: str, named: Sequence[str]) -> TableStyle:
    """Returns how a table is written: if it comes from one of its kind, with its separator, mark and headings.

    Args:
        path: of the input.
        source_format: of the input; None to detect it.
        form: of the output.
        named: the columns that the user has named, as `--columns` takes them.
    """
    from matese.formats import detection
    from matese.formats.format import TableStyle
    from matese.formats.registry import BY_NAME
    from matese.formats.tables import columns

    if not Path(path).is_file():
        return TableStyle()
    input_format = BY_NAME[source_format or detection.detect(path)]
    return BY_NAME[form].style_of(input_format, path, columns.parse(named))


def check_apart(path: str | None, inputs: Iterable[str], option: str = "--output") -> None:
    """Raises a UsageError if the output would replace one of the inputs."""
    if path is None or is_device(path) or not os.path.exists(path):
        return
    for name in inputs:
        if os.path.exists(name) and os.path.samefile(path, name):
            raise UsageError(f"{option} {path} is the input {name}; choose another file")


def check_distinct(paths: Mapping[str, str | None]) -> None:
    """Raises a UsageError if the outputs of two options are one file, or both standard output."""
    options: dict[str, str] = {}
    for option, path in paths.items():
        if path is not None and not is_device(path):
            first = options.setdefault(os.path.realpath(path), option)
            if first != option:
                raise UsageError(f"{first} and {option} are both {path}; only one can be")


def check_target(path: str, option: str) -> None:
    """Raises a UsageError before the work if a file cannot be written."""
    target = Path(os.path.realpath(path))
    with _reporting_as(f"{option} {path}"):
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "")
        if not target.parent.is_dir():
            raise UsageError(f"{option} {path}: its directory does not exist: create it first")
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, "")


@contextlib.contextmanager
def _reporting_as(output: str) -> Iterator[None]:
    """Turns an OSError of the body into a UsageError of the option that names the output."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{output}: {reason(error)}; choose a file that can be written") from None


@dataclass(frozen=True, kw_only=True)
class ChoiceOutput(Options):
    """Where the translations that are chosen go.

    Attributes:
        format: text (the chosen translations) or jsonl (default: text; jsonl for --output FILE.jsonl).
        output: write to a file, which appears when it is complete.
    """

    format: Literal["text", "jsonl"] | None = None
    output: File | None = None


def text_format(path: str | None, name: str | None) -> str:
    """Returns the format of chosen texts: text or jsonl; a text file may have any unknown ending."""
    from matese.formats import registry

    by_ending = {**registry.ENDINGS, **PAGE}
    if name is None and registry.ending_of(path or "") not in by_ending:
        name = "text"
    return format_of(path, name, {**by_ending, **LINES} if name else LINES) or "text"


def write_choices(choices: Iterable[Choice], n_sources: int, results: Output, form: str, signature: str) -> None:
    """Writes the choice of each source, with a progress bar, and reports what was chosen."""
    n_chosen: Counter[str] = Counter()
    for number, choice in enumerate(notices.progress(choices, n_sources, "sources", results=results.stream)):
        if form == "jsonl":
            line = json.dumps(choice.to_json(number, signature), ensure_ascii=False)
        elif "\n" in choice.text or "\r" in choice.text:
            raise UsageError(f"candidate of source {number} has a line break; use --format jsonl")
        else:  # a terminal would interpret control characters; programs get the text unchanged
            line = show(choice.text) if results.stream.isatty() else choice.text
        results.write(f"{line}\n")
        systems = choice.candidates.systems
        n_chosen[systems[choice.index] if systems else "another" if choice.index else "the first"] += 1
    counts = ", ".join(f"{name} {count:,}" for name, count in n_chosen.most_common())
    notices.info(f"chosen for {counted(n_sources, 'source')}: {counts}")


@dataclass(frozen=True)
class Job:
    """What is known of the ratings that are written.

    Attributes:
        summaries: counts and scores of each system, complete when all ratings have been read.
        weights: what scores are computed with.
        n_segments: of all systems.
        filters: the options that leave segments out.
        warnings: returns sentences for readers about what was annotated.
    """

    summaries: tuple[SystemSummary, ...]
    weights: Weights
    n_segments: int
    filters: str
    warnings: Callable[[], list[str]]

    def part(self, n_written: int) -> str:
        """Returns how many of the segments are written; "" for all."""
        return f"{n_written:,} of {self.n_segments:,} segments" if n_written < self.n_segments else ""


def write_page(rated: AnnotatedSegments, results: Output, job: Job) -> None:
    """Writes one HTML page."""
    from matese.render import report_page

    by_system: dict[str, list[Rating]] = {summary.system: [] for summary in job.summaries}
    for rating, _ in rated:
        by_system[(rating.segment.key and rating.segment.key.system) or next(iter(by_system))].append(rating)
    notes = job.warnings()
    if part := job.part(sum(map(len, by_system.values()))):
        notes.append(f"{part} are on this page ({job.filters}); all figures are computed from these")
    results.write(report_page.render(", ".join(by_system), by_system, weights=job.weights, notes=notes))


def write_lines(rated: AnnotatedSegments, results: Output, job: Job) -> None:
    """Writes a JSON object a rating."""
    from matese.formats.tables import jsonl

    n_written = 0
    for rating, tokens in rated:
        results.write(f"{jsonl.dumps(rating, weights=job.weights, tokens=tokens)}\n")
        n_written += 1
    if part := job.part(n_written):
        notices.info(f"{part} are written ({job.filters})")


def write_scores(rated: AnnotatedSegments, results: Output, job: Job) -> None:
    """Writes only the score that ranks, one number a line."""
    for rating, _ in rated:
        results.write(f"{mqm.ranking_score(rating, job.weights):.10g}\n")


def draw(rated: AnnotatedSegments, results: Output, job: Job, *, has_confidence: bool) -> None:
    """Draws the ratings for a terminal, and a summary."""
    from matese.evaluation.systems.system_ranking import rank
    from matese.render import score_report, terminal

    style = terminal.Styler(results.stream)
    n_written = 0
    width = style.width if results.is_stdout else _FILE_WIDTH
    limit = width if results.stream.isatty() else None  # programs want a table in one piece
    for n_written, (rating, _) in enumerate(rated, start=1):
        if n_written == 1 and rating.errors is not None:
            results.write(f"{style(terminal.legend(has_confidence=has_confidence))}\n\n")
        results.write(style(terminal.draw(rating, width=width, weights=job.weights)) + "\n")
    part = job.part(n_written)
    results.write(style(score_report.summary(rank(job.summaries), part and f"{part} are shown", limit)))
