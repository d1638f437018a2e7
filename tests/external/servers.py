"""Real servers of annotation tools, each in a folder of its own with its embedded database."""

from __future__ import annotations

import http.cookiejar
import json
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_PATIENCE = 1800.0
"""Seconds until a server answers: it makes its database at first, which takes minutes."""


def find(program: str) -> str | None:
    """Returns the program that the variable of its name (LABEL_STUDIO) or the search path names."""
    return os.environ.get(program.upper().replace("-", "_")) or shutil.which(program)


def free_port() -> int:
    """Returns a port that nobody uses."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def started(command: Sequence[str], url: str, environment: Mapping[str, str], folder: Path) -> Iterator[None]:
    """Runs a server while the body runs, which begins when it answers."""
    with running(command, environment, folder) as server:
        wait(lambda: _answers(url) or server.poll() is not None, _PATIENCE)
        assert server.poll() is None, (folder / "server.log").read_text(errors="replace")[-2000:]
        yield


@contextmanager
def running(
    command: Sequence[str], environment: Mapping[str, str], folder: Path, log: str = "server.log"
) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a program while the body runs, with what it says in a file of the folder."""
    with open(folder / log, "wb") as said:
        program = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **environment}, stdout=said, stderr=said, start_new_session=True
        )
        try:
            yield program
        finally:
            os.killpg(program.pid, 15)
            program.wait(timeout=60)


def wait(is_done: Callable[[], bool], seconds: float = 300.0) -> None:
    """Returns when it is done. Raises an AssertionError if it is not in time."""
    end = time.monotonic() + seconds
    while not is_done():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(1)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=30):
            return True
    except (urllib.error.URLError, OSError):
        return False


class Client:
    """A person who has logged in: cookies, and the token against forged requests."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._cookies = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self._cookies))

    def log_in(self, path: str, **fields: str) -> None:
        """Fills in the form of a page."""
        page = self._call(path).decode()
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert token is not None
        data = urllib.parse.urlencode({**fields, "csrfmiddlewaretoken": token[1]}).encode()
        self._call(path, data, {"Referer": f"{self._url}{path}"})

    def get(self, path: str) -> Any:
        """Returns what the server answers, as JSON."""
        return json.loads(self._call(path))

    def post(self, path: str, body: object) -> Any:
        """Sends JSON and returns the answer."""
        return json.loads(self._call(path, json.dumps(body).encode(), {"Content-Type": "application/json"}))

    def upload(self, path: str, file: Path, field: str = "file") -> bytes:
        """Sends a file, as a form does, and returns the answer."""
        border = uuid.uuid4().hex
        head = f'Content-Disposition: form-data; name="{field}"; filename="{file.name}"'
        body = f"--{border}\r\n{head}\r\n\r\n".encode() + file.read_bytes() + f"\r\n--{border}--\r\n".encode()
        return self._call(path, body, {"Content-Type": f"multipart/form-data; boundary={border}"})

    def download(self, path: str) -> bytes:
        """Returns what the server answers, as it is."""
        return self._call(path)

    def _call(self, path: str, data: bytes | None = None, headers: Mapping[str, str] | None = None) -> bytes:
        token = next((cookie.value for cookie in self._cookies if cookie.name == "csrftoken"), None)
        sent = {**(headers or {}), **({"X-CSRFToken": token} if token else {})}
        try:
            with self._opener.open(urllib.request.Request(f"{self._url}{path}", data, sent), timeout=300) as answer:
                found: bytes = answer.read()
                return found
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path}: {error.code} {error.read()[:500]!r}") from None
