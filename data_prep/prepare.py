"""Prepare training data from raw ratings, as JSONL splits and a report; see `python -m data_prep prepare --help`."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from data_prep import assembly, splits
from data_prep.cleaning import Merge
from data_prep.datasets import DATA_SETS, DataSet
from data_prep.report import Counts, Report, Tally
from data_prep.store import Store
from matese.annotation import Rating
from matese.errors import UsageError, one_of
from matese.files import replacing
from matese.formats.tables import jsonl

_LIST = "held_out_sources.txt"

_Ratings = Mapping[DataSet, Sequence[Rating]]


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the command, as its help describes them."""

    data: Path
    output: Path
    lang_pairs: tuple[str, ...] = ()
    test_sets: tuple[str, ...] = ()
    merge: Merge = "union"
    seed: int = 0
    n_splits: int | None = None
    held_out: Path = splits.COMMITTED

    def __post_init__(self) -> None:
        if self.n_splits is not None and self.n_splits < 1:
            raise UsageError(f"--splits {self.n_splits}: must be 1 or more")
        _check_names("--lang-pairs", self.lang_pairs, [data_set.lang_pair for data_set in DATA_SETS])
        _check_names("--test-sets", self.test_sets, [data_set.test_set for data_set in DATA_SETS])
        if not any(map(self.selects, DATA_SETS)):
            wanted = f"--lang-pairs {' '.join(self.lang_pairs)} --test-sets {' '.join(self.test_sets)}"
            names = one_of([data_set.name for data_set in DATA_SETS])
            raise UsageError(f"{wanted} select no data set; the data sets are {names}")

    def selects(self, data_set: DataSet) -> bool:
        """Whether a data set is written."""
        is_pair = not self.lang_pairs or data_set.lang_pair in self.lang_pairs
        return is_pair and (not self.test_sets or data_set.test_set in self.test_sets)


def prepare(options: Options, progress: Callable[[str], None]) -> Report:
    """Writes the splits, the test sets and the report, and returns the report.

    By default, the committed list determines which segments are held out, so that the training data never change. New
    splits are always drawn from all data, so that they do not depend on the part that is written.

    Raises:
        FormatError: if a raw file is not in its format.
        OSError: if a file cannot be read or written.
    """
    options.output.mkdir(parents=True, exist_ok=True)
    needed = [data_set for data_set in DATA_SETS if options.n_splits is not None or options.selects(data_set)]
    store = Store(options.data)
    tally = Tally()
    ratings = {}
    for data_set in needed:
        progress(f"reading {data_set.name}")
        ratings[data_set] = assembly.load(data_set, store, merge=options.merge, seed=options.seed, tally=tally)
    if options.n_splits is None:
        lists = {"": splits.read_held_out(options.held_out)}
    else:
        lists = {
            f"split-{number}/": draw_split(ratings, seed=options.seed, number=number)
            for number in range(1, options.n_splits + 1)
        }
    files = _files({data_set: ratings[data_set] for data_set in needed if options.selects(data_set)}, lists)
    settings = {name: getattr(options, name) for name in ("lang_pairs", "test_sets", "merge", "seed")}
    report = Report(
        settings={**settings, "splits": options.n_splits},
        files={
            name: {(data_set.test_set, data_set.lang_pair): Counts.of(rated) for data_set, rated in content.items()}
            for name, content in files.items()
        },
        held_out={f"{folder}{_LIST}": len(held_out.hashes) for folder, held_out in lists.items()},
        tally=tally,
    )
    progress("writing")
    lines: dict[str, Iterable[str]] = {
        name: map(jsonl.dumps, chain.from_iterable(content.values())) for name, content in files.items()
    }
    lines |= {f"{folder}{_LIST}": sorted(held_out.hashes) for folder, held_out in lists.items()}
    lines["report.json"] = [json.dumps(report.to_json(), ensure_ascii=False, indent=1)]
    write_all(options.output, lines)
    return report


def draw_split(ratings: _Ratings, *, seed: int, number: int) -> splits.HeldOut:
    """Returns the held-out texts of a split of all data, including all texts of the test sets."""
    segments = {
        role: [rating.segment for data_set in ratings if data_set.role == role for rating in ratings[data_set]]
        for role in ("train", "test")
    }
    return splits.draw(segments["train"], always=segments["test"], seed=seed, number=number)


def _files(ratings: _Ratings, lists: Mapping[str, splits.HeldOut]) -> Mapping[str, _Ratings]:
    """Returns the ratings in each file: train and dev of each list, then the test sets."""
    files: dict[str, dict[DataSet, Sequence[Rating]]] = defaultdict(dict)
    for folder, held_out in lists.items():
        for data_set, rated in ratings.items():
            if data_set.role == "train":
                for name, is_dev in (("train", False), ("dev", True)):
                    part = [rating for rating in rated if held_out.covers(rating.segment) is is_dev]
                    files[f"{folder}{name}.jsonl"][data_set] = part
    for data_set, rated in ratings.items():
        if data_set.role == "test":
            files[f"{data_set.test_set}.jsonl"][data_set] = rated
    return files


def write_all(output: Path, files: Mapping[str, Iterable[str]]) -> None:
    """Writes several files from their lines; no file is replaced before all are written.

    Raises:
        OSError: if a file cannot be written.
    """
    with ExitStack() as stack:
        for name, lines in files.items():
            path = output / name
            path.parent.mkdir(exist_ok=True)
            temporary = stack.enter_context(replacing(path))
            with temporary.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{line}\n" for line in lines)


def _check_names(option: str, names: Sequence[str], allowed: Sequence[str]) -> None:
    for name in names:
        if name not in allowed:
            raise UsageError(f"{option} {name}: must be {one_of(list(dict.fromkeys(allowed)))}")
