"""Computes batches with torch; loads a model to do so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from matese.encoder import attention as attentions
from matese.encoder import checkpoint, tokenizer
from matese.encoder.encoder import load_encoder, load_tokenizer
from matese.encoder.roberta import Roberta, is_roberta
from matese.encoder.tokenizer import FileTokenizer
from matese.tagger import model
from matese.tagger.batch import Batch
from matese.tagger.model import Tagger, TaggerOutput

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def load(directory: Path, *, attention: str | None = None) -> tuple[Tagger, PreTrainedTokenizerBase | FileTokenizer]:
    """Returns a model as `model.load` does, but without transformers where it is not needed: only to be run.

    Raises:
        ModelError: if the directory is incomplete, corrupt, of another kind or of a future format version.
    """
    found = checkpoint.load(directory, kind=model.KIND)

    def read_tokenizer(directory: str | Path) -> PreTrainedTokenizerBase | FileTokenizer:
        return tokenizer.read(Path(directory)) or load_tokenizer(directory)

    if not is_roberta(found.encoder):
        return model.assemble(
            directory, found, lambda: load_encoder(found.encoder, attention=attention), read_tokenizer
        )
    with _NoRandomWeights():
        return model.assemble(directory, found, lambda: Roberta(found.encoder, attention=attention), read_tokenizer)


class _NoRandomWeights(TorchFunctionMode):
    """Leaves out the initialisation of weights that are about to be loaded, which for large models takes seconds."""

    def __torch_function__(
        self,
        func: Any,  # noqa: ANN401  (as torch has it)
        types: Any,  # noqa: ANN401
        args: Any = (),  # noqa: ANN401
        kwargs: Any = None,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        arguments = kwargs or {}
        if getattr(func, "__module__", None) == "torch.nn.init":
            return arguments["tensor"] if "tensor" in arguments else args[0]
        return func(*args, **arguments)


class TorchEngine:
    """A tagger on its device, in one precision."""

    def __init__(self, tagger: Tagger, precision: str, *, packs: bool | None = None) -> None:
        """Takes a tagger that is on its device.

        Args:
            tagger: on its device; in bf16, its weights are changed.
            precision: "bf16" or "float32".
            packs: whether padding is left out, which takes an encoder of this package; None for where a GPU has a
                kernel for it.
        """
        self._tagger, self._is_bf16 = tagger.eval(), precision == "bf16"
        if self._is_bf16:
            _round_weights(tagger)
        self._device = next(tagger.parameters()).device
        self.is_apart = self._device.type == "cuda"
        self.has_decoder = tagger.has_decoder
        self.packs = self._has_kernel() if packs is None else packs

    @torch.inference_mode()
    def __call__(self, batch: Batch) -> TaggerOutput:
        """Returns the output, on the device: a GPU may still be at work on it.

        Raises:
            torch.OutOfMemoryError: if the device cannot hold it.
        """
        if self.packs:
            batch = batch.packed()  # here, where the number of tokens is known without waiting for the device
        if self.is_apart:
            batch = batch.pin_memory()  # so that the copy need not be waited for
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self._is_bf16):
            output: TaggerOutput = self._tagger(batch.to(self._device))
        return replace(output, states=None)  # which would fill the memory until the output is read

    def _has_kernel(self) -> bool:
        encoder = self._tagger.encoder
        if not isinstance(encoder, Roberta):
            return False
        n_heads, width = encoder.config.num_attention_heads, encoder.config.hidden_size
        kind = torch.bfloat16 if self._is_bf16 else torch.float32
        return attentions.has_kernel(self._device, kind, n_heads, width // n_heads)


def _round_weights(tagger: Tagger) -> None:
    """Rounds the weights of the products before the heads, which automatic mixed precision would do in each batch."""
    for module in (*tagger.encoder.modules(), *tagger.extra_layers.modules()):
        if isinstance(module, nn.Linear | nn.MultiheadAttention):
            module.to(torch.bfloat16)
