"""The real doccano: it takes what we write, shows our spans, and what a person has added comes back.

Skipped where there is no `doccano` on the search path and none that the variable DOCCANO names. Version 1.8.4, the last
one, needs older packages than it asks for (`uv pip install` takes the same list):

    python3.11 -m venv dc && dc/bin/pip install doccano "marshmallow<4" "setuptools<81" "numpy<2"
    DOCCANO=dc/bin/doccano pytest tests/external/test_doccano.py
"""

from __future__ import annotations

import io
import os
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity
from matese.formats import detection
from matese.formats.format import WriteOptions
from matese.formats.tools import doccano
from tests import browser
from tests.external import servers

PROGRAM = servers.find("doccano")
pytestmark = [pytest.mark.external, pytest.mark.skipif(PROGRAM is None, reason="doccano is not installed")]

GIVEN = Rating(
    Segment(
        "Ein 😀 Haus\n👩‍👩‍👧 und cafe\u0301 stehen  da.",
        "A 😀 tree\nstands there.",
        ("Ein Baum.",),
        SegmentKey("ted", "en-de", "A", "talk", 0),
    ),
    "model",
    (
        ErrorSpan(4, 10, Severity.MINOR),  # around the next one
        ErrorSpan(6, 10, Severity.MAJOR, "Style"),
        ErrorSpan(21, 26, Severity.MINOR),
        ErrorSpan(27, 33, None),
    ),
)
# Without all that the first one has, and without a label.
OTHER = Rating(Segment("שלום 😀"), None, ())
USER = {"username": "ann", "password": "a-long-password"}
PROJECT = {
    "resourcetype": "SequenceLabelingProject",
    "project_type": "SequenceLabeling",
    "name": "Errors",
    "description": "Correct what is marked.",
    "allow_overlapping": True,
    "grapheme_mode": False,
    "use_relation": False,
    "tags": [],
}
LOG_IN = """(user) => {
const headers = {'Content-Type': 'application/json'}, body = JSON.stringify(user);
return fetch('/v1/auth/login/', {method: 'POST', headers, body}).then((answer) => answer.status);
}"""
# The characters over whose middle a line is drawn, line by line.
SHOWN = """() => {
const found = [];
for (const line of document.querySelectorAll('#container line')) {
    const {left, right} = line.getBoundingClientRect(), own = line.closest('g[transform]').querySelector('text');
    const range = document.createRange(), text = own.firstChild;
    let marked = '', unit = 0;
    for (const {segment} of new Intl.Segmenter().segment(text.data)) {
        range.setStart(text, unit); range.setEnd(text, unit += segment.length);
        const box = range.getBoundingClientRect(), middle = (box.left + box.right) / 2;
        if (left < middle && middle < right) marked += segment;
    }
    found.push(marked);
}
return found;
}"""
# Selects a word as a mouse does.
SELECT = """(word) => {
const own = [...document.querySelectorAll('#container text')].find((e) => e.textContent.includes(word));
const text = own.firstChild, range = document.createRange(), start = text.data.indexOf(word);
range.setStart(text, start); range.setEnd(text, start + word.length);
getSelection().removeAllRanges(); getSelection().addRange(range);
const {x, y} = range.getBoundingClientRect();
own.dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: x + 3, clientY: y + 3, view: window}));
}"""
LABELS = "[...document.querySelectorAll('.menuable__content__active .v-list-item')]"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server on which a person may log in, beside the worker that imports and exports."""
    folder = tmp_path_factory.mktemp("doccano")
    port = servers.free_port()
    environment = {"DOCCANO_HOME": str(folder), "HOME": str(folder)}
    program = str(PROGRAM)
    address = f"http://127.0.0.1:{port}"
    for arguments in (["init"], ["createuser", *(f"--{name}={value}" for name, value in USER.items())]):
        command = [program, *arguments]
        environs = {**os.environ, **environment}
        ran = subprocess.run(command, cwd=folder, env=environs, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
    server = [program, "webserver", "--port", str(port), "--workers", "1"]
    with servers.running([program, "task", "--concurrency", "1"], environment, folder, "worker.log") as worker:
        # Both make the queue of tasks where there is none, and the second to do so fails.
        log = folder / "worker.log"
        servers.wait(lambda: " ready." in log.read_text(errors="replace") or worker.poll() is not None)
        assert worker.poll() is None, log.read_text(errors="replace")[-2000:]
        with servers.started(server, address, environment, folder):
            yield address


def test_spans_are_taken_shown_added_to_and_read_again(url: str, tmp_path: Path) -> None:
    client = servers.Client(url)
    client.post("/v1/auth/login/", USER)
    project = f"/v1/projects/{client.post('/v1/projects', PROJECT)['id']}"
    _import(client, project, tmp_path)
    # In the order of the file.
    first, second = client.get(f"{project}/examples?limit=9")["results"]
    names = {one["id"]: one["text"] for one in client.get(f"{project}/span-types")}
    held = [(one["start_offset"], one["end_offset"], names[one["label"]]) for one in _spans(client, project, first)]
    assert held == [(4, 11, "Minor"), (7, 11, "Major: Style"), (25, 30, "Minor"), (31, 37, "Undecided")]
    assert (first["text"], second["text"]) == (GIVEN.segment.hypothesis, OTHER.segment.hypothesis)
    assert _spans(client, project, second) == []
    if browser.CHROMIUM is None:
        label = next(id_ for id_, name in names.items() if name == "Minor")
        span = {"start_offset": 39, "end_offset": 41, "label": label, "prob": 0}
        client.post(f"{project}/examples/{first['id']}/spans", span)
    else:
        with browser.opened() as page:
            _correct(page, url, project.removeprefix("/v1"), tmp_path)
            servers.wait(lambda: len(_spans(client, project, first)) == 5)
    (exported,) = _export(client, project, tmp_path)
    assert detection.detect(exported) == "doccano"
    errors = (*(GIVEN.errors or ()), ErrorSpan(35, 37, Severity.MINOR))
    assert list(doccano.read(exported)) == [replace(GIVEN, errors=errors), OTHER]


def _import(client: servers.Client, project: str, folder: Path) -> None:
    file = folder / "spans.jsonl"
    file.write_text("".join(doccano.write([GIVEN, OTHER], WriteOptions())), encoding="utf-8")
    upload = client.upload("/v1/fp/process/", file, "filepond").decode().strip('"')
    columns = {"encoding": "utf_8", "column_data": "text", "column_label": "label"}
    body = {"format": "JSONL", "task": "SequenceLabeling", "uploadIds": [upload], **columns}
    assert _result(client, client.post(f"{project}/upload", body)) == {"error": []}


def _export(client: servers.Client, project: str, folder: Path) -> list[Path]:
    """Returns the files that the export holds, one a person."""
    task = client.post(f"{project}/download", {"format": "JSONL", "exportApproved": False})
    _result(client, task)
    with zipfile.ZipFile(io.BytesIO(client.download(f"{project}/download?taskId={task['task_id']}"))) as archive:
        return [Path(archive.extract(name, folder / "export")) for name in archive.namelist()]


def _result(client: servers.Client, task: dict[str, str]) -> Any:
    """Returns what the worker says when it has done a task."""
    path = f"/v1/tasks/status/{task['task_id']}"
    servers.wait(lambda: bool(client.get(path)["ready"]))
    found = client.get(path)
    assert found["error"] is None, found["error"]
    return found["result"]


def _spans(client: servers.Client, project: str, example: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"{project}/examples/{example['id']}/spans")
    return found


def _correct(page: Page, url: str, project: str, folder: Path) -> None:
    """Looks at the first example, and marks "da" in it as a person does."""
    page.goto(f"{url}/auth")
    assert page.evaluate(LOG_IN, USER) == 200
    page.goto(f"{url}{project}/sequence-labeling?page=1")
    browser.wait_for(page, "document.querySelectorAll('#container line').length == 4", 300)
    assert page.evaluate(SHOWN) == ["😀 Haus", "Haus", "cafe\u0301", "stehen"]
    page.screenshot(path=folder / "doccano.png")
    page.evaluate(SELECT, "da")
    browser.wait_for(page, f"{LABELS}.length > 1")
    page.evaluate(f"{LABELS}.find((e) => e.innerText.trim() == 'Minor').click()")
    browser.wait_for(page, "document.querySelectorAll('#container line').length == 5")
    assert sorted(page.evaluate(SHOWN)) == sorted(["😀 Haus", "Haus", "cafe\u0301", "stehen", "da"])
