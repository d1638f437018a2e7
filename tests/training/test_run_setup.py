"""Going on from another tagger's weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from matese.errors import ModelError
from matese.model import loading
from matese.training import run_setup
from matese.training.config import Config
from tests.conftest import ENCODERS, TinyModelFactory, make_config


def config(start: Path, tokenizer: Any, **settings: Any) -> Config:
    encoder = {**ENCODERS["xlm-roberta"], "vocab_size": len(tokenizer)}
    model = make_config(**{"extra": 1, "extra_heads": 2, "score": {}, **settings})
    return Config(encoder, "out", str(start), model, start=str(start))


def test_a_score_head_may_be_new(tiny_model_factory: TinyModelFactory, tokenizer: Any) -> None:
    start = tiny_model_factory("start")
    made = run_setup.make_model(config(start, tokenizer), tokenizer).state_dict()
    old = loading.load_tagger(start, is_trainable=True)[0].state_dict()
    assert all(torch.equal(made[name], tensor) for name, tensor in old.items())
    assert made.keys() - old.keys()


def test_a_tagger_of_another_shape_is_refused(tiny_model_factory: TinyModelFactory, tokenizer: Any) -> None:
    start = tiny_model_factory("start")
    with pytest.raises(ModelError, match=r"has no tensor extra_layers\.1\..* of the right shape: must be a model of"):
        run_setup.make_model(config(start, tokenizer, extra=2), tokenizer)
