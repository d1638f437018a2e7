"""Everything but the cluster itself: the files, their rows, one worker, and what a run has left."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import matese
from matese import mqm
from matese.annotation import Segment, SegmentKey
from matese.cli import main, options
from matese.cluster import pipeline, storage
from matese.cluster.pipeline import FileReport, Worker
from matese.errors import FormatError, InputError, UsageError
from matese.formats.tables import jsonl, parquet
from matese.model.decoding_choice import DecodingChoice
from matese.model.storage import checkpoint

ROOT = Path(__file__).resolve().parents[2]
ROWS = [
    {"mt": "Das ist gut.", "ref": "Das ist schlecht.", "id": 7},
    {"mt": "", "ref": "etwas", "id": 8},
    {"mt": "der Text [a] 你好 \u2028!", "ref": "ein Text", "id": 9},
    {"mt": "ist der Text gut", "ref": "the good text", "id": 10},
]
COLUMNS = {"hypothesis": ["mt"], "reference": ["ref"], "index": ["id"]}


def write_json(path: Path, rows: Sequence[dict[str, Any]] = ROWS) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def write_parquet(path: Path) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as written

    path.parent.mkdir(exist_ok=True)
    written.write_table(pyarrow.Table.from_pylist(ROWS), path)
    return path


EXPECTED = [
    Segment(str(row["mt"]), None, (str(row["ref"]),), SegmentKey(system="mt", index=int(str(row["id"]))))
    for row in ROWS
]


def test_rows_are_read_character_for_character(tmp_path: Path) -> None:
    lines = write_json(tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines.read_bytes()))
    write_parquet(tmp_path / "c.parquet")
    for name in ("a.jsonl", "b.jsonl.gz", "c.parquet"):
        assert list(storage.read(str(tmp_path / name), COLUMNS)) == EXPECTED
    date = {"hypothesis": "2024-01-01", "references": ["a", "b"], "extra": 1}
    (segment,) = storage.read(str(write_json(tmp_path / "d.jsonl", [date])), {})
    assert (segment, segment.extra) == (Segment("2024-01-01", None, ("a", "b")), {"extra": 1})


def test_files_of_a_folder_and_of_a_pattern(tmp_path: Path) -> None:
    for name in ("in/a.jsonl", "in/b/c.jsonl", "in/b/d.jsonl"):
        write_json(tmp_path / name)
    (tmp_path / "in" / "b" / "d.jsonl").rename(tmp_path / "in" / "b" / "d.jsonl.gz")
    url = tmp_path.as_uri()
    out = (tmp_path / "out").as_uri()
    assert storage.find(str(tmp_path / "in"), str(tmp_path / "out"), "parquet") == {
        f"{url}/in/a.jsonl": f"{out}/a.parquet",
        f"{url}/in/b/c.jsonl": f"{out}/b/c.parquet",
        f"{url}/in/b/d.jsonl.gz": f"{out}/b/d.parquet",
    }
    targets = storage.find(str(tmp_path / "in" / "*" / "c*.jsonl"), str(tmp_path / "out"))
    assert targets == {f"{url}/in/b/c.jsonl": f"{out}/c.jsonl"}


def test_files_that_are_refused(tmp_path: Path) -> None:
    path = write_json(tmp_path / "in" / "a.jsonl")
    with pytest.raises(InputError, match=r"--output .*out is in --input .*in; choose another folder"):
        storage.find(str(path.parent), str(path.parent / "out"))
    with pytest.raises(InputError, match=r"--input .*\*\.tsv has no files; give a file, a folder or a pattern"):
        storage.find(f"{path.parent}/*.tsv", str(tmp_path / "out"))
    with pytest.raises(InputError, match="nofs://a: Protocol not known: nofs: must be a local path, or a URL"):
        storage.find("nofs://a", "out")
    (path.parent / "a.jsonl.gz").touch()
    with pytest.raises(InputError, match=r"two files, .*a\.jsonl\.gz and another, would be written to .*a\.jsonl"):
        storage.find(str(path.parent), "out")
    (path.parent / "README").touch()
    with pytest.raises(InputError, match=r"README: must end in .*\.parquet or \.parquet\.gz; a pattern such as"):
        storage.find(str(path.parent), "out")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("{", r"a\.jsonl:1: not JSON"),
        ('{"mt": "x", "ref": "y", "id": 1}\n[]', r"a\.jsonl:2: row is not an object with a name for each value"),
        ('{"mt": "x", "id": 1}', "a\\.jsonl:1: no column 'ref': must be mt or id"),
        ('{"mt": null, "ref": "y", "id": 1}', "mt is missing: must be a translation"),
        ('{"mt": "x", "ref": ["y", 1], "id": 1}', r"ref is \['y', 1\]: must be a text"),
    ],
)
def test_rows_that_are_refused(tmp_path: Path, row: str, problem: str) -> None:
    (tmp_path / "a.jsonl").write_text(row)
    with pytest.raises(FormatError, match=problem):
        list(storage.read(str(tmp_path / "a.jsonl"), COLUMNS))


def test_parquet_that_is_none(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(FormatError, match=r"a\.parquet: no Parquet file \(.*\); fetch or write the file again"):
        list(storage.read(str(tmp_path / "a.parquet"), COLUMNS))


@pytest.fixture
def worker(tiny_model_dir: Path) -> Worker:
    options = {"model": str(tiny_model_dir), "precision": "float32", "choice": DecodingChoice()}
    return Worker(
        {**options, "weights": mqm.MATESE},
        checkpoint.fingerprint(tiny_model_dir),
        COLUMNS,
    )


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_worker_marks_what_a_single_process_marks(tmp_path: Path, worker: Worker, kind: str) -> None:
    source = str(write_parquet(tmp_path / "in" / "a.parquet"))
    target = tmp_path / "out" / f"a.{kind}"
    report = worker.annotate(source, str(target))
    expected = list(matese.load(worker.options["model"], precision="float32").annotate_segments(EXPECTED))
    read = jsonl.read if kind == "jsonl" else parquet.read_parquet
    assert list(read(target)) == expected
    assert list(target.parent.iterdir()) == [target]
    assert report == FileReport(4, blank=1)


def test_worker_writes_to_any_file_system(tmp_path: Path, worker: Worker) -> None:
    fsspec = pytest.importorskip("fsspec")
    write_json(tmp_path / "a.jsonl", [{**row, "extra": 1} for row in ROWS])
    (pair,) = storage.find(str(tmp_path / "a.jsonl"), "memory://spans").items()
    assert pair[1] == "memory:///spans/a.jsonl"
    assert worker.annotate(*pair) == FileReport(4, blank=1)
    memory = fsspec.filesystem("memory")
    lines = memory.cat_file("/spans/a.jsonl").decode().split("\n")[:-1]
    rows = [json.loads(line) for line in lines]
    assert [(row["hypothesis"], row["extra"]) for row in rows] == [(row["mt"], 1) for row in ROWS]
    assert memory.find("/spans") == ["/spans/a.jsonl"]


def test_worker_skips_a_file_that_is_complete(tmp_path: Path, worker: Worker) -> None:
    (tmp_path / "b.jsonl").write_text("there")
    assert worker.annotate("nowhere", str(tmp_path / "b.jsonl")) == FileReport()
    assert (tmp_path / "b.jsonl").read_text() == "there"


def test_worker_reports_problems_and_leaves_nothing(tmp_path: Path, worker: Worker) -> None:
    source = str(write_json(tmp_path / "a.jsonl", [ROWS[0], {"mt": "x"}]))
    target = str(tmp_path / "out" / "a.jsonl")
    assert "a.jsonl:2: no column 'ref'" in worker.annotate(source, target).problem
    assert not (tmp_path / "out").exists()
    report = replace(worker, fingerprint="01234567").annotate(source, target)
    assert report.problem.endswith("on a worker: must be @01234567 on every machine")


def test_folder_of_results_belongs_to_one_run(tmp_path: Path, worker: Worker) -> None:
    path = write_json(tmp_path / "a.jsonl")
    output = str(tmp_path / "out")
    targets = storage.find(str(path), output)
    assert pipeline.unfinished(targets, output, worker) == targets
    assert pipeline.unfinished(targets, output, replace(worker, options={**worker.options, "threads": 3})) == targets
    (tmp_path / "out" / "a.jsonl").touch()
    assert pipeline.unfinished(targets, output, worker) == {}
    changed = replace(worker, options={**worker.options, "precision": "bf16"}, columns={})
    with pytest.raises(InputError, match="was begun with another precision, columns; resume with the same se"):
        pipeline.unfinished(targets, output, changed)
    changed = replace(worker, options={**worker.options, "choice": DecodingChoice(error_free=True)})
    with pytest.raises(InputError, match="was begun with another error_free; resume with the same se"):
        pipeline.unfinished(targets, output, changed)
    path.write_text("{}\n")
    with pytest.raises(InputError, match="was begun with another input; resume with the same settings, or choose"):
        pipeline.unfinished(targets, output, worker)
    settings = tmp_path / "out" / pipeline.SETTINGS
    for stored in ({"version": "0.0.1", "model": "x"}, {"model": "x"}):
        settings.write_text(json.dumps(stored))
        with pytest.raises(InputError, match=r"was begun by matese (0\.0\.1|of another version); resume with that"):
            pipeline.unfinished(targets, output, worker)
    with pytest.raises(InputError, match=r"is not empty and has no _matese\.json: choose a new folder"):
        pipeline.unfinished(targets, str(tmp_path), worker)


@pytest.mark.parametrize(
    ("resources", "device", "threads", "shared"),
    [
        ({"CPU": 2}, "auto", None, (2, 0, 1)),
        ({"CPU": 25}, "auto", None, (4, 0, 6)),
        ({"CPU": 2}, "auto", 1, (1, 0, 2)),
        ({"CPU": 25, "GPU": 8}, "auto", None, (1, 1, 8)),
        ({"CPU": 25, "GPU": 8}, "cpu", 8, (8, 0, 3)),
    ],
)
def test_shares_of_the_workers(
    resources: dict[str, float], device: str, threads: int | None, shared: tuple[int, int, int]
) -> None:
    assert pipeline.share(resources, device, threads) == shared


def test_devices_that_a_cluster_does_not_have() -> None:
    with pytest.raises(UsageError, match="the cluster has 0 GPUs and 2 CPUs: must have one for --device cuda"):
        pipeline.share({"CPU": 2}, "cuda", None)
    with pytest.raises(UsageError, match="--device cuda:1 is not for --cluster ray: must be auto, cpu or cuda"):
        pipeline.share({"CPU": 2, "GPU": 2}, "cuda:1", None)


def test_commands_of_the_page_are_understood() -> None:
    page = (ROOT / "docs" / "operation.md").read_text(encoding="utf-8")
    text = page.split("\n## Clusters\n")[1].split("\n## ")[0]
    blocks = "\n".join(re.findall(r"```(?:ba)?sh\n(.*?)```", text, re.DOTALL)).replace("\\\n", "")
    lines = re.findall(r"\bmatese (tag [^;\n]*)", re.sub(r"\$\w+/", "1/", blocks))
    assert [options.parse(shlex.split(line)).command for line in lines] == ["tag"] * 4


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ((), "--cluster ray needs --input DIR|GLOB and --output DIR"),
        (("--hyp", "mt.txt"), "--cluster ray: leave out --hyp"),
        (("--input", "in", "--output", "out", "--only-errors"), "--cluster ray: leave out --only-errors"),
        (("--input", "in", "--output", "out", "--format", "html"), "--format must be tsv, csv, parquet or jsonl with"),
        (("--columns", "text=x"), "--columns text=x: unknown name 'text': must be hypothesis, source, system"),
        (("--columns", "source"), "--columns 'source' must be NAME=COLUMN"),
    ],
)
def test_usage(capsys: pytest.CaptureFixture[str], options: tuple[str, ...], problem: str) -> None:
    assert main(["tag", "--cluster", "ray", *options]) == 2
    assert capsys.readouterr().err.startswith(f"matese: {problem}")


def test_options_of_a_cluster_need_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tag", "--hyp", "mt.txt", "--src", "src.txt", "--workers", "2"]) == 2
    assert capsys.readouterr().err == "matese: --workers is for --cluster ray only\n"
