"""Describe a model directory: inputs, size, licence and figures, without loading the model."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matese.model.storage import checkpoint
from matese.model.storage.packing import SCALES


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """Facts about a model.

    Attributes:
        name: the value of `--model`.
        signature: the model's name in signatures.
        inputs: what the model reads besides the hypothesis.
        parameters: number of parameters.
        megabytes: size of all files.
        licence: licence in the model card; None if the card states none.
        figures: rows of the first table of figures in the card, by column.
    """

    name: str
    signature: str
    inputs: tuple[str, ...]
    parameters: int
    megabytes: float
    licence: str | None
    figures: tuple[dict[str, str], ...]


def describe(name: str, directory: Path) -> ModelDescription:
    """Returns the facts about a model."""
    texts = checkpoint.read_config(directory).model.texts
    return ModelDescription(
        name=name,
        signature=f"{name}@{checkpoint.fingerprint(directory)}",
        inputs=texts.inputs,
        parameters=_n_parameters(directory / checkpoint.TENSORS),
        megabytes=round(sum(path.stat().st_size for path in directory.rglob("*") if path.is_file()) / 1e6, 1),
        licence=licence(directory),
        figures=tuple(_figures(card(directory))),
    )


def text(model: ModelDescription) -> str:
    """Returns the facts about a model as text."""
    lines = [
        model.name,
        f"  reads       {' or '.join(model.inputs)}",
        f"  size        {model.parameters / 1e6:.1f} million parameters, {model.megabytes} MB",
        f"  licence     {model.licence or 'not stated'}",
        f"  signature   {model.signature}",
    ]
    # Only the rows of the first test set, with the systems that they are compared with.
    tests = [next(iter(row.values())) for row in model.figures]
    for number, row in enumerate(model.figures[: tests.count(tests[0])] if tests else ()):
        _, (_, name), *columns = row.items()
        figures = ", ".join(f"{key} {value}" for key, value in columns if value)
        lines.append(f"  {'' if number else 'figures':<12}{name}: {figures}")
    lines.append(f"  Run `matese info {model.name}` for the model card, which describes the test sets.")
    return "\n".join([*lines, ""])


def card(directory: Path) -> str:
    """Returns the model card without its Markdown comments; "" if there is none."""
    return re.sub(r"<!--.*?-->\n\n?", "", checkpoint.read_card(directory))


def of_converted(name: str, directory: Path, inputs: Sequence[str], architecture: str, encoder: str) -> str:
    """Returns the card of a converted model, whose own card in its directory may state the licence."""
    stated = licence(directory) or "not stated by its authors"
    facts = {"Reads": " or ".join(inputs), "Architecture": architecture, "Encoder": encoder, "Licence": stated}
    rows = "".join(f"| {label} | {value} |\n" for label, value in facts.items())
    note = "Converted by `matese export`; the weights are unchanged."
    return f"---\nlicense: {stated}\n---\n\n# {name}\n\n{note}\n\n| | |\n|---|---|\n{rows}"


def licence(directory: Path) -> str | None:
    """Returns the licence in a model card or in its front matter for the hub; None without one."""
    text = card(directory)
    stated = re.search(r"^\| Licence \| (.+?) \|$", text, re.MULTILINE)
    front = re.match(r"---\n(.*?)\n---", text, re.DOTALL)
    stated = stated or (re.search(r"^license: *(.+?) *$", front[1], re.MULTILINE) if front else None)
    return stated[1] if stated else None


def _n_parameters(path: Path) -> int:
    """Returns the number of parameters in a safetensors file, from its header: 8 bytes of length, then JSON."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    not_weights = ("__metadata__", SCALES)
    tensors = (entry for name, entry in header.items() if not name.endswith(not_weights))
    # A byte stores two 4-bit numbers.
    return sum(math.prod(tensor["shape"]) * (2 if tensor["dtype"] == "U8" else 1) for tensor in tensors)


def _figures(text: str) -> list[dict[str, str]]:
    """Returns the rows of the first table below the heading "Figures", by the names of its columns."""
    lines = iter(text.partition("\n## Figures\n")[2].splitlines())
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
