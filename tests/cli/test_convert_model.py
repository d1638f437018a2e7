"""`matese export`, and what the commands say of released models that cannot be used."""

from __future__ import annotations

import http.server
import json
import re
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from matese.errors import ModelError
from matese.model.storage import checkpoint
from tests.cli.conftest import Run

COMET = Path(__file__).parents[1] / "model" / "released" / "comet"


@pytest.fixture
def released(folder: Path) -> Path:
    """A directory `xcomet` as the hub lays it out, with a card; its encoder is beside it."""
    shutil.copytree(COMET / "encoders", folder / "encoders")
    shutil.copytree(COMET / "xcomet", folder / "xcomet")
    (folder / "xcomet" / "README.md").write_text("---\nlicense: cc-by-nc-sa-4.0\n---\n", encoding="utf-8")
    return folder / "xcomet"


def test_a_released_model_is_converted_and_scores_alike(run: Run, released: Path) -> None:
    ran = run("export", "xcomet", "--output", "own")
    assert (ran.code, ran.out, ran.err) == (0, "model\town\n", "matese: licence of xcomet: cc-by-nc-sa-4.0\n")
    assert {path.name for path in Path("own").iterdir()} == {
        *("README.md", "config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"),
    }
    texts = ("--ref", "ref.txt", "--hyp", "mt.txt", "--precision", "float32")
    first, second = (run("score", "--model", model, *texts) for model in ("xcomet", "own"))
    assert first.out.split("\t")[:8] == second.out.split("\t")[:8]
    assert first.err == "matese: licence of xcomet: cc-by-nc-sa-4.0\n"
    assert second.err == "matese: licence of own: cc-by-nc-sa-4.0\n"
    assert "| Licence | cc-by-nc-sa-4.0 |" in run("info", "own").out


def test_what_export_refuses(run: Run, folder: Path) -> None:
    assert run("export", "maxi", "--output", "out").refused().startswith("no model maxi: no such directory")
    assert "mt.txt" in run("export", "{tiny}", "--output", "mt.txt").refused()
    assert "is a model of matese already" in run("export", "{tiny}", "--output", "out").refused()
    assert run("export", "{tiny}", "--output", "{tiny}").refused().endswith("choose another directory")
    assert not (folder / "out").exists()


def test_a_model_without_spans_has_no_score_of_them(run: Run, folder: Path) -> None:
    texts = ("--src", "ref.txt", "--hyp", "mt.txt", "--model", str(COMET / "referenceless"))
    name, score, expected, segments, with_errors, minor, major, blank, signature = (
        run("score", *texts).out.splitlines()[-1].split("\t")
    )
    assert (name, score, segments, with_errors, minor, major, blank) == ("mt", "", "3", "", "", "", "1")
    assert 0 < float(expected) < 1
    assert signature.startswith("matese|model:referenceless@")
    shown = run("tag", *texts).out
    assert "expected score: the model's own score; higher is better" in shown
    assert "confidence" not in shown
    ran = run("tag", *texts, "--format", "jsonl", "--output", "found.jsonl")
    assert (ran.code, ran.err) == (0, "")
    assert run("score", "found.jsonl").out.splitlines()[-1].split("\t")[1:3] == ["", expected]
    refused = run("score", "found.jsonl", "--by", "spans", "--json", "-").refused()
    assert refused.startswith("rating of segment 1 of mt ('Das ist gut.') has no spans")
    assert run("tag", *texts, "--format", "html", "--output", "page.html").code == 0


def test_models_without_spans_are_compared_and_gated_by_their_score(run: Run, folder: Path) -> None:
    model = ("--model", str(COMET / "referenceless"))
    texts = ("--src", "ref.txt", "--format", "jsonl")
    shutil.copy("ref.txt", "other.txt")
    for name in ("mt", "other"):
        assert run("tag", *model, *texts, "--hyp", f"{name}.txt", "--output", f"{name}.jsonl").code == 0
    ran = run("compare", "mt.jsonl", "other.jsonl", "--html", "page.html")
    assert ran.code == 0
    assert "too few for any difference" in ran.err
    assert "expected score" in ran.out
    assert "fixed" not in ran.out
    assert "nan" not in ran.out
    page = Path("page.html").read_text(encoding="utf-8")
    assert not re.search(r">nan|[:,\[]NaN", page)
    report = json.loads(run("compare", "mt.jsonl", "other.jsonl", "--json", "-").out)
    assert (report["ranked_by"], report["versus"]["mt"]["other"]["changes"]) == ("expected", None)
    assert report["differences"][0]["scores"] == {"mt": None, "other": None}
    assert run("compare", "mt.jsonl", "other.jsonl", "--by", "spans").refused().endswith(", or give ratings of spans")
    ran = run("gate", "mt.jsonl", "--min-score", "0.1", "--baseline", "other.jsonl", "--max-blank", "1")
    assert ran.code == 0, ran.err
    assert "expected score" in ran.out
    refused = run("gate", "mt.jsonl", "--max-major-per-1k", "5")
    assert refused.refused().endswith(", or give ratings of spans")


def remove(*names: str) -> None:
    for name in names:
        shutil.rmtree(name) if Path(name).is_dir() else Path(name).unlink()


@pytest.mark.parametrize(
    ("removed", "message"),
    [
        (("xcomet/checkpoints",), "xcomet/checkpoints/model.ckpt is missing: the download is incomplete"),
        (("xcomet/hparams.yaml",), "xcomet/hparams.yaml is missing: the download is incomplete"),
        (("encoders",), "xcomet/hparams.yaml: encoder ../encoders/xlmr-xl is not on this machine"),
        (("encoders/xlmr-xl/tokenizer.json",), "encoders/xlmr-xl has no usable tokenizer: "),
        (("encoders/xlmr-xl/config.json",), "encoders/xlmr-xl/config.json is missing: the model is incomplete"),
    ],
)
@pytest.mark.parametrize("command", ["export", "tag"])
def test_incomplete_models(command: str, removed: tuple[str, ...], message: str, run: Run, released: Path) -> None:
    remove(*removed)
    options = {"export": ("xcomet", "--output", "own"), "tag": ("--model", "xcomet", "--ref", "ref.txt")}
    hypothesis = ("--hyp", "mt.txt") if command == "tag" else ()
    ran = run(command, *options[command], *hypothesis, "--quiet")
    assert message in ran.refused()
    assert not Path("own").exists()


def test_a_missing_source_is_named(run: Run, folder: Path) -> None:
    ran = run("score", "--model", str(COMET / "kiwi"), "--ref", "ref.txt", "--hyp", "mt.txt")
    assert ran.refused().endswith(" needs a source: given reference")


class Hub(http.server.BaseHTTPRequestHandler):
    """A hub that refuses: the path says with which status and error code."""

    def do_GET(self) -> None:
        kind = self.path.split("/")[4].split("-")[0] if self.path.startswith("/api/models/") else "gone"
        status, code = {"gated": (403, "GatedRepo"), "private": (401, "RepoNotFound")}.get(kind, (404, "RepoNotFound"))
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    constants = pytest.importorskip("huggingface_hub.constants")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    yield address
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("org/gated-1", "no access to model org/gated-1: accept its licence on its page at the hub, then"),
        ("org/private-1", "no model org/private-1: no such directory"),
        ("org/gone-1", "no model org/gone-1: no such directory"),
    ],
)
def test_a_hub_that_refuses_is_explained(model: str, message: str, hub: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        checkpoint.resolve(model)
    assert "\n" not in str(caught.value)


def test_no_network_is_explained(hub: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    # In another thread, because older versions of the hub's library keep a thread's session.
    message = "no such directory, and the hub cannot be reached: check the path, or run hf"
    with ThreadPoolExecutor(1) as pool, pytest.raises(ModelError, match=message):
        pool.submit(checkpoint.resolve, "org/any").result()
