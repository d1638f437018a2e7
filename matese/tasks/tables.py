"""How the figures of a report are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from matese.tasks.request import Checked, option
from matese.tasks.texts import require
from matese.tasks.values import File

if TYPE_CHECKING:
    from matese.render.tables import Look


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JsonFigures(Checked):
    """Figures that programs read, too.

    Attributes:
        json: write all figures as one object; - is standard output.
    """

    json: str | None = option(None, File())


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Tables(JsonFigures):
    """How tables are written.

    Attributes:
        markdown: write the tables in Markdown.
        latex: write the tables in LaTeX, with the rules of booktabs.
    """

    markdown: bool = False
    latex: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        require(not (self.markdown and self.latex), "--markdown and --latex are both given; give one of them")

    @property
    def look(self) -> Look:
        """What the tables look like."""
        return "markdown" if self.markdown else "latex" if self.latex else "text"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Report(Tables):
    """A report that begins with what matters.

    Attributes:
        all: show all figures; without it, what they say in sentences, the main figures, and what was asked for.
    """

    all: bool = False
