"""How each severity looks in terminals, notebooks, pages and files of other programs, its key, and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from matese.annotation.severities import Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """How a severity looks and is explained. Colours are "#rrggbb".

    Attributes:
        key: of the keyboard, where people correct marks; None for a severity that they cannot choose.
        meaning: what such an error does, for readers who do not know MQM; None for one that does not count.
        brackets: around the words in plain text.
        style: of the words in a terminal, in the words of rich. Backgrounds, so that it is legible on light and on dark
            terminals; bold against underline is left where colours are switched off.
        missing_style: of words that the translation lacks; None for `style`.
        line: below the words on a page, in the words of CSS.
        colour: of marks in notebooks, where it is translucent, and of labels in Label Studio.
        fill: behind the words, on light and on dark paper.
        ink: of lines and labels, on light and on dark paper; the first is that of marked words in a workbook.
    """

    key: str | None
    meaning: str | None = None
    brackets: tuple[str, str]
    style: str
    missing_style: str | None = None
    line: str
    colour: str
    fill: tuple[str, str]
    ink: tuple[str, str]


LOOKS: Mapping[Severity | None, Looks] = {
    None: Looks(
        key=None,
        brackets=("{?", "?}"),
        style="underline",
        line="dashed 2px",
        colour="#1e88e5",
        fill=("#e7ebef", "#2a323c"),
        ink=("#1a5fb4", "#79b8ff"),
    ),
    Severity.NEUTRAL: Looks(
        key="0",
        brackets=("{", "}"),
        style="underline",
        line="dashed 1px",
        colour="#9e9e9e",
        fill=("#e7ebef", "#2a323c"),
        ink=("#59636e", "#9aa4af"),
    ),
    Severity.MINOR: Looks(
        key="1",
        meaning="the reader is not misled",
        brackets=("[", "]"),
        style="underline black on yellow",
        missing_style="underline black on cyan",
        line="dotted 2.5px",
        colour="#ffb300",
        fill=("#fff1b8", "#4a3a07"),
        ink=("#9a6700", "#e3b341"),
    ),
    Severity.MAJOR: Looks(
        key="2",
        meaning="the meaning changes, or reading is hard",
        brackets=("[[", "]]"),
        style="bold white on red",
        missing_style="bold white on blue",
        line="solid 2.5px",
        colour="#e53935",
        fill=("#ffd3cf", "#5b1a1c"),
        ink=("#c4161c", "#ff8a84"),
    ),
    Severity.CRITICAL: Looks(
        key="3",
        meaning="can do harm",
        brackets=("[[[", "]]]"),
        style="bold white on magenta",
        missing_style="bold white on blue",
        line="double 3px",
        colour="#8e24aa",
        fill=("#f3d1f4", "#4b1d54"),
        ink=("#8a1c8f", "#e39bec"),
    ),
}
