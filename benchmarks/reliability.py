"""Kill commands, flood the server, and tag many segments; check the results and measure memory.

    python -m benchmarks.reliability kill --times 100
    python -m benchmarks.reliability flood --clients 200 --seconds 300 --half-open 50
    python -m benchmarks.reliability flood --clients 4 --seconds 3600      # a soak
    python -m benchmarks.reliability many --segments 1000000

`kill` ends each command with SIGKILL at random moments, and with a full disk (a limit on the size of files) at random
sizes of its output. The old or the new output must exist, and a second run must write the same as an undisturbed run.
`flood` compares each answer of the server with the ratings of the Python interface. `many` tags generated segments,
a tenth of them first: memory does not grow if both runs need the same. Needs Linux.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import matese
from matese.annotation import Segment, SegmentKey
from matese.formats.tables import jsonl

MATESE = (sys.executable, "-m", "matese")
EXAMPLES = Path(__file__).parents[1] / "examples"
OLD = b"what was there before\n"
WORDS = ["das", "Haus", "ist", "neu", "und", "der", "Hund", "schläft", "nicht", "😀", "gut", "42", "%"]
JOBS = {
    "tag": "tag --hyp mt.txt --ref ref.txt --threads 1 --precision float32 --format jsonl --output out",
    "shard": "tag --hyp mt.txt --ref ref.txt --threads 1 --precision float32 --shard 1/2 --format jsonl --output out",
    "convert": "convert spans.jsonl out --to parquet",
    "export": "convert spans.jsonl out --to csv",
    "report": "report spans.jsonl --output out",
}


def kill(times: int, names: Sequence[str]) -> None:
    """Ends each command a number of times, half of them with a full disk, and prints the outcomes."""
    with tempfile.TemporaryDirectory() as name:
        folder, out = Path(name), Path(name) / "out"
        for text in ("mt.txt", "ref.txt"):
            lines = (EXAMPLES / text).read_text(encoding="utf-8").splitlines()
            (folder / text).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        _run("tag --hyp mt.txt --ref ref.txt --format jsonl --output spans.jsonl", folder)
        for job in names:
            start, found = time.monotonic(), Counter[str]()
            _run(JOBS[job], folder)
            seconds, whole = time.monotonic() - start, out.read_bytes()
            for number in range(times):
                drawn, is_full = random.Random(f"{job} {number}"), number % 2 == 1
                has_old = job != "shard" and drawn.random() < 0.5
                out.unlink(missing_ok=True)
                if has_old:
                    out.write_bytes(OLD)
                size = drawn.randrange(len(whole)) if is_full else None
                code = _run(JOBS[job], folder, seconds=None if is_full else drawn.uniform(0, seconds), most_bytes=size)
                left = out.read_bytes() if out.exists() else None
                assert left in (whole, OLD if has_old else None), f"{job} {number}: {left!r:.80}"
                assert code in ((2,) if is_full else (0, -signal.SIGKILL)), f"{job} {number}: exit code {code}"
                found["full disk" if is_full else "killed" if code else "done before"] += 1
                _run(JOBS[job], folder)
                assert out.read_bytes() == whole, f"{job} {number}: the second run wrote something else"
            print(f"{job}: {dict(found)}, all completed by a second run, byte for byte", flush=True)
            out.unlink()


def _run(arguments: str, folder: Path, *, seconds: float | None = None, most_bytes: int | None = None) -> int:
    """Runs a command; kills it after some time, and limits the size of its files."""

    def limit() -> None:
        if most_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    with subprocess.Popen(
        [*MATESE, *arguments.split()], cwd=folder, stderr=subprocess.PIPE, preexec_fn=limit
    ) as process:
        try:
            error = process.communicate(timeout=seconds)[1].decode()
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return process.wait()
    assert most_bytes is not None or process.returncode == 0, error
    assert "Traceback" not in error, error
    return process.returncode


def flood(clients: int, seconds: float, half_open: int) -> None:
    """Sends requests to the server from many threads, and prints its answers and resources."""
    drawn = random.Random(0)
    requests = [_request(drawn) for _ in range(20)]
    annotator = matese.load("mini", precision="float32", threads=1)
    expected = [[_comparable(jsonl.to_json(one)) for one in annotator.annotate_segments(own)] for own in requests]
    codes, wrong, lock = Counter[int](), [0], threading.Lock()

    def ask(address: tuple[str, int], end: float, number: int) -> None:
        own = random.Random(number)
        while time.monotonic() < end:
            chosen = own.randrange(len(requests))
            code, retry, body = _post(address, requests[chosen])
            is_right = (
                [_comparable(one) for one in json.loads(body)["ratings"]] == expected[chosen]
                if code == 200
                else code in (413, 429, 503) and (code == 413 or retry is not None)
            )
            with lock:
                codes[code] += 1
                wrong[0] += not is_right
            if retry is not None:
                time.sleep(float(retry))

    with _server() as (process, address), ExitStack() as opened:
        for number in range(half_open):
            one = opened.enter_context(socket.create_connection(address))
            one.sendall(b"POST /annotate HTTP/1.1\r\nHost: localhost\r\n"[: number % 40])
        end = time.monotonic() + seconds
        threads = [threading.Thread(target=ask, args=(address, end, number)) for number in range(clients)]
        for thread in threads:
            thread.start()
        rows = []
        while any(thread.is_alive() for thread in threads):
            rows.append(_resources(process.pid))
            time.sleep(max(0.5, seconds / 100))
        time.sleep(6)  # idle connections are closed after 5 seconds
        rows.append(_resources(process.pid))
        process.send_signal(signal.SIGINT)
        code = process.wait(timeout=120)
    print(f"answers by status: {dict(codes)}; wrong: {wrong[0]}; exit code after Ctrl-C: {code}")
    for name, at in (("memory MB", 0), ("files", 1), ("threads", 2)):
        column = [row[at] for row in rows]
        tenth = max(1, len(column) // 10)
        print(f"{name}: {max(column[:tenth])} in the first tenth, {max(column)} at most, {column[-1]} at the end")


def _request(drawn: random.Random) -> list[Segment]:
    """Returns segments of mixed lengths, most of them short."""
    texts = [" ".join(drawn.choices(WORDS, k=drawn.choice((1, 5, 10, 20, 20, 100)))) for _ in range(6)]
    n_segments = drawn.choice((1, 1, 2, 3))
    return [Segment(texts[i], texts[i + 1], (texts[i + 2],), SegmentKey(index=i)) for i in range(n_segments)]


def _comparable(value: dict[str, Any]) -> str:
    """Returns a rating as text with rounded numbers: other segments of a batch change the last digits."""
    return re.sub(r"-?\d+\.\d+", lambda found: f"{float(found[0]):.2f}", json.dumps(value, sort_keys=True))


def _post(address: tuple[str, int], segments: Sequence[Segment]) -> tuple[int, str | None, bytes]:
    rows = [{"hypothesis": s.hypothesis, "source": s.source, "references": list(s.references)} for s in segments]
    connection = http.client.HTTPConnection(*address, timeout=300)
    try:
        connection.request("POST", "/annotate", json.dumps({"segments": rows}), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.getheader("Retry-After"), answer.read()
    finally:
        connection.close()


@contextmanager
def _server() -> Iterator[tuple[subprocess.Popen[str], tuple[str, int]]]:
    command = [*MATESE, "serve", "--port", "0", "--precision", "float32", "--threads", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            match = re.search(r"http://([\d.]+):(\d+)/", line)
            assert match, line
            yield process, (match[1], int(match[2]))
        finally:
            process.kill()


def _resources(pid: int) -> tuple[int, int, int]:
    """Returns the memory in MB, the number of open files and the number of threads of a process."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    memory, threads = (int(re.findall(rf"{name}:\s+(\d+)", status)[0]) for name in ("VmRSS", "Threads"))
    return memory // 1024, len(os.listdir(f"/proc/{pid}/fd")), threads


def many(n_segments: int) -> None:
    """Tags a tenth of the segments and then all of them, and prints the memory of both runs."""
    with tempfile.TemporaryDirectory() as name:
        for number in (n_segments // 10, n_segments):
            drawn, path = random.Random(0), Path(name) / "mt.txt"
            with path.open("w", encoding="utf-8") as stream:
                stream.writelines(f"{' '.join(drawn.choices(WORDS, k=drawn.randint(1, 8)))}\n" for _ in range(number))
            start = time.monotonic()
            command = f"tag --hyp {path} --src {path} --format jsonl --quiet --threads 1"
            count = 0
            with subprocess.Popen([*MATESE, *command.split()], stdout=subprocess.PIPE) as process:
                assert process.stdout is not None
                for _ in process.stdout:
                    count += 1
                usage = os.wait4(process.pid, 0)[2]
            assert count == number, f"{count} of {number} segments"
            print(f"{number:,} segments: {usage.ru_maxrss // 1024} MB, {time.monotonic() - start:.0f} s", flush=True)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    killing = commands.add_parser("kill")
    killing.add_argument("--times", type=int, default=100, help="runs of each command; default: %(default)s")
    killing.add_argument("--only", nargs="+", choices=JOBS, default=list(JOBS))
    flooding = commands.add_parser("flood")
    for option, default in (("--clients", 200), ("--seconds", 300), ("--half-open", 50)):
        flooding.add_argument(option, type=int, default=default, help="default: %(default)s")
    commands.add_parser("many").add_argument("--segments", type=int, default=1_000_000, help="default: %(default)s")
    options = parser.parse_args()
    chosen: dict[str, Callable[[], None]] = {
        "kill": lambda: kill(options.times, options.only),
        "flood": lambda: flood(options.clients, options.seconds, options.half_open),
        "many": lambda: many(options.segments),
    }
    chosen[options.command]()


if __name__ == "__main__":
    _main()
