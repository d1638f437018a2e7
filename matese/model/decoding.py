"""How a model's predictions become ratings: the model holds these settings, and a user varies them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from matese.errors import InputError, ModelError
from matese.model.decoding_choice import DecodingChoice
from matese.model.error_free import ErrorFreeRule
from matese.model.heads.meaning.settings import MeaningRule
from matese.model.heads.score.settings import PieceScore
from matese.model.heads.tags.marking import MarkRule
from matese.model.model_input import ModelInput
from matese.model.texts.encoding import InputKind
from matese.validation.options import InnerShare


@dataclass(frozen=True)
class Fitted:
    """What `matese calibrate` fits for one kind of input; null for what was not fitted.

    Attributes:
        inputs: the kind of input.
        marking: which tokens become marks.
        pieces: how the expected score of a text of several sentences follows from the whole and its pieces.
        meaning: how errors of meaning change the expected score.
        error_free: which segments are free of errors.
    """

    inputs: InputKind
    marking: MarkRule | None = None
    pieces: PieceScore | None = None
    meaning: MeaningRule | None = None
    error_free: ErrorFreeRule | None = None


_NOTHING = Fitted("source")


@dataclass(frozen=True)
class Decoding:
    """How a model's predictions become ratings.

    Attributes:
        min_confidence: of a tagger, least confidence of a marked span for kinds of input without fitted marks, see
            `matese.model.heads.tags.decoding.find`. Of a unified model, the error probability from which a token is
            marked; null for its most probable label.
        whole_words: whether spans are widened to whole words, as human raters mark them.
        min_omission_confidence: least probability of a missing word that is marked.
        fitted: at most one entry for each kind of input; `matese calibrate` writes it.
    """

    min_confidence: InnerShare | None = 0.5
    whole_words: bool = False
    min_omission_confidence: InnerShare = 0.5
    fitted: tuple[Fitted, ...] = ()

    def __post_init__(self) -> None:
        kinds = [entry.inputs for entry in self.fitted]
        if twice := sorted({kind for kind in kinds if kinds.count(kind) > 1}):
            raise InputError(f"fitted: {twice[0]} has several entries; must have one for each kind of input")

    def check(self, inputs: Collection[InputKind], heads: Collection[str]) -> None:
        """Raises an InputError if the decoding does not fit a model with these kinds of input and heads."""
        if self.min_confidence is None and "tags" in heads:
            raise InputError("decoding.min_confidence: must not be null with heads.tags")
        for entry in self.fitted:
            if entry.inputs not in inputs:
                raise InputError(f"decoding.fitted has an entry for {entry.inputs}: must be one of texts.inputs")
            if entry.meaning is not None and "meaning" not in heads:
                raise InputError("decoding.fitted.meaning: must be null without heads.meaning")

    def of(self, inputs: InputKind | None) -> Fitted:
        """Returns what is fitted for a kind of input."""
        return next((entry for entry in self.fitted if entry.inputs == inputs), _NOTHING)

    def least_confidence(self, model_input: ModelInput, n_pieces: int) -> float:
        """Returns the least confidence of a mark in a segment that was read in some pieces."""
        marking = self.of(model_input.inputs).marking
        if marking is not None:
            return marking.least_confidence(model_input.segment.hypothesis, n_pieces)
        assert self.min_confidence is not None
        return self.min_confidence

    def varied(self, choice: DecodingChoice) -> Decoding:
        """Returns the decoding with what a user chose.

        Raises:
            ModelError: if the model is not calibrated for it.
        """
        varied = self
        if choice.min_confidence is not None:
            varied = varied.marking_from(choice.min_confidence)
        if choice.use is not None:
            if not any(entry.marking for entry in self.fitted):
                raise _uncalibrated("has no marks for strings of a user interface")
            varied = varied._with_marking(MarkRule.of_interface)
        if choice.whole_words is not None:
            varied = replace(varied, whole_words=choice.whole_words)
        if not choice.error_free:
            return replace(varied, fitted=tuple(replace(entry, error_free=None) for entry in varied.fitted))
        if not any(entry.error_free for entry in self.fitted):
            raise _uncalibrated("cannot tell which segments are free of errors")
        return varied

    def marking_from(self, min_confidence: float) -> Decoding:
        """Returns the decoding that marks every span with at least this confidence."""
        varied = self._with_marking(lambda marking: marking.from_confidence(min_confidence))
        return replace(varied, min_confidence=min_confidence)

    def marking_more(self, factor: float) -> Decoding:
        """Returns the decoding that marks spans from a share of the least confidences on."""
        varied = self._with_marking(lambda marking: marking.scaled(factor))
        least = self.min_confidence
        return varied if least is None else replace(varied, min_confidence=factor * least)

    def _with_marking(self, change: Callable[[MarkRule], MarkRule]) -> Decoding:
        entries = (replace(entry, marking=entry.marking and change(entry.marking)) for entry in self.fitted)
        return replace(self, fitted=tuple(entries))


def _uncalibrated(problem: str) -> ModelError:
    return ModelError(f"the model {problem}; fit that first: matese calibrate MODEL RATINGS --output DIR")
