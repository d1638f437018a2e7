"""The severities of errors, in one table: names, order, what measures count them as, and how they look.

A further severity is a member of `Severity`, a row of `TRAITS`, and its penalty in `mqm.Weights`. Formats, figures,
pages and the terminal follow. Formats have words and limits of their own only where another program does.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from matese.errors import InputError, unknown

UNDECIDED = "undecided"
"""The name of a severity that the rater left open, which is None."""


class Severity(enum.Enum):
    """How bad an error is, ordered from NEUTRAL to CRITICAL. What it costs is policy: see `matese.mqm`.

    >>> Severity.MINOR < Severity.MAJOR, Severity("major"), max(Severity).value
    (True, <Severity.MAJOR: 'major'>, 'critical')
    """

    NEUTRAL = "neutral"
    MINOR = "minor"
    MAJOR = "major"
    CRITICAL = "critical"

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Severity):
            return NotImplemented
        return _RANK[self] < _RANK[other]

    def __le__(self, other: object) -> bool:
        if not isinstance(other, Severity):
            return NotImplemented
        return _RANK[self] <= _RANK[other]


_RANK: Mapping[Severity | None, int] = {severity: number for number, severity in enumerate((None, *Severity))}


def rank(severity: Severity | None) -> int:
    """Returns the place of a severity in the order from the least to the most severe; an undecided one is the first.

    >>> sorted([Severity.MAJOR, None, Severity.MINOR], key=rank)
    [None, <Severity.MINOR: 'minor'>, <Severity.MAJOR: 'major'>]
    """
    return _RANK[severity]


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What is ours about a severity. Colours are "#rrggbb".

    Attributes:
        counts_as: the severity that measures and formats of Minor and Major take it for; None: they leave it out.
        key: of the keyboard, where people correct marks; None for a severity that they cannot choose.
        brackets: around the words in plain text.
        style: of the words in a terminal, in the words of rich. Backgrounds, so that it is legible on light and on dark
            terminals; bold against underline is left where colours are switched off.
        missing_style: of words that the translation lacks; None for `style`.
        line: below the words on a page, in the words of CSS.
        colour: of a label in other programs; translucent in notebooks.
        fill: behind the words, on light and on dark paper.
        ink: of lines and labels, on light and on dark paper.
    """

    counts_as: Severity | None
    key: str | None
    brackets: tuple[str, str]
    style: str
    missing_style: str | None = None
    line: str
    colour: str
    fill: tuple[str, str]
    ink: tuple[str, str]


TRAITS: Mapping[Severity | None, Traits] = {
    None: Traits(
        counts_as=None,
        key=None,
        brackets=("{?", "?}"),
        style="underline",
        line="dashed 2px",
        colour="#1e88e5",
        fill=("#e7ebef", "#2a323c"),
        ink=("#1a5fb4", "#79b8ff"),
    ),
    Severity.NEUTRAL: Traits(
        counts_as=None,
        key="0",
        brackets=("{", "}"),
        style="underline",
        line="dashed 1px",
        colour="#9e9e9e",
        fill=("#e7ebef", "#2a323c"),
        ink=("#59636e", "#9aa4af"),
    ),
    Severity.MINOR: Traits(
        counts_as=Severity.MINOR,
        key="1",
        brackets=("[", "]"),
        style="underline black on yellow",
        missing_style="underline black on cyan",
        line="dotted 2.5px",
        colour="#ffb300",
        fill=("#fff1b8", "#4a3a07"),
        ink=("#9a6700", "#e3b341"),
    ),
    Severity.MAJOR: Traits(
        counts_as=Severity.MAJOR,
        key="2",
        brackets=("[[", "]]"),
        style="bold white on red",
        missing_style="bold white on blue",
        line="solid 2.5px",
        colour="#e53935",
        fill=("#ffd3cf", "#5b1a1c"),
        ink=("#c4161c", "#ff8a84"),
    ),
    Severity.CRITICAL: Traits(
        counts_as=Severity.MAJOR,
        key="3",
        brackets=("[[[", "]]]"),
        style="bold white on magenta",
        missing_style="bold white on blue",
        line="double 3px",
        colour="#8e24aa",
        fill=("#f3d1f4", "#4b1d54"),
        ink=("#8a1c8f", "#e39bec"),
    ),
}
EVERY: tuple[Severity | None, ...] = (None, *Severity)
"""Undecided first, then from the least to the most severe."""
NAMES = tuple(severity.value for severity in Severity)
MEANINGS: Mapping[str, Severity | None] = {UNDECIDED: None, **{severity.value: severity for severity in Severity}}
"""What each name means."""
COUNTED: Mapping[Severity, Severity] = {
    severity: counts_as for severity in Severity if (counts_as := TRAITS[severity].counts_as) is not None
}
"""The severities that measures count, and as what: the WMT25 task maps Critical to Major and ignores undecided errors;
Perrella et al. 2026 ignore Neutral ones."""
MINOR_MAJOR = (Severity.MINOR, Severity.MAJOR)
"""The severities that measures, tags and several formats tell apart."""


def name(severity: Severity | None) -> str:
    """Returns the name of a severity in files, "undecided" for None."""
    return UNDECIDED if severity is None else severity.value


def label(severity: Severity | None) -> str:
    """Returns the name of a severity as people read it: "Major", "Undecided"."""
    return name(severity).capitalize()


def parse(text: str) -> Severity:
    """Returns the severity of a name in any case.

    Raises:
        InputError: if there is no such severity.

    >>> parse("Major")
    <Severity.MAJOR: 'major'>
    """
    if text.casefold() not in NAMES:
        raise InputError(unknown("severity", text, NAMES))
    return Severity(text.casefold())


def parse_optional(text: str | None) -> Severity | None:
    """Returns the severity of a name in any case; None for None, "" and "undecided".

    Raises:
        InputError: if there is no such severity.
    """
    return None if not text or text.casefold() == UNDECIDED else parse(text)


def nearest(severity: Severity | None, held: Collection[Severity | None]) -> Severity | None:
    """Returns the severity that stands for another one where only some can be held; None if there is none.

    It is the one that measures count it as, and Minor for an undecided one. One that they leave out has none.

    >>> nearest(Severity.CRITICAL, MINOR_MAJOR).value, nearest(None, MINOR_MAJOR).value
    ('major', 'minor')
    >>> nearest(Severity.NEUTRAL, MINOR_MAJOR) is None
    True
    """
    wanted = Severity.MINOR if severity is None else COUNTED.get(severity)
    return wanted if wanted in held else None
