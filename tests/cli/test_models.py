from __future__ import annotations

import re
import subprocess

import pytest

from matese.cli import options
from tests.cli.conftest import Run


def test_list(run: Run) -> None:
    ran = run("info")
    assert (ran.code, ran.err) == (0, "")
    assert re.match(r"mini\n  reads       reference or source\n  size +\d+\.\d million par", ran.out)
    assert "licence     Apache-2.0; the encoder MIT (LICENSE-encoder.txt)\n" in ran.out
    assert re.search(r"^  figures     reference: n \d+, found \d+ %, marks right \d+ %", ran.out, re.MULTILINE)
    assert len(ran.out.splitlines()) == 8


def test_card_of_one(run: Run) -> None:
    assert run("info", "{tiny}").out == "# A tiny model for tests\n"
    assert run("info", "mini").out.startswith("# mini\n")
    assert run("info", "maxi").refused().startswith("no model maxi: no such directory; use an embedded model (mini)")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "tcsh"])
def test_completion_names_commands_options_and_values(run: Run, shell: str) -> None:
    ran = run("completion", shell)
    assert (ran.code, ran.err) == (0, "")
    for word in (*options.COMMANDS, "--format" if shell != "tcsh" else "format", "jsonl"):
        assert word in ran.out


def test_bash_takes_the_script(run: Run) -> None:
    script = run("completion", "bash").out
    ask = (
        'COMP_WORDS=(matese tag --format ht); COMP_CWORD=3; COMP_LINE="matese tag --format ht"; '
        "complete -p matese | sed 's/.*-F \\([^ ]*\\).*/\\1/' > f; $(cat f); echo \"${COMPREPLY[@]}\""
    )
    ran = subprocess.run(["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "html\n"), ran.stderr


def test_unknown_shell(run: Run) -> None:
    assert run("completion", "fisch").refused().startswith("SHELL: unknown shell 'fisch'")
