"""What only a process shows: signals, pipes that close, terminals, the locale."""

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Terminal, write

MATESE = (sys.executable, "-m", "matese")
FULL = "standard output: no space left on the disk: free some space, or write to another disk"
full_disk = pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 120  # on a busy machine
    while not is_so():
        assert time.monotonic() < end, "waited for two minutes"
        time.sleep(0.02)


def hidden(folder: Path) -> list[Path]:
    return list(folder.glob(".matese-*"))


def test_ctrl_c_leaves_nothing(folder: Path) -> None:
    command = [*MATESE, "tag", "--hyp", "-", "--ref", "ref.txt", "--output", "spans.jsonl"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_until(lambda: bool(hidden(folder)))
        process.send_signal(signal.SIGINT)
        assert process.communicate() == (b"", b"")
    assert process.returncode == 130
    assert {path.name for path in folder.iterdir()} == {"mt.txt", "ref.txt"}


def test_ctrl_c_works_in_tests_that_run_in_the_background() -> None:
    ask = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    child = f"import subprocess, sys, tests.conftest; subprocess.run([sys.executable, '-c', {ask!r}])"
    in_background = ["sh", "-c", '"$0" -c "$1" & wait', sys.executable, child]
    assert subprocess.run(in_background, cwd=ROOT, capture_output=True, text=True, check=True).stdout == "True\n"


def test_lines_come_as_they_are_made_until_ctrl_c(folder: Path, tiny_model_dir: Path) -> None:
    write(folder / "long.txt", *["das ist ein guter Text und noch einer " * 10] * 2_000)
    command = [*MATESE, "tag", "--hyp", "long.txt", "--ref", "long.txt", "--model", str(tiny_model_dir)]
    command += ["--format", "jsonl", "--threads", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first.startswith('{"index": 0, "system": "long"')
        process.send_signal(signal.SIGINT)
        assert (first + process.stdout.read()).endswith("}\n"), "no line is cut"
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert process.returncode == 130


def help_into(stdout: int) -> tuple[int, bytes]:
    """Returns the exit code and what is on standard error; also what the interpreter would add at its end."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    ran = subprocess.run([*MATESE, "tag", "--help"], stdout=stdout, stderr=subprocess.PIPE, env=environment)
    return ran.returncode, ran.stderr


def test_closed_pipe_is_quiet() -> None:
    """The reader is gone before the first line comes, as with `| head -n 0`."""
    reader, writer = os.pipe()
    os.close(reader)
    assert help_into(writer) == (141, b"")
    os.close(writer)


@full_disk
def test_full_disk() -> None:
    with open("/dev/full", "wb") as full:
        assert help_into(full.fileno()) == (2, f"matese: {FULL}\n".encode())


@pytest.mark.parametrize("form", ["terminal", "jsonl"])
def test_closed_pipe_under_way(run: Run, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    monkeypatch.setattr(sys, "stdout", os.fdopen(writer, "w"))
    ran = run("tag", "--model", "{tiny}", "--hyp", "mt.txt", "--ref", "ref.txt", "--format", form)
    assert (ran.code, ran.err) == (141, "")


@full_disk
@pytest.mark.parametrize("options", [["tag"], ["tag", "--format", "jsonl"], ["score"], ["score", "--json", "-"]])
def test_full_disk_under_way(run: Run, monkeypatch: pytest.MonkeyPatch, options: list[str]) -> None:
    monkeypatch.setattr(sys, "stdout", open("/dev/full", "w"))  # noqa: SIM115 - closed with what it still holds
    ran = run(*options, "--model", "{tiny}", "--hyp", "mt.txt", "--ref", "ref.txt")
    assert ran.refused() == FULL


def on_a_terminal(arguments: list[str], **environment: str) -> tuple[int, str]:
    """Runs a command whose standard streams are a terminal; returns the exit code and what came."""
    ours, theirs = pty.openpty()
    variables = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    variables |= {"TERM": "xterm", "COLUMNS": "40", **environment}
    ran = subprocess.run([*MATESE, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=variables)
    os.close(theirs)
    came = b""
    while chunk := _read(ours):
        came += chunk
    os.close(ours)
    return ran.returncode, came.decode().replace("\r\n", "\n")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # how Linux tells the end of a terminal
        return b""


def test_error_line_is_red_and_not_wrapped(folder: Path) -> None:
    name = "a-long-name-" * 10
    line = f"matese: {name}: no such file or directory: check the path"
    arguments = ["tag", "--hyp", name, "--ref", "ref.txt"]
    assert on_a_terminal(arguments) == (2, f"\x1b[31m{line}\x1b[0m\n")
    assert on_a_terminal(arguments, NO_COLOR="1") == (2, f"{line}\n")
    assert on_a_terminal(arguments, TERM="dumb") == (2, f"{line}\n")


def test_control_characters_of_file_names_stay_names(folder: Path) -> None:
    code, came = on_a_terminal(["tag", "--hyp", "a\nb\x1b[2J", "--ref", "ref.txt"])
    assert (code, came.count("\n")) == (2, 1)
    assert "a b␛[2J: no such file" in came


def test_colours_on_a_terminal(run: Run, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", terminal.stream)
    assert run("tag", "--model", "{tiny}", "--hyp", "mt.txt", "--ref", "ref.txt", "--limit", "1").code == 0
    came = terminal.came()
    assert "\x1b[1;37;41mMajor\x1b[0m" in came
    assert "\x1b[4;30;43mMinor\x1b[0m" in came


def test_output_is_utf8_in_every_locale() -> None:
    program = r"from matese import cli; cli.use_utf8(); print('\xfc\udc80')"
    environment = os.environ | {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True)
    assert ran.stdout.decode() == "ü\\udc80\n"


def test_files_are_in_place_before_anything_is_printed(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    rating = '{"hypothesis": "Das Haus", "errors": [], "system": "%s"}'
    for name in "ab":
        write(folder / f"{name}.jsonl", *[rating % name] * 3)
    for name, more in (("compare", "b.jsonl"), ("score", "--segments")):
        reader, writer = os.pipe()
        os.close(reader)
        monkeypatch.setattr(sys, "stdout", os.fdopen(writer, "w"))
        assert run(name, "a.jsonl", more, "--json", f"{name}.json").code == 128 + signal.SIGPIPE
        assert (folder / f"{name}.json").stat().st_size > 100
