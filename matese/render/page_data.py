"""The data of a page: compact JSON, with offsets in UTF-16 units, as JavaScript counts them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass

from matese import mqm
from matese.annotation import AnyError, ErrorSpan, Estimate, Omission, Rating, Segment, Severity
from matese.render.labels import place_label
from matese.text import Utf16Text

SEVERITIES: tuple[Severity | None, ...] = (None, *Severity)
"""In the order of their numbers on the page, least severe first."""
# JSON within a script element must hold no markup; U+2028 and U+2029 end a line in older JavaScript engines.
_UNSAFE = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


@dataclass(frozen=True, slots=True)
class Translation:
    """The rated translation of a segment by one system.

    Attributes:
        system: its name on the page.
        rating: of the translation.
        heat: of texts that are explained, their number (-2 for the hypothesis, -1 for the source, else that of a
            reference), and start, end and shade (1 to 4) of tokens.
        changes: of each error of the hypothesis, what became of it between two systems, None for errors that do not
            count; empty if nothing is compared.
    """

    system: str
    rating: Rating
    changes: tuple[str | None, ...] = ()
    heat: tuple[tuple[int, tuple[tuple[int, int, int], ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class PageSegment:
    """A segment on a page: its translations, whose first has the source and references, and a difference to sort by."""

    translations: tuple[Translation, ...]
    difference: float | None = None


def dumps(segments: Sequence[PageSegment], weights: mqm.Weights) -> str:
    """Returns the data of a page as JSON that is safe within a `script` element."""
    systems = list(dict.fromkeys(translation.system for segment in segments for translation in segment.translations))
    data = {"systems": systems, "rows": [to_json(segment, systems, weights=weights) for segment in segments]}
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_UNSAFE)


def to_json(segment: PageSegment, systems: Sequence[str], *, weights: mqm.Weights) -> dict[str, object]:
    """Returns a segment: p(lace), s(ource), q (its errors), r(eferences), t(ranslations), d(ifference)."""
    first = segment.translations[0].rating
    source = first.segment.source
    return {
        "p": place_label(first.segment),
        "s": source,
        "q": _spans(first.source_errors, source or ""),
        "r": list(first.segment.references),
        "t": [_translation(translation, systems, weights) for translation in segment.translations],
        **({} if segment.difference is None else {"d": round(segment.difference, 4)}),
    }


def _translation(translation: Translation, systems: Sequence[str], weights: mqm.Weights) -> dict[str, object]:
    """Returns a translation: n (number of the system), h(ypothesis), e(rrors), u(nplaced), m (MQM score), o(verall).

    Missing words of the contexts are x: for each text its number, -1 for the source, and what `_spans` has. Shaded
    tokens of explained texts are w: for each text its number, -2 for the hypothesis, and start, end and shade of each.
    """
    rating = translation.rating
    text = rating.segment.hypothesis
    data: dict[str, object] = {
        "n": systems.index(translation.system),
        "h": text,
        "e": _spans(rating.errors or (), text, translation.changes),
        "u": [_severity_and_category(error) for error in rating.unplaced],
        "m": None if rating.errors is None else round(mqm.score(rating, weights), 4),
    }
    if translation.heat:
        data["w"] = [[number, _heat(spans, number, rating.segment)] for number, spans in translation.heat]
    if rating.omissions:
        data["x"] = [
            [
                -1 if omission.reference is None else omission.reference,
                *_spans([omission], omission.context(rating.segment) or "")[0],
            ]
            for omission in rating.omissions
        ]
    if (whole := rating.whole) is not None:
        ends = (whole.low, whole.high) if isinstance(whole, Estimate) else ()
        data["o"] = [whole.scale, *(round(figure, 4) for figure in (whole.value, *ends) if figure is not None)]
    return data


def _heat(spans: Sequence[tuple[int, int, int]], number: int, segment: Segment) -> list[list[int]]:
    """Returns start, end and shade of each token of a text."""
    text = segment.hypothesis if number == -2 else segment.source if number == -1 else segment.references[number]
    units = Utf16Text(text or "").to_unit
    return [[units(start), units(end), shade] for start, end, shade in spans]


def _spans(spans: Sequence[ErrorSpan | Omission], text: str, changes: Sequence[str | None] = ()) -> list[list[object]]:
    """Returns start, end, severity, category, confidence, change, null and votes of each span, without final nulls."""
    if not spans:
        return []
    units = Utf16Text(text).to_unit
    rows = []
    for span, change in itertools.zip_longest(spans, changes):
        votes = span.votes if isinstance(span, ErrorSpan) else None
        counted = None if votes is None else [votes.share, votes.other_severity]
        place = [units(span.start), units(span.end)]
        # The sixth is for the page's own use.
        fields = [*place, *_severity_and_category(span), span.confidence, change, None, counted]
        while fields[-1] is None:
            fields.pop()
        rows.append(fields)
    return rows


def _severity_and_category(error: AnyError) -> list[object]:
    return [SEVERITIES.index(error.severity), error.category]
