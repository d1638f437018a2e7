from __future__ import annotations

import pytest
import torch

from matese.model.encoder import attention

CPU = torch.device("cpu")


def numbers(n_tokens: int) -> list[torch.Tensor]:
    torch.manual_seed(2)
    return [torch.randn(n_tokens, 2, 64) for _ in range(3)]


def test_rows_do_not_see_one_another() -> None:
    query, key, value = numbers(9)
    together = attention.packed(torch.tensor([0, 1, 5, 9], dtype=torch.int32), 5)(query, key, value)
    for start, end in ((0, 1), (1, 5), (5, 9)):
        rows = [one[start:end] for one in (query, key, value)]
        alone = attention.padded(torch.zeros(1, 1, 1, end - start), is_eager=True)(*(row[None] for row in rows))
        torch.testing.assert_close(together[start:end], alone[0])
    torch.testing.assert_close(together[:1], value[:1])  # one token attends to itself alone


def test_a_cpu_has_no_kernel() -> None:
    assert not attention.has_kernel(CPU, torch.bfloat16, 2, 64)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_the_kernel_of_a_gpu_says_what_is_said_row_by_row() -> None:
    place = torch.device("cuda")
    if not attention.has_kernel(place, torch.bfloat16, 2, 64):
        pytest.skip("this GPU or this torch has no kernel")
    offsets = torch.tensor([0, 1, 5, 300], dtype=torch.int32)
    rounded = [one.bfloat16() for one in numbers(300)]
    expected = attention.packed(offsets, 295)(*(one.float() for one in rounded))
    found = attention.packed(offsets.to(place), 300)(*(one.to(place) for one in rounded))
    torch.testing.assert_close(found.float().cpu(), expected, rtol=0.02, atol=0.02)
