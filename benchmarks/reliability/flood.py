"""Flood `matese serve`: every answer must be that of the Python interface, or a refusal with `Retry-After`."""

from __future__ import annotations

import http.client
import json
import random
import re
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import matese
from benchmarks.reliability.process import MATESE, WORDS, resources_of, show
from matese.annotation import Segment, SegmentKey
from matese.formats.tables import jsonl

Address = tuple[str, int]


def run(n_clients: int, seconds: float, *, half_open: int, pause: float) -> None:
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
        self._end, self._pause, self._lock = time.monotonic() + seconds, pause, threading.Lock()
        self.codes, self.n_wrong = Counter[int](), 0

    def ask(self, address: Address, number: int) -> None:
        """Sends one request after the other until the time is over."""
        drawn = random.Random(number)
        while time.monotonic() < self._end:
            chosen = drawn.randrange(len(self._requests))
            code, retry, body = _post(address, self._requests[chosen])
            if code == 200:
                is_right = [_comparable(rating) for rating in json.loads(body)["ratings"]] == self._expected[chosen]
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
