"""Which device, precision, batches and threads to compute with."""

from __future__ import annotations

import ctypes
import math
import os
import sys
from pathlib import Path

import torch

_LEAST_BUDGET, _LARGEST_BUDGET = 4096, 65536
_BYTES_A_TOKEN = 64
"""Memory of a GPU for each padded token and each of the model's width, with much to spare: states, attention, FFN."""
_KEPT_KERNELS = 64
"""Kernels that are kept on a CPU. Those of one batch are about ten; the next has other shapes."""


def choose_device(device: str) -> torch.device:
    """Returns the device of a name; "auto" is a GPU where there is one.

    Raises:
        ValueError: if it is unknown or not on this machine.
    """
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        place = torch.device(device)
    except RuntimeError as error:
        raise ValueError(f"device {device!r}: must be auto, cpu, cuda or mps") from error
    has_it = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not has_it.get(place.type, False):
        raise ValueError(f"device {device!r} is not on this machine: must be auto, cpu, cuda or mps, as available")
    return place


def choose_precision(precision: str, device: torch.device) -> str:
    """Returns "bf16" or "float32"; "auto" is bf16 where the hardware has it.

    Raises:
        ValueError: if there is no such precision.
    """
    if precision not in ("auto", "bf16", "float32"):
        raise ValueError(f"precision {precision!r}: must be auto, bf16 or float32")
    if precision != "auto":
        return precision
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    # Without its own instructions a CPU is slower in bf16 than in float32.
    checks = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    has_bf16 = device.type == "cpu" and any(getattr(torch.cpu, name, bool)() for name in checks)
    return "bf16" if has_bf16 else "float32"


def choose_batch_tokens(device: torch.device, width: int) -> int:
    """Returns how many padded tokens a batch has at most.

    As many as keep a GPU busy and fit half of its free memory; on a CPU as many as keep its threads busy and stay near
    its caches.

    Args:
        device: which holds the model already.
        width: of the model.
    """
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        wanted = free // 2 // (_BYTES_A_TOKEN * width)
    else:
        wanted = 2048 * torch.get_num_threads() if device.type == "cpu" else 16384
    return min(max(wanted, _LEAST_BUDGET), _LARGEST_BUDGET)


def choose_threads() -> int:
    """Returns torch's choice, but no more than the processors that a container grants, which torch does not see."""
    return min(torch.get_num_threads(), processors_granted(Path("/sys/fs/cgroup/cpu.max")) or 10**6)


def processors_granted(limit: Path) -> int | None:
    """Returns how many processors a control group of Linux grants; None where it sets no limit.

    Args:
        limit: the file `cpu.max` of the group: time granted and period, in microseconds, or "max" and the period.
    """
    try:
        granted, period = limit.read_text(encoding="ascii").split()
    except (OSError, ValueError):  # no Linux, no control groups of version 2, or the root group, which has no such file
        return None
    return None if granted == "max" else max(1, math.ceil(int(granted) / int(period)))


def bound_kernels() -> None:
    """Lets torch keep the kernels of a few batches on a CPU, where the environment does not say how many.

    oneDNN keeps 1,024 by itself, and torch's layer above it as many again, with what each has packed: several hundred
    MB, of shapes that hardly come again. Both read the environment at the first product, so that a process in which
    torch has computed before goes on as it was.
    """
    for name in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
        os.environ.setdefault(name, str(_KEPT_KERNELS))


def return_freed_memory() -> None:
    """Gives freed memory back to the system where the C library would keep it: glibc, on Linux.

    Tensors of many sizes between results that stay leave it in pieces that fit nothing, and a process that annotates
    for hours would hold ever more of them.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if trim is not None:
            trim(0)
