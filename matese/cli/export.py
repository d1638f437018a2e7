"""`matese export`: a copy of a model for ONNX Runtime."""

from __future__ import annotations

import argparse

from matese import cli
from matese.cli import model, output
from matese.errors import UsageError
from matese.formats import optional_packages

SUMMARY = "write a copy of a model that ONNX Runtime runs"
EPILOG = """examples:
  matese export mini --output mini-onnx
  matese tag --model mini-onnx --ref ref.txt --hyp mt.txt

The new model directory works with tag and score like any other. ONNX Runtime runs it on the CPU, in float32. Models
with an encoder of the type roberta or xlm-roberta can be exported. Needs pip install 'matese[onnx]'.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.add_argument("model", metavar="MODEL", help="a model directory, an embedded model or a hub id")
    parser.add_argument("--output", required=True, metavar="DIR", help="directory of the new model")


def run(args: argparse.Namespace) -> None:
    """Runs the command."""
    from matese.encoder import checkpoint

    target = output.model_directory(args.output)
    directory = checkpoint.resolve(args.model)
    if target.resolve() == directory.resolve():
        raise UsageError(f"--output {target} is the model itself: must be another directory")
    for package in ("onnx", "onnxruntime", "onnxscript"):
        optional_packages.check("matese export", package, extra="onnx")
    with cli.deferring_ctrl_c():
        from matese.tagger import onnx_export
    with model.quiet():
        onnx_export.export(directory, target)
    print(f"model\t{target}")
