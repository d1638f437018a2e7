import os
import sys
from collections.abc import Iterator

import pytest

from matese.cli import messages
from matese.tasks import notices, sinks
from tests.cli.conftest import Run, Terminal


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(messages, "_PATIENCE", -1.0)
    monkeypatch.setattr(messages, "_WATCHING", 600.0)
    with notices.heard_by(messages):
        yield


def test_bar_of_long_work(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    with messages.bar(1234) as bar:
        bar.advance()
        bar.advance()
    came = terminal.came()
    assert "segments" in came
    assert "2/1234" in came
    assert came.rstrip("\r").endswith("\x1b[2K"), "the line is cleared"


def test_bar_of_one_long_unit(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    monkeypatch.setattr(messages, "_WATCHING", 0.01)

    def work() -> Iterator[str]:
        came = ""
        while "0/1" not in came:  # the bar does not wait for the first unit
            came += os.read(terminal.descriptor, 65536).decode()
        yield came

    assert len(list(notices.progress(work(), 1))) == 1


def test_messages_hide_the_bar(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    with messages.bar(3) as bar:
        bar.advance()
        monkeypatch.setattr(messages, "_PATIENCE", 60.0)
        messages.error("stopped")
        assert terminal.came().endswith("\x1b[2K\x1b[31mmatese: stopped\x1b[0m\r\n")


def test_bar_gives_way_to_results_on_a_terminal(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    results = sinks.Output(terminal.stream, "a terminal", is_stdout=True, is_live=True)
    with messages.bar(3) as bar:
        bar.advance()
        bar.make_way()
        assert terminal.came().rstrip("\r").endswith("\x1b[2K"), "the line is cleared"
        results.write("line\n")
        assert terminal.came() == "line\r\n"


def test_results_are_the_same_beside_a_bar(run: Run, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ("tag", "--model", "{tiny}", "--hyp", "mt.txt", "--ref", "ref.txt", "--format", "jsonl")
    without = run(*command)
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    beside = run(*command)
    came = terminal.came()
    assert "3/3" in came
    assert came.endswith(without.err.replace("\n", "\r\n")), "what is told comes when the bar is gone"
    assert (beside.code, beside.out) == (without.code, without.out)


@pytest.mark.parametrize(("seconds", "is_muted", "n_lines"), [(0.0, False, 2), (60.0, False, 0), (0.0, True, 0)])
def test_lines_of_progress_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], seconds: float, is_muted: bool, n_lines: int
) -> None:
    monkeypatch.setattr(messages, "_REPORTING", seconds)
    with messages.muted(is_muted), messages.bar(4) as bar:
        bar.advance()
        bar.advance()
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(",")[0] for line in lines] == ["matese: 1 of 4 segments", "matese: 2 of 4 segments"][
        :n_lines
    ]
