"""Limits of quality that the translations of a system must keep."""

from __future__ import annotations

import contextlib
import getpass
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, TextIO, TypeVar

from matese import mqm
from matese.annotation import ErrorSpan, Omission, Rating, Segment, UnplacedError
from matese.checks import consistency
from matese.errors import FormatError, UsageError, counted, unknown
from matese.evaluation.systems.gate_limits import CONSISTENCY, GateLimits, Maximum
from matese.files import short_names
from matese.formats import accepted_findings, source_files
from matese.formats.accepted_findings import Acceptance, Accepted
from matese.tasks import notices, rated, sinks, texts
from matese.tasks.earlier_texts import EarlierTexts
from matese.tasks.request import function
from matese.tasks.texts import require
from matese.validation.options import (
    File,
    Name,
    Options,
    group,
    option,
)

if TYPE_CHECKING:
    from matese.evaluation.systems.gate import GateResult, GateResults

Error = TypeVar("Error", ErrorSpan, Omission, UnplacedError)

_TOP = 10
"""Segments that are listed for each limit."""


@dataclass(frozen=True, kw_only=True)
class GateChanges(Options):
    """What is new, and which findings are accepted.

    Attributes:
        since: check only what is new or changed since a commit of Git, or against a folder or a file of before; any
            finding of a rule fails, and without another limit rules alone run.
        accepted: files of accepted findings, or of ratings in which a person found no error (default:
            matese-accepted.jsonl, if it is there).
        accept: accept all findings of rules, for this reason: write them to the first file of --accepted.
    """

    since: str | None = option(None, metavar="BEFORE")
    accepted: Sequence[File] = ()
    accept: Name | None = option(None, metavar="WHY")

    @property
    def accepting_file(self) -> str:
        """The file that --accept writes."""
        return self.accepted[0] if self.accepted else accepted_findings.USUAL_NAME


@dataclass(frozen=True, kw_only=True)
class GateOutput(Options):
    """Where the checks are written.

    Attributes:
        json: write all figures as one object; - is standard output.
        junit: write the checks as JUnit XML, which CI servers show as tests; - is standard output.
        sarif: write the errors that break limits as SARIF, which GitHub, GitLab and Azure show at their lines.
        github: write the checks and errors as annotations of GitHub Actions instead of as text.
    """

    json: File | None = None
    junit: File | None = None
    sarif: File | None = None
    github: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        problem = "only one of --json, --junit, --sarif and --github can be standard output"
        require([self.json, self.junit, self.sarif].count("-") + self.github < 2, problem)


@dataclass(frozen=True)
class Request(rated.Rated):
    """Check translations.

    Attributes:
        ratings: files of ratings, or XLIFF, PO and other localisation files, which are marked first.
        baseline: fail if this other system, a name or a file, is significantly better.
    """

    _: KW_ONLY
    limits: GateLimits = group(GateLimits)
    changes: GateChanges = group(GateChanges)
    output: GateOutput = group(GateOutput)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ratings", rated.systems_given(self.ratings))  # which may be a generator
        files, _ = source_files.without_sources(rated.files_of(self.ratings))
        if files and all(map(_is_unrated, files)):  # localisation files, which are marked first
            object.__setattr__(self, "ratings", ())
            object.__setattr__(self, "texts", replace(self.texts, input=files))
        super().__post_init__()
        names = "--max-major-per-1k, --max-errors-per-1k, --min-score, --min-error-free, --baseline, --max"
        is_limited = self.limits_marks or self.limits.max_findings is not None or self.limits.max_blank is not None
        is_limited = is_limited or self.changes.since is not None or self.changes.accept is not None
        require(is_limited, f"no limit to check: give {names}, --max-findings, --since or --max-blank")

    @property
    def limits_marks(self) -> bool:
        """Whether the marks of a model can break a limit; the others are for rules, and for blank translations."""
        limits = self.limits
        of_marks = (limits.max_major_per_1k, limits.max_errors_per_1k, limits.min_score, limits.min_error_free)
        return bool(limits.max) or any(limit is not None for limit in (*of_marks, self.baseline))


def run(request: Request, stream: TextIO | None = None) -> GateResult | GateResults:
    """Checks the ratings of systems against limits; `passed` of the result says whether all are kept.

    Of several systems, the result has `results`, one of each. The checks are written to `stream`, if there is one.

    Raises:
        InputError: if there is no limit, or one cannot be checked.

    >>> from matese import ErrorSpan, Rating, Segment, Severity
    >>> rating = Rating(Segment("Der Tag"), "A", (ErrorSpan(0, 3, Severity.MAJOR),))
    >>> gate([rating], limits=GateLimits(min_score=-3)).passed
    False
    """
    marking = replace(request.marking, error_free=request.limits.min_error_free is not None)
    is_plain = request.changes.since is not None and not request.ratings and not request.limits_marks
    if is_plain and marking.checks is None:  # no mark of a model counts
        marking = replace(marking, checks="only")
    request = replace(request, marking=marking)
    files = request.files
    output = request.output
    paths_by_option = {"--junit": output.junit, "--sarif": output.sarif}
    for name, path in paths_by_option.items():
        sinks.check_apart(path, files, name)
    sinks.check_distinct({"--json": output.json, **paths_by_option})
    if request.changes.accept is not None:
        sinks.check_target(request.changes.accepting_file, "--accepted")
    # Nothing else is written beside a result on standard output.
    rest = None if "-" in paths_by_option.values() else stream
    with contextlib.ExitStack() as stack:
        outputs = stack.enter_context(sinks.results(output.json, files, stream=rest))
        junit, sarif = (
            path and stack.enter_context(sinks.opened(path, stream, name)) for name, path in paths_by_option.items()
        )
        from matese.evaluation.systems.gate import GateResults
        from matese.render import gate_report

        results = _check(request)
        outputs.write_text(
            gate_report.github_annotations(results) if output.github else gate_report.text(results, _TOP)
        )
        if junit:
            junit.write(gate_report.junit(results, _TOP))
        if sarif:
            sarif.write(gate_report.sarif(results))
        outputs.write_json(gate_report.to_json(results, _TOP))
    return results[0] if len(results) == 1 else GateResults(tuple(results))


def _is_unrated(path: str) -> bool:
    """Whether a file is one of localisation that no model has rated."""
    from matese.formats import detection
    from matese.formats.format import ReadOptions

    if not _is_for_localisation(path):
        return False
    options = ReadOptions(report=lambda issue: None, untranslated=True, only_texts=True, may_be_empty=True)
    return not any(mqm.is_signature(rating.rater) for rating in detection.read(path, options))


def _is_for_localisation(path: str) -> bool:
    from matese.formats import detection
    from matese.formats.registry import BY_NAME

    try:
        return path != "-" and BY_NAME[detection.detect(path)].is_for_localisation
    except FormatError:  # lines of a text
        return False


def _check(request: Request) -> list[GateResult]:
    """Returns the result of each system."""
    from matese.evaluation.spans.evaluation import NamedRatings
    from matese.evaluation.systems import gate as gates

    limits = request.limits
    since = request.changes.since
    limits = replace(
        limits,
        max_blank=limits.max_blank or 0,
        max_findings=0 if since is not None and limits.max_findings is None else limits.max_findings,
        max=[_parsed_maximum(limit) for limit in limits.max],
    )
    accepted = _accepted(request)
    wanted = None
    if since is not None:
        files = [path for path in request.files if path != request.baseline]
        wanted = EarlierTexts(since, files, texts.read_options(request.texts)).lack
    every: list[Segment] = []

    def is_wanted(segment: Segment) -> bool:
        every.append(segment)
        return wanted is None or wanted(segment)

    rated_systems = rated.find(request, command="gate", wanted=is_wanted)
    if request.texts.input and all(map(_is_for_localisation, request.texts.input)):
        rated_systems = _by_file(rated_systems, request.texts.input) if request.texts.system is None else rated_systems
        every_rating = (rating for ratings in rated_systems.systems.values() for rating in ratings)
        notices.info(*consistency.sentences(rating.segment for rating in every_rating))
    systems = rated_systems.systems or {request.texts.system or "": []}  # of files without texts
    baseline = rated_systems.baseline
    names = [name for name in systems if name != baseline]
    if not names:
        raise UsageError(f"only the baseline, {baseline}, is given: name the system to compare with it")
    blank = replace(mqm.NON_TRANSLATION, rule="blank")
    counts_inconsistencies = request.output.sarif is not None or any(
        isinstance(maximum, Maximum) and maximum.kind == CONSISTENCY for maximum in limits.max
    )
    results = []
    to_accept: list[Acceptance] = []
    for name in names:
        ratings = systems[name]
        if counts_inconsistencies:
            ratings = _with_inconsistencies(ratings, every)
        if request.changes.accept is not None:
            to_accept += _acceptances(ratings, accepted, request.changes.accept)
        kept = [_without_accepted(rating, accepted) for rating in ratings]
        n_accepted = sum(len(old.all_errors) - len(new.all_errors) for old, new in zip(ratings, kept, strict=True))
        result = gates.check(
            NamedRatings(name, kept),
            limits,
            baseline=None if baseline is None else NamedRatings(baseline, systems[baseline]),
            weights=request.penalties,
            basis=request.by,
            is_accepted=lambda rating: accepted.has(blank, rating.segment),
        )
        n_outdated = sum(accepted.is_outdated(rating.segment) for rating in ratings)
        notices.info(*filter(None, (result.notice, *(check.notice for check in result.checks))))
        n_given = rated_systems.n_given.get(name)
        results.append(replace(result, n_given=n_given, n_accepted=n_accepted, n_outdated=n_outdated))
    if to_accept:
        path = request.changes.accepting_file
        n_new = accepted_findings.add_to_file(path, to_accept)
        notices.info(f"{counted(n_new, 'finding')} accepted in {path}")
    return results


def _by_file(rated_systems: rated.RatedSystems, paths: Sequence[str]) -> rated.RatedSystems:
    """Returns the ratings of localisation files, each of which is a system even if another has the same name."""
    names = dict(zip(paths, short_names(paths), strict=True))
    systems: dict[str, list[Rating]] = {name: [] for name in names.values()}
    for ratings in rated_systems.systems.values():
        for rating in ratings:
            systems[names[rating.segment.file or ""]].append(rating)
    return replace(rated_systems, systems=systems)


def _with_inconsistencies(ratings: Sequence[Rating], every: Sequence[Segment]) -> list[Rating]:
    """Returns the ratings with an error, which costs nothing, for each text that stands beside several in the set."""
    from matese.annotation import Severity

    errors_of: dict[int, list[UnplacedError]] = defaultdict(list)
    for inconsistency in consistency.find(dict.fromkeys(every)):
        words = f"{inconsistency.text}: {', '.join(inconsistency.counterparts)}"
        error = UnplacedError(Severity.NEUTRAL, "Accuracy/Inconsistency", words, rule="consistency")
        for segment in inconsistency.segments:
            errors_of[hash(segment)].append(error)
    return [replace(rating, unplaced=(*rating.unplaced, *errors_of[hash(rating.segment)])) for rating in ratings]


def _parsed_maximum(limit: Maximum | str) -> Maximum:
    """Returns a limit of --max; raises a UsageError unless it is of a severity or rule that there is."""
    from matese.annotation import severities
    from matese.checks import chosen, rules

    maximum = Maximum.parse(limit)
    kinds = ["errors", *severities.MEANINGS, *rules.NAMES, *chosen.WITH_PARAMETERS, CONSISTENCY]
    if maximum.kind not in kinds:
        raise UsageError(f"--max {maximum.kind}={maximum.most:g}: {unknown('kind', maximum.kind, kinds)}")
    return maximum


def _accepted(request: Request) -> Accepted:
    """Returns what is accepted: in files of its own, and by people in the files that are checked."""
    from matese.formats import detection, source_files
    from matese.formats.format import ReadOptions

    accepted = Accepted()
    usual = accepted_findings.USUAL_NAME
    for path in request.changes.accepted or ([usual] if os.path.exists(usual) else []):
        if os.path.exists(path) or request.changes.accept is None:  # which makes the first one
            accepted.read(path)
    options = ReadOptions(lambda issue: None, lang_pair=request.texts.lang_pair, may_be_empty=True)
    for path in source_files.without_sources(request.texts.input)[0]:
        if _is_for_localisation(path):
            for rating in detection.read(path, options):
                accepted.add_rating(replace(rating, segment=replace(rating.segment, file=path)))
    return accepted


def _acceptances(ratings: Sequence[Rating], accepted: Accepted, why: str) -> Iterator[Acceptance]:
    """Yields the lines that accept all findings of rules, and accepts them."""
    who = getpass.getuser()
    for rating in ratings:
        for error in rating.all_errors:
            if error.rule is not None and not accepted.has(error, rating.segment):
                line = accepted_findings.acceptance(error, rating.segment, who, why)
                accepted.add(line)
                yield line


def _without_accepted(rating: Rating, accepted: Accepted) -> Rating:
    """Returns the rating without the findings that are accepted."""
    segment = rating.segment

    def left(errors: Sequence[Error]) -> tuple[Error, ...]:
        return tuple(error for error in errors if not accepted.has(error, segment))

    return replace(
        rating,
        errors=None if rating.errors is None else left(rating.errors),
        source_errors=left(rating.source_errors),
        omissions=left(rating.omissions),
        unplaced=left(rating.unplaced),
    )


gate = function(Request, run)
