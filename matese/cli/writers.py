"""The forms in which `matese tag` writes: marked text and a page for readers, JSONL for programs."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

from matese import mqm
from matese.annotation import Rating, TokenScores
from matese.cli import streams
from matese.cli.output import Output
from matese.cli.tally import Tally
from matese.formats import jsonl
from matese.render import terminal
from matese.render.visible import show

if TYPE_CHECKING:
    from rich.text import Text

FORMS = ("terminal", "jsonl", "html")
FILE_WIDTH = 80
"""Columns where there is no terminal whose width could be taken."""


class Writer(Protocol):
    """A form of results."""

    def write(self, rating: Rating, tokens: TokenScores) -> None:
        """Writes one segment."""

    def finish(self, tallies: Sequence[Tally], n_written: int) -> None:
        """Writes what stands at the end; `n_written` segments were written."""


def make(
    form: str, results: Output, weights: mqm.Weights, *, width: int | None = None, with_tokens: bool = False
) -> Writer:
    """Returns the writer of a form, one of `FORMS`."""
    if form == "html":
        return Html(results, weights)
    if form == "jsonl":
        return JsonLines(results, weights, with_tokens=with_tokens)
    return Terminal(results, weights, width=width)


class JsonLines:
    """A Rating a line."""

    def __init__(self, results: Output, weights: mqm.Weights, *, with_tokens: bool) -> None:
        self._results, self._weights, self._with_tokens = results, weights, with_tokens

    def write(self, rating: Rating, tokens: TokenScores) -> None:
        """Writes one line."""
        line = jsonl.dumps(rating, weights=self._weights, tokens=tokens if self._with_tokens else None)
        self._results.write(f"{line}\n")

    def finish(self, tallies: Sequence[Tally], n_written: int) -> None:
        """Tells of the segments that were not to be written; the file cannot."""
        n_segments = sum(tally.n_segments for tally in tallies)
        if n_written < n_segments:
            streams.say(f"{_written(n_written, n_segments)} written, as --only-errors or --limit asks")


class Html:
    """One page, written at the end."""

    def __init__(self, results: Output, weights: mqm.Weights) -> None:
        self._results, self._weights = results, weights
        self._systems: dict[str, list[Rating]] = {}

    def write(self, rating: Rating, tokens: TokenScores) -> None:
        """Keeps a segment for the page."""
        name = (rating.segment.key and rating.segment.key.system) or ""
        self._systems.setdefault(name, []).append(rating)

    def finish(self, tallies: Sequence[Tally], n_written: int) -> None:
        """Writes the page; its notes tell of segments that were not to be on it."""
        from matese.cli import report_page

        n_segments = sum(tally.n_segments for tally in tallies)
        left_out = f"{_written(n_written, n_segments)} are on this page, as --only-errors or --limit asks; all figures "
        notes = [f"{left_out}are of these"] if n_written < n_segments else []
        title = ", ".join(tally.system for tally in tallies)
        self._results.write(report_page.make(title, self._systems, self._weights, {}, notes))


class Terminal:
    """Blocks of marked text, with a legend above and a summary below."""

    def __init__(self, results: Output, weights: mqm.Weights, *, width: int | None) -> None:
        from rich.console import Console

        self._results, self._weights, self._has_begun = results, weights, False
        terminal_itself = Console(file=results.stream)
        self._width = width or (terminal_itself.width if results.is_stdout else FILE_WIDTH)
        # rich is here for the escape sequences that this terminal has for styles. It neither wraps nor highlights,
        # takes nothing for markup, and does not write: its errors would not say which output has failed.
        self._console = Console(
            file=io.StringIO(),
            force_terminal=terminal_itself.is_terminal,
            color_system=cast(Any, terminal_itself.color_system),
            no_color=terminal_itself.no_color,
            highlight=False,
            markup=False,
            emoji=False,
            soft_wrap=True,
        )

    def write(self, rating: Rating, tokens: TokenScores) -> None:
        """Writes one block."""
        if not self._has_begun:
            self._print(terminal.legend(), "\n\n")
            self._has_begun = True
        self._print(terminal.draw(rating, width=self._width, weights=self._weights), "\n")

    def finish(self, tallies: Sequence[Tally], n_written: int) -> None:
        """Writes counts and mean scores a system, and the signature."""
        n_segments = sum(tally.n_segments for tally in tallies)
        self._print(summary(tallies), "")
        if n_written < n_segments:
            self._results.write(f"{_written(n_written, n_segments)} shown\n")
        for signature in dict.fromkeys(name for tally in tallies for name in tally.signatures):
            self._results.write(f"{show(signature)}\n")

    def _print(self, text: Text, end: str) -> None:
        with self._console.capture() as capture:
            self._console.print(text, end=end)
        self._results.write(capture.get())


def summary(tallies: Sequence[Tally]) -> Text:
    """Returns the table of counts and mean scores, a system a line."""
    header = ["system", "segments", "with errors", "Minor", "Major", "score", "expected"]
    rows = [
        [
            tally.system,
            *(f"{number:,}" for number in (tally.n_segments, tally.n_with_errors, tally.n_minor, tally.n_major)),
            f"{tally.score:.2f}",
            "" if tally.expected_score is None else f"{tally.expected_score:.2f}",
        ]
        for tally in tallies
    ]
    if any(tally.n_blank for tally in tallies):
        header.insert(2, "blank")
        for row, tally in zip(rows, tallies, strict=True):
            row.insert(2, f"{tally.n_blank:,}")
    return terminal.table(header, rows)


def _written(n_written: int, n_segments: int) -> str:
    return f"{n_written:,} of {n_segments:,} segments"
