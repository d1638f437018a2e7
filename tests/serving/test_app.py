"""The interface for programs, over Starlette's own client; tests/cli/test_serve.py starts a real server."""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

import matese
from matese.annotation import Rating, Segment, SegmentKey
from matese.formats.tables import jsonl
from matese.serving import app
from matese.serving.limits import Limits
from tests.conftest import TinyModelFactory

Client = partial(TestClient, base_url="http://localhost:8000")
LIMITS = Limits(segments=3, characters=100, seconds=60)
TEXT = {"hypothesis": "Das ist 😀 gut.", "source": "That is good.", "references": ["Das ist schlecht."]}


@pytest.fixture(scope="module")
def annotator(tiny_model_dir: Path) -> matese.Annotator:
    return matese.load(tiny_model_dir, precision="float32")


@pytest.fixture(scope="module")
def client(annotator: matese.Annotator) -> Iterator[TestClient]:
    with Client(app.make_app(annotator, LIMITS), raise_server_exceptions=False) as connected:
        yield connected


def ask(client: TestClient, *segments: object) -> Any:
    return client.post("/annotate", json={"segments": segments})


def test_ratings_are_those_of_the_command_line(client: TestClient, annotator: matese.Annotator) -> None:
    blank = {"hypothesis": "", "source": "x"}
    answer = ask(client, TEXT, blank)
    assert answer.status_code == 200
    segments = [
        Segment("Das ist 😀 gut.", "That is good.", ("Das ist schlecht.",), SegmentKey(index=0)),
        Segment("", "x", (), SegmentKey(index=1)),
    ]
    assert answer.json() == {"ratings": [jsonl.to_json(rating) for rating in annotator.annotate_segments(segments)]}
    assert answer.json()["ratings"][0]["errors"]


def test_texts_may_have_the_names_that_tables_have(client: TestClient) -> None:
    names = {"src": TEXT["source"], "mt": TEXT["hypothesis"], "ref": TEXT["references"][0]}
    assert ask(client, names).json() == ask(client, {**names, "id": "7a"}).json() == ask(client, TEXT).json()


def test_a_language_that_the_model_does_not_know_is_said(tiny_model_factory: TinyModelFactory) -> None:
    annotator = matese.load(tiny_model_factory("pairs", lang_pairs=("en-de",)), precision="float32")
    with Client(app.make_app(annotator, LIMITS)) as server:
        texts = {"hypothesis": "가게는", "references": ["가게는"]}
        assert ask(server, texts).json()["warning"].startswith("the model was not trained on the Hangul script")
        assert "warning" not in ask(server, TEXT).json()


def test_no_segments_have_no_ratings(client: TestClient) -> None:
    assert ask(client).json() == {"ratings": []}


def test_description_holds_what_is_asked_and_answered(client: TestClient) -> None:
    described = client.get("/openapi.json").json()
    operation = described["paths"]["/annotate"]["post"]
    question = operation["requestBody"]["content"]["application/json"]["schema"]
    answer = operation["responses"]["200"]["content"]["application/json"]["schema"]
    parts = {"components": described["components"]}
    jsonschema.validate({"segments": [TEXT]}, {**question, **parts}, jsonschema.Draft202012Validator)
    jsonschema.validate(ask(client, TEXT).json(), {**answer, **parts}, jsonschema.Draft202012Validator)
    with pytest.raises(jsonschema.ValidationError, match="'index' is a required property"):
        jsonschema.validate({"ratings": [{}]}, {**answer, **parts}, jsonschema.Draft202012Validator)
    assert set(operation["responses"]) == {"200", "400", "408", "413", "422", "500", "503"}


@pytest.mark.parametrize(
    ("body", "code", "place"),
    [
        ("", 422, "empty"),
        ("{", 422, "truncated"),
        ('"text"', 422, "Expected `object`"),
        ("{}", 422, "`segments`"),
        ('{"segment": []}', 422, "'segment'"),
        ('{"segments": [{"hypothesis": "\\ud800", "source": ""}]}', 422, "surrogate"),
        ('{"segments": [{"hypothesis": "", "\\ud800": ""}]}', 422, "surrogate"),
        ("[" * 10_000, 413, "5,200 bytes"),
        ("[" * 4000, 422, "nested"),
        ('{"segments": ' + "[" * 4000, 422, "nested"),
        ('{"segments": [], "segments": []}', 422, "twice"),
        (json.dumps({"segments": [TEXT] * 4}), 413, "4 segments"),
        (json.dumps({"segments": [TEXT]}).replace("good", "good" * 20), 413, "120 characters"),
    ],
)
def test_bad_requests_are_told_and_the_server_lives_on(client: TestClient, body: str, code: int, place: str) -> None:
    answer = client.post("/annotate", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == code
    assert place in answer.json()["detail"]
    assert len(ask(client, TEXT).json()["ratings"]) == 1


def test_blank_texts_are_missing_and_counted(client: TestClient) -> None:
    answer = ask(client, {**TEXT, "references": [" "]}, TEXT)
    first, second = answer.json()["ratings"]
    assert ("|inputs:source|" in first["rater"], "|inputs:source+reference|" in second["rater"]) == (True, True)
    assert answer.json()["warning"].startswith("1 of 2 segments has a blank source or reference")
    assert "needs" in ask(client, {"hypothesis": "a", "source": "\u3000", "references": [""]}).json()["detail"]


@pytest.mark.parametrize(
    ("segment", "place"),
    [
        ({}, "translations"),
        ("text", "not an object"),
        ([[]], "not an object"),
        ({"source": "a"}, "translations"),
        ({"hypothesis": None, "source": ""}, "hypothesis"),
        ({"hypothesis": ["a"], "source": ""}, "hypothesis"),
        ({"hypothesis": "a", "source": 1}, "source"),
        ({"hypothesis": "a", "references": [1]}, "references"),
        ({"hypothesis": "a", "refs": []}, "reference"),
        ({"hypothesis": "a", "source": "b", "referenze": ["c"]}, "did you mean 'references'"),
        ({"mt": "a", "hypothesis": "b", "source": "c"}, "another hypothesis"),
        ({"hypothesis": "a", "source": "b", "src": "c"}, "another source"),
        ({"hypothesis": "a"}, "model tiny"),
    ],
)
def test_a_bad_segment_is_named(client: TestClient, segment: object, place: str) -> None:
    answer = ask(client, TEXT, segment)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("segments[1]: ")
    assert place in answer.json()["detail"]


def test_only_json_is_taken_for_json(client: TestClient) -> None:
    """A page from elsewhere may send plain text without asking the browser's leave, and JSON only with ours."""
    answer = client.post("/annotate", content=json.dumps({"segments": [TEXT]}), headers={"Content-Type": "text/plain"})
    assert answer.status_code == 422
    assert "access-control-allow-origin" not in ask(client, TEXT).headers


def test_a_model_is_asked_for_what_it_reads_only(tiny_model_factory: TinyModelFactory) -> None:
    annotator = matese.load(tiny_model_factory("by-source", inputs=("source",)))
    with Client(app.make_app(annotator, LIMITS)) as client:
        assert ask(client, {"hypothesis": "a", "source": "b"}).status_code == 200
        answer = ask(client, {"hypothesis": "a", "references": ["b"]})
        assert answer.status_code == 422
        assert " needs a source: given reference" in answer.json()["detail"]
        assert '<dd dir="auto">source</dd>' in client.get("/").text


class Failing:
    """In place of the model: takes as long as it is told to, or fails."""

    def __init__(self) -> None:
        self.may_end = threading.Event()
        self.error = False

    def annotate(self, segments: Iterable[Segment]) -> Iterator[Rating]:
        assert self.may_end.wait(timeout=60)
        if self.error:
            raise RuntimeError("a fault")
        return (Rating(segment, "m", ()) for segment in segments)


def test_faults_and_slow_answers_are_told_and_the_server_lives_on(
    annotator: matese.Annotator, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Failing()
    monkeypatch.setattr(annotator, "annotate_segments", model.annotate)
    with Client(app.make_app(annotator, Limits(seconds=1)), raise_server_exceptions=False) as client:
        answer = ask(client, TEXT)
        assert (answer.status_code, answer.json()["detail"][:20]) == (503, "no answer within 1 s")
        assert answer.headers["retry-after"] == "1"
        model.may_end.set()
        model.error = True
        answer = ask(client, TEXT)
        assert (answer.status_code, answer.json()["detail"][:22]) == (500, "An internal error of t")
        model.error = False
        assert len(ask(client, TEXT).json()["ratings"]) == 1


def test_page_needs_no_network(client: TestClient) -> None:
    page = client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "//" not in re.sub(r"^// .*|[;{] // .*", "", page.text, flags=re.MULTILINE)
    assert "default-src &#39;none&#39;" in page.text
    assert "<title>matese: find translation errors</title>" in page.text


def test_interface_is_described_on_a_page_with_swagger_beside_it(client: TestClient) -> None:
    page = client.get("/docs")
    assert "http" not in page.text.replace("http-equiv", "").replace("HTTP interface", "")
    for path in re.findall(r'(?:href|src)="(docs/[^"]+)"', page.text):
        assert client.get(f"/{path}").status_code == 200
    assert client.get("/docs/swagger/../../app.py").status_code == 404


def test_health(client: TestClient, annotator: matese.Annotator) -> None:
    health = client.get("/health").json()
    assert (health["status"], health["model"]) == ("ok", annotator.name)


def test_pages_of_other_sites_cannot_ask(client: TestClient) -> None:
    headers = {"Origin": "https://example.org", "Access-Control-Request-Method": "POST"}
    for answer in (client.options("/annotate", headers=headers), client.get("/health", headers=headers)):
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_table_is_annotated_like_its_rows(client: TestClient) -> None:
    def send(text: str) -> Any:
        return client.post("/annotate", content=text.encode(), headers={"Content-Type": "text/csv; charset=utf-8"})

    ratings = send('mt,src,ref\nDas ist gut.,That is good.,Das ist schlecht.\n"x, y",,z\n').json()["ratings"]
    rows = [("Das ist gut.", "That is good.", "Das ist schlecht."), ("x, y", "", "z")]
    assert [(rating["hypothesis"], rating["source"] or "", rating["references"][0]) for rating in ratings] == rows
    (first,) = ask(client, {"hypothesis": rows[0][0], "source": rows[0][1], "references": [rows[0][2]]}).json()[
        "ratings"
    ]
    assert ratings[0] == first
    assert send("foo,bar\n1,2\n").json()["detail"].startswith("table.csv:1: no column of translations among foo, bar")
    assert send("mt,ref\n" + "a,b\n" * 4).status_code == 413
    # Options of the command line are no help to a client.
    tables = ["foo,bar\n1,2\n", "mt,translation\na,b\n", "one line of text\n", "mt,ref\na\n", '"mt\n', "\n"]
    tables += ["mt,src\n<v>a</v>,b\n", "ann,A,7,TGT,eng,deu,80,d,False,[],0.5,9.5\n"]
    by_language = ask(client, {"translation": {"en": "a", "de": "b"}})
    for answer in (*map(send, tables), by_language):
        assert answer.status_code == 422
        assert "--" not in answer.json()["detail"], answer.json()["detail"]


@pytest.mark.parametrize(
    "body",
    [gzip.compress(b"mt,ref\na,b\n"), b"PK\x03\x04\x00xl/", "mt,ref\na,b\n".encode("utf-16")],
    ids=["gzip", "zip", "utf-16"],
)
def test_compressed_tables_are_refused(client: TestClient, body: bytes) -> None:
    """A megabyte of gzip can hold a gigabyte."""
    answer = client.post("/annotate", content=body, headers={"Content-Type": "text/csv"})
    assert answer.status_code == 422


@pytest.mark.parametrize(
    ("host", "code"),
    [
        *[(host, 200) for host in ("localhost", "LOCALHOST:1", "127.0.0.1:8000", "[::1]:80", "[::1]")],
        *[(host, 400) for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "a@localhost")],
        *[(host, 400) for host in ("", "192.0.2.1", "127.9.9.9", "[::2]", "localhost:80 evil", "localhost:x")],
    ],
)
def test_foreign_names_are_refused_on_loopback(client: TestClient, host: str, code: int) -> None:
    for path in ("/health", "/"):
        answer = client.get(path, headers={"Host": host})
        assert answer.status_code == code
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("host", ["127.9.9.9", "[::1]"])
def test_the_address_of_the_server_is_one_of_its_names(annotator: matese.Annotator, host: str) -> None:
    with TestClient(app.make_app(annotator, LIMITS), base_url=f"http://{host}:8000") as client:
        assert client.get("/health").status_code == 200


def test_rows_of_a_table_keep_their_order_and_their_systems(client: TestClient) -> None:
    text = "system,mt,src\nb,x,y\na,x,y\nb,x,y\n"
    ratings = client.post("/annotate", content=text, headers={"Content-Type": "text/csv"}).json()["ratings"]
    assert [(rating["index"], rating["system"]) for rating in ratings] == [(0, "b"), (1, "a"), (2, "b")]


def test_other_machines_know_the_server_by_any_name(annotator: matese.Annotator) -> None:
    with TestClient(app.make_app(annotator, LIMITS, is_loopback=False), base_url="http://quality.example") as visitor:
        assert visitor.get("/health").status_code == 200


def test_too_many_requests_are_asked_to_come_again(
    annotator: matese.Annotator, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Failing()
    monkeypatch.setattr(annotator, "annotate_segments", model.annotate)
    with Client(app.make_app(annotator, Limits(requests=1))) as client, ThreadPoolExecutor(2) as pool:
        answers = [pool.submit(ask, client, TEXT) for _ in range(2)]
        refused = next(as_completed(answers)).result()
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert refused.json()["detail"] == "1 requests are waiting: ask again later"
        model.may_end.set()
        assert sorted(pending.result().status_code for pending in answers) == [200, 503]
        assert ask(client, TEXT).status_code == 200


def test_metrics_count_requests_segments_and_refusals(annotator: matese.Annotator) -> None:
    with Client(app.make_app(annotator, LIMITS)) as client:
        ask(client, TEXT, TEXT)
        client.post("/annotate", content=b"{", headers={"Content-Type": "application/json"})
        client.get("/health")
        answer = client.get("/metrics")
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }
    assert answer.headers["content-type"].startswith("text/plain")
    counts = {key: value for key, value in samples.items() if key[0].endswith("_total")}
    assert counts == {
        ("matese_requests_total", "200"): 1,
        ("matese_requests_total", "422"): 1,
        ("matese_segments_total",): 2,
    }
    assert samples[("matese_request_seconds_count",)] == 2
    assert samples[("matese_requests_running",)] == 0


def test_problems_are_in_the_words_of_a_request(client: TestClient) -> None:
    for row in ({"source": "a"}, {"hypothesis": "a"}):
        answer = ask(client, row)
        assert answer.status_code == 422
        assert answer.json()["detail"].startswith("segments[0]: ")
        assert not re.search("column|line", answer.json()["detail"])
