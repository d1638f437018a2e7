"""Code blocks of Markdown pages, and commands run as a reader would run them."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from data_prep.__main__ import main as data_prep_main
from matese.cli import main

ROOT = Path(__file__).resolve().parents[1]
RAW = ROOT / "tests" / "data_prep" / "raw"
"""Hand-written raw ratings, which take the place of the public ones."""
HUB_ID = "your-organisation/your-model"
"""Stands for a model on the hub, which tests replace."""
# The commands as the shell finds them once the package is installed, and the interpreter that runs the tests.
_SHELL = f"""set -euo pipefail
matese() {{ {shlex.quote(sys.executable)} -m matese "$@"; }}
python() {{ {shlex.quote(sys.executable)} "$@"; }}
"""


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the line of the page on which it begins."""

    language: str
    text: str
    line: int


def blocks(page: str, *languages: str) -> list[Block]:
    """Returns the fenced blocks of a page in these languages."""
    fences = re.finditer(r"^```(\w+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    found = [Block(match[1], match[2], page.count("\n", 0, match.start()) + 1) for match in fences]
    return [block for block in found if block.language in languages]


def commands(text: str) -> list[str]:
    """Returns the commands of a block without comments, with continued lines joined."""
    lines = text.replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def run_command(command: str, *, accepted: tuple[int, ...] = (0,)) -> None:
    """Runs a command in this process, which is quick, or in a shell if it needs one."""
    words = shlex.split(command, comments=True)
    needs_shell = re.search(r"[|<>&;$`]", command)
    if words[0] == "matese" and not needs_shell:
        assert main(words[1:]) in accepted, command
    elif words[:3] == ["python", "-m", "data_prep"] and not needs_shell:
        home = ["--list", "raw_files.tsv", "--from", str(RAW)] if words[3] == "download" else []
        assert data_prep_main([*words[3:], *home]) == 0, command
    else:
        ran = subprocess.run(["bash", "-c", _SHELL + command], capture_output=True, text=True)
        assert ran.returncode in accepted, f"{command}\n{ran.stderr}"
