"""An endpoint on this machine that answers, or misbehaves, as a test wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-secret-7319"
GOOD = json.dumps({"errors": []})


@dataclass
class Endpoint:
    """What the endpoint answers to request number n (from 1), and what it was asked."""

    behave: Callable[[Handler, int, dict[str, Any]], None]
    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    lock: Any = field(default_factory=threading.Lock)


class Handler(BaseHTTPRequestHandler):
    """Hands each request to the test."""

    endpoint: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.endpoint.lock:
            self.endpoint.bodies.append(body)
            self.endpoint.keys.append(self.headers.get("Authorization"))
            number = len(self.endpoint.bodies)
        assert self.path == "/v1/chat/completions"
        self.endpoint.behave(self, number, body)

    def answer(self, text: str, *, finish: str = "stop") -> None:
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finish}
        usage = {"prompt_tokens": 100, "completion_tokens": 10}
        self.send(200, json.dumps({"model": "tiny-2", "choices": [choice], "usage": usage}))

    def send(self, status: int, text: str, **headers: str) -> None:
        data = text.encode()
        self.send_response(status)
        for name, value in {"Content_Length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        return


@contextmanager
def serving(behave: Callable[[Handler, int, dict[str, Any]], None]) -> Iterator[Endpoint]:
    endpoint = Endpoint(behave)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Own", (Handler,), {"endpoint": endpoint}))
    server.daemon_threads = True
    server.block_on_close = False
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
