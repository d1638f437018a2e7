"""End commands at random moments: by SIGKILL, and by a full disk at a random size of their output.

Each run is a process forked from one that has imported the libraries, so that most kills hit the work itself. A full
disk is a limit on the size of files. Afterwards each output must be whole, or the old one, or missing; and a second
run must end with the outputs of an undisturbed run, byte for byte.
"""

from __future__ import annotations

import functools
import hashlib
import http.client
import http.server
import importlib
import json
import multiprocessing
import os
import random
import resource
import shutil
import socket
import tarfile
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

from matese.model.storage import checkpoint

EXAMPLES = Path(__file__).parents[2] / "examples"
OLD = b"what was there before\n"
TAG = "matese tag --hyp mt.txt --ref ref.txt --threads 1 --precision float32 --format jsonl --output out"
RAY = "--cluster ray --workers 1 --threads 1 --precision float32 --columns hypothesis=mt reference=ref"
SERVE = "matese serve --threads 1 --precision float32 --port"
TRAIN = f"""
encoder: {{model_type: xlm-roberta, hidden_size: 8, num_hidden_layers: 1, num_attention_heads: 2,
          intermediate_size: 16, max_position_embeddings: 514}}
tokenizer: {checkpoint.resolve("mini")}
model: {{layers: {{extra: 0}}, heads: {{tags: {{}}, score: {{}}}}}}
data: {{train: [spans.jsonl], dev: [spans.jsonl]}}
output: out
training: {{learning_rate: 1e-2, batch_tokens: 256, max_epochs: 3, validate_every: 3, save_minutes: 0,
           precision: float32, accelerator: cpu}}
"""
IMPORTED = (
    *(
        "matese.model.annotator",
        "matese.cli.tag",
        "matese.formats.registry",
        "matese.formats.writing",
        "matese.finished_work",
    ),
    *("matese.render.report_page", "matese.serving.server", "matese.training.run", "matese.cluster.pipeline"),
    *("data_prep.__main__", "data_prep.download", "pooch", "requests", "pyarrow.parquet", "ray.data"),
)


@dataclass(frozen=True, slots=True)
class Job:
    """A command that writes `out`.

    Attributes:
        command: program and arguments.
        outputs: patterns of the files that must never be there in part.
        resumed: the command of the second run if `begun` is there.
        begun: a file that the first run leaves.
        has_old: whether there may be an old output, which is replaced.
        fills_disk: whether half of the runs get a full disk.
    """

    command: str
    outputs: tuple[str, ...] = ("out",)
    resumed: str = ""
    begun: str = "out/config.yaml"
    has_old: bool = False
    fills_disk: bool = True


JOBS = {
    "tag": Job(TAG, has_old=True),
    "shard": Job(f"{TAG} --shard 1/2"),
    "parquet": Job("matese convert spans.jsonl out --to parquet", has_old=True),
    "csv": Job("matese convert spans.jsonl out --to csv", has_old=True),
    "word-tags": Job("matese convert spans.jsonl out --to word-tags", ("out/*",)),
    "report": Job("matese report spans.jsonl --output out", has_old=True),
    "download": Job("data_prep download --list raw_files.tsv --base-url {url} --output out", ("out/raw/*.tsv",)),
    "train": Job("matese train --config train.yaml", ("out/model/*", "out/*.json"), "matese train --resume out"),
    # Ray's own logs would be the first to meet a full disk.
    "cluster": Job(f"matese tag {RAY} --input in --output out", ("out/*.jsonl",), fills_disk=False),
}
NAMES = (*JOBS, "serve")


def run(numbers: range, names: Sequence[str]) -> None:
    """Ends each command once for each number, and prints the outcomes."""
    for name in IMPORTED:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory() as name, _web_server(Path(name) / "web") as url:
        folder = Path(name)
        _write_inputs(folder)
        _end(_start(TAG.replace("--output out", "--output spans.jsonl"), folder))
        for job in names:
            start = time.monotonic()
            counts = _end_server(numbers, folder) if job == "serve" else _end_job(job, numbers, folder, url)
            outcomes = ", ".join(f"{count} {what}" for what, count in counts.most_common())
            print(f"{job}: {outcomes}; all completed by a second run; {time.monotonic() - start:.0f} s", flush=True)


def _end_job(name: str, numbers: range, folder: Path, url: str) -> Counter[str]:
    job = JOBS[name]
    counts = Counter[str]()
    command = job.command.format(url=url)
    for _ in range(2):  # the first run is slower
        _clear(folder)
        start = time.monotonic()
        _end(_start(command, folder))
        seconds = time.monotonic() - start
    whole = _outputs(job, folder)
    assert whole
    for number in numbers:
        drawn = random.Random(f"{name} {number}")
        is_full = job.fills_disk and number % 2 == 1
        _clear(folder)
        allowed = {path: [content] for path, content in whole.items()}
        if job.has_old and drawn.random() < 0.5:
            (folder / "out").write_bytes(OLD)
            allowed["out"].append(OLD)
        most_bytes = drawn.randrange(max(map(len, whole.values()))) if is_full else None
        started = _start(command, folder, most_bytes)
        code = _end(started, None if is_full else drawn.uniform(0, seconds), allowed=(2,) if is_full else (0, -9))
        for path, content in _outputs(job, folder).items():
            assert content in allowed[path], f"{name} {number}: {path} is {content!r:.80}"
        counts["full disk" if is_full else {0: "done before", -9: "killed"}.get(code, "not started")] += 1
        while _outputs(job, folder) != whole:
            again = job.resumed if job.resumed and (folder / job.begun).exists() else command
            if _end(_start(again, folder)) == 0:
                break
        assert _outputs(job, folder) == whole, f"{name} {number}: the second run wrote something else"
    return counts


def _end_server(numbers: range, folder: Path) -> Counter[str]:
    """Kills the server while it answers; the next one, at the same port, answers as the first one did."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    counts = Counter[str]()
    expected = b""
    for number in (*numbers, -1):
        started = _start(f"{SERVE} {port}", folder)
        end = time.monotonic() + 60
        while not (answer := _ask(port)):
            assert time.monotonic() < end, started.error()
            time.sleep(0.02)
        assert answer == (expected := expected or answer)
        killer = threading.Timer(random.Random(number).uniform(0, 0.2), started.process.kill)
        killer.start()
        while answer := _ask(port):
            assert answer == expected
        killer.join()
        _end(started, allowed=(-9,))
        counts["killed"] += number >= 0
    return counts


def _ask(port: int) -> bytes:
    """Returns the answer of the server; nothing if there is none, or only a part of it."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        body = '{"segments": [{"hypothesis": "Das ist gut.", "references": ["Das ist schlecht."]}]}'
        connection.request("POST", "/annotate", body, {"Content-Type": "application/json"})
        return connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        return b""
    finally:
        connection.close()


@dataclass(frozen=True, slots=True)
class _Started:
    """A forked command, with the pipe that is its standard error."""

    command: str
    process: BaseProcess
    pipe: int

    def error(self) -> str:
        """Returns what it has written to standard error, which is closed."""
        os.set_blocking(self.pipe, False)
        try:
            return f"{self.command}: {os.read(self.pipe, 1 << 20).decode()}"
        except BlockingIOError:
            return ""
        finally:
            os.close(self.pipe)


def _start(command: str, folder: Path, most_bytes: int | None = None) -> _Started:
    """Starts a command; files may have `most_bytes`."""
    reading, writing = os.pipe()
    process = multiprocessing.get_context("fork").Process(target=_work, args=(command, folder, most_bytes, writing))
    process.start()
    os.close(writing)
    return _Started(command, process, reading)


def _work(command: str, folder: Path, most_bytes: int | None, error: int) -> None:
    from data_prep import __main__ as data_prep
    from matese import cli

    os.chdir(folder)
    os.dup2(error, 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if most_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    program, *arguments = command.split()
    raise SystemExit(cli.main(arguments) if program == "matese" else data_prep.main(arguments))


def _end(started: _Started, seconds: float | None = None, *, allowed: tuple[int, ...] = (0,)) -> int:
    """Waits for a command, kills it after some time, and returns its exit code.

    Ray does not start on a machine so busy that it takes more than 30 seconds.
    """
    started.process.join(seconds)
    started.process.kill()
    started.process.join()
    code = started.process.exitcode
    error = started.error()
    assert code is not None
    assert code in allowed or "Ray did not start" in error, f"exit code {code}: {error}"
    assert "Traceback" not in error, error
    return code


def _outputs(job: Job, folder: Path) -> dict[str, bytes]:
    paths = [path for pattern in job.outputs for path in folder.glob(pattern) if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths if not path.name.startswith(".")}


def _clear(folder: Path) -> None:
    for path in folder.glob("out*"):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _write_inputs(folder: Path) -> None:
    texts = {name: (EXAMPLES / f"{name}.txt").read_text(encoding="utf-8").splitlines() for name in ("mt", "ref")}
    for name, lines in texts.items():
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (folder / "in").mkdir()
    for number in range(3):
        rows = zip(texts["mt"], texts["ref"], strict=True)
        table = "".join(json.dumps({"mt": mt, "ref": ref}) + "\n" for mt, ref in rows)
        (folder / "in" / f"{number}.jsonl").write_text(table, encoding="utf-8")
    (folder / "train.yaml").write_text(TRAIN, encoding="utf-8")
    _write_raw_files(folder)


def _write_raw_files(folder: Path) -> None:
    """Writes a list of raw files, and the repository that holds them."""
    home = folder / "web" / "owner" / "name" / "commit"
    home.mkdir(parents=True)
    rows = ["file\trepository\tcommit\tpath\tmember\tsha256\tlicence"]
    for number in range(3):
        content = random.Random(number).randbytes(2_000_000)
        (home / f"{number}.tsv").write_bytes(content)
        with tarfile.open(home / f"{number}.tar.gz", "w:gz", compresslevel=1) as archive:
            archive.add(home / f"{number}.tsv", "member.tsv")
        digest = hashlib.sha256(content).hexdigest()
        for name, member in ((f"{number}.tsv", ""), (f"{number}.tar.gz", "member.tsv")):
            rows.append("\t".join((f"raw/{name}.tsv", "owner/name", "commit", name, member, digest, "CC0-1.0")))
    (folder / "raw_files.tsv").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Prints nothing."""


@contextmanager
def _web_server(folder: Path) -> Iterator[str]:
    """Serves a folder; yields the address."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
