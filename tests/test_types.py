"""A user's script passes `mypy --strict`, and uses every public function."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import matese
from docs import stub

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "tests" / "typed_user.py"


def test_the_script_uses_every_function() -> None:
    text = SCRIPT.read_text(encoding="utf-8")
    functions = [name for name in matese.__all__ if inspect.isfunction(getattr(matese, name))]
    assert [name for name in functions if f"matese.{name}(" not in text] == []


def test_the_stub_is_up_to_date() -> None:
    assert stub.PATH.read_text(encoding="utf-8") == stub.stub()


@pytest.mark.parametrize(("name", "option"), [("compare", "sampling"), ("evaluate", "figures"), ("load", "choice")])
def test_editors_show_signatures_without_running_anything(name: str, option: str) -> None:
    jedi = pytest.importorskip("jedi")
    call = f"matese.{name}("
    project = jedi.Project(ROOT)
    (signature,) = jedi.Script(f"import matese\n{call}", project=project).get_signatures(2, len(call))
    assert option in [parameter.name for parameter in signature.params]


@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")
def test_a_script_with_types_is_checked() -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", str(SCRIPT)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
