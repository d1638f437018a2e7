"""Short texts for readers: names of errors and segments, numbers, and characters that a terminal would act on."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from html import escape

from matese.annotation import AnyError, ErrorSpan, Omission, Rating, Segment, UnplacedError, severities

_C0_PICTURES = 0x2400
_DELETE_PICTURE = "\u2421"
# Embeddings, overrides and isolates reorder what stands around them; the separators end a line or a paragraph.
_ACTING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")


def error_label(error: AnyError) -> str:
    """Returns the severity and the category of an error, what found it if that is a rule, and why and how to mend it.

    >>> from matese.annotation import Severity, UnplacedError
    >>> error_label(UnplacedError(Severity.MAJOR, "Omission")), error_label(UnplacedError(None))
    ('Major Omission', 'Undecided')
    >>> error_label(ErrorSpan(0, 1, Severity.MAJOR, "Number", rule="numbers"))
    'Major Number (rule numbers)'
    >>> error_label(ErrorSpan(0, 1, Severity.MAJOR, reason="wrong city", correction="Bonn"))
    'Major (better: Bonn; wrong city)'
    """
    severity = severities.label(error.severity)
    label = severity if error.category is None else f"{severity} {error.category}"
    correction = error.correction if isinstance(error, ErrorSpan) else None
    remarks = [
        *([] if error.rule is None else [f"rule {error.rule}"]),
        *([] if correction is None else [f"better: {correction}" if correction else "better: without it"]),
        *([error.reason] if error.reason else []),
    ]
    return f"{label} ({'; '.join(remarks)})" if remarks else label


def unplaced_label(error: UnplacedError) -> str:
    """Returns what readers call an error without a place, with its words if it has some.

    >>> from matese.annotation import Severity
    >>> unplaced_label(UnplacedError(Severity.MAJOR, "Omission", "<x 1>")), unplaced_label(UnplacedError(None))
    ('<x 1>: Major Omission (no place)', 'Undecided (no place)')
    """
    words = "" if error.words is None else f"{error.words}: "
    return f"{words}{error_label(error)} (no place)"


def votes_label(error: ErrorSpan) -> str:
    """Returns how many of several predictions mark an error; "" for a single prediction.

    >>> from matese.annotation import Severity, Votes
    >>> votes_label(ErrorSpan(0, 1, Severity.MAJOR, votes=Votes(0.8, 0.25)))
    ' (80 % of the predictions, 25 % of these with another severity)'
    """
    if error.votes is None:
        return ""
    votes = error.votes
    dissent = f", {votes.other_severity:.0%} of these with another severity" if votes.other_severity else ""
    return f" ({votes.share:.0%} of the predictions{dissent})".replace("%", " %")


def place_label(segment: Segment, fields: tuple[str, ...] = ("test_set", "lang_pair", "document")) -> str:
    """Returns the place of a segment, "" if nothing is known of it.

    Args:
        segment: with a key or without.
        fields: of the key, which precede what readers call the segment.

    >>> from matese.annotation import SegmentKey
    >>> place_label(Segment("Hallo", key=SegmentKey(lang_pair="en-de", document="a", index=4)))
    'en-de, a, segment 5'
    """
    return ", ".join(filter(None, (*(getattr(segment.key, field, None) for field in fields), segment.label)))


def marked_texts(rating: Rating) -> Iterator[tuple[str, str, list[ErrorSpan | Omission]]]:
    """Yields the name of each text of a segment, the text, and its errors with the words that the hypothesis lacks.

    Names are "source", "hypothesis" and "reference", or "reference 1", "reference 2", ... if there are several.
    """
    segment = rating.segment

    def missing(reference: int | None) -> list[ErrorSpan | Omission]:
        return [omission for omission in rating.omissions if omission.reference == reference]

    if segment.source is not None:
        yield "source", segment.source, [*rating.source_errors, *missing(None)]
    yield "hypothesis", segment.hypothesis, list(rating.errors or ())
    has_several = len(segment.references) > 1
    for number, reference in enumerate(segment.references):
        yield f"reference {number + 1}" if has_several else "reference", reference, missing(number)


def percent(share: float) -> str:
    """Returns a share in per cent.

    >>> percent(0.375)
    '38 %'
    """
    return f"{share:.0%}".replace("%", " %")


def short_number(value: float) -> str:
    """Returns a score with at most two decimals, without trailing zeros.

    >>> short_number(-6.0), short_number(-0.1), short_number(-0.001)
    ('-6', '-0.1', '0')
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def show_character(character: str) -> str:
    r"""Returns the character as it is shown: itself, except for control characters, surrogates and the like.

    Those below U+0020 and U+007F have pictures; the others, line separators and controls of the writing direction are
    shown as `less` and `vim` do. Letters of every script, combining marks and joiners stay.

    >>> [show_character(character) for character in "a\x1b\x9b\u202e"]
    ['a', '␛', '<U+009B>', '<U+202E>']
    """
    code = ord(character)
    if code < 0x20:
        return chr(_C0_PICTURES + code)
    if code == 0x7F:
        return _DELETE_PICTURE
    if character in _ACTING or unicodedata.category(character) in ("Cc", "Cs"):
        return f"<U+{code:04X}>"
    return character


def escaped(text: str) -> str:
    """Returns a text in one line for HTML and SVG."""
    return escape(show(text))


def show(text: str) -> str:
    """Returns a text in one line that a terminal shows as it is."""
    return text if text.isprintable() else "".join(map(show_character, text))
