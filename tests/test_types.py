"""A user's script passes `mypy --strict`, and uses every public function."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import matese

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "tests" / "typed_user.py"


def test_the_script_uses_every_function() -> None:
    text = SCRIPT.read_text(encoding="utf-8")
    functions = [name for name in matese.__all__ if inspect.isfunction(getattr(matese, name))]
    assert [name for name in functions if f"matese.{name}(" not in text] == []


@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")
def test_a_script_with_types_is_checked() -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", str(SCRIPT)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
