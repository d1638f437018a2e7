"""What docs/development/guarantees.md promises of the package as a whole."""

from __future__ import annotations

import json
import pickle
import re
import shutil
import socket
import time
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch

import matese
from matese.errors import ModelError, UsageError
from matese.model.encoder.loading import load_encoder
from tests.cli.conftest import Run, folder, run  # noqa: F401
from tests.conftest import ENCODERS

ROOT = Path(__file__).parents[2]
URL = "http://127.0.0.1:9/a.jsonl"
NEVER = {
    ".py": r"\b(import|from) (pickle|marshal|shelve)\b|unpack_archive|\.extract(all)?\(|(?<![.\w])(eval|exec)\("
    r"|shell=True|os\.system|yaml\.(load|unsafe_load|full_load)\(|trust_remote_code=True"
    r"|torch\.load\((?![^)]*weights_only=True)|allow_pickle=True|read_pickle"
    r"|import (fcntl|pwd|grp|resource|termios)\b|os\.(fork|getuid|geteuid|mkfifo)\(|signal\.SIG(PIPE|HUP|USR)",  # POSIX
    ".js": r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|\bon\w+\s*=\s*[\"']",
    ".html": r"\son\w+=|javascript:|\|\s*safe\b|https?://",
}


@pytest.mark.parametrize("suffix", NEVER)
def test_what_no_source_contains(suffix: str) -> None:
    """No code from files runs, no archive is unpacked, no text becomes markup, and no system is left out."""
    files = [path for room in ("matese", "data_prep") for path in (ROOT / room).rglob(f"*{suffix}")]
    found = [f"{path}: {one[0]}" for path in files for one in re.finditer(NEVER[suffix], path.read_text("utf-8"))]
    assert files
    assert found == []


@pytest.mark.parametrize(
    "command",
    [
        ("score", URL),
        ("info", URL),
        ("convert", URL, "out.csv"),
        ("convert", URL, "out", "--to", "parquet", "--from", "parquet"),
        ("tag", "--input", URL, "--model", "{tiny}"),
        ("tag", "--hyp", URL, "--src", URL, "--model", "{tiny}"),
        ("tag", "--hyp", "mt.txt", "--src", "mt.txt", "--model", "http://127.0.0.1/a"),
        ("score", "mt.txt", "--weights", URL),
    ],
)
def test_an_address_is_no_file(run: Run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]) -> None:  # noqa: F811
    def connect(*_: object) -> None:
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", connect)
    problem = run(*command).refused()
    assert "no such file or directory" in problem or "no model http://127.0.0.1/a" in problem


@pytest.mark.parametrize("part", ["tokenizer", "encoder"])
def test_code_beside_a_model_is_not_run(tiny_model_dir: Path, tmp_path: Path, part: str) -> None:
    path = Path(shutil.copytree(tiny_model_dir, tmp_path / "model"))
    (path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n", encoding="utf-8")
    name = "config.json" if part == "encoder" else "tokenizer_config.json"
    values: dict[str, Any] = json.loads((path / name).read_text(encoding="utf-8"))
    if part == "encoder":
        kinds = dict.fromkeys(("AutoConfig", "AutoModel"), "evil.Evil")
        values["encoder"] |= {"auto_map": kinds, "model_type": "evil"}
    else:
        values |= {"auto_map": {"AutoTokenizer": ["evil.Evil", "evil.Evil"]}, "tokenizer_class": "Evil"}
        (path / "tokenizer.json").unlink()
    (path / name).write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(ModelError, match=f"has no usable {part}|do not make a model"):
        matese.load(path)
    assert not (tmp_path / "ran").exists()


class Harmful:
    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self._path,)


def test_a_pickle_beside_an_encoder_is_not_run(tmp_path: Path) -> None:
    """Training may start from an encoder whose weights are a pickle."""
    encoder = load_encoder({**ENCODERS["xlm-roberta"], "vocab_size": 300})
    encoder.config.save_pretrained(tmp_path)
    torch.save(encoder.state_dict(), tmp_path / "pytorch_model.bin")
    assert load_encoder(tmp_path).config.vocab_size == 300
    torch.save({**encoder.state_dict(), "x": Harmful(tmp_path / "ran")}, tmp_path / "pytorch_model.bin")
    with pytest.raises((pickle.UnpicklingError, OSError)):  # the latter by transformers 4
        load_encoder(tmp_path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("key", ["a\r\nHost: evil.example", "a\nb", "ключ"])
def test_a_key_adds_no_header(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(UsageError, match="OPENAI_API_KEY has characters that no key has"):
        matese.LanguageModel("m", base_url="http://127.0.0.1:9/v1", cache_directory=tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(UsageError, match="must be an address such as"):
        matese.LanguageModel("m", base_url="http://127.0.0.1:9/v1\r\nHost: evil.example", cache_directory=tmp_path)


def test_a_clock_that_jumps_changes_nothing(
    run: Run,  # noqa: F811
    folder: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A day back whenever somebody looks."""
    command = ("tag", "--hyp", "mt.txt", "--ref", "ref.txt", "--model", "{tiny}", "--format", "jsonl", "--output")
    assert run(*command, "a.gz").code == 0
    days = count(4_000_000_000, -86_400)
    monkeypatch.setattr(time, "time", lambda: next(days))
    assert run(*command, "b.gz").code == 0
    assert (folder / "a.gz").read_bytes() == (folder / "b.gz").read_bytes()
