"""The `sh` blocks of the documentation run on small files, but for the commands that are listed with a reason.

Blocks of `bash`, `python` and `yaml` run in test_readme.py.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import json
import re
import shutil
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

import matese
from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity
from matese.cli import main
from matese.model import loading
from tests.formats import score_files
from tests.markdown import ROOT, blocks, commands, run_command

NOT_RUN = {
    r"^(pip|git|cd|make|export|docker) ": "installs, or sets an environment",
    r"\.sys\.score|^FILE=": "needs the published scores of WMT19",
    r"^(curl|matese serve)|openai:": "needs a server: tests/serving and tests/language_model",
    r"locales/|strings\.xml": "needs the repository of an app: tests/cli/test_gate.py, tests/formats/localisation",
    "a.csv b.xlf c.po": "needs files of one project: tests/cli/test_inputs.py",
    "wmt26|submission.jsonl": "needs the test set of WMT 2026: tests/tasks/test_wmt26.py",
    r"^#SBATCH|SLURM|^torchrun|--cluster ray|'s3:": "needs several machines: tests/cluster",
    r"^matese correlate --gold mqm_": "needs translations that mini scores differently",
    r"Unbabel/|your-organisation/": "needs a model of the hub: tests/model/released",
    r"^matese (train|distil) ": "trains for hours: tests/training/test_configs.py trains each configuration",
    r"^python -m (benchmarks|data_prep|tests)\b|^python tests/|python -m benchmarks": "needs the public ratings",
    "runs/small-estimator|runs/ours|fast/run": "needs a model that the lines before it train for hours",
    r"^matese shrink ": "has the sizes of a large model: tests/training/test_shrinking.py",
    r"\.anna\.jsonl": "people correct a page between the commands: tests/render/test_corrections.py",
    r"appraise|^matese convert batch": "people annotate between the commands: tests/formats/tools",
}
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in (ROOT / "docs", ROOT / "docs" / "research", ROOT / "docs" / "development")
    for path in folder.glob("*.md")
)
SENTENCES = (
    ("Er kommt heute nicht.", "He is not coming today.", "Er kommt heute nicht."),
    ("Das Haus ist 12 m hoch.", "The house is 10 m high.", "Das Haus ist 10 m hoch."),
    ("Die Volga ist lang.", "The Volga is long.", "Die Wolga ist lang."),
)
PO = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "Save"\nmsgstr "Speichern"\n'
XLIFF = """<?xml version="1.0"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="en" target-language="de"
original="a" datatype="plaintext"><body><trans-unit id="1"><source>Save</source><target>Speichern</target></trans-unit>
</body></file></xliff>
"""


def reason(command: str) -> str | None:
    return next((pattern for pattern in NOT_RUN if re.search(pattern, command)), None)


def sh_commands(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [command for block in blocks(text, "sh") for command in commands(block.text)]


def ratings(rater: str, n_marked: int) -> list[Rating]:
    """Returns the ratings of three systems; the errors are those of the second and third sentence."""
    found = []
    for number, system in enumerate("ABC"):
        for index, (hypothesis, source, reference) in enumerate(SENTENCES):
            key = SegmentKey("t", "en-de", system, "d", index)
            errors = (ErrorSpan(4, 8, Severity.MAJOR, "Accuracy", None),) if 0 < index <= n_marked - number else ()
            found.append(Rating(Segment(hypothesis, source, (reference,), key), rater, errors))
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, tiny_model_dir: Path) -> Path:
    """A directory with a small file for each name in the blocks."""
    directory = tmp_path_factory.mktemp("made")
    with contextlib.chdir(directory):
        write_files(tiny_model_dir)
    return directory


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of these files, the current directory."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return tmp_path


def write_files(model: Path) -> None:
    shutil.copytree(ROOT / "examples", "examples")
    lines = {"mt": 0, "src": 1, "ref": 2, "mt1": 0, "mt2": 2, "source": 1}
    for name, place in lines.items():
        Path(f"{name}.txt").write_text("".join(f"{row[place]}\n" for row in SENTENCES), encoding="utf-8")
    Path("data/prepared").mkdir(parents=True)
    human = ratings("anna", 3)
    annotator = matese.load("mini", uncertainty="dropout:2")
    of_model = list(annotator.annotate_segments(one.segment for one in human))
    for name in ("gold", "dev", "test", "predicted", "data/prepared/dev", "data/prepared/wmt22-test"):
        matese.write(human, f"{name}.jsonl")
    for name in ("spans", "old", "new", "theirs", "mine", "test-spans"):
        matese.write(of_model, f"{name}.jsonl")
    matese.write([*human, *ratings("ben", 2)], "mqm_newstest2020_ende.tsv", format="mqm-tsv")
    matese.write(human, "gold.tsv", format="mqm-tsv")
    shutil.copy("mqm_newstest2020_ende.tsv", "raw.tsv")
    for pair in ("ende", "zhen"):
        with gzip.open(f"mqm_newstest2020_{pair}.tsv.gz", "wb") as file:
            file.write(Path("mqm_newstest2020_ende.tsv").read_bytes())
    for name in ("human", "other"):
        score_files.write(
            Path(f"{name}.seg.score"), [f"{one} {-place * n}" for n, one in enumerate("ABC") for place in (5, 0, 1)]
        )
    for path in list(score_files.make(Path("wmt22")).rglob("*en-de*.*")):
        shutil.copy(path, path.with_name(path.name.replace("en-de", "zh-en")))
    for name in ("metric-scores", "system-outputs"):
        shutil.copytree(f"wmt22/{name}/en-de", f"wmt22/{name}/zh-en")
    Path("messages.po").write_text(PO)
    Path("messages.xlf").write_text(XLIFF)
    write_tables()
    for run in ("xlmr-base/calibrated", "categories/model"):
        shutil.copytree(model, Path("runs") / run)
    loading.save(
        Path("runs/comet-da/model"), *loading.load(ROOT / "tests/model/released/comet/estimator"), card="# A model\n"
    )
    assert main(["tag", "--input", "messages.xlf", "--output", "rated.jsonl"]) == 0


def write_tables() -> None:
    with open("data.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("mt", "src", "ref"), *SENTENCES])
    rows = [{"mtA": mt, "mtB": ref, "src": src, "gold": ref} for mt, src, ref in SENTENCES]
    Path("data.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    table = [{"system": name, "mt": row[name], "ref": row["gold"]} for name in ("mtA", "mtB") for row in rows]
    parquet.write_table(pyarrow.Table.from_pylist(table), "data.parquet")


@pytest.mark.parametrize("page", [page for page in PAGES if any(reason(one) is None for one in sh_commands(page))])
def test_commands_run(page: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    if page == "docs/explain.md":  # its spans are those of one system
        matese.write(ratings("anna", 3)[: len(SENTENCES)], "gold.jsonl")
    for command in sh_commands(page):
        if reason(command) is None:
            run_command(command.replace("--bootstrap 1000", "--bootstrap 20"))  # a thousand take seconds
    assert "Traceback" not in capfd.readouterr().err


def test_every_reason_is_needed() -> None:
    every = [command for page in [*PAGES, "README.md"] for command in sh_commands(page)]
    assert {reason(command) for command in every} - {None} == set(NOT_RUN)
