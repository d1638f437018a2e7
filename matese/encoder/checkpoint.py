"""A model directory: kind, format version, plain settings, tensors and tokenizer. The models build themselves from it.

`config.json` holds the encoder's own configuration too, so that loading needs no network; no pickle is ever opened.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import matese

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase

FORMAT_VERSION = 2
"""Counts up when older versions of this package can no longer read what newer ones write."""
CONFIG, TENSORS, CARD = "config.json", "model.safetensors", "README.md"
GRAPH, GRAPH_TENSORS = "model.onnx", "model.onnx.data"
"""In place of TENSORS, where a model was exported for ONNX Runtime."""
_EMBEDDED = Path(matese.__file__).parent / "models"
_HUB_ID = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")


class ModelError(ValueError):
    """A model that is not there, not complete, or not what is needed."""


@dataclass(frozen=True)
class Checkpoint:
    """What a model directory holds.

    Attributes:
        kind: which of the package's models it is ("tagger").
        settings: the model's own settings, plain values.
        encoder: the encoder's configuration as transformers writes it.
        tensors: by the names of the model's state dict, as `storage.packed` has stored them; none where a graph stands
            in their place.
        training: the resolved settings of the run that made it.
    """

    kind: str
    settings: Mapping[str, object]
    encoder: Mapping[str, object]
    tensors: Mapping[str, torch.Tensor]
    training: Mapping[str, object] | None = None


def embedded() -> tuple[str, ...]:
    """Returns the names of the models in the package."""
    return tuple(sorted(path.parent.name for path in _EMBEDDED.glob(f"*/{CONFIG}")))


def resolve(model: str | Path) -> Path:
    """Returns the directory of a model: an embedded one by its bare name, a directory, or a hub id (with one "/").

    The network is touched only for a hub id.

    Raises:
        ModelError: if there is none.
    """
    path, name = Path(model), str(model)
    # A bare name means the same in every working directory; ./mini is a directory.
    if isinstance(model, str) and name in embedded():
        return _EMBEDDED / name
    if path.is_dir():
        return path
    if path.exists():
        raise ModelError(f"model {name} is a file: must be an embedded model, a directory or a hub id")
    if isinstance(model, str) and _HUB_ID.fullmatch(name):
        return _download(name)
    known = ", ".join(embedded()) or "none"
    raise ModelError(f"no model {name}: must be an embedded model ({known}), a directory or a hub id such as org/name")


def _download(hub_id: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        # Only what is opened here is fetched.
        return Path(snapshot_download(hub_id, allow_patterns=["*.json", "*.safetensors", "*.model", "*.txt", CARD]))
    except Exception as error:  # the hub's client raises its own, requests' and OS errors alike
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(
            f"no model {hub_id}: no such directory, and as a hub id it was not fetched ({reason})"
        ) from error


def fingerprint(directory: Path) -> str:
    """Returns 8 hexadecimal digits that stand for all that decides what the model says."""
    digest = hashlib.sha256()
    for name in (CONFIG, TENSORS, GRAPH, GRAPH_TENSORS, "tokenizer.json"):
        if (directory / name).is_file():
            with open(directory / name, "rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:8]


def save(directory: Path, checkpoint: Checkpoint, tokenizer: PreTrainedTokenizerBase, *, card: str) -> None:
    """Writes a model directory; it appears complete or not at all, in place of one that stands there.

    Raises:
        OSError: if it cannot be written.
    """
    from safetensors.torch import save_file

    partial = directory.with_name(f".{directory.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        config = {
            "kind": checkpoint.kind,
            "format_version": FORMAT_VERSION,
            "matese_version": matese.__version__,
            "settings": checkpoint.settings,
            "encoder": checkpoint.encoder,
            "training": checkpoint.training,
        }
        (partial / CONFIG).write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        (partial / CARD).write_text(card, encoding="utf-8")
        save_file({name: tensor.contiguous() for name, tensor in checkpoint.tensors.items()}, partial / TENSORS)
        tokenizer.save_pretrained(str(partial))
        _name_tokenizer_for_all(partial / "tokenizer_config.json")
        if directory.exists():
            shutil.rmtree(directory)
        partial.rename(directory)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _name_tokenizer_for_all(path: Path) -> None:
    """Gives a tokenizer without a family the class name that transformers 4 and 5 know; 5 writes one of its own."""
    if path.is_file():
        settings = json.loads(path.read_text(encoding="utf-8"))
        if settings.get("tokenizer_class") == "TokenizersBackend":
            settings["tokenizer_class"] = "PreTrainedTokenizerFast"
            path.write_text(json.dumps(settings, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def load(directory: Path, *, kind: str) -> Checkpoint:
    """Returns what a model directory holds, tensors on the CPU as they were stored.

    Raises:
        ModelError: if it is incomplete, corrupt, of another kind, or of a format version of the future.
    """
    for name in (CONFIG, GRAPH if is_exported(directory) else TENSORS):
        if not (directory / name).is_file():
            raise ModelError(f"{directory} has no {name}: a model directory holds {CONFIG}, {TENSORS} and a tokenizer")
    config = _read_config(directory / CONFIG, kind)
    tensors = {} if is_exported(directory) else _read_tensors(directory / TENSORS)
    training = config.get("training")
    return Checkpoint(
        kind,
        _mapping(config, "settings", directory),
        _mapping(config, "encoder", directory),
        tensors,
        training if isinstance(training, dict) else None,
    )


def is_exported(directory: Path) -> bool:
    """Whether a graph for ONNX Runtime stands in place of the tensors."""
    return (directory / GRAPH).is_file() and not (directory / TENSORS).is_file()


def _read_tensors(path: Path) -> dict[str, torch.Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except SafetensorError as error:
        raise ModelError(f"{path} is corrupt: {error}; must be a complete safetensors file") from error


def _read_config(path: Path, kind: str) -> dict[str, object]:
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # neither UTF-8 nor JSON
        raise ModelError(f"{path} is corrupt: {error}; must be JSON") from error
    if not isinstance(config, dict) or "format_version" not in config:
        raise ModelError(f"{path} is no configuration of a matese model: must have a format_version")
    version = config["format_version"]
    if not isinstance(version, int) or not 1 <= version <= FORMAT_VERSION:
        raise ModelError(
            f"{path}: format version {version}; this matese {matese.__version__} reads versions 1 to {FORMAT_VERSION}"
        )
    if config.get("kind") != kind:
        raise ModelError(f"{path}: kind {config.get('kind')!r}; must be {kind!r}")
    return config


def _mapping(config: Mapping[str, object], name: str, directory: Path) -> Mapping[str, object]:
    value = config.get(name)
    if not isinstance(value, dict):
        raise ModelError(f"{directory / CONFIG}: {name} is {value!r}; must be an object")
    return value
