"""Count what `tag` passes on its way from two lines of text to their marks, and the lines of code of the package.

    python -m benchmarks.path

Prints how many different functions of matese run (lambdas, comprehensions and generator expressions included, and the
named ones alone), in how many modules, and the lines of code without blank lines, comments and docstrings. `--list`
names the functions by module. Python 3.12 and later count fewer, because comprehensions are no functions there.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import io
import os
import sys
import tempfile
import tokenize
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from types import FrameType

import matese

_PACKAGE = Path(matese.__file__).parent
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="also list the functions by module")
    options = parser.parse_args()
    passed = functions_passed()
    if options.list:
        for module, names in sorted(passed.items()):
            print(f"{module} {len(names)}: {' '.join(name for name, _ in sorted(names))}")
    every = [name for names in passed.values() for name, _ in names]
    n_named = sum(not name.endswith(">") for name in every)
    print(f"tag of two lines passes {len(every)} functions ({n_named} with a name) in {len(passed)} modules")
    n_lines = sum(n_code_lines(path.read_text(encoding="utf-8")) for path in sorted(_PACKAGE.rglob("*.py")))
    print(f"the package has {n_lines:,} lines of code")


def functions_passed() -> Mapping[str, set[tuple[str, int]]]:
    """Returns the functions of the package that run when `matese tag` marks two lines of text, by module.

    Each is its name and its first line. Bodies of modules and of classes are none.
    """
    from matese import cli

    passed = defaultdict[str, set[tuple[str, int]]](set)

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        is_function = event == "call" and code.co_flags & inspect.CO_OPTIMIZED
        if is_function and code.co_filename.startswith(f"{_PACKAGE}{os.sep}"):
            module = Path(code.co_filename).relative_to(_PACKAGE).with_suffix("")
            passed[".".join(module.parts)].add((code.co_qualname, code.co_firstlineno))

    with tempfile.TemporaryDirectory() as folder:
        files = {name: str(Path(folder) / f"{name}.txt") for name in ("mt", "ref")}
        Path(files["mt"]).write_text("Das ist gut.\nDie Wolga ist lang.\n", encoding="utf-8")
        Path(files["ref"]).write_text("Das ist schlecht.\nDie Wolga ist kurz.\n", encoding="utf-8")
        command = ["tag", "--hyp", files["mt"], "--ref", files["ref"], "--output", str(Path(folder) / "out.jsonl")]
        sys.setprofile(note)
        try:
            code = cli.main(command)
        finally:
            sys.setprofile(None)
    assert code == 0
    return passed


def n_code_lines(text: str) -> int:
    """Returns the number of lines of a module that hold code, which a docstring does not."""
    lines = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                lines -= set(range(value.lineno, (value.end_lineno or value.lineno) + 1))
    return len(lines)


if __name__ == "__main__":
    main()
