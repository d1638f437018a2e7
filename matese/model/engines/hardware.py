"""Device, precision, batch size and threads, chosen for the machine."""

from __future__ import annotations

import ctypes
import math
import os
import platform
import sys
from collections.abc import Iterable
from functools import cache, partial
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from matese.errors import UsageError

_MIN_BATCH_TOKENS = 4096
_MAX_BATCH_TOKENS = 65536
_BYTES_PER_TOKEN = 64
"""GPU memory per padded token and unit of the model's width (states, attention, feed-forward), with a wide margin."""
_KEPT_KERNELS = 64
"""Compiled CPU kernels to keep. A batch uses about ten; the next batch has other shapes."""


def choose_device(device: str) -> torch.device:
    """Returns the device with this name; "auto" is a GPU if there is one.

    Raises:
        UsageError: if the device is unknown or not available on this machine.
    """
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        torch_device = torch.device(device)
    except RuntimeError as error:
        raise UsageError(f"device {device!r}: must be auto, cpu, cuda or mps") from error
    available = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not available.get(torch_device.type, False):
        raise UsageError(f"device {device!r} is not available on this machine; use auto to choose one")
    return torch_device


def choose_precision(precision: str, device: torch.device) -> str:
    """Returns "bf16" or "float32"; "auto" is bf16 if the hardware supports it.

    Raises:
        UsageError: if the precision is unknown.
    """
    if precision not in ("auto", "bf16", "float32"):
        raise UsageError(f"precision {precision!r}: must be auto, bf16 or float32")
    if precision != "auto":
        return precision
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    # Without bf16 instructions, a CPU is slower in bf16 than in float32.
    checks = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    has_bf16 = device.type == "cpu" and any(getattr(torch.cpu, name, bool)() for name in checks)
    return "bf16" if has_bf16 else "float32"


def choose_batch_tokens(device: torch.device, width: int) -> int:
    """Returns the most padded tokens of a batch, for a device that already holds the model, and the model's width.

    A GPU gets enough to stay busy, within half of its free memory; a CPU gets enough to keep its threads busy and stay
    close to its caches.
    """
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        wanted = free // 2 // (_BYTES_PER_TOKEN * width)
    else:
        wanted = 2048 * torch.get_num_threads() if device.type == "cpu" else 16384
    return min(max(wanted, _MIN_BATCH_TOKENS), _MAX_BATCH_TOKENS)


_is_fork = False
"""Whether this process was forked from one that had loaded a model."""


def set_threads(n_threads: int) -> None:
    """Sets torch's number of threads in this process; always 1 in one that was forked after a model was loaded.

    Forks do not inherit threads. OpenMP does not notice, and a fork would wait forever for those of its parent.
    """
    torch.set_num_threads(1 if _is_fork else n_threads)
    _prepare_forks()


@cache
def _prepare_forks() -> None:
    if hasattr(os, "register_at_fork"):  # Windows has no forks
        os.register_at_fork(after_in_child=_use_one_thread)


def _use_one_thread() -> None:
    global _is_fork
    _is_fork = True
    torch.set_num_threads(1)


def choose_threads() -> int:
    """Returns torch's number of threads, limited to the processors of a container, which torch does not see."""
    return min(torch.get_num_threads(), processors_granted(Path("/sys/fs/cgroup/cpu.max")) or 10**6)


def processors_granted(limit: Path) -> int | None:
    """Returns the number of processors that a Linux control group grants; None if it sets no limit.

    Its file `cpu.max` holds the time granted and the period in microseconds, or "max" and the period.
    """
    try:
        granted, period = limit.read_text(encoding="ascii").split()
    except (OSError, ValueError):  # not Linux, no control groups of version 2, or the root group
        return None
    return None if granted == "max" else max(1, math.ceil(int(granted) / int(period)))


def is_amd(cpu_info: Path = Path("/proc/cpuinfo")) -> bool:
    """Returns whether the processor is made by AMD: from Linux's description of it, elsewhere from Python's."""
    try:
        return "AuthenticAMD" in cpu_info.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return "AuthenticAMD" in platform.processor()


def multiply_with_onednn(modules: Iterable[nn.Module]) -> None:
    """On processors of AMD, makes linear layers compute with oneDNN in place of MKL, which is slower there.

    For layers in float32 on the CPU; where a gradient is needed, they compute as before.
    """
    if not is_amd() or not hasattr(torch.ops.mkldnn, "_linear_pointwise"):  # the latter in builds without oneDNN
        return
    for module in modules:
        if isinstance(module, nn.Linear):
            module.forward = partial(_multiply_with_onednn, module)  # type: ignore[method-assign]


def _multiply_with_onednn(layer: nn.Linear, states: Tensor) -> Tensor:
    if torch.is_grad_enabled():
        return functional.linear(states, layer.weight, layer.bias)
    product: Tensor = torch.ops.mkldnn._linear_pointwise(states, layer.weight, layer.bias, "none", [], "")
    return product


def limit_kept_kernels() -> None:
    """Lets torch keep the CPU kernels of a few batches, unless the environment sets a number.

    By default, oneDNN keeps 1,024 kernels, and torch's layer above it as many with packed weights: several hundred MB
    for shapes that rarely recur. Both read the environment at the first product, so this has no effect in a process
    where torch has already computed.
    """
    for name in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
        os.environ.setdefault(name, str(_KEPT_KERNELS))


def return_freed_memory() -> None:
    """Returns freed memory to the system if the C library would keep it (glibc, on Linux).

    Freed tensors of many sizes leave gaps between results that stay. Without this, the memory of a process that
    annotates for hours would keep growing.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if trim is not None:
            trim(0)
