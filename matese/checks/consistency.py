"""Texts that are translated in several ways, and translations of several texts, in a set of segments.

No rule of `rules.TABLE`: a finding is of a set, and never part of a Rating, since equal texts have equal ratings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from matese.annotation import Segment
from matese.errors import counted
from matese.text.placeholders import placeholders


@dataclass(frozen=True, slots=True)
class Inconsistency:
    """A text that stands beside several.

    Attributes:
        is_source: whether a source has several translations; otherwise a translation has several sources.
        text: the source, or the translation.
        counterparts: its translations, or its sources.
        segments: with this text, in order.
    """

    is_source: bool
    text: str
    counterparts: tuple[str, ...]
    segments: tuple[Segment, ...]


def find(segments: Iterable[Segment]) -> Iterator[Inconsistency]:
    """Yields sources with several translations, then translations of several sources.

    Case and white space do not count, and a text stands for itself within a system, language pair, context and set of
    placeholders only. Plural forms of one entry differ, as they should.

    >>> pairs = [("Save", "Sichern"), ("Save", "Speichern"), ("Store", "Speichern")]
    >>> [(text.text, text.counterparts) for text in find(Segment(target, source) for source, target in pairs)]
    [('Save', ('Sichern', 'Speichern')), ('Speichern', ('Save', 'Store'))]
    """
    translated = [segment for segment in segments if (segment.source or "").strip() and segment.hypothesis.strip()]
    for is_source in (True, False):
        groups: dict[object, list[Segment]] = {}
        for segment in translated:
            groups.setdefault(_key(segment, is_source=is_source), []).append(segment)
        for group in groups.values():
            counterparts = _distinct([_text(segment, is_source=not is_source) for segment in _entries(group)])
            if len(counterparts) > 1:
                yield Inconsistency(is_source, _text(group[0], is_source=is_source), counterparts, tuple(group))


def sentences(segments: Iterable[Segment]) -> Iterator[str]:
    """Yields what is inconsistent in a set, with an example of each kind.

    >>> next(sentences([Segment("Sichern", "Save", name="unit a"), Segment("Speichern", "Save", name="unit b")]))
    '1 source has several translations, such as "Save" (unit a): "Sichern", "Speichern"'
    """
    inconsistencies = list(find(segments))
    for is_source, noun, counterparts in ((True, "source", "translations"), (False, "translation", "sources")):
        if of_kind := [inconsistency for inconsistency in inconsistencies if inconsistency.is_source == is_source]:
            first = of_kind[0]
            examples = ", ".join(f'"{text}"' for text in first.counterparts)
            has = f"{counted(len(of_kind), noun)} {'has' if len(of_kind) == 1 else 'have'} several {counterparts}"
            yield f'{has}, such as "{first.text}" ({first.segments[0].label}): {examples}'


def _text(segment: Segment, *, is_source: bool) -> str:
    return (segment.source or "") if is_source else segment.hypothesis


def _key(segment: Segment, *, is_source: bool) -> object:
    place = segment.key and (segment.key.system, segment.key.lang_pair)
    codes = frozenset(segment.hypothesis[start:end] for start, end in placeholders(segment.hypothesis))
    return place, (segment.extra or {}).get("context"), _folded(_text(segment, is_source=is_source)), codes


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _entries(group: Sequence[Segment]) -> Iterable[Segment]:
    """Returns the first of the plural forms of each entry, which stand on one line of their file."""
    first: dict[object, Segment] = {}
    for number, segment in enumerate(group):
        first.setdefault(number if segment.line is None else (segment.file, segment.line), segment)
    return first.values()


def _distinct(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple({_folded(text): text for text in reversed(texts)}.values())[::-1]
