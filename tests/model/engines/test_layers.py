"""Each layer and head in numpy computes what its module in torch does, for rows of different lengths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from matese.model.encoder import attention, roberta
from matese.model.encoder.comparison import TextComparison
from matese.model.encoder.extra_layer import ExtraLayer
from matese.model.encoder.numpy_layers import Array, StoredTensors, extra_layer
from matese.model.encoder.roberta_config import RobertaConfig
from matese.model.engines import numpy_engine
from matese.model.heads import registry
from matese.model.heads.head import Head, RowStates
from matese.model.heads.score.settings import CONTEXTS
from matese.model.inputs import collate
from matese.model.states import BatchStates
from matese.model.texts.encoding import ROLES, ContextPart, Encoding
from tests.conftest import make_config

WIDTH = 16
HEADS = [head for head in registry.HEADS if head.has_numpy]


def encoding(n_hypothesis: int, n_source: int, n_reference: int) -> Encoding:
    """Returns a row of three texts with special tokens around each."""
    lengths = {"hypothesis": n_hypothesis, "source": n_source, "reference": n_reference}
    roles = [role for name, length in lengths.items() for role in (0, *[ROLES.index(name)] * length)] + [0]
    ids = np.arange(len(roles), dtype=np.int32) % 5 + 3  # some pieces occur in several texts
    ranges = np.arange(2 * n_hypothesis, dtype=np.int32).reshape(-1, 2)
    context = ContextPart(len(ids) - 1 - n_reference, 0, np.zeros((n_reference, 2), np.int32), 0)
    return Encoding(ids, np.array(roles, np.int32), None, 1, ranges, (0, n_hypothesis), context)


ROWS = [encoding(4, 3, 2), encoding(7, 1, 9), encoding(1, 1, 1)]
BATCH = collate(ROWS, pad_id=1)


def states(seed: int) -> Tensor:
    """Returns random states of the batch, those of padding too: (batch, tokens, width)."""
    return torch.randn(*BATCH.ids.shape, WIDTH, generator=torch.Generator().manual_seed(seed))


def with_random_weights(module: nn.Module, part: str) -> tuple[nn.Module, StoredTensors]:
    """Returns a module in evaluation mode, and its tensors as the engine gets them, under the name of the part."""
    torch.manual_seed(5)
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.4)
    state: Mapping[str, Tensor] = module.state_dict()
    return module.eval(), StoredTensors({f"{part}.{name}": tensor.numpy() for name, tensor in state.items()})


class Answer(nn.Module):
    """A layer that answers with the same states to all."""

    def __init__(self, states: Tensor) -> None:
        super().__init__()
        self.states = states

    def forward(self, _states: Tensor, _mask: Tensor) -> Tensor:
        return self.states


def check_states(computed: Tensor, in_numpy: Any, inputs: Tensor) -> None:
    """Compares the states of each row without its padding; `in_numpy` computes one row."""
    for row, encoding in enumerate(ROWS):
        n_tokens = len(encoding.ids)
        expected: Array = computed[row, :n_tokens].numpy()
        np.testing.assert_allclose(in_numpy(inputs[row, :n_tokens].numpy()), expected, atol=2e-5, rtol=2e-5)


@torch.inference_mode()
@pytest.mark.parametrize("attention_width", [0, 8])
def test_layer_of_the_encoder(attention_width: int) -> None:
    config = RobertaConfig(
        vocab_size=9,
        hidden_size=WIDTH,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=24,
        max_position_embeddings=9,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
        pad_token_id=1,
        attention_width=attention_width,
    )
    module, tensors = with_random_weights(roberta._Layer(config), "layer")
    inputs = states(1)
    attend = attention.padded(attention.padding_mask(BATCH.mask, inputs.dtype))
    check_states(module(inputs, attend), numpy_engine._encoder_layer(tensors, "layer", config), inputs)
    assert not tensors.left


@torch.inference_mode()
def test_extra_layer() -> None:
    module, tensors = with_random_weights(ExtraLayer(WIDTH, 2, dropout=0.1), "layer")
    inputs = states(1)
    check_states(module(inputs, BATCH.mask), extra_layer(tensors, "layer", WIDTH, 2), inputs)
    assert not tensors.left


@torch.inference_mode()
def test_comparison_of_texts() -> None:
    module, tensors = with_random_weights(TextComparison(WIDTH), "comparison")
    compare = numpy_engine._comparison(tensors, WIDTH)
    inputs = states(1)
    added, similarity = module(inputs, BATCH.ids, BATCH.roles)
    for row, encoding in enumerate(ROWS):
        n_tokens = len(encoding.ids)
        terms, of_score = compare(inputs[row, :n_tokens].numpy(), encoding.ids, encoding.roles)
        np.testing.assert_allclose(terms, added[row, :n_tokens].numpy(), atol=2e-4, rtol=2e-4)
        assert of_score == pytest.approx(similarity[row].item(), abs=2e-4)
    assert not tensors.left


@torch.inference_mode()
@pytest.mark.parametrize("score_pooling", CONTEXTS)
@pytest.mark.parametrize("kind", HEADS, ids=lambda head: head.name)
def test_each_head(kind: type[Head], score_pooling: Any) -> None:
    settings = {"pooling": score_pooling} if kind.name == "score" else {}
    config = make_config(inputs=("source+reference",), extra_heads=2, **{kind.name: settings})
    network = registry.networks()[kind.name]
    module, tensors = with_random_weights(network.of(config, WIDTH, None), kind.part)
    encoded = states(1)
    final = states(2)
    table = torch.randn(9, WIDTH, generator=torch.Generator().manual_seed(3))
    similarity = torch.tensor([0.5, -0.5, 0.0])
    read = BatchStates(
        batch=BATCH,
        config=config,
        layers=[encoded],
        similarity=similarity,
        mix=None,
        extra_layers=[Answer(final)],
        dropout=nn.Identity(),
        embed=lambda ids: table[ids],
    )
    rows = module(read).rows(ROWS)
    compute = kind(config).layers(tensors, WIDTH)
    for row, encoding in enumerate(ROWS):
        n_tokens = len(encoding.ids)
        of_row = RowStates(
            encoding,
            encoded[row, :n_tokens].numpy(),
            final[row, :n_tokens].numpy(),
            similarity[row].item(),
            lambda ids: table.numpy()[ids],
        )
        output = compute(of_row)
        assert isinstance(output, kind.output)
        assert isinstance(rows[row], kind.output)
        for field in fields(kind.output):
            value, expected = (getattr(head_output, field.name) for head_output in (output, rows[row]))
            if value is None:  # the number of a reference, which a row does not know
                assert expected is None
            else:
                np.testing.assert_allclose(value, expected, atol=2e-4, rtol=2e-4)
    assert not tensors.left
