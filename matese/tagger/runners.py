"""What computes batches: torch, or ONNX Runtime for a model that was exported for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Protocol

import torch
from torch import nn

from matese.encoder import attention
from matese.encoder.roberta import Roberta
from matese.errors import ModelError
from matese.tagger.batch import Batch
from matese.tagger.model import Tagger, TaggerOutput

ONNX_MISSING = "is not installed: a model for ONNX Runtime needs pip install 'matese[onnx]'"


class Runner(Protocol):
    """A model that computes batches.

    Attributes:
        precision: "bf16" or "float32".
        is_async: whether it computes on another processor, while this one goes on.
    """

    precision: str
    is_async: bool

    def __call__(self, batch: Batch) -> TaggerOutput:
        """Returns the output, possibly before it is computed."""


class TorchRunner:
    """A tagger on its device, in one precision.

    Attributes:
        module: the tagger.
    """

    def __init__(self, tagger: Tagger, precision: str, *, packs: bool | None = None) -> None:
        """Takes a tagger that is on its device.

        Args:
            tagger: on its device; bf16 changes its weights.
            precision: "bf16" or "float32".
            packs: whether padding is skipped, which needs an encoder of this package; None for whether a GPU has a
                kernel for it.
        """
        self.module, self.precision = tagger.eval(), precision
        if precision == "bf16":
            _round_weights(tagger)
        self._device = next(tagger.parameters()).device
        self.is_async = self._device.type == "cuda"
        self.packs = self._has_kernel() if packs is None else packs

    @torch.inference_mode()
    def __call__(self, batch: Batch) -> TaggerOutput:
        """Returns the output, on the device: a GPU may still be computing it.

        Raises:
            torch.OutOfMemoryError: if the batch does not fit into the device's memory.
        """
        if self.packs:
            batch = batch.packed()  # here, where the number of tokens is known without waiting for the device
        if self._device.type == "cuda":
            batch = batch.pin_memory()  # so that copying need not be waited for
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self.precision == "bf16"):
            output: TaggerOutput = self.module(batch.to(self._device))
        return replace(output, states=None)  # they would fill the memory until the output is read

    def _has_kernel(self) -> bool:
        encoder = self.module.encoder
        if not isinstance(encoder, Roberta):
            return False
        n_heads, width = encoder.config.num_attention_heads, encoder.config.hidden_size
        dtype = torch.bfloat16 if self.precision == "bf16" else torch.float32
        return attention.has_kernel(self._device, dtype, n_heads, width // n_heads)


def _round_weights(tagger: Tagger) -> None:
    """Rounds the weights of all products before the heads, as automatic mixed precision would do in each batch."""
    for module in (*tagger.encoder.modules(), *tagger.extra_layers.modules()):
        if isinstance(module, nn.Linear | nn.MultiheadAttention):
            module.to(torch.bfloat16)


class OnnxRunner:
    """An exported model in ONNX Runtime."""

    precision = "float32"
    is_async = False

    def __init__(self, path: Path) -> None:
        """Loads a graph, to be run with as many threads as torch.

        Raises:
            ModelError: if it is corrupt, or ONNX Runtime is not installed.
        """
        try:
            import onnxruntime
        except ModuleNotFoundError as error:
            raise ModelError(f"{path}: onnxruntime {ONNX_MISSING}") from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        options.log_severity_level = 3  # errors only: they are raised, and a user has no use for the rest
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its own classes, which it does not export
            raise ModelError(f"{path} is corrupt: {_reason(error)}; must be what matese export writes") from error
        self._path, self._names = path, [node.name for node in self._session.get_inputs()]
        self._outputs = [node.name for node in self._session.get_outputs()]

    def __call__(self, batch: Batch) -> TaggerOutput:
        """Returns the output.

        Raises:
            ModelError: if the graph cannot compute the batch.
        """
        try:
            found = self._session.run(None, {name: getattr(batch, name).numpy() for name in self._names})
            outputs = dict(zip(self._outputs, map(torch.from_numpy, found), strict=True))
            return TaggerOutput(**{"score": None, **outputs})
        except Exception as error:  # its own classes, or the graph of another model
            raise ModelError(f"{self._path} fails ({_reason(error)}): must be what matese export writes") from error


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())
