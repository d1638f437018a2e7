"""Checked limits as text, as one JSON object, as JUnit XML, and as annotations of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import msgspec

from matese.errors import counted
from matese.evaluation.systems.gate import Check, GateResult
from matese.render import json_objects, result_keys
from matese.render.comparison_report import errors_label, score_label, segment_label
from matese.render.labels import show
from matese.render.result_keys import BlamedSegmentKeys, CheckKeys, GateKeys
from matese.render.tables import p_equals


def text(result: GateResult, n_segments: int) -> str:
    """Returns a line of the scores, and one for each limit with at most `n_segments` segments that break it."""
    n = len(result.ratings)
    scores = ", ".join(score_label(name, score) for name, score in result.scores.items())
    lines = [f"{counted(n, 'segment')}: {scores}"]
    for check in result.checks:
        lines.append(f"{'PASS' if check.passed else 'FAIL'}  {_measured(check)}")
        lines += [f"      {line}" for line in _blamed(check, result, n_segments)]
    return "".join(f"{show(line)}\n" for line in lines)


def _measured(check: Check) -> str:
    """Returns what was measured and what is allowed, as in "score -1.20 (at least -1)"."""
    limit = f"{'at least' if check.name in ('min-score', 'min-error-free') else 'at most'} {check.limit:g}"
    if check.p is not None:
        side = "above" if check.is_significant and check.value > 0 else "below"
        limit = f"{'' if check.is_significant else 'not '}significantly {side} 0, {p_equals(check.p)}"
    value = f"{check.value:g}" if check.name == "max-blank" else f"{check.value:.2f}"
    return f"{check.quantity} {value} ({limit})"


def _blamed(check: Check, result: GateResult, n_segments: int) -> Iterator[str]:
    """Yields a line for each of the worst segments, and one that counts the others."""
    for number, loss in list(zip(check.segments, check.losses, strict=True))[:n_segments]:
        shown = {"min-score": f" {-loss:.2f};", "baseline": f" {-loss:+.2f};"}.get(check.name, "")
        rating = result.ratings[number]
        yield f"{segment_label(rating)}:{shown} {errors_label(rating)}"
    if (n_more := len(check.segments) - n_segments) > 0:
        yield f"and {counted(n_more, 'more segment')}"


def to_json(result: GateResult, source: str, n_segments: int) -> dict[str, Any]:
    """Returns all checks as one object, with at most `n_segments` segments each; see `result_keys.GateKeys`."""
    keys = GateKeys(
        **result_keys.origin(result.ratings, result.weights),  # type: ignore[arg-type]
        ratings=source,
        baseline=result.baseline,
        weights=result.weights.name,
        segments=len(result.ratings),
        **json_objects.nest_figures(result.scores, with_intervals=True),
        passed=result.passed,
        checks=[_check(check, result, n_segments) for check in result.checks],
    )
    written: dict[str, Any] = msgspec.to_builtins(keys)
    return written


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


def junit(result: GateResult, source: str, n_segments: int) -> str:
    """Returns the checks as JUnit XML, which CI servers show as tests: one test case a limit.

    The format is that of https://github.com/testmoapp/junitxml.
    """
    failed = [check for check in result.checks if not check.passed]
    totals = {"tests": f"{len(result.checks)}", "failures": f"{len(failed)}"}
    root = ElementTree.Element("testsuites", {"name": "matese gate", **totals})
    suite = ElementTree.SubElement(root, "testsuite", {"name": source, **totals})
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in result_keys.origin(result.ratings, result.weights).items():
        ElementTree.SubElement(properties, "property", {"name": name, "value": value or ""})
    for check in result.checks:
        case = ElementTree.SubElement(suite, "testcase", {"name": check.name, "classname": source})
        if not check.passed:
            lines = [line.strip() for line in _blamed(check, result, n_segments)]
            failure = ElementTree.SubElement(case, "failure", {"message": show(_measured(check)), "type": check.name})
            failure.text = "\n".join(map(show, lines))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def github_annotations(result: GateResult, source: str, n_segments: int) -> str:
    """Returns a workflow command of GitHub Actions for each limit: an error if it is violated, else a notice.

    The syntax is that of https://docs.github.com/actions/reference/workflow-commands-for-github-actions.
    """
    lines = []
    for check in result.checks:
        text = "\n".join(map(show, [_measured(check), *(line.strip() for line in _blamed(check, result, n_segments))]))
        kind = "notice" if check.passed else "error"
        title = _property(f"matese gate: {check.name} of {show(source)}")
        lines.append(f"::{kind} {_place(check, result)}title={title}::{_escaped(text)}\n")
    return "".join(lines)


def _place(check: Check, result: GateResult) -> str:
    """Returns the properties for the line of the worst segment; "" if it is of no text file."""
    if not check.segments:
        return ""
    segment = result.ratings[check.segments[0]].segment
    if segment.file is None or segment.line is None:
        return ""
    return f"file={_property(show(segment.file))},line={segment.line},"


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
