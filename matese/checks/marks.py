"""Brackets and quotation marks without their other half, and placeholders and tags that were lost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from operator import itemgetter

from matese.annotation import ErrorSpan, Omission, Severity
from matese.text import placeholders

UNPAIRED = "Fluency/Punctuation/Unpaired mark"
LOST = "Accuracy/Omission/Placeholder"

_PAIRS = ("(（", ")）"), ("[［", "]］"), ("{｛", "}｝"), ("【〔", "】〕"), ("《〈", "》〉"), ("「『", "」』")
_OPENING = {mark: kind for kind, (marks, _) in enumerate(_PAIRS) for mark in marks}
_CLOSING = {mark: kind for kind, (_, marks) in enumerate(_PAIRS) for mark in marks}
# Which of them open and which close depends on the language; single ones look like apostrophes.
_QUOTES = frozenset('"“”„‟«»＂')
# ":)", ";-(", "8-)" and the inches of 5"
_NO_PAIRS = re.compile(r"(?:(?<=\s)|^)(?:[:;=]-?|8-)[)(]|(?<=\d)[\"”]")
# "a)", "12)": but where a bracket is open, "(the UK)" ends it.
_NUMBERED = re.compile(r"(?:(?<=\s)|^)\w{1,2}\)")


def unpaired(hypothesis: str, source: str | None) -> Iterator[ErrorSpan]:
    """Yields unpaired marks of a hypothesis, except for kinds that are unpaired in the source, too.

    >>> [span.start for span in unpaired("Er (der Wirt „kam“.", "He (the host) came.")]
    [3]
    >>> list(unpaired("1) „Gehen“ wir 🙂 :) (to the UK) (or 8)", None))
    []
    """
    free = set() if source is None else {kind for kind, _ in _unpaired(source)}
    for kind, place in _unpaired(hypothesis):
        if kind not in free:
            yield ErrorSpan(place, place + 1, Severity.MINOR, UNPAIRED)


def _unpaired(text: str) -> list[tuple[int, int]]:
    """Returns kind and place of each mark without its other half; quotation marks are the kind -1."""
    left_out = {place for start, end in placeholders(text) for place in range(start, end)}
    left_out |= {match.end() - 1 for match in _NO_PAIRS.finditer(text)}
    numbered = {match.end() - 1 for match in _NUMBERED.finditer(text)}
    opened: list[tuple[int, int]] = []
    closed: list[tuple[int, int]] = []
    quotes: list[int] = []
    for place, mark in enumerate(text):
        if place in left_out:
            continue
        if mark in _QUOTES:
            quotes.append(place)
        elif mark in _OPENING:
            opened.append((_OPENING[mark], place))
        elif mark in _CLOSING:
            kind = _CLOSING[mark]
            if partner := next((opening for opening in reversed(opened) if opening[0] == kind), None):
                opened.remove(partner)
            elif place not in numbered:
                closed.append((kind, place))
    last_quote = [(-1, place) for place in quotes[-1:] if len(quotes) % 2]
    return sorted([*closed, *opened, *last_quote], key=itemgetter(1))


def lost(source: str, hypothesis: str, may_lack: Collection[str] = ()) -> Iterator[Omission]:
    """Yields placeholders and tags of the source that are rarer in the hypothesis; tags are compared by name.

    `may_lack`: placeholders that the hypothesis may leave out.

    >>> [source[span.start : span.end] for source in ("%d of <b>{n}</b>",) for span in lost(source, "{n} <b>von</b>")]
    ['%d']
    """
    left = Counter(_name(hypothesis[start:end]) for start, end in placeholders(hypothesis))
    for start, end in placeholders(source):
        name = _name(source[start:end])
        # An entity is as good as the character that it stands for, and words in braces are text.
        if name.startswith("&") or (name.startswith("{") and " " in name):
            continue
        if left[name]:
            left[name] -= 1
        elif source[start:end] not in may_lack:
            yield Omission("source", None, start, end, Severity.MAJOR, LOST)


def _name(code: str) -> str:
    tag = re.match(r"</?[\w:-]+", code)
    return code if tag is None else tag[0]
