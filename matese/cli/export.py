"""`matese export`: a model as a directory of ours, or for ONNX Runtime."""

from __future__ import annotations

import argparse

from matese import cli
from matese.cli import model
from matese.errors import UsageError, check_installed

SUMMARY = "write a released model of COMET, MetricX or MaTESe as a model directory, or any model for ONNX Runtime"
EPILOG = """A model directory holds the weights as safetensors, the encoder's configuration, the tokenizer and a card
with the licence. It loads faster than a released model, and without a network. docs/released-models.md lists the
models that can be converted.

With --onnx, ONNX Runtime runs the new model on the CPU, in float32. It works with tag and score like any other.
Encoders of the types roberta and xlm-roberta can be exported. Needs pip install 'matese[onnx]'.

examples:
  matese export Unbabel/wmt22-comet-da --output comet-22
  matese export mini --onnx --output mini-onnx
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    model.add_new_model(parser)
    parser.add_argument("--onnx", action="store_true", help="write a model for ONNX Runtime")


def run(args: argparse.Namespace) -> None:
    from matese.encoder import checkpoint

    directory, target = model.source_and_target(args)
    if not args.onnx and checkpoint.kind(directory) is not None:
        raise UsageError(f"{args.model} is a model of matese already; give --onnx to write it for ONNX Runtime")
    if args.onnx:
        for package in ("onnx", "onnxruntime", "onnxscript"):
            check_installed("matese export --onnx", package, extra="onnx")
        with cli.deferring_ctrl_c():
            from matese.tagger import onnx_export
        with model.quiet():
            onnx_export.export(directory, target)
    else:
        with cli.deferring_ctrl_c():
            from matese import conversion
        with model.quiet():
            conversion.convert(directory, target, name=args.model)
        model.say_licences([args.model])
    print(f"model\t{target}")
