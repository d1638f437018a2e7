from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from matese.annotation import Severity
from matese.errors import InputError
from matese.model import loading
from matese.model.decoding import Fitted
from matese.model.encoder.extra_layer import ExtraLayer
from matese.model.encoder.loading import embedding_modules, load_encoder
from matese.model.encoder.settings import Mix
from matese.model.heads.meaning.settings import MeaningRule
from matese.model.heads.score.network import ScoreTensor
from matese.model.heads.score.settings import CONTEXTS
from matese.model.heads.sentence_vectors import SentenceVectors
from matese.model.heads.tags.network import TagLogits
from matese.model.inputs import Inputs, collate
from matese.model.network import Network
from matese.model.texts.encoding import ROLES, Encoding
from matese.mqm import LOWEST_SCORE
from tests.conftest import ENCODERS, make_config

KINDS = sorted(ENCODERS)
HYPOTHESIS, SOURCE, REFERENCE = (ROLES.index(name) for name in ("hypothesis", "source", "reference"))


def make_encoder(kind: str) -> Any:
    torch.manual_seed(3)
    encoder: Any = load_encoder({**ENCODERS[kind], "vocab_size": 310, "pad_token_id": 1})
    return encoder.eval()


def make_encoding(n_tokens: int, *, has_decoder: bool = False) -> Encoding:
    ids = np.arange(5, 5 + n_tokens, dtype=np.int32)
    ranges = np.stack([ids, ids + 1], 1)
    row = np.array([0, *ids, 2, 2, 7, 2], dtype=np.int32)
    decoder_ids = np.array([2, *ids, 2], dtype=np.int32) if has_decoder else None
    roles = np.array([0, *[1] * n_tokens, 0, 0, 3, 0], dtype=np.int32)
    return Encoding(row, roles, decoder_ids, 1, ranges, (0, n_tokens))


def make_batch(kind: str, *lengths: int) -> Inputs:
    return collate([make_encoding(length, has_decoder=kind == "mbart") for length in lengths], pad_id=1)


def test_collate_pads_on_the_right() -> None:
    batch = make_batch("xlm-roberta", 2, 1)
    assert batch.ids.tolist() == [[0, 5, 6, 2, 2, 7, 2], [0, 5, 2, 2, 7, 2, 1]]
    assert batch.mask.sum(1).tolist() == [7, 6]
    assert batch.positions.tolist() == [[1, 2], [1, 0]]
    assert batch.hypothesis_mask.tolist() == [[True, True], [True, False]]
    assert batch.to(torch.device("cpu")).ids.tolist() == batch.ids.tolist()


def test_token_types_mark_the_hypothesis_with_its_special_tokens() -> None:
    tagger = Network(make_config(has_token_types=True, extra=0), make_encoder("bert")).eval()
    arguments: list[Any] = []
    tagger.encoder.register_forward_pre_hook(lambda _, __, named: arguments.append(named), with_kwargs=True)
    with torch.inference_mode():
        tagger(make_batch("bert", 2, 1))
    assert arguments[0]["token_type_ids"].tolist() == [[0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1]]
    with pytest.raises(InputError, match="has_token_types"):
        Network(make_config(has_token_types=True), make_encoder("xlm-roberta"))
    with pytest.raises(InputError, match="separate_layers: must be 0 if texts"):
        make_config(has_token_types=True, separate_layers=1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mix", ["last", "sum-last-4"])
def test_padding_does_not_change_what_comes_out(kind: str, mix: Mix) -> None:
    config = make_config(mix=mix, extra=1, extra_heads=2, score={})
    tagger = Network(config, make_encoder(kind)).eval()
    with torch.inference_mode():
        alone = tagger(make_batch(kind, 3))
        together = tagger(make_batch(kind, 3, 9))
    assert alone[TagLogits].logits.shape == (1, 3, 5)
    assert together[TagLogits].logits.shape == (2, 9, 5)
    torch.testing.assert_close(together[TagLogits].logits[:1, :3], alone[TagLogits].logits)
    torch.testing.assert_close(together[ScoreTensor].values[:1], alone[ScoreTensor].values)
    assert torch.all((together[ScoreTensor].values <= 0) & (together[ScoreTensor].values >= LOWEST_SCORE))


@pytest.mark.parametrize("kind", KINDS)
def test_the_states_are_the_encoders_as_transformers_runs_it(kind: str) -> None:
    encoder = make_encoder(kind)
    batch = make_batch(kind, 4)
    with torch.inference_mode():
        if kind == "mbart":
            output = encoder(input_ids=batch.ids, decoder_input_ids=batch.decoder_ids, output_hidden_states=True)
            layers = output.decoder_hidden_states
            last = output.last_hidden_state
        else:
            output = encoder(batch.ids, output_hidden_states=True)
            layers = output.hidden_states
            last = output.last_hidden_state
        bare = {"extra": 0, "extra_heads": 2, "dropout": 0.0}
        for mix, states in (("last", last), ("sum-last-4", sum(layers[-4:]))):
            tagger = Network(make_config(mix=mix, **bare), encoder).eval()
            torch.testing.assert_close(
                tagger(batch)[TagLogits].logits, nn.Linear.forward(tagger.tag_head, states[:, 1:5])
            )


@torch.inference_mode()
def test_the_heads_are_of_float32_whatever_the_precision_within() -> None:
    config = make_config(extra=1, extra_heads=2, score={"pooling": "texts"})
    tagger = Network(config, make_encoder("xlm-roberta")).eval()
    encodings = [make_encoding(n)._replace(sentences=np.array([[1, 3], [n + 3, n + 4]], np.int32)) for n in (4, 6)]
    with torch.autocast("cpu", torch.bfloat16):
        output = tagger(collate(encodings, pad_id=1))
    assert output[TagLogits].logits.dtype == torch.float32
    assert output[ScoreTensor].values.dtype == torch.float32
    assert output[SentenceVectors].values.dtype == torch.float32


@pytest.mark.parametrize("kind", KINDS)
def test_save_and_load_is_the_identity(kind: str, tmp_path: Path, tokenizer: Any) -> None:
    tagger = Network(make_config(extra_heads=2, score={}, inputs=("source",)), make_encoder(kind)).eval()
    loading.save(tmp_path / "m", tagger, tokenizer, card="# Card\n", training={"seed": 1})
    loaded, read_tokenizer = loading.load_tagger(tmp_path / "m", is_trainable=True)
    loaded_tokenizer: Any = read_tokenizer
    assert loaded.config == tagger.config
    batch = make_batch(kind, 4)
    with torch.inference_mode():
        assert torch.equal(loaded(batch)[TagLogits].logits, tagger(batch)[TagLogits].logits)
    assert loaded_tokenizer("das good 😀").input_ids == tokenizer("das good 😀").input_ids
    assert (tmp_path / "m" / "README.md").read_text() == "# Card\n"


@pytest.mark.parametrize("kind", KINDS)
def test_embedding_modules_hold_the_embeddings_only(kind: str) -> None:
    encoder = make_encoder(kind)
    names = {id(parameter): name for name, parameter in encoder.named_parameters()}
    frozen = {names[id(p)] for module in embedding_modules(encoder) for p in module.parameters()}
    assert frozen
    assert all("embed" in name or "shared" in name for name in frozen)
    assert not any(".layer." in name or ".layers." in name for name in frozen)
    norms = {name for name in names.values() if "embedding" in name.casefold() and "norm" in name.casefold()}
    assert norms <= frozen


SCORING: dict[str, Any] = {"quality": {}}
WORDS = {"word_labels": {"layer": 1, "severities": (Severity.MINOR,)}}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"inputs": ()}, r"texts.inputs"),
        ({"inputs": ("ref",)}, "inputs"),
        ({"score": {"pooling": "all"}}, "heads.score.pooling"),
        ({"layers": {"pooling": "avg"}}, "unknown key 'layers.pooling'"),
        ({"extra": -1}, "layers.extra"),
        ({"dropout": 1.0}, "layers.dropout"),
        ({"min_confidence": 0.0}, "decoding.min_confidence"),
        ({"layout": "apart"}, "texts.layout"),
        ({"layout": "alone"}, "layout alone: must be together"),
        ({"tags": None}, "none is set"),
        ({"tags": {}, "quality": {}}, "tags and quality are set"),
        ({**SCORING, "omissions": {}}, "heads.omissions: must be null without heads.tags"),
        ({"quality": {"hidden_sizes": (0,)}}, r"hidden_sizes"),
        ({**SCORING, "layout": "alone", **WORDS}, "heads.word_labels: must be null except"),
        ({**SCORING, "word_labels": {"layer": 1}}, "heads.word_labels: .*`severities`"),
        ({"quality": {"score_weights": (1, 1, 1, 1)}}, "score_weights: must be null without heads.word_labels"),
        ({"min_confidence": None}, "decoding.min_confidence: must not be null with heads.tags"),
        ({"fitted": [Fitted("source")]}, "decoding.fitted has an entry for source"),
        (
            {"fitted": [Fitted("reference", meaning=MeaningRule(1.0))]},
            "decoding.fitted.meaning: must be null without heads.meaning",
        ),
        ({"ranking": {}, "layout": "alone"}, "inputs reference: must be"),
    ],
)
def test_impossible_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_config(**settings)


@pytest.mark.parametrize(
    "settings", [{"omissions": {}}, *({"score": {"pooling": name}} for name, contexts in CONTEXTS.items() if contexts)]
)
def test_an_encoder_decoder_reads_its_texts_apart(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"must be null, and heads\.score\.pooling hypothesis"):
        Network(make_config(extra_heads=2, **settings), make_encoder("mbart"))


def test_score_sees_what_is_missing_where_all_texts_are_pooled() -> None:
    config = make_config(extra=0, extra_heads=2, score={"pooling": "texts"})
    tagger = Network(config, make_encoder("xlm-roberta")).eval()
    batch = make_batch("xlm-roberta", 3, 9)
    seen = []
    assert isinstance(tagger.score_head, nn.Sequential)
    tagger.score_head[0].register_forward_hook(lambda _, inputs, __: seen.append(inputs[0]))
    with torch.inference_mode():
        (states,), _ = tagger._read(batch)
        tagger(batch)
    torch.testing.assert_close(seen[0][0, 32:], states[0, 6])  # its context is one token, behind <s> 3 </s> </s>
    torch.testing.assert_close(seen[0][1, :32], states[1, 1:10].mean(0))


def make_layer(dropout: float = 0.0) -> ExtraLayer:
    torch.manual_seed(5)
    layer = ExtraLayer(16, 4, dropout)
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.3)
    return layer


def make_states() -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(6)
    return torch.randn(3, 7, 16), torch.arange(7) < torch.tensor([[7], [4], [1]])


@pytest.mark.parametrize("is_training", [False, True])
def test_it_says_what_torchs_layer_says(is_training: bool) -> None:
    layer = make_layer().train(is_training)
    theirs = nn.TransformerEncoderLayer(16, 4, 64, 0.0, activation="gelu", batch_first=True).train(is_training)
    theirs.load_state_dict(layer.state_dict())
    states, mask = make_states()
    expected = theirs(states, src_key_padding_mask=~mask)
    torch.testing.assert_close(layer(states, mask)[mask], expected[mask])


def test_dropout_is_for_training_alone() -> None:
    layer = make_layer(0.5)
    (states, mask) = make_states()
    assert not torch.equal(layer.train()(states, mask), layer(states, mask))
    assert torch.equal(layer.eval()(states, mask), layer(states, mask))
