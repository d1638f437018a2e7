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
from tests.markdown import blocks

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
def test_scripts_of_users_pass_mypy_strict(tmp_path: Path) -> None:
    """That of README, too; with the cache of the run before the tests, and in a process of its own.

    In ours, mypy would raise Python's limit of recursion.
    """
    (snippet,) = blocks((ROOT / "README.md").read_text(encoding="utf-8"), "python")
    (tmp_path / "snippet.py").write_text(snippet.text, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", str(tmp_path / "snippet.py"), str(SCRIPT)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    # Older versions of what the package imports have no types.
    assert "snippet.py" not in ran.stdout, ran.stdout
    assert SCRIPT.name not in ran.stdout, ran.stdout
