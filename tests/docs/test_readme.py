"""The README and the documentation keep their word: every bash, Python and YAML block runs."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
import yaml

import matese
from docs import first_evaluation, terminal_picture
from matese.formats.tables import jsonl
from matese.render import terminal
from tests.markdown import HUB_ID, RAW, ROOT, blocks, commands, run_command
from tests.training.material import TOKENIZER

# docs/correct.md has a test of its own, since people act between its commands.
NAMES = (
    "from-python",
    "first-evaluation",
    "mark",
    "explain",
    "compare",
    "choose",
    "models",
    "formats",
    "in-a-service",
    "operation",
    "research/training",
)
PAGES = ("README.md", *(f"docs/{name}.md" for name in NAMES))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory like a fresh clone, with smaller data and a smaller encoder.

    The raw ratings are the hand-written ones of the tests. The pretrained encoder is
    replaced by that of the embedded model, reduced to one narrow layer.
    """
    (tmp_path / "raw_files.tsv").write_text(list_of_raw_files(), encoding="utf-8")
    settings = {
        "output": "runs/xlmr-base",
        "encoder": {
            "model_type": "xlm-roberta",
            "hidden_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "intermediate_size": 32,
        },
        "tokenizer": str(TOKENIZER),
        "model": {
            "texts": {"inputs": ["reference", "source", "source+reference"]},
            "layers": {"extra_heads": 2},
            "heads": {"tags": {}, "score": {}},
        },
        "data": {"train": ["data/prepared/train.jsonl"], "dev": ["data/prepared/train.jsonl"]},
        "training": {"max_steps": 2, "validate_every": 1.0},
    }
    (tmp_path / "configs" / "matese").mkdir(parents=True)
    (tmp_path / "configs" / "matese" / "xlmr-base.yaml").write_text(yaml.safe_dump(settings))
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return tmp_path


def list_of_raw_files() -> str:
    """Returns the list of raw files, which are the hand-written raw ratings, not the public ones."""
    rows = [["file", "repository", "commit", "path", "member", "sha256", "licence"]]
    for path in sorted(RAW.rglob("*.*")):
        name = path.relative_to(RAW).as_posix()
        data = path.read_bytes()
        rows.append([name, "tests/data_prep", "raw", name, "", hashlib.sha256(data).hexdigest(), "none"])
    return "".join("\t".join(row) + "\n" for row in rows)


def run_page(folder: Path, page: str, model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks((ROOT / page).read_text(encoding="utf-8"), "bash", "python", "yaml"):
        # None of the hand-written sources is held out by the committed list, so that the dev file is empty.
        text = block.text.replace(HUB_ID, str(model)).replace("prepared/dev.jsonl", "prepared/train.jsonl")
        where = f"{page}, line {block.line}"
        if block.language == "python":
            exec(compile(text, where, "exec"), names)
        elif block.language == "yaml":
            name = re.match(r"# (\S+\.yaml)\n", text)
            assert name, f"{where}: the first line names the file"
            (folder / name[1]).write_text(text, encoding="utf-8")
        else:
            for command in commands(text):
                # A gate may fail: that is what it is for.
                run_command(command, accepted=(0, 1) if command.startswith("matese gate") else (0,))
        printed = capfd.readouterr().out
        assert printed or block.language != "python" or "print" not in text, f"{where}: prints nothing"


@pytest.mark.parametrize("page", PAGES)
def test_every_block_runs(folder: Path, page: str, tiny_model_dir: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run_page(folder, page, tiny_model_dir, capfd)


def drawn() -> matese.Rating:
    """Returns the rating that the documentation shows as JSON."""
    (block,) = blocks((ROOT / "docs" / "formats.md").read_text(encoding="utf-8"), "json")
    return jsonl.from_json(json.loads(block.text))


def test_json_example_follows_the_schema() -> None:
    schema = json.loads((ROOT / "matese" / "formats" / "rating.schema.json").read_text(encoding="utf-8"))
    (block,) = blocks((ROOT / "docs" / "formats.md").read_text(encoding="utf-8"), "json")
    rating = json.loads(block.text)
    jsonschema.Draft202012Validator(schema).validate(rating)
    assert all(rating["hypothesis"][error["start"] : error["end"]] == error["text"] for error in rating["errors"])
    assert drawn().errors


def test_a_segment_looks_as_it_is_drawn() -> None:
    (block,) = blocks((ROOT / "docs" / "first-evaluation.md").read_text(encoding="utf-8"), "text")
    rating = drawn()
    rating = replace(rating, segment=replace(rating.segment, name="line 10"))  # tagged from a text file
    assert terminal.draw(rating, width=80).plain.rstrip("\n") + "\n" == block.text


def test_the_embedded_model_marks_what_is_drawn() -> None:
    expected = drawn()
    (found,) = matese.load("mini").annotate([expected.segment.hypothesis], references=[expected.segment.references])
    assert expected.estimate is not None
    assert found.estimate is not None
    assert found.estimate.value == pytest.approx(expected.estimate.value, abs=0.05)
    assert [(one.start, one.end, one.severity) for one in found.errors or ()] == [
        (one.start, one.end, one.severity) for one in expected.errors or ()
    ]
    assert [one.confidence for one in found.errors or ()] == pytest.approx(
        [one.confidence for one in expected.errors or ()], abs=0.05
    )


def without_figures(svg: str) -> str:
    return re.sub(r"[\d.₀-₉]+", "#", svg)


def test_terminal_picture_shows_what_the_embedded_model_marks() -> None:
    committed = terminal_picture.PICTURE.read_text(encoding="utf-8")
    assert "http" not in re.sub(r"https?://(www\.w3\.org|www\.textualize\.io)", "", committed)
    assert without_figures(terminal_picture.draw()) == without_figures(committed), "make docs-figures draws it again"


def test_the_first_evaluation_shows_what_the_embedded_model_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    committed = (first_evaluation.PICTURES / "first-tag.svg").read_text(encoding="utf-8")
    drawn_again = first_evaluation.picture(first_evaluation.TAG)
    assert without_figures(drawn_again) == without_figures(committed), "make docs-figures draws it again"


def test_readme_is_short_and_leads_newcomers() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 185
    steps = ("pytorch.org", "pip install .", "make demo", "make test", "matese tag --ref", "matese compare")
    positions = [readme.index(step) for step in steps]
    assert positions == sorted(positions)


def test_every_configuration_is_named() -> None:
    text = (ROOT / "docs" / "research" / "training.md").read_text(encoding="utf-8")
    (table,) = [part for part in text.split("\n\n") if part.startswith("| For | Take |")]
    named = re.findall(r"`([a-z0-9/-]+)`", table)
    configs = ROOT / "configs"
    assert sorted(named) == sorted(str(path.relative_to(configs).with_suffix("")) for path in configs.rglob("*.yaml"))


def test_the_embedded_model_marks_the_examples_of_its_card() -> None:
    card = (ROOT / "matese" / "models" / "mini" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w[^|]+\.) \| ([^|]+\.) \| (?:right|wrong|missed)", card, re.MULTILINE)
    assert len(rows) == 5
    references, hypotheses = ([row[place].replace("**", "") for row in rows] for place in (0, 1))
    bold = [[re.findall(r"\*\*(.+?)\*\*", text) for text in row] for row in rows]
    found = matese.load("mini").annotate(hypotheses, references=references)
    assert bold == [
        [
            [one.words(rating.segment) for one in rating.omissions],
            [rating.segment.hypothesis[one.start : one.end] for one in rating.errors or ()],
        ]
        for rating in found
    ]
