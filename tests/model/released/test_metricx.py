"""MetricX against transformers' own mT5, with random weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import processors

import matese
from matese.annotation import Segment
from matese.errors import ModelError
from matese.model import loading
from tests.conftest import make_tokenizer

SCORE_ID = 250_089
TEXTS = [
    ("the house is good", "Das ist gut", "Das ist der Text"),
    ("a", "", "gut"),
    ("b", "ein guter Text 1 2 3", "ein Text"),
    ("the good text", "ein Text , gut", "ein Text"),
]


def make_model(folder: Path, name: str) -> tuple[Path, Any, Any]:
    """Saves an mT5 in the layout of the hub; returns its directory, the model and the tokenizer."""
    from safetensors.torch import save_file
    from transformers import MT5Config, MT5Model

    torch.manual_seed(3)
    sizes: dict[str, Any] = {
        "d_model": 8,
        "d_kv": 4,
        "d_ff": 16,
        "num_layers": 2,
        "num_decoder_layers": 2,
        "num_heads": 2,
    }
    model: Any = MT5Model(MT5Config(vocab_size=SCORE_ID + 11, pad_token_id=1, decoder_start_token_id=0, **sizes))
    model.eval()
    with torch.no_grad():
        for tensor in model.parameters():
            tensor.add_(torch.randn_like(tensor) * 0.3)
    model.lm_head = torch.randn(SCORE_ID + 11, 8) * 3
    directory = folder / name
    model.config.save_pretrained(directory)
    config = json.loads((directory / "config.json").read_text(encoding="utf-8")) | {"tie_word_embeddings": False}
    (directory / "config.json").write_text(json.dumps(config), encoding="utf-8")
    state = {key: tensor for key, tensor in model.state_dict().items() if "embed_tokens" not in key}
    save_file({**state, "lm_head.weight": model.lm_head}, directory / "model.safetensors")
    tokenizer = make_tokenizer()
    template = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 2)])
    tokenizer.backend_tokenizer.post_processor = template
    tokenizer.save_pretrained(directory)
    return directory, model, tokenizer


@torch.no_grad()
def expected(model: Any, tokenizer: Any, text: str) -> float:
    ids = torch.tensor([tokenizer(" ".join(text.split()))["input_ids"][:-1]])
    output = model(input_ids=ids, decoder_input_ids=torch.zeros(1, 1, dtype=torch.long))
    logits = model.lm_head @ output.last_hidden_state[0, 0]
    return -float(logits[SCORE_ID].clamp(0, 25))


@pytest.mark.parametrize("is_converted", [False, True])
def test_the_hybrid_reads_source_candidate_and_reference(is_converted: bool, tmp_path: Path) -> None:
    directory, model, tokenizer = make_model(tmp_path, "metricx-24-hybrid-tiny")
    if is_converted:
        loading.convert(directory, tmp_path / "own", name="tiny")
        directory = tmp_path / "own"
    annotator = matese.load(directory, precision="float32", device="cpu")
    ratings = annotator.annotate_segments([Segment(hyp, src, (ref,)) for src, hyp, ref in TEXTS])
    scores = [rating.estimate.value for rating in ratings if rating.estimate]
    wanted = [expected(model, tokenizer, f"source: {src} candidate: {hyp} reference: {ref}") for src, hyp, ref in TEXTS]
    np.testing.assert_allclose(scores, wanted, atol=2e-5)
    assert len({round(score, 3) for score in scores} - {0.0, -25.0}) > 1, "scores within the bounds"
    ratings = annotator.annotate_segments([Segment(hyp, src) for src, hyp, _ in TEXTS])
    scores = [rating.estimate.value for rating in ratings if rating.estimate]
    wanted = [expected(model, tokenizer, f"source: {src} candidate: {hyp}") for src, hyp, _ in TEXTS]
    np.testing.assert_allclose(scores, wanted, atol=2e-5)


@pytest.mark.parametrize("name", ["metricx-23-tiny-v2p0", "metricx-23-qe-tiny-v2p0"])
def test_the_models_of_2023_read_the_candidate_first(name: str, tmp_path: Path) -> None:
    directory, model, tokenizer = make_model(tmp_path, name)
    annotator = matese.load(directory, precision="float32", device="cpu")
    is_qe = "qe" in name
    segments = [Segment(hyp, src) if is_qe else Segment(hyp, None, (ref,)) for src, hyp, ref in TEXTS]
    ratings = list(annotator.annotate_segments(segments))
    marks = [f"source: {src}" if is_qe else f"reference: {ref}" for src, _, ref in TEXTS]
    wanted = [expected(model, tokenizer, f"candidate: {row[1]} {mark}") for row, mark in zip(TEXTS, marks, strict=True)]
    np.testing.assert_allclose([rating.estimate.value for rating in ratings if rating.estimate], wanted, atol=2e-5)
    assert {(rating.errors, rating.estimate and rating.estimate.scale) for rating in ratings} == {(None, "mqm")}
    assert annotator.config.texts.inputs == (("source",) if is_qe else ("reference",))


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    directory, *_ = make_model(tmp_path, "metricx-24-tiny")
    nameless = directory.rename(tmp_path / "mine")
    with pytest.raises(ModelError, match="mine is an mT5 model: its path must contain metricx-23, metricx-23-qe or me"):
        matese.load(nameless)
    again = nameless.rename(directory)
    for path in again.glob("*.safetensors"):
        path.unlink()
    with pytest.raises(ModelError, match=r"has no tensor lm_head.weight: the download is incomplete; fetch the model"):
        matese.load(again)
