"""The findings of all checks as a Rating, alone or added to a model's Rating.

| category | severity | where | what |
|---|---|---|---|
| `Non-translation` | major | nowhere | the hypothesis is empty |
| `Accuracy/Source language fragment` | major | hypothesis | it is the source; or stands in the source's script |
| `Accuracy/Source language fragment` | major | hypothesis | all of it is in the source's language |
| `Accuracy/Wrong language` | major | hypothesis | all of it is in a third language |
| `Fluency/Character encoding/Script` | major | hypothesis | it stands in a script of neither language |
| `Accuracy/Mistranslation/Number` | major | hypothesis | another number than the source has |
| `Accuracy/Omission/Number` | major | source, omission | a number that the hypothesis has not |
| `Accuracy/Omission/Placeholder` | major | source, omission | a placeholder or tag that the hypothesis has not |
| `Accuracy/Addition/Repetition` | major | hypothesis | repeated words |
| `Fluency/Punctuation/Unpaired mark` | minor | hypothesis | a bracket or quotation mark without its other half |

The language pair of the segment's key ("en-de", "en-es_MX") tells how numbers and which scripts are written. Without it
numbers are read either way, scripts and languages are not checked, and a copy of the source is an error only beside a
reference. The language itself is checked where py3langid is installed.
Findings have no confidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from matese import mqm
from matese import text as texts
from matese.annotation import ErrorSpan, Omission, Placed, Rating, Segment, Severity
from matese.checks import language, marks, numbers, words
from matese.text import languages_of, overlap
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
    pair = _lang_pair(segment)
    rater = f"matese|{_signature(pair)}|version:{__version__}"
    if not segment.hypothesis.strip():
        return Rating(segment, rater, (), unplaced=(mqm.NON_TRANSLATION,) if mqm.is_untranslated(segment) else ())
    errors, omissions = _findings(segment, *languages_of(segment.key))
    return Rating(segment, rater, errors, omissions=omissions)


def add_findings(rating: Rating) -> Rating:
    """Returns a model's rating with the findings of the checks; the rater names both.

    Errors of the model and a finding on the same words become one error, with the category of the finding and the
    higher severity. If it was a single error, the shorter place counts, but a placeholder stays whole.
    """
    findings = check(rating.segment)
    return replace(
        rating,
        rater=f"{rating.rater}|{_signature(_lang_pair(rating.segment))}",
        errors=_joined(rating.segment, rating.errors or (), findings.errors or ()),
        omissions=_joined(rating.segment, rating.omissions, findings.omissions),
        unplaced=tuple(dict.fromkeys((*rating.unplaced, *findings.unplaced))),
    )


def _joined(segment: Segment, spans: Sequence[Placed], findings: Sequence[Placed]) -> tuple[Placed, ...]:
    """Returns the spans and the findings; those of the same words become one span, so that no word costs twice."""
    joined = list(spans)
    for finding in findings:
        same = [span for span in joined if _overlap(span, finding) or _is_same_number(segment, span, finding)]
        joined = [span for span in joined if span not in same]
        joined.append(_merged(finding, same) if same else finding)
    return tuple(joined)


def _merged(finding: Placed, spans: Sequence[Placed]) -> Placed:
    place = finding
    # Part of a placeholder would be no useful mark.
    if len(spans) == 1 and finding.category != marks.LOST and _overlap(spans[0], finding):
        place = min(finding, spans[0], key=lambda span: span.end - span.start)
    severities = [severity for severity in (finding.severity, *(s.severity for s in spans)) if severity is not None]
    confidences = [span.confidence for span in spans if span.confidence is not None]
    severity = max(severities)
    confidence = max(confidences, default=None)
    return replace(finding, start=place.start, end=place.end, severity=severity, confidence=confidence)


def _overlap(span: Placed, finding: Placed) -> bool:
    if isinstance(span, Omission) and isinstance(finding, Omission) and span.text_name != finding.text_name:
        return False
    return overlap(span, finding)


def _is_same_number(segment: Segment, span: Placed, finding: Placed) -> bool:
    """Whether a missing number of the source is also in an omission that the model marked in another text."""
    if not (isinstance(span, Omission) and isinstance(finding, Omission)) or finding.category != numbers.MISSING:
        return False
    texts = (span.words(segment), finding.words(segment))
    readings = [{reading for number in numbers.find(text) for reading in number.all_readings} for text in texts]
    return not readings[0].isdisjoint(readings[1])


def _lang_pair(segment: Segment) -> str:
    return (segment.key and segment.key.lang_pair) or ""


def _signature(pair: str) -> str:
    # With py3langid, the language is checked, too.
    checks = "all+language" if pair and language.is_available() else "all"
    return f"checks:{checks}|lang_pair:{pair or 'unknown'}"


def _findings(
    segment: Segment, source_lang: str, target_lang: str
) -> tuple[tuple[ErrorSpan, ...], tuple[Omission, ...]]:
    """Returns the findings in the hypothesis, and the words of the source that it lacks."""
    given = segment.without_blanks()
    text = segment.hypothesis
    source = given.source
    references = given.references
    is_right = any(texts.is_copy(text, reference) for reference in references)
    # A copy is an error if the languages differ or, if they are unknown, a reference differs from the source.
    is_translated = source_lang != target_lang if source_lang else bool(references)
    if source is not None and is_translated and texts.is_copy(text, source) and not is_right:
        start = len(text) - len(text.lstrip())
        return (ErrorSpan(start, len(text.rstrip()), Severity.MAJOR, words.UNTRANSLATED),), ()
    foreign = list(words.foreign(text, source, references, source_lang=source_lang, target_lang=target_lang))
    if not foreign:
        off_target = language.off_target(text, references, source_lang=source_lang, target_lang=target_lang)
        if found := tuple(off_target):
            return found, ()
    errors = [
        *foreign,
        *words.repeated(text, source),
        *marks.unpaired(text, source),
    ]
    if source is None:
        return tuple(errors), ()
    changed, missing = numbers.compare(source, text, references, source_lang=source_lang, target_lang=target_lang)
    return (*errors, *changed), (*missing, *marks.lost(source, text, segment.may_lack))
