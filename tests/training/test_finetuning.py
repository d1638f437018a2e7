"""A finished model learns from further ratings, and keeps what they cannot teach."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import torch

import matese
from matese.annotation import Rating, SegmentKey
from matese.cli import main
from matese.model.loading import load_tagger
from matese.model.storage import checkpoint
from matese.model.training_data import hashed
from matese.training import config, finetuning
from tests.conftest import TinyModelFactory
from tests.training.material import RATINGS, write_ratings

HEADS: dict[str, Any] = {"score": {}, "omissions": {}, "categories": {}, "meaning": {}}
BRIEF = ("--set", "training.max_epochs=2", "--set", "training.accelerator=cpu", "--set", "training.learning_rate=0.01")
MANY = tuple(
    dataclasses.replace(one, segment=dataclasses.replace(one.segment, source=f"{one.segment.source} {number}"))
    for number in range(6)
    for one in RATINGS
)
KEYED = tuple(
    dataclasses.replace(one, segment=dataclasses.replace(one.segment, key=SegmentKey("ours", "en-de"))) for one in MANY
)


@pytest.mark.parametrize("is_calibrated", [False, True])
def test_heads_that_ratings_cannot_teach_survive(
    is_calibrated: bool,
    tiny_model_factory: TinyModelFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    start = tiny_model_factory("start", inputs=("reference", "source"), **HEADS)
    of_start = {"names": ["first"], "lang_pairs": [], "learned": "ratings", "held_out": None}
    (start / checkpoint.TRAINING_DATA).write_text(json.dumps({"test_sets": [of_start], "sources": hashed(["Old."])}))
    ratings = write_ratings(tmp_path / "ours.jsonl", KEYED)
    monkeypatch.setattr(finetuning, "FEWEST", 2 if is_calibrated else 300)
    output = tmp_path / "run"
    assert main(["train", "--from", str(start), str(ratings), "--output", str(output), *BRIEF]) == 0
    out, err = capfd.readouterr()
    shown = " ".join(err.split())
    directory = output / ("calibrated" if is_calibrated else "model")
    assert out.splitlines()[-1] == f"model\t{directory}"
    assert f"head omissions stays as it is in {start}: no rating has an omission" in shown
    assert f"head categories stays as it is in {start}: no error has an MQM category" in shown
    assert f"head meaning stays as it is in {start}: no rating teaches errors of meaning" in shown
    assert shown.index("matese: unchanged model: macro_f1 0.") < shown.index("matese: step ")
    assert ("not calibrated: " in shown) is not is_calibrated
    learned = json.loads((directory / checkpoint.TRAINING_DATA).read_text())["test_sets"]
    added = {"names": ["ours"], "lang_pairs": ["en-de"], "learned": "ratings", "held_out": "10% of the sources"}
    assert learned == [of_start, added]
    sources = {rating.segment.source or "" for rating in KEYED}
    recognised = checkpoint.read_training_data(directory).learned(["Old.", *sources])
    assert recognised[0] == "Old."
    assert 1 + 0.8 * len(sources) < len(recognised) <= len(sources)  # without those that were held out
    before = load_tagger(start)[0]
    after = load_tagger(directory)[0]
    assert after.config.texts == before.config.texts
    if not is_calibrated:
        assert after.config == before.config
    tensors = after.state_dict()
    assert tensors.keys() == before.state_dict().keys()
    changed = {
        name.partition(".")[0] for name, old in before.state_dict().items() if not torch.equal(tensors[name], old)
    }
    assert changed == {"encoder", "extra_layers", "tag_head", "score_head"}
    trained, held_out = (n_segments(err, name) for name in ("train", "dev"))
    assert trained + held_out == len(MANY)
    assert 0 < held_out < len(MANY) / 3


def test_skipped_rows_do_not_stop_the_calibration(
    tiny_model_factory: TinyModelFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(finetuning, "FEWEST", 2)
    keyed = [
        dataclasses.replace(
            rating,
            segment=dataclasses.replace(rating.segment, references=(), key=SegmentKey(None, "en-de", "A", "d", number)),
        )
        for number, rating in enumerate(MANY)
    ]
    path = tmp_path / "ours.tsv"
    matese.write(keyed, path, format="mqm-tsv")
    with path.open("a", encoding="utf-8") as file:
        file.write("one field\n")
    start = str(tiny_model_factory("start", inputs=("source",)))
    assert main(["train", "--from", start, str(path), "--output", str(tmp_path / "run"), *BRIEF]) == 0
    assert (tmp_path / "run" / finetuning.CALIBRATED).is_dir()
    assert capfd.readouterr().err.count("1 row skipped") == 1


def n_segments(shown: str, name: str) -> int:
    return int(shown.partition(f"{name}: ")[2].split()[0])


def test_ratings_that_teach_nothing_are_refused(
    tiny_model_factory: TinyModelFactory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unrated = tuple(Rating(rating.segment, "r", None) for rating in MANY)
    ratings = str(write_ratings(tmp_path / "ours.jsonl", unrated))
    start = str(tiny_model_factory("start", **HEADS))
    assert main(["train", "--from", start, ratings, "--output", str(tmp_path / "run")]) == 2
    assert "ours.jsonl: no usable ratings to train or validate on (" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_the_shipped_settings_are_those_of_the_command(tmp_path: Path) -> None:
    shipped = config.load(Path(__file__).resolve().parents[2] / "configs" / "finetune.yaml")
    overrides = [("start", "mini"), ("data.train", json.dumps(["ratings.jsonl"]))]
    assert config.load(config.FINETUNING, overrides=overrides) == shipped
    assert shipped.is_finetuning
    assert (shipped.encoder, shipped.tokenizer) == ("mini", "mini")
