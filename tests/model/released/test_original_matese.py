"""The layout of the authors' release, against a plain implementation of what their code computes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import AddedToken
from torch import nn

import matese
from matese.annotation import Segment
from matese.errors import ModelError
from matese.model import loading
from matese.model.config import ModelConfig
from matese.model.encoder.loading import load_encoder
from matese.model.heads.tags.bio import TAGS
from matese.model.released import original_matese
from tests.conftest import ENCODERS, make_tokenizer

LABELS = ["O", "B-Major", "I-Major", "B-Minor", "I-Minor"]
HYPOTHESES = ["Das Haus ist gut.", "der Text", "ein sehr guter Text 1 2 3"]
OTHERS = ["Das Haus ist alt.", "ein Text", "Text"]
DEBERTA = {
    "model_type": "deberta-v2",
    "hidden_size": 32,
    "num_hidden_layers": 4,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 512,
    "type_vocab_size": 0,
    "relative_attention": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
    "position_buckets": 16,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "layer_norm_eps": 1e-7,
}


class Theirs(nn.Module):
    """The parts of the release under their names; extra layers have an inner width of 2,048."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.transformer_model = encoder
        width = encoder.config.hidden_size
        layer = nn.TransformerEncoderLayer(width, 4, batch_first=True, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.classification_head = nn.Sequential(nn.Dropout(0.1), nn.Linear(width, len(LABELS), bias=False))


def make_release(folder: Path, kind: str, *, is_source: bool = False) -> tuple[Path, Theirs, Any]:
    """Writes a release with random weights; returns its directory, the model, and the tokenizer with the markers."""
    torch.manual_seed(5)
    tokenizer = make_tokenizer()
    settings = {**(DEBERTA if kind == "deberta-v2" else {**ENCODERS["xlm-roberta"], "num_hidden_layers": 4})}
    settings |= {"pad_token_id": 1, "vocab_size": len(tokenizer)}
    theirs = Theirs(load_encoder(settings)).eval()
    theirs.transformer_model.config.save_pretrained(folder / "encoder-of-mine")
    tokenizer.save_pretrained(folder / "encoder-of-mine")
    markers = [AddedToken(marker, lstrip=True, special=True) for marker in original_matese.MARKERS]
    tokenizer.add_special_tokens({"additional_special_tokens": markers})
    theirs.transformer_model.resize_token_embeddings(len(tokenizer))
    with torch.no_grad():
        for tensor in theirs.parameters():
            tensor.add_(torch.randn_like(tensor) * 0.2)
    for name in ("checkpoints", "configs"):
        (folder / name).mkdir()
    stored = {"state_dict": theirs.state_dict(), "hyper_parameters": {"ordered_labels": LABELS}}
    torch.save(stored, folder / "checkpoints" / "matese.ckpt")
    config = {
        "reference_less": is_source,
        "transformer_model_name": "encoder-of-mine",
        "encoder_layers": 2,
        "encoder_attention_heads": 4,
        "dropout_rate": 0.1,
        "use_last_n_layers": 4,
    }
    (folder / "configs" / "matese.json").write_text(json.dumps(config), encoding="utf-8")
    return folder, theirs, tokenizer


@torch.no_grad()
def expected(theirs: Theirs, tokenizer: Any, hypothesis: str, context: str, marker: str) -> np.ndarray:
    """Returns the probabilities of the hypothesis' tokens in the order of `TAGS`: (tokens, tags)."""
    ids = tokenizer(f"<candidate> {hypothesis} {marker} {context}")["input_ids"]
    rows = torch.tensor([ids])
    output = theirs.transformer_model(input_ids=rows, output_hidden_states=True)
    states = theirs.encoder(torch.stack(output.hidden_states[-4:]).sum(0))
    first, last = (ids.index(tokenizer.convert_tokens_to_ids(name)) for name in ("<candidate>", marker))
    logits = theirs.classification_head(states[0, first + 1 : last])
    return np.asarray(logits.softmax(-1)[:, [LABELS.index(tag) for tag in TAGS]])


@pytest.mark.parametrize("is_converted", [False, True])
@pytest.mark.parametrize("kind", ["xlm-roberta", "deberta-v2"])
@pytest.mark.parametrize("is_source", [False, True])
def test_probabilities_are_those_of_the_release(kind: str, is_source: bool, is_converted: bool, tmp_path: Path) -> None:
    directory, theirs, tokenizer = make_release(tmp_path, kind, is_source=is_source)
    if is_converted:
        loading.convert(directory, tmp_path / "own", name="matese")
        directory = tmp_path / "own"
    annotator = matese.load(directory, precision="float32", device="cpu", choice=matese.DecodingChoice(overrides=()))
    pairs = list(zip(HYPOTHESES, OTHERS, strict=True))
    segments = [
        Segment(hypothesis, context) if is_source else Segment(hypothesis, None, (context,))
        for hypothesis, context in pairs
    ]
    marker = "<source>" if is_source else "<reference>"
    for (rating, tokens), (hypothesis, context) in zip(annotator.annotate_tokens(segments), pairs, strict=True):
        probabilities = np.array(tokens.probabilities)
        np.testing.assert_allclose(probabilities, expected(theirs, tokenizer, hypothesis, context, marker), atol=3e-6)
        assert rating.segment.hypothesis[slice(*tokens.ranges[0])] == hypothesis[: tokens.ranges[0][1]]
        assert rating.estimate is not None


def test_the_inputs_and_the_name_are_those_of_the_release(tmp_path: Path) -> None:
    directory, *_ = make_release(tmp_path, "xlm-roberta", is_source=True)
    annotator = matese.load(directory, precision="float32", device="cpu")
    assert annotator.config.texts.inputs == ("source",)
    assert isinstance(annotator.config, ModelConfig)
    assert annotator.config.layers.mix == "sum-last-4"
    before = annotator.name
    stored = torch.load(directory / "checkpoints" / "matese.ckpt", weights_only=True)
    stored["state_dict"]["classification_head.1.weight"] *= 2
    torch.save(stored, directory / "checkpoints" / "matese.ckpt")
    assert matese.load(directory, precision="float32", device="cpu").name != before


def break_labels(folder: Path) -> None:
    path = folder / "checkpoints" / "matese.ckpt"
    torch.save({**torch.load(path, weights_only=True), "hyper_parameters": {}}, path)


def add_another(folder: Path) -> None:
    (folder / "checkpoints" / "matese-qe.ckpt").write_bytes(b"")
    (folder / "configs" / "matese-qe.json").write_text("{}", encoding="utf-8")


def grow_vocabulary(folder: Path) -> None:
    path = folder / "checkpoints" / "matese.ckpt"
    stored = torch.load(path, weights_only=True)
    name = "transformer_model.embeddings.word_embeddings.weight"
    stored["state_dict"][name] = torch.zeros(7, 32)
    torch.save(stored, path)


@pytest.mark.parametrize(
    ("breaker", "message"),
    [
        (break_labels, "matese.ckpt: ordered_labels None"),
        (add_another, "checkpoints holds matese-qe.ckpt, matese.ckpt"),
        (grow_vocabulary, "matese.ckpt embeds 7 tokens"),
        (lambda folder: (folder / "configs" / "matese.json").write_text("[", encoding="utf-8"), "matese.json is"),
        (lambda folder: (folder / "configs" / "matese.json").write_text("[]", encoding="utf-8"), "must map names of"),
        (lambda folder: (folder / "checkpoints" / "matese.ckpt").write_bytes(b"PK"), "is corrupt or incomplete"),
    ],
)
def test_broken_releases(breaker: Any, message: str, tmp_path: Path) -> None:
    directory, *_ = make_release(tmp_path, "xlm-roberta")
    breaker(directory)
    with pytest.raises(ModelError, match=message):
        matese.load(directory)
