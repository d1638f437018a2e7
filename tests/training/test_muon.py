from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn

from matese.errors import InputError
from matese.training.muon import Muon

HAS_MUON = hasattr(torch.optim, "Muon")
needs_muon = pytest.mark.skipif(not HAS_MUON, reason="torch 2.9 has Muon")


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


@needs_muon
def test_both_optimizers_step_with_their_rates_and_a_schedule() -> None:
    model = nn.Linear(3, 2)
    optimizer = make(model)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.5**step)
    before = copy.deepcopy(model.state_dict())
    step(model, optimizer)
    assert all(not torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    schedule.step()
    assert [group["lr"] for part in optimizer._parts for group in part.param_groups] == [0.125, 0.25]


@needs_muon
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


def test_an_old_torch_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    optim: Any = torch.optim
    monkeypatch.delattr(optim, "Muon", raising=False)
    with pytest.raises(InputError, match=r"muon_learning_rate: needs torch 2\.9 or newer"):
        make(nn.Linear(3, 2))
