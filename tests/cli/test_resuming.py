"""A `tag` that ended too early, and the same command again; parts of a command's segments."""

from __future__ import annotations

import contextlib
import json
import resource
import signal
import subprocess
from pathlib import Path

import pytest

from matese.finished_work import FinishedWork
from tests.cli.conftest import Run, write
from tests.cli.test_process import MATESE, ROOT, wait_until


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGKILL])
def test_a_process_that_is_ended_goes_on(
    run: Run, folder: Path, tiny_model_dir: Path, ended_by: signal.Signals
) -> None:
    lines = [f"das ist ein guter Text und noch einer {number} " * 4 for number in range(300)]
    write(folder / "long.txt", *lines)
    command = ["tag", "--hyp", "long.txt", "--ref", "long.txt", "--model", str(tiny_model_dir)]
    command += ["--precision", "float32", "--threads", "1", "--checks", "repetition", "--output", "out.jsonl"]
    part = folder / "out.jsonl.part"
    log = folder / "out.jsonl.part-wal"
    with subprocess.Popen([*MATESE, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: log.exists() and log.stat().st_size > 100_000)
        process.send_signal(ended_by)
        _, said = process.communicate()
    if ended_by == signal.SIGINT:
        assert process.returncode == 130
        assert said.count("\n") == 1
        assert "segments are kept in out.jsonl.part; the same command resumes" in said
    with contextlib.closing(FinishedWork(part)) as work:
        kept = work.n_earlier
    assert 10 < kept < 300
    assert not (folder / "out.jsonl").exists()
    resumed = run(*command)
    assert f"matese: resuming after {kept} segments in out.jsonl.part\n" in resumed.err
    assert not part.exists()
    made = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert [line["hypothesis"] for line in made] == lines
    assert run(*command[:-1], "whole.jsonl").code == 0
    assert (folder / "whole.jsonl").read_bytes() == (folder / "out.jsonl").read_bytes()


def test_a_full_disk_is_reported_and_what_was_made_is_kept(run: Run, folder: Path, tiny_model_dir: Path) -> None:
    write(folder / "long.txt", *["das ist ein guter Text und noch einer " * 5] * 40)
    command = ["tag", "--hyp", "long.txt", "--ref", "long.txt", "--model", str(tiny_model_dir)]
    command += ["--threads", "1", "--output", "out.jsonl"]

    def fill() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    full = subprocess.run([*MATESE, *command], capture_output=True, text=True, preexec_fn=fill)
    assert full.returncode == 2
    assert "the same command resumes" in full.stderr
    assert not (folder / "out.jsonl").exists()
    assert "resuming after " in run(*command).err
    assert len((folder / "out.jsonl").read_text().splitlines()) == 40
