r"""Compare ways to fetch tokenised training data from a memory-mapped `datasets.Dataset`.

    python -m benchmarks.training_rows --n-rows 100000

Each row has the ids and ranges of three texts of 15 to 45 tokens, as in `matese.training.corpus`, and the tags of one.
Rows are fetched as rows of the Dataset; from arrays that are views of its memory, as training does; and from arrays in
memory. The table has the seconds of CPU to open what an earlier run has kept and to fetch every row once, in random
order and in batches of 64, and the memory that belongs to the process alone afterwards.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import markdown

TEXTS = ("hypothesis", "source", "reference")
BATCH = 64
Measured = tuple[float, float, float]
"""Seconds to open and to fetch, and megabytes."""


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n-rows", type=int, default=100_000, metavar="N", help="default: %(default)s")
    n_rows = parser.parse_args().n_rows
    with tempfile.TemporaryDirectory() as folder:
        _make(Path(folder), n_rows)
        rows = []
        for name, fetch in FETCH.items():
            with multiprocessing.get_context("spawn").Pool(1) as pool:  # each with memory of its own
                seconds = pool.apply(_measure, (fetch, folder, n_rows))
            rows.append([name, *(f"{value:.2f}" for value in seconds[:2]), f"{seconds[2]:.0f}"])
    print(*markdown.table(["", "open, s", "one epoch, s", "own memory, MB"], rows), sep="\n")


def _make(folder: Path, n_rows: int) -> None:
    import pyarrow as pa

    random = np.random.default_rng(0)
    columns: dict[str, Any] = {}
    arrays: dict[str, Any] = {}
    for name in TEXTS:
        starts = np.concatenate([[0], random.integers(15, 46, n_rows).cumsum()]).astype(np.int32)
        ids = random.integers(0, 250_000, starts[-1]).astype(np.int32)
        ranges = np.arange(2 * starts[-1], dtype=np.int32)
        columns[name] = pa.ListArray.from_arrays(pa.array(starts), pa.array(ids))
        columns[f"{name}_ranges"] = pa.ListArray.from_arrays(pa.array(2 * starts), pa.array(ranges))
        arrays |= {f"{name}.starts": starts, f"{name}.ids": ids, f"{name}.ranges": ranges.reshape(-1, 2)}
        if name == TEXTS[0]:
            tags = (ids % 5).astype(np.int8)
            columns["tags"] = pa.ListArray.from_arrays(pa.array(starts), pa.array(tags))
            arrays["tags"] = tags
    table = pa.table(columns)
    with pa.ipc.new_stream(str(folder / "rows.arrow"), table.schema) as stream:
        stream.write_table(table)
    np.savez(folder / "arrays.npz", allow_pickle=False, **arrays)


def _measure(fetch: Callable[[str, list[int]], Measured], folder: str, n_rows: int) -> Measured:
    return fetch(folder, np.random.default_rng(1).permutation(n_rows).tolist())


def _memory() -> float:
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines())
    return int(status["RssAnon"].split()[0]) / 1024


def _fetch_rows(folder: str, order: list[int]) -> Measured:
    import datasets

    start = time.process_time()
    rows = datasets.Dataset.from_file(f"{folder}/rows.arrow").with_format("numpy")
    opened = time.process_time()
    for first in range(0, len(order), BATCH):
        rows[order[first : first + BATCH]]
    return opened - start, time.process_time() - opened, _memory()


def _fetch_views(folder: str, order: list[int]) -> Measured:
    import datasets

    start = time.process_time()
    table = datasets.Dataset.from_file(f"{folder}/rows.arrow").data.table
    arrays: dict[str, Any] = {}
    for name in TEXTS:
        ids = table.column(name).chunk(0)
        ranges = table.column(f"{name}_ranges").chunk(0)
        arrays |= {f"{name}.starts": ids.offsets.to_numpy(), f"{name}.ids": ids.values.to_numpy()}
        arrays[f"{name}.ranges"] = ranges.values.to_numpy().reshape(-1, 2)
    arrays["tags"] = table.column("tags").chunk(0).values.to_numpy()
    opened = time.process_time()
    _fetch(arrays, order)
    return opened - start, time.process_time() - opened, _memory()


def _fetch_arrays(folder: str, order: list[int]) -> Measured:
    start = time.process_time()
    with np.load(f"{folder}/arrays.npz") as stored:
        arrays = {name: stored[name] for name in stored.files}
    opened = time.process_time()
    _fetch(arrays, order)
    return opened - start, time.process_time() - opened, _memory()


def _fetch(arrays: Mapping[str, Any], order: list[int]) -> None:
    for row in order:
        for name in TEXTS:
            place = slice(*arrays[f"{name}.starts"][row : row + 2])
            _ = arrays[f"{name}.ids"][place]
            _ = arrays[f"{name}.ranges"][place]
        _ = arrays["tags"][slice(*arrays[f"{TEXTS[0]}.starts"][row : row + 2])]


FETCH = {
    "rows of a datasets.Dataset": _fetch_rows,
    "views of its memory": _fetch_views,
    "arrays in memory": _fetch_arrays,
}


if __name__ == "__main__":
    main()
