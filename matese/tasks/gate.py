"""Limits of quality that the translations of a system must keep."""

from __future__ import annotations

import contextlib
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, TextIO

from matese.errors import UsageError
from matese.files import shown
from matese.tasks import notices, rated, sinks
from matese.tasks.request import function, option
from matese.tasks.tables import JsonFigures
from matese.tasks.texts import require
from matese.tasks.values import FINITE, NOT_NEGATIVE, PROBABILITY, File, Share, Whole

if TYPE_CHECKING:
    from matese.evaluation.systems.gate import GateResult

_TOP = 10
"""Segments that are listed for each limit."""
_LIMITS = ("max_major_per_1k", "max_errors_per_1k", "min_score", "min_error_free", "baseline", "max_blank")


@dataclass(frozen=True)
class Request(rated.Rated, JsonFigures):
    """Check translations.

    Attributes:
        max_major_per_1k: allow at most X Major and Critical errors per 1,000 words.
        max_errors_per_1k: allow at most X errors per 1,000 words.
        min_score: require a mean score of at least X (0 is best; COMET models have other scales).
        min_error_free: require at least this share of segments that are free of errors, such as 60%; see matese tag
            --error-free.
        baseline: fail if this other system, a name or a file, is significantly better.
        alpha: significance level of that.
        max_blank: allow at most N blank translations of a text (default: 0).
        require_same_signature: refuse a baseline that another model or other settings have rated.
        junit: write the checks as JUnit XML, which CI servers show as tests; - is standard output.
        github: write the checks as annotations of GitHub Actions instead of as text.
    """

    _: KW_ONLY
    max_major_per_1k: float | None = option(None, NOT_NEGATIVE)
    max_errors_per_1k: float | None = option(None, NOT_NEGATIVE)
    min_score: float | None = option(None, FINITE)
    min_error_free: float | str | None = option(None, Share())
    alpha: float = option(0.05, PROBABILITY)
    max_blank: int | None = option(None, Whole(0))
    require_same_signature: bool = False
    junit: str | None = option(None, File())
    github: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        allowed = ", ".join(f"--{name.replace('_', '-')}" for name in _LIMITS[:-1])
        outputs = [name for name in ("json", "junit") if getattr(self, name) == "-"]
        problem = "--json and --junit cannot both be standard output, nor one of them with --github"
        require(len(outputs) + self.github < 2, problem)
        is_limited = any(getattr(self, name) is not None for name in _LIMITS)
        require(is_limited, f"no limit to check: give {allowed} or --max-blank")


def run(request: Request, stream: TextIO | None = None) -> GateResult:
    """Checks the ratings of one system against limits; `passed` of the result says whether all are kept.

    The checks are written to `stream`, if there is one.

    Raises:
        InputError: if there is no limit, or one cannot be checked.

    >>> from matese import ErrorSpan, Rating, Segment, Severity
    >>> gate([Rating(Segment("Der Tag"), "A", (ErrorSpan(0, 3, Severity.MAJOR),))], min_score=-3).passed
    False
    """
    request = replace(request, error_free=request.min_error_free is not None)
    files = request.files
    sinks.check_apart(request.junit, files, "--junit")
    sinks.check_distinct(request.json, request.junit, "--junit")
    # Nothing else is written beside a result on standard output.
    rest = None if request.junit == "-" else stream
    with contextlib.ExitStack() as stack:
        outputs = stack.enter_context(sinks.results(request.json, files, stream=rest))
        junit = request.junit and stack.enter_context(sinks.opened(request.junit, stream, "--junit"))
        from matese.evaluation.spans.evaluation import NamedRatings
        from matese.evaluation.systems import gate as gates
        from matese.render import gate_report

        found = rated.find(request, command="gate")
        checked = [NamedRatings(name, ratings) for name, ratings in found.systems.items() if name != found.baseline]
        if len(checked) != 1:
            named = shown(found.systems) if checked else f"only the baseline, {found.baseline}"
            several = ", --system NAME joins several files of --input" if len(request.input) > 1 else ""
            way = f"--baseline names the one to compare with{several}"
            raise UsageError(f"gate checks one system; given: {named} ({way})")
        least = request.min_error_free
        result = gates.check(
            checked[0],
            gates.GateLimits(
                max_major_per_1k=request.max_major_per_1k,
                max_errors_per_1k=request.max_errors_per_1k,
                min_score=request.min_score,
                alpha=request.alpha,
                max_blank=request.max_blank or 0,
                min_error_free=None if least is None else float(least),
            ),
            baseline=None if found.baseline is None else NamedRatings(found.baseline, found.systems[found.baseline]),
            weights=request.penalties,
            basis=request.by,
            require_same_signature=request.require_same_signature,
        )
        notices.info(*filter(None, (result.notice, *(check.notice for check in result.checks))))
        name = checked[0].name
        annotations = gate_report.github_annotations(result, name, _TOP)
        outputs.write_text(annotations if request.github else gate_report.text(result, _TOP))
        if junit:
            junit.write(gate_report.junit(result, name, _TOP))
        outputs.write_json(gate_report.to_json(result, name, _TOP))
    return result


gate = function(Request, run)
