from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from matese.encoder import checkpoint
from matese.encoder.checkpoint import ModelError
from matese.tagger import engine, model
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
        (lambda path: (path / "config.json").unlink(), "has no config.json: a model directory holds"),
        (lambda path: (path / "model.safetensors").unlink(), "has no model.safetensors"),
        (lambda path: (path / "tokenizer.json").unlink(), "has no usable tokenizer"),
        (truncate("config.json", 40), "config.json is corrupt: .*must be JSON"),
        (truncate("model.safetensors", 4000), "model.safetensors is corrupt: .*complete safetensors"),
        (truncate("tokenizer.json", 400), "has no usable tokenizer"),
        (change("format_version", 99), "format version 99; this matese .* reads versions 1 to 2"),
        (change("format_version", "1"), "format version 1; this matese"),
        (change("kind", "ranker"), "kind 'ranker'; must be 'tagger'"),
        (change("settings", None), "settings is None; must be an object"),
        (change("settings", {"layers": 3}), "do not make a tagger: .*layers"),
        (change("settings", {"extra_layers": 1, "extra_heads": 5}), "extra_heads 5: must divide"),
        (change("settings", {"extra_layers": 0}), "tensors too many or missing, such as"),
        (change("encoder", {"model_type": "no-such"}), "do not make a tagger: .*no-such"),
        (change("encoder", {"model_type": "xlm-roberta", "hidden_size": "32"}), "do not make a tagger: "),
        (change("encoder", {"model_type": "xlm-roberta", "num_hidden_layers": None}), "do not make a tagger: "),
        (without_pad_token, "has no usable tokenizer: .* without a pad token"),
        (with_more_pieces, "has no usable tokenizer: tokenizer of 311 pieces: the encoder knows 310 at most"),
        (lambda path: (path / "config.json").write_text("[]"), "is no configuration of a matese model"),
    ],
)
def test_a_broken_directory_is_refused(broken: Path, damage: Callable[[Path], None], message: str) -> None:
    damage(broken)
    for load in (model.load, engine.load):
        with pytest.raises(ModelError, match=message):
            load(broken)


def test_resolve(tiny_model_dir: Path, tmp_path: Path) -> None:
    assert checkpoint.resolve(tiny_model_dir) == tiny_model_dir
    assert checkpoint.resolve(str(tiny_model_dir)) == tiny_model_dir
    with pytest.raises(ModelError, match=r"no model nimi: must be an embedded model \(.*\), a directory or a hub id"):
        checkpoint.resolve("nimi")
    with pytest.raises(ModelError, match="no model a/b/c"):
        checkpoint.resolve("a/b/c")
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


def test_a_hub_id_that_cannot_be_fetched_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    def refuse(*_: object, **__: object) -> str:
        raise OSError("no route\nto the hub")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    with pytest.raises(ModelError, match=r"no model org/name: no such directory, and .* was not fetched \(no route\)"):
        checkpoint.resolve("org/name")


def test_a_hub_id_is_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda name, **_: str(tmp_path / name))
    assert checkpoint.resolve("org/name") == tmp_path / "org/name"


def test_the_fingerprint_stands_for_the_weights(tiny_model_factory: TinyModelFactory, tiny_model_dir: Path) -> None:
    again = tiny_model_factory(inputs=("reference", "source", "source+reference"))
    other = tiny_model_factory(inputs=("reference",))
    assert checkpoint.fingerprint(again) == checkpoint.fingerprint(tiny_model_dir)
    assert checkpoint.fingerprint(other) != checkpoint.fingerprint(tiny_model_dir)


def test_saving_replaces_whole_directories_only(tiny_model_factory: TinyModelFactory, tmp_path: Path) -> None:
    tagger, tokenizer = model.load(tiny_model_factory())
    directory = tmp_path / "saved"
    directory.mkdir()
    (directory / "old").touch()
    model.save(directory, tagger, tokenizer)
    assert not (directory / "old").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]


def test_other_versions_of_transformers_can_read_what_is_saved(tiny_model_dir: Path) -> None:
    tokenizer = json.loads((tiny_model_dir / "tokenizer_config.json").read_text())
    assert tokenizer["tokenizer_class"] != "TokenizersBackend", "which version 5 writes and 4 does not know"
    encoder = json.loads((tiny_model_dir / "config.json").read_text())["encoder"]
    assert [name for name in encoder if name.startswith("_")] == []
