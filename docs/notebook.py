"""Runs examples/compare.ipynb with the embedded model and writes its output into it, by `python -m docs.notebook`.

What changes from run to run or from machine to machine without meaning (times, the version of Python) is left out.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).resolve().parents[1] / "examples" / "compare.ipynb"


def execute() -> None:
    """Writes the notebook anew; raises what a cell raises."""
    files: Any = nbformat  # its functions have no types
    notebook = files.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": NOTEBOOK.parent}}
    client = NotebookClient(notebook, kernel_name="python3", resources=resources, record_timing=False)
    # A library complains of bars of progress that this notebook has none of.
    client.execute(env={**os.environ, "PYTHONWARNINGS": "ignore:IProgress not found"})
    notebook.metadata.language_info = {"name": "python"}
    files.write(notebook, NOTEBOOK)


if __name__ == "__main__":
    execute()
