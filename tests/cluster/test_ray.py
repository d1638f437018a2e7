"""The command over a Ray cluster on this machine: one of two workers is killed, and what it had is done by another."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import matese
from matese.annotation import Segment
from matese.formats.tables import jsonl

ROOT = Path(__file__).resolve().parents[2]
N_FILES = 8
N_SEGMENTS = 1000
_PATIENCE = 900
"""Seconds: starting a cluster and its workers takes long on a busy machine."""


@pytest.fixture
def texts(tmp_path: Path) -> list[Segment]:
    """The segments of the files in the folder `in`."""
    made = [
        Segment(f"der Text {number} ist gut " * (number % 7), None, (f"the text {number} is good",))
        for number in range(N_FILES * N_SEGMENTS)
    ]
    (tmp_path / "in").mkdir()
    for number in range(N_FILES):
        expected = made[number * N_SEGMENTS : (number + 1) * N_SEGMENTS]
        lines = [
            json.dumps({"hypothesis": segment.hypothesis, "references": segment.references[0]}) for segment in expected
        ]
        (tmp_path / "in" / f"{number}.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return made


def workers(mark: str) -> Iterator[int]:
    """Yields the process ids of Ray's workers that are tagging and have the mark in their environment."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name = (folder / "cmdline").read_bytes()
            environment = (folder / "environ").read_bytes()
        except OSError:  # gone, or somebody else's
            continue
        if name.startswith(b"ray::MapWorker") and mark.encode() in environment:
            yield int(folder.name)


@pytest.mark.external
@pytest.mark.skipif(not Path("/proc").exists(), reason="finds the workers as Linux lists them")
def test_a_worker_dies_and_the_run_goes_on(tmp_path: Path, tiny_model_dir: Path, texts: list[Segment]) -> None:
    command = [sys.executable, "-m", "matese", "tag", "--cluster", "ray", "--input", "in", "--output", "out"]
    command += ["--model", str(tiny_model_dir), "--precision", "float32", "--threads", "1", "--workers", "2"]
    mark = f"matese-{os.getpid()}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MATESE_TEST": mark}
    out = tmp_path / "out"
    end = time.monotonic() + _PATIENCE
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as process:
        while not list(out.glob("*.jsonl")):
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < end
            time.sleep(0.05)
        os.kill(next(workers(mark)), signal.SIGKILL)
        assert len(list(out.glob("*.jsonl"))) < N_FILES, "it was killed in the middle"
        err = process.communicate(timeout=_PATIENCE)[1]
    assert process.returncode == 0, err
    assert "segments annotated" in err
    # File by file, as the workers do it: in other batches the last digit of a confidence can differ.
    annotator = matese.load(tiny_model_dir, precision="float32", device="cpu")
    parts = [texts[start : start + N_SEGMENTS] for start in range(0, len(texts), N_SEGMENTS)]
    expected = [rating for part in parts for rating in annotator.annotate_segments(part)]
    made = [rating for path in sorted(out.glob("*.jsonl")) for rating in jsonl.read(path)]
    assert made == expected

    # Started again, it does what is not there.
    gone = out / "3.jsonl"
    before = {path: path.stat().st_mtime_ns for path in out.iterdir() if path != gone}
    text = gone.read_text()
    gone.unlink()
    ran = subprocess.run(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
    assert ran.returncode == 0, ran.stderr
    assert gone.read_text() == text
    assert f"{N_FILES - 1} of {N_FILES} files are already annotated" in ran.stderr
    assert {path: path.stat().st_mtime_ns for path in out.iterdir() if path != gone} == before
