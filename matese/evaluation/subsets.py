"""Parts of a corpus: by length, by duplicates, by what the source holds, by the errors that were found."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from matese import mqm
from matese.annotation import Rating, Segment
from matese.evaluation import quality

Segments = Sequence[Sequence[Rating]]
"""(segments, systems)."""

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|[.!?:]")
_I = re.compile("I(?:['’].*)?")
"""The English word, with or without a verb ("I'm"), which is a name nowhere."""
SEVERITIES = ("none", "minor", "major", "critical")


@dataclass(frozen=True, slots=True)
class Subset:
    """A part of a corpus.

    Attributes:
        name: as tables call it.
        keeps: for each segment, whether it belongs to the part; shape: (segments,).
    """

    name: str
    keeps: Callable[[Segments], list[bool]]


def judged_text(segment: Segment) -> str:
    """Returns the text that is the same for all systems: the source, else the first reference, else the hypothesis."""
    if segment.source is not None:
        return segment.source
    return segment.references[0] if segment.references else segment.hypothesis


def by_length(low: int, high: int | None) -> Subset:
    """Returns the segments whose source (`judged_text`) has `low` to `high` words, both included."""
    last = "" if high is None else str(high)
    return Subset(f"length {low}:{last}", _of_text(lambda text: _is_within(mqm.count_words(text), low, high)))


def without_duplicates() -> Subset:
    """Returns the first segment of each source."""

    def keeps(segments: Segments) -> list[bool]:
        seen: set[str] = set()
        found = []
        for ratings in segments:
            text = judged_text(ratings[0].segment)
            found.append(text not in seen)
            seen.add(text)
        return found

    return Subset("no duplicates", keeps)


def with_terms(terms: Collection[str]) -> Subset:
    """Returns the segments whose source holds a term: whole words, without regard to case and Unicode form."""
    folded = sorted(map(_fold, terms), key=len, reverse=True)
    pattern = re.compile("|".join(map(_term, folded)))
    name = f"glossary, {len(folded):,} term{'s' * (len(folded) != 1)}"
    return Subset(name, _of_text(lambda text: pattern.search(_fold(text)) is not None))


def with_number() -> Subset:
    """Returns the segments whose source holds a digit of any script."""
    return Subset("number", _of_text(lambda text: any(character.isdigit() for character in text)))


def with_name() -> Subset:
    """Returns the segments whose source seems to hold a name; see `seems_to_name`."""
    return Subset("name", _of_text(seems_to_name))


def with_severity(names: Collection[str]) -> Subset:
    """Returns the segments in which some system has an error of one of `SEVERITIES`, or, by "none", no error."""

    def is_wanted(rating: Rating) -> bool:
        found = quality.counts(rating)
        return any(not any(found.values()) if name == "none" else found[name] > 0 for name in names)

    return Subset(f"severity {' or '.join(names)}", lambda segments: [any(map(is_wanted, own)) for own in segments])


def by_errors(low: int, high: int | None) -> Subset:
    """Returns the segments in which some system has `low` to `high` errors, both included."""

    def is_wanted(rating: Rating) -> bool:
        return _is_within(quality.n_errors(rating), low, high)

    last = "" if high is None else str(high)
    return Subset(f"errors {low}:{last}", lambda segments: [any(map(is_wanted, own)) for own in segments])


def seems_to_name(text: str) -> bool:
    """Whether a text seems to hold a name: a word with a capital letter that does not begin a sentence.

    No model is asked. In German every noun is such a word, and scripts without capital letters have none; a glossary
    of names is exact.

    >>> seems_to_name("He met Anna."), seems_to_name("Nobody came."), seems_to_name("Stop. Go!")
    (True, False, False)
    >>> seems_to_name("Well, I'm late.")
    False
    """
    before = "."
    for match in _WORD.finditer(text):
        word = match.group()
        if word[0].isupper() and before not in ".!?:" and _I.fullmatch(word) is None:
            return True
        before = word
    return False


def _is_within(number: int, low: int, high: int | None) -> bool:
    return low <= number and (high is None or number <= high)


def _of_text(is_wanted: Callable[[str], bool]) -> Callable[[Segments], list[bool]]:
    return lambda segments: [is_wanted(judged_text(own[0].segment)) for own in segments]


def _fold(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _term(term: str) -> str:
    """Returns the pattern of a term: its ends are borders of words, but in scripts without spaces."""
    start, end = (
        r"\b" if (edge.isalnum() or edge == "_") and not mqm.is_unspaced(edge) else "" for edge in (term[0], term[-1])
    )
    return f"{start}{re.escape(term)}{end}"
