"""Checked limits as text, as one JSON object, as JUnit XML, as annotations of GitHub Actions, and as SARIF."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import msgspec

from matese import mqm
from matese.annotation import AnyError, Omission, Segment
from matese.errors import counted
from matese.evaluation.systems.gate import FINDINGS, Check, GateResult
from matese.evaluation.systems.gate_limits import CONSISTENCY
from matese.formats.accepted_findings import digest
from matese.render import json_objects, result_keys
from matese.render.comparison_report import errors_label, score_label, segment_label
from matese.render.labels import error_label, percent, show
from matese.render.result_keys import BlamedSegmentKeys, CheckKeys, GateKeys, GatesKeys
from matese.render.tables import p_equals
from matese.version import __version__


def text(results: Sequence[GateResult], n_segments: int) -> str:
    """Returns a table of several systems, then of each a line of its scores, and one for each limit.

    Below a limit that is not kept are at most `n_segments` of the segments that break it.
    """
    lines = _table(results) if len(results) > 1 else []
    for result in results:
        if len(results) > 1 and result.passed:
            continue
        lines += [f"{result.name}:"] if len(results) > 1 else []
        lines.append(_counts(result))
        for check in result.checks:
            lines.append(f"{'PASS' if check.passed else 'FAIL'}  {_value_and_limit(check)}")
            lines += [f"      {line}" for line in _blamed(check, result, n_segments)]
    return "".join(f"{show(line)}\n" for line in lines)


def _counts(result: GateResult) -> str:
    """Returns how much was checked, the scores, and what is left out of both."""
    n = len(result.ratings)
    scores = ", ".join(score_label(name, score) for name, score in result.scores.items())
    unchanged = "" if result.n_given in (None, n) else f" of {result.n_given:,}, the others as before"
    notes = [
        f"{mqm.n_undecided(result.ratings):,} undecided, not in the score" * bool(mqm.n_undecided(result.ratings)),
        f"{counted(result.n_accepted, 'accepted finding')}" * bool(result.n_accepted),
        f"{counted(result.n_outdated, 'segment')} accepted with another text" * bool(result.n_outdated),
    ]
    return "; ".join(filter(None, [f"{counted(n, 'segment')}{unchanged}{': ' * bool(scores)}{scores}", *notes]))


def _table(results: Sequence[GateResult]) -> list[str]:
    """Returns the lines of a table with a row for each system."""
    rows = [("system", "segments", "errors", "findings", "result")]
    for result in results:
        errors = [error for rating in result.ratings for error in rating.all_errors if error.rule != CONSISTENCY]
        failed = ", ".join(check.name for check in result.checks if not check.passed)
        n_findings = sum(error.rule is not None for error in errors)
        outcome = f"FAIL {failed}" if failed else "PASS"
        rows.append((show(result.name), f"{len(result.ratings):,}", f"{len(errors):,}", f"{n_findings:,}", outcome))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=False))]
        )
        + f"  {row[-1]}"
        for row in rows
    ]


def _value_and_limit(check: Check) -> str:
    """Returns what was measured and what is allowed, as in "score -1.20 (at least -1)"."""
    limit = f"{'at least' if check.name.startswith('min-') else 'at most'} {check.limit:g}"
    if check.p is not None:
        side = "above" if check.is_significant and check.value > 0 else "below"
        limit = f"{'' if check.is_significant else 'not '}significantly {side} 0, {p_equals(check.p)}"
    is_number = check.name in ("max-blank", FINDINGS) or (check.name.startswith("max ") and "/1k" not in check.name)
    value = f"{check.value:g}" if is_number else f"{check.value:.2f}"
    return f"{check.quantity} {value} ({limit})"


def _blamed(check: Check, result: GateResult, n_segments: int) -> Iterator[str]:
    """Yields a line for each of the worst segments, and one that counts the others."""
    for number, loss in list(zip(check.segments, check.losses, strict=True))[:n_segments]:
        score = {"min-score": f" {-loss:.2f};", "baseline": f" {-loss:+.2f};"}.get(check.name, "")
        rating = result.ratings[number]
        yield f"{segment_label(rating)}:{score} {errors_label(rating)}"
    if (n_more := len(check.segments) - n_segments) > 0:
        yield f"and {counted(n_more, 'more segment')}"


def to_json(results: Sequence[GateResult], n_segments: int) -> dict[str, Any]:
    """Returns all checks as one object, with at most `n_segments` segments each; see `result_keys.GateKeys`.

    Of several systems, it is `result_keys.GatesKeys`.
    """
    systems = [_keys(result, n_segments) for result in results]
    keys: GateKeys | GatesKeys = systems[0]
    if len(results) != 1:
        ratings = [rating for result in results for rating in result.ratings]
        keys = GatesKeys(
            **result_keys.origin(ratings, results[0].weights if results else mqm.MATESE),  # type: ignore[arg-type]
            passed=all(result.passed for result in results),
            systems=systems,
        )
    written: dict[str, Any] = msgspec.to_builtins(keys)
    return written


def _keys(result: GateResult, n_segments: int) -> GateKeys:
    return GateKeys(
        **result_keys.origin(result.ratings, result.weights),  # type: ignore[arg-type]
        ratings=result.name,
        baseline=result.baseline,
        weights=result.weights.name,
        segments=len(result.ratings),
        undecided=mqm.n_undecided(result.ratings),
        accepted=result.n_accepted,
        **json_objects.nest_figures(result.scores, with_intervals=True),
        passed=result.passed,
        checks=[_check(check, result, n_segments) for check in result.checks],
    )


def _check(check: Check, result: GateResult, n_segments: int) -> CheckKeys:
    return CheckKeys(
        check=check.name,
        value=json_objects.finite(check.value),
        limit=check.limit,
        passed=check.passed,
        p=check.p,
        n_blamed=len(check.segments),
        segments=[
            BlamedSegmentKeys(
                number=number,
                segment=segment_label(result.ratings[number]),
                errors=errors_label(result.ratings[number]),
            )
            for number in check.segments[:n_segments]
        ],
    )


def junit(results: Sequence[GateResult], n_segments: int) -> str:
    """Returns the checks as JUnit XML, which CI servers show as tests: a suite a system, and a test case a limit.

    The format is that of https://github.com/testmoapp/junitxml.
    """

    def totals(checks: Sequence[Check]) -> dict[str, str]:
        return {"tests": f"{len(checks)}", "failures": f"{sum(not check.passed for check in checks)}"}

    every = [check for result in results for check in result.checks]
    root = ElementTree.Element("testsuites", {"name": "matese gate", **totals(every)})
    for result in results:
        suite = ElementTree.SubElement(root, "testsuite", {"name": result.name, **totals(result.checks)})
        properties = ElementTree.SubElement(suite, "properties")
        for name, value in result_keys.origin(result.ratings, result.weights).items():
            ElementTree.SubElement(properties, "property", {"name": name, "value": value or ""})
        for check in result.checks:
            case = ElementTree.SubElement(suite, "testcase", {"name": check.name, "classname": result.name})
            if not check.passed:
                lines = [line.strip() for line in _blamed(check, result, n_segments)]
                failure = ElementTree.SubElement(
                    case, "failure", {"message": show(_value_and_limit(check)), "type": check.name}
                )
                failure.text = "\n".join(map(show, lines))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


@dataclass(frozen=True, slots=True)
class _Finding:
    """An error of a segment that breaks a limit."""

    segment: Segment
    rule: str | None
    message: str
    level: str = "error"


def _findings(result: GateResult) -> list[_Finding]:
    """Returns the errors of the segments that break limits, each once, in the order of the segments."""
    of_rules = {number for check in result.checks if check.name == FINDINGS for number in check.segments}
    blamed = {number for check in result.checks if check.name != FINDINGS for number in check.segments}
    findings = []
    for number in sorted(of_rules | blamed):
        rating = result.ratings[number]
        for error, words in rating.errors_with_words():
            if number in blamed or error.rule not in (None, CONSISTENCY):
                findings.append(_Finding(rating.segment, error.rule, _message(error, words, rating.segment)))
    return findings


def _notes(result: GateResult) -> list[_Finding]:
    """Returns what is inconsistent in the set and breaks no limit."""
    blamed = {number for check in result.checks if check.name != FINDINGS for number in check.segments}
    return [
        _Finding(rating.segment, error.rule, _message(error, error.words, rating.segment), "note")
        for number, rating in enumerate(result.ratings)
        for error in rating.unplaced
        if error.rule == CONSISTENCY and number not in blamed
    ]


def _message(error: AnyError, words: str | None, segment: Segment) -> str:
    """Returns what is wrong, how it is known, and the texts."""
    missing = " is missing" if isinstance(error, Omission) else ""
    confidence = getattr(error, "confidence", None)
    sure = "" if confidence is None else f", confidence {percent(confidence)}"
    quoted = f'"{words}"{missing}: ' if words else ""
    lines = [f"{quoted}{error_label(error)}{sure}", f"translation: {segment.hypothesis}"]
    return "\n".join(map(show, [*lines, *([f"source: {segment.source}"] if segment.source else [])]))


def github_annotations(results: Sequence[GateResult]) -> str:
    """Returns workflow commands of GitHub Actions: one for each limit, and one for each error that breaks a limit.

    The syntax is that of https://docs.github.com/actions/reference/workflow-commands-for-github-actions.
    """
    lines = []
    for result in results:
        for check in result.checks:
            title = _property(f"matese gate: {check.name} of {show(result.name)}")
            message = _escaped(show(_value_and_limit(check)))
            lines.append(f"::{'notice' if check.passed else 'error'} title={title}::{message}")
        for finding in _findings(result):
            title = _property(f"matese: {finding.rule or 'model'}, {show(finding.segment.label)}")
            lines.append(f"::error {_place(finding.segment)}title={title}::{_escaped(finding.message)}")
    return "".join(f"{line}\n" for line in lines)


def _place(segment: Segment) -> str:
    """Returns the properties for the file and line of a segment, as far as they are known."""
    if segment.file is None:
        return ""
    line = "" if segment.line is None else f"line={segment.line},"
    return f"file={_property(show(segment.file))},{line}"


def sarif(results: Sequence[GateResult]) -> str:
    """Returns the errors that break limits as SARIF 2.1.0, which GitHub, GitLab and Azure read.

    What is inconsistent in the set is a note where it breaks none.
    """
    findings = [finding for result in results for finding in (*_findings(result), *_notes(result))]
    rules = [{"id": name} for name in dict.fromkeys(finding.rule or "model" for finding in findings)]
    driver = {"name": "matese", "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "results": list(map(_sarif_result, findings))}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    document = {"$schema": schema, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _sarif_result(finding: _Finding) -> dict[str, Any]:
    segment = finding.segment
    location: dict[str, Any] = {"artifactLocation": {"uri": quote(segment.file or segment.label)}}
    if segment.line is not None:
        location["region"] = {"startLine": segment.line}
    return {
        "ruleId": finding.rule or "model",
        "level": finding.level,
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"matese/v1": f"{digest(segment)}:{finding.rule or 'model'}"},
    }


def _property(text: str) -> str:
    """Returns the value of a property of a workflow command."""
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def _escaped(text: str) -> str:
    """Returns a text without the characters that end a workflow command or its lines."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
