"""Going on from another tagger's weights."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from matese.annotation import Rating, Segment
from matese.encoder.encoder import load_encoder
from matese.errors import InputError, ModelError
from matese.tagger import loading
from matese.tagger.config import TaggerConfig
from matese.tagger.model import Tagger
from matese.training import preparation, vocabulary
from matese.training.config import Config, DataConfig, TrainingConfig, VocabularyConfig
from tests.conftest import ENCODERS, TinyModelFactory
from tests.tagger.test_model import make_batch
from tests.training.material import write_ratings


def config(start: Path, tokenizer: Any, **settings: Any) -> Config:
    encoder = {**ENCODERS["xlm-roberta"], "vocab_size": len(tokenizer)}
    chosen = TaggerConfig(**{"extra_layers": 1, "extra_heads": 2, "score_head": True, **settings})
    return Config(encoder, "out", str(start), chosen, start=str(start))


def test_what_is_new_changes_nothing_at_first(tiny_model_factory: TinyModelFactory, tokenizer: Any) -> None:
    start = tiny_model_factory("start", score_head=True)
    old, _ = loading.load_tagger(start, is_trainable=True)
    made = preparation.make_tagger(config(start, tokenizer, score_pooling="texts", lexical_match=True), tokenizer)
    assert made.score_head is not None
    assert made.lexical_match is not None
    batch = make_batch("xlm-roberta", 3, 9)
    with torch.inference_mode():
        expected, output = old(batch), made.eval()(batch)
    torch.testing.assert_close(output.tag_logits, expected.tag_logits)
    torch.testing.assert_close(output.score, expected.score)


def test_a_score_head_may_be_new(tiny_model_factory: TinyModelFactory, tokenizer: Any) -> None:
    start = tiny_model_factory("start")
    made = preparation.make_tagger(config(start, tokenizer), tokenizer).state_dict()
    old = loading.load_tagger(start, is_trainable=True)[0].state_dict()
    assert all(torch.equal(made[name], tensor) for name, tensor in old.items())
    assert made.keys() - old.keys()


def test_new_pieces_begin_as_the_mean_of_those_they_were_spelt_in(tmp_path: Path) -> None:
    old: Any = vocabulary.train(["der Hund", "das Haus"], VocabularyConfig(300))
    start = tmp_path / "start"
    encoder = load_encoder({**ENCODERS["xlm-roberta"], "vocab_size": len(old), "pad_token_id": 1})
    given = Tagger(TaggerConfig(extra_layers=1, extra_heads=2, score_head=True), encoder)
    loading.save_tagger(start, given, old)
    new: Any = vocabulary.train(["el perro", "la casa"], VocabularyConfig(330, extends=str(start)))
    assert new.convert_ids_to_tokens(list(range(len(old)))) == old.convert_ids_to_tokens(list(range(len(old))))
    made: Any = preparation.make_tagger(config(start, new), new).encoder.get_input_embeddings().weight
    embeddings: Any = encoder.get_input_embeddings().weight
    assert torch.equal(made[: len(old)], embeddings)
    spelt = old("p", add_special_tokens=False).input_ids
    torch.testing.assert_close(made[new.convert_tokens_to_ids("p")], embeddings[spelt].mean(0))


def test_a_tagger_of_another_shape_is_refused(tiny_model_factory: TinyModelFactory, tokenizer: Any) -> None:
    start = tiny_model_factory("start")
    with pytest.raises(ModelError, match=r"has no extra_layers\.1\..* of this shape: must be a tagger with the same"):
        preparation.make_tagger(config(start, tokenizer, extra_layers=2), tokenizer)


def test_pieces_may_be_learned_from_some_files_only(tmp_path: Path) -> None:
    everything, new = tmp_path / "everything.jsonl", tmp_path / "new.jsonl"
    write_ratings(everything)
    write_ratings(new, (Rating(Segment("कुत्ता सोता है"), None, ()),))
    chosen = VocabularyConfig(400, files=(str(new),))
    settings = Config(
        dict(ENCODERS["xlm-roberta"]), str(tmp_path), chosen, data=DataConfig(train=(str(everything), str(new)))
    )
    pieces = preparation.make_tokenizer(settings).get_vocab()
    assert "क" in pieces
    assert "Г" not in "".join(pieces)


def test_what_is_saved_may_lie_between_the_start_and_what_was_trained(
    tiny_model_factory: TinyModelFactory, tokenizer: Any
) -> None:
    start = tiny_model_factory("start", score_head=True)
    settings = replace(config(start, tokenizer), training=TrainingConfig(start_share=0.25))
    trained = preparation.make_tagger(settings, tokenizer)
    first = {name: weights.detach().clone() for name, weights in trained.named_parameters()}
    with torch.no_grad():
        for weights in trained.parameters():
            weights.add_(1.0)
    saved = preparation.interpolate(trained, first, 0.25).state_dict()
    assert saved.keys() == trained.state_dict().keys()
    for name, weights in loading.load_tagger(start, is_trainable=True)[0].named_parameters():
        torch.testing.assert_close(saved[name], weights + 0.75)
    with pytest.raises(ValueError, match=r"training\.start_share 0\.25: must be 0 if start is null"):
        replace(settings, start=None)


def test_a_new_encoder_takes_its_embeddings_from_ratings(tmp_path: Path, tokenizer: Any) -> None:
    encoder: dict[str, object] = {**ENCODERS["xlm-roberta"]}
    settings = Config(encoder, str(tmp_path), "tokenizer", embeddings=(str(write_ratings(tmp_path / "ratings.jsonl")),))
    made: Any = preparation.make_encoder(settings, tokenizer).get_input_embeddings()
    assert made.weight.detach().square().mean().sqrt() == pytest.approx(0.03, rel=1e-3)
    (tmp_path / preparation.STATE).touch()
    resumed: Any = preparation.make_encoder(settings, tokenizer).get_input_embeddings()
    assert resumed.weight.detach().square().mean().sqrt() == pytest.approx(0.02, rel=0.1)
    with pytest.raises(InputError, match="must be empty for a pretrained encoder"):
        replace(settings, encoder="org/name")
