"""What is shipped: the wheel, its requirements and their pins, the citation."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

import matese
from tests.markdown import blocks, commands

ROOT = Path(__file__).resolve().parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# What only a CUDA build of PyTorch brings with it; the build pins these itself.
CUDA = ("nvidia-", "cuda-", "triton")


def pins() -> dict[NormalizedName, Version]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if not line.startswith("#")]
    return {canonicalize_name(name): Version(version) for name, version in pairs}


def requirements() -> list[Requirement]:
    extras = PROJECT["optional-dependencies"].values()
    named = [Requirement(line) for lines in (PROJECT["dependencies"], *extras) for line in lines]
    return [requirement for requirement in named if requirement.name != "matese"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as a wheel, built from a copy of what belongs to it: a build leaves its traces where it runs."""
    source = tmp_path_factory.mktemp("source")
    built = tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in ("matese", "data_prep", "tests", "configs"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--wheel-dir", str(built), str(source)], check=True, capture_output=True)
    (path,) = built.glob("matese-*.whl")
    return path


def test_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    files = [path.relative_to(ROOT) for path in (ROOT / "matese").rglob("*") if path.is_file()]
    expected = {path.as_posix() for path in files if path.parent.name != "__pycache__" and path.name[0] != "."}
    held = set(zipfile.ZipFile(wheel).namelist())
    info = f"matese-{matese.__version__}.dist-info"
    assert {name for name in held if not name.startswith(info)} == expected
    assert {Path(name).suffix for name in expected} <= {
        ".py",
        ".pyi",
        ".typed",
        ".json",
        ".tsv",
        ".po",
        ".yaml",
        ".safetensors",
        ".md",
        ".txt",
        ".html",
        ".css",
        ".js",
    }
    assert {"matese/py.typed", "matese/formats/rating.schema.json"} <= held
    encoder = "matese/models/mini/LICENSE-encoder.txt"
    assert {f"{info}/licenses/LICENSE", f"{info}/licenses/{encoder}", encoder} <= held


def test_the_first_command_of_the_readme_runs_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    shutil.copytree(ROOT / "examples", tmp_path / "elsewhere" / "examples")
    block, *_ = blocks((ROOT / "README.md").read_text(encoding="utf-8"), "bash")
    _, *arguments = shlex.split(commands(block.text)[0])
    program = "import sys, matese, matese.cli; print(matese.__file__); sys.exit(matese.cli.main(sys.argv[1:]))"
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=tmp_path / "elsewhere",
        env={**os.environ, "PYTHONPATH": str(tmp_path / "installed")},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith(str(tmp_path / "installed"))
    assert ran.stdout.splitlines()[-1].endswith(f"version:{matese.__version__}")


def test_every_requirement_has_a_pin_within_its_range() -> None:
    pinned = pins()
    for requirement in requirements():
        version = pinned[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{requirement} and {version}"


def test_what_requirements_require_is_pinned_too() -> None:
    pinned = pins()
    waiting = requirements()
    seen = set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        key = (name, frozenset(requirement.extras))
        if key in seen or name.startswith(CUDA):
            continue
        seen.add(key)
        assert name in pinned, f"constraints.txt lacks {requirement}"
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # for another platform
            continue
        # What another version than the pinned one requires says nothing.
        if Version(Version(distribution.version).public) == pinned[name]:
            own = [Requirement(line) for line in distribution.requires or ()]
            extras = [{"extra": extra} for extra in (requirement.extras or {""})]
            waiting += [one for one in own if one.marker is None or any(map(one.marker.evaluate, extras))]


def test_versions_agree() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == matese.__version__
    assert citation["license"] == "Apache-2.0"
    assert PROJECT["license"] == "Apache-2.0 AND MIT", "MIT: the encoder of the embedded model"
    assert citation["preferred-citation"]["authors"][0]["family-names"] == "Perrella"
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert next(name for name in headings if name != "Unreleased") == matese.__version__
