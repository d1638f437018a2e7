"""What became of the errors of one version of a system in another: fixed, introduced, softened, worsened or kept.

The two hypotheses differ, so the errors of the first are projected onto the text of the second. Words that both share
keep their place, replaced words take the place of their replacement (word by word if the numbers are equal), and
deleted words have no place. The projected errors are then matched with those of the second one to one
(`span_matching.match`, MPP). Omissions from a text that both have in common keep their place. Errors in the source and
errors without a place are left out. A blank translation of a text is one error: it is introduced, and fixes no other.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matese import mqm
from matese import text as texts
from matese.annotation import ErrorSpan, Omission, Rating, Severity
from matese.evaluation.spans import omissions, span_matching
from matese.evaluation.spans.rating_pairs import counted_spans

CHANGES = ("fixed", "introduced", "softened", "worsened", "kept")
_COUNTED = (Severity.MINOR, Severity.MAJOR, Severity.CRITICAL)


@dataclass(frozen=True, slots=True)
class Changes:
    """What became of the errors between two versions of one segment.

    Attributes:
        before: one of `CHANGES` for each error of the first hypothesis; None for those that do not count.
        after: the same for the second hypothesis.
        omissions_before: the same for the omissions of the first.
        omissions_after: the same for the omissions of the second.
        blank: what became of a blank translation, or of a translation that is now blank; None if neither is blank.
    """

    before: tuple[str | None, ...]
    after: tuple[str | None, ...]
    omissions_before: tuple[str | None, ...] = ()
    omissions_after: tuple[str | None, ...] = ()
    blank: str | None = None

    def counts(self) -> Mapping[str, int]:
        """Returns the number of errors of each change; a matched pair counts once."""
        before = (*self.before, *self.omissions_before, self.blank if self.blank == "fixed" else None)
        after = (*self.after, *self.omissions_after, self.blank if self.blank != "fixed" else None)
        found = Counter(after) + Counter(one for one in before if one == "fixed")
        return {change: found[change] for change in CHANGES}


def changes(before: Rating, after: Rating) -> Changes:
    """Returns what became of the errors. Critical ones count as Major, Neutral and undecided ones do not count.

    Raises:
        InputError: if a rating has no spans.
    """
    olds, news = counted_spans(before), counted_spans(after)
    was_blank, is_blank = (mqm.is_untranslated(rating.segment) for rating in (before, after))
    blank = "kept" if was_blank and is_blank else "fixed" if was_blank else "introduced" if is_blank else None
    if is_blank:
        none = (None,)
        errors = (none * len(before.errors or ()), none * len(after.errors or ()))
        return Changes(*errors, none * len(before.omissions), none * len(after.omissions), blank)
    places = project(olds, before.segment.hypothesis, after.segment.hypothesis)
    old_changes, new_changes = _matched(
        [place and ErrorSpan(*place, span.severity) for place, span in zip(places, olds, strict=True)], news
    )
    return Changes(
        _of_all(before.errors or (), old_changes),
        _of_all(after.errors or (), new_changes),
        *_changes_of_omissions(before, after),
        blank,
    )


def _matched(olds: Sequence[ErrorSpan | None], news: Sequence[ErrorSpan]) -> tuple[list[str], list[str]]:
    """Returns the changes of the errors before, at their places in the text after, and of the errors after."""
    placed = [number for number, span in enumerate(olds) if span is not None]
    moved = [span for span in olds if span is not None]
    old_changes, new_changes = ["fixed"] * len(olds), ["introduced"] * len(news)
    for match in span_matching.match(moved, news, "mpp"):
        old, new = moved[match.gold].severity, news[match.predicted].severity
        change = "kept" if old is new else "softened" if new is Severity.MINOR else "worsened"
        old_changes[placed[match.gold]] = new_changes[match.predicted] = change
    return old_changes, new_changes


def _changes_of_omissions(before: Rating, after: Rating) -> tuple[tuple[str | None, ...], tuple[str | None, ...]]:
    sides = [(rating, omissions.counted(rating)) for rating in (before, after)]
    found: list[list[str]] = [["fixed"] * len(sides[0][1]), ["introduced"] * len(sides[1][1])]
    for name in {omission.text_name for _, own in sides for omission in own}:
        numbers = [[number for number, one in enumerate(own) if one.text_name == name] for _, own in sides]
        if (
            not all(numbers)
            or len({sides[at][1][own[0]].context(sides[at][0].segment) for at, own in enumerate(numbers)}) > 1
        ):
            continue
        spans = [[_as_span(own[number]) for number in chosen] for (_, own), chosen in zip(sides, numbers, strict=True)]
        for at, changes_of_side in enumerate(_matched(*spans)):
            for number, change in zip(numbers[at], changes_of_side, strict=True):
                found[at][number] = change
    return _of_all(before.omissions, found[0]), _of_all(after.omissions, found[1])


def _as_span(omission: Omission) -> ErrorSpan:
    is_minor = omission.severity is Severity.MINOR
    return ErrorSpan(omission.start, omission.end, Severity.MINOR if is_minor else Severity.MAJOR)


def project(spans: Sequence[ErrorSpan], text: str, other: str) -> list[tuple[int, int] | None]:
    """Returns the ranges of spans in another text, None for those whose words were deleted.

    >>> project([ErrorSpan(8, 12, None)], "Das ist rot.", "Das war blau.")
    [(8, 13)]
    """
    if text == other:
        return [(span.start, span.end) for span in spans]
    tokens, others = texts.words(text), texts.words(other)
    words, other_words = ([whole[start:end] for start, end in own] for whole, own in ((text, tokens), (other, others)))
    blocks = difflib.SequenceMatcher(None, words, other_words, autojunk=False).get_opcodes() if spans else []
    found: list[tuple[int, int] | None] = []
    for span in spans:
        places = [
            place
            for block in blocks
            for number in range(block[1], block[2])
            if tokens[number][0] < span.end and span.start < tokens[number][1]
            if (place := _project_word(block, number, span, tokens, others)) is not None
        ]
        found.append((min(start for start, _ in places), max(end for _, end in places)) if places else None)
    return found


def _project_word(
    block: tuple[str, int, int, int, int],
    number: int,
    span: ErrorSpan,
    tokens: Sequence[tuple[int, int]],
    others: Sequence[tuple[int, int]],
) -> tuple[int, int] | None:
    """Returns the range, in the other text, of the part of a span that lies in one word."""
    kind, first, last, low, high = block
    if kind == "equal":
        (start, end), shift = tokens[number], others[low + number - first][0] - tokens[number][0]
        return max(start, span.start) + shift, min(end, span.end) + shift
    if kind == "replace" and last - first == high - low:  # word by word
        return others[low + number - first]
    return (others[low][0], others[high - 1][1]) if kind == "replace" else None


def _of_all(errors: Sequence[ErrorSpan | Omission], changes: Sequence[str]) -> tuple[str | None, ...]:
    """Returns the change of each error, given those of the errors that count."""
    remaining = iter(changes)
    return tuple(next(remaining) if error.severity in _COUNTED else None for error in errors)
