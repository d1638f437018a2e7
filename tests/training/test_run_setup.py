"""Going on from another tagger's weights."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from matese.errors import ModelError
from matese.model import loading
from matese.model.heads.meaning.settings import MeaningRule
from matese.model.network import Network
from matese.model.storage import checkpoint
from matese.training import run_setup
from matese.training.config import Config, TrainingConfig
from tests.conftest import ENCODERS, TinyModelFactory, make_config
from tests.model.test_network import make_batch

RULE = MeaningRule("reference", 1.5)


def config(start: Path, tokenizer: Any, **settings: Any) -> Config:
    encoder = {**ENCODERS["xlm-roberta"], "vocab_size": len(tokenizer)}
    chosen = make_config(**{"extra": 1, "extra_heads": 2, "score": {}, **settings})
    return Config(encoder, "out", str(start), chosen, start=str(start))


def test_what_is_new_changes_nothing_at_first(tiny_model_factory: TinyModelFactory, tokenizer: Any) -> None:
    start = tiny_model_factory("start", score={})
    old, _ = loading.load_tagger(start, is_trainable=True)
    made = run_setup.make_model(config(start, tokenizer, score={"pooling": "texts"}), tokenizer)
    assert isinstance(made, Network)
    assert made.score_head is not None
    batch = make_batch("xlm-roberta", 3, 9)
    with torch.inference_mode():
        expected = old(batch)
        output = made.eval()(batch)
    torch.testing.assert_close(output.tag_logits, expected.tag_logits)
    torch.testing.assert_close(output.score, expected.score)


def test_a_score_head_may_be_new(tiny_model_factory: TinyModelFactory, tokenizer: Any) -> None:
    start = tiny_model_factory("start")
    made = run_setup.make_model(config(start, tokenizer), tokenizer).state_dict()
    old = loading.load_tagger(start, is_trainable=True)[0].state_dict()
    assert all(torch.equal(made[name], tensor) for name, tensor in old.items())
    assert made.keys() - old.keys()


@pytest.mark.parametrize(
    ("trained", "rules", "confidence"),
    [(("omission_head",), (RULE,), 0.3), (("omission_head", "meaning_head"), (), 0.3), (("score_head",), (), 0.5)],
)
def test_heads_that_are_trained_alone_keep_the_calibration_of_the_others(
    trained: tuple[str, ...],
    rules: tuple[MeaningRule, ...],
    confidence: float,
    tiny_model_factory: TinyModelFactory,
    tokenizer: Any,
) -> None:
    start = tiny_model_factory("start", score={}, meaning={}, decoding={"meaning": [RULE]}, min_confidence=0.3)
    chosen = config(start, tokenizer, omissions={}, meaning={})
    made = run_setup.make_model(
        dataclasses.replace(chosen, training=TrainingConfig(trained_parts=trained)), tokenizer
    ).config.decoding
    assert (made.meaning, made.min_confidence) == (rules, confidence)


def test_a_tagger_of_another_shape_is_refused(tiny_model_factory: TinyModelFactory, tokenizer: Any) -> None:
    start = tiny_model_factory("start")
    with pytest.raises(ModelError, match=r"has no tensor extra_layers\.1\..* of the right shape: must be a model of"):
        run_setup.make_model(config(start, tokenizer, extra=2), tokenizer)


def test_several_models_are_averaged(tiny_model_factory: TinyModelFactory, tokenizer: Any, tmp_path: Path) -> None:
    first = tiny_model_factory("start", score={})
    second = shutil.copytree(first, tmp_path / "second")
    weights = second / checkpoint.TENSORS
    old = load_file(weights)
    save_file({name: 2 * tensor for name, tensor in old.items()}, weights)
    settings = dataclasses.replace(config(first, tokenizer), start=(str(first), str(second)))
    made = run_setup.make_model(settings, tokenizer).state_dict()
    for name, tensor in old.items():
        torch.testing.assert_close(made[name], 1.5 * tensor)


def test_models_of_different_shapes_are_not_averaged(tiny_model_factory: TinyModelFactory, tokenizer: Any) -> None:
    starts = [str(tiny_model_factory(f"{n}", score={}, extra=n)) for n in (2, 1)]
    settings = dataclasses.replace(config(Path(starts[0]), tokenizer, extra=2), start=tuple(starts))
    with pytest.raises(ModelError, match="must have the same settings"):
        run_setup.make_model(settings, tokenizer)
