"""What we want to reach, beside what was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.speed.race import Result

Results = Mapping[str, Result]
_XLMR = ("xlmr-base", "xlmr-large")


@dataclass(frozen=True)
class Goal:
    """A figure that is wanted.

    Attributes:
        text: what is measured.
        wanted: how much of it, at least; or at most.
        measured: None where a contestant was not measured.
        is_most: whether less is better.
    """

    text: str
    wanted: float
    measured: float | None
    is_most: bool = False

    @property
    def is_met(self) -> bool | None:
        """Whether it is reached; None where it was not measured."""
        if self.measured is None:
            return None
        return self.measured <= self.wanted if self.is_most else self.measured >= self.wanted


def goals(found: Results, device: str) -> list[Goal]:
    """Returns all goals; what is compared was measured in one run."""
    made = []
    for name in _XLMR:
        ours = f"{name}/ours reference"
        made += [
            Goal(f"{name}, bf16: times RegressionMetric", 5, speeds(found, f"{ours} bf16", f"{name}/comet regression")),
            Goal(f"{name}, bf16: times UnifiedMetric", 10, speeds(found, f"{ours} bf16", f"{name}/comet unified")),
            Goal(f"{name}, float32: share of the ceiling", 0.85, share(found, f"{ours} float32")),
            Goal(f"{name}, float32: times the plain loop", 2, speeds(found, f"{ours} float32", f"{name}/plain loop")),
        ]
    of_bf16 = 0.4 if device == "cpu" else 0.5
    for name in ("mini", *_XLMR, "mbart"):
        made.append(Goal(f"{name}, bf16: share of the ceiling", of_bf16, share(found, f"{name}/ours reference bf16")))
    versus = speeds(found, "xlmr-large/mini reference bf16", "xlmr-large/comet regression")
    made.append(Goal("mini: times RegressionMetric on xlmr-large", 100, versus))
    made.append(Goal("mini: times TER", 1, speeds(found, "mini/ours reference bf16", "mini/TER")))
    mini = found.get("mini/ours reference bf16")
    made.append(Goal("mini: segments a second", 100, mini.speed if mini is not None and mini.seconds else None))
    peaks = [result.peak_bytes for name, result in found.items() if name.startswith("segments/") and result.seconds]
    grown = peaks[-1] / peaks[0] if len(peaks) > 1 else None
    made.append(Goal("mini: memory of the most segments, times that of the fewest", 1.1, grown, is_most=True))
    return made


def share(found: Results, name: str) -> float | None:
    """Returns the operations a second of a contestant over those of a product of its precision in its group."""
    result = found.get(name)
    if result is None or not result.seconds or not result.flops:
        return None
    return _ratio(found, name, f"{result.entry.group}/product {result.entry.precision}", lambda one: one.rate)


def speeds(found: Results, name: str, other: str) -> float | None:
    """Returns the segments a second of a contestant over those of another."""
    return _ratio(found, name, other, lambda one: one.speed)


def _ratio(found: Results, name: str, other: str, of: Callable[[Result], float]) -> float | None:
    one, two = found.get(name), found.get(other)
    if one is None or two is None or one.problem or two.problem:
        return None
    return of(one) / of(two)
