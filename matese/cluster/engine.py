"""The workers of a Ray cluster, fed by Ray Data: it places them, deals out the units and replaces what dies."""

from __future__ import annotations

import dataclasses
import json
import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from matese.cluster.files import Unit
from matese.cluster.worker import Job, Report, Worker
from matese.formats import extras

_THREADS = 4
"""Of a worker without a GPU: more share a model's memory among them, but gain less each."""


@dataclass(frozen=True)
class Pool:
    """How many workers there are, and what each of them has.

    Attributes:
        n_workers: at most; what the cluster has no room for waits.
        n_cpus: of each.
        n_gpus: of each.
    """

    n_workers: int
    n_cpus: int
    n_gpus: int


def run(job: Job, units: Sequence[Unit], *, n_workers: int | None = None) -> Iterator[Report]:
    """Yields the reports of the units, as they are done, in no order.

    Connects to the cluster that `RAY_ADDRESS` names or that runs on this machine, else starts one here.

    Args:
        job: what is asked of each worker.
        units: what is to be done.
        n_workers: at most; None for one a GPU, or without GPUs for as many as have CPUs.

    Raises:
        ValueError: without Ray, or if it gives up.
    """
    extras.check("--engine ray", "ray", extra="ray")
    # Nothing leaves the cluster, and its C++ part does not write on standard error.
    os.environ.update({"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal", **os.environ})
    import ray
    import ray.data
    from ray.exceptions import RayError

    try:
        ray.init(ignore_reinit_error=True, log_to_driver=False, logging_level=logging.ERROR)
        pool = choose_pool(job, [node["Resources"] for node in ray.nodes() if node["Alive"]], n_workers)
        given = dataclasses.replace(job, threads=pool.n_cpus, device=job.device if pool.n_gpus else "cpu")
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        ray.data.DataContext.get_current().enable_progress_bars = False
        items = [{"unit": json.dumps(dataclasses.asdict(unit))} for unit in units]
        done = ray.data.from_items(items, override_num_blocks=len(items)).map_batches(
            _Tagging,
            fn_constructor_args=(given,),
            batch_size=1,
            compute=ray.data.ActorPoolStrategy(
                min_size=1, max_size=pool.n_workers, initial_size=pool.n_workers, max_tasks_in_flight_per_actor=2
            ),
            num_cpus=pool.n_cpus,
            num_gpus=pool.n_gpus,
        )
        for row in done.iter_rows():
            yield Report(**json.loads(row["report"]))
    except RayError as error:
        reason = str(error).strip().splitlines()[0]
        raise ValueError(
            f"the cluster gave up ({reason}): must have room for the workers; the same command goes on"
        ) from error


def choose_pool(job: Job, nodes: Sequence[dict[str, float]], n_workers: int | None = None) -> Pool:
    """Returns one worker a GPU where there are any, else as many as there are CPUs for.

    Args:
        job: which may ask for a device and for threads.
        nodes: the resources of each machine, as Ray names them.
        n_workers: at most; None for all that there is room for.

    Raises:
        ValueError: if the cluster has not the device.
    """
    n_gpus = int(sum(node.get("GPU", 0) for node in nodes))
    cpus = [int(node["CPU"]) for node in nodes if node.get("CPU", 0) >= 1]
    if job.device not in ("auto", "cpu", "cuda"):
        raise ValueError(f"--device {job.device} is not for --engine ray: must be auto, cpu or cuda")
    if (job.device == "cuda" and not n_gpus) or not cpus:
        raise ValueError(f"the cluster has {n_gpus} GPUs and {sum(cpus)} CPUs: must have one for --device {job.device}")
    if n_gpus and job.device != "cpu":
        return Pool(n_workers or n_gpus, job.threads or 1, 1)
    n_cpus = job.threads or min(_THREADS, *cpus)
    return Pool(n_workers or max(1, sum(own // n_cpus for own in cpus)), n_cpus, 0)


class _Tagging:
    """A worker as Ray Data calls it."""

    def __init__(self, job: Job) -> None:
        self._worker = Worker(job)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        reports = [self._worker.tag(Unit(**json.loads(str(unit)))) for unit in batch["unit"]]
        return {"report": [json.dumps(dataclasses.asdict(report)) for report in reports]}
