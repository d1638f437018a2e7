"""The input of a model: a segment, and which of its texts the model reads."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from matese.annotation import Segment
from matese.model.texts.encoding import InputKind


@dataclass(frozen=True, slots=True)
class ModelInput:
    """A segment and the texts of it that a model reads.

    Attributes:
        segment: the segment, unchanged.
        inputs: which texts are read besides the hypothesis.
        readings: what the model reads together: segments with only these texts, one for each reference that is read.
            Equal readings of several segments are computed once.
    """

    segment: Segment
    inputs: InputKind
    readings: tuple[Segment, ...]

    @classmethod
    def of(cls, segment: Segment, inputs: InputKind) -> ModelInput:
        """Returns the input for a segment: one reading for each reference if references are read."""
        source = None if inputs == "reference" else segment.source
        references = [()] if inputs == "source" else [(text,) for text in segment.references]
        readings = tuple(Segment(segment.hypothesis, source, reference) for reference in references)
        return cls(segment, inputs, readings)

    @property
    def n_tokens(self) -> int:
        """Estimate of the tokens that the model reads: a third of the characters."""
        texts = [text for reading in self.readings for text in (reading.hypothesis, *contexts(reading))]
        return sum(map(len, texts)) // 3 + 1


def with_inputs(segment: Segment, inputs: InputKind) -> Segment:
    """Returns the segment with only the texts of these inputs, and only the first reference."""
    source = None if inputs == "reference" else segment.source
    return replace(segment, source=source, references=() if inputs == "source" else segment.references[:1])


def usable_inputs(segment: Segment, allowed: Collection[InputKind]) -> Sequence[InputKind]:
    """Returns the allowed kinds of input for which a segment has the texts; most texts first."""
    has_source = segment.source is not None
    has_reference = bool(segment.references)
    complete: dict[InputKind, bool] = {
        "source+reference": has_source and has_reference,
        "reference": has_reference,
        "source": has_source,
    }
    return [inputs for inputs, is_complete in complete.items() if is_complete and inputs in allowed]


def contexts(reading: Segment) -> tuple[str, ...]:
    """Returns the texts that are read besides the hypothesis, the source before the reference."""
    return reading.references if reading.source is None else (reading.source, *reading.references)


def inputs_of(reading: Segment) -> InputKind:
    """Returns the kind of input of a reading."""
    if reading.source is None:
        return "reference"
    return "source+reference" if reading.references else "source"
