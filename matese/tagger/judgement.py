"""What a model says of a segment, and how predictions become that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from matese import mqm
from matese.annotation import ErrorSpan, Omission, Overall, UnplacedError
from matese.tagger.request import Request

if TYPE_CHECKING:
    from matese.tagger.prediction import Prediction


@dataclass(frozen=True, slots=True)
class Options:
    """How a model's predictions become ratings.

    Attributes:
        min_confidence: see `matese.tagger.decoding.decode`; None for the most probable label of each token.
        budget: likewise.
        whole_words: whether spans are widened to whole words.
        min_omission_confidence: see `matese.tagger.decoding.decode_omissions`.
        weights: penalties of errors, which the signature names beside the scores.
    """

    min_confidence: float | None
    budget: bool
    whole_words: bool
    min_omission_confidence: float = 0.5
    weights: mqm.Weights = mqm.MATESE


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a model says of a segment.

    Attributes:
        request: the segment, and what was read of it.
        errors: in the hypothesis; None of a model that marks none.
        overall: the score of the whole segment.
        omissions: words of a context that the hypothesis lacks.
        unplaced: errors without a place.
        is_windowed: whether the texts were read in overlapping windows.
        is_blank: whether the hypothesis was not read because it has no text.
        prediction: of a tagger, what the judgement was made from.
    """

    request: Request
    errors: tuple[ErrorSpan, ...] | None
    overall: Overall
    omissions: tuple[Omission, ...] = ()
    unplaced: tuple[UnplacedError, ...] = ()
    is_windowed: bool = False
    is_blank: bool = False
    prediction: Prediction | None = None
