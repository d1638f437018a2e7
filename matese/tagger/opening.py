"""From a model directory to what runs it, on the device and with the batches that suit the machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from matese.encoder import checkpoint
from matese.encoder.checkpoint import ModelError
from matese.encoder.hardware import choose_batch_tokens, choose_device, choose_precision
from matese.tagger import engine
from matese.tagger.config import TaggerConfig
from matese.tagger.engine import TorchEngine
from matese.tagger.predictor import Engine, Predictor


@dataclass(frozen=True, slots=True)
class Opened:
    """A model that is ready to run, its settings, and the precision that was chosen."""

    predictor: Predictor
    config: TaggerConfig
    precision: str


def open_model(directory: Path, *, device: str, precision: str, batch_tokens: int | None) -> Opened:
    """Returns a model on its device: in torch, or in ONNX Runtime where it was exported for that.

    Args:
        directory: of the model.
        device: "auto" or a name that torch knows.
        precision: "auto", "bf16" or "float32".
        batch_tokens: padded tokens of a batch at most; None for what suits the machine.

    Raises:
        ModelError: if it cannot be loaded, or was exported and the device or the precision is another than it has.
        ValueError: if the device or the precision is unknown or not on this machine.
    """
    is_exported = checkpoint.is_exported(directory)
    place = choose_device("cpu" if is_exported and device == "auto" else device)
    chosen = choose_precision("float32" if is_exported and precision == "auto" else precision, place)
    if is_exported and (place.type, chosen) != ("cpu", "float32"):
        raise ModelError(f"{directory} was exported for ONNX Runtime: device and precision must be cpu and float32")
    tagger, tokenizer = engine.load(directory)
    runs: Engine
    if is_exported:
        from matese.tagger.exported import OnnxEngine

        runs = OnnxEngine(directory / checkpoint.GRAPH)
    else:
        runs = TorchEngine(tagger.to(place), chosen)
    predictor = Predictor(
        runs,
        tagger.text_encoder(tokenizer),
        batch_tokens=batch_tokens or choose_batch_tokens(place, tagger.width),
        has_lexical_match=tagger.config.lexical_match,
    )
    return Opened(predictor, tagger.config, chosen)
