"""The keys of a line of our JSONL, as types that msgspec reads; see `matese.formats.tables.jsonl`.

Only keys whose default is UNSET may be absent from a line that we wrote.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from matese.annotation import Scale, Severity

_Probability = Annotated[float, Meta(ge=0, le=1)]


class VotesKeys(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """How far several predictions for one segment agree on an error span.

    Attributes:
        share: share of the predictions that mark at least part of the span.
        other_severity: of these predictions, share that give it another severity.
    """

    share: _Probability
    other_severity: _Probability


class SpanKeys(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """An error span.

    Attributes:
        start: first character.
        end: one past the last character.
        text: the characters at these offsets.
        severity: null where the rater left it undecided.
        category: as the rater's typology names it.
        confidence: of a prediction.
        votes: only of several predictions, see `matese tag --uncertainty`.
        rule: only of a rule-based check: its name.
    """

    start: Annotated[int, Meta(ge=0)]
    end: Annotated[int, Meta(ge=1)]
    text: str | None = None
    severity: Severity | None = None
    category: str | None = None
    confidence: _Probability | None = None
    votes: VotesKeys | UnsetType | None = UNSET
    rule: str | UnsetType | None = UNSET


class OmissionKeys(msgspec.Struct, forbid_unknown_fields=True, gc=False, kw_only=True):
    """Words of the source or of a reference that the hypothesis lacks.

    Attributes:
        text: which text the words stand in.
        reference: the number of the reference, from 0; null for the source.
        start: first character in that text.
        end: one past the last character.
        words: the characters at these offsets.
        severity: null where the rater left it undecided.
        category: as the rater's typology names it.
        confidence: of a prediction.
        rule: only of a rule-based check: its name.
    """

    text: Literal["source", "reference"]
    reference: Annotated[int, Meta(ge=0)] | None = None
    start: Annotated[int, Meta(ge=0)]
    end: Annotated[int, Meta(ge=1)]
    words: str | None = None
    severity: Severity | None = None
    category: str | None = None
    confidence: _Probability | None = None
    rule: str | UnsetType | None = UNSET


class UnplacedKeys(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """An error without a place.

    Attributes:
        severity: null where the rater left it undecided.
        category: as the rater's typology names it.
        words: only of a rule-based check: what is wrong, such as an inline code that the translation lost.
        rule: only of a rule-based check: its name.
    """

    severity: Severity | None = None
    category: str | None = None
    words: str | UnsetType | None = UNSET
    rule: str | UnsetType | None = UNSET


class OverallKeys(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A person's judgement of the whole segment."""

    value: float
    scale: Scale


class EstimateKeys(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A model's estimate of the quality of the whole segment.

    Attributes:
        value: on the scale.
        scale: what the value means.
        low: lower end of the 95 % interval, which may be cut at the end of the scale.
        high: upper end, likewise.
        deviation: standard deviation that the interval was made from.
    """

    value: float
    scale: Scale
    low: float | None = None
    high: float | None = None
    deviation: Annotated[float, Meta(ge=0)] | UnsetType | None = UNSET


class ErrorFreeKeys(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A model's decision whether nothing in the translation needs correcting.

    Attributes:
        label: the decision.
        probability: that nothing needs correcting; null where only the decision is known.
    """

    label: bool
    probability: _Probability | None = None


class Token(msgspec.Struct, forbid_unknown_fields=True):
    """The model's scores of a token.

    Attributes:
        start: first character.
        end: one past the last character; a token of white space may be empty.
        p: probabilities of the tags O, B-Minor, I-Minor, B-Major, I-Major.
    """

    start: Annotated[int, Meta(ge=0)]
    end: Annotated[int, Meta(ge=0)]
    p: Annotated[tuple[_Probability, ...], Meta(min_length=5, max_length=5)]


# `read` ignores the values of these keys, so that any is allowed; the schema describes what is written.
_Score = Annotated[Any, Meta(extra_json_schema={"type": ["number", "null"], "maximum": 0})]
_ExpectedScore = Annotated[Any, Meta(extra_json_schema={"type": ["number", "null"]})]
_Tokens = Annotated[Any, Meta(extra_json_schema={"type": "array", "items": {"$ref": "#/$defs/Token"}})]


class Line(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A line of the JSONL of matese: how one rater, human or model, judged one translated segment.

    Attributes:
        index: number of the segment, from 0, in its test set, or in its document if numbers start again in each.
        system: the system that made the hypothesis; for a text file its name without the last suffix.
        hypothesis: the translation, character for character.
        source: its source.
        references: any number of them.
        score: MQM score of the errors; null where `errors` is null.
        expected_score: value of the estimate, where it is an MQM score or a COMET model's own score.
        errors: in the hypothesis; []: judged free of errors, null: spans were not annotated.
        source_errors: in the source.
        omissions: words of the source or of a reference that the hypothesis lacks.
        unplaced: errors without a place.
        overall: a person's judgement of the whole segment.
        estimate: a model's estimate of the whole segment.
        rater: who judged: an identifier, or the signature of a model.
        test_set: for example "newstest2020".
        lang_pair: source and target language, "en-de".
        document: the document's name.
        domain: what kind of text it is: "news".
        error_free: a model's decision whether nothing needs correcting, see `matese tag --error-free`.
        segment_name: what the file that the segment comes from calls it, such as "unit title" or "id 17"; only where
            that says more than the index.
        tokens: only on request: the model's scores of each token.
    """

    index: int | None = None
    system: str | None = None
    hypothesis: str
    source: str | None = None
    references: tuple[str, ...] | None = ()
    score: _Score = None
    expected_score: _ExpectedScore = None
    errors: tuple[SpanKeys, ...] | None = None
    source_errors: tuple[SpanKeys, ...] | None = ()
    omissions: tuple[OmissionKeys, ...] | None = ()
    unplaced: tuple[UnplacedKeys, ...] | None = ()
    overall: OverallKeys | None = None
    estimate: EstimateKeys | None = None
    rater: str | None = None
    test_set: str | None = None
    lang_pair: str | None = None
    document: str | None = None
    domain: str | UnsetType | None = UNSET
    error_free: ErrorFreeKeys | UnsetType | None = UNSET
    segment_name: str | UnsetType | None = UNSET
    tokens: _Tokens = UNSET
