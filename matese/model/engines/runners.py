"""Run batches in torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from matese.model.arrays import Floats
from matese.model.encoder import attention
from matese.model.encoder.roberta import Roberta
from matese.model.engines.engine import Hardware
from matese.model.engines.hardware import (
    choose_device,
    choose_precision,
    choose_threads,
    limit_kept_kernels,
    multiply_with_onednn,
    set_threads,
)
from matese.model.heads.networks import NetworkOutput
from matese.model.inputs import Inputs


class TorchRunner:
    """A model on its device, in one precision; `module` is the model."""

    def __init__(self, model: Any, precision: str, *, packs: bool | None = None) -> None:  # noqa: ANN401  (of any kind)
        """Prepares a model for inference; bf16 changes its weights.

        `packs` is whether to skip padding, which needs an encoder of this package; None to skip it if a GPU has a
        kernel for that.
        """
        self.module = model
        self.precision = precision
        self._device = next(model.encoder.parameters()).device
        if precision == "bf16":
            _round_weights(model)
        elif self._device.type == "cpu":
            multiply_with_onednn(part for root in model.body() for part in root.modules())
        self.packs = self._has_kernel() if packs is None else packs

    @torch.inference_mode()
    def __call__(self, batch: Inputs) -> NetworkOutput:
        """Returns the output, on the device: a GPU may still be computing it.

        Raises:
            torch.OutOfMemoryError: if the batch does not fit into the device's memory.
        """
        if self.packs:
            batch = batch.packed()  # on the CPU, which knows the number of tokens without waiting for the device
        if self._device.type == "cuda":
            batch = batch.pin_memory()  # for asynchronous copying
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self.precision == "bf16"):
            output: NetworkOutput = self.module(batch.to(self._device))
            return output

    @torch.inference_mode()
    def combine(self, texts: Mapping[str, Floats]) -> Floats:
        """Returns the score of each reading, (readings,), from embeddings of texts that the network read alone."""
        module: Any = self.module
        placed = {role: torch.tensor(vectors, device=self._device) for role, vectors in texts.items()}
        scores: Floats = module.combine(placed).cpu().numpy()
        return scores

    def _has_kernel(self) -> bool:
        encoder = self.module.encoder
        if not isinstance(encoder, Roberta):
            return False
        config = encoder.config
        head_width = (config.attention_width or config.hidden_size) // config.num_attention_heads
        dtype = torch.bfloat16 if self.precision == "bf16" else torch.float32
        return attention.has_kernel(self._device, dtype, config.num_attention_heads, head_width)


def _round_weights(model: Any) -> None:  # noqa: ANN401
    """Rounds the weights of all products before the heads, as autocast would do in each batch."""
    for part in (module for root in model.body() for module in root.modules()):
        if isinstance(part, nn.Linear | nn.MultiheadAttention):
            part.to(torch.bfloat16)


def prepare(hardware: Hardware) -> tuple[torch.device, str]:
    """Configures torch for this machine and returns the device and the precision.

    Raises:
        UsageError: if the device or precision is unknown or not available on this machine.
    """
    set_threads(hardware.threads or choose_threads())
    limit_kept_kernels()
    device = choose_device(hardware.device)
    return device, choose_precision(hardware.precision, device)
