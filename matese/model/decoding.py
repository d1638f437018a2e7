"""How a model's predictions become ratings: the model holds these settings, and a user varies them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from matese.errors import InputError, ModelError, check_probability
from matese.model.error_free import ErrorFreeDetector
from matese.model.heads.meaning.settings import MeaningRule
from matese.model.heads.score.settings import PieceScore
from matese.model.heads.tags.confidence import MarkThreshold, SpanConfidence
from matese.model.texts.encoding import InputKind

FITTED = ("min_confidence", "thresholds", "confidences", "meaning", "error_free")
"""Fields that `matese calibrate` fits."""


@dataclass(frozen=True, kw_only=True)
class DecodingChoice:
    """What a user chooses of a model's decoding; `matese.load` takes it, and `Decoding.varied` follows it.

    Attributes:
        min_confidence: every span with at least this confidence is marked, whatever the budget; None for the model's
            own minimum.
        whole_words: whether spans are widened to whole words; None for the model's own setting.
        error_free: whether it is decided which segments are free of errors; the model must be calibrated for that.
    """

    min_confidence: float | None = None
    whole_words: bool | None = None
    error_free: bool = False

    def __post_init__(self) -> None:
        check_probability(min_confidence=self.min_confidence)


@dataclass(frozen=True)
class Decoding:
    """How a model's predictions become ratings.

    Attributes:
        min_confidence: of a tagger, least confidence of a marked span, see `matese.model.heads.tags.decoding.decode`;
            0.5 marks the most probable tags. Of a unified model, the error probability from which a token is marked;
            null for its most probable label.
        thresholds: least confidence of a marked span by the length of the hypothesis, in place of `min_confidence`, at
            most one entry for each kind of input. `matese calibrate` fits them; a minimum confidence that the user
            gives switches them off.
        whole_words: whether spans are widened to whole words, as human raters mark them.
        span_budget: spans are marked from the most confident on while their penalties amount to at most this multiple
            of the expected score's distance from 0; a Major for which too little is left becomes a Minor. null to mark
            every span with `min_confidence`. A minimum confidence that the user gives switches it off.
        min_omission_confidence: least probability of a missing word that is marked.
        confidences: how the confidence of a span follows from its tokens, at most one entry for each kind of input;
            without an entry, it is the mean error probability. `matese calibrate` fits them.
        meaning: what errors of meaning change, at most one entry for each kind of input; without an entry, nothing.
            `matese calibrate` fits the thresholds.
        pieces: how the expected score of a text of several sentences follows from the whole and its pieces, at most one
            entry for each kind of input, and one for the others.
        error_free: how segments that are free of errors are told from others; for each kind of input at most one entry
            for some language pairs, and one for all others; without one, they are not. `matese calibrate` fits them.
    """

    min_confidence: float | None = 0.5
    thresholds: tuple[MarkThreshold, ...] = ()
    whole_words: bool = False
    span_budget: float | None = None
    min_omission_confidence: float = 0.5
    confidences: tuple[SpanConfidence, ...] = ()
    meaning: tuple[MeaningRule, ...] = ()
    pieces: tuple[PieceScore, ...] = (PieceScore(),)
    error_free: tuple[ErrorFreeDetector, ...] = ()

    def __post_init__(self) -> None:
        for name in ("min_confidence", "min_omission_confidence"):
            least = getattr(self, name)
            if least is not None and not 0 < least < 1:
                raise InputError(f"{name} {least}: must be greater than 0 and less than 1")
        if self.span_budget is not None and self.span_budget <= 0:
            raise InputError(f"span_budget {self.span_budget}: must be greater than 0")
        for name in ("thresholds", "confidences", "meaning", "pieces"):
            kinds = [entry.inputs for entry in getattr(self, name)]
            if twice := sorted({kind for kind in kinds if kinds.count(kind) > 1}):
                raise InputError(f"{name}: {twice[0]} has several entries; must have one for each kind of input")

    def check(self, inputs: Collection[InputKind], heads: Collection[str]) -> None:
        """Raises an InputError if the decoding does not fit a model with these kinds of input and heads."""
        if self.min_confidence is None and "tags" in heads:
            raise InputError("decoding.min_confidence: must not be null with heads.tags")
        if self.span_budget is not None and "score" not in heads:
            raise InputError("decoding.span_budget: must be null without heads.score")
        if self.meaning and "meaning" not in heads:
            raise InputError("decoding.meaning: must be empty without heads.meaning")
        for name in ("thresholds", "confidences", "meaning", "error_free"):
            for entry in getattr(self, name):
                if entry.inputs not in inputs:
                    raise InputError(f"decoding.{name} has an entry for {entry.inputs}: must be one of texts.inputs")

    def varied(self, choice: DecodingChoice) -> Decoding:
        """Returns the decoding with what a user chose.

        Raises:
            ModelError: if the model is not calibrated for it.
        """
        varied = self if choice.min_confidence is None else self.marking_from(choice.min_confidence)
        if choice.whole_words is not None:
            varied = replace(varied, whole_words=choice.whole_words)
        if not choice.error_free:
            return replace(varied, error_free=())
        if not self.error_free:
            advice = "fit that first: matese calibrate MODEL RATINGS --output DIR"
            raise ModelError(f"the model cannot tell which segments are free of errors; {advice}")
        return varied

    def marking_from(self, min_confidence: float) -> Decoding:
        """Returns the decoding that marks every span with at least this confidence, whatever the budget."""
        return replace(self, min_confidence=min_confidence, thresholds=(), span_budget=None)

    def confidence(self, inputs: InputKind) -> SpanConfidence | None:
        """Returns the span confidence fitted for a kind of input; None without one."""
        return next((confidence for confidence in self.confidences if confidence.inputs == inputs), None)

    def threshold(self, inputs: InputKind) -> MarkThreshold | None:
        """Returns the least confidence of a marked span fitted for a kind of input; None without one."""
        return next((threshold for threshold in self.thresholds if threshold.inputs == inputs), None)

    def piece_score(self, inputs: InputKind | None) -> PieceScore:
        """Returns how the scores of pieces count for a kind of input."""
        found = {entry.inputs: entry for entry in self.pieces}
        return found.get(inputs) or found.get(None) or PieceScore()

    def meaning_rule(self, inputs: InputKind) -> MeaningRule | None:
        """Returns the rule for errors of meaning of a kind of input; None without one."""
        return next((rule for rule in self.meaning if rule.inputs == inputs), None)
