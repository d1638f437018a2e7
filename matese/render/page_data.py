"""The data of a page: compact JSON, with offsets in UTF-16 units, as JavaScript counts them."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from matese import mqm
from matese.annotation import AnyError, ErrorSpan, Omission, Rating, Segment, Votes, severities
from matese.formats.tables import jsonl
from matese.render.labels import place_label
from matese.text.ranges import Utf16Text

HYPOTHESIS = -2
SOURCE = -1
"""The numbers of these texts on a page; a reference has its own, from 0."""
_KEY = ("index", "system", "test_set", "lang_pair", "document")
# JSON within a script element must hold no markup; U+2028 and U+2029 end a line in older JavaScript engines.
_UNSAFE = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


@dataclass(frozen=True, slots=True)
class Translation:
    """The rated translation of a segment by one system.

    Attributes:
        system: its name on the page.
        rating: of the translation.
        heat: of texts that are explained, their number (`HYPOTHESIS`, `SOURCE`, or that of a reference), and start, end
            and shade (1 to 4) of tokens.
        changes: of each error of the hypothesis, what became of it between two systems, None for errors that do not
            count; empty if nothing is compared.
        review: the rating that a reader has saved; None before that.
    """

    system: str
    rating: Rating
    changes: tuple[str | None, ...] = ()
    heat: tuple[tuple[int, tuple[tuple[int, int, int], ...]], ...] = ()
    review: Rating | None = None


@dataclass(frozen=True, slots=True)
class PageSegment:
    """A segment on a page: its translations, whose first has the source and references, and a difference to sort by."""

    translations: tuple[Translation, ...]
    difference: float | None = None


@dataclass(frozen=True, slots=True)
class Saving:
    """Where a page saves ratings by itself.

    Attributes:
        path: the file, as the page names it.
        version: of the file, which a page must know to replace it.
        reviewer: who has saved ratings before; None if nobody has.
    """

    path: str
    version: str
    reviewer: str | None


def dumps(segments: Sequence[PageSegment], weights: mqm.Weights, saving: Saving | None = None) -> str:
    """Returns the data of a page as JSON that is safe within a `script` element.

    `id` is a digest of the segments, by which a browser finds what a reader decided about them.
    """
    systems = list(dict.fromkeys(translation.system for segment in segments for translation in segment.translations))
    rows = _dumps([to_json(segment, systems, weights=weights) for segment in segments])
    digest = hashlib.sha256(rows.encode(errors="surrogatepass")).hexdigest()[:16]
    head: dict[str, object] = {"id": digest, "systems": systems}
    if saving is not None:
        head |= {
            "saves": saving.path,
            "version": saving.version,
            "reviewer": saving.reviewer,
            "reviews": _reviews(segments),
        }
    return f'{_dumps(head)[:-1]},"rows":{rows}}}'


def _reviews(segments: Sequence[PageSegment]) -> dict[str, dict[str, object]]:
    """Returns what a reader has saved, by the numbers of the segment and of the translation."""
    return {
        f"{row}.{number}": {
            "errors": _spans(review.errors or (), review.segment.hypothesis),
            "source_errors": _spans(review.source_errors, review.segment.source or ""),
            "omissions": _omissions(review),
            "unplaced": [_details(error) for error in review.unplaced],
            "comment": str((review.segment.extra or {}).get("comment") or ""),
            "corrected": str((review.segment.extra or {}).get("corrected") or ""),
            "isReviewed": True,
        }
        for row, segment in enumerate(segments)
        for number, translation in enumerate(segment.translations)
        if (review := translation.review) is not None
    }


def _dumps(data: object) -> str:
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
    return text.translate(_UNSAFE)


def _plain(value: Any) -> object:  # noqa: ANN401
    """Returns a value of another column that JSON does not have: a number of numpy as Python's, all others as text."""
    return value.item() if hasattr(value, "item") else str(value)


def to_json(segment: PageSegment, systems: Sequence[str], *, weights: mqm.Weights) -> dict[str, object]:
    """Returns a segment: its texts, its translations, and its place and `difference` as the page shows them."""
    first = segment.translations[0].rating
    return {
        "place": place_label(first.segment),
        "source": first.segment.source,
        "references": list(first.segment.references),
        "translations": [_translation(translation, systems, weights) for translation in segment.translations],
        **({} if segment.difference is None else {"difference": round(segment.difference, 4)}),
    }


def _translation(translation: Translation, systems: Sequence[str], weights: mqm.Weights) -> dict[str, object]:
    """Returns a translation with the number of its system; what is empty is left out.

    `text` of an omission is the number of a reference, -1 for the source; `heat` has that number, -2 for the
    hypothesis, and start, end and shade of each token. `key`, `called` and `extra` are for the ratings that a reader
    saves.
    """
    rating = translation.rating
    segment = rating.segment
    data: dict[str, object] = {
        "system": systems.index(translation.system),
        "hypothesis": segment.hypothesis,
        "errors": _spans(rating.errors or (), segment.hypothesis, translation.changes),
        "score": None if rating.errors is None else round(mqm.score(rating, weights), 4),
    }
    whole = rating.whole
    optional: dict[str, object] = {
        "source_errors": _spans(rating.source_errors, segment.source or ""),
        "omissions": _omissions(rating),
        "unplaced": [_details(error) for error in rating.unplaced],
        "whole": None if whole is None else _without_nulls(asdict(whole), digits=4),
        "isEstimated": rating.overall is None and rating.estimate is not None,
        "heat": [[number, _heat(spans, number, segment)] for number, spans in translation.heat],
        "called": jsonl.own_name(segment),
        "key": None if segment.key is None else _without_nulls({name: getattr(segment.key, name) for name in _KEY}),
        "correction": rating.correction,
        "mayLack": segment.may_lack,
        "codes": _codes(segment),
        "extra": segment.extra,
    }
    return data | {name: value for name, value in optional.items() if value}


def _codes(segment: Segment) -> dict[str, list[list[object]]]:
    """Returns the inline codes of source and translation: place, name, and what it stands for; ends have their own."""
    if segment.codes is None:
        return {}
    texts = {
        "source": (segment.codes.source, segment.source or ""),
        "hypothesis": (segment.codes.hypothesis, segment.hypothesis),
    }
    return {
        name: [
            [Utf16Text(text).to_unit(place), tag, shown]
            for code in codes
            for place, tag, shown in ((code.place, code.name, code.shown), (code.end, code.end_name, ""))
            if place is not None
        ]
        for name, (codes, text) in texts.items()
    }


def _omissions(rating: Rating) -> list[dict[str, object]]:
    return [
        {
            "text": SOURCE if omission.reference is None else omission.reference,
            **_spans([omission], omission.context(rating.segment) or "")[0],
        }
        for omission in rating.omissions
    ]


def _without_nulls(values: Mapping[str, Any], digits: int | None = None) -> dict[str, Any]:
    """Returns the values that are not None; `digits` after the point."""
    return {
        name: round(value, digits) if digits and isinstance(value, float) else value
        for name, value in values.items()
        if value is not None
    }


def _heat(spans: Sequence[tuple[int, int, int]], number: int, segment: Segment) -> list[list[int]]:
    """Returns start, end and shade of each token of a text."""
    if number == HYPOTHESIS:
        text = segment.hypothesis
    elif number == SOURCE:
        text = segment.source or ""
    else:
        text = segment.references[number]
    units = Utf16Text(text).to_unit
    return [[units(start), units(end), shade] for start, end, shade in spans]


def _spans(
    spans: Sequence[ErrorSpan | Omission], text: str, changes: Sequence[str | None] = ()
) -> list[dict[str, object]]:
    """Returns the spans of a text; what is None is left out."""
    if not spans:
        return []
    units = Utf16Text(text).to_unit
    rows = []
    for span, change in itertools.zip_longest(spans, changes):
        place = {"start": units(span.start), "end": units(span.end)}
        rows.append(place | _details(span) | _without_nulls({"change": change}))
    return rows


def _details(error: AnyError) -> dict[str, object]:
    """Returns the rank of the severity, and all else that is known of an error, except for its place."""
    details = {field.name: getattr(error, field.name) for field in fields(error) if field.default is None}
    votes = {name: asdict(value) for name, value in details.items() if isinstance(value, Votes)}
    return _without_nulls({"severity": severities.rank(error.severity), **details, **votes})
