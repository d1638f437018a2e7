"""What a model's numbers mean: the part of each kind of model that turns what an engine computes into ratings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from matese import mqm
from matese.annotation import Rating, Segment
from matese.encoder.encoding import Encoding, InputKind
from matese.inference.model_input import ModelInput
from matese.inference.overrides import Override


@dataclass(frozen=True, slots=True)
class Options:
    """How a model's predictions become ratings.

    Attributes:
        min_confidence: see `matese.tagger.decoding.decode`; None for the most probable label of each token.
        budget: likewise.
        whole_words: whether spans are widened to whole words.
        floor: spans of less confidence are dropped from those that the model marks.
        min_omission_confidence: see `matese.tagger.omissions.decode`.
        weights: penalties of errors, which the signature names beside the scores.
    """

    min_confidence: float | None
    budget: bool
    whole_words: bool
    min_omission_confidence: float = 0.5
    weights: mqm.Weights = mqm.MATESE
    floor: float = 0.0


class AnyPrediction(Protocol):
    """What a model predicts for a segment.

    Attributes:
        is_windowed: whether the texts were read in overlapping windows.
        is_blank: whether the hypothesis was not read because it has no text.
    """

    @property
    def is_windowed(self) -> bool: ...  # noqa: D102

    @property
    def is_blank(self) -> bool: ...  # noqa: D102


WindowT_contra = TypeVar("WindowT_contra", contravariant=True)
"""What an engine computes for one window."""
RowT = TypeVar("RowT")
"""What the windows of a row of texts say together; rows are remembered."""
PredictionT = TypeVar("PredictionT", bound=AnyPrediction)
"""What the rows of a segment say together."""


class Interpreter(Protocol[WindowT_contra, RowT, PredictionT]):
    """From windows to rows, predictions and ratings.

    Attributes:
        config: settings of the model.
        overrides: rules that override it.
    """

    config: Any
    overrides: tuple[Override, ...]

    def decoding(self, inputs: InputKind, options: Options) -> str:
        """Returns all that the marks of segments with these inputs depend on, for the signature."""

    def scoring(self, inputs: InputKind) -> str:
        """Returns how the score of segments with these inputs is made, for the signature."""

    def rows(self, reading: Segment) -> tuple[Segment, ...]:
        """Returns the texts of each row that a reading needs; what is read alone is a hypothesis without contexts."""

    def windows(self, encodings: Sequence[Encoding]) -> Sequence[Encoding]:
        """Returns the windows of a row as the engine computes them."""

    def join(self, row: Segment, windows: Sequence[WindowT_contra]) -> RowT:
        """Returns what the windows of a row say together."""

    def predict(
        self, model_inputs: Sequence[ModelInput], rows: Mapping[Segment, RowT], options: Options
    ) -> list[PredictionT]:
        """Returns the prediction for each segment from all rows; a blank hypothesis has none."""

    def average(self, predictions: Sequence[PredictionT], score: float) -> PredictionT:
        """Returns the mean of several predictions for one segment, with a common score.

        Args:
            predictions: by models with one vocabulary, if they mark errors.
            score: of the segment.
        """

    def decode(
        self, model_inputs: Sequence[ModelInput], predictions: Sequence[PredictionT], options: Options
    ) -> Iterable[Rating]:
        """Yields a rating for each prediction, without the name of a rater."""
