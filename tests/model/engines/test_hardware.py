"""What is chosen for the machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from matese.model.engines import hardware


@pytest.mark.parametrize(
    ("description", "expected"),
    [("vendor_id\t: AuthenticAMD\n", True), ("vendor_id\t: GenuineIntel\n", False), ("CPU part\t: 0xd0c\n", False)],
)
def test_processors_of_amd(tmp_path: Path, description: str, expected: bool) -> None:
    (tmp_path / "cpuinfo").write_text(description)
    assert hardware.is_amd(tmp_path / "cpuinfo") is expected


@pytest.mark.skipif(not hasattr(torch.ops.mkldnn, "_linear_pointwise"), reason="this build of torch lacks oneDNN")
@pytest.mark.parametrize("shape", [(0, 16), (1, 16), (3, 16), (2, 5, 16)])
def test_onednn_computes_the_same_products(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware, "is_amd", lambda: True)
    layer = nn.Linear(16, 8)
    bare = nn.Linear(16, 8, bias=False)
    states = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    expected = layer(states), bare(states)
    hardware.multiply_with_onednn([nn.Sequential(layer), layer, bare])
    assert "forward" in vars(layer)
    assert "forward" in vars(bare)
    with torch.inference_mode():
        for product, plain in zip((layer(states), bare(states)), expected, strict=True):
            torch.testing.assert_close(product, plain.detach())
    layer(states).sum().backward()
    assert layer.weight.grad is not None


def test_other_processors_multiply_as_torch_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware, "is_amd", lambda: False)
    hardware.multiply_with_onednn([layer := nn.Linear(2, 2)])
    assert "forward" not in vars(layer)


FORKED = """
import multiprocessing, torch
from matese.model.engines.engine import Hardware
from matese.model.engines.runners import prepare

def compute(threads):
    prepare(Hardware(threads=threads))
    return torch.get_num_threads(), torch.ones(1_000_000).exp().sum().item() > 0

compute(2)  # the parent has threads at work
with multiprocessing.get_context("fork").Pool(1) as pool:
    print(torch.get_num_threads(), pool.apply(torch.get_num_threads), *pool.apply(compute, [2]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no forks")
def test_forks_do_not_wait_for_the_threads_of_their_parent() -> None:
    ran = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=120, check=True)
    assert ran.stdout == "2 1 1 True\n"
