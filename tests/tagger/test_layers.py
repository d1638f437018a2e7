from __future__ import annotations

import pytest
import torch
from torch import nn

from matese.tagger.layers import ExtraLayer


def make_layer(dropout: float = 0.0) -> ExtraLayer:
    torch.manual_seed(5)
    layer = ExtraLayer(16, 4, dropout)
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.3)
    return layer


def make_input() -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(6)
    return torch.randn(3, 7, 16), torch.arange(7) < torch.tensor([[7], [4], [1]])


@pytest.mark.parametrize("is_training", [False, True])
def test_it_says_what_torchs_layer_says(is_training: bool) -> None:
    layer = make_layer().train(is_training)
    theirs = nn.TransformerEncoderLayer(16, 4, 64, 0.0, activation="gelu", batch_first=True).train(is_training)
    theirs.load_state_dict(layer.state_dict())
    states, mask = make_input()
    expected = theirs(states, src_key_padding_mask=~mask)
    torch.testing.assert_close(layer(states, mask)[mask], expected[mask])


def test_dropout_is_for_training_alone() -> None:
    layer, (states, mask) = make_layer(0.5), make_input()
    assert not torch.equal(layer.train()(states, mask), layer(states, mask))
    assert torch.equal(layer.eval()(states, mask), layer(states, mask))


@torch.inference_mode()
def test_in_bf16_it_rounds_less_than_torchs_fused_path() -> None:
    width, n_tokens = 64, 60
    torch.manual_seed(7)
    layer = ExtraLayer(width, 8, 0.0).eval()
    nn.init.normal_(layer.self_attn.in_proj_weight, std=0.4)  # attention to few tokens, which rounding moves
    theirs = nn.TransformerEncoderLayer(width, 8, 4 * width, 0.0, activation="gelu", batch_first=True).eval()
    theirs.load_state_dict(layer.state_dict())
    states, mask = torch.randn(20, n_tokens, width), torch.ones(20, n_tokens, dtype=torch.bool)
    exact = layer(states, mask)
    with torch.autocast("cpu", torch.bfloat16):
        own, other = layer(states, mask), theirs(states, src_key_padding_mask=~mask)
    assert (own - exact).square().mean() < 0.9 * (other - exact).square().mean()
