"""A Ray Data pipeline: each worker holds a model, and reads, annotates and writes one file after the other.

Ray Data places the workers, hands out the files and replaces workers that die. It does not read the rows, because its
readers change texts: `read_text` also ends a line at U+2028, U+0085 and form feeds, `read_json` turns strings that look
like dates into timestamps. Nor does it write them: none of its writers keeps the rows of one input in one file.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from matese.cluster import storage
from matese.errors import InputError, UsageError, check_installed
from matese.formats.format import Columns
from matese.version import __version__

if TYPE_CHECKING:
    from matese.model.annotator import Annotator

SETTINGS = "_matese.json"
"""File of the output folder; Hadoop and Spark skip files with such names."""
_THREADS = 4
"""Of a worker without a GPU: more threads share the memory of one model, but each gains less."""


@dataclass(frozen=True)
class FileReport:
    """A worker's report on a file: counts of segments, and the reason if there is no result."""

    n_segments: int = 0
    windowed: int = 0
    blank: int = 0
    problem: str = ""


@dataclass
class Worker:
    """Annotates files with a model that it loads for the first of them.

    Attributes:
        options: of `matese.load`; the model must be the same on every machine.
        fingerprint: identifies the model.
        columns: see `formats.format.ReadOptions`.
    """

    options: Mapping[str, Any]
    fingerprint: str
    columns: Columns

    def __call__(self, batch: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
        """Returns the reports of a batch of files, as Ray Data asks for them."""
        pairs = zip(batch["source"], batch["target"], strict=True)
        return {"report": [json.dumps(asdict(self.annotate(str(source), str(target)))) for source, target in pairs]}

    def annotate(self, source: str, target: str) -> FileReport:
        """Writes the ratings of a file; an error that the user can fix is in the report."""
        system, path = storage.locate(target)
        if system.exists(path):  # written by a worker that died before it could report
            return FileReport()
        try:
            annotator = self._annotator.with_decoding(self._annotator.decoding)  # counts from 0
            ratings = annotator.annotate_segments(storage.read(source, self.columns))
            storage.write(ratings, target, self.options["weights"])
        except (InputError, OSError) as error:
            return FileReport(problem=str(error))
        counts = annotator.counts
        return FileReport(counts.n_segments, counts.windowed, counts.blank)

    @cached_property
    def _annotator(self) -> Annotator:
        from matese.model import annotator

        loaded = annotator.load(**self.options)
        if not loaded.name.endswith(f"@{self.fingerprint}"):
            raise InputError(f"model {loaded.name} on a worker: must be @{self.fingerprint} on every machine")
        return loaded


def unfinished(targets: Mapping[str, str], output: str, worker: Worker) -> dict[str, str]:
    """Returns the targets that do not exist. The folder is created, or must be one of a run with the same settings."""
    system, folder = storage.locate(output)
    path = f"{folder}/{SETTINGS}"
    existing = {system.unstrip_protocol(name) for name in system.find(folder)} if system.exists(folder) else set()
    settings = {
        "version": __version__,
        "model": worker.fingerprint,
        **{name: worker.options.get(name) for name in ("precision", "overrides")},
        **asdict(worker.options["choice"]),
        "weights": worker.options["weights"].name,
        "columns": dict(worker.columns),
        "input": {source: str(fs.ukey(name)) for source in targets for fs, name in [storage.locate(source)]},
    }
    text = json.dumps(settings, indent=1) + "\n"
    if system.exists(path):
        stored = json.loads(system.cat_file(path))
        current = json.loads(text)  # not `settings`, since JSON has no tuples
        if stored.get("version") != __version__ or stored.keys() != current.keys():
            begun = f"--output {output} was begun by matese {stored.get('version', 'of another version')}"
            raise InputError(f"{begun}; resume with that version (this is {__version__}), or choose another folder")
        if changed := [name for name in current if stored[name] != current[name]]:
            allowed = "resume with the same settings, or choose another folder"
            raise InputError(f"--output {output} was begun with another {', '.join(changed)}; {allowed}")
    elif existing:
        raise InputError(f"--output {output} is not empty and has no {SETTINGS}: choose a new folder, or that of a run")
    else:
        system.makedirs(folder, exist_ok=True)
        system.pipe_file(path, text.encode())
    return {source: target for source, target in targets.items() if target not in existing}


def run(worker: Worker, targets: Mapping[str, str], *, n_workers: int | None = None) -> Iterator[FileReport]:
    """Yields a report for each file, in the order in which they are done.

    Uses the cluster that `RAY_ADDRESS` names or that runs on this machine; otherwise it starts one here.

    Args:
        worker: what every worker does.
        targets: URLs of the results by the URLs of the files.
        n_workers: at most; None for one per GPU, or without GPUs for as many as the CPUs allow.

    Raises:
        InputError: without Ray, or if the cluster gives up.
    """
    check_installed("--cluster ray", "ray", extra="ray")
    # Ray must not report usage, nor write to standard error from its C++ part.
    os.environ.update({"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal", **os.environ})
    import ray
    import ray.data

    try:
        ray.init(ignore_reinit_error=True, log_to_driver=False, logging_level=logging.ERROR)
    except Exception as error:  # Ray raises no narrower one where a busy machine does not start it within 30 s
        raise InputError(f"Ray did not start ({error}); run the same command again") from error
    try:
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        ray.data.DataContext.get_current().enable_progress_bars = False
        resources: Mapping[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call, unused-ignore]
        cpus, gpus, possible = share(resources, worker.options["device"], worker.options["threads"])
        options = {**worker.options, "threads": cpus, "device": worker.options["device"] if gpus else "cpu"}
        items = [{"source": source, "target": target} for source, target in targets.items()]
        reports = ray.data.from_items(items, override_num_blocks=len(items)).map_batches(
            Worker,
            fn_constructor_kwargs=vars(replace(worker, options=options)),
            batch_size=1,
            concurrency=(1, n_workers or possible),
            num_cpus=cpus,
            num_gpus=gpus,
        )
        for row in reports.iter_rows():
            yield FileReport(**json.loads(row["report"]))
    except ray.exceptions.RayError as error:
        reason = str(error).strip().splitlines()[0]
        allowed = "it needs room for the workers; run the same command again to resume"
        raise InputError(f"the cluster gave up ({reason}): {allowed}") from error


def share(resources: Mapping[str, float], device: str, threads: int | None) -> tuple[int, int, int]:
    """Returns the CPUs and GPUs of a worker, and how many workers there can be: one per GPU, if the cluster has any."""
    cpus = int(resources.get("CPU", 0))
    gpus = int(resources.get("GPU", 0))
    if device not in ("auto", "cpu", "cuda"):
        raise UsageError(f"--device {device} is not for --cluster ray: must be auto, cpu or cuda")
    if (device == "cuda" and not gpus) or not cpus:
        raise UsageError(f"the cluster has {gpus} GPUs and {cpus} CPUs: must have one for --device {device}")
    if gpus and device != "cpu":
        return threads or 1, 1, gpus
    worker_cpus = threads or min(_THREADS, cpus)
    return worker_cpus, 0, max(1, cpus // worker_cpus)
