"""Encoders of transformers: pretrained, from a model directory, or new."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import nn

from matese.errors import ModelError
from matese.model.storage import checkpoint, packing, weights

# transformers takes seconds to import, and models of the RoBERTa family run without it.
if TYPE_CHECKING:
    from transformers import PreTrainedModel


def load_encoder(source: str | Path | Mapping[str, object]) -> PreTrainedModel:
    """Returns an encoder, or an encoder-decoder, in float32.

    Args:
        source: a hub id or a directory for a pretrained encoder, or a configuration with `model_type` for an encoder
            with random weights.

    Raises:
        ValueError: if a configuration has no known `model_type` or is inconsistent.
        OSError: if there is no such encoder.
        ModelError: if the encoder lacks weights.
    """
    from transformers import AutoConfig, AutoModel

    if isinstance(source, Mapping):
        values = {name: value for name, value in source.items() if name != "model_type"}
        config = AutoConfig.for_model(str(source.get("model_type")), **values)
        model: Any = AutoModel.from_config(config)  # type: ignore[no-untyped-call]
    else:
        options: dict[str, Any] = {"local_files_only": Path(source).is_dir(), "trust_remote_code": False}
        with _quiet():
            model, report = AutoModel.from_pretrained(str(source), output_loading_info=True, **options)
        if missing := sorted(name for name in report["missing_keys"] if not name.startswith("pooler.")):
            raise ModelError(f"{len(missing)} tensors are missing, such as {missing[0]}")
    # The pooler is unused: its weights would be saved, and training on several devices would wait for its gradients.
    if getattr(model, "pooler", None) is not None:
        model.pooler = None
    loaded: PreTrainedModel = model.float()
    return loaded


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silences the progress bar and the report of transformers, which warns of the missing pooler."""
    logging = importlib.import_module("transformers.utils.logging")  # untyped
    verbosity = logging.get_verbosity()
    has_bar = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if has_bar:
            logging.enable_progress_bar()


def encoder_of_model(directory: Path) -> PreTrainedModel:
    """Returns the encoder of a model directory, with its weights.

    Raises:
        ModelError: if the directory is corrupt, or some weights of the encoder are missing.
    """
    stored = checkpoint.load(directory)
    prefix = "encoder."
    tensors = packing.unpack(stored.tensors)
    tensors = {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
    if not tensors:
        raise ModelError("the model directory has no encoder weights")
    encoder = load_encoder(stored.config.encoder)
    if missing := sorted(dict(encoder.named_parameters()).keys() - tensors.keys()):
        raise ModelError(f"{len(missing)} tensors are missing, such as {missing[0]}")
    weights.assign(tensors, encoder)
    return encoder


def plain_config(encoder: Any) -> dict[str, Any]:  # noqa: ANN401  (an encoder of this package or of transformers)
    """Returns the configuration of an encoder for a model directory.

    Underscored settings belong to the running process and are left out: transformers 4 records the attention that it
    chose, and would not choose again when it reads the record.
    """
    return {name: value for name, value in encoder.config.to_dict().items() if not name.startswith("_")}


def embedding_modules(model: nn.Module) -> list[nn.Module]:
    """Returns the modules that embed tokens and positions, which `freeze_embeddings` freezes."""
    named = [(name.rpartition(".")[2], module) for name, module in model.named_modules()]
    together = [module for name, module in named if name == "embeddings"]
    # mBART has its embeddings, and the norm after them, one by one.
    return together or [
        module for name, module in named if isinstance(module, nn.Embedding) or name == "layernorm_embedding"
    ]
