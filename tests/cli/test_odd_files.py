"""Files that nobody meant to give: every command ends with one line and exit code 2, never with a fault (70)."""

from __future__ import annotations

import gzip
import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity
from matese.formats.tables import jsonl
from tests.cli.conftest import Run

RATINGS = [
    Rating(
        Segment(text, "The house", ("ein Text",), SegmentKey("ted", "en-de", "A", "doc", index)),
        "anna",
        (ErrorSpan(0, 3, Severity.MAJOR, "Grammar", 0.5),),
    )
    for index, text in enumerate(["Das ist gut.", "Haus", "der Text"])
]
LINES = [jsonl.dumps(rating) + "\n" for rating in RATINGS]
GOOD = "".join(LINES).encode()
PACKED = gzip.compress(GOOD)

ODD: dict[str, bytes] = {
    "empty": b"",
    "empty.jsonl": b"",
    "random": bytes(range(256)) * 9,
    "zeros": bytes(999),
    "utf16": "Das Haus\n".encode("utf-16"),
    "latin1.txt": "Häuser\n".encode("latin-1"),
    "cut.jsonl.gz": PACKED[:-12],
    "cut-head.gz": PACKED[:12],
    "cut-without-its-name": PACKED[:-9],
    "followed.gz": PACKED + b"more",
    "random.gz": gzip.compress(bytes(range(128, 256)) * 4),
    "no-gzip.gz": b"Das Haus\n",
    "magic-alone": b"\x1f\x8b",
    "null.json": b"null",
    "number.json": b"1",
    "text.json": b'"a"',
    "list.json": b"[]",
    "object.json": b'{"a": 1}',
    "list-of-null.json": b"[null]",
    "list-of-objects.json": b"[{}]",
    "nan.json": b"NaN",
    "open.json": b'{"a":',
    "deep-list.json": b"[" * 2_000,
    "deep-object.json": b'{"a":' * 2_000,
    "deep-value.json": b'[{"hypothesis":' + b"[" * 2_000,
    "long-number.json": b'[{"hypothesis": "a", "source": "b", "index": ' + b"1" * 5000 + b"}]",
    "half-pair.json": b'[{"hypothesis": "\\ud800", "source": "b"}]',
    "half-pair.jsonl": b'{"hypothesis": "\\ud800", "source": "b"}\n',
    "open-quote.csv": b'source,target\n"a,b\n',
    "short-row.csv": b"source,target\na\n",
    "no-texts.csv": b"a,b\n1,2\n",
    "same-columns.csv": b"hypothesis,hypothesis\na,b\n",
    "not-utf8.csv": b"hypothesis,source\n\xff,a\n",
    "bad-offsets.csv": b'hypothesis,source,index,errors\nx,y,1,"[{""start"":0,""end"":9}]"\n',
    "cut.parquet": b"PAR1" + bytes(50) + b"PAR1",
    "cut.xlf": b'<xliff version="1.2"><file source-language="en"><body><trans-unit',
    "entity.tmx": b'<!DOCTYPE tmx [<!ENTITY a "b">]><tmx/>',
    "other-charset.po": b'msgid ""\nmsgstr "charset=undefined\\n"\n\nmsgid "a"\nmsgstr "b"\n',
    "infinite.seg.score": b"A\t1e999\n",
    "word.seg.score": b"A\tx\n",
    "long-index.tsv": "\t".join(
        ["system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity"]
    ).encode()
    + b"\nA\td\t1\t"
    + b"9" * 5000
    + b"\tr\ts\tt\tc\tminor\n",
}
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("info", "ODD"),
    ("convert", "ODD", "out", "--to", "csv"),
    ("convert", "ODD", "out", "--to", "jsonl", "--strict", "--lang-pair", "en-de"),
    ("convert", "good.jsonl", "out", "--to", "jsonl", "--before", "ODD"),
    ("convert", "good.jsonl", "out", "--to", "xliff", "--template", "ODD"),
    ("score", "ODD"),
    ("score", "good.jsonl", "--weights", "./ODD"),
    ("evaluate", "good.jsonl", "ODD"),
    ("evaluate", "ODD", "good.jsonl"),
    ("evaluate", "good.jsonl", "good.jsonl", "--versus", "ODD"),
    ("evaluate", "good.jsonl", "good.jsonl", "--unit", "ODD"),
    ("agreement", "ODD"),
    ("compare", "good.jsonl", "ODD"),
    ("compare", "--input", "ODD", "--model", "{tiny}"),
    ("gate", "ODD", "--min-score", "-3"),
    ("gate", "good.jsonl", "--baseline", "ODD"),
    ("report", "ODD", "--output", "out"),
    ("correlate", "ODD"),
    ("correlate", "--gold", "ODD", "--metric", "good.jsonl"),
    ("correlate", "--gold", "good.jsonl", "--metric", "ODD"),
    ("tag", "--checks", "only", "--input", "ODD"),
    ("tag", "--hyp", "ODD", "--ref", "ref.txt", "--model", "{tiny}"),
    ("tag", "--hyp", "mt.txt", "--src", "ODD", "--model", "{tiny}"),
    ("tag", "--hyp", "mt.txt", "--ref", "ref.txt", "--model", "ODD"),
    ("calibrate", "{tiny}", "ODD", "--output", "out"),
    ("calibrate", "ODD", "good.jsonl", "--output", "out"),
    ("export", "ODD", "--output", "out"),
    ("prepare", "ODD", "--output", "out"),
    ("train", "--config", "ODD"),
    ("train", "--resume", "ODD"),
)


@pytest.fixture
def odd(folder: Path) -> Path:
    (folder / "good.jsonl").write_bytes(GOOD)
    for name, content in ODD.items():
        (folder / name).write_bytes(content)
    (folder / "folder").mkdir()
    (folder / "tags").mkdir()
    (folder / "tags" / "a.tags").write_bytes(b"OK\n")
    (folder / "table").mkdir()
    for name in ("dataset_info.json", "state.json"):
        (folder / "table" / name).write_bytes(b"{}")
    return folder


@pytest.mark.parametrize("name", [*ODD, "folder", "tags", "table", "missing"])
def test_no_command_takes_them(odd: Path, run: Run, name: str) -> None:
    for command in COMMANDS:
        run(*(argument.replace("ODD", name) for argument in command)).refused()


@pytest.mark.parametrize("value", ["1", "-1", "1e400", "9" * 25, "9" * 5000, '"x"', "[]", "[null]", "{}", "NaN"])
def test_values_of_another_type(odd: Path, run: Run, value: str) -> None:
    """Each key of a line in turn has this value; some lines can still be read."""
    for key in json.loads(LINES[0]):
        text = json.dumps({**json.loads(LINES[0]), key: "HERE"}).replace('"HERE"', value)
        (odd / "odd.jsonl").write_text("".join([text + "\n", *LINES[1:]]))
        for command in (
            ("evaluate", "good.jsonl", "odd.jsonl"),
            ("compare", "odd.jsonl", "good.jsonl", "--bootstrap", "9"),
            ("convert", "odd.jsonl", "out.parquet", "--to", "parquet"),
        ):
            ran = run(*command)
            assert ran.code in (0, 2), (key, command, ran.err)


Change = Callable[[Path], object]


def settings(*keys: str, value: object) -> Change:
    """Returns a change of a value in config.json."""

    def change(model: Path) -> None:
        whole: Any = json.loads((model / "config.json").read_text())
        inner = whole
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value
        (model / "config.json").write_text(json.dumps(whole))

    return change


def tensor(name: str, change: Callable[[torch.Tensor], torch.Tensor]) -> Change:
    """Returns a change of one of the weights."""

    def write(model: Path) -> None:
        found = load_file(model / "model.safetensors")
        save_file({**found, name: change(found[name])}, model / "model.safetensors")

    return write


def replaced(name: str, old: bytes, new: bytes) -> Change:
    return lambda model: content(name, (model / name).read_bytes().replace(old, new))(model)


def content(name: str, text: bytes) -> Change:
    return lambda model: (model / name).write_bytes(text)


def folder_at(name: str) -> Change:
    def change(model: Path) -> None:
        (model / name).unlink()
        (model / name).mkdir()

    return change


FIRST = "tag_head.weight"


def safetensors(header: object, n_bytes: int = 8, length: int | None = None) -> bytes:
    """Returns a file with any header, and a length of it that may be another."""
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + bytes(n_bytes)


def f32(shape: list[int], *offsets: int) -> dict[str, object]:
    return {"dtype": "F32", "shape": shape, "data_offsets": offsets}


LYING = [
    safetensors({}, length=2**63),
    safetensors({}, length=99),
    safetensors({"a": f32([2**40], 0, 8)}),
    safetensors({"a": f32([2**62, 2**62], 0, 8)}),
    safetensors({"a": f32([2], 0, 2**40)}),
    safetensors({"a": f32([2], 0, 8), "b": f32([2], 4, 12)}, 12),
    safetensors({"a": f32([-2], 8, 0)}),
    safetensors({"a": f32([1], 0, 4)}, 99),
    safetensors([1]),
]
"""Headers that do not tell the truth about the sizes of tensors."""


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (folder_at("config.json"), "has no config.json"),
        (content("config.json", b"\xff"), "config.json is corrupt"),
        (content("config.json", b"[" * 2_000), "config.json is corrupt"),
        (settings("model", "decoding", "min_confidence", value=float("nan")), "min_confidence"),
        (settings("encoder", "model_type", value="clip"), "do not make a model"),
        (settings("encoder", "pad_token_id", value=None), "do not make a model"),
        (settings("encoder", "num_attention_heads", value=3), "do not make a model"),
        (folder_at("model.safetensors"), "has no model.safetensors"),
        (content("model.safetensors", b""), "model.safetensors is corrupt"),
        (tensor(FIRST, lambda weights: weights[:, :3].contiguous()), "tag_head.weight is (5, 3)"),
        (tensor(FIRST, lambda weights: weights * float("nan")), "tag_head.weight holds NaN or infinity"),
        (tensor(FIRST, lambda weights: weights * float("inf")), "tag_head.weight holds NaN or infinity"),
        *[(content("model.safetensors", one), "model.safetensors is corrupt") for one in LYING],
        (content("tokenizer.json", b"{}"), "has no usable tokenizer"),
        (content("tokenizer_config.json", b"[]"), "has no usable tokenizer"),
        (replaced("tokenizer.json", b'"unk_id": 3', b'"unk_id": null'), "the tokenizer fails"),
        (replaced("tokenizer.json", b'"</s>": {', b'"</t>": {'), "has no usable tokenizer: no entry found for key"),
    ],
)
def test_broken_models(odd: Path, run: Run, tiny_model_dir: Path, change: Change, problem: str) -> None:
    """Those of model/storage/test_checkpoint are no others for a command."""
    change(Path(shutil.copytree(tiny_model_dir, odd / "model")))
    for command in (
        ("tag", "--hyp", "mt.txt", "--ref", "ref.txt", "--model", "./model", "--format", "jsonl"),
        ("calibrate", "model", "good.jsonl", "--output", "out"),
    ):
        ran = run(*command)
        assert ran.code == 2, ran.err
        assert problem in ran.err, ran.err


def test_a_card_that_is_no_text(odd: Path, run: Run, tiny_model_dir: Path) -> None:
    content("README.md", b"\xff")(Path(shutil.copytree(tiny_model_dir, odd / "model")))
    assert "README.md is corrupt" in run("info", "model").refused()


@pytest.mark.parametrize("output", [".", "/", "folder", "folder/"])
@pytest.mark.parametrize("form", [(), ("--format", "jsonl"), ("--format", "csv"), ("--format", "po")])
def test_an_output_that_is_a_directory(run: Run, folder: Path, output: str, form: tuple[str, ...]) -> None:
    (folder / "folder").mkdir()
    ran = run("tag", "--hyp", "mt.txt", "--checks", "only", "--output", output, *form)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert sorted(file.name for file in folder.iterdir()) == ["folder", "mt.txt", "ref.txt"]
    assert not list((folder / "folder").iterdir())
