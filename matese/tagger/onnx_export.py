"""Export to ONNX Runtime: a model directory with `model.onnx` instead of the weights, in float32, for the CPU."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from matese.encoder import checkpoint
from matese.encoder.encoding import ROLES, Encoding
from matese.encoder.roberta import Roberta
from matese.errors import ModelError
from matese.files import replacing
from matese.inference.inputs import Inputs, collate
from matese.inference.runners import ONNX_MISSING
from matese.tagger.loading import load_tagger
from matese.tagger.model import Tagger, TaggerOutput


def export(directory: Path, output: Path) -> None:
    """Writes a model directory for ONNX Runtime, atomically; an existing one is replaced.

    Raises:
        ModelError: if the model is not a tagger with an encoder of the RoBERTa family, or a package is missing.
        OSError: if it cannot be written.
    """
    tagger, _ = load_tagger(directory)
    if not isinstance(tagger.encoder, Roberta):
        raise ModelError(f"{directory} cannot be exported: its encoder's model_type must be roberta or xlm-roberta")
    if checkpoint.is_exported(directory):
        raise ModelError(f"{directory} was exported for ONNX Runtime; give the model directory that was exported")
    with replacing(output) as partial:
        partial.mkdir(parents=True)
        for path in directory.iterdir():
            if path.is_file() and path.name != checkpoint.TENSORS:
                shutil.copyfile(path, partial / path.name)
        _write(tagger, partial / checkpoint.GRAPH)


class _Graph(nn.Module):
    """A tagger that takes the tensors of a batch as arguments."""

    def __init__(self, tagger: Tagger) -> None:
        super().__init__()
        self.tagger = tagger

    def forward(
        self,
        ids: Tensor,
        roles: Tensor,
        mask: Tensor,
        positions: Tensor,
        hypothesis_mask: Tensor,
        text_positions: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        read = ids, roles, mask, None, None, positions, hypothesis_mask
        batch = Inputs(*read, text_positions=text_positions)
        output: TaggerOutput = self.tagger(batch)
        return tuple(getattr(output, name) for name in _output_names(self.tagger))


def _output_names(tagger: Tagger) -> list[str]:
    heads = {
        "score": tagger.score_head,
        "omission_logits": tagger.omission_head,
        "category_logits": tagger.category_head,
    }
    return ["tag_logits", *(name for name, head in heads.items() if head is not None)]


def _write(tagger: Tagger, path: Path) -> None:
    tokens = np.arange(12, dtype=np.int32)
    ranges = np.zeros((5, 2), np.int32)
    # Two rows of different lengths: the exporter would treat an extent of 1 as a constant.
    lengths = ((12, 5), (9, 3))
    encodings = [Encoding(tokens[:n], tokens[:n] % len(ROLES), None, 1, ranges[:k], (0, k)) for n, k in lengths]
    if tagger.config.separate_layers:
        encodings = [
            replace(encoding, text_positions=np.arange(len(encoding.ids), dtype=np.int32) % 5) for encoding in encodings
        ]
    batch = collate(encodings, pad_id=0)
    row, token, hypothesis_token = (
        torch.export.Dim(name, min=1, max=2**20) for name in ("row", "token", "hypothesis_token")
    )
    inputs = {
        "ids": (batch.ids, {0: row, 1: token}),
        "roles": (batch.roles, {0: row, 1: token}),
        "mask": (batch.mask, {0: row, 1: token}),
        "positions": (batch.positions, {0: row, 1: hypothesis_token}),
        "hypothesis_mask": (batch.hypothesis_mask, {0: row, 1: hypothesis_token}),
    }
    if tagger.config.separate_layers:
        assert batch.text_positions is not None
        inputs["text_positions"] = (batch.text_positions, {0: row, 1: token})
    try:
        torch.onnx.export(
            _Graph(tagger).eval(),
            kwargs={name: tensor for name, (tensor, _) in inputs.items()},
            f=path,
            dynamic_shapes={name: extents for name, (_, extents) in inputs.items()},
            output_names=_output_names(tagger),
            dynamo=True,
            verbose=False,
        )
    except ModuleNotFoundError as error:
        raise ModelError(f"{error.name} {ONNX_MISSING}") from error
