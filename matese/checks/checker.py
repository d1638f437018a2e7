"""The findings of rules as a Rating, alone or added to a model's Rating.

`rules.TABLE` has all rules, each in a module of its own. The language pair of the segment's key ("en-de", "en-es_MX")
says how numbers are written and which scripts and words are expected. Without it, numbers are read in every way, and
rules that need it say nothing. Findings have the name of their rule and no confidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from matese.annotation import AnyError, ErrorSpan, Omission, Placed, Rating, Segment, UnplacedError
from matese.checks.rule import Need, Rule, Texts, is_installed
from matese.checks.rules import TABLE
from matese.text.ranges import overlap
from matese.version import __version__


def annotate_segments(segments: Iterable[Segment], rules: Sequence[Rule] = TABLE) -> Iterator[Rating]:
    """Yields a rating with the findings in each segment, lazily and in order."""
    return (check(segment, rules) for segment in segments)


def check(segment: Segment, rules: Sequence[Rule] = TABLE) -> Rating:
    """Returns the findings of some rules in a segment. The rater names the rules and the languages that they assume.

    >>> from matese.checks import numbers
    >>> rating = check(Segment("Es kostet 15 €.", "It costs €17."), [numbers.RULE])
    >>> rating.rater.split("|")[1], [(error.rule, error.category) for error in rating.errors]
    ('checks:numbers', [('numbers', 'Accuracy/Mistranslation/Number')])
    """
    rater = f"matese|{_signature(segment, rules)}|version:{__version__}"
    findings = list(_findings(segment, rules))
    return Rating(
        segment,
        rater,
        tuple(error for error in findings if isinstance(error, ErrorSpan)),
        omissions=tuple(error for error in findings if isinstance(error, Omission)),
        unplaced=tuple(error for error in findings if isinstance(error, UnplacedError)),
    )


def add_findings(rating: Rating, rules: Sequence[Rule] = TABLE) -> Rating:
    """Returns a model's rating with the findings of some rules; the rater names both.

    Errors of the model and a finding on the same words become one error: the finding with the higher severity and the
    model's confidence. Where a model gave no answer, the findings are a rating by the rules alone, and without findings
    there is none, since no answer is not "no errors".
    """
    findings = check(rating.segment, rules)
    if rating.errors is None and rating.whole is None:
        return findings if findings.all_errors else rating
    has_spans = rating.errors is not None or findings.errors
    return replace(
        rating,
        rater=f"{rating.rater}|{_signature(rating.segment, rules)}",
        errors=_joined(rating.segment, rating.errors or (), findings.errors or ()) if has_spans else None,
        omissions=_joined(rating.segment, rating.omissions, findings.omissions),
        unplaced=(*rating.unplaced, *_new_unplaced(rating, findings)),
    )


def _new_unplaced(rating: Rating, findings: Rating) -> tuple[UnplacedError, ...]:
    kinds = {(error.severity, error.category) for error in rating.unplaced if error.words is None}
    return tuple(error for error in findings.unplaced if error.words or (error.severity, error.category) not in kinds)


def _joined(segment: Segment, spans: Sequence[Placed], findings: Sequence[Placed]) -> tuple[Placed, ...]:
    """Returns the spans and the findings; a span becomes part of the first finding on its words, so that it costs once.

    Findings of several rules on the same words stay, as without a model.
    """
    left = list(spans)
    merged: list[Placed] = []
    for finding in findings:
        same = [span for span in left if _is_same(segment, span, finding)]
        left = [span for span in left if span not in same]
        merged.append(_merged(finding, same))
    return tuple(left + merged)


def _merged(finding: Placed, spans: Sequence[Placed]) -> Placed:
    """Returns a finding of a known severity, with the higher one and the confidence of a model's spans."""
    severities = [finding.severity, *(span.severity for span in spans)]
    confidences = [span.confidence for span in spans if span.confidence is not None]
    severity = max(severity for severity in severities if severity is not None)
    return replace(finding, severity=severity, confidence=max(confidences, default=None))


def _is_same(segment: Segment, span: Placed, finding: Placed) -> bool:
    """Whether two errors share a character, or are the same missing words of the source and a reference."""
    if isinstance(span, Omission) and isinstance(finding, Omission) and span.text_name != finding.text_name:
        return span.words(segment).strip() == finding.words(segment).strip()
    return overlap(span, finding)


def _signature(segment: Segment, rules: Sequence[Rule]) -> str:
    pair = (segment.key and segment.key.lang_pair) or ""
    names = [f"{rule.name}{rule.variant}" for rule in rules]
    names += [
        rule.library
        for rule in rules
        if rule.library and is_installed(rule.library) and (pair or rule.needs is not Need.LANGUAGES)
    ]
    return f"checks:{'+'.join(names)}|lang_pair:{pair or 'unknown'}"


def _findings(segment: Segment, rules: Sequence[Rule]) -> Iterator[AnyError]:
    """Yields the findings of the rules that can run, until one ends the check of the segment."""
    texts = Texts(segment.without_blanks())
    is_blank = not segment.hypothesis.strip()
    for rule in rules:
        is_ignored = not {rule.name, "all"}.isdisjoint(segment.ignored_rules)
        if is_ignored or not rule.can_run(texts.segment) or (is_blank and not rule.reads_blanks):
            continue
        findings = [replace(error, rule=rule.name) for error in rule.find(texts)]
        yield from findings
        if findings and rule.ends:
            return
