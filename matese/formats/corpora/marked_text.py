"""Text in which `<v>` and `</v>` stand around a span, as in MQM TSV."""

from __future__ import annotations

import re
from dataclasses import dataclass

from matese.annotation import ErrorSpan, Omission

_TAG = re.compile("</?v>")

UNWRITABLE = (("<(?=/?v>)", "‹"),)
"""What would be read as a tag, which nothing escapes: another character stands for its "<"."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A text with its tags taken out.

    Attributes:
        text: the text without any tag.
        marks: (start, end) of what stood between tags; may be empty ranges.
        is_balanced: whether every tag had its partner; if not, there are no marks.
    """

    text: str
    marks: tuple[tuple[int, int], ...]
    is_balanced: bool


def parse(text: str) -> Marked:
    """Returns the text without its tags.

    >>> parse("a <v>b</v> c")
    Marked(text='a b c', marks=((2, 3),), is_balanced=True)
    """
    # Most texts have no tag, and this is most of the reading time.
    if "v>" not in text:
        return Marked(text, (), is_balanced=True)
    tags = [match.group() for match in _TAG.finditer(text)]
    pieces = _TAG.split(text)
    plain = "".join(pieces)
    if tags != ["<v>", "</v>"] * (len(tags) // 2):
        return Marked(plain, (), is_balanced=False)
    ends = [0]
    for piece in pieces:
        ends.append(ends[-1] + len(piece))
    # Pieces 1, 3, 5... stand between tags; piece i runs from ends[i] to ends[i + 1].
    marks = tuple((ends[i], ends[i + 1]) for i in range(1, len(pieces), 2))
    return Marked(plain, marks, is_balanced=True)


def mark(text: str, span: ErrorSpan | Omission) -> str:
    """Returns the text with tags around a span."""
    return f"{text[: span.start]}<v>{text[span.start : span.end]}</v>{text[span.end :]}"
