"""All of a cluster but the cluster: units, rows, one worker, and the state of a folder of results."""

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
from matese.annotation import Segment, SegmentKey
from matese.cli import main, parser
from matese.cluster import engine, files, rows, state
from matese.cluster.engine import Pool
from matese.cluster.files import Unit
from matese.cluster.worker import Job, Report, Worker
from matese.encoder import checkpoint
from matese.formats import jsonl, parquet

ROOT = Path(__file__).resolve().parents[2]
ROWS = [
    {"mt": "Das ist gut.", "ref": "Das ist schlecht.", "id": 7},
    {"mt": "", "ref": "etwas", "id": 8},
    {"mt": "der Text [a] 你好 \u2028!", "ref": "ein Text", "id": 9},
    {"mt": "ist der Text gut", "ref": "the good text", "id": 10},
]
COLUMNS = {"hypothesis": "mt", "references": "ref", "index": "id"}


def write_json(path: Path, given: Sequence[dict[str, Any]] = ROWS) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in given), encoding="utf-8")
    return path


def write_parquet(path: Path, *, group: int = 1) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as written

    path.parent.mkdir(exist_ok=True)
    written.write_table(pyarrow.Table.from_pylist(ROWS), path, row_group_size=group)
    return path


def segments(path: Path, unit_bytes: int = files.UNIT_BYTES) -> list[list[Segment]]:
    """The segments of each unit of a file."""
    plan = files.plan(str(path), str(path.parent / "out"), unit_bytes=unit_bytes)
    return [list(rows.read(unit, COLUMNS, set())) for unit in plan.units]


EXPECTED = [Segment(str(row["mt"]), None, (str(row["ref"]),), SegmentKey(index=int(str(row["id"])))) for row in ROWS]


@pytest.mark.parametrize("unit_bytes", [1, 20, 60, 61, 62, 63, 100, 1000])
def test_each_line_is_in_one_unit(tmp_path: Path, unit_bytes: int) -> None:
    cut = segments(write_json(tmp_path / "a.jsonl"), unit_bytes)
    assert [segment for own in cut for segment in own] == EXPECTED
    assert len(cut) == -(-(tmp_path / "a.jsonl").stat().st_size // unit_bytes)


def test_compressed_lines_are_one_unit(tmp_path: Path) -> None:
    text = write_json(tmp_path / "a.jsonl").read_bytes()
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(text))
    assert segments(tmp_path / "b.jsonl.gz", 1) == [EXPECTED]


def test_row_groups_are_units(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet")
    assert segments(path, 1) == [[segment] for segment in EXPECTED]
    assert segments(path) == [EXPECTED]


def test_plan_of_a_folder_and_of_a_pattern(tmp_path: Path) -> None:
    for name in ("in/a.jsonl", "in/b/c.jsonl", "in/b/d.jsonl"):
        write_json(tmp_path / name)
    plan = files.plan(str(tmp_path / "in"), str(tmp_path / "out"), "parquet")
    assert sorted(plan.versions) == ["a.jsonl", "b/c.jsonl", "b/d.jsonl"]
    out = (tmp_path / "out").as_uri()
    names = ["a-00000.parquet", "b/c-00000.parquet", "b/d-00000.parquet"]
    assert [unit.target for unit in plan.units] == [f"{out}/{name}" for name in names]
    plan = files.plan(str(tmp_path / "in" / "*" / "c*.jsonl"), str(tmp_path / "out"))
    assert [unit.target for unit in plan.units] == [f"{out}/c-00000.jsonl"]


def test_plans_that_are_refused(tmp_path: Path) -> None:
    path = write_json(tmp_path / "in" / "a.jsonl")
    with pytest.raises(ValueError, match=r"--output .*out is in --input .*in: must be another folder"):
        files.plan(str(path.parent), str(path.parent / "out"))
    with pytest.raises(
        ValueError, match=r"--input .*\*\.tsv has no files: must be a file, a folder of files or a patte"
    ):
        files.plan(f"{path.parent}/*.tsv", str(tmp_path / "out"))
    with pytest.raises(
        ValueError, match="nofs://a: Protocol not known: nofs: must be a local path, or a URL that fsspec"
    ):
        files.plan("nofs://a", "out")
    (path.parent / "b.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match=r"has .*a\.jsonl and .*b\.parquet: must all be JSONL or all be Parquet"):
        files.plan(str(path.parent), "out")
    path.unlink()
    with pytest.raises(ValueError, match=r"b\.parquet: no Parquet file \(.*\): must be whole"):
        files.plan(str(path.parent), "out")
    (path.parent / "README").touch()
    with pytest.raises(ValueError, match=r"README: must end in \.jsonl, \.jsonl\.gz, \.parquet; a pattern"):
        files.plan(str(path.parent), "out")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("{", r"line at byte 0: not JSON"),
        ("[]", r"line at byte 0: value is a list: must be an object"),
        ('{"mt": "x", "id": 1}', "line at byte 0: no column 'ref': must be mt or id"),
        ('{"mt": null, "ref": "y", "id": 1}', "mt is missing or null: must be given"),
        ('{"mt": "x", "ref": ["y", 1], "id": 1}', r"ref\[1\] is a number: must be a string"),
    ],
)
def test_rows_that_are_refused(tmp_path: Path, row: str, problem: str) -> None:
    (tmp_path / "a.jsonl").write_text(row)
    with pytest.raises(ValueError, match=problem):
        segments(tmp_path / "a.jsonl")


@pytest.fixture
def job(tiny_model_dir: Path) -> Job:
    return Job(str(tiny_model_dir), checkpoint.fingerprint(tiny_model_dir), COLUMNS, precision="float32")


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_worker_marks_what_the_single_process_marks(tmp_path: Path, job: Job, kind: files.Kind) -> None:
    path = write_parquet(tmp_path / "in" / "a.parquet")
    plan = files.plan(str(path), str(tmp_path / "out"), kind, unit_bytes=1)
    worker = Worker(job)
    reports = [worker.tag(unit) for unit in plan.units]
    expected = list(matese.load(job.model, precision="float32").annotate_segments(EXPECTED))
    read = jsonl.read if kind == "jsonl" else parquet.read_parquet
    written = sorted((tmp_path / "out").iterdir())
    assert [rating for path in written for rating in read(path)] == expected
    assert [report.n_segments for report in reports] == [1] * 4
    assert [report.n_blank for report in reports] == [0, 1, 0, 0]
    assert {name for report in reports for name in report.signatures} == {expected[0].rater}


def test_worker_writes_to_any_file_system(tmp_path: Path, job: Job) -> None:
    fsspec = pytest.importorskip("fsspec")
    write_json(tmp_path / "a.jsonl", [{**row, "extra": 1} for row in ROWS])
    (unit,) = files.plan(str(tmp_path / "a.jsonl"), "memory://spans").units
    assert unit.target == "memory:///spans/a-00000.jsonl"
    assert Worker(job).tag(unit).unread == ("extra",)
    memory = fsspec.filesystem("memory")
    lines = memory.cat_file("/spans/a-00000.jsonl").decode().split("\n")[:-1]
    assert [json.loads(line)["hypothesis"] for line in lines] == [row["mt"] for row in ROWS]
    assert memory.find("/spans") == ["/spans/a-00000.jsonl"]


def test_worker_leaves_alone_what_is_there(tmp_path: Path, job: Job) -> None:
    write_json(tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl").write_text("there")
    unit = Unit(str(tmp_path / "a.jsonl"), 0, 100, str(tmp_path / "b.jsonl"))
    assert Worker(job).tag(unit) == Report()
    assert (tmp_path / "b.jsonl").read_text() == "there"


def test_worker_reports_problems_and_leaves_nothing(tmp_path: Path, job: Job) -> None:
    write_json(tmp_path / "a.jsonl", [ROWS[0], {"mt": "x"}])
    (unit,) = files.plan(str(tmp_path / "a.jsonl"), str(tmp_path / "out")).units
    assert "a.jsonl: line at byte 60: no column 'ref'" in Worker(job).tag(unit).problem
    assert not (tmp_path / "out").exists()
    report = Worker(replace(job, fingerprint="01234567")).tag(unit)
    assert report.problem.endswith("on a worker: must be @01234567 everywhere")


def test_state_belongs_to_one_run(tmp_path: Path) -> None:
    path, output = write_json(tmp_path / "a.jsonl"), str(tmp_path / "out")
    job, plan = Job("mini", "01234567"), files.plan(str(path), output)
    assert state.claim(output, job, plan) == set()
    assert state.claim(output, replace(job, threads=3), plan) == {(tmp_path / "out" / state.STATE).as_uri()}
    with pytest.raises(ValueError, match="was begun with another precision, columns: must be continued as it was"):
        state.claim(output, replace(job, precision="bf16", columns=COLUMNS), plan)
    path.write_text("{}\n")
    with pytest.raises(ValueError, match="was begun with another input: must be continued as it was begun, or be ano"):
        state.claim(output, job, files.plan(str(path), output))
    with pytest.raises(ValueError, match=r"is not empty and holds no _matese\.json: must be a new folder"):
        state.claim(str(tmp_path), job, plan)


@pytest.mark.parametrize(
    ("options", "nodes", "pool"),
    [
        ({}, [{"CPU": 2}], Pool(1, 2, 0)),
        ({}, [{"CPU": 16}, {"CPU": 9}, {"memory": 1}], Pool(6, 4, 0)),
        ({"threads": 1}, [{"CPU": 2}], Pool(2, 1, 0)),
        ({}, [{"CPU": 16, "GPU": 8}, {"CPU": 9}], Pool(8, 1, 1)),
        ({"device": "cpu", "threads": 8}, [{"CPU": 16, "GPU": 8}, {"CPU": 9}], Pool(3, 8, 0)),
    ],
)
def test_pool(options: dict[str, Any], nodes: list[dict[str, float]], pool: Pool) -> None:
    assert engine.choose_pool(Job("mini", "", **options), nodes) == pool
    assert engine.choose_pool(Job("mini", "", **options), nodes, 5) == replace(pool, n_workers=5)


def test_pool_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the cluster has 0 GPUs and 2 CPUs: must have one for --device cuda"):
        engine.choose_pool(Job("mini", "", device="cuda"), [{"CPU": 2}])
    with pytest.raises(ValueError, match="--device cuda:1 is not for --engine ray: must be auto, cpu or cuda"):
        engine.choose_pool(Job("mini", "", device="cuda:1"), [{"CPU": 2, "GPU": 2}])


def test_commands_of_the_page_are_understood() -> None:
    text = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL)).replace("\\\n", "")
    lines = re.findall(r"\bmatese ((?:tag|train) .*)", re.sub(r"\$\w+/", "1/", blocks))
    assert [parser.parse(shlex.split(line)).command for line in lines] == ["tag"] * 4 + ["train"] * 2


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ((), "--engine ray needs --input DIR|GLOB and --output DIR"),
        (("--hyp", "mt.txt"), "--hyp is not for --engine ray"),
        (("--input", "in", "--output", "out", "--only-errors"), "--only-errors is not for --engine ray"),
        (
            ("--input", "in", "--output", "out", "--format", "html"),
            "--format must be jsonl or parquet with --engine ray",
        ),
        (("--columns", "mt=x"), "--columns: unknown name 'mt': must be hypothesis, source, references, index, system"),
        (("--columns", "source"), "--columns: 'source' must be NAME=COLUMN"),
    ],
)
def test_usage(capsys: pytest.CaptureFixture[str], options: tuple[str, ...], problem: str) -> None:
    assert main(["tag", "--engine", "ray", *options]) == 2
    assert capsys.readouterr().err.startswith(f"matese: {problem}")


def test_options_of_a_cluster_need_one(capsys: pytest.CaptureFixture[str]) -> None:
    for options in (("--workers", "2"), ("--columns", "source=src")):
        assert main(["tag", "--hyp", "mt.txt", "--src", "src.txt", *options]) == 2
        assert capsys.readouterr().err == f"matese: {options[0]} is for --engine ray only\n"
