"""The input of a model: from a segment to its readings, and from a reading to the rows that the encoder reads."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from matese.annotation import Segment
from matese.errors import UsageError
from matese.model.texts.encoding import InputKind, LanguageCodes
from matese.model.texts.settings import Layout


class LongTextError(UsageError):
    """A text is longer than the model reads at once, so that no single pass scores it."""


def is_combined(inputs: InputKind, layout: Layout) -> bool:
    """Whether a reading with these inputs has a row for each combination of its texts."""
    return layout == "combinations" and inputs == "source+reference"


class Row(NamedTuple):
    """The texts that an encoder reads in one row; a tuple, because it is hashed often.

    Attributes:
        texts: the hypothesis and the texts beside it, the source before the reference; or one text alone.
        inputs: which texts are beside the hypothesis; None for a text that is read alone.
        languages: their languages, for a model that reads codes of languages.
    """

    texts: tuple[str, ...]
    inputs: InputKind | None = None
    languages: LanguageCodes | None = None


class Reading(NamedTuple):
    """The texts from which a model judges a hypothesis once: a segment has one reading for each reference that is read.

    Equal readings of several segments are computed once. It is a tuple, because it is hashed often.
    """

    hypothesis: str
    source: str | None = None
    reference: str | None = None
    languages: LanguageCodes | None = None

    @property
    def contexts(self) -> tuple[str, ...]:
        """The texts that are read besides the hypothesis, the source before the reference."""
        reference = () if self.reference is None else (self.reference,)
        return reference if self.source is None else (self.source, *reference)

    @property
    def inputs(self) -> InputKind:
        """Which texts those are."""
        if self.source is None:
            return "reference"
        return "source" if self.reference is None else "source+reference"

    @property
    def segment(self) -> Segment:
        """A segment with only these texts."""
        return Segment(self.hypothesis, self.source, () if self.reference is None else (self.reference,))

    def rows(self, layout: Layout) -> tuple[Row, ...]:
        """Returns the rows that a model reads.

        >>> [row.texts for row in Reading("h", "s", "r").rows("combinations")]
        [('h', 's'), ('h', 'r'), ('h', 's', 'r')]
        """
        if layout == "alone":
            return tuple(Row((text,)) for text in (self.hypothesis, *self.contexts))
        inputs = self.inputs
        if layout == "source-first":
            return (Row((self.source or "", self.hypothesis, self.reference or ""), inputs),)
        row = Row((self.hypothesis, *self.contexts), inputs, self.languages)
        if not is_combined(inputs, layout):
            return (row,)
        of_source = self._replace(reference=None)
        of_reference = self._replace(source=None)
        return (*of_source.rows(layout), *of_reference.rows(layout), row)


class ModelInput(NamedTuple):
    """A segment and the texts of it that a model reads.

    Attributes:
        segment: the segment, unchanged.
        inputs: which texts are read besides the hypothesis.
        readings: one for each reference that is read.
        rater: whom the rating names as its rater: the model's signature.
    """

    segment: Segment
    inputs: InputKind
    readings: tuple[Reading, ...]
    rater: str | None = None

    @classmethod
    def of(
        cls, segment: Segment, inputs: InputKind, rater: str | None = None, languages: LanguageCodes | None = None
    ) -> ModelInput:
        """Returns the input for a segment: one reading for each reference if references are read."""
        source = None if inputs == "reference" else segment.source
        references = [None] if inputs == "source" else segment.references
        readings = tuple([Reading(segment.hypothesis, source, text, languages) for text in references])
        return cls(segment, inputs, readings, rater)

    @property
    def is_copy(self) -> bool:
        """Whether the hypothesis equals a reference that is read, ignoring white space around it."""
        references = [reading.reference for reading in self.readings if reading.reference is not None]
        return self.segment.hypothesis.strip() in map(str.strip, references)

    @property
    def n_tokens(self) -> int:
        """Estimate of the tokens that the model reads: a third of the characters."""
        n_characters = 0
        for reading in self.readings:
            n_characters += len(reading.hypothesis) + len(reading.source or "") + len(reading.reference or "")
        return n_characters // 3 + 1


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
