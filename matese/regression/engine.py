"""What computes encodings: a model in torch on its device, batch by batch."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

import torch
from torch import nn

from matese.encoder import attention
from matese.encoder.encoding import Encoding
from matese.encoder.hardware import return_freed_memory
from matese.encoder.roberta import Roberta
from matese.tagger.batch import Batch, Example, by_length, collate

_BATCHES_PER_TRIM = 4
"""Batches on a CPU after which freed memory is returned to the system; the next batches use other block sizes."""
Batches = Sequence[tuple[list[int], Batch]]
"""Indices of encodings, and the batch of these encodings."""
OutputT = TypeVar("OutputT")
OutputT_co = TypeVar("OutputT_co", covariant=True)


class Model(Protocol[OutputT_co]):
    """A module of torch that an engine runs.

    Attributes:
        encoder: an encoder of this package or of transformers.
    """

    encoder: Any

    def body(self) -> tuple[nn.Module, ...]:
        """Returns the parts before the heads, which are computed in the engine's precision."""

    def __call__(self, batch: Batch) -> OutputT_co:
        """Returns the output of a batch."""


class Engine(Protocol[OutputT_co]):
    """A model that computes batches.

    Attributes:
        precision: "bf16" or "float32".
        is_async: whether it computes on another processor, while this one goes on.
    """

    precision: str
    is_async: bool

    def __call__(self, batch: Batch) -> OutputT_co:
        """Returns the output, possibly before it is computed."""


class TorchEngine(Generic[OutputT]):
    """A model on its device, in one precision."""

    def __init__(self, model: Model[OutputT], precision: str, *, packs: bool | None = None) -> None:
        """Takes a model that is on its device.

        Args:
            model: on its device; bf16 changes its weights.
            precision: "bf16" or "float32".
            packs: whether padding is skipped, which needs an encoder of this package; None for whether a GPU has a
                kernel for it.
        """
        self._model, self.precision = model, precision
        if precision == "bf16":
            _round_weights(model)
        self._device = next(model.encoder.parameters()).device
        self.is_async = self._device.type == "cuda"
        self.packs = self._has_kernel() if packs is None else packs

    @torch.inference_mode()
    def __call__(self, batch: Batch) -> OutputT:
        """Returns the output, on the device: a GPU may still be computing it.

        Raises:
            torch.OutOfMemoryError: if the batch does not fit into the device's memory.
        """
        if self.packs:
            batch = batch.packed()  # here, where the number of tokens is known without waiting for the device
        if self._device.type == "cuda":
            batch = batch.pin_memory()  # so that copying need not be waited for
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self.precision == "bf16"):
            return self._model(batch.to(self._device))

    def _has_kernel(self) -> bool:
        encoder = self._model.encoder
        if not isinstance(encoder, Roberta):
            return False
        n_heads, width = (
            encoder.config.num_attention_heads,
            encoder.config.attention_width or encoder.config.hidden_size,
        )
        dtype = torch.bfloat16 if self.precision == "bf16" else torch.float32
        return attention.has_kernel(self._device, dtype, n_heads, width // n_heads)


def _round_weights(model: Model[Any]) -> None:
    """Rounds the weights of all products before the heads, as automatic mixed precision would do in each batch."""
    for part in model.body():
        for module in part.modules():
            if isinstance(module, nn.Linear | nn.MultiheadAttention):
                module.to(torch.bfloat16)


class Runner(Generic[OutputT]):
    """Computes encodings.

    Attributes:
        engine: computes batches.
        batch_tokens: most padded tokens of a batch, as asked for.
        lowered_batch_tokens: the same since the device ran out of memory; None if it did not.
    """

    def __init__(
        self,
        engine: Engine[OutputT],
        *,
        pad_id: int,
        batch_tokens: int,
        complete: Callable[[Batch], Batch] = lambda batch: batch,
    ) -> None:
        """Takes an engine.

        Args:
            engine: computes batches.
            pad_id: id of padding.
            batch_tokens: most padded tokens of a batch.
            complete: adds to a batch what the model needs besides its texts.
        """
        self.engine, self.batch_tokens = engine, batch_tokens
        self.lowered_batch_tokens: int | None = None
        self._pad_id, self._complete = pad_id, complete

    def batches(self, encodings: Sequence[Encoding], numbers: Sequence[int]) -> Batches:
        """Returns the batches of the encodings with these indices, within the budget."""
        batches = []
        budget = self.lowered_batch_tokens or self.batch_tokens
        for places in by_length([encodings[number] for number in numbers], budget):
            chosen = [numbers[place] for place in places]
            examples = [Example(encodings[number]) for number in chosen]
            batches.append((chosen, self._complete(collate(examples, pad_id=self._pad_id, share_contexts=True))))
        return batches

    def run(self, encodings: Sequence[Encoding], batches: Batches) -> list[tuple[list[int], OutputT]]:
        """Returns the outputs of the batches, with the indices of their encodings.

        A GPU may still be computing them, so that it has all its work before anybody waits for the first result.

        Raises:
            torch.OutOfMemoryError: if the device cannot hold the longest row.
        """
        outputs: list[tuple[list[int], OutputT]] = []
        waiting = deque(batches)
        while waiting:
            numbers, batch = waiting.popleft()
            output = self._try(batch)
            if output is not None:
                outputs.append((numbers, output))
                if not self.engine.is_async and len(outputs) % _BATCHES_PER_TRIM == 0:
                    return_freed_memory()
                continue
            n_tokens = batch.mask.numel() + (0 if batch.decoder_mask is None else batch.decoder_mask.numel())
            self.lowered_batch_tokens = max(1, min(self.lowered_batch_tokens or self.batch_tokens, n_tokens) // 2)
            left = [number for numbers, _ in [(numbers, batch), *waiting] for number in numbers]
            waiting = deque(self.batches(encodings, left))
        return outputs

    def _try(self, batch: Batch) -> OutputT | None:
        """Returns the engine's output; None if a batch that can be halved does not fit into memory."""
        try:
            return self.engine(batch)
        except torch.OutOfMemoryError:
            if len(batch.positions) == 1:
                raise
        # After the handler, whose traceback holds the tensors of the batch.
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return None
