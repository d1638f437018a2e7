from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from matese.errors import FormatError
from matese.model.config import ModelConfig
from matese.training import config
from matese.training.config import Config, DataConfig, RatedFile, TrainingConfig, UnratedData
from matese.validation.options import attribute_docs
from tests.conftest import make_config
from tests.training.material import SETTINGS, TOKENIZER, write_settings


def test_load(tmp_path: Path) -> None:
    path = write_settings(tmp_path / "c.yaml", "\ufeff" + SETTINGS)
    made = config.load(path, overrides=[("output", "there")])
    assert made.output == "there"
    assert made.tokenizer == str(TOKENIZER)
    assert made.training.learning_rate == pytest.approx(3e-3)


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("training.learning_rate", "0", ": "),
        ("training.clip", "-1.5", ": "),
        ("training.batch_tokens", "0", ": "),
        ("training.devices", "0", ": "),
        ("training.seed", "-1", ": "),
        ("training.weight_decay", "-0.1", ": "),
        ("training.warmup", "1.0", ": "),
        ("training.schedule", "step", ": "),
        ("data.train", "[]", ": "),
        ("data.train", "[{file: x, share: 1.5}]", "[0].share: "),
        ("data.train", "[{file: x, teaches: [tag]}]", "[0].teaches[0]: "),
        ("data.unrated", "{files: [x], after: 0}", ".after: "),
        ("training.averaged", "1", ": "),
    ],
)
def test_ranges_are_checked(tmp_path: Path, key: str, value: str, problem: str) -> None:
    path = write_settings(tmp_path / "c.yaml")
    with pytest.raises(FormatError, match="^" + re.escape(f"--set {key}={value}: {key}") + r" ?" + re.escape(problem)):
        config.load(path, overrides=[(key, value)])


def test_settings_that_do_not_go_together() -> None:
    unrated = DataConfig(unrated=UnratedData(("x",)))
    with pytest.raises(ValueError, match=r"unrated: must be null without model\.heads\.score"):
        Config("org/name", output="x", data=unrated)
    with pytest.raises(ValueError, match=r"unrated: model\.texts\.inputs must have source, by which they are read"):
        Config("org/name", output="x", data=unrated, model=make_config(inputs=("reference",), score={}))
    with pytest.raises(ValueError, match=r"ranking_loss_weight 1: must be 0 without model\.heads\.score"):
        Config("org/name", output="x", training=TrainingConfig(ranking_loss_weight=1.0))
    with pytest.raises(ValueError, match="encoder has no model_type"):
        Config(encoder={"hidden_size": 3}, output="x")
    with pytest.raises(ValueError, match="tokenizer is null: must be a hub id or a directory for an encoder with"):
        Config(encoder={"model_type": "roberta"}, output="x")


def test_the_error_of_a_check_names_the_line(tmp_path: Path) -> None:
    path = write_settings(tmp_path / "c.yaml", SETTINGS + "data:\n  held_out: 0.5\n")
    with pytest.raises(FormatError, match=r"c\.yaml:\d+: data\.dev \['data/prepared/dev\.jsonl'\]: must be"):
        config.load(path)


def test_reading_what_was_written_is_the_identity(tmp_path: Path) -> None:
    made = config.load(write_settings(tmp_path / "c.yaml"))
    assert config.load(write_settings(tmp_path / "d.yaml", config.dump(made))) == made


def test_nulls_are_resolved_by_whether_the_encoder_is_pretrained() -> None:
    pretrained = config.resolve(Config("org/name", "x", training=TrainingConfig(learning_rate=0.25)))
    assert pretrained.training.freeze_embeddings is True
    assert pretrained.training.encoder_learning_rate == 0.25
    fresh = config.resolve(Config({"model_type": "roberta"}, "x", tokenizer="dir"))
    assert fresh.training.freeze_embeddings is False
    kept = TrainingConfig(freeze_embeddings=False, encoder_learning_rate=0.5)
    assert config.resolve(Config("org/name", "x", training=kept)).training == kept


def test_the_description_is_a_configuration(tmp_path: Path) -> None:
    text = config.describe()
    filled = text.replace("encoder: (required)", "encoder: x").replace("output: (required)", "output: y")
    assert config.load(write_settings(tmp_path / "c.yaml", filled)) == Config(encoder="x", output="y")
    assert "# optimisation, validation and hardware.\ntraining:\n" in text


@pytest.mark.parametrize("kind", [Config, TrainingConfig, DataConfig, RatedFile, UnratedData, ModelConfig])
def test_every_setting_is_documented(kind: type[Any]) -> None:
    documented = attribute_docs(kind)
    assert list(documented) == [field.name for field in dataclasses.fields(kind)]
    assert not any("  " in text or "\n" in text for text in documented.values())
