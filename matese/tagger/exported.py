"""Models for ONNX Runtime: a model directory with `model.onnx` in place of the weights, in float32, for the CPU."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from matese.encoder import checkpoint
from matese.encoder.checkpoint import ModelError
from matese.encoder.encoding import ROLES, Encoding
from matese.encoder.roberta import Roberta
from matese.tagger import engine
from matese.tagger.batch import Batch, Example, collate
from matese.tagger.lexical import match_kinds
from matese.tagger.model import Tagger, TaggerOutput

_MISSING = "is not installed: a model for ONNX Runtime needs pip install 'matese[onnx]'"


class OnnxEngine:
    """An exported model in ONNX Runtime."""

    is_apart = False

    def __init__(self, path: Path) -> None:
        """Takes the graph; it is run with as many threads as torch.

        Raises:
            ModelError: if it is corrupt, or ONNX Runtime is not installed.
        """
        try:
            import onnxruntime
        except ModuleNotFoundError as error:
            raise ModelError(f"{path}: onnxruntime {_MISSING}") from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        options.log_severity_level = 3  # errors only: they are raised, and the rest is of no use to a user
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its own classes, which it does not export
            reason = " ".join(str(error).split())
            raise ModelError(f"{path} is corrupt: {reason}; must be what matese export writes") from error
        self._names = [node.name for node in self._session.get_inputs()]

    def __call__(self, batch: Batch) -> TaggerOutput:
        """Returns the output."""
        found = self._session.run(None, {name: getattr(batch, name).numpy() for name in self._names})
        logits, *scores = map(torch.from_numpy, found)
        return TaggerOutput(logits, scores[0] if scores else None)


def export(directory: Path, output: Path) -> None:
    """Writes a model directory for ONNX Runtime; it appears complete or not at all, in place of one that stands there.

    Raises:
        ModelError: if the directory holds no tagger on an encoder of the RoBERTa family, or a package is missing.
        OSError: if it cannot be written.
    """
    tagger, _ = engine.load(directory)
    if not isinstance(tagger.encoder, Roberta):
        raise ModelError(f"{directory} cannot be exported: its encoder must be of the type roberta or xlm-roberta")
    if checkpoint.is_exported(directory):
        raise ModelError(f"{directory} was exported for ONNX Runtime: must be the model directory it was made of")
    partial = output.with_name(f".{output.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        for path in directory.iterdir():
            if path.is_file() and path.name != checkpoint.TENSORS:
                shutil.copyfile(path, partial / path.name)
        _write(tagger, partial / checkpoint.GRAPH)
        if output.exists():
            shutil.rmtree(output)
        partial.rename(output)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


class _Graph(nn.Module):
    """A tagger whose arguments are the tensors of a batch."""

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
        matches: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        none = torch.zeros(0)  # what is for training only
        batch = Batch(
            ids, roles, mask, None, None, positions, hypothesis_mask, None, none, None, none, none, None, matches
        )
        output: TaggerOutput = self.tagger(batch)
        return (output.tag_logits,) if output.score is None else (output.tag_logits, output.score)


def _example(n_tokens: int, n_tagged: int) -> Example:
    ids = np.arange(n_tokens, dtype=np.int32)
    return Example(Encoding(ids, ids % len(ROLES), None, 1, np.zeros((n_tagged, 2), np.int32), (0, n_tagged)))


def _write(tagger: Tagger, path: Path) -> None:
    tokens = np.arange(12, dtype=np.int32)
    ranges = np.zeros((5, 2), np.int32)
    # Two rows of different lengths: an extent of 1 would be taken for a constant.
    encodings = [
        Encoding(tokens[:n], tokens[:n] % len(ROLES), None, 1, ranges[:k], (0, k)) for n, k in ((12, 5), (9, 3))
    ]
    batch = collate([Example(encoding) for encoding in encodings], pad_id=0)
    row, token, own = (torch.export.Dim(name, min=1, max=2**20) for name in ("row", "token", "hypothesis_token"))
    given = {
        "ids": (batch.ids, {0: row, 1: token}),
        "roles": (batch.roles, {0: row, 1: token}),
        "mask": (batch.mask, {0: row, 1: token}),
        "positions": (batch.positions, {0: row, 1: own}),
        "hypothesis_mask": (batch.hypothesis_mask, {0: row, 1: own}),
    }
    if tagger.config.lexical_match:
        given["matches"] = (torch.stack(match_kinds(batch.ids, batch.roles)), {1: row, 2: token})
    try:
        torch.onnx.export(
            _Graph(tagger).eval(),
            kwargs={name: tensor for name, (tensor, _) in given.items()},
            f=path,
            dynamic_shapes={name: extents for name, (_, extents) in given.items()},
            output_names=["tag_logits", "score"] if tagger.config.score_head else ["tag_logits"],
            dynamo=True,
            verbose=False,
        )
    except ModuleNotFoundError as error:
        raise ModelError(f"{error.name} {_MISSING}") from error
