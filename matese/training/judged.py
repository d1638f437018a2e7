"""What a model says of rated segments: the one reading that everything is calibrated on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from matese.annotation import Rating, Segment
from matese.model import error_free
from matese.model.heads.tags.marking import is_short
from matese.model.model_input import ModelInput, usable_inputs, with_inputs
from matese.model.prediction import Prediction
from matese.model.predictor import PredictedRating
from matese.model.texts.encoding import InputKind


class Annotates(Protocol):
    """What is needed of an annotator."""

    def annotate_results(self, segments: Iterable[Segment]) -> Iterable[PredictedRating]:
        """Yields what the model says of each segment."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A segment that people rated, and what the network says of it.

    Attributes:
        rating: people's.
        model_input: the segment with only the texts that were read.
        prediction: of the network, before any rule of decoding.
    """

    rating: Rating
    model_input: ModelInput
    prediction: Prediction

    @property
    def hypothesis(self) -> str:
        """The hypothesis."""
        return self.prediction.hypothesis

    @property
    def is_short(self) -> bool:
        """Whether the hypothesis is short."""
        return is_short(self.hypothesis)


def judge(
    annotator: Annotates, ratings: Sequence[Rating], inputs: InputKind, *, progress: Callable[[str], None]
) -> list[Judged]:
    """Returns what the network says of the segments that have these texts, read once.

    Segments whose marks or whose freedom from errors follow from a rule are left out.
    """
    read = [(rating, segment) for rating in ratings if (segment := _as_read(rating.segment, inputs)) is not None]
    judged: list[Judged] = []
    results = annotator.annotate_results(segment for _, segment in read)
    for number, ((rating, _), result) in enumerate(zip(read, results, strict=True)):
        if number % 50 == 0:
            progress(f"reading by {inputs}, segment {number:,} of {len(read):,}")
        judged.append(Judged(rating, result.model_input, result.raw))
    return judged


def _as_read(segment: Segment, inputs: InputKind) -> Segment | None:
    """Returns a segment with only the texts of these inputs; None if it lacks one, or rules say all about it."""
    complete = segment.without_blanks()
    if not usable_inputs(complete, [inputs]) or error_free.decide_by_rule(complete) is not None:
        return None
    read = with_inputs(complete, inputs)
    return None if ModelInput.of(read, inputs).is_copy else read
