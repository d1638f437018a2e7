"""Checked limits as text and as one JSON object."""

from __future__ import annotations

from typing import Any

from matese.errors import counted
from matese.evaluation.systems.gate import GateResult
from matese.render import json_objects
from matese.render.comparison_report import errors_label, score_label, segment_label
from matese.render.labels import show


def text(result: GateResult, n_segments: int) -> str:
    """Returns a line of the scores, and one for each limit with at most `n_segments` segments that break it."""
    n = len(result.ratings)
    scores = ", ".join(score_label(name, score) for name, score in result.scores.items())
    lines = [f"{counted(n, 'segment')}: {scores}"]
    for check in result.checks:
        limit = f"{'at least' if check.name in ('min-score', 'min-error-free') else 'at most'} {check.limit:g}"
        if check.p is not None:
            side = "above" if check.is_significant and check.value > 0 else "below"
            limit = f"{'' if check.is_significant else 'not '}significantly {side} 0, p {check.p:.4f}"
        value = f"{check.value:g}" if check.name == "max-blank" else f"{check.value:.2f}"
        lines.append(f"{'PASS' if check.passed else 'FAIL'}  {check.quantity} {value} ({limit})")
        for number, loss in list(zip(check.segments, check.losses, strict=True))[:n_segments]:
            shown = {"min-score": f" {-loss:.2f};", "baseline": f" {-loss:+.2f};"}.get(check.name, "")
            rating = result.ratings[number]
            lines.append(f"      {segment_label(rating)}:{shown} {errors_label(rating)}")
        if (n_more := len(check.segments) - n_segments) > 0:
            lines.append(f"      and {counted(n_more, 'more segment')}")
    return "".join(f"{show(line)}\n" for line in lines)


def to_json(result: GateResult, source: str, n_segments: int) -> dict[str, Any]:
    """Returns all checks as one object, with at most `n_segments` segments each; docs/compare.md describes its keys."""
    return {
        "ratings": source,
        "baseline": result.baseline,
        "weights": result.weights.name,
        "segments": len(result.ratings),
        **json_objects.nest_figures(result.scores, with_intervals=True),
        "passed": result.passed,
        "checks": [
            {
                "check": check.name,
                "value": json_objects.finite(check.value),
                "limit": check.limit,
                "passed": check.passed,
                "p": check.p,
                "n_blamed": len(check.segments),
                "segments": [
                    {
                        "number": number,
                        "segment": segment_label(result.ratings[number]),
                        "errors": errors_label(result.ratings[number]),
                    }
                    for number in check.segments[:n_segments]
                ],
            }
            for check in result.checks
        ],
    }
