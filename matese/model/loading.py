"""Load any model into torch, for training or prediction, from our format or as released; and save it in ours."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from matese.errors import ModelError
from matese.model.config import ModelConfig
from matese.model.encoder.loading import load_encoder, plain_config
from matese.model.encoder.roberta import Roberta
from matese.model.encoder.roberta_config import is_roberta
from matese.model.engines.batch_engine import BatchEngine
from matese.model.engines.engine import Engine, Hardware
from matese.model.engines.hardware import choose_batch_tokens
from matese.model.engines.runners import TorchRunner, prepare
from matese.model.inputs import collate
from matese.model.network import Network
from matese.model.released import comet_checkpoint, metricx, original_matese
from matese.model.released.metricx import MetricX
from matese.model.storage import checkpoint, model_card, packing
from matese.model.storage.checkpoint import Checkpoint, StoredConfig, StoredModel
from matese.model.storage.packing import StoredPrecision
from matese.model.storage.weights import NoRandomWeights, assign_all, distinct
from matese.model.texts import tokenizer as tokenizers
from matese.model.texts.encoding import Encoding, TextEncoder
from matese.model.texts.tokenizer import FileTokenizer
from matese.model.training_data import UNKNOWN, TrainingData

if TYPE_CHECKING:
    from matese.model.texts.tokenizer import Tokenizer

AnyNetwork = Network | MetricX


def load_engine(directory: Path, hardware: Hardware) -> tuple[Engine, TextEncoder, ModelConfig]:
    """Returns the engine of a model in torch, with its text encoder and settings.

    Args:
        directory: of the model, as for `load`.
        hardware: device and precision.

    Raises:
        ModelError: if it cannot be loaded.
        UsageError: if the device or precision is unknown or not available on this machine.
    """
    place, precision = prepare(hardware)
    network, tokenizer = _load(directory, _read(directory))
    runner = TorchRunner(network.to(place), precision)
    batch_tokens = hardware.batch_tokens or choose_batch_tokens(place, network.width)
    text_encoder = network.text_encoder(tokenizer)
    engine = BatchEngine(
        runner,
        pad_id=text_encoder.pad_id,
        batch_tokens=batch_tokens,
        precision=precision,
        is_async=place.type == "cuda",
    )
    return engine, text_encoder, network.config


def load_tagger(directory: Path, *, is_trainable: bool = False) -> tuple[Network, Tokenizer]:
    """Returns a tagger in float32 and its tokenizer, as `load` does.

    Raises:
        ModelError: also if the model is of another kind.
    """
    network, tokenizer = load(directory, is_trainable=is_trainable)
    if not isinstance(network, Network) or network.config.heads.tags is None:
        raise ModelError(f"{directory} is a {network.config.architecture} model: must be a tagger")
    return network, tokenizer


def load(directory: Path, *, is_trainable: bool = False) -> tuple[AnyNetwork, Tokenizer]:
    """Returns a model in float32 and its tokenizer.

    Args:
        directory: a model directory, or a model of COMET, MetricX or the authors of MaTESe as released.
        is_trainable: load the encoder and the tokenizer of transformers, to train, change or save it. Otherwise
            transformers is imported only for encoders that this package does not implement.

    Raises:
        ModelError: if the directory holds no model, or is incomplete, corrupt or of another format version.
    """
    return _load(directory, _read(directory), is_trainable=is_trainable)


def convert(source: Path, target: Path, *, name: str) -> None:
    """Writes a released model of another program as a model directory, which loads faster and holds all that is needed.

    Args:
        source: directory of the released model.
        target: the new directory.
        name: of the released model, for the card.

    Raises:
        ModelError: if the model is incomplete or corrupt, or one of ours.
        OSError: if it cannot be written.
    """
    if checkpoint.is_ours(source):
        raise ModelError(f"{source} is a model of matese already; give a released model of another program")
    stored = _read(source)
    network, tokenizer = _load(source, stored)
    config = stored.config
    card = model_card.of_converted(
        name, source, config.texts.inputs, config.architecture, str(stored.encoder["model_type"])
    )
    save(target, network, tokenizer, card=card, encoder=stored.encoder)


def _load(directory: Path, stored: StoredModel, *, is_trainable: bool = False) -> tuple[AnyNetwork, Tokenizer]:
    if is_trainable and stored.is_released:
        raise ModelError(f"{directory} is a released model; convert it first with matese export")
    with checkpoint.raising_model_errors(f"{directory}: settings and tensors do not make a model"):
        network = _build(stored, is_trainable=is_trainable)
        network.eval()
        if isinstance(network, Network) and not isinstance(network.encoder, Roberta):
            _probe(network)
    place = directory if isinstance(stored.tokenizer, FileTokenizer) else stored.tokenizer
    with checkpoint.raising_model_errors(f"{place} has no usable tokenizer", "; must contain a tokenizer's files"):
        tokenizer = _tokenizer(stored, is_trainable=is_trainable)
        network.text_encoder(tokenizer)
    return network, tokenizer


def _read(directory: Path) -> StoredModel:
    """Returns what a directory holds."""
    if checkpoint.is_ours(directory):
        stored = checkpoint.load(directory)
        config = stored.config
        with checkpoint.raising_model_errors(f"{directory / checkpoint.TENSORS} cannot be unpacked"):
            tensors = packing.unpack(stored.tensors)
        return StoredModel(config.model, config.encoder, tensors, directory, is_released=False)
    if (path := original_matese.find(directory)) is not None:
        return original_matese.read(path)
    if checkpoint.is_metricx(directory):
        return metricx.read(directory)
    if not checkpoint.is_comet(directory):
        ours = f"{checkpoint.CONFIG}, {checkpoint.TENSORS} and a tokenizer"
        theirs = f"{' and '.join(checkpoint.RELEASED)} (COMET, PEAR), or an mT5 (MetricX)"
        raise ModelError(
            f"{directory} has no {checkpoint.CONFIG}: a model directory must hold {ours}; a released model {theirs}"
        )
    return comet_checkpoint.read(directory)


def _build(stored: StoredModel, *, is_trainable: bool) -> AnyNetwork:
    """Returns the network with the stored weights."""
    config = stored.config
    # BERT in this package lacks token types.
    is_own = is_roberta(stored.encoder, with_bert=not config.texts.has_token_types)
    if is_trainable and not config.texts.separate_layers:
        is_own = False
    with NoRandomWeights():
        encoder: Any = Roberta(stored.encoder) if is_own else load_encoder(stored.encoder)
        if config.texts.row_format == "special-tokens":
            network: AnyNetwork = Network(config, encoder, _extra_width(stored.tensors))
        else:
            # Input and output share the embeddings only if it is said, unlike in mT5's defaults.
            network = MetricX(config, encoder, is_tied=bool(stored.encoder.get("tie_word_embeddings", False)))
    assign_all({name: tensor.float() for name, tensor in stored.tensors.items()}, network)
    return network


def _tokenizer(stored: StoredModel, *, is_trainable: bool) -> Tokenizer:
    if isinstance(stored.tokenizer, FileTokenizer):
        return stored.tokenizer
    tokenizer = None
    if not is_trainable:
        tokenizer = tokenizers.read(stored.tokenizer)  # as we write it
    if tokenizer is None and (stored.is_released or stored.config.heads.tags is None):
        tokenizer = tokenizers.read_released(stored.tokenizer, str(stored.encoder["model_type"]))
    return tokenizer or tokenizers.load_tokenizer(stored.tokenizer)


@torch.inference_mode()
def _probe(network: Network) -> None:
    """Computes one token: transformers reports some configuration errors only then."""
    token = np.zeros(1, np.int32)
    ranges = np.zeros((1, 2), np.int32)
    encoding = Encoding(token, token, token if network.has_decoder else None, 0, ranges, (0, 1))
    network(collate([encoding], pad_id=0))


def _extra_width(tensors: Mapping[str, Tensor]) -> int | None:
    """Returns the inner width of the extra layers, from their tensors; None without extra layers."""
    first = tensors.get("extra_layers.0.linear1.weight")
    return None if first is None else len(first)


def save(
    directory: str | Path,
    network: AnyNetwork,
    tokenizer: Tokenizer,
    *,
    card: str = "",
    training: Mapping[str, object] | None = None,
    precision: StoredPrecision = "float32",
    encoder: dict[str, Any] | None = None,
    training_data: TrainingData = UNKNOWN,
) -> None:
    """Writes a model directory.

    Args:
        directory: the new directory; an existing one is replaced.
        network: the model.
        tokenizer: its tokenizer.
        card: the model card.
        training: resolved settings of the run that trained the model.
        precision: how weights are stored, see `packing.pack`.
        encoder: configuration of the encoder, as transformers writes it; None for that of the loaded encoder.
        training_data: what the model has learned from.

    Raises:
        OSError: if it cannot be written.
    """
    tensors = packing.pack({name: tensor.detach().cpu() for name, tensor in distinct(network).items()}, precision)
    config = StoredConfig(
        model=network.config,
        encoder=plain_config(network.encoder) if encoder is None else encoder,
        training=None if training is None else dict(training),
    )
    checkpoint.save(Path(directory), Checkpoint(config, tensors, training_data), tokenizer, card=card)
