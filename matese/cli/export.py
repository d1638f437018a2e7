"""`matese export`: a model for ONNX Runtime."""

from __future__ import annotations

import argparse
from pathlib import Path

from matese.cli import interrupts, model
from matese.cli.errors import UsageError
from matese.formats import extras

_EPILOG = """examples:
  matese export mini --output mini-onnx
  matese tag --model mini-onnx --ref ref.txt --hyp mt.txt

What is written is a model directory that tag and score take as any other; ONNX Runtime runs it, on the CPU and in
float32. Models on encoders of the types roberta and xlm-roberta can be exported. Needs pip install 'matese[onnx]'.
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser(
        "export",
        help="write a model for ONNX Runtime",
        description="Writes a copy of a model that ONNX Runtime runs.",
        epilog=_EPILOG,
    )
    parser.add_argument("model", metavar="MODEL", help="a model directory, an embedded model or a hub id")
    parser.add_argument("--output", required=True, metavar="DIR", help="where to write the new model")


def run(args: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    from matese.encoder import checkpoint

    output = Path(args.output)
    is_model = (output / checkpoint.CONFIG).is_file()
    if output.exists() and not is_model and (output.is_file() or any(output.iterdir())):
        raise UsageError(f"--output {output}: must be new, empty or a model directory")
    directory = checkpoint.resolve(args.model)
    if output.resolve() == directory.resolve():
        raise UsageError(f"--output {output} is the model itself: must be another directory")
    for package in ("onnx", "onnxruntime", "onnxscript"):
        extras.check("matese export", package, extra="onnx")
    with interrupts.deferred():
        from matese.tagger import exported
    with model.quiet():
        exported.export(directory, output)
    print(f"model\t{output}")
    return 0
