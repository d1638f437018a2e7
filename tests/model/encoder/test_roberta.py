from __future__ import annotations

from typing import Any

import pytest
import torch

from matese.model.encoder.loading import load_encoder
from matese.model.encoder.roberta import Roberta, of_transformers
from matese.model.encoder.roberta_config import is_roberta
from matese.model.texts.encoding import longest_input
from tests.conftest import ENCODERS


def settings_of(encoder: Any) -> dict[str, Any]:
    settings: dict[str, Any] = encoder.config.to_dict()
    return settings


def theirs(model_type: str, **settings: Any) -> Any:
    torch.manual_seed(1)
    made: Any = load_encoder(
        {**ENCODERS["xlm-roberta"], "vocab_size": 50, "pad_token_id": 1, **settings, "model_type": model_type}
    )
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    return made.eval()


@pytest.mark.parametrize("model_type", ["xlm-roberta", "roberta", "bert"])
@torch.inference_mode()
def test_the_states_are_those_of_transformers(model_type: str) -> None:
    encoder = theirs(model_type)
    ours = Roberta(settings_of(encoder)).eval()
    assert ours.state_dict().keys() == encoder.state_dict().keys()
    ours.load_state_dict(encoder.state_dict())
    ids = torch.tensor([[0, 7, 9, 7, 2], [0, 8, 2, 1, 1]])
    mask = (ids != 1).long()
    expected = encoder(ids, attention_mask=mask, output_hidden_states=True)
    states = ours(input_ids=ids, attention_mask=mask, output_hidden_states=True)
    for ours_of_layer, theirs_of_layer in zip(states.hidden_states, expected.hidden_states, strict=True):
        torch.testing.assert_close(ours_of_layer[mask.bool()], theirs_of_layer[mask.bool()], rtol=1e-5, atol=1e-5)
    assert states.last_hidden_state is states.hidden_states[-1]


@pytest.mark.parametrize("model_type", ["xlm-roberta", "roberta", "bert"])
@torch.inference_mode()
def test_without_padding_the_same_comes_out(model_type: str) -> None:
    encoder = theirs(model_type)
    ours = Roberta(settings_of(encoder)).eval()
    ours.load_state_dict(encoder.state_dict())
    ids = torch.tensor([[0, 7, 9, 7, 2], [0, 8, 2, 1, 1], [0, 2, 1, 1, 1]])
    mask = (ids != 1).long()
    places = mask.flatten().nonzero().squeeze(1)
    expected = ours(input_ids=ids, attention_mask=mask, output_hidden_states=True)
    n_rows: list[int] = []
    layers: Any = ours.encoder["layer"]
    for layer in layers:
        layer.intermediate["dense"].register_forward_hook(lambda _, inputs, __: n_rows.append(len(inputs[0])))
    states = ours(input_ids=ids, attention_mask=mask, places=places, output_hidden_states=True)
    assert n_rows == [10, 10]
    for packed_states, padded_states in zip(states.hidden_states, expected.hidden_states, strict=True):
        torch.testing.assert_close(packed_states[mask.bool()], padded_states[mask.bool()], rtol=1e-5, atol=1e-5)
    assert not states.last_hidden_state[mask == 0].any()
    last = ours(input_ids=ids, attention_mask=mask, places=places).last_hidden_state
    torch.testing.assert_close(last, states.last_hidden_state)


@torch.inference_mode()
def test_the_layouts_of_bert_and_xlm_roberta_compute_the_same() -> None:
    """On the hub, multilingual-e5-small has the layout of BERT; the embedded model has the same one in XLM-R's."""
    bert = theirs("bert", type_vocab_size=2, max_position_embeddings=20, pad_token_id=0)
    tensors = dict(bert.state_dict())
    positions, types = (f"embeddings.{name}_embeddings.weight" for name in ("position", "token_type"))
    # XLM-R counts positions from 2 and has one token type.
    placed = tensors[positions] + tensors[types][0]
    tensors[positions] = torch.cat([torch.zeros(2, placed.shape[1]), placed])
    tensors[types] = torch.zeros(1, placed.shape[1])
    xlm_roberta = theirs("xlm-roberta", max_position_embeddings=22)
    xlm_roberta.load_state_dict(tensors)
    ids = torch.tensor([[0, 7, 9, 7, 2], [0, 8, 2, 1, 1]])
    mask = (ids != 1).long()
    expected = bert(ids, attention_mask=mask, output_hidden_states=True).hidden_states
    for encoder in (xlm_roberta, of_transformers(bert).eval(), of_transformers(xlm_roberta).eval()):
        assert longest_input(encoder) == 20
        states = encoder(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
        for actual_states, expected_states in zip(states, expected, strict=True):
            torch.testing.assert_close(actual_states[mask.bool()], expected_states[mask.bool()], rtol=1e-5, atol=1e-5)


def test_longest_input_is_that_of_transformers() -> None:
    encoder = theirs("xlm-roberta")
    assert longest_input(Roberta(settings_of(encoder))) == longest_input(encoder) == 512


@pytest.mark.parametrize(
    "change",
    [
        {"model_type": "albert"},
        {"hidden_act": "relu"},
        {"is_decoder": True},
        {"position_embedding_type": "relative_key"},
        {"pad_token_id": None},
        {"hidden_size": "32"},
    ],
)
def test_what_is_otherwise_is_left_to_transformers(change: dict[str, Any]) -> None:
    settings = settings_of(theirs("roberta"))
    assert is_roberta(settings)
    assert not is_roberta({**settings, **change})
    assert not is_roberta({"model_type": "roberta", "hidden_act": "gelu"})


def test_heads_must_divide_the_width() -> None:
    with pytest.raises(ValueError, match="num_attention_heads 5: must divide hidden_size 32"):
        Roberta({**settings_of(theirs("roberta")), "num_attention_heads": 5})
