"""What heads read of a network: mixed layers, extra layers, and their pooling."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from matese.model.encoder.settings import Pooling
from matese.model.network import Network
from matese.model.states import BatchStates
from tests.conftest import make_config
from tests.model.test_network import make_batch, make_encoder


def read(**settings: Any) -> BatchStates:
    """Returns what the heads of a network with these settings read of rows of different lengths."""
    torch.manual_seed(2)
    config = make_config(inputs=("source",), quality={}, extra_heads=2, **settings)
    network = Network(config, make_encoder("xlm-roberta")).eval()
    if network.mix is not None:
        torch.nn.init.normal_(network.mix.weights)
    seen: list[BatchStates] = []
    assert isinstance(network.quality_head, torch.nn.Module)
    network.quality_head.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0]))
    network(make_batch("xlm-roberta", 3, 9))
    return seen[0]


@torch.inference_mode()
@pytest.mark.parametrize("pooling", ["avg", "cls", "max"])
@pytest.mark.parametrize("layer_mix", ["last", 1, "sum-last-4", "softmax"])
@pytest.mark.parametrize("extra_layers", [0, 1])
def test_rows_are_pooled_without_padding(pooling: Pooling, layer_mix: Any, extra_layers: int) -> None:
    states = read(mix=layer_mix, extra=extra_layers)
    rows = [row[mask] for row, mask in zip(states.final, states.mask, strict=True)]  # (tokens, width) each
    pools = {"avg": lambda row: row.mean(0), "cls": lambda row: row[0], "max": lambda row: row.amax(0)}
    torch.testing.assert_close(states.pooled(pooling), torch.stack([pools[pooling](row) for row in rows]))
    assert torch.equal(states.final, states.encoded) == (extra_layers == 0)


@torch.inference_mode()
def test_layers_are_those_of_the_encoder() -> None:
    layers = read(mix="softmax", extra=0).layers
    assert len(layers) == 3
    for layer_mix, expected in ((0, layers[0]), (1, layers[1]), ("last", layers[2]), ("sum-last-4", sum(layers))):
        torch.testing.assert_close(read(mix=layer_mix, extra=0).encoded, expected)
