"""Which engine computes a model: numpy for few segments or little memory, if the model is small; else torch."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from matese.errors import ModelError, UsageError, unknown
from matese.model.engines import numpy_engine
from matese.model.engines.engine import Hardware
from matese.model.storage.checkpoint import StoredConfig

EngineName = Literal["auto", "numpy", "torch"]
NAMES: tuple[EngineName, ...] = get_args(EngineName)
_FOR_TORCH = 1 << 30
"""Bytes that a process needs with torch and `mini`, and some to spare (measured: 750 MB; in numpy 255 MB)."""


def is_numpy(hardware: Hardware, config: StoredConfig | None, n_segments: int | None) -> bool:
    """Whether numpy computes a model.

    Args:
        hardware: as it is wanted.
        config: of the model's directory; None for a model of another program.
        n_segments: number of segments to annotate; None if unknown.

    Raises:
        UsageError: if there is no such engine, or numpy is to use a GPU or bf16.
        ModelError: if numpy is to compute a model that it cannot.
    """
    engine = hardware.engine
    if engine not in NAMES:
        raise UsageError(unknown("engine", engine, NAMES))
    can = config is not None and numpy_engine.can_compute(config)
    fits = hardware.device in ("auto", "cpu") and hardware.precision in ("auto", "float32")
    if engine == "numpy":
        if not can:
            raise ModelError("numpy cannot compute this model: use --engine torch")
        if not fits:
            options = f"--device {hardware.device} --precision {hardware.precision}"
            raise UsageError(f"--engine numpy {options}: numpy computes in float32 on the CPU")
        return True
    if engine == "torch" or not can or not fits or n_segments is None or config is None:
        return False
    most = numpy_engine.most_segments(config)
    return n_segments <= most or (most > 0 and _available_memory() < _FOR_TORCH)


def _available_memory() -> float:
    """Returns the bytes that this process may still use; infinity where the system does not tell.

    A container's limit counts, too.
    """
    available = [float("inf")]
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            available.append(1024.0 * int(line.split()[1]))
    limit = _lines("/sys/fs/cgroup/memory.max")
    used = _lines("/sys/fs/cgroup/memory.current")
    if limit and used and limit[0].isdigit():
        available.append(float(limit[0]) - float(used[0]))
    return min(available)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="ascii").splitlines()
    except OSError:
        return []
