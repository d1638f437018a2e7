"""One name a line: unrelated values are not assigned as tuples."""

import ast

import pytest

from tests.markdown import ROOT

FOLDERS = ("matese", "data_prep", "benchmarks", "docs", "examples", "tests")


def parallel_assignments(code: str) -> list[int]:
    """Returns the lines that assign several values to several names, of which none is read in the same line.

    A value that reads another name of the line, as in a swap, needs the tuple.
    """
    return [node.lineno for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Assign) and _is_parallel(node)]


def _is_parallel(node: ast.Assign) -> bool:
    target = node.targets[0]
    if not isinstance(target, ast.Tuple | ast.List) or not isinstance(node.value, ast.Tuple | ast.List):
        return False
    assigned = set[str]()
    for number, value in enumerate(node.value.elts):
        if assigned & {ast.unparse(part) for part in ast.walk(value) if isinstance(part, ast.expr)}:
            return False
        assigned |= {ast.unparse(part) for part in target.elts[number : number + 1]}
    return True


def test_one_name_a_line() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line in parallel_assignments(path.read_text(encoding="utf-8"))
    ]
    assert not found, "assign one name a line"


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("a, b = 1, 2", [1]),
        ("a, b = f(), g()", [1]),
        ("if c:\n    x.a, x.b = b, c", [2]),
        ("(a, b), c = f(), g()", [1]),
        ("a, b = [1, 2]", [1]),
        ("a, b, *c = 1, 2", [1]),
        ("a, b = f()", []),  # one value
        ("a, b = b, a", []),
        ("a, b = b, a + b", []),
        ("x[0], x[1] = x[1], x[0]", []),
        ("for a, b in zip(c, d): pass", []),
        ("a = 1, 2", []),
        ("a = b = 1", []),
    ],
)
def test_what_a_parallel_assignment_is(code: str, lines: list[int]) -> None:
    assert parallel_assignments(code) == lines
