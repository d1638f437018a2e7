"""Results as the tables of the command line: for notebooks, papers and tickets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from html import escape
from typing import Literal, get_args

from matese.errors import UsageError, unknown
from matese.evaluation.metrics.meta_evaluation import MetaEvaluation
from matese.evaluation.spans.evaluation import Evaluation
from matese.evaluation.systems.agreement import RaterAgreement
from matese.evaluation.systems.comparison import SystemComparison
from matese.evaluation.systems.gate import GateResult
from matese.render import agreement_report, comparison_report, correlation_report, evaluation_report, gate_report
from matese.render import tables as drawing
from matese.render.labels import show
from matese.render.tables import Table

TableLook = Literal["text", "markdown", "latex", "html"]
Tabular = Evaluation | RaterAgreement | SystemComparison | MetaEvaluation | GateResult
"""What `evaluate`, `agreement`, `compare`, `correlate` and `gate` return."""
_MOST_LISTED = 10


def tables(
    result: Tabular,
    *,
    look: TableLook = "markdown",
    all: bool = False,  # noqa: A002
) -> str:
    """Returns the report of a result as the command line writes it: what the figures say, and tables.

    Args:
        result: of `matese.evaluate`, `agreement`, `compare`, `correlate` or `gate`.
        look: plain text, Markdown, LaTeX with the rules of booktabs, or a piece of HTML, which notebooks show.
        all: all figures, in place of the main ones and those that were asked for.

    Raises:
        UsageError: if there is no such look.

    >>> import matese
    >>> segment = matese.Segment("Das Haus")
    >>> rating = matese.Rating(segment, "anna", (matese.ErrorSpan(4, 8, matese.Severity.MAJOR),))
    >>> "| hsh: predicted spans that overlap a gold one | 1.0000 |" in tables(matese.evaluate([rating], [rating]))
    True
    """
    if look not in get_args(TableLook):
        raise UsageError(unknown("look", str(look), get_args(TableLook)))
    report = _REPORTS.get(type(result))
    if report is None:
        allowed = "must be the result of evaluate, agreement, compare, correlate or gate"
        raise TypeError(f"{type(result).__name__}: {allowed}")
    parts = [part for part in report(result, is_all=all) if str(part).strip() != drawing.MORE.strip()]
    if look == "html":
        return f"<div>{''.join(map(_in_html, parts))}</div>"
    between = "" if look == "text" else "\n"
    return between.join(drawing.drawn(part, look) for part in parts)


def _in_html(part: object) -> str:
    if isinstance(part, Table):
        return part.html()
    text = escape("\n".join(map(show, str(part).strip().split("\n"))))
    return f'<p style="white-space:pre-wrap">{text}</p>' if text else ""


def _of_metrics(result: MetaEvaluation, *, is_all: bool) -> Iterable[object]:
    for lang_pair in result.figures:
        yield from correlation_report.text(result, lang_pair)
    yield correlation_report.signatures(result)


_REPORTS: Mapping[type, Callable[..., Iterable[object]]] = {
    Evaluation: evaluation_report.text,
    RaterAgreement: agreement_report.text,
    SystemComparison: partial(comparison_report.text, n_listed=_MOST_LISTED),
    MetaEvaluation: _of_metrics,
    GateResult: lambda result, *, is_all: [gate_report.text([result], _MOST_LISTED)],
}
