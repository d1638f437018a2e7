"""Load regression models, from our format or as released."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor

from matese.errors import ModelError
from matese.model.encoder.loading import load_encoder
from matese.model.encoder.roberta import Roberta
from matese.model.encoder.roberta_config import is_roberta
from matese.model.engines.batch_engine import BatchEngine
from matese.model.engines.engine import Hardware
from matese.model.engines.hardware import choose_batch_tokens
from matese.model.engines.runners import TorchRunner, prepare
from matese.model.predictor import Predictor
from matese.model.regression.config import RegressionConfig
from matese.model.regression.interpreter import RegressionInterpreter, RegressionPrediction, Row, window_outputs
from matese.model.regression.network import Regressor, RegressorOutput, from_comet
from matese.model.released import comet_checkpoint, metricx
from matese.model.released.foreign_checkpoint import read_config
from matese.model.released.metricx import MetricX
from matese.model.storage import checkpoint, model_card, packing
from matese.model.storage.checkpoint import Checkpoint, ModelConfig
from matese.model.storage.packing import StoredPrecision
from matese.model.storage.weights import NoRandomWeights, assign_all, distinct
from matese.model.texts import tokenizer as tokenizers

if TYPE_CHECKING:
    from matese.model.texts.tokenizer import Tokenizer

KIND = "regression"


@dataclass(frozen=True, slots=True)
class Loaded:
    """A loaded regression model.

    Attributes:
        model: the model, in float32.
        tokenizer: tokenizer of its encoder.
        encoder: configuration of the encoder, as transformers writes it.
    """

    model: Regressor | MetricX
    tokenizer: Tokenizer
    encoder: dict[str, Any]


def load_predictor(directory: Path, hardware: Hardware) -> Predictor[Row, RegressionPrediction]:
    """Returns a model that is ready to predict.

    Raises:
        ModelError: if it cannot be loaded.
        UsageError: if the device or precision is unknown or not available on this machine.
    """
    place, precision = prepare(hardware)
    loaded = load(directory)
    model = loaded.model.to(place)
    text_encoder = loaded.model.text_encoder(loaded.tokenizer)
    runner: TorchRunner[RegressorOutput] = TorchRunner(model, precision)
    batch_tokens = hardware.batch_tokens or choose_batch_tokens(place, model.width)
    engine = BatchEngine(runner, window_outputs, pad_id=text_encoder.pad_id, batch_tokens=batch_tokens)
    return Predictor(RegressionInterpreter(model), engine, text_encoder)


def load(directory: Path) -> Loaded:
    """Returns a model in our format or as released.

    Raises:
        ModelError: if the directory is neither, or is incomplete, corrupt or inconsistent.
    """
    if checkpoint.kind(directory) is not None:
        stored = checkpoint.load(directory, kind=KIND)
        config = checkpoint.convert(stored.config.settings, RegressionConfig, directory / checkpoint.CONFIG)
        tensors = packing.unpack(stored.tensors)
        return _build(directory, config, stored.config.encoder, tensors, directory)
    if checkpoint.is_metricx(directory):
        config = metricx.read_config(directory)
        tensors = metricx.read_tensors(directory)
        return _build(directory, config, read_config(directory), tensors, metricx.tokenizer_directory(directory))
    if not (directory / checkpoint.RELEASED[0]).is_file():
        ours = f"{checkpoint.CONFIG}, {checkpoint.TENSORS} and a tokenizer"
        theirs = f"{' and '.join(checkpoint.RELEASED)} (COMET), or an mT5 (MetricX)"
        raise ModelError(
            f"{directory} has no {checkpoint.CONFIG}: a model directory must hold {ours}; a released model {theirs}"
        )
    comet = comet_checkpoint.read(directory)
    return _build(directory, comet.config, comet.encoder, from_comet(comet.tensors), comet.tokenizer)


def _build(
    directory: Path,
    config: RegressionConfig,
    encoder: dict[str, Any],
    tensors: Mapping[str, Tensor],
    tokenizer_directory: Path,
) -> Loaded:
    with checkpoint.raising_model_errors(f"{directory}: settings and tensors do not make a model"):
        with NoRandomWeights():
            built_encoder = Roberta(encoder) if is_roberta(encoder) else load_encoder(encoder)
            is_metricx = config.architecture.startswith("metricx")
            is_tied = bool(encoder.get("tie_word_embeddings", False))  # not by default, as in mT5
            model = MetricX(config, built_encoder, is_tied=is_tied) if is_metricx else Regressor(config, built_encoder)
        assign_all({name: tensor.float() for name, tensor in tensors.items()}, model)
    with checkpoint.raising_model_errors(
        f"{tokenizer_directory} has no usable tokenizer", "; must contain a tokenizer's files"
    ):
        tokenizer = (
            tokenizers.read(tokenizer_directory)  # as we write it
            or tokenizers.read_released(tokenizer_directory, str(encoder["model_type"]))
            or tokenizers.load_tokenizer(tokenizer_directory)
        )
        model.text_encoder(tokenizer)
    return Loaded(model.eval(), tokenizer, encoder)


def save(
    directory: Path,
    loaded: Loaded,
    *,
    card: str,
    training: Mapping[str, object] | None = None,
    precision: StoredPrecision = "float32",
) -> None:
    """Writes a model directory; `packing.pack` describes how a precision is stored.

    Raises:
        OSError: if it cannot be written.
    """
    settings = dataclasses.asdict(loaded.model.config)
    settings["severities"] = [severity.value for severity in loaded.model.config.severities]
    config = ModelConfig(
        kind=KIND,
        format_version=checkpoint.FORMAT_VERSION,
        settings=settings,
        encoder=loaded.encoder,
        training=None if training is None else dict(training),
    )
    tensors = {name: tensor.detach().cpu() for name, tensor in distinct(loaded.model).items()}
    checkpoint.save(directory, Checkpoint(config, packing.pack(tensors, precision)), loaded.tokenizer, card=card)


def convert(source: Path, target: Path, *, name: str) -> None:
    """Writes a released model as a model directory of our format, which loads faster and is self-contained.

    Raises:
        ModelError: as `load`, or if the model already has our format.
        OSError: if it cannot be written.
    """
    loaded = load(source)
    config = loaded.model.config
    encoder = str(loaded.encoder["model_type"])
    save(target, loaded, card=model_card.of_converted(name, source, config.inputs, config.architecture, encoder))
