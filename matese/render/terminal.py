"""Ratings for a terminal, a pipe or a plain file: the source, the hypothesis with its errors, and the references.

Brackets show the severity everywhere; a terminal adds colours. Words of the source or a reference that the translation
lacks are marked there, between hyphens within the brackets. Control characters become visible, and no text is
interpreted as markup or changes the writing direction of other text.
"""

from __future__ import annotations

import io
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO, cast

from matese import mqm
from matese.annotation import ErrorSpan, Omission, Rating, Severity, severities
from matese.annotation.severity_looks import LOOKS
from matese.render.labels import error_label, marked_texts, place_label, short_number, show, unplaced_label, votes_label

if TYPE_CHECKING:
    from rich.text import Text


class Mark(NamedTuple):
    """How an error looks: the brackets around its words, and their style where there are styles."""

    opening: str
    closing: str
    style: str


_SHORT = {"source": "src", "hypothesis": "hyp", "reference": "ref"}
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_LEFT_TO_RIGHT = "\u2066"
_RIGHT_TO_LEFT = "\u2067"
_POP_ISOLATE = "\u2069"
_INDENT = "  "
_MOST_QUOTED = 30
_UNSURE = 0.25
"""Confidence below which a mark is dim."""


class Styler:
    """Turns styled text into a string with the escape sequences that a stream supports; `width` is in cells."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console

        real = Console(file=stream)
        self.width = real.width
        # rich must not wrap, highlight, or interpret markup. Nor does it write: its errors would not name the output.
        self._console = Console(
            file=io.StringIO(),
            force_terminal=real.is_terminal,
            color_system=cast(Any, real.color_system),
            no_color=real.no_color,
            highlight=False,
            markup=False,
            emoji=False,
            soft_wrap=True,
        )

    def __call__(self, text: Text) -> str:
        """Returns the string."""
        with self._console.capture() as capture:
            self._console.print(text, end="")
        return capture.get()


def legend(*, has_confidence: bool = True) -> Text:
    """Returns what the marks mean."""
    from rich.text import Text

    parts: list[Text | str] = []
    for severity, confidence in ((Severity.MAJOR, 0.8), (Severity.MINOR, 0.4)):
        span = ErrorSpan(0, 5, severity, confidence=confidence if has_confidence else None)
        parts += [mark_spans(severities.label(severity), [span]), "  "]
    parts.append(Text(f"with the confidence in %; dim below {100 * _UNSURE:.0f}" if has_confidence else "", "dim"))
    missing = mark_spans("Words", [Omission("source", None, 0, 5, Severity.MAJOR)])
    return Text.assemble(*parts, "\n", missing, Text("  missing in the translation", "dim"))


def draw(rating: Rating, *, width: int, weights: mqm.Weights = mqm.MATESE) -> Text:
    """Returns a rating as lines of at most `width` cells (a heading is never broken) and a final line feed."""
    from rich.text import Text

    rows = []
    for name, marked, spans in marked_texts(rating):
        kind, _, reference = name.partition(" ")
        text = _hypothesis(rating) if kind == "hypothesis" else mark_spans(marked, spans)
        rows.append((f"{_SHORT[kind]} {reference}".strip(), text))
    if details := _details(rating):
        rows.append(("err", Text(details)))
    if rating.correction is not None:
        rows.append(("better", Text(show(rating.correction))))
    n_cells = max(len(label) for label, _ in rows)
    block = [_heading(rating, weights)]
    for label, text in rows:
        for number, line in enumerate(wrap(text, width - n_cells - 2 * len(_INDENT))):
            block.append(Text.assemble((f"{_INDENT}{'' if number else label:<{n_cells}}{_INDENT}", "dim"), line))
    return Text("\n").join([*block, Text()])


def mark_spans(text: str, spans: Iterable[ErrorSpan | Omission]) -> Text:
    r"""Returns the text, shown as `labels.show` does, with its errors in brackets; they may overlap.

    >>> mark_spans("a\x1bb", [ErrorSpan(1, 3, Severity.MAJOR, confidence=0.5)]).plain
    'a[[␛b]]₅₀'
    """
    from rich.text import Text

    opening: dict[int, list[ErrorSpan | Omission]] = defaultdict(list)
    closing: dict[int, list[ErrorSpan | Omission]] = defaultdict(list)
    # Of spans that begin together the longer opens first, and of spans that end together the last opened closes first.
    for span in sorted(spans, key=lambda span: (span.start, -span.end, -severities.rank(span.severity))):
        opening[span.start].append(span)
        closing[span.end].insert(0, span)
    result = Text()
    active = list[ErrorSpan | Omission]()
    borders = sorted({0, *opening, *closing})
    for start, end in zip(borders, [*borders[1:], len(text)], strict=True):
        for span in closing[start]:
            active.remove(span)
            confidence = "" if span.confidence is None else f"{100 * span.confidence:.0f}".translate(_SUBSCRIPTS)
            result.append(_mark(span).closing + confidence, style="dim")
        for span in opening[start]:
            active.append(span)
            result.append(_mark(span).opening, style="dim")
        piece = show(text[start:end])
        if piece and (opening[start] or closing[start]) and unicodedata.category(piece[0]).startswith("M"):
            piece = f"◌{piece}"  # so that a combining mark does not melt with the bracket before it
        result.append(piece, style=_style(active))
    return result


def table(header: Sequence[str], rows: Iterable[Sequence[str]], width: int | None = None) -> Text:
    """Returns a table whose first column is on the left and whose others, numbers, are on the right; nothing is cut.

    A line has at most `width` cells, where two columns fit: further columns follow below, with the first one repeated.
    """
    from rich.cells import cell_len
    from rich.text import Text

    cells = [[show(cell) for cell in row] for row in (header, *rows)]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    groups: list[list[int]] = [[]]  # the columns after the first, those together that fit beside it
    for column in range(1, len(widths)):
        used = sum(widths[member] + 2 for member in (*groups[-1], column))
        if width is not None and groups[-1] and widths[0] + used > width:
            groups.append([])
        groups[-1].append(column)
    lines = []
    for group in groups:
        for number, row in enumerate(cells):
            first = row[0] + " " * (widths[0] - cell_len(row[0]))
            following = [" " * (widths[column] - cell_len(row[column])) + row[column] for column in group]
            lines.append(Text("  ".join([first, *following]), style="bold" if number == 0 else ""))
        lines += [Text()] if group is not groups[-1] else []
    return Text("\n").join([*lines, Text()])


def _heading(rating: Rating, weights: mqm.Weights) -> Text:
    from rich.text import Text

    figures = [] if rating.errors is None else [f"score {short_number(mqm.score(rating, weights))}"]
    if rating.overall is not None:
        figures.append(f"{rating.overall.scale} {rating.overall.value:.2f}")
    if (estimate := rating.estimate) is not None:
        name = estimate.scale if mqm.expected_score(rating) is None else "expected score"
        has_interval = estimate.low is not None and estimate.high is not None
        ends = f" [{estimate.low:.2f}, {estimate.high:.2f}]" if has_interval else ""
        figures.append(f"{name} {estimate.value:.2f}{ends}")
    place = show(place_label(rating.segment, ("system", "document")))
    return Text.assemble((place, "bold"), "   " * bool(place), "   ".join(figures))


def _hypothesis(rating: Rating) -> Text:
    from rich.text import Text

    hypothesis = rating.segment.hypothesis
    if not hypothesis:
        return Text("(empty)", style="dim italic")
    if show(hypothesis).isspace() and not rating.errors:
        return Text("(blank)", style="dim italic")
    return mark_spans(hypothesis, rating.errors or ())


def _details(rating: Rating) -> str:
    """Returns what brackets do not say: categories and votes of marked texts, and errors without a place."""
    segment = rating.segment
    marked: list[tuple[ErrorSpan | Omission, str, str]] = [
        *((error, segment.hypothesis, votes_label(error)) for error in rating.errors or ()),
        *((error, segment.source or "", " (source)") for error in rating.source_errors),
        *((error, error.context(segment) or "", " (missing)") for error in rating.omissions),
    ]
    details = []
    for error, text, note in marked:
        label = error_label(error)
        has_votes = isinstance(error, ErrorSpan) and error.votes
        if has_votes or label != severities.label(error.severity):
            words = text[error.start : error.end]
            quoted = words if len(words) <= _MOST_QUOTED else f"{words[: _MOST_QUOTED - 1]}…"
            details.append(f"{quoted}: {label}{note}")
    return show("; ".join([*details, *map(unplaced_label, rating.unplaced)]))


def _mark(span: ErrorSpan | Omission) -> Mark:
    looks = LOOKS[span.severity]
    opening, closing = looks.brackets
    if isinstance(span, ErrorSpan):
        return Mark(opening, closing, looks.style)
    return Mark(f"{opening}-", f"-{closing}", looks.missing_style or looks.style)


def _style(spans: Sequence[ErrorSpan | Omission]) -> str:
    """Returns the style of text inside of all these spans: that of the worst."""
    if not spans:
        return ""
    worst = max(spans, key=lambda span: severities.rank(span.severity))
    is_unsure = worst.confidence is not None and worst.confidence < _UNSURE
    return f"{_mark(worst).style}{' dim' if is_unsure else ''}"


def wrap(text: Text, width: int) -> list[Text]:
    """Returns the lines of a text of `width` cells at most, each isolated if the writing direction needs it."""
    from rich.console import Console
    from rich.text import Text

    direction = _direction(text.plain)
    lines = list(text.wrap(Console(width=width), max(2, width)))  # one character can have two cells
    for line in lines[: len(lines) - 1]:
        line.rstrip()  # the white space at which the line is broken
    return [Text.assemble(direction, line, _POP_ISOLATE) for line in lines] if direction else lines


def _direction(text: str) -> str:
    """Returns the isolate for a text with right-to-left characters, by its first letter; "" for any other text."""
    if text.isascii():
        return ""
    classes = [unicodedata.bidirectional(character) for character in text]
    if not any(name in ("R", "AL", "AN") for name in classes):
        return ""
    first = next((name for name in classes if name in ("L", "R", "AL")), "L")
    return _LEFT_TO_RIGHT if first == "L" else _RIGHT_TO_LEFT
