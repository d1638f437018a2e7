"""`matese models`: which models are in the package, what they read, their sizes, licences and figures."""

from __future__ import annotations

import argparse
import json
import math
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from matese.cli import output

_EPILOG = """Without MODEL, the models of the package; with one (a name, a directory or a hub id), its card.

examples:
  matese models
  matese models mini
"""


@dataclass(frozen=True, slots=True)
class Model:
    """What is told of a model.

    Attributes:
        name: by which `--model` takes it.
        signature: what stands for it in signatures.
        inputs: what it may be given beside the hypothesis.
        parameters: numbers in its tensors.
        megabytes: of all its files.
        licence: as its card has it; None where it does not say.
        figures: rows of the card's first table of figures: input and figures by name.
    """

    name: str
    signature: str
    inputs: tuple[str, ...]
    parameters: int
    megabytes: float
    licence: str | None
    figures: tuple[dict[str, str], ...]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser(
        "models",
        help="list the models of the package",
        description="Lists the models that are part of the package, or shows the card of one.",
        epilog=_EPILOG,
    )
    parser.add_argument("model", nargs="?", metavar="MODEL", help="show the card of this model")
    parser.add_argument("--json", action="store_true", help="the list as one JSON object")


def run(args: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    from matese.encoder import checkpoint

    with output.opened(None) as results:
        if args.model is not None:
            directory = checkpoint.resolve(args.model)
            results.write(_card(directory) or f"{args.model} has no model card\n")
        else:
            found = [describe(name, checkpoint.resolve(name)) for name in checkpoint.embedded()]
            whole = {"models": [asdict(model) for model in found]}
            results.write(json.dumps(whole, indent=2) + "\n" if args.json else "\n".join(map(_block, found)))
    return 0


def describe(name: str, directory: Path) -> Model:
    """Returns what is told of a model, read from its directory; nothing heavy is loaded."""
    from matese.encoder import checkpoint

    settings = json.loads((directory / checkpoint.CONFIG).read_text(encoding="utf-8"))["settings"]
    card = _card(directory)
    licence = re.search(r"^\| Licence \| (.+?) \|$", card, re.MULTILINE)
    return Model(
        name=name,
        signature=f"{name}@{checkpoint.fingerprint(directory)}",
        inputs=tuple(settings["inputs"]),
        parameters=_n_parameters(directory / checkpoint.TENSORS),
        megabytes=round(sum(path.stat().st_size for path in directory.rglob("*") if path.is_file()) / 1e6, 1),
        licence=licence[1] if licence else None,
        figures=tuple(_figures(card)),
    )


def _card(directory: Path) -> str:
    """Returns the card without its comments, which a reader of Markdown does not see."""
    from matese.encoder import checkpoint

    path = directory / checkpoint.CARD
    return re.sub(r"<!--.*?-->\n\n?", "", path.read_text(encoding="utf-8")) if path.is_file() else ""


def _n_parameters(path: Path) -> int:
    """Returns how many numbers a safetensors file holds, by its header alone: 8 bytes of length, then JSON."""
    from matese.encoder.storage import SCALES

    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    others = ("__metadata__", SCALES)
    shapes = (entry["shape"] for name, entry in header.items() if not name.endswith(others))
    return sum(math.prod(shape) for shape in shapes)


def _figures(card: str) -> list[dict[str, str]]:
    """Returns the rows of the first table after the heading "Figures", by the names of its columns."""
    lines = iter(card.partition("\n## Figures\n")[2].splitlines())
    header = next((_cells(line) for line in lines if line.startswith("| ")), [])
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        if not set(line) <= set("|-: "):
            rows.append(dict(zip(header, _cells(line), strict=False)))
    return rows


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("| ").split("|")]


def _block(model: Model) -> str:
    lines = [
        model.name,
        f"  reads       {' or '.join(model.inputs)}",
        f"  size        {model.parameters / 1e6:.1f} million parameters, {model.megabytes} MB",
        f"  licence     {model.licence or 'not stated'}",
        f"  signature   {model.signature}",
    ]
    for number, row in enumerate(model.figures):
        (_, name), *others = row.items()
        figures = ", ".join(f"{key} {value}" for key, value in others)
        lines.append(f"  {'' if number else 'figures':<12}{name}: {figures}")
    return "\n".join(
        [*lines, f"  `matese models {model.name}` shows its card, which says on what these were measured", ""]
    )
