"""Filters that select a part of a corpus: by length, duplicates, what the source contains, or the errors found."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from matese.annotation import Rating, Segment
from matese.annotation.severities import COUNTED
from matese.errors import InputError, UsageError, counted, near_miss, one_of, unknown
from matese.evaluation.systems import quality
from matese.text.words import count_words, is_unspaced

Segments = Sequence[Sequence[Rating]]
"""(segments, systems)."""

SEVERITIES = ("none", *(severity.value for severity in COUNTED))
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|[.!?:]")
_I = re.compile("I(?:['’].*)?")
"""The English pronoun, with or without a verb ("I'm"): capitalised, but not a name."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A way to select segments: its name in tables, and whether it keeps each segment, (segments,)."""

    name: str
    keep: Callable[[Segments], list[bool]]

    @classmethod
    def of_text(cls, name: str, is_wanted: Callable[[str], bool]) -> Filter:
        """Selects segments by the text that all systems share, see `judged_text`."""
        return cls(name, lambda segments: [is_wanted(judged_text(ratings[0].segment)) for ratings in segments])

    @classmethod
    def of_rating(cls, name: str, is_wanted: Callable[[Rating], bool]) -> Filter:
        """Selects segments of which the rating of some system is wanted."""
        return cls(name, lambda segments: [any(map(is_wanted, ratings)) for ratings in segments])


def apply(filters: Sequence[Filter | str], segments: Segments) -> tuple[dict[str, list[bool]], list[bool]]:
    """Returns the segments that each filter selects, by its name, and those that all of them select.

    Raises:
        UsageError: if a text names no filter.
        InputError: if no segment is left.
    """
    parsed = [
        parse(text_or_filter) if isinstance(text_or_filter, str) else text_or_filter for text_or_filter in filters
    ]
    by_filter = {segment_filter.name: segment_filter.keep(segments) for segment_filter in parsed}
    is_kept = list(map(all, zip(*by_filter.values(), strict=True))) if by_filter else [True] * len(segments)
    if not is_kept:
        raise InputError("no segments; give one or more")
    if not any(is_kept):
        counts = ", ".join(f"{name} {sum(selected):,}" for name, selected in by_filter.items())
        raise InputError(
            f"the filters leave none of {counted(len(segments), 'segment')} ({counts}); choose filters that leave one "
            "or more"
        )
    return by_filter, is_kept


def judged_text(segment: Segment) -> str:
    """Returns the text that all systems share: the source, else the first reference, else the hypothesis."""
    if segment.source is not None:
        return segment.source
    return segment.references[0] if segment.references else segment.hypothesis


def parse(text: str) -> Filter:
    """Returns the filter that a text such as "length=2:20" names, as `matese compare --help-all` lists them.

    Raises:
        UsageError: if there is no such filter.
        InputError: if its glossary cannot be read.

    >>> parse("length=2:20").name, parse("severity=minor,major").name
    ('length 2:20', 'severity minor or major')
    """
    from matese.formats import glossary

    name, equals, value = text.partition("=")
    plain = {"number": with_number, "name": with_name, "unique": without_duplicates}
    if text in plain:
        return plain[text]()
    if name == "glossary" and value:
        return with_terms(glossary.read(value))
    if name == "severity" and equals:
        return with_severity(*value.split(","))
    if name in ("length", "errors"):
        match = re.fullmatch(r"(?=.*[0-9])([0-9]{0,9}):([0-9]{0,9})", value)
        if match is None or (match[2] and int(match[1] or 0) > int(match[2])):
            raise UsageError(f"filter {text}: {value!r} must be MIN:MAX, MIN: or :MAX, whole numbers, MIN up to MAX")
        return (by_length if name == "length" else by_errors)(int(match[1] or 0), int(match[2]) if match[2] else None)
    usages = (*plain, "length=MIN:MAX", "errors=MIN:MAX", "severity=NAME", "glossary=FILE")
    hint = near_miss(name, [usage.partition("=")[0] for usage in usages])
    raise UsageError(f"filter {text}: unknown filter{hint} must be {one_of(usages)}")


def by_length(low: int, high: int | None = None) -> Filter:
    """Selects segments whose source (`judged_text`) has `low` to `high` words, both included."""
    return Filter.of_text(_range("length", low, high), lambda text: _is_within(count_words(text), low, high))


def by_errors(low: int, high: int | None = None) -> Filter:
    """Selects segments in which some system has `low` to `high` errors, both included."""
    return Filter.of_rating(_range("errors", low, high), lambda rating: _is_within(quality.n_errors(rating), low, high))


def _range(name: str, low: int, high: int | None) -> str:
    return f"{name} {low}:{'' if high is None else high}"


def _is_within(number: int, low: int, high: int | None) -> bool:
    return low <= number and (high is None or number <= high)


def without_duplicates() -> Filter:
    """Selects the first segment of each source in each language pair."""

    def keep(segments: Segments) -> list[bool]:
        first_segments = [ratings[0].segment for ratings in segments]
        judged = [(segment.key and segment.key.lang_pair, judged_text(segment)) for segment in first_segments]
        first = {text: number for number, text in reversed(list(enumerate(judged)))}
        return [first[text] == number for number, text in enumerate(judged)]

    return Filter("no duplicates", keep)


def with_terms(terms: Collection[str]) -> Filter:
    """Selects segments whose source contains a term: whole words, ignoring case and Unicode form."""

    def folded(text: str) -> str:
        return unicodedata.normalize("NFC", text).casefold()

    pattern = re.compile("|".join(map(_term_pattern, sorted(map(folded, terms), key=len, reverse=True))))
    name = f"glossary, {counted(len(terms), 'term')}"
    return Filter.of_text(name, lambda text: pattern.search(folded(text)) is not None)


def with_number() -> Filter:
    """Selects segments whose source contains a digit of any script."""
    return Filter.of_text("number", lambda text: any(map(str.isdigit, text)))


def with_name() -> Filter:
    """Selects segments whose source seems to contain a name; see `seems_to_name`."""
    return Filter.of_text("name", seems_to_name)


def with_severity(*severities: str) -> Filter:
    """Selects segments in which some system has an error of one of these `SEVERITIES`; "none" means no error.

    Raises:
        UsageError: if there is no such severity.
    """
    for name in severities:
        if name not in SEVERITIES:
            raise UsageError(f"filter severity: {unknown('severity', name, SEVERITIES)}")

    def is_wanted(rating: Rating) -> bool:
        marked = [severity.value for severity, n in quality.severity_counts(rating).items() if n]
        return any(name in marked for name in severities) or ("none" in severities and not marked)

    return Filter.of_rating(f"severity {' or '.join(severities)}", is_wanted)


def seems_to_name(text: str) -> bool:
    """Whether a text seems to contain a name: a capitalised word that does not begin a sentence.

    This is a heuristic: in German all nouns are capitalised, and scripts without capital letters have no such words. A
    glossary of names is exact.

    >>> seems_to_name("He met Anna."), seems_to_name("Nobody came."), seems_to_name("Stop. Go!")
    (True, False, False)
    >>> seems_to_name("Well, I'm late.")
    False
    """
    words = [".", *_WORD.findall(text)]
    return any(
        word[0].isupper() and before not in ".!?:" and _I.fullmatch(word) is None
        for before, word in itertools.pairwise(words)
    )


def _term_pattern(term: str) -> str:
    """Returns the pattern of a term; it begins and ends at word boundaries, except in scripts without spaces."""

    def border(edge: str) -> str:
        is_in_word = edge.isalnum() or edge == "_"
        return r"\b" if is_in_word and not is_unspaced(edge) else ""

    return f"{border(term[0])}{re.escape(term)}{border(term[-1])}"
