"""Writes docs/reference/index.md: what `import matese` offers, with the first line of each docstring.

python -m docs.reference_overview
"""

from __future__ import annotations

import inspect
from pathlib import Path

import matese

PATH = Path(__file__).parent / "reference" / "index.md"
_HEAD = """# Overview

Everything that `import matese` offers. In a clone, `python -m pydoc matese.NAME` shows the whole docstring with
arguments and exceptions; the other pages of this reference have the same text on the site that `make docs` builds.

"""


def page() -> str:
    """Returns the page."""
    rows: dict[str, list[str]] = {"Functions": [], "Types": [], "Errors": []}
    for name in matese.__all__:
        thing = getattr(matese, name)
        if not callable(thing):
            continue
        first = (inspect.getdoc(thing) or "").splitlines()[0].replace("|", "\\|")
        is_error = inspect.isclass(thing) and issubclass(thing, Exception)
        kind = "Errors" if is_error else "Types" if inspect.isclass(thing) else "Functions"
        rows[kind].append(f"| `{name}` | {first} |\n")
    return _HEAD + "\n".join(
        f"## {kind}\n\n| Name | What it is |\n|---|---|\n{''.join(lines)}" for kind, lines in rows.items()
    )


if __name__ == "__main__":
    PATH.write_text(page(), encoding="utf-8")
