"""The documentation is true to the package: its links, paths, options and navigation exist."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

import matese
from data_prep.__main__ import main as data_prep_main
from data_prep.__main__ import parser as data_prep_parser
from matese.cli import main
from matese.cli import options as cli_options
from matese.version import __version__
from tests.markdown import ROOT, blocks, commands

DOCS = ROOT / "docs"
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (
        *DOCS.rglob("*.md"),
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "examples/README.md", "data_prep/README.md")),
        ROOT / "matese" / "models" / "mini" / "README.md",
    )
)
FOREIGN_OPTIONS = {
    "--additional-suffix",
    "--array",
    "--depth",
    "--external",
    "--fix",
    "--gres",
    "--lines",
    "--nnodes",
    "--publish",
    "--read-only",
    "--requeue",
    "--rm",
    "--tag",
    "--tmpfs",
    "--volume",
}
FOREIGN_OPTIONS |= {"--nproc-per-node", "--rdzv-backend", "--rdzv-endpoint", "--to_json", "--local-dir", "--include"}
"""Options of other programs: git, docker, Slurm, torchrun, split, pytest, ruff, comet-score."""


@pytest.fixture(scope="module")
def options() -> set[str]:
    """The options of all commands, of data_prep, of the benchmarks and of the fuzzer."""
    found = set[str]()
    with pytest.MonkeyPatch.context() as patch:
        text = list[str]()
        patch.setattr("sys.stdout.write", text.append)
        for command in cli_options.COMMANDS:
            main([command, "--help-all"])
        for command in (
            "",
            "download",
            "prepare",
            "check",
            "labels",
            "translations",
            "synthesise",
            "segment-scores",
        ):
            with pytest.raises(SystemExit, match="0"):
                data_prep_main([*command.split(), "--help"])
        found |= set(re.findall(r"--[a-z][a-z0-9-]+", "".join(text)))
    for script in (*(ROOT / "benchmarks").rglob("*.py"), ROOT / "tests" / "hardening" / "fuzz.py"):
        found |= set(re.findall(r'"(--[a-z][a-z0-9-]+)"', script.read_text(encoding="utf-8")))
    return found


@pytest.mark.parametrize("page", PAGES)
def test_links_and_paths_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", text)
    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []
    folders = "matese|tests|benchmarks|configs|examples|docs"
    paths = re.findall(rf"(?<![\w/])((?:{folders})/[\w./-]+\.(?:py|md|yaml|yml|ipynb|tsv|txt|json))\b", text)
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_sections_that_links_name_exist(page: str) -> None:
    for target, anchor in re.findall(
        r"\]\((?!https?://)([^)#]*\.md|)#([^)]+)\)", (ROOT / page).read_text(encoding="utf-8")
    ):
        path = (ROOT / page).parent / target if target else ROOT / page
        headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        slugs = {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}
        # Anchors with a dot are of the reference, which mkdocstrings writes.
        assert anchor in slugs or "." in anchor, f"{target}#{anchor}"


@pytest.mark.parametrize("page", PAGES)
def test_commands_are_understood(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of `bash` run, see test_readme.py; those of `sh` need data, a model of the hub or hours."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "weights.yaml").write_text("minor: 1\n", encoding="utf-8")  # read with the options
    for block in blocks((ROOT / page).read_text(encoding="utf-8"), "sh", "bash"):
        for line in commands(block.text):
            words = shlex.split(re.split(r"[|<>]|&&", line)[0], comments=True)
            if words[0] == "matese" and words[1:] and not words[1].startswith("-"):
                assert cli_options.parse([re.sub(r"\$\w+", "1", word) for word in words[1:]]).command == words[1], line
            elif words[:3] == ["python", "-m", "data_prep"]:
                assert data_prep_parser().parse_args(words[3:]).command == words[3], line
            elif words[:2] == ["python", "-m"] and words[2].startswith("benchmarks."):
                module = ROOT / words[2].replace(".", "/")
                assert module.with_suffix(".py").exists() or (module / "__main__.py").exists(), line


@pytest.mark.parametrize("page", PAGES)
def test_options_exist(page: str, options: set[str]) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+\w*", text))
    assert named - options - FOREIGN_OPTIONS == set()


def test_navigation_names_every_page() -> None:
    navigation = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]

    def pages(entry: Any) -> list[str]:
        if isinstance(entry, str):
            return [entry]
        return [page for one in (entry.values() if isinstance(entry, dict) else entry) for page in pages(one)]

    assert sorted(pages(navigation)) == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


def test_workflow_gives_options_that_exist(options: set[str]) -> None:
    workflow = yaml.safe_load((ROOT / "examples" / "gate.yml").read_text(encoding="utf-8"))
    script = "\n".join(step.get("run", "") for step in workflow["jobs"]["gate"]["steps"])
    assert re.findall(r"matese (tag|compare|gate) ", script) == ["tag", "compare", "gate"]
    # Pinned: a wheel of this version, or a commit.
    assert f"${{MATESE_GIT:-wheels/matese-{__version__}-py3-none-any.whl}}" in script
    named = set(re.findall(r"--[a-z][a-z0-9-]+", script[script.index("for system") :]))
    assert named <= options


def test_every_page_is_named_in_the_readme_or_the_index() -> None:
    index = (ROOT / "README.md").read_text(encoding="utf-8") + (DOCS / "index.md").read_text(encoding="utf-8")
    named = [path.name for folder in (DOCS, DOCS / "research") for path in folder.glob("*.md")]
    assert [name for name in named if name != "index.md" and f"{name})" not in index] == []


def test_every_promise_names_a_test_that_exists() -> None:
    named = re.findall(
        r"`(tests/[\w/]+\.py)(?:::(\w+))?`", (DOCS / "development" / "guarantees.md").read_text(encoding="utf-8")
    )
    assert len(named) > 40
    for path, name in named:
        assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8") if name else (ROOT / path).is_file(), path


def test_overview_of_the_reference_names_everything() -> None:
    page = (DOCS / "reference" / "index.md").read_text(encoding="utf-8")
    offered = {name for name in matese.__all__ if callable(getattr(matese, name))}
    assert set(re.findall(r"`(\w+)`", page)) == offered


def test_licences_of_the_data_are_counted() -> None:
    lines = (ROOT / "data_prep" / "raw_files.tsv").read_text(encoding="utf-8").splitlines()[1:]
    counts = Counter(line.split("\t")[-1] for line in lines)
    page = (DOCS / "data-licences-privacy.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r'^\| "?([^|"]+?)"? \| (\d+) \|', page, re.MULTILINE))
    assert {name: int(n) for name, n in rows.items()} == counts
