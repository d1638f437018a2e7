"""What the benchmark of the path counts."""

from __future__ import annotations

from pathlib import Path

import matese
from benchmarks import path


def test_code_lines_are_without_blank_lines_comments_and_docstrings() -> None:
    assert path.n_code_lines("") == 0
    module = '"""A\n\nmodule."""\n\nx = (1,  # one\n     2)\n'
    function = 'def f():\n    "What it does."\n    # why\n    return """a\n\nb"""\n'
    assert path.n_code_lines(module) == 2
    assert path.n_code_lines(module + function) == 2 + 1 + 3


def test_functions_that_run_are_named_by_module() -> None:
    passed = path.functions_passed()
    root = Path(matese.__file__).parent
    assert all((root / f"{module.replace('.', '/')}.py").exists() for module in passed)
    assert {"run"} <= {name for name, _ in passed["tasks.tag"]}
    assert not any("<module>" in name for names in passed.values() for name, _ in names)
