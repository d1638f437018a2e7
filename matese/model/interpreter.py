"""The interface of an interpreter: the part of each kind of model that turns an engine's output into ratings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from matese import mqm
from matese.annotation import Rating, Segment
from matese.model.copy_and_blank import Override
from matese.model.model_input import ModelInput
from matese.model.texts.encoding import Encoding, InputKind


@dataclass(frozen=True, slots=True)
class Options:
    """How a model's predictions become ratings.

    Attributes:
        min_confidence: see `matese.model.heads.tags.decoding.decode`; None for the most probable label of each token.
        whole_words: whether spans are widened to whole words.
        weights: penalties of errors, which the signature names.
        error_free: whether to decide which segments are free of errors.
    """

    min_confidence: float | None
    whole_words: bool
    weights: mqm.Weights = mqm.MATESE
    error_free: bool = False


class AnyPrediction(Protocol):
    """A model's prediction for a segment: whether its texts were read in overlapping windows, or it is blank."""

    @property
    def is_windowed(self) -> bool: ...  # noqa: D102

    @property
    def is_blank(self) -> bool: ...  # noqa: D102


WindowT_contra = TypeVar("WindowT_contra", contravariant=True)
"""An engine's output for a window."""
RowT = TypeVar("RowT")
"""The joint output for the windows of a row of texts; rows are cached."""
PredictionT = TypeVar("PredictionT", bound=AnyPrediction)
"""The joint prediction for the rows of a segment."""


class Interpreter(Protocol[WindowT_contra, RowT, PredictionT]):
    """From windows to rows, predictions and ratings.

    Attributes:
        config: settings of the model.
        overrides: rules that override the model.
    """

    config: Any
    overrides: tuple[Override, ...]

    def decoding(self, inputs: InputKind, options: Options) -> str:
        """Returns everything that the marks of segments with these inputs depend on, for the signature."""

    def scoring(self, inputs: InputKind) -> str:
        """Returns how segments with these inputs are scored, for the signature."""

    def rows(self, reading: Segment) -> tuple[Segment, ...]:
        """Returns the texts of each row that a reading needs; a text that is read alone becomes the hypothesis."""

    def windows(self, encodings: Sequence[Encoding]) -> Sequence[Encoding]:
        """Returns the windows of a row as the engine computes them."""

    def join(self, row: Segment, windows: Sequence[WindowT_contra]) -> RowT:
        """Returns the joint output for the windows of a row."""

    def predict(
        self, model_inputs: Sequence[ModelInput], rows: Mapping[Segment, RowT], options: Options
    ) -> list[PredictionT]:
        """Returns the prediction for each segment from all rows; a blank hypothesis has no row."""

    def average(self, predictions: Sequence[PredictionT], score: float) -> PredictionT:
        """Returns the mean of several predictions for one segment, with a common score.

        Models that mark errors must have the same vocabulary.
        """

    def decode(
        self, model_inputs: Sequence[ModelInput], predictions: Sequence[PredictionT], options: Options
    ) -> Iterable[Rating]:
        """Yields a rating for each prediction, without the name of a rater."""
