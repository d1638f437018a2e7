"""What a folder of results says of the run that it is of, so that no other goes on with it."""

from __future__ import annotations

import json
from collections.abc import Mapping

import matese
from matese.cluster.files import Plan, locate
from matese.cluster.worker import Job

STATE = "_matese.json"
"""Its name begins as the names of files that Hadoop and Spark pass over."""


def claim(output: str, job: Job, plan: Plan) -> set[str]:
    """Makes a new folder one of this run, or finds that it is; returns the URLs of the files that it holds.

    Raises:
        ValueError: if it is of another run, or of none and not empty.
        OSError: if it cannot be read or written.
    """
    system, folder = locate(output)
    found = {system.unstrip_protocol(name) for name in system.find(folder)} if system.exists(folder) else set()
    path, mine = f"{folder}/{STATE}", _described(job, plan)
    if system.exists(path):
        theirs = json.loads(system.cat_file(path))
        other = [name for name in mine if theirs.get(name) != mine[name]]
        if other:
            raise ValueError(
                f"--output {output} was begun with another {', '.join(other)}: must be continued as it was begun, "
                "or be another folder"
            )
    elif found:
        raise ValueError(
            f"--output {output} is not empty and holds no {STATE}: must be a new folder, or one of this run"
        )
    else:
        system.makedirs(folder, exist_ok=True)
        system.pipe_file(path, (json.dumps(mine, indent=1) + "\n").encode())
    return found


def _described(job: Job, plan: Plan) -> Mapping[str, object]:
    """Returns all that decides what is written; how fast it is written may change."""
    return {
        "version": matese.__version__,
        "model": job.fingerprint,
        "precision": job.precision,
        "min-confidence": job.min_confidence,
        "whole-words": job.whole_words,
        "weights": job.weights.name,
        "columns": dict(job.columns),
        "format": sorted({unit.target.rpartition(".")[2] for unit in plan.units}),
        "input": plan.versions,
    }
