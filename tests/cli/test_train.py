"""Bad input to `matese train`: one line each, and nothing half-written."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import matese
from matese.annotation import SegmentKey
from tests.cli import test_prepare as raw
from tests.cli.conftest import Run
from tests.training.material import RATINGS, SETTINGS, write_ratings, write_settings


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write_settings(folder / "c.yaml")
    write_ratings(folder / "t.jsonl")
    write_ratings(folder / "one.jsonl", RATINGS[:1])
    (folder / "empty.jsonl").touch()
    (folder / "bad.jsonl").write_text((folder / "t.jsonl").read_text(encoding="utf-8") + '{"hypothesis": 3}\n')
    (folder / "typo.yaml").write_text(SETTINGS + "  learning_rat: 1\n")
    (folder / "twice.yaml").write_text(SETTINGS + "  warmup: 0.2\n")
    (folder / "empty.yaml").touch()
    (folder / "latin.yaml").write_bytes(b"encoder: \xe9\n")
    (folder / "full").mkdir()
    (folder / "full" / "file").touch()


BRIEF = ("--set", "training.max_steps=1")
GOOD = ("--train", "t.jsonl", "--dev", "t.jsonl", "--output", "out")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--config", "none.yaml", *GOOD), "none.yaml: no such file or directory"),
        (("--config", ".", *GOOD), ".: is a directory"),
        (("--config", "empty.yaml", *GOOD), "empty.yaml: is empty"),
        (("--config", "latin.yaml", *GOOD), "latin.yaml:1: byte 0xe9 at position 9 is not UTF-8"),
        (("--config", "typo.yaml", *GOOD), "typo.yaml:19: unknown key 'training.learning_rat', did you mean"),
        (("--config", "twice.yaml", *GOOD), "twice.yaml:19: key 'warmup' is set twice, first in line 16"),
        (("--config", "c.yaml", *GOOD, "--set", "seed=2"), "--set seed=2: unknown key 'seed', did you mean"),
        (("--config", "c.yaml", *GOOD, "--set", "training.seed"), "--set training.seed"),
        (
            ("--config", "c.yaml", *GOOD, "--set", "model.texts.inputs=[ref]"),
            "--set model.texts.inputs=[ref]: model.texts.inputs[0]:",
        ),
        (("--config", "c.yaml", *GOOD, "--set", "training.clip=-1"), "--set training.clip=-1: training.clip: Expected"),
        (("--config", "c.yaml", *GOOD, "--set", "model.layers={extra: 1, extra_heads: 7}"), "extra_heads 7"),
        (("--config", "c.yaml", *GOOD, "--set", "encoder=nosuch"), "encoder nosuch cannot be loaded"),
        (("--config", "c.yaml", *GOOD, "--set", "encoder.model_type=bret"), "encoder bret cannot be loaded"),
        (("--config", "c.yaml", *GOOD, "--set", "encoder.vocab_size=9"), "encoder.vocab_size 9"),
        (("--config", "c.yaml", *GOOD, "--set", "tokenizer=nosuch"), "tokenizer nosuch cannot be loaded"),
        (("--config", "c.yaml", *GOOD, "--train", "none.jsonl"), "data.train: no such file none.jsonl"),
        (("--config", "c.yaml", *GOOD, "--dev", "."), ".: a folder in no format that is read"),
        (("--config", "c.yaml", *GOOD, "--dev", "bad.jsonl"), "bad.jsonl:17: "),
        (("--config", "c.yaml", *GOOD, "--dev", "empty.jsonl"), "empty.jsonl: file is empty"),
        (("--config", "c.yaml", *GOOD, "--output", "full"), "full is not empty"),
        (("--config", "c.yaml", *GOOD, "--output", "t.jsonl"), "t.jsonl is a file"),
        (("--config", "c.yaml", *GOOD, "--set", "data.held_out=0.1"), "must be files, or empty with held_out above 0"),
        (("t.jsonl", "t.jsonl", "--config", "c.yaml"), "t.jsonl is given 2 times; give it once"),
        (("--from", "nosuch", "t.jsonl"), "no model nosuch"),
        (("--from", "mini"), "no ratings: --from needs RATINGS"),
        (("t.jsonl", "--config", "c.yaml", *GOOD), "RATINGS and --train are both given"),
        (("--from", "mini", "none.jsonl"), "data.train: no such file none.jsonl"),
        (("--resume", "full"), "full has no config.yaml"),
        (("--resume", "full", "--output", "out"), "options that replace settings and --resume are both given"),
        (("t.jsonl", "--resume", "full"), "RATINGS and --resume are both given"),
        (("--resume", "full", "--config", "c.yaml"), "two of --config, --from and --resume are given"),
        (GOOD, "nothing to start from: give --config or --from"),
        (("t.jsonl", "--output", "out"), "nothing to start from: give --config or --from"),
        (("one.jsonl", "--config", "c.yaml", "--output", "out"), "one.jsonl: no usable ratings to train or"),
    ],
)
def test_bad_input(run: Run, folder: Path, arguments: tuple[str, ...], told: str) -> None:
    before = sorted(path.name for path in folder.rglob("*"))
    assert told in run("train", *arguments).refused()
    assert sorted(path.name for path in folder.rglob("*")) == before


def test_settings_are_shown(run: Run) -> None:
    shown = run("train", "--settings")
    assert shown.code == 0
    assert "  # passes over the training data; may be a fraction.\n  max_epochs: 3.0\n" in shown.out


def test_what_stands_on_the_command_line_comes_first(run: Run, folder: Path) -> None:
    made = run("train", "--config", "c.yaml", *GOOD, *BRIEF, "--set", "training.seed=5")
    assert made.code == 0
    assert made.out.splitlines()[-1] == "model\tout/model"
    saved = json.loads((folder / "out" / "model" / "config.json").read_text(encoding="utf-8"))["training"]
    assert (saved["training"]["seed"], saved["data"]["train"]) == (5, ["t.jsonl"])
    assert run("train", "--resume", "out").refused().startswith("out is complete")
    assert run("tag", "--ref", "ref.txt", "--hyp", "mt.txt", "--model", "out/model").code == 0


def test_missing_packages_are_named() -> None:
    code = "import sys; sys.modules['pytorch_lightning'] = None; from matese.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "train", "--settings"]
    made = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert made.returncode == 2
    assert made.stderr.startswith("matese: matese train needs pytorch_lightning; ")
    assert made.stderr.count("\n") == 1


def test_files_of_other_formats_are_read_and_raters_merged(run: Run, folder: Path) -> None:
    keys = [SegmentKey("t", "en-de", "A", "d", number) for number in range(len(RATINGS))]
    rated = [
        replace(rating, segment=replace(rating.segment, references=(), key=key), rater=name)
        for name in ("anna", "ben")
        for rating, key in zip(RATINGS, keys, strict=True)
    ]
    matese.write(rated, folder / "t.tsv", format="mqm-tsv")
    with (folder / "t.tsv").open("a", encoding="utf-8") as file:
        file.write("one field\n")
    options = ("--train", "t.tsv", "--dev", "t.tsv", "--output", "out", *BRIEF)
    made = run("train", "--config", "c.yaml", *options, "--set", "model.texts.inputs=[source]")
    assert made.code == 0, made.err
    assert "t.tsv: prepared 32 ratings" in made.err
    n_rated = sum(one.segment.source is not None for one in RATINGS)
    assert f"train: {n_rated} ratings" in made.err
    assert made.err.count("t.tsv: 1 row skipped") == 1
    assert f"{folder / 't.tsv'} is in data.train and in data.dev" in made.err
    unknown = run("train", "--config", "c.yaml", *options[:5], "other", "--set", "data.rater=eva").refused()
    assert "t.tsv: no rating of rater 'eva' (--rater): must be anna or ben" in unknown


def test_raters_in_several_files_are_merged(run: Run, folder: Path) -> None:
    raw.write(folder / "raw.tsv")
    names = ("anna", "ben", "carl")
    for name in names:
        raw.write(folder / f"{name}.tsv", [row for row in raw.ROWS if row[1] == name])
    files = [f"{name}.tsv" for name in names]
    how = ("--config", "c.yaml", *BRIEF, "--set", "model.texts.inputs=[source]")
    several = run("train", *files, *how, "--output", "several", "--set", "data.held_out=0.3")
    assert several.code == 0, several.err
    told = several.err.splitlines()[:2]
    done = "12 ratings with 14 error spans by 3 raters: 4 ratings with 8 error spans, 4 segments merged"
    assert told[0] == f"matese: anna.tsv, ben.tsv, carl.tsv: prepared {done}, each score the mean of the raters'"
    assert told[1].startswith("matese: anna.tsv, ben.tsv, carl.tsv: left out: Neutral (1), ")
    joined = run("train", "raw.tsv", *how, "--output", "one", "--set", "data.held_out=0.3")
    assert several.out.replace("several", "one") == joined.out
    # Files with settings of their own are prepared apart.
    with_settings = json.dumps([*files[:2], {"file": files[2], "raters": "carl"}])
    apart = run("train", *how, "--set", f"data.train={with_settings}", "--dev", "raw.tsv", "--output", "apart")
    assert "anna.tsv, ben.tsv: prepared 8 ratings" in apart.err
    assert "carl.tsv: prepared 4 ratings" in apart.err
    (folder / "copy.tsv").write_bytes((folder / "anna.tsv").read_bytes())
    twice = run("train", "anna.tsv", "copy.tsv", *how, "--output", "twice").refused()
    assert twice.startswith("anna.tsv, copy.tsv: anna has rated segment 1 of A ")


def test_ratings_are_used_as_they_are_without_preparation(run: Run, folder: Path) -> None:
    raw.write(folder / "raw.tsv")
    how = ("--set", "model.texts.inputs=[source]", "--set", "data.prepare=null")
    made = run("train", "--config", "c.yaml", "--train", "raw.tsv", "--dev", "raw.tsv", "--output", "out", *how, *BRIEF)
    assert made.code == 0, made.err
    assert "prepared" not in made.err
    assert "train: 12 ratings\n" in made.err


def test_references_of_files_are_trained_on(run: Run, folder: Path) -> None:
    bare = [replace(rating, segment=replace(rating.segment, references=())) for rating in RATINGS]
    write_ratings(folder / "bare.jsonl", tuple(bare))
    texts = {rating.segment.source: rating.segment.references[0] for rating in RATINGS[4:]}
    (folder / "src").write_text("".join(f"{source}\n" for source in texts), encoding="utf-8")
    (folder / "ref").write_text("".join(f"{reference}\n" for reference in texts.values()), encoding="utf-8")
    refused = run("train", "--config", "c.yaml", *GOOD, "--train", "bare.jsonl").refused()
    assert "16 without the texts that the model reads" in refused
    shared = ("--train", "bare.jsonl", "--output", "with", "--src", "src", "--ref", "ref", *BRIEF)
    told = run("train", "--config", "c.yaml", *GOOD, *shared)
    assert told.code == 0, told.err
    assert "4 of 16 segments have no reference" in told.err.replace("\n", "")
    saved = json.loads((folder / "with" / "model" / "config.json").read_text(encoding="utf-8"))["training"]
    assert saved["data"]["texts"][0]["references"] == ["ref"]
    (folder / "src").write_text("Other.\n", encoding="utf-8")
    (folder / "ref").write_text("Andere.\n", encoding="utf-8")
    assert "no rating belongs" in run("train", "--config", "c.yaml", *GOOD, *shared, "--output", "no").refused()
