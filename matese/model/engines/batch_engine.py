"""Compute encodings in batches of similar length, within a budget of padded tokens."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import torch

from matese.model.engines.hardware import return_freed_memory
from matese.model.heads.head import Combine
from matese.model.heads.networks import NetworkOutput
from matese.model.inputs import Inputs, by_length, collate
from matese.model.prediction import WindowOutput
from matese.model.texts.encoding import Encoding

Runner = Callable[[Inputs], NetworkOutput]
"""Computes a batch, and may return before it is computed; `runners.TorchRunner` is one."""
Batches = Sequence[tuple[list[int], Inputs]]
"""Indices of encodings, and the batch of these encodings."""
_BATCHES_PER_TRIM = 4
"""CPU batches after which freed memory is returned to the system; the next batches need other block sizes."""


class BatchEngine:
    """Computes encodings with a runner, within a budget of tokens. See `Engine` for the attributes."""

    def __init__(
        self,
        runner: Runner,
        *,
        pad_id: int,
        batch_tokens: int,
        precision: str = "float32",
        is_async: bool = False,
    ) -> None:
        """Creates the engine.

        Args:
            runner: computes a batch.
            pad_id: id of padding.
            batch_tokens: most padded tokens of a batch.
            precision: in which the runner computes.
            is_async: whether it computes on another processor while the program continues.
        """
        self.runner = runner
        self.batch_tokens = batch_tokens
        self.precision = precision
        self.is_async = is_async
        self.lowered_batch_tokens: int | None = None
        self._pad_id = pad_id

    @property
    def module(self) -> Any:  # noqa: ANN401  (a module of any model)
        """The torch module; None if another library computes the model."""
        return getattr(self.runner, "module", None)

    @property
    def combine(self) -> Combine | None:
        """Scores embeddings of texts that were read alone; None if the runner cannot."""
        return getattr(self.runner, "combine", None)

    def prepare(self, encodings: Sequence[Encoding]) -> Callable[[], list[WindowOutput]]:
        """Returns a function that computes the encodings.

        Raises:
            torch.OutOfMemoryError: if the device cannot hold the longest row; raised by the function.
        """
        batches = self.batches(encodings, range(len(encodings)))
        return lambda: self._compute(encodings, batches)

    def batches(self, encodings: Sequence[Encoding], numbers: Sequence[int]) -> Batches:
        """Returns the batches of the encodings with these indices, within the budget."""
        batches = []
        budget = self.lowered_batch_tokens or self.batch_tokens
        for places in by_length([encodings[number] for number in numbers], budget):
            batch_numbers = [numbers[place] for place in places]
            batch = collate([encodings[number] for number in batch_numbers], pad_id=self._pad_id)
            batches.append((batch_numbers, batch))
        return batches

    def _compute(self, encodings: Sequence[Encoding], batches: Batches) -> list[WindowOutput]:
        windows: dict[int, WindowOutput] = {}
        for numbers, output in self._run(encodings, batches):
            rows = output.windows([encodings[number] for number in numbers])
            windows.update(zip(numbers, rows, strict=True))
        if len(batches) > 1:  # a single batch frees little, and its sender may be waiting
            return_freed_memory()
        return [windows[number] for number in range(len(encodings))]

    def _run(self, encodings: Sequence[Encoding], batches: Batches) -> list[tuple[list[int], NetworkOutput]]:
        """Returns the outputs of the batches, with the indices of their encodings.

        A GPU may still be computing them: it gets all its work before the first result is awaited.
        """
        outputs: list[tuple[list[int], NetworkOutput]] = []
        waiting = list(batches)
        while waiting:
            numbers, batch = waiting.pop(0)
            if (output := self._try(batch)) is not None:
                outputs.append((numbers, output))
                if not self.is_async and len(outputs) % _BATCHES_PER_TRIM == 0:
                    return_freed_memory()
                continue
            n_tokens = batch.mask.numel() + (0 if batch.decoder_mask is None else batch.decoder_mask.numel())
            self.lowered_batch_tokens = max(1, min(self.lowered_batch_tokens or self.batch_tokens, n_tokens) // 2)
            remaining = itertools.chain(numbers, *(later_numbers for later_numbers, _ in waiting))
            waiting = list(self.batches(encodings, list(remaining)))
        return outputs

    def _try(self, batch: Inputs) -> NetworkOutput | None:
        """Returns the runner's output; None if the batch does not fit into memory and can be halved."""
        try:
            return self.runner(batch)
        except torch.OutOfMemoryError:
            if len(batch.positions) == 1:
                raise
        # Outside the handler, whose traceback keeps the tensors of the batch.
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return None
