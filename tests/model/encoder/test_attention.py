from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from matese.model.encoder import attention

CPU = torch.device("cpu")


def numbers(n_tokens: int) -> list[torch.Tensor]:
    torch.manual_seed(2)
    return [torch.randn(n_tokens, 2, 64) for _ in range(3)]


def ignored(*_: torch.Tensor) -> None:
    """Is recorded, so that attention is plain products."""


def test_rows_do_not_see_one_another() -> None:
    query, key, value = numbers(9)
    together = attention.packed(torch.tensor([0, 1, 5, 9], dtype=torch.int32), 5)(query, key, value)
    for start, end in ((0, 1), (1, 5), (5, 9)):
        rows = [tensor[start:end] for tensor in (query, key, value)]
        alone = attention.padded(torch.zeros(1, 1, 1, end - start), record=ignored)(*(row[None] for row in rows))
        torch.testing.assert_close(together[start:end], alone[0])
    torch.testing.assert_close(together[:1], value[:1])  # one token attends to itself alone


@pytest.mark.parametrize("n_tokens", [9, 200])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-4), (torch.bfloat16, 0.05)])
def test_gradients_are_those_of_plain_products(dtype: torch.dtype, tolerance: float, n_tokens: int) -> None:
    is_token = torch.arange(n_tokens) < torch.tensor([[n_tokens], [4], [1]])
    mask = attention.padding_mask(is_token, torch.float32)
    gradients = []
    for record, used in ((ignored, torch.float32), (None, dtype)):
        leaves = [tensor.view(3, n_tokens, 2, 64).requires_grad_() for tensor in numbers(3 * n_tokens)]
        with torch.autocast("cpu", torch.bfloat16, enabled=used == torch.bfloat16):
            attended = attention.padded(mask, record=record)(*(leaf.to(used) for leaf in leaves))
        assert attended.dtype == used
        torch.autograd.backward(attended.float()[is_token].square().sum())
        gradients.append([leaf.grad for leaf in leaves])
    torch.testing.assert_close(gradients[1], gradients[0], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("dtype", "n_tokens", "expected"),
    [
        (torch.float32, 3, [torch.float32]),
        (torch.bfloat16, 3, []),
        (torch.bfloat16, 200, [torch.float32]),
    ],
)
def test_a_cpu_trains_with_the_quicker_attention(
    monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype, n_tokens: int, expected: list[torch.dtype]
) -> None:
    fused: list[torch.dtype] = []
    attend = functional.scaled_dot_product_attention

    def noted(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        fused.append(query.dtype)
        return attend(query, key, value, mask)

    monkeypatch.setattr(functional, "scaled_dot_product_attention", noted)
    query, key, value = (tensor[None].to(dtype).requires_grad_() for tensor in numbers(n_tokens))
    attention.padded(torch.zeros(1, 1, 1, n_tokens, dtype=dtype))(query, key, value)
    assert fused == expected


def test_a_cpu_has_no_kernel() -> None:
    assert not attention.has_kernel(CPU, torch.bfloat16, 2, 64)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_the_kernel_of_a_gpu_says_what_is_said_row_by_row() -> None:
    place = torch.device("cuda")
    if not attention.has_kernel(place, torch.bfloat16, 2, 64):
        pytest.skip("this GPU or this torch has no kernel")
    offsets = torch.tensor([0, 1, 5, 300], dtype=torch.int32)
    rounded = [tensor.bfloat16() for tensor in numbers(300)]
    expected = attention.packed(offsets, 295)(*(tensor.float() for tensor in rounded))
    packed = attention.packed(offsets.to(place), 300)(*(tensor.to(place) for tensor in rounded))
    torch.testing.assert_close(packed.float().cpu(), expected, rtol=0.02, atol=0.02)
