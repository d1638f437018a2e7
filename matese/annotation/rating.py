"""Error spans, omissions, segments and ratings.

A :class:`Rating` is what a human rater marked and also what a model predicts. Offsets are half-open ranges of
Unicode code points into the text exactly as given; nothing here strips, normalises or re-joins text.

The keys of files, their schema and what formats lose follow from the fields of these types. The metadata "plural" of a
field is what readers call its values where they are lost, if that is not its name and an "s".
"""

from __future__ import annotations

import math
import operator
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args

from msgspec import Meta

from matese.annotation import severities
from matese.annotation.severities import Severity

if TYPE_CHECKING:
    import pandas

Scale = Literal["mqm", "esa", "da", "z", "hter", "0-1", "comet"]
"""Scales of a whole segment's judgement: MQM score, 0-100 ESA, 0-100 direct assessment, z-score, HTER, 0-1, and the own
value of a COMET model, of which only the order is defined: higher is better."""
_SCALES = get_args(Scale)
_SURROGATE = re.compile("[\ud800-\udfff]")
Probability = Annotated[float, Meta(ge=0, le=1)]
First = Annotated[int, Meta(ge=0)]
"""The first character of a range, in code points, or the number of a reference."""
End = Annotated[int, Meta(ge=1)]
"""One past the last character of a range that is not empty."""


class AnnotationError(ValueError):
    """A span, number or scale that no annotation has. Whoever read it from a file reports it as an `InputError`."""


@dataclass(frozen=True, slots=True)
class Votes:
    """How far several predictions for one segment agree on an error span.

    Attributes:
        share: share of the predictions that mark at least part of the span, 0 to 1.
        other_severity: of these predictions, share that give it another severity, 0 to 1.
    """

    share: Probability
    other_severity: Probability

    def __post_init__(self) -> None:
        _make_plain(self, "share", "other_severity")
        _check_share(self.share, "share {} of votes")
        _check_share(self.other_severity, "other_severity {} of votes")


@dataclass(frozen=True, slots=True)
class ErrorSpan:
    """An error with a place in a text.

    Attributes:
        start: first character, in code points.
        end: one past the last character, in code points; `0 <= start < end`.
        severity: None where the rater left it undecided.
        category: as the rater's typology names it ("Accuracy/Mistranslation"); None where there is none.
        confidence: of a prediction, 0 to 1; None for a human's mark.
        votes: of several predictions (dropout passes, models, references); None for a single one.
        rule: the name of the rule-based check that found it, such as "numbers"; None for other marks. What a model
            marked, too, has its confidence beside it.
        reason: why it is an error, in the words of who marked it; None where they gave none.
        correction: what should stand in place of the marked words, "" for nothing; None where none was given.
    """

    start: First
    end: End
    severity: Severity | None
    category: str | None = field(default=None, metadata={"plural": "categories"})
    confidence: Probability | None = None
    votes: Votes | None = field(default=None, metadata={"plural": "votes of several predictions"})
    rule: str | None = field(default=None, metadata={"plural": "names of rules"})
    reason: str | None = None
    correction: str | None = None

    def __post_init__(self) -> None:
        # These conditions are quicker than calls, for many spans.
        if type(self.start) is not int or type(self.end) is not int:
            _make_whole(self, "start", "end")
        if not 0 <= self.start < self.end:
            raise AnnotationError(f"error span {self.start}..{self.end}: must have 0 <= start < end")
        if type(self.severity) is not Severity:
            _check_severity(self.severity)
        if self.confidence is not None:
            _make_plain(self, "confidence")
            _check_share(self.confidence, "confidence {}")


@dataclass(frozen=True, slots=True)
class Omission:
    """Words of the source or of a reference that the hypothesis lacks.

    Attributes:
        text: which text the words stand in.
        reference: the number of the reference, from 0; None for the source.
        start: first character in that text, in code points.
        end: one past the last character; `0 <= start < end`.
        severity: None where the rater left it undecided.
        category: as the rater's typology names it ("Accuracy/Omission"); None where there is none.
        confidence: of a prediction, 0 to 1; None for a human's mark.
        rule: the name of the rule-based check that found it; None for other marks.
        reason: why it is an error, in the words of who marked it; None where they gave none.
    """

    text: Literal["source", "reference"]
    reference: First | None
    start: First
    end: End
    severity: Severity | None
    category: str | None = field(default=None, metadata={"plural": "categories"})
    confidence: Probability | None = None
    rule: str | None = field(default=None, metadata={"plural": "names of rules"})
    reason: str | None = None

    def __post_init__(self) -> None:
        _make_whole(self, "reference", "start", "end")
        _make_plain(self, "confidence")
        if self.text not in ("source", "reference"):
            raise AnnotationError(f"text {self.text!r} of an omission: must be source or reference")
        if self.text == "source" and self.reference is not None:
            raise AnnotationError(f"reference {self.reference} of an omission: must be None, since text is source")
        if self.text == "reference" and (self.reference is None or self.reference < 0):
            raise AnnotationError(
                f"reference {self.reference} of an omission: must be the number of a reference, from 0"
            )
        if not 0 <= self.start < self.end:
            raise AnnotationError(f"omission {self.start}..{self.end}: must have 0 <= start < end")
        _check_severity(self.severity)
        _check_share(self.confidence, "confidence {}")

    @property
    def text_name(self) -> str:
        """The text that has the words: "source", or "reference 0"."""
        return self.text if self.reference is None else f"{self.text} {self.reference}"

    def context(self, segment: Segment) -> str | None:
        """Returns the text that has the words; None if the segment has no such text."""
        if self.reference is None:
            return segment.source
        return segment.references[self.reference] if self.reference < len(segment.references) else None

    def words(self, segment: Segment) -> str:
        """Returns the words that the hypothesis of a segment lacks."""
        return (self.context(segment) or "")[self.start : self.end]


@dataclass(frozen=True, slots=True)
class UnplacedError:
    """An error without a place: ESA's "missing", or a span that a file lost.

    Attributes:
        severity: None where the rater left it undecided.
        category: as the rater's typology names it; None where there is none.
        words: what is wrong, where that stands in none of the texts: an inline code that the translation lost, or words
            that a model has quoted wrongly.
        rule: the name of the rule-based check that found it; None for other marks.
        reason: why it is an error, in the words of who marked it; None where they gave none.
    """

    severity: Severity | None
    category: str | None = field(default=None, metadata={"plural": "categories"})
    words: str | None = field(default=None, metadata={"plural": "words of errors without a place"})
    rule: str | None = field(default=None, metadata={"plural": "names of rules"})
    reason: str | None = None

    def __post_init__(self) -> None:
        _check_severity(self.severity)


AnyError = ErrorSpan | Omission | UnplacedError
Placed = TypeVar("Placed", ErrorSpan, Omission)
"""An error with a place."""


@dataclass(frozen=True, slots=True)
class SegmentKey:
    """Where a segment stands. Grouping segments to systems or documents needs nothing else.

    Attributes:
        test_set: for example "newstest2020".
        lang_pair: source and target language, "en-de".
        system: the system that made the hypothesis.
        document: the document's name.
        index: the segment's number, from 0, in its test set, or in its document if numbers start again in each.
        domain: what kind of text it is: "news", "speech".
    """

    test_set: str | None = field(default=None, metadata={"plural": "names of test sets"})
    lang_pair: str | None = field(default=None, metadata={"plural": "language pairs"})
    system: str | None = field(default=None, metadata={"plural": "names of systems"})
    document: str | None = field(default=None, metadata={"plural": "names of documents"})
    index: int | None = field(default=None, metadata={"plural": "segment numbers"})
    domain: str | None = None

    def __post_init__(self) -> None:
        if type(self.index) is not int:
            _make_whole(self, "index")


@dataclass(frozen=True, slots=True)
class InlineCode:
    """A code within a text of a localisation file that is not part of the text: a tag, a placeholder, a line break.

    Attributes:
        kind: what it is, in the words of the file's format: "g", "x", "ph", "pc"; the two halves of a pair differ.
        id: which one it is; "" if the file does not name its codes.
        shown: what it stands for, such as "%s" or "<b>"; "" if the file does not say it.
        place: the code point of the text before which it stands.
        end: that before which the end of one around words stands; None for others.
    """

    kind: str
    id: str
    shown: str = field(default="", compare=False)
    place: int = field(default=0, compare=False)
    end: int | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """How a text names it, such as "<ph 1>"."""
        return f"<{' '.join(filter(None, (self.kind, self.id)))}>"

    @property
    def end_name(self) -> str:
        """How a text names the end of one around words, such as "</g 1>"."""
        return f"</{self.name[1:]}"

    def __str__(self) -> str:
        """Returns what readers call it.

        >>> str(InlineCode("ph", "1", "%s")), str(InlineCode("x", "NAME"))
        ('<ph 1> (%s)', '<x NAME>')
        """
        return f"{self.name} ({self.shown})" if self.shown else self.name


@dataclass(frozen=True, slots=True)
class Codes:
    """The inline codes of a segment, in their order."""

    source: tuple[InlineCode, ...] = ()
    hypothesis: tuple[InlineCode, ...] = ()


@dataclass(frozen=True, slots=True)
class Segment:
    """One translated segment; texts are kept character for character.

    Attributes:
        hypothesis: the translation that is judged; may be empty.
        source: None where there is none; what a model needs is checked by the model.
        references: any number of them.
        key: where it stands.
        extra: other columns of the table that it comes from, passed on as they are; segments are compared without them.
        line: of the file that it comes from, from 1; only for messages, and not stored in files.
        name: what the file calls it, such as "unit title" or "id 17"; only for readers, and stored in our JSONL alone.
        may_lack: placeholders of the source that the translation may leave out, as a plural form for a single number
            may leave out the number; only for checks, and not stored in files.
        codes: the inline codes of source and hypothesis, which are in neither text; None if the file has none. Only for
            checks, and not stored in files.
        ignored_rules: names of the rules that the file switches off for it, "all" for every one; only for checks, and
            not stored in files.
        file: that it comes from; only for messages and checks, and not stored in files.
        placeholder_kinds: of placeholders that the file says it has: printf, braces, or "no-" before one of these; only
            for checks, and not stored in files.
    """

    hypothesis: str
    source: str | None = None
    references: tuple[str, ...] = ()
    key: SegmentKey | None = None
    extra: Mapping[str, object] | None = field(default=None, compare=False)
    line: int | None = field(default=None, compare=False, repr=False)
    name: str | None = field(default=None, compare=False, repr=False)
    may_lack: tuple[str, ...] = field(default=(), compare=False, repr=False)
    codes: Codes | None = field(default=None, compare=False, repr=False)
    file: str | None = field(default=None, compare=False, repr=False)
    ignored_rules: tuple[str, ...] = field(default=(), compare=False, repr=False)
    placeholder_kinds: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.references, str):  # type: ignore[unreachable]
            raise TypeError("references is a str; it must be a tuple with one string for each reference")
        if type(self.references) is not tuple:
            object.__setattr__(self, "references", tuple(self.references))
        for text in (self.hypothesis, "" if self.source is None else self.source, *self.references):
            if not isinstance(text, str):
                raise TypeError(f"{text!r} is a {type(text).__name__}; texts must be strings, and a source may be None")
        if type(self.hypothesis) is not str:  # but a subclass, such as numpy's, which files cannot hold
            object.__setattr__(self, "hypothesis", str(self.hypothesis))
        if type(self.source) not in (str, type(None)):
            object.__setattr__(self, "source", str(self.source))
        if any(type(text) is not str for text in self.references):
            object.__setattr__(self, "references", tuple(map(str, self.references)))

    @property
    def label(self) -> str:
        """What readers call the segment: its name, or else its number, from 1, or its line; "" if none is known.

        >>> Segment("a", key=SegmentKey(index=0)).label, Segment("a", line=7).label, Segment("a").label
        ('segment 1', 'line 7', '')
        """
        if self.name is not None:
            return self.name
        if self.key is not None and self.key.index is not None:
            return f"segment {self.key.index + 1}"
        return "" if self.line is None else f"line {self.line}"

    @property
    def is_unicode(self) -> bool:
        r"""Whether the texts have no lone surrogates, which neither files nor models can hold.

        >>> Segment("a").is_unicode, Segment("a", "\ud800").is_unicode
        (True, False)
        """
        texts = (self.hypothesis, self.source or "", *self.references)
        return all(text.isascii() or not _SURROGATE.search(text) for text in texts)

    def without_blanks(self) -> Segment:
        """Returns the segment without a blank source and without blank references: a text without text is missing.

        If all of its texts are blank, there was nothing to translate, and it stays as it is.

        >>> Segment("Gut.", " ", ("", "Good.")).without_blanks()
        Segment(hypothesis='Gut.', source=None, references=('Good.',), key=None, extra=None)
        """
        source = None if self.source is None or is_blank(self.source) else self.source
        references = tuple(text for text in self.references if not is_blank(text))
        is_complete = source == self.source and len(references) == len(self.references)
        if is_complete or (source is None and not references and is_blank(self.hypothesis)):
            return self
        return replace(self, source=source, references=references)


def is_blank(text: str) -> bool:
    """Whether a text has nothing but white space and characters without a shape, such as a byte order mark.

    >>> is_blank("\u3000\u00a0\ufeff"), is_blank("-")
    (True, False)
    """
    return not text.strip() or all(character.isspace() or unicodedata.category(character) == "Cf" for character in text)


@dataclass(frozen=True, slots=True)
class Overall:
    """A person's judgement of the whole segment on a named scale."""

    value: float
    scale: Scale

    def __post_init__(self) -> None:
        if type(self.value) is not float:
            _make_plain(self, "value")
        if self.scale not in _SCALES or not math.isfinite(self.value):
            _check_whole("overall", self.scale, self.value)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A model's estimate of the quality of the whole segment.

    Attributes:
        value: on the scale.
        scale: what the value means.
        low: lower end of the 95 % interval, which may be cut at the end of the scale; None without an interval.
        high: upper end, likewise.
        deviation: standard deviation, 0 or more, that the interval was made from; never cut; None without one.
    """

    value: float
    scale: Scale
    low: float | None = None
    high: float | None = None
    deviation: Annotated[float, Meta(ge=0)] | None = None

    def __post_init__(self) -> None:
        _make_plain(self, "value", "low", "high", "deviation")
        _check_whole("estimate", self.scale, self.value, self.low, self.high, self.deviation)
        if self.deviation is not None and self.deviation < 0:
            raise AnnotationError(f"deviation {self.deviation}: must be 0 or more")


WholeJudgement = TypeVar("WholeJudgement", Overall, Estimate)
"""A judgement of the whole segment."""


@dataclass(frozen=True, slots=True)
class ErrorFree:
    """A model's decision whether nothing in a translation needs correcting.

    Attributes:
        label: the decision. It follows from the probability and a threshold, which may depend on the language pair.
        probability: that nothing needs correcting, 0 to 1; None where only the decision is known.
    """

    label: bool
    probability: Probability | None = None

    def __post_init__(self) -> None:
        _check_share(self.probability, "probability {} of being error-free")


@dataclass(frozen=True, slots=True)
class Rating:
    """The judgement of one segment by one rater, human or model.

    Attributes:
        segment: the judged segment.
        rater: a human's identifier or a model's signature; None where a file names none.
        errors: in the hypothesis, sorted, overlap is legal. `()` means judged free of errors; None means that
            spans were not annotated (a direct assessment, a regression model).
        source_errors: in the source.
        omissions: words of the source or of a reference that the hypothesis lacks, sorted: the source's first.
        unplaced: errors without a place.
        overall: a person's judgement of the whole segment, such as a position of a slider.
        estimate: a model's, such as its expected score.
        error_free: a model's decision whether nothing needs correcting; None where no model decided.
        correction: the whole hypothesis as the rater would have it; None where none was given.
    """

    segment: Segment
    rater: str | None
    errors: tuple[ErrorSpan, ...] | None
    source_errors: tuple[ErrorSpan, ...] = ()
    omissions: tuple[Omission, ...] = ()
    unplaced: tuple[UnplacedError, ...] = ()
    overall: Overall | None = None
    estimate: Estimate | None = None
    error_free: ErrorFree | None = field(default=None, metadata={"plural": "error-free labels"})
    correction: str | None = None

    if TYPE_CHECKING:  # set by `matese/__init__.py`

        def _repr_html_(self) -> str: ...

        def to_pandas(self) -> pandas.DataFrame:
            """Returns a table of one row, as `Ratings.to_pandas` does."""

    def __post_init__(self) -> None:
        if self.errors is not None:
            errors = _sorted_within(self.errors, self.segment.hypothesis, "hypothesis")
            if errors is not self.errors:
                object.__setattr__(self, "errors", errors)
        if self.source_errors != ():
            source_errors = _sorted_within(self.source_errors, self.segment.source or "", "source")
            object.__setattr__(self, "source_errors", source_errors)
        if self.omissions != ():
            for omission in self.omissions:
                _check_omission(omission, self.segment)
            object.__setattr__(self, "omissions", tuple(sorted(self.omissions, key=_place_of_omission)))
        if type(self.unplaced) is not tuple:
            object.__setattr__(self, "unplaced", tuple(self.unplaced))

    @property
    def all_errors(self) -> tuple[AnyError, ...]:
        """All errors: in the hypothesis, in the source, omissions, and those without a place."""
        return (*(self.errors or ()), *self.source_errors, *self.omissions, *self.unplaced)

    def errors_with_words(self) -> Iterator[tuple[AnyError, str | None]]:
        """Yields each error with the words that are wrong or missing; None if they are not known."""
        segment = self.segment
        yield from ((error, segment.hypothesis[error.start : error.end]) for error in self.errors or ())
        yield from ((error, (segment.source or "")[error.start : error.end]) for error in self.source_errors)
        yield from ((omission, omission.words(segment)) for omission in self.omissions)
        yield from ((error, error.words) for error in self.unplaced)

    @property
    def whole(self) -> Overall | Estimate | None:
        """The judgement of the whole segment, whoever made it; a person's precedes a model's."""
        return self.overall or self.estimate


@dataclass(frozen=True, slots=True)
class TokenScores:
    """What a tagger thinks of each token of a hypothesis.

    Attributes:
        ranges: (start, end) of each token, half-open, in code points of the hypothesis.
        probabilities: for each token one number a tag, in the order O, B-Minor, I-Minor, B-Major, I-Major.
    """

    ranges: tuple[tuple[int, int], ...]
    probabilities: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        if len(self.ranges) != len(self.probabilities):
            counts = f"{len(self.ranges)} ranges and {len(self.probabilities)} probabilities"
            raise AnnotationError(f"{counts}; both need one for each token")


@dataclass(frozen=True, slots=True)
class TextWeights:
    """How much each token of a text contributes to a score.

    Attributes:
        text: which text.
        reference: the number of the reference, from 0; None for the other texts.
        ranges: (start, end) of each token, half-open, in code points of the text.
        weights: one per token; their absolute values have the mean 1.
    """

    text: Literal["hypothesis", "source", "reference"]
    reference: int | None
    ranges: tuple[tuple[int, int], ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.ranges) != len(self.weights):
            counts = f"{len(self.ranges)} ranges and {len(self.weights)} weights"
            raise AnnotationError(f"{counts}; both need one for each token")


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a model gave a segment its score.

    Attributes:
        rating: of the segment, by the model.
        method: how the weights were computed.
        texts: the hypothesis and, as far as the method explains them, the other texts that the model read.
    """

    rating: Rating
    method: str
    texts: tuple[TextWeights, ...]


def _make_whole(annotation: object, *names: str) -> None:
    """Replaces whole numbers of other libraries, such as numpy, by Python's. Raises TypeError at any other value."""
    for name in names:
        value = getattr(annotation, name)
        if type(value) is not int and value is not None:
            object.__setattr__(annotation, name, operator.index(value))


def _make_plain(annotation: object, *names: str) -> None:
    """Replaces numbers of other libraries, such as numpy, by Python's."""
    for name in names:
        value: Any = getattr(annotation, name)
        if type(value) not in (float, int) and value is not None:
            object.__setattr__(annotation, name, float(value))


def _check_severity(severity: Severity | None) -> None:
    if severity is not None and not isinstance(severity, Severity):
        is_name = severity in severities.NAMES  # type: ignore[unreachable]
        allowed = f"Severity.{str(severity).upper()}" if is_name else "a Severity or None"
        raise TypeError(f"severity {severity!r}: must be {allowed}")


def _check_whole(name: str, scale: Scale, *numbers: float | None) -> None:
    if scale not in _SCALES:
        raise AnnotationError(f"scale {scale!r}: must be one of {', '.join(_SCALES)}")
    for number in numbers:
        if number is not None and not math.isfinite(number):
            raise AnnotationError(f"{name} {number}: must be a finite number")


def _check_share(share: float | None, name: str) -> None:
    """Raises AnnotationError for a number that is no share; `name` has braces in its place."""
    if share is not None and not 0 <= share <= 1:
        raise AnnotationError(f"{name.format(share)}: must be between 0 and 1")


def _check_omission(omission: Omission, segment: Segment) -> None:
    text = omission.context(segment)
    if text is None:
        has = f"{'no' if segment.source is None else 'a'} source and {len(segment.references)} references"
        raise AnnotationError(f"omission from {omission.text_name}: must be from a text of the segment ({has})")
    if omission.end > len(text):
        place = f"omission {omission.start}..{omission.end}"
        raise AnnotationError(f"{place}: must end within {omission.text_name} ({len(text)} characters)")


def _sorted_within(spans: Iterable[ErrorSpan], text: str, name: str) -> tuple[ErrorSpan, ...]:
    """Returns the spans in the order of their places. Raises AnnotationError where one ends beyond the text."""
    ordered = tuple(spans)
    start = -1
    for span in ordered:
        if span.start <= start:
            ordered = tuple(sorted(ordered, key=_place))
            break
        start = span.start
    for span in ordered:
        if span.end > len(text):
            place = f"error span {span.start}..{span.end}"
            raise AnnotationError(f"{place}: must end within the {name} ({len(text)} characters)")
    return ordered


def _place(span: ErrorSpan) -> tuple[int, int, int, str]:
    return span.start, span.end, severities.rank(span.severity), span.category or ""


def _place_of_omission(omission: Omission) -> tuple[int, int, int, int, str]:
    text = -1 if omission.reference is None else omission.reference
    return text, omission.start, omission.end, severities.rank(omission.severity), omission.category or ""
