"""Limits of quality that the translations of a system must keep."""

from __future__ import annotations

import contextlib
import getpass
import os
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, TextIO, TypeVar

from matese.annotation import ErrorSpan, Omission, Rating, Segment, UnplacedError
from matese.checks import consistency
from matese.errors import FormatError, UsageError, counted, unknown
from matese.files import short_names
from matese.formats import accepted_findings, source_files
from matese.formats.accepted_findings import Acceptance, Accepted
from matese.tasks import notices, rated, sinks, texts
from matese.tasks.earlier_texts import EarlierTexts
from matese.tasks.request import function, option
from matese.tasks.tables import JsonFigures
from matese.tasks.texts import require
from matese.tasks.values import FINITE, NOT_NEGATIVE, PROBABILITY, File, Several, Share, Text, Whole

if TYPE_CHECKING:
    from matese.evaluation.systems.gate import GateResult, GateResults, Maximum

Error = TypeVar("Error", ErrorSpan, Omission, UnplacedError)

_TOP = 10
"""Segments that are listed for each limit."""
_LIMITS = (
    *("max_major_per_1k", "max_errors_per_1k", "min_score", "min_error_free", "baseline", "max", "max_findings"),
    "since",
    "max_blank",
)
_OF_MARKS = _LIMITS[:6]
"""Limits that the marks of a model can break; the others are for rules, and for blank translations."""


@dataclass(frozen=True)
class Request(rated.Rated, JsonFigures):
    """Check translations.

    Attributes:
        ratings: files of ratings, or XLIFF, PO and other localisation files, which are marked first.
        max_major_per_1k: allow at most X Major and Critical errors per 1,000 words.
        max_errors_per_1k: allow at most X errors per 1,000 words.
        max: allow at most N errors of a kind: errors for all, a severity, a rule, or consistency; in all, or /segment,
            or per 1,000 source words (/1k) or characters (/1k-characters), such as critical=0 errors=2/segment.
        min_score: require a mean score of at least X (0 is best; COMET models have other scales).
        min_error_free: require at least this share of segments that are free of errors, such as 60%; see matese tag
            --error-free.
        baseline: fail if this other system, a name or a file, is significantly better.
        alpha: significance level of that.
        max_blank: allow at most N blank translations of a text (default: 0).
        since: check only what is new or changed since a commit of Git, or against a folder or a file of before; any
            finding of a rule fails, and without another limit rules alone run.
        max_findings: allow at most N findings of rules (default: 0 with --since, else any number).
        accepted: files of accepted findings, or of ratings in which a person found no error (default:
            matese-accepted.jsonl, if it is there).
        accept: accept all findings of rules, for this reason: write them to the first file of --accepted.
        require_same_signature: refuse a baseline that another model or other settings have rated.
        junit: write the checks as JUnit XML, which CI servers show as tests; - is standard output.
        sarif: write the errors that break limits as SARIF, which GitHub, GitLab and Azure show at their lines.
        github: write the checks and errors as annotations of GitHub Actions instead of as text.
    """

    _: KW_ONLY
    max_major_per_1k: float | None = option(None, NOT_NEGATIVE)
    max_errors_per_1k: float | None = option(None, NOT_NEGATIVE)
    max: Sequence[str] = option((), Several(Text("KIND=N")))
    min_score: float | None = option(None, FINITE)
    min_error_free: float | str | None = option(None, Share())
    alpha: float = option(0.05, PROBABILITY)
    max_blank: int | None = option(None, Whole(0))
    since: str | None = option(None, Text("BEFORE"))
    max_findings: int | None = option(None, Whole(0))
    accepted: Sequence[str] = option((), Several())
    accept: str | None = option(None, Text("WHY"))
    require_same_signature: bool = False
    junit: str | None = option(None, File())
    sarif: str | None = option(None, File())
    github: bool = False

    def __post_init__(self) -> None:
        files, _ = source_files.without_sources(rated.files_of(rated.RatingsOfSystems().take(self.ratings)))
        if files and all(map(_is_unrated, files)):  # localisation files, which are marked first
            object.__setattr__(self, "ratings", ())
            object.__setattr__(self, "input", files)
        super().__post_init__()
        allowed = ", ".join(f"--{name.replace('_', '-')}" for name in _LIMITS[:-1])
        outputs = [name for name in ("json", "junit", "sarif") if getattr(self, name) == "-"]
        problem = "only one of --json, --junit, --sarif and --github can be standard output"
        require(len(outputs) + self.github < 2, problem)
        is_limited = self.accept is not None or any(getattr(self, name) not in (None, ()) for name in _LIMITS)
        require(is_limited, f"no limit to check: give {allowed} or --max-blank")

    @property
    def limits_marks(self) -> bool:
        """Whether the marks of a model can break a limit."""
        return any(getattr(self, name) not in (None, ()) for name in _OF_MARKS)


def run(request: Request, stream: TextIO | None = None) -> GateResult | GateResults:
    """Checks the ratings of systems against limits; `passed` of the result says whether all are kept.

    Of several systems, the result has `results`, one of each. The checks are written to `stream`, if there is one.

    Raises:
        InputError: if there is no limit, or one cannot be checked.

    >>> from matese import ErrorSpan, Rating, Segment, Severity
    >>> gate([Rating(Segment("Der Tag"), "A", (ErrorSpan(0, 3, Severity.MAJOR),))], min_score=-3).passed
    False
    """
    is_plain = request.since is not None and not request.ratings and not request.limits_marks
    checks = "only" if is_plain and request.checks is None else request.checks  # no mark of a model counts
    request = replace(request, error_free=request.min_error_free is not None, checks=checks)
    files = request.files
    others = {"--junit": request.junit, "--sarif": request.sarif}
    for name, path in others.items():
        sinks.check_apart(path, files, name)
        sinks.check_distinct(request.json, path, name)
    sinks.check_distinct(request.junit, request.sarif, "--sarif")
    # Nothing else is written beside a result on standard output.
    rest = None if "-" in others.values() else stream
    with contextlib.ExitStack() as stack:
        outputs = stack.enter_context(sinks.results(request.json, files, stream=rest))
        junit, sarif = (path and stack.enter_context(sinks.opened(path, stream, name)) for name, path in others.items())
        from matese.evaluation.systems.gate import GateResults
        from matese.render import gate_report

        results = _check(request)
        outputs.write_text(
            gate_report.github_annotations(results) if request.github else gate_report.text(results, _TOP)
        )
        if junit:
            junit.write(gate_report.junit(results, _TOP))
        if sarif:
            sarif.write(gate_report.sarif(results))
        outputs.write_json(gate_report.to_json(results, _TOP))
    return results[0] if len(results) == 1 else GateResults(tuple(results))


def _is_unrated(path: str) -> bool:
    """Whether a file is one of localisation that no model has rated."""
    from matese import mqm
    from matese.formats import detection
    from matese.formats.format import ReadOptions

    if not _is_for_localisation(path):
        return False
    how = ReadOptions(report=lambda issue: None, untranslated=True, only_texts=True)
    return not any(mqm.is_signature(rating.rater) for rating in detection.read(path, how))


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

    limits = gates.GateLimits(
        max_major_per_1k=request.max_major_per_1k,
        max_errors_per_1k=request.max_errors_per_1k,
        min_score=request.min_score,
        alpha=request.alpha,
        max_blank=request.max_blank or 0,
        min_error_free=None if request.min_error_free is None else float(request.min_error_free),
        max_findings=0 if request.since is not None and request.max_findings is None else request.max_findings,
        maxima=tuple(map(_maximum, request.max)),
    )
    accepted = _accepted(request)
    wanted = None
    if request.since is not None:
        files = [path for path in request.files if path != request.baseline]
        wanted = EarlierTexts(request.since, files, texts.read_options(request)).lack
    every: list[Segment] = []

    def is_wanted(segment: Segment) -> bool:
        every.append(segment)
        return wanted is None or wanted(segment)

    found = rated.find(request, command="gate", wanted=is_wanted)
    if request.input and all(map(_is_for_localisation, request.input)):
        found = _by_file(found, request.input) if request.system is None else found
        notices.info(*consistency.sentences(rating.segment for of in found.systems.values() for rating in of))
    names = [name for name in found.systems if name != found.baseline]
    if not names:
        raise UsageError(f"only the baseline, {found.baseline}, is given: name the system to compare with it")
    results = []
    to_accept: list[Acceptance] = []
    for name in names:
        ratings = found.systems[name]
        if request.sarif is not None or any(maximum.what == gates.CONSISTENCY for maximum in limits.maxima):
            ratings = _with_inconsistencies(ratings, every)
        if request.accept is not None:
            to_accept += _acceptances(ratings, accepted, request.accept)
        kept = [_without_accepted(rating, accepted) for rating in ratings]
        n_accepted = sum(len(old.all_errors) - len(new.all_errors) for old, new in zip(ratings, kept, strict=True))
        result = gates.check(
            NamedRatings(name, kept),
            limits,
            baseline=None if found.baseline is None else NamedRatings(found.baseline, found.systems[found.baseline]),
            weights=request.penalties,
            basis=request.by,
            require_same_signature=request.require_same_signature,
        )
        n_outdated = sum(accepted.is_outdated(rating.segment) for rating in ratings)
        notices.info(*filter(None, (result.notice, *(check.notice for check in result.checks))))
        results.append(replace(result, n_given=found.n_given.get(name), n_accepted=n_accepted, n_outdated=n_outdated))
    if to_accept:
        path = request.accepted[0] if request.accepted else accepted_findings.USUAL_NAME
        n_new = accepted_findings.add_to_file(path, to_accept)
        notices.info(f"{counted(n_new, 'finding')} accepted in {path}")
    return results


def _by_file(found: rated.FoundSystems, paths: Sequence[str]) -> rated.FoundSystems:
    """Returns the ratings of localisation files, each of which is a system even if another has the same name."""
    names = dict(zip(paths, short_names(paths), strict=True))
    systems: dict[str, list[Rating]] = {name: [] for name in names.values()}
    for ratings in found.systems.values():
        for rating in ratings:
            systems[names[rating.segment.file or ""]].append(rating)
    return replace(found, systems=systems)


def _with_inconsistencies(ratings: Sequence[Rating], every: Sequence[Segment]) -> list[Rating]:
    """Returns the ratings with an error, which costs nothing, for each text that stands beside several in the set."""
    from matese.annotation import Severity

    found: dict[int, list[UnplacedError]] = {}
    for one in consistency.find(dict.fromkeys(every)):
        error = UnplacedError(
            Severity.NEUTRAL, "Accuracy/Inconsistency", f"{one.text}: {', '.join(one.others)}", rule="consistency"
        )
        for segment in one.segments:
            found.setdefault(hash(segment), []).append(error)
    return [replace(one, unplaced=(*one.unplaced, *found.get(hash(one.segment), ()))) for one in ratings]


def _maximum(text: str) -> Maximum:
    """Returns a limit of --max; raises a UsageError unless it is of a severity or rule that there is."""
    from matese.annotation import severities
    from matese.checks import rules
    from matese.evaluation.systems.gate import Maximum

    maximum = Maximum.parse(text)
    known = ["errors", *severities.MEANINGS, *(rule.name for rule in rules.TABLE), "consistency"]
    if maximum.what not in known:
        raise UsageError(f"--max {text}: {unknown('kind', maximum.what, known)}")
    return maximum


def _accepted(request: Request) -> Accepted:
    """Returns what is accepted: in files of its own, and by people in the files that are checked."""
    from matese.formats import detection
    from matese.formats.format import ReadOptions

    accepted = Accepted()
    usual = accepted_findings.USUAL_NAME
    for path in request.accepted or ([usual] if os.path.exists(usual) else []):
        if os.path.exists(path) or request.accept is None:  # which makes the first one
            accepted.read(path)
    for path in request.input:
        if _is_for_localisation(path):
            for rating in detection.read(path, ReadOptions(lambda issue: None, lang_pair=request.lang_pair)):
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
