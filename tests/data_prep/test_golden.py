"""Every source in one run: raw files as they are downloaded, and what the commands make of them, in `golden.txt`.

Each case of `raw_files` is a line there. After a change that is meant, look through the difference that
`python -m tests.data_prep.test_golden` makes.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from data_prep import labels, splits
from data_prep.__main__ import main
from data_prep.splits import HeldOut
from data_prep.store import Store
from matese.annotation import Rating
from matese.formats.tables import jsonl
from tests.data_prep import raw_files

GOLDEN = Path(__file__).with_name("golden.txt")
HELD_OUT = HeldOut(frozenset(map(splits.fingerprint, raw_files.HELD_OUT)))
COMMANDS = (
    ("prepare",),
    ("segment-scores",),
    ("assessments",),
    ("translations", "--most", "3"),
    ("judgments",),
    ("judgments", "--held-out"),
)
WITH_A_FILE = ("translations",)


def run(root: Path) -> Iterator[str]:
    """Runs the commands in a folder and yields the lines of all their files."""
    raw = raw_files.write_all(root / "raw")
    held_out = raw_files.write(root / "list.txt", raw_files.lines(*HELD_OUT.hashes))
    report = labels.write(Store(raw), root / "labels", lambda _: None)
    yield from of_files(root / "labels")
    yield from (f"{' / '.join(reason)}: {n}" for reason, n in sorted(report.tally.counts.items()))
    for command in COMMANDS:
        folder = root / " ".join(command)
        output = folder / (f"{command[0]}.jsonl" if command[0] in WITH_A_FILE else "")
        options = ("--held-out", str(held_out)) if command == ("prepare",) else ()
        assert main([*command, "--data", str(raw), "--output", str(output), *options]) == 0
        yield from of_files(folder)


def of_files(folder: Path) -> Iterator[str]:
    """Yields what the files of a command hold."""
    for path in sorted(folder.iterdir()):
        yield f"== {folder.name} {path.name}"
        if path.suffix == ".jsonl":
            yield from map(shown, jsonl.read(path))
        elif path.suffix == ".json":
            report = json.loads(path.read_text("utf-8"))
            yield from (json.dumps(row, ensure_ascii=False) for part in ("files", "faults") for row in report[part])
            yield json.dumps([report["settings"], report["held_out_texts"]])
        else:
            assert path.read_text().split() == sorted(HELD_OUT.hashes)


def shown(rating: Rating) -> str:
    """A rating on one line: its key, texts, errors and score."""
    segment = rating.segment
    key = segment.key
    assert key is not None
    errors = [
        f"{error.start} {segment.hypothesis[error.start : error.end]!r} {error.severity and error.severity.value}"
        f"{f' {error.category}' if error.category else ''}"
        for error in rating.errors or ()
    ]
    unplaced = [f"{error.severity and error.severity.value} {error.category}" for error in rating.unplaced]
    score = rating.overall or rating.estimate
    parts = [
        f"{key.test_set} {key.lang_pair} {key.system} {key.document}:{key.index} by {rating.rater}",
        f"{segment.source} > {segment.hypothesis} = {' / '.join(segment.references)}".replace("x" * 601, "x..."),
        "no spans" if rating.errors is None else ", ".join(errors),
        *(f"in the source {error.start}-{error.end}" for error in rating.source_errors),
        *(f"unplaced {error}" for error in unplaced),
        "" if score is None else f"{type(score).__name__} {score.value:.4g} {score.scale}",
    ]
    return " | ".join(filter(None, parts))


def test_all_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splits, "committed", lambda: HELD_OUT)
    assert list(run(tmp_path)) == GOLDEN.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(splits, "committed", lambda: HELD_OUT)
        GOLDEN.write_text("".join(f"{line}\n" for line in run(Path(folder))), encoding="utf-8")
