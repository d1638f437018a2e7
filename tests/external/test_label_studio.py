"""The real Label Studio: it takes our configuration and tasks, shows our spans, and gives a person's back.

Skipped where there is no `label-studio` on the search path, none that the variable LABEL_STUDIO names, or no Chromium:

    python -m venv ls && ls/bin/pip install label-studio
    LABEL_STUDIO=ls/bin/label-studio pytest tests/external/test_label_studio.py
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, Severity
from matese.formats.format import WriteOptions
from matese.formats.tools import label_studio
from tests import browser
from tests.external import servers

PROGRAM = servers.find("label-studio")
pytestmark = [pytest.mark.external, pytest.mark.skipif(PROGRAM is None, reason="Label Studio is not installed")]

SEGMENT = Segment(
    "Ein 😀 Haus\n👩‍👩‍👧 steht  da.",
    "A 😀 tree\nstands there.",
    ("Ein Baum.",),
    SegmentKey("ted", "en-de", "A", "talk", 0),
)
GIVEN = Rating(
    SEGMENT,
    "model",
    (ErrorSpan(6, 10, Severity.MAJOR, "Style", 0.5), ErrorSpan(17, 22, Severity.MINOR)),
    (ErrorSpan(4, 8, Severity.MINOR),),
    overall=Overall(70, "esa"),
)
USER = {"email": "ann@example.org", "password": "a-long-password"}
MARKS = ".htx-highlight"
# Selects a word as a mouse does, in the last of the texts shown.
SELECT = """(word) => {
const line = [...document.querySelectorAll('.lsf-richtext__line')].at(-1);
const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
let text; while (walker.nextNode()) if (walker.currentNode.data.includes(word)) text = walker.currentNode;
const range = document.createRange(), start = text.data.indexOf(word);
range.setStart(text, start); range.setEnd(text, start + word.length);
getSelection().removeAllRanges(); getSelection().addRange(range);
const {x, y} = range.getBoundingClientRect();
const up = new MouseEvent('mouseup', {bubbles: true, clientX: x + 3, clientY: y + 3, view: window});
text.parentElement.dispatchEvent(up);
}"""
VALIDATE = """
import json, sys
from label_studio_sdk.label_interface import LabelInterface
config, tasks = sys.argv[1:]
interface = LabelInterface(open(config, encoding="utf-8").read())
interface.validate()
for task in json.load(open(tasks, encoding="utf-8")):
    interface.validate_task({"data": task["data"]})
    for prediction in task["predictions"]:
        faults = interface.validate_prediction(prediction, return_errors=True)
        assert not faults, faults
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server, on which a person may log in."""
    folder = tmp_path_factory.mktemp("label-studio")
    port = servers.free_port()
    name = ["--username", USER["email"], "--password", USER["password"]]
    command = [str(PROGRAM), "start", "--no-browser", "--port", str(port), *name]
    quiet = {"COLLECT_ANALYTICS": "False", "SENTRY_DSN": "", "LATEST_VERSION_CHECK": "False"}
    environment = {**quiet, "HOME": str(folder), "LABEL_STUDIO_BASE_DATA_DIR": str(folder)}
    address = f"http://127.0.0.1:{port}"
    with servers.started(command, f"{address}/user/login", environment, folder):
        yield address


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written") / "tasks"
    label_studio.save([GIVEN], folder, WriteOptions())
    return folder


def test_its_own_parser_takes_configuration_and_predictions(files: Path) -> None:
    python = Path(str(PROGRAM)).with_name("python")
    paths = [str(files / name) for name in (label_studio.CONFIG, label_studio.TASKS)]
    ran = subprocess.run([python, "-c", VALIDATE, *paths], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.skipif(browser.CHROMIUM is None, reason="chromium is not installed")
def test_spans_are_shown_corrected_and_read_again(url: str, files: Path, tmp_path: Path) -> None:
    client = servers.Client(url)
    client.log_in("/user/login", **USER)
    config = (files / label_studio.CONFIG).read_text(encoding="utf-8")
    settings = {"label_config": config, "show_collab_predictions": True, "model_version": "model"}
    project = client.post("/api/projects", {"title": "trial", **settings})["id"]
    imported = json.loads(client.upload(f"/api/projects/{project}/import", files / label_studio.TASKS))
    assert imported["prediction_count"] == 1
    (task,) = client.get(f"/api/tasks?project={project}&fields=all")["tasks"]
    with browser.opened() as page:
        _log_in(page, url)
        page.goto(f"{url}/projects/{project}/data?task={task['id']}")
        _wait_for_marks(page, "Haus", "steht", "tree")
        page.screenshot(path=tmp_path / "label-studio.png")
        page.keyboard.press("3")  # Major
        page.wait_for_selector(".lsf-label_selected")
        page.evaluate(SELECT, "da")
        _wait_for_marks(page, "Haus", "da", "steht", "tree")
        page.click("[aria-label='Submit current annotation']")
        servers.wait(lambda: client.get(f"/api/tasks?project={project}")["total_annotations"] == 1)
    export = tmp_path / "export.json"
    export.write_text(json.dumps(client.get(f"/api/projects/{project}/export?exportType=JSON")), encoding="utf-8")
    (corrected,) = label_studio.read(export)
    errors = (*(GIVEN.errors or ()), ErrorSpan(24, 26, Severity.MAJOR))
    assert corrected == replace(GIVEN, rater=corrected.rater, errors=errors)


def _log_in(page: Page, url: str) -> None:
    page.goto(f"{url}/user/login")
    for name, value in USER.items():
        page.fill(f"[name={name}]", value)
    page.evaluate("document.querySelector('form').submit()")
    page.wait_for_url(lambda address: "/user/login" not in address)


def _wait_for_marks(page: Page, *texts: str) -> None:
    """Waits until these texts are marked, in any order: the page draws its marks several times."""
    marked = f"[...document.querySelectorAll('{MARKS}')].map((mark) => mark.innerText).sort()"
    browser.wait_for(page, f"JSON.stringify({marked}) == {json.dumps(json.dumps(texts, separators=(',', ':')))}", 300)
