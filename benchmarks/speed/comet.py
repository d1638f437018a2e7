"""COMET: its virtual environment, whose requirements conflict with ours, and its models with random weights.

`python -m benchmarks.speed.comet KIND ENCODER OUTPUT`, run in that environment, writes a model. RegressionMetric is the
architecture of COMET-22, UnifiedMetric with word-level tags that of xCOMET.
"""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path
from typing import Any

REQUIREMENTS = ("unbabel-comet==2.2.7", "numpy<2", "transformers<5", "setuptools<81", "sentencepiece==0.2.0")
DIRECTORY = Path(".venv-comet")
HELP = "virtual environment of COMET, created if missing; default: %(default)s"
_STAMP = ".installed"


def python_of(directory: Path) -> Path:
    """Returns the interpreter of an environment."""
    return directory.absolute() / "bin" / "python"


def install(directory: Path) -> None:
    """Creates an environment with COMET and our version of torch, unless it exists.

    Raises:
        CalledProcessError: if the installation fails.
    """
    wanted = [*REQUIREMENTS, f"torch=={metadata.version('torch').partition('+')[0]}"]
    stamp = directory / _STAMP
    if not stamp.exists() or stamp.read_text(encoding="utf-8").split() != wanted:
        print(f"installing {wanted[0]} in {directory}", file=sys.stderr)
        venv.create(directory, clear=True, with_pip=True)
        pip = [str(python_of(directory)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *wanted], check=True)
        stamp.write_text("\n".join(wanted), encoding="utf-8")


def build(kind: str, encoder: Path) -> Any:  # noqa: ANN401  (a class of COMET)
    """Returns a model, "regression" or "unified", on the encoder in a directory."""
    from comet.models import RegressionMetric, UnifiedMetric  # type: ignore[import-not-found]

    config = json.loads((encoder / "config.json").read_text(encoding="utf-8"))
    width = config["hidden_size"]
    n_layers = config["num_hidden_layers"]
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
    words = {"word_level_training": True, "word_layer": n_layers, "loss_lambda": 0.5}
    return UnifiedMetric(**shared, input_segments=["mt", "src", "ref"], **words)


def save(kind: str, encoder: Path, output: Path) -> None:
    """Writes a model as COMET does: `hparams.yaml` and `checkpoints/model.ckpt`."""
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
