from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import matese
from matese.errors import ModelError
from matese.model import loading
from matese.model.encoder.numpy_layers import StoredTensors
from matese.model.loading import load_tagger
from matese.model.storage import checkpoint, packing, weights
from tests.conftest import TinyModelFactory


@pytest.fixture
def broken(tiny_model_dir: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_model_dir, tmp_path / "broken"))


def change(key: str, value: object) -> Callable[[Path], None]:
    def apply(directory: Path) -> None:
        path = directory / "config.json"
        config = json.loads(path.read_text())
        path.write_text(json.dumps({**config, key: value}))

    return apply


def without(key: str) -> Callable[[Path], None]:
    def apply(directory: Path) -> None:
        path = directory / "config.json"
        config = json.loads(path.read_text())
        path.write_text(json.dumps({name: value for name, value in config.items() if name != key}))

    return apply


def truncate(name: str, size: int) -> Callable[[Path], None]:
    def apply(directory: Path) -> None:
        (directory / name).write_bytes((directory / name).read_bytes()[:size])

    return apply


def without_pad_token(directory: Path) -> None:
    path = directory / "tokenizer_config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({key: value for key, value in config.items() if key != "pad_token"}))


def with_more_pieces(directory: Path) -> None:
    path = directory / "tokenizer.json"
    tokenizer = json.loads(path.read_text())
    tokenizer["model"]["vocab"].append(["more", -9.0])
    path.write_text(json.dumps(tokenizer))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: (path / "config.json").unlink(), "has no config.json: a model directory"),
        (lambda path: (path / "model.safetensors").unlink(), "has no model.safetensors"),
        (lambda path: (path / "tokenizer.json").unlink(), "has no usable tokenizer"),
        (truncate("config.json", 40), "config.json is corrupt: .*must be JSON"),
        (truncate("model.safetensors", 4000), "model.safetensors is corrupt: .*complete safetensors"),
        (
            lambda path: (path / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\n"),
            "model.safetensors is a Git LFS pointer",
        ),
        (truncate("tokenizer.json", 400), "has no usable tokenizer"),
        (change("format_version", 99), "format version 99"),
        (change("format_version", "1"), "format version 1"),
        (change("format_version", 4), "format version 4, written by matese .*; matese .* reads format version 1 only"),
        (change("model", None), "config.json: model: "),
        (change("model", {"layer": {}}), "config.json: unknown key 'model.layer', did you mean 'model.layers'"),
        (
            change("model", {"layers": {"extr": 3}}),
            "unknown key 'model.layers.extr', did you mean 'model.layers.extra'",
        ),
        (change("model", {"heads": {"tags": {"n": 3}}}), "unknown key 'model.heads.tags.n'"),
        (change("model", {"layers": {"dropout": "0.1"}}), "config.json: model.layers.dropout: "),
        (change("model", {"layers": {"mix": "learned"}}), "config.json: model.layers.mix"),
        (change("model", {"texts": {"max_tokens": 3}}), "config.json: model.texts.max_tokens: "),
        (change("weights", {}), "config.json: unknown key 'weights'"),
        (without("encoder"), "config.json: .*`encoder`"),
        (change("model", {"layers": {"extra": 1, "extra_heads": 5}}), "extra_heads 5"),
        (change("model", {"layers": {"extra": 0}}), "tensors are missing or unexpected, such as"),
        (change("encoder", {"model_type": "no-such"}), "do not make a model: .*no-such"),
        (change("encoder", {"model_type": "xlm-roberta", "hidden_size": "32"}), "do not make a model: "),
        (change("encoder", {"model_type": "xlm-roberta", "num_hidden_layers": None}), "do not make a model: "),
        (without_pad_token, "has no usable tokenizer: .* has no pad token"),
        (with_more_pieces, "has no usable tokenizer: the tokenizer has 311 pieces"),
        (lambda path: (path / "config.json").write_text("[]"), "config.json: must map names of settings"),
    ],
)
def test_a_broken_directory_is_refused(broken: Path, damage: Callable[[Path], None], message: str) -> None:
    damage(broken)
    for is_trainable in (True, False):
        with pytest.raises(ModelError, match=message):
            load_tagger(broken, is_trainable=is_trainable)
    with pytest.raises(ModelError, match=message):
        matese.load(broken, n_segments=1)


def test_resolve(tiny_model_dir: Path, tmp_path: Path) -> None:
    assert checkpoint.resolve(tiny_model_dir) == tiny_model_dir
    assert checkpoint.resolve(str(tiny_model_dir)) == tiny_model_dir
    with pytest.raises(ModelError, match=r"no model nimi: no such directory; use an embedded model \(.*\), a"):
        checkpoint.resolve("nimi")
    for name in ("a/b/c", "../a", "a/..", "./a/b", "~/a", "a/b\n", "a\\b/c", "http://a/b", "file:///a", "/a/b", "a//b"):
        with pytest.raises(ModelError, match=f"^no model {re.escape(name)}: no such directory; use an embedded model"):
            checkpoint.resolve(name)  # asks no network
    path = tmp_path / "file"
    path.touch()
    with pytest.raises(ModelError, match="is a file: must be"):
        checkpoint.resolve(path)


def test_a_bare_name_is_an_embedded_model_wherever_it_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(checkpoint, "_EMBEDDED", tmp_path / "models")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models" / "mini").mkdir(parents=True)
    (tmp_path / "models" / "mini" / "config.json").touch()
    (tmp_path / "mini").mkdir()
    assert checkpoint.resolve("mini") == tmp_path / "models" / "mini"
    assert checkpoint.resolve("./mini") == Path("mini")


def test_the_fingerprint_stands_for_the_weights(tiny_model_factory: TinyModelFactory, tiny_model_dir: Path) -> None:
    again = tiny_model_factory(inputs=("reference", "source", "source+reference"))
    other_model = tiny_model_factory(inputs=("reference",))
    assert checkpoint.fingerprint(again) == checkpoint.fingerprint(tiny_model_dir)
    assert checkpoint.fingerprint(other_model) != checkpoint.fingerprint(tiny_model_dir)


def test_saving_replaces_whole_directories_only(tiny_model_factory: TinyModelFactory, tmp_path: Path) -> None:
    tagger, tokenizer = load_tagger(tiny_model_factory(), is_trainable=True)
    directory = tmp_path / "saved"
    directory.mkdir()
    (directory / "old").touch()
    loading.save(directory, tagger, tokenizer)
    assert not (directory / "old").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]


def test_other_versions_of_transformers_can_read_what_is_saved(tiny_model_dir: Path) -> None:
    tokenizer = json.loads((tiny_model_dir / "tokenizer_config.json").read_text())
    assert tokenizer["tokenizer_class"] != "TokenizersBackend", "which version 5 writes and 4 does not know"
    encoder = json.loads((tiny_model_dir / "config.json").read_text())["encoder"]
    assert [name for name in encoder if name.startswith("_")] == []


def tensors() -> dict[str, torch.Tensor]:
    torch.manual_seed(1)
    table = torch.randn(2000, 32) * torch.logspace(-3, 1, 2000).unsqueeze(1)
    table[7] = 0
    return {"table": table, "matrix": torch.randn(8, 8), "bias": torch.randn(3)}


def test_float16_and_float32() -> None:
    plain = tensors()
    assert all(torch.equal(tensor, plain[name]) for name, tensor in packing.pack(plain, "float32").items())
    half = packing.pack(plain, "float16")
    assert {tensor.dtype for tensor in half.values()} == {torch.float16}
    assert packing.unpack(half).keys() == plain.keys()


def test_tables_take_eight_bits_and_keep_each_row_to_its_own_half_percent() -> None:
    plain = tensors()
    stored = packing.pack(plain, "int8")
    assert stored["table"].dtype == torch.int8
    assert stored["matrix"].dtype == torch.float16
    back = packing.unpack(stored)
    assert back.keys() == plain.keys()
    assert {tensor.dtype for tensor in back.values()} == {torch.float32}
    largest = plain["table"].abs().amax(1, keepdim=True)
    assert ((back["table"] - plain["table"]).abs() <= largest / 127 / 2 * 1.001).all()
    again = packing.pack(back, "int8")
    assert torch.equal(again["table"], stored["table"]), "stored again it is the same"


def test_one_block_of_four_bits_is_a_row() -> None:
    plain = {"table": torch.arange(-8, 8).repeat(1100, 2).float()}
    stored = packing.pack(plain, "int8")
    assert stored["table"].dtype == torch.uint8
    assert torch.equal(packing.unpack(stored)["table"], plain["table"])
    arrays = {name: tensor.numpy() for name, tensor in stored.items()}
    np.testing.assert_array_equal(StoredTensors(arrays)("table", 1100, 32), plain["table"].numpy())


def test_what_was_released_in_four_bits_is_stored_without_loss() -> None:
    numbers = torch.randint(-8, 8, (2, 600, 2, 32)).float()
    numbers[..., 0] = -8
    scales = (torch.rand(2, 600, 2, 1) - 0.3).half()
    scales[0, 7] = 0
    plain = {"blocks": (numbers * scales.float()).half().flatten(-2), "rest": torch.randn(600, 64)}
    stored = packing.pack(plain, "int8")
    assert stored["blocks"].dtype == torch.uint8
    assert stored["blocks"].shape == (2, 600, 32)
    assert stored["rest"].dtype == torch.int8
    back = packing.unpack(stored)
    assert torch.equal(back["blocks"], plain["blocks"].float())
    arrays = {name: tensor.numpy() for name, tensor in stored.items()}
    np.testing.assert_array_equal(StoredTensors(arrays)("blocks", 2, 600, 64), back["blocks"].numpy())
    assert StoredTensors(arrays).table("blocks", 2, 600, 64)(np.zeros(0, np.int32)).shape == (0, 600, 64)
    np.testing.assert_array_equal(StoredTensors(arrays).table("rest", 600, 64)(slice(3, 5)), back["rest"][3:5].numpy())


def test_tensors_are_put_in_place_without_a_copy() -> None:
    first = nn.Linear(2, 3)
    second = nn.Linear(2, 3)
    second.weight = first.weight  # as encoder-decoders share their embeddings
    loaded = {"0.weight": torch.ones(3, 2), "0.bias": torch.zeros(3).half(), "1.bias": torch.ones(3)}
    weights.assign(loaded, nn.Sequential(first, second))
    assert first.weight.data_ptr() == loaded["0.weight"].data_ptr()
    assert second.weight is first.weight
    assert first.weight.requires_grad
    assert first.bias.dtype == torch.float32
    assert second(torch.ones(2)).tolist() == [3.0, 3.0, 3.0]


@pytest.mark.parametrize(
    ("hub_id", "expected"), [("org/name", ("org/name", None)), ("org/name@v1.0", ("org/name", "v1.0"))]
)
def test_a_hub_id_may_name_a_revision(
    hub_id: str, expected: tuple[str, str | None], tiny_model_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def snapshot_download(name: str, *, revision: str | None, allow_patterns: list[str]) -> str:
        asked.append((name, revision))
        return str(tiny_model_dir)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    assert matese.load(hub_id, device="cpu").annotate(["ein Haus"], references=["ein Haus"])
    assert set(asked) == {expected}
