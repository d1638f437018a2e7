"""The server as a process of its own, asked by an HTTP client."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.cli.conftest import Run
from tests.serving.process import started

SEGMENT = {"hypothesis": "Das ist gut.", "references": ["Das ist schlecht."]}


@pytest.fixture(scope="module")
def address(tiny_model_dir: Path) -> Iterator[str]:
    settings = ["--timeout", "1", "--max-characters", "5000"]
    # In bf16 the other segments of the command line's batch could change the last digits.
    with started("--model", str(tiny_model_dir), "--precision", "float32", *settings) as (_, url):
        yield url


def test_answers_are_those_of_the_command_line(address: str, run: Run) -> None:
    answer = httpx.post(f"{address}annotate", json={"segments": [SEGMENT]})
    (rating,) = answer.json()["ratings"]
    options = ["--model", "{tiny}", "--hyp", "mt.txt", "--ref", "ref.txt", "--precision", "float32"]
    ran = run("tag", *options, "--format", "jsonl", "--limit", "1")
    assert {**rating, "system": "mt"} == json.loads(ran.out)
    assert httpx.get(address).text.startswith("<!doctype html>")
    assert httpx.get(f"{address}openapi.json").json()["info"]["title"] == "matese"


def test_concurrent_requests_get_their_own_answers(address: str) -> None:
    def ask(number: int) -> list[str]:
        segments = [{**SEGMENT, "hypothesis": f"{number} {index}"} for index in range(number % 4)]
        answer = httpx.post(f"{address}annotate", json={"segments": segments}, timeout=60)
        return [rating["hypothesis"] for rating in answer.json()["ratings"]]

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(24)))
    assert answers == [[f"{number} {index}" for index in range(number % 4)] for number in range(24)]


@pytest.mark.parametrize(
    ("body", "code"),
    [(b"{", 422), (b"\xff", 422), (b'{"segments": [{"source": ""}]}', 422), (b'"' + b"x" * 5_000_000, 413)],
)
def test_bad_requests_leave_the_server_alive(address: str, body: bytes, code: int) -> None:
    answer = httpx.post(f"{address}annotate", content=body, headers={"Content-Type": "application/json"}, timeout=60)
    assert answer.status_code == code
    assert answer.json()["detail"]
    assert httpx.post(f"{address}annotate", json={"segments": [SEGMENT]}).status_code == 200


@dataclass(frozen=True)
class SlowClients:
    """What clients got that kept the server waiting.

    Attributes:
        unended: the answer to a request that did not end.
        silent: the answers to connections without a whole request.
        n_unread: bytes of answers that were not read until the server's limit, out of `n_asked`.
    """

    unended: bytes
    silent: list[bytes]
    n_unread: int
    n_asked: int


@pytest.fixture(scope="module")
def slow(address: str) -> SlowClients:
    """All of them at the same time, since each takes as long as a limit of the server."""
    path = "/docs/swagger/swagger-ui-bundle.js"
    n_requests = 20
    size = int(httpx.head(f"{address}{path[1:]}").headers["content-length"])
    begun = time.monotonic()
    with contextlib.ExitStack() as stack:

        def send(sent: bytes) -> socket.socket:
            place = tuple(re.findall(r"[\d.]+", address))
            client = stack.enter_context(socket.create_connection(place, timeout=60))
            client.sendall(sent)
            return client

        unread = send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * n_requests)
        silent = [send(sent) for sent in (b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: localhost\r\n")]
        unended = send(
            b"POST /annotate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 9\r\n\r\n{"
        )
        answers = [read_to_the_end(client) for client in (unended, *silent)]
        time.sleep(max(0, begun + 7 - time.monotonic()))  # three times the timeout, anew for each request
        return SlowClients(answers[0], answers[1:], len(read_to_the_end(unread)), n_requests * size)


def read_to_the_end(client: socket.socket) -> bytes:
    came = b""
    with contextlib.suppress(ConnectionResetError):
        while part := client.recv(1 << 20):
            came += part
    return came


def test_a_request_that_does_not_end_is_given_up(slow: SlowClients) -> None:
    assert slow.unended.startswith(b"HTTP/1.1 408 ")
    assert b"took too long to arrive: must be 1 s at most" in slow.unended


def test_connections_without_a_request_are_closed(slow: SlowClients) -> None:
    assert slow.silent == [b""] * 3


def test_a_client_that_does_not_read_its_answer_is_dropped(slow: SlowClients) -> None:
    assert slow.n_unread < slow.n_asked


def test_ctrl_c_answers_what_has_been_accepted(tiny_model_dir: Path) -> None:
    with started("--model", str(tiny_model_dir)) as (process, address), ThreadPoolExecutor(4) as pool:
        texts = [{**SEGMENT, "hypothesis": f"{SEGMENT['hypothesis']} {number}" * 9} for number in range(60)]
        asked = [pool.submit(httpx.post, f"{address}annotate", json={"segments": texts}, timeout=60) for _ in range(4)]
        next(as_completed(asked))
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60) == ("", "")
        assert process.returncode == 130
        with pytest.raises(httpx.ConnectError):
            httpx.get(address)
    answered = [future.result().json()["ratings"] for future in asked if future.exception() is None]
    assert len(answered) > 1
    assert all(ratings == answered[0] and len(ratings) == 60 for ratings in answered)


def test_busy_port(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        assert run("serve", "--port", str(port)).refused().startswith(f"--host 127.0.0.1 --port {port}: ")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--port", "65536"], "--port: '65536'"),
        (["--port", "http"], "--port: 'http'"),
        (["--host", "192.0.2.1"], "--host 192.0.2.1 --port 8000: not an address of this machine"),
        (["--host", "a..b"], "--host a..b --port 8000: no such address"),
        (["--max-segments", "0"], "--max-segments: '0'"),
        (["--timeout", "0.5"], "--timeout: '0.5'"),
        (["--output", "x.jsonl"], "--output, --lang-pair, --columns and --checks need FILE"),
        (["-"], "FILE is standard input"),
        (["mt.csv", "--output", "mt.html"], "--output mt.html"),
        (["mt.csv", "--output", "no/mt.jsonl"], "--output no/mt.jsonl: its directory does not exist"),
        (["other.jsonl", "--output", "other.jsonl"], "--output other.jsonl is the input other.jsonl"),
        (["mt.csv", "--host", "0.0.0.0", "--port", "0"], "--host 0.0.0.0"),
        (["other.jsonl", "--model", "m", "--port", "0"], "--model m: other.jsonl has marks"),
        (["mt.csv", "--output", "other.jsonl", "--port", "0"], "other.jsonl: 1 rating of another translation"),
        (["--model", "maxi", "--port", "0"], "no model maxi: no such directory"),
    ],
)
def test_bad_usage(run: Run, folder: Path, arguments: list[str], problem: str) -> None:
    (folder / "mt.csv").write_text("source,target\nYes,Ja\n", encoding="utf-8")
    (folder / "other.jsonl").write_text('{"hypothesis": "Nein", "errors": []}\n', encoding="utf-8")
    assert run("serve", *arguments).refused().startswith(problem)


def test_a_file_without_marks_is_marked_first(tmp_path: Path, tiny_model_dir: Path) -> None:
    table = tmp_path / "mt.csv"
    table.write_text("source,target\nYes,Ja\n,Nein\n", encoding="utf-8")
    with started(str(table), "--model", str(tiny_model_dir)) as (_, address):
        page = httpx.get(address).text
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    translations = [row["translations"][0] for row in data["rows"]]
    assert [text["score"] is None for text in translations] == [False, True]


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_missing_extra(run: Run, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == package else name)
    assert package in run("serve").refused()


def test_other_machines_are_let_in_only_where_that_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("matese.serving.server.run", lambda *arguments: None)
    ran = run("serve", "--host", "0.0.0.0", "--port", "0", "--model", "{tiny}")
    assert ran.err.splitlines()[0] == "matese: 0.0.0.0 is open to other machines: everybody who can reach it can use it"
    assert run("serve", "--port", "0", "--model", "{tiny}").err.count("\n") == 1
