"""What a model says of rated segments: the one reading that everything is calibrated on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from matese.annotation import Rating, Segment
from matese.model import copy_and_blank, error_free
from matese.model.heads.tags.confidence import is_short
from matese.model.model_input import ModelInput, usable_inputs, with_inputs
from matese.model.prediction import Prediction, TagProbabilities
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
        is_sampled: whether it belongs to the sample that stands for all ratings; other segments are short ones that are
            only read for what is fitted to short ones alone.
    """

    rating: Rating
    model_input: ModelInput
    prediction: Prediction
    is_sampled: bool = True

    @property
    def lang_pair(self) -> str:
        """The language pair; "" if it is unknown."""
        key = self.rating.segment.key
        return (key.lang_pair if key else None) or ""


class Chosen(NamedTuple):
    """A rating to read; see `Judged.is_sampled`."""

    rating: Rating
    is_sampled: bool


def choose(ratings: Iterable[Rating], every: int) -> list[Chosen]:
    """Returns every N-th rating, and all of short hypotheses: they are rare, and take next to no time."""
    numbered = enumerate(ratings)
    every_nth = (Chosen(rating, number % every == 0) for number, rating in numbered)
    return [one for one in every_nth if one.is_sampled or is_short(one.rating.segment.hypothesis)]


def choose_short(ratings: Iterable[Rating]) -> list[Chosen]:
    """Returns all of short hypotheses, none of which belongs to the sample."""
    return [Chosen(rating, False) for rating in ratings if is_short(rating.segment.hypothesis)]


def judge(
    annotator: Annotates, ratings: Sequence[Chosen], inputs: InputKind, *, progress: Callable[[str], None]
) -> list[Judged]:
    """Returns what the network says of the segments that have these texts, read once.

    Segments whose marks or whose freedom from errors follow from a rule are left out.
    """
    read = [(one, segment) for one in ratings if (segment := _as_read(one.rating.segment, inputs)) is not None]
    judged: list[Judged] = []
    results = annotator.annotate_results(segment for _, segment in read)
    for number, ((one, _), result) in enumerate(zip(read, results, strict=True)):
        if number % 50 == 0:
            progress(f"reading by {inputs}, segment {number:,} of {len(read):,}")
        judged.append(Judged(one.rating, result.model_input, result.raw, one.is_sampled))
    return judged


def is_read(segment: Segment, inputs: InputKind) -> bool:
    """Whether a segment is read with these inputs."""
    return _as_read(segment, inputs) is not None


def with_tags(judged: Judged, tags: TagProbabilities) -> Judged:
    """Returns the same with other tags."""
    prediction = judged.prediction._replace(outputs=judged.prediction.outputs.changed(tags))
    return replace(judged, prediction=prediction)


def _as_read(segment: Segment, inputs: InputKind) -> Segment | None:
    """Returns a segment with only the texts of these inputs; None if it lacks one, or rules say all about it."""
    complete = segment.without_blanks()
    if not usable_inputs(complete, [inputs]) or error_free.decide_by_rule(complete) is not None:
        return None
    read = with_inputs(complete, inputs)
    return None if copy_and_blank.is_copy(ModelInput.of(read, inputs)) else read
