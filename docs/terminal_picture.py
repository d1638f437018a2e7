"""Draws docs/terminal.svg, what `matese tag` prints for four example segments: `python -m docs.terminal_picture`."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

import matese
from matese import Segment, SegmentKey
from matese.files import read_lines
from matese.render import terminal

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "terminal.svg"
COMMAND = "matese tag --ref examples/ref.txt --hyp examples/mt.txt"
LINES = (1, 3, 7, 12)
"""The lines of the example files to show, numbered from 1."""
WIDTH = 84
"""Width of the picture in columns."""


def draw() -> str:
    """Returns the picture as SVG.

    The model computes in float32, so that the figures do not depend on whether the processor supports bf16.
    """
    hypotheses, references = (list(read_lines(ROOT / "examples" / name)) for name in ("mt.txt", "ref.txt"))
    segments = [
        Segment(hypotheses[i], references=(references[i],), key=SegmentKey(system="mt", index=i), name=f"line {i + 1}")
        for i in (line - 1 for line in LINES)
    ]
    console = Console(
        record=True,
        width=WIDTH,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        no_color=False,  # NO_COLOR in the environment must not change the picture
    )
    console.print(Text(f"$ {COMMAND}", style="bold"))
    for rating in matese.load("mini", precision="float32").annotate_segments(segments):
        console.print()
        console.print(terminal.draw(rating, width=WIDTH), end="")
    return to_svg(console, "matese tag")


def to_svg(console: Console, title: str) -> str:
    """Returns what a console has recorded."""
    svg = console.export_svg(title=title, theme=DIMMED_MONOKAI, unique_id="matese")
    # rich's template loads its font from a server; without it the viewer's own monospaced font is used.
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    return re.sub(r"[ \t]+$", "", svg, flags=re.MULTILINE)


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
