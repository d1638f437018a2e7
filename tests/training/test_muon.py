from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn

from matese.training.muon import Muon


def make(model: nn.Linear) -> Muon:
    groups = [
        {"params": [parameter], "lr": rate, "weight_decay": 0.0}
        for parameter, rate in ((model.weight, 0.25), (model.bias, 0.5))
    ]
    return Muon(groups[:1], groups[1:], is_fused=True)


def step(model: nn.Linear, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    model(torch.ones(1, 3)).square().sum().backward()
    optimizer.step()


def test_both_optimizers_step_with_their_rates_and_a_schedule() -> None:
    model = nn.Linear(3, 2)
    optimizer = make(model)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.5**step)
    before = copy.deepcopy(model.state_dict())
    step(model, optimizer)
    assert all(not torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    schedule.step()
    assert [group["lr"] for part in optimizer._parts for group in part.param_groups] == [0.125, 0.25]


def test_a_saved_state_is_continued_exactly() -> None:
    torch.manual_seed(1)
    model = nn.Linear(3, 2)
    optimizer = make(model)
    step(model, optimizer)
    other = copy.deepcopy(model)
    resumed = make(other)
    resumed.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    for one, its in ((model, optimizer), (other, resumed)):
        step(one, its)
    assert all(torch.equal(tensor, other.state_dict()[name]) for name, tensor in model.state_dict().items())


@pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="torch 2.9 has Muon")
@pytest.mark.parametrize("shape", [(8, 24), (24, 8)])
def test_matrices_change_as_with_the_muon_of_torch(shape: tuple[int, int]) -> None:
    torch.manual_seed(1)
    own, other = (nn.Parameter(torch.ones(shape)) for _ in range(2))
    bias = nn.Parameter(torch.zeros(1))
    optimizer = Muon([{"params": [own], "lr": 0.1, "weight_decay": 0.1}], [{"params": [bias]}], is_fused=True)
    make_its: Any = torch.optim.Muon
    of_torch = make_its([other], lr=0.1, weight_decay=0.1, adjust_lr_fn="match_rms_adamw")
    for _ in range(3):
        own.grad = torch.randn(shape)
        other.grad = own.grad.clone()
        optimizer.step()
        of_torch.step()
    torch.testing.assert_close(own, other, atol=2e-3, rtol=0)  # torch orthogonalises in bfloat16
