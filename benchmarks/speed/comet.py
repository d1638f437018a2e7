"""COMET, in its own environment, with random weights in its own layers.

`model` is "regression:DIRECTORY" or "unified:DIRECTORY", the directory of an encoder, or "checkpoint:DIRECTORY", a
model that this module has written: `python -m benchmarks.speed.comet KIND ENCODER OUTPUT`. RegressionMetric is the
architecture of COMET-22, UnifiedMetric with word-level tags that of xCOMET.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

from benchmarks.speed import texts
from benchmarks.speed.worker import Prepared

_BATCH = 32


def prepare(entry: dict[str, Any]) -> Prepared:
    """Builds the model as its YAML files do, without a checkpoint, or loads one."""
    warnings.simplefilter("ignore")
    import torch
    from comet.models import load_from_checkpoint  # type: ignore[import-not-found]

    torch.set_num_threads(entry["threads"])
    kind, directory = entry["model"].split(":", 1)
    if kind == "checkpoint":
        model = load_from_checkpoint(str(Path(directory) / "checkpoints" / "model.ckpt"), local_files_only=True)
    else:
        model = build(kind, Path(directory))
    model.eval()
    if not hasattr(model, "word_outputs"):
        model.set_embedding_cache()  # as `comet-score` does

    def run(limit: int | None) -> None:
        given = list(texts.read(entry["texts"], limit))
        samples = [{"src": one["source"], "mt": one["hypothesis"], "ref": one["reference"]} for one in given]
        is_cuda = entry["device"].startswith("cuda")
        # `comet-score` predicts each system alone, so that the cached batches of sources and references are the same.
        n_sources = len({(one["src"], one["ref"]) for one in samples})
        for start in range(0, len(samples), n_sources):
            own = samples[start : start + n_sources]
            model.predict(own, batch_size=_BATCH, gpus=int(is_cuda), progress_bar=False, num_workers=0)

    return Prepared(run, sum(1 for _ in texts.read(entry["texts"])))


def build(kind: str, encoder: Path) -> Any:  # noqa: ANN401  (a class of COMET)
    """Returns a model on an encoder.

    Args:
        kind: "regression" or "unified".
        encoder: its directory.
    """
    from comet.models import RegressionMetric, UnifiedMetric

    config = json.loads((encoder / "config.json").read_text(encoding="utf-8"))
    width, n_layers = config["hidden_size"], config["num_hidden_layers"]
    shared: dict[str, Any] = {
        "encoder_model": "XLM-RoBERTa",
        "pretrained_model": str(encoder),
        "hidden_sizes": [3 * width, width],
        "layer_transformation": "softmax",
        "load_pretrained_weights": True,
        "local_files_only": True,
    }
    if kind == "regression":
        return RegressionMetric(**shared)
    return UnifiedMetric(
        **shared,
        input_segments=["mt", "src", "ref"],
        word_level_training=True,
        word_layer=n_layers,
        loss_lambda=0.5,
    )


def save(kind: str, encoder: Path, output: Path) -> None:
    """Writes a model on an encoder as COMET does: `hparams.yaml` and `checkpoints/model.ckpt`."""
    import torch
    import yaml
    from pytorch_lightning import Trainer

    torch.manual_seed(1)
    model = build(kind, encoder)
    (output / "checkpoints").mkdir(parents=True)
    trainer = Trainer(logger=False, enable_checkpointing=False, accelerator="cpu")
    trainer.strategy.connect(model)
    trainer.save_checkpoint(output / "checkpoints" / "model.ckpt", weights_only=True)
    hparams = {**dict(model.hparams), "class_identifier": f"{kind}_metric"}
    (output / "hparams.yaml").write_text(yaml.safe_dump(hparams), encoding="utf-8")


if __name__ == "__main__":
    save(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
