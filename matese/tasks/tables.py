"""How the figures of a report are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from matese.tasks.texts import require
from matese.validation.options import File, Options

if TYPE_CHECKING:
    from matese.render.tables import Look


@dataclass(frozen=True, kw_only=True)
class Tables(Options):
    """How figures are written.

    Attributes:
        markdown: write the tables in Markdown.
        latex: write the tables in LaTeX, with the rules of booktabs.
        json: write all figures as one object; - is standard output.
    """

    markdown: bool = False
    latex: bool = False
    json: File | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require(not (self.markdown and self.latex), "--markdown and --latex are both given; give one of them")

    @property
    def look(self) -> Look:
        """What the tables look like."""
        return "markdown" if self.markdown else "latex" if self.latex else "text"


@dataclass(frozen=True, kw_only=True)
class Report(Tables):
    """How a report is written, which begins with what matters.

    Attributes:
        all: show all figures; without it, what they say in sentences, the main figures, and what was asked for.
    """

    all: bool = False
