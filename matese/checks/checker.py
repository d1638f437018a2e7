"""The findings of all checks as a Rating, alone or added to a model's Rating.

| category | severity | where | what |
|---|---|---|---|
| `Non-translation` | major | nowhere | the hypothesis is empty |
| `Accuracy/Source language fragment` | major | hypothesis | it is the source; or stands in the source's script |
| `Fluency/Character encoding/Script` | major | hypothesis | it stands in a script of neither language |
| `Accuracy/Mistranslation/Number` | major | hypothesis | another number than the source has |
| `Accuracy/Omission/Number` | major | source, omission | a number that the hypothesis has not |
| `Accuracy/Omission/Placeholder` | major | source, omission | a placeholder or tag that the hypothesis has not |
| `Accuracy/Addition/Repetition` | major | hypothesis | words said again and again |
| `Fluency/Punctuation/Unpaired mark` | minor | hypothesis | a bracket or quotation mark without its other half |

The language pair of the segment's key ("en-de", "en-es_MX") tells how numbers and which scripts are written. Without it
numbers are read either way, scripts are not checked, and a copy of the source is an error only beside a reference.
Findings have no confidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from matese import mqm
from matese.annotation import ErrorSpan, Omission, Placed, Rating, Segment, Severity
from matese.checks import marks, numbers, words
from matese.text import overlap
from matese.version import __version__


def annotate_segments(segments: Iterable[Segment]) -> Iterator[Rating]:
    """Yields a rating with the findings in each segment, lazily and in order."""
    return map(check, segments)


def check(segment: Segment) -> Rating:
    """Returns the findings in a segment. The rater names the checks and the language pair that they assume.

    >>> rating = check(Segment("Es kostet 15 €.", "It costs €17."))
    >>> rating.rater.split("|")[1], [segment.category for segment in rating.errors]
    ('checks:all', ['Accuracy/Mistranslation/Number'])
    """
    pair = (segment.key and segment.key.lang_pair) or ""
    rater = f"matese|{_own_name(pair)}|version:{__version__}"
    if not segment.hypothesis.strip():
        return Rating(segment, rater, (), unplaced=(mqm.NON_TRANSLATION,) if mqm.is_untranslated(segment) else ())
    errors, omissions = _findings(segment, *_languages(pair))
    return Rating(segment, rater, errors, omissions=omissions)


def beside(rating: Rating) -> Rating:
    """Returns a model's rating with the findings of the checks; the rater names both.

    Errors on the same words become one error, with the category of the finding and the higher severity; a single error
    of the model and a finding, with the place of the shorter one, but a placeholder stays whole.
    """
    found = check(rating.segment)
    pair = (rating.segment.key and rating.segment.key.lang_pair) or ""
    return replace(
        rating,
        rater=f"{rating.rater}|{_own_name(pair)}",
        errors=_joined(rating.segment, rating.errors or (), found.errors or ()),
        omissions=_joined(rating.segment, rating.omissions, found.omissions),
        unplaced=tuple(dict.fromkeys((*rating.unplaced, *found.unplaced))),
    )


def _joined(segment: Segment, spans: Sequence[Placed], findings: Sequence[Placed]) -> tuple[Placed, ...]:
    """Returns the spans and the findings; those that overlap become one span, so that no word costs twice."""
    joined = tuple(spans)
    for finding in findings:
        joined = _with(segment, joined, finding)
    return joined


def _with(segment: Segment, spans: Sequence[Placed], finding: Placed) -> tuple[Placed, ...]:
    overlapping: list[Placed] = [
        span for span in spans if _overlap(span, finding) or _is_same_number(segment, span, finding)
    ]
    joined: list[Placed] = list(overlapping)
    joined.insert(0, finding)
    is_divisible = finding.category != marks.LOST  # a part of a placeholder says nothing
    is_place_shared = is_divisible and len(overlapping) == 1 and _overlap(overlapping[0], finding)
    place = min(joined, key=lambda one: one.end - one.start) if is_place_shared else finding
    confidences = [one.confidence for one in joined if one.confidence is not None]
    merged: Placed = replace(
        finding,
        start=place.start,
        end=place.end,
        severity=max(one.severity for one in joined if one.severity is not None),
        confidence=max(confidences, default=None),
    )
    kept: list[Placed] = [span for span in spans if span not in overlapping]
    kept.append(merged)
    return tuple(kept)


def _overlap(one: Placed, other: Placed) -> bool:
    is_one_text = not (isinstance(one, Omission) and isinstance(other, Omission)) or one.text_name == other.text_name
    return is_one_text and overlap(one, other)


def _is_same_number(segment: Segment, span: Placed, finding: Placed) -> bool:
    """Whether a number that the source has and the hypothesis lacks is in a span that a reference has more."""
    if not (isinstance(span, Omission) and isinstance(finding, Omission)) or finding.category != numbers.MISSING:
        return False
    texts = [(one.context(segment) or "")[one.start : one.end] for one in (span, finding)]
    readings = [{reading for number in numbers.find(text) for reading in number.readings} for text in texts]
    return not readings[0].isdisjoint(readings[1])


def _own_name(pair: str) -> str:
    return f"checks:all|lang_pair:{pair or 'unknown'}"


def _languages(pair: str) -> tuple[str, str]:
    """Returns source and target language without their regions, "" for unknown.

    >>> _languages("en-es_MX"), _languages("")
    (('en', 'es'), ('', ''))
    """
    source, _, target = pair.casefold().partition("-")
    return re.split("[-_]", source)[0], re.split("[-_]", target)[0]


def _findings(
    segment: Segment, source_lang: str, target_lang: str
) -> tuple[tuple[ErrorSpan, ...], tuple[Omission, ...]]:
    """Returns the findings in the hypothesis, and the words of the source that it lacks."""
    text, source, references = segment.hypothesis, segment.source, segment.references
    is_right = any(words.is_copy(text, reference) for reference in references)
    # A copy is no translation if the languages differ; if they are not known, if a reference differs from the source.
    is_translated = source_lang != target_lang if source_lang else bool(references)
    if source is not None and is_translated and words.is_copy(text, source) and not is_right:
        start = len(text) - len(text.lstrip())
        return (ErrorSpan(start, len(text.rstrip()), Severity.MAJOR, words.UNTRANSLATED),), ()
    errors = [
        *words.foreign(text, source, references, source_lang=source_lang, target_lang=target_lang),
        *words.repeated(text, source),
        *marks.unpaired(text, source),
    ]
    if source is None:
        return tuple(errors), ()
    changed, missing = numbers.compare(source, text, references, source_lang=source_lang, target_lang=target_lang)
    return (*errors, *changed), (*missing, *marks.lost(source, text))
