"""Load: a flood of requests for `matese serve`, and many segments for `matese tag`; memory must not grow.

Every answer of the server must be that of the Python interface, or a refusal with `Retry-After`.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import matese
from matese.annotation import Segment, SegmentKey
from matese.formats.tables import jsonl

Address = tuple[str, int]
MATESE = (sys.executable, "-m", "matese")
WORDS = ["das", "Haus", "ist", "neu", "und", "der", "Hund", "schläft", "nicht", "😀", "gut", "42", "%"]


def flood(n_clients: int, seconds: float, *, half_open: int, pause: float) -> None:
    """Sends requests from many threads, and prints the answers and the resources of the server.

    Args:
        n_clients: each sends one request after the other.
        seconds: how long they do.
        half_open: connections without a complete request that stay open meanwhile.
        pause: seconds that a client waits after each answer.
    """
    clients = _Clients(seconds, pause)
    with _server() as (process, address), ExitStack() as opened:
        for number in range(half_open):
            connection = opened.enter_context(socket.create_connection(address))
            connection.sendall(b"POST /annotate HTTP/1.1\r\nHost: localhost\r\n"[: number % 40])
        threads = [threading.Thread(target=clients.ask, args=(address, number)) for number in range(n_clients)]
        for thread in threads:
            thread.start()
        rows = []
        while any(thread.is_alive() for thread in threads):
            rows.append(resources_of(process.pid))
            time.sleep(max(0.5, seconds / 100))
        time.sleep(6)  # idle connections are closed after 5 seconds
        rows.append(resources_of(process.pid))
        print(f"answers by status: {dict(clients.codes)}; wrong: {clients.n_wrong}")
        show(rows)
        process.send_signal(signal.SIGINT)
        print(f"exit code after Ctrl-C: {process.wait(timeout=600)}")


class _Clients:
    """Clients that share some requests, their right answers, and the counts of what came back."""

    def __init__(self, seconds: float, pause: float) -> None:
        drawn = random.Random(0)
        self._requests = [_request(drawn) for _ in range(20)]
        annotator = matese.load("mini", precision="float32", threads=1)
        self._expected = [
            [_comparable(jsonl.to_json(rating)) for rating in annotator.annotate_segments(segments)]
            for segments in self._requests
        ]
        self._end = time.monotonic() + seconds
        self._pause = pause
        self._lock = threading.Lock()
        self.codes = Counter[int]()
        self.n_wrong = 0

    def ask(self, address: Address, number: int) -> None:
        """Sends one request after the other until the time is over."""
        drawn = random.Random(number)
        while time.monotonic() < self._end:
            place = drawn.randrange(len(self._requests))
            code, retry, body = _post(address, self._requests[place])
            if code == 200:
                is_right = [_comparable(rating) for rating in json.loads(body)["ratings"]] == self._expected[place]
            else:
                is_right = code in (429, 503) and retry is not None
            with self._lock:
                self.codes[code] += 1
                self.n_wrong += not is_right
            time.sleep(float(retry or self._pause))


def _request(drawn: random.Random) -> list[Segment]:
    """Returns segments of mixed lengths, most of them short."""
    texts = [" ".join(drawn.choices(WORDS, k=drawn.choice((1, 5, 10, 20, 20, 100)))) for _ in range(6)]
    n_segments = drawn.choice((1, 1, 2, 3))
    return [Segment(texts[i], texts[i + 1], (texts[i + 2],), SegmentKey(index=i)) for i in range(n_segments)]


def _comparable(value: dict[str, Any]) -> str:
    """Returns a rating as text with rounded numbers: other segments of a batch change the last digits."""
    return re.sub(r"-?\d+\.\d+", lambda number: f"{float(number[0]):.2f}", json.dumps(value, sort_keys=True))


def _post(address: Address, segments: Sequence[Segment]) -> tuple[int, str | None, bytes]:
    rows = [{"hypothesis": s.hypothesis, "source": s.source, "references": list(s.references)} for s in segments]
    connection = http.client.HTTPConnection(*address, timeout=300)
    try:
        connection.request("POST", "/annotate", json.dumps({"segments": rows}), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.getheader("Retry-After"), answer.read()
    finally:
        connection.close()


@contextmanager
def _server() -> Iterator[tuple[subprocess.Popen[str], Address]]:
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


def tag_many(n_segments: int, seconds: float, *, checks_only: bool) -> None:
    """Tags the segments, with the embedded model or with checks only, and prints the resources of the process.

    Args:
        n_segments: how many there are.
        seconds: time after which Ctrl-C ends the command.
        checks_only: whether no model reads them.
    """
    with tempfile.TemporaryDirectory() as name:
        drawn = random.Random(0)
        path = Path(name) / "mt.txt"
        with path.open("w", encoding="utf-8") as stream:
            for _ in range(n_segments):
                n_words = drawn.choice((1, 2, 4, 8, 8, 16, 100)) if drawn.random() < 0.1 else drawn.randint(1, 8)
                stream.write(f"{' '.join(drawn.choices(WORDS, k=n_words))}\n")
        how = ["--checks", "only"] if checks_only else ["--threads", "1"]
        command = [*MATESE, "tag", "--hyp", str(path), "--src", str(path), "--format", "jsonl", "--quiet", *how]
        start = time.monotonic()
        rows = list[Resources]()
        count = 0
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            timer = threading.Timer(seconds, process.send_signal, (signal.SIGINT,))
            timer.start()
            assert process.stdout is not None
            for _ in process.stdout:
                count += 1
                if time.monotonic() > start + len(rows):
                    rows.append(resources_of(process.pid))
            timer.cancel()
        assert process.returncode == (0 if count == n_segments else 130), f"exit code {process.returncode}"
    print(f"{count:,} segments in {time.monotonic() - start:.0f} s")
    show(rows)


class Resources(NamedTuple):
    """What a process holds: memory in MB, open files, and threads."""

    memory: int
    files: int
    threads: int


def resources_of(pid: int) -> Resources:
    """Returns what a process holds now."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    memory, threads = (int(re.findall(rf"{name}:\s+(\d+)", status)[0]) for name in ("VmRSS", "Threads"))
    return Resources(memory // 1024, len(os.listdir(f"/proc/{pid}/fd")), threads)


def show(rows: Sequence[Resources]) -> None:
    """Prints whether the resources grew, from samples at equal distances."""
    tenth = max(1, len(rows) // 10)
    for name, column in zip(("memory MB", "files", "threads"), zip(*rows, strict=True), strict=True):
        print(f"{name}: {max(column[:tenth])} in the first tenth, {max(column)} at most, {column[-1]} at the end")
