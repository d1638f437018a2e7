from __future__ import annotations

import pytest
import torch
from torch import nn

from matese.encoder import storage


def tensors() -> dict[str, torch.Tensor]:
    torch.manual_seed(1)
    table = torch.randn(2000, 8) * torch.logspace(-3, 1, 2000).unsqueeze(1)
    table[7] = 0
    return {"table": table, "matrix": torch.randn(8, 8), "bias": torch.randn(3)}


def test_float16_and_float32() -> None:
    given = tensors()
    assert all(torch.equal(tensor, given[name]) for name, tensor in storage.packed(given, "float32").items())
    half = storage.packed(given, "float16")
    assert {tensor.dtype for tensor in half.values()} == {torch.float16}
    assert storage.unpacked(half).keys() == given.keys()


def test_tables_take_eight_bits_and_keep_each_row_to_its_own_half_percent() -> None:
    given = tensors()
    stored = storage.packed(given, "int8")
    assert stored["table"].dtype == torch.int8
    assert stored["matrix"].dtype == torch.float16
    back = storage.unpacked(stored)
    assert back.keys() == given.keys()
    assert {tensor.dtype for tensor in back.values()} == {torch.float32}
    largest = given["table"].abs().amax(1, keepdim=True)
    assert ((back["table"] - given["table"]).abs() <= largest / 127 / 2 * 1.001).all()
    again = storage.packed(back, "int8")
    assert torch.equal(again["table"], stored["table"]), "stored again it is the same"


def test_tensors_are_put_in_place_without_a_copy() -> None:
    first, second = nn.Linear(2, 3), nn.Linear(2, 3)
    second.weight = first.weight  # as encoder-decoders share their embeddings
    given = {"0.weight": torch.ones(3, 2), "0.bias": torch.zeros(3).half(), "1.bias": torch.ones(3)}
    storage.put(given, nn.Sequential(first, second))
    assert first.weight.data_ptr() == given["0.weight"].data_ptr()
    assert second.weight is first.weight
    assert first.weight.requires_grad
    assert first.bias.dtype == torch.float32
    assert second(torch.ones(2)).tolist() == [3.0, 3.0, 3.0]


def test_tensors_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match=r"weight is \(2, 2\): must be \(3, 2\)"):
        storage.put({"weight": torch.ones(2, 2)}, nn.Linear(2, 3))
