"""The virtual environment of COMET, whose requirements conflict with ours."""

from __future__ import annotations

import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path

REQUIREMENTS = ("unbabel-comet==2.2.7", "numpy<2", "transformers<5", "setuptools<81", "sentencepiece==0.2.0")
DIRECTORY = Path(".venv-comet")
HELP = "virtual environment of COMET, created if missing; default: %(default)s"
_STAMP = ".installed"


def python_of(directory: Path) -> Path:
    """Returns the interpreter of an environment."""
    return directory.absolute() / "bin" / "python"


def install(directory: Path) -> None:
    """Creates an environment with COMET and our version of torch, unless it exists.

    Raises:
        CalledProcessError: if the installation fails.
    """
    wanted = [*REQUIREMENTS, f"torch=={metadata.version('torch').partition('+')[0]}"]
    stamp = directory / _STAMP
    if not stamp.exists() or stamp.read_text(encoding="utf-8").split() != wanted:
        print(f"installing {wanted[0]} in {directory}", file=sys.stderr)
        venv.create(directory, clear=True, with_pip=True)
        pip = [str(python_of(directory)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *wanted], check=True)
        stamp.write_text("\n".join(wanted), encoding="utf-8")
