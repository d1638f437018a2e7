"""Computes batches with torch."""

from __future__ import annotations

import torch

from matese.tagger.batch import Batch
from matese.tagger.model import Tagger, TaggerOutput


class TorchEngine:
    """A tagger on its device, in one precision."""

    def __init__(self, tagger: Tagger, precision: str) -> None:
        """Takes a tagger that is on its device; `precision` is "bf16" or "float32"."""
        self._tagger, self._is_bf16 = tagger.eval(), precision == "bf16"
        self._device = next(tagger.parameters()).device
        self.is_apart = self._device.type == "cuda"

    @torch.inference_mode()
    def __call__(self, batch: Batch) -> TaggerOutput:
        """Returns the output, on the device: a GPU may still be at work on it.

        Raises:
            torch.OutOfMemoryError: if the device cannot hold it.
        """
        if self.is_apart:
            batch = batch.pin_memory()  # so that the copy need not be waited for
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self._is_bf16):
            return self._tagger(batch.to(self._device))
