from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from matese.encoder.encoder import load_encoder
from matese.encoder.encoding import TextEncoder
from matese.tagger.batch import Batch, collate
from matese.tagger.config import TaggerConfig
from matese.tagger.model import Tagger
from matese.training import data
from matese.training.config import TrainingConfig
from matese.training.data import Draw
from matese.training.masking import Masking
from matese.training.module import TaggerModule
from tests.conftest import ENCODERS
from tests.training.material import RATINGS


@pytest.fixture(scope="module")
def batch(tokenizer: Any) -> Batch:
    """Returns four segments, of the last two of which other translations are known."""
    corpus = data.build(RATINGS, TextEncoder(tokenizer, max_tokens=128), ("reference",))
    made = collate([corpus.example(Draw(segment, 0, 0, 0.0)) for segment in range(4)], pad_id=1)
    doubts = torch.full(made.positions.shape, torch.nan)
    doubts[2:] = torch.where(made.hypothesis_mask[2:], 0.5, torch.nan)
    return replace(made, doubts=doubts)


@pytest.fixture(scope="module")
def tagger(tokenizer: Any) -> Tagger:
    torch.manual_seed(3)
    settings = TaggerConfig(extra_layers=1, extra_heads=2, score_head=True, dropout=0.0)
    return Tagger(settings, load_encoder({**ENCODERS["xlm-roberta"], "vocab_size": len(tokenizer)}))


def test_only_hypotheses_with_other_translations_are_hidden(batch: Batch, tagger: Tagger) -> None:
    read, hidden = Masking(tagger.encoder.get_input_embeddings(), share=0.999, hidden_id=3).hide(batch)
    is_changed = read.ids != batch.ids
    assert not is_changed[:2].any()
    assert torch.equal(is_changed[2:], (batch.roles == 1)[2:])
    assert torch.all(read.ids[is_changed] == 3)
    assert torch.equal(hidden >= 0, batch.hypothesis_mask & torch.tensor([[False], [False], [True], [True]]))
    assert torch.equal(hidden[hidden >= 0], batch.ids[is_changed])
    assert read.doubts is not None
    assert read.doubts.isnan().all()
    assert torch.equal(read.scores[:2], batch.scores[:2])
    assert read.scores[2:].isnan().all()


def test_the_loss_is_of_the_hidden_ids_alone(batch: Batch, tagger: Tagger) -> None:
    torch.manual_seed(4)
    masking = Masking(tagger.encoder.get_input_embeddings(), share=0.5, hidden_id=3)
    read, hidden = masking.hide(batch)
    states = tagger(read).states
    logits = masking.transform(states) @ tagger.encoder.get_input_embeddings().weight.T + masking.bias
    each = -logits.log_softmax(-1).gather(2, hidden.clamp(min=0).unsqueeze(2)).squeeze(2)
    torch.testing.assert_close(masking(states, hidden), each[hidden >= 0].mean())
    assert masking(states, torch.full_like(hidden, -1)).item() == 0


def test_a_step_counts_it_and_it_stays_out_of_the_model(batch: Batch, tagger: Tagger) -> None:
    given = TrainingConfig(
        masked_loss_weight=2.0, masked_share=0.5, encoder_learning_rate=1e-3, freeze_embeddings=False
    )
    module = TaggerModule(tagger, given, n_steps=10, hidden_id=3)
    torch.manual_seed(5)
    loss = module.training_step(batch, 0)
    assert module._sums is not None
    *parts, _, _ = module._sums.tolist()
    names = list(module._weights)
    assert names[-1] == "masked"
    assert parts[-1] > 0
    assert loss.item() == pytest.approx(sum(module._weights[n] * part for n, part in zip(names, parts, strict=True)))
    assert not any("masking" in name for name in tagger.state_dict())
    assert sum("word_embeddings" in name for name, _ in module.named_parameters()) == 1
