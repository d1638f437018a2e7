"""The interface of a head without torch: what becomes of its output, and how numpy computes it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from matese.annotation import Scale
from matese.model.arrays import Floats, Int32Array
from matese.model.config import ModelConfig
from matese.model.decoding import Decoding
from matese.model.encoder.numpy_layers import Array, StoredTensors
from matese.model.model_input import ModelInput, Row
from matese.model.prediction import Marks, Outputs, Prediction, check_numbers
from matese.model.texts.encoding import Encoding, InputKind


@dataclass(frozen=True, slots=True)
class RowStates:
    """What the heads read of a row in numpy; `states.BatchStates` are those of a batch in torch.

    Attributes:
        encoding: the row.
        encoded: (tokens, width), states of the encoder.
        final: (tokens, width), states of the last extra layer.
        similarity: term that the texts' similarity adds to the logit of the score.
        embed: returns the embeddings of ids.
    """

    encoding: Encoding
    encoded: Array
    final: Array
    similarity: float
    embed: Callable[[Int32Array], Array]

    @property
    def hypothesis(self) -> slice:
        """The places of the hypothesis' tokens in the row."""
        return slice(self.encoding.first, self.encoding.first + len(self.encoding.ranges))


T = TypeVar("T")
Said = Sequence[tuple[Encoding, T]]
"""Rows of a batch, and what a head says of each."""
NumpyHead = Callable[[RowStates], object]
"""From the states of a row to what the head says, in its own type; None for nothing."""
Combine = Callable[[Mapping[str, Floats]], Floats]
"""From embeddings of texts that were read alone, by role, (readings, width) each, to scores: (readings,)."""


class Head(ABC):
    """What becomes of a head's output: joined over windows and rows, averaged over readings and models, and marked.

    Attributes:
        name: of the head, of its folder, and of its settings in `heads` of the model's, which switch it on.
        part: name of its layers in the network.
        output: type of what it says, in numpy.
        n_layers: number of transformer layers of its own.
        has_numpy: whether `layers` computes the head in numpy.
        is_main: whether it makes the kind of the model, so that a training cannot start from a model without it.
        finds_errors: whether the head marks error spans.
        reads_special_tokens: whether the special tokens around the hypothesis count as its tokens, as in unbabel-comet,
            whose scores depend on that.
        has_overrides: whether rules may override the model, see `matese.model.copy_and_blank`.
        digits: decimal places of the expected score.
        scale: of the expected score.
        scoring: how the head scores, for the signature; None if it has no expected score.
        config: settings of the model.
    """

    name: ClassVar[str]
    part: ClassVar[str]
    output: ClassVar[type]
    n_layers: ClassVar[int] = 0
    has_numpy: ClassVar[bool] = True
    is_main: ClassVar[bool] = False
    finds_errors: ClassVar[bool] = False
    reads_special_tokens: ClassVar[bool] = False
    has_overrides: ClassVar[bool] = False
    digits: ClassVar[int] = 4
    scale: Scale = "mqm"
    scoring: str | None = None
    config: ModelConfig

    def __init__(self, config: ModelConfig) -> None:
        self.config = config

    def layers(self, tensors: StoredTensors, width: int) -> NumpyHead:
        """Returns the head in numpy.

        Args:
            tensors: of the model; the head takes its own.
            width: of the states.

        Raises:
            ValueError: if a tensor is missing or has the wrong shape.
        """
        raise NotImplementedError

    def check(self, outputs: Sequence[Any]) -> None:
        """Raises a ModelError if an output contains NaN, see `prediction.check_numbers`; by default, nothing is read.

        Args:
            outputs: of many windows, because one check of all of their numbers is quicker.
        """
        return

    @abstractmethod
    def join(self, row: Row, parts: Said[Any], whole: Said[Any]) -> Any:  # noqa: ANN401  (the head's own)
        """Returns the joint output of a row's parts; a row that is only read as a whole is not joined.

        Args:
            row: the texts.
            parts: what the head says of pieces and, where there is none, of the whole; the kept tokens are those of the
                hypothesis. Of a row without pieces, its windows.
            whole: what it says of the whole text, or of its runs or windows.
        """

    @abstractmethod
    def mean(self, outputs: Sequence[Any]) -> Any:  # noqa: ANN401
        """Returns the mean of several outputs."""

    def over_rows(
        self,
        readings: Sequence[Sequence[Prediction]],
        before: Sequence[Outputs],
        *,
        decoding: Decoding,
        combine: Combine | None,
    ) -> Sequence[Any] | None:
        """Returns the joint output of each reading's rows; by default None, for that of its first or only row.

        Args:
            readings: the rows of each reading.
            before: what the heads before say of each reading.
            decoding: how labels become marks, on which the scores of some models depend.
            combine: scores embeddings with the network; None if the network reads no text alone.
        """
        return None

    def over_readings(self, model_input: ModelInput, outputs: Sequence[Any]) -> Any:  # noqa: ANN401
        """Returns the joint output of two or more readings of a segment, None for a reading without one: the mean."""
        return self.over_models(outputs)

    def over_models(self, outputs: Sequence[Any]) -> Any:  # noqa: ANN401
        """Returns the joint output of several models: by default, the mean; None if any has none."""
        if len(outputs) == 1:
            return outputs[0]
        return None if any(output is None for output in outputs) else self.mean(outputs)

    def expected_score(self, output: Any) -> float:  # noqa: ANN401
        """Returns the expected score of a segment, for a head that has one."""
        raise NotImplementedError

    def of_blank(self) -> Any:  # noqa: ANN401
        """Returns the output for a hypothesis without tokens; None for none."""
        return None

    def of_copy(self, output: Any) -> Any:  # noqa: ANN401
        """Returns the output for a hypothesis that equals a reference, in place of the model's; None for none."""
        return output

    def of_untranslated(self, output: Any) -> Any:  # noqa: ANN401
        """Returns the output for a hypothesis that repeats its source; by default, that for a copy of a reference."""
        return self.of_copy(output)

    def change(self, model_input: ModelInput, prediction: Prediction, decoding: Decoding) -> Prediction:
        """Returns the prediction for a segment with what the head changes in it: by default, nothing.

        It is called before any head marks.
        """
        return prediction

    def mark(self, model_input: ModelInput, prediction: Prediction, marks: Marks, decoding: Decoding) -> Marks:
        """Returns the marks of a segment, from those of the heads before: by default, unchanged."""
        return marks

    def signature(self, inputs: InputKind, decoding: Decoding) -> Sequence[str]:
        """Returns what the head's marks depend on in segments with these inputs, for the signature."""
        return ()


class TokenHead(Head):
    """A head whose output has `values`, an array with a row for each token of the hypothesis."""

    def check(self, outputs: Sequence[Any]) -> None:
        """Raises a ModelError if an output contains NaN."""
        check_numbers([output.values for output in outputs])

    def join(self, row: Row, parts: Said[Any], whole: Said[Any]) -> Any:  # noqa: ANN401
        """Returns the values of the kept tokens."""
        return self.output(np.concatenate([said.values[slice(*encoding.kept)] for encoding, said in parts]))

    def mean(self, outputs: Sequence[Any]) -> Any:  # noqa: ANN401
        """Returns the mean values."""
        return self.output(np.mean([output.values for output in outputs], axis=0))
