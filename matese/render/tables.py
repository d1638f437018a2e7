"""Figures as tables: in plain text, Markdown, LaTeX or HTML."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from matese.evaluation.spans.figure_texts import FIGURES
from matese.render import terminal
from matese.render.labels import escaped

if TYPE_CHECKING:
    from matese.evaluation.statistics.bootstrap import Figure

Look = Literal["text", "markdown", "latex"]
_LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "\\": "\\textbackslash{}",
        "~": "\\textasciitilde{}",
        "^": "\\textasciicircum{}",
    }
)
_RATES = ("precision", "recall", "f1")
_REASONS = {
    **{name: text.undefined for name, text in FIGURES.items() if text.undefined},
    "severity": "no spans of two raters overlap, or all have one severity",
    "alpha": "no rater marks anything, or all raters mark everything",
}
MORE = "More figures: --all; for programs: --json FILE\n"
"""The last line of a report that is not whole."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with names in the first column and numbers in the others; plain text has no caption."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""

    def __str__(self) -> str:
        """Returns the table as plain text, followed by an empty line."""
        return self.plain()

    def plain(self, width: int | None = None) -> str:
        """Returns the same in lines of at most `width` cells, as `terminal.table` divides them."""
        lines = terminal.table(self.header, self.rows, width).plain.splitlines()
        return "".join(f"{line.rstrip()}\n" for line in [*lines, ""])

    def markdown(self) -> str:
        r"""Returns the table in Markdown, followed by an empty line.

        >>> print(Table(["", "F1"], [["a|b", "0.5"]]).markdown(), end="")
        |  | F1 |
        |---|---:|
        | a\|b | 0.5 |
        <BLANKLINE>
        """
        rows = [[cell.replace("|", "\\|") for cell in row] for row in (self.header, *self.rows)]
        rule = "|---" + "|---:" * (len(self.header) - 1) + "|"
        head, *body = (f"| {' | '.join(row)} |" for row in rows)
        return "".join(f"{line}\n" for line in (head, rule, *body, ""))

    def latex(self) -> str:
        r"""Returns the table in LaTeX with the package booktabs, followed by an empty line.

        >>> print(Table(["", "F1"], [["a_b", "50 %"]]).latex(), end="")
        \begin{tabular}{lr}
        \toprule
         & F1 \\
        \midrule
        a\_b & 50 \% \\
        \bottomrule
        \end{tabular}
        <BLANKLINE>
        """
        head, *body = (f"{' & '.join(map(_in_latex, row))} \\\\" for row in (self.header, *self.rows))
        begin = f"\\begin{{tabular}}{{l{'r' * (len(self.header) - 1)}}}"
        lines = (begin, "\\toprule", head, "\\midrule", *body, "\\bottomrule", "\\end{tabular}", "")
        return "".join(f"{line}\n" for line in lines)

    def html(self) -> str:
        """Returns the table in HTML.

        >>> Table(["", "F1"], [["a<b", "0.5"]]).html()
        '<table><thead><tr><th></th><th>F1</th></tr></thead><tbody><tr><th>a&lt;b</th><td>0.5</td></tr></tbody></table>'
        """
        head = "".join(f"<th>{escaped(cell)}</th>" for cell in self.header)
        rows = (
            f"<tr><th>{escaped(name)}</th>{''.join(f'<td>{escaped(cell)}</td>' for cell in cells)}</tr>"
            for name, *cells in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _in_latex(cell: str) -> str:
    """Returns a cell with the characters escaped that LaTeX acts on; one that begins with [ would be an option."""
    text = cell.translate(_LATEX)
    return f"{{}}{text}" if text.startswith(("[", "*")) else text


def drawn(part: object, look: Look = "text", width: int | None = None) -> str:
    """Returns a part of a report, a table or sentences, which are comments in LaTeX; text tables fit the width."""
    if isinstance(part, Table):
        return part.plain(width) if look == "text" else part.markdown() if look == "markdown" else part.latex()
    if look != "latex":
        return str(part)
    return "".join(f"% {line}".rstrip() + "\n" if line.strip() else "\n" for line in str(part).splitlines())


def of_figures(
    figures: Mapping[str, Figure], *, with_intervals: bool, ceiling: Mapping[str, Figure] | None = None
) -> Iterator[Table]:
    """Yields a table of the figures that have a precision, a recall and an F1, and one of the others, if there are any.

    `ceiling` has the figures of the raters; of the first table, those that are F1.
    """

    def comparison_cells(name: str) -> list[str]:
        of_raters = [] if ceiling is None else [decimal(ceiling[name].value) if name in ceiling else "-"]
        return [*([interval(figures[name])] if with_intervals else []), *of_raters]

    heads = [*(["95% interval"] if with_intervals else []), *([] if ceiling is None else ["raters"])]
    rates = [
        [name, *(decimal(figures[f"{name}.{rate}"].value) for rate in _RATES), *comparison_cells(f"{name}.f1")]
        for name in (figure.removesuffix(".f1") for figure in figures if figure.endswith(".f1"))
    ]
    if rates:
        yield Table(["", "precision", "recall", "F1", *(f"F1: {head}" for head in heads)], rates)
    remaining = [name for name in figures if name.rpartition(".")[2] not in _RATES]
    if remaining:
        rows = [[name, decimal(figures[name].value), *comparison_cells(name)] for name in remaining]
        yield Table(["", "value", *heads], rows)


def decimal(value: float | None) -> str:
    """Returns a figure with four decimals, or a dash if it is undefined.

    >>> decimal(0.45454), decimal(math.nan)
    ('0.4545', '-')
    """
    return "-" if value is None or not math.isfinite(value) else f"{value:.4f}"


def p_value(p: float | None) -> str:
    """Returns a p-value for a cell of a table, or a dash if it is undefined.

    >>> p_value(0.0204), p_value(1.0), p_value(0.0004), p_value(math.nan)
    ('.020', '1.000', '< .001', '-')
    """
    if p is None or not math.isfinite(p):
        return "-"
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def p_equals(p: float) -> str:
    """Returns a p-value for a sentence.

    >>> p_equals(0.0204), p_equals(0.0004)
    ('p = .020', 'p < .001')
    """
    text = p_value(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def bounded(figure: Figure, to_text: Callable[[float], str] = "{:.2f}".format) -> str:
    """Returns a figure with its interval, if it has one, as in "-1.25 [-2.00, -0.50]"."""
    limits = f" [{to_text(figure.low)}, {to_text(figure.high)}]" if math.isfinite(figure.low) else ""
    return f"{to_text(figure.value)}{limits}"


def interval(figure: Figure) -> str:
    """Returns the interval of a figure, a dash for each end that is undefined."""
    return f"{decimal(figure.low)} .. {decimal(figure.high)}"


def undefined(figures: Mapping[str, Figure]) -> list[str]:
    """Returns one line for each reason why figures are undefined, with their names."""
    by_reason: dict[str, list[str]] = {}
    for name, figure in figures.items():
        if not math.isfinite(figure.value):
            prefixes = (name, *(name[:place] for place, letter in enumerate(name) if letter == "."))
            reason = next(
                (_REASONS[prefix] for prefix in prefixes if prefix in _REASONS), "there is nothing to divide by"
            )
            by_reason.setdefault(reason, []).append(name)
    return [f"undefined: {', '.join(names)}: {reason}" for reason, names in by_reason.items()]
