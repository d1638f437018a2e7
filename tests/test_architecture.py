"""The house as it was drawn: who imports whom, and what is loaded when.

Where a better shape shows itself, the code, the floors in pyproject.toml and CHANGELOG.md change together.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from matese.cli.options import COMMANDS

ROOT = Path(__file__).resolve().parents[1]
LINTER = (sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()")


@dataclass(frozen=True)
class Module:
    """A Python file of the package or of data_prep."""

    name: str
    path: Path
    tree: ast.Module

    @property
    def room(self) -> str:
        """The room it stands in; "" for the package's own `__init__`."""
        first, *rest = self.name.split(".")
        return first if first == "data_prep" else "".join(rest[:1]).replace("__main__", "cli")


@dataclass(frozen=True)
class Import:
    """One imported module: its dotted name, and whether it is imported as soon as the importer is."""

    name: str
    at_load: bool


@cache
def modules() -> tuple[Module, ...]:
    files = sorted(path for folder in ("matese", "data_prep") for path in (ROOT / folder).rglob("*.py"))
    return tuple(Module(module_name(path), path, ast.parse(path.read_text(encoding="utf-8"))) for path in files)


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports(module: Module) -> tuple[Import, ...]:
    """Returns what a module imports: when it is loaded, inside functions, and for type checkers."""
    known = {module.name for module in modules()}

    def visit(node: ast.AST, at_load: bool) -> Iterator[Import]:
        at_load = at_load and not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, at_load) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module.name}:{node.lineno}: imports are absolute"
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                yield Import(submodule if submodule in known else str(node.module), at_load)
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for child in ast.iter_child_nodes(node):
            yield from visit(child, at_load and not is_function)

    return tuple(visit(module.tree, True))


def test_imports_point_down() -> None:
    """The floors of the house, in `[tool.importlinter]` of pyproject.toml."""
    ran = subprocess.run([*LINTER, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_no_import_goes_in_a_circle() -> None:
    graph = {module.name: {imported.name for imported in imports(module)} - {module.name} for module in modules()}
    # The package's `__init__` is what its users import; its rooms look past it, except for the version.
    graph.pop("matese")
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def test_models_are_no_code() -> None:
    assert {path.suffix for path in (ROOT / "matese" / "models").rglob("*")} & {".py", ".pyc"} == set()


def test_no_room_for_what_has_no_place() -> None:
    nameless = {"utils", "util", "helpers", "helper", "common", "base", "constants", "misc"}
    parts = {part for module in modules() for part in module.name.split(".")}
    assert parts & nameless == set(), "a function lives beside its only reason"


REPEATED = {"Request"}
"""Names that several modules define: the options of a task, in each module of `matese.tasks`."""


def defined_types(tree: ast.Module) -> Iterator[str]:
    """Yields the names of classes and aliases of a module; those for type checkers are in an `if`."""
    statements = list(tree.body)
    for statement in statements:
        if isinstance(statement, ast.If):
            statements += [*statement.body, *statement.orelse]
        elif isinstance(statement, ast.ClassDef):
            yield statement.name
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name) and is_type(target.id))


def is_type(name: str) -> bool:
    """Whether a name is one of a type, and neither a constant nor a type variable."""
    return name[0].isupper() and not name.isupper()


def test_no_two_types_share_a_name() -> None:
    homes: dict[str, list[str]] = {}
    for module in modules():
        for name in defined_types(module.tree):
            if module.room != "data_prep" and not name.startswith("_"):
                homes.setdefault(name, []).append(module.name)
    assert {name: where for name, where in homes.items() if len(where) > 1 and name not in REPEATED} == {}
    assert len(homes["Request"]) > 1


def test_nothing_is_done_at_import() -> None:
    offences = [
        f"{module.name}:{node.lineno}"
        for module in modules()
        for node in module.tree.body
        if isinstance(node, ast.Expr | ast.For | ast.While | ast.With | ast.Try)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))  # a docstring
    ]
    assert offences == []


def test_only_the_command_line_prints_exits_and_parses_arguments() -> None:
    forbidden = {"print", "exit", "quit", "sys.exit", "os._exit", "SystemExit", "sys.stdout.write"}
    offences = []
    for module in modules():
        if module.room not in ("cli", "data_prep"):
            calls = (node for node in ast.walk(module.tree) if isinstance(node, ast.Call))
            offences += [f"{module.name}:{one.lineno}" for one in calls if ast.unparse(one.func) in forbidden]
            offences += [module.name for imported in imports(module) if imported.name == "argparse"]
    assert offences == []


def test_only_a_request_is_made_of_arguments() -> None:
    """A namespace of arguments goes from the parser to the start, and no further: what follows has typed fields."""
    visited = set()
    for module in modules():
        for function in ast.walk(module.tree):
            if isinstance(function, ast.FunctionDef) and module.room != "data_prep":
                given = [str(one.annotation and ast.unparse(one.annotation)) for one in all_arguments(function)]
                names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
                if any("Namespace" in annotation for annotation in given) or (module.room == "cli" and "args" in names):
                    visited.add(module.name)
    assert visited == {"matese.cli", "matese.cli.options"}


def all_arguments(function: ast.FunctionDef) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


HEAVY = {
    *("transformers", "huggingface_hub", "pytorch_lightning", "torchmetrics", "datasets", "ray"),
    *("torch._dynamo", "torch._inductor", "torch.onnx", "torch.nn.attention.varlen", "sympy", "networkx", "triton"),
    *("scipy", "pandas", "pyarrow", "sacrebleu", "pygments", "markdown_it", "jinja2", "starlette", "matese.training"),
}
"""What no command of the embedded model may import: each takes longer than some segments take to tag."""


@pytest.mark.parametrize("command", ["import matese", "from matese import cli; cli.main(['--help'])"])
def test_what_is_quick_loads_no_tensors(command: str) -> None:
    heavy = "{'numpy', 'torch', 'transformers', 'pytorch_lightning', 'scipy', 'tokenizers', 'http.client', 'asyncio'}"
    program = f"import sys\ntry:\n    {command}\nexcept SystemExit:\n    pass\nprint(*{heavy} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == ""


@pytest.mark.parametrize("command", ["tag", "score"])
def test_a_command_with_the_embedded_model_loads_no_more_than_it_runs(command: str) -> None:
    """Each of these takes longer to import than ten segments take to tag."""
    texts = "'--ref', 'examples/ref.txt', '--hyp', 'examples/mt.txt'"
    program = f"import sys; from matese import cli; cli.main(['{command}', {texts}]); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.splitlines()[-1].split())
    assert {"numpy", "tokenizers", "matese.model.engines.numpy_engine"} <= loaded
    assert loaded & {"torch", "langcodes", "language_data", *HEAVY} == set()


@pytest.mark.parametrize("command", [["info"], ["score"], ["convert", "--to", "csv", "-"]])
def test_a_command_that_reads_ratings_loads_no_more_than_it_runs(command: list[str], tmp_path: Path) -> None:
    path = tmp_path / "ratings.jsonl"
    path.write_text('{"hypothesis": "Gut.", "errors": [], "system": "A", "index": 0}\n', encoding="utf-8")
    arguments = [command[0], str(path), *command[1:]]
    program = f"import sys; from matese import cli; cli.main({arguments}); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.splitlines()[-1].split())
    assert loaded & {"torch", "tokenizers", *HEAVY} == set()


def test_the_list_of_commands_imports_none() -> None:
    program = (
        "import sys\nfrom matese import cli\n"
        "try:\n    cli.main(['--help'])\nexcept SystemExit:\n    pass\nprint(*sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name.rpartition(".")[2] for name in ran.stdout.splitlines()[-1].split() if name.startswith("matese.cli.")}
    assert loaded & set(COMMANDS) == set()


def shipped_files() -> Iterator[Path]:
    """Yields what the project holds, without asking git: a downloaded archive has none."""
    yield from (path for path in ROOT.iterdir() if path.is_file() and path.name != ".git")  # as a worktree has it
    for folder in ("matese", "data_prep", "configs", "examples", "benchmarks", "docs", "tests", ".ci"):
        yield from (path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def test_no_file_names_a_place_on_some_machine() -> None:
    place = re.compile(rb"(?<![\w.])/(?:work|farm|root|home|Users|opt|mnt|tmp)/", re.ASCII)
    for path in shipped_files():
        text = path.read_bytes()
        if b"\0" not in text:
            found = [text.count(b"\n", 0, match.start()) + 1 for match in place.finditer(text)]
            assert found == [], f"{path.relative_to(ROOT)} names a path of some machine in these lines"


def test_embedded_models_stay_small() -> None:
    for model in (ROOT / "matese" / "models").iterdir():
        assert sum(path.stat().st_size for path in model.rglob("*") if path.is_file()) <= 48_000_000, model


ONLY_IMPORTED_BY = {
    "matese.formats.localisation": {
        "matese.formats.segments",  # for the times of subtitles
    },
    "matese.formats.tools": set[str](),
    "matese.cluster": {"matese.tasks.cluster"},
    "matese.serving": {"matese.tasks.serve"},
    "matese.language_model": {"matese.tasks.annotators"},
    "matese.explanation": {"matese.tasks.explain", "matese.tasks.stress"},
}
"""What few need, and who imports it: the task of its command.

The registry names the modules of formats, and imports one when a file of its format is read or written.
"""


@pytest.mark.parametrize("folder", ONLY_IMPORTED_BY)
def test_what_few_need_is_imported_by_its_task_alone(folder: str) -> None:
    importers = {
        module.name
        for module in modules()
        for imported in imports(module)
        if f"{imported.name}.".startswith(f"{folder}.") and not f"{module.name}.".startswith(f"{folder}.")
    }
    assert importers == ONLY_IMPORTED_BY[folder]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_task_is_known_to_its_command_alone(name: str) -> None:
    """And to tasks that extend its request or do part of its work, and to the package's `__init__`."""
    task = f"matese.tasks.{name}"
    importers = {module.name for module in modules() for imported in imports(module) if imported.name == task}
    assert {one for one in importers if not one.startswith("matese.tasks.")} <= {"matese"}


def test_reading_our_jsonl_loads_no_other_format(tmp_path: Path) -> None:
    path = tmp_path / "ratings.jsonl"
    path.write_text('{"hypothesis": "a", "errors": []}\n', encoding="utf-8")
    program = f"import sys, matese; assert len(matese.read({str(path)!r})) == 1; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name for name in ran.stdout.split() if name.startswith("matese.formats.")}
    others = re.compile(r"matese\.formats\.(tools|localisation|corpora|tables)\.")
    assert {name for name in loaded if others.match(name)} == {
        "matese.formats.corpora.csv_quoting",
        *(f"matese.formats.tables.{name}" for name in ("columns", "headings", "json_table", "jsonl", "jsonl_keys")),
    }
