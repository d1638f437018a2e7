"""The README keeps its word: every block runs, every link leads somewhere, every example of a form is of that form."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import jsonschema
import pytest
import yaml

import matese
from data_prep.__main__ import main as data_prep_main
from matese.cli import main
from matese.formats import jsonl
from matese.render import terminal

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
HUB_ID = "your-organisation/your-model"
# The commands as the shell finds them once the package is installed, and the interpreter that runs the tests.
SHELL = f"""set -euo pipefail
matese() {{ {shlex.quote(sys.executable)} -m matese "$@"; }}
python() {{ {shlex.quote(sys.executable)} "$@"; }}
"""


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the line of the README on which it begins."""

    language: str
    text: str
    line: int


def blocks(*languages: str) -> list[Block]:
    fences = re.finditer(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    found = [Block(match[1], match[2], README.count("\n", 0, match.start()) + 1) for match in fences]
    return [block for block in found if block.language in languages]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory like a fresh clone in all that the README's commands use, of which only the sizes differ.

    The raw ratings are the hand-written ones of the tests, fetched as the real ones are; in place of the pretrained
    encoder that the README trains on stands that of the embedded model's first stage, made one narrow layer.
    """
    (tmp_path / "sources.tsv").write_text(list_of_sources(), encoding="utf-8")
    settings = yaml.safe_load((ROOT / "configs" / "mini-first.yaml").read_text(encoding="utf-8"))
    settings["encoder"] |= {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    settings["encoder"]["intermediate_size"] = 32
    settings["tagger"]["extra_heads"] = 2
    settings["output"] = "runs/xlmr-base"
    settings["tokenizer"]["vocab_size"] = 400
    settings["training"] |= {"max_steps": 2, "validate_every": 1.0}
    settings["data"] = {"train": ["data/prepared/train.jsonl"], "dev": ["data/prepared/train.jsonl"]}
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "xlmr-base.yaml").write_text(yaml.safe_dump(settings))
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return tmp_path


def list_of_sources() -> str:
    """Returns the hand-written raw ratings as the list of a repository whose place this clone takes."""
    raw = ROOT / "tests" / "data_prep" / "raw"
    rows = [["file", "repository", "commit", "path", "member", "bytes", "sha256"]]
    for path in sorted(raw.rglob("*.*")):
        name, data = path.relative_to(raw).as_posix(), path.read_bytes()
        rows.append([name, "tests/data_prep", "raw", name, "", str(len(data)), hashlib.sha256(data).hexdigest()])
    return "".join("\t".join(row) + "\n" for row in rows)


def run_command(command: str) -> None:
    """Runs a command in this process, which is quick, or where it needs a shell in one."""
    words = shlex.split(command, comments=True)
    needs_shell = re.search(r"[|<>&;$`]", command)
    if words[0] == "matese" and not needs_shell:
        assert main(words[1:]) == 0
    elif words[:3] == ["python", "-m", "data_prep"] and not needs_shell:
        home = ["--sources", "sources.tsv", "--base-url", ROOT.as_uri()] if words[3] == "download" else []
        assert data_prep_main([*words[3:], *home]) == 0
    else:
        ran = subprocess.run(["bash", "-c", SHELL + command], capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr


def commands(text: str) -> list[str]:
    return [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def test_every_block_runs(folder: Path, tiny_model_dir: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for block in blocks("bash", "console", "python", "yaml"):
        # None of the hand-written sources is held out by the committed list, so that the dev file is empty.
        text = block.text.replace(HUB_ID, str(tiny_model_dir)).replace("prepared/dev.jsonl", "prepared/train.jsonl")
        where = f"README.md, line {block.line}"
        if block.language == "python":
            exec(compile(text, where, "exec"), {"__name__": "__main__"})
        elif block.language == "yaml":
            name = re.match(r"# (\S+\.yaml)\n", text)
            assert name, f"{where}: the first line names the file"
            (folder / name[1]).write_text(text, encoding="utf-8")
        else:
            for command in commands(text):
                run_command(command)
        printed = capfd.readouterr().out
        assert printed or block.language != "python", f"{where}: prints nothing"


def test_examples_of_the_json_form_follow_the_schema() -> None:
    schema = json.loads((ROOT / "matese" / "formats" / "rating.schema.json").read_text(encoding="utf-8"))
    lines = [line for block in blocks("json") for line in block.text.splitlines()]
    assert lines
    for line in lines:
        rating = json.loads(line)
        jsonschema.Draft202012Validator(schema).validate(rating)
        assert all(rating["hypothesis"][error["start"] : error["end"]] == error["text"] for error in rating["errors"])
        assert jsonl.from_json(rating).errors


def test_a_segment_looks_as_it_is_drawn() -> None:
    (rating,), (drawn,) = blocks("json"), blocks("text")
    assert terminal.draw(jsonl.from_json(json.loads(rating.text)), width=80).plain.rstrip("\n") + "\n" == drawn.text


def test_the_embedded_model_says_what_is_drawn() -> None:
    (block,) = blocks("json")
    drawn = jsonl.from_json(json.loads(block.text))
    found = matese.load("mini").annotate([drawn.segment.hypothesis], references=[drawn.segment.references])[0]
    assert drawn.overall is not None
    assert found.overall is not None
    assert found.overall.value == pytest.approx(drawn.overall.value, abs=0.05)
    assert found.errors is not None
    assert drawn.errors is not None
    assert [(one.start, one.end, one.severity) for one in found.errors] == [
        (one.start, one.end, one.severity) for one in drawn.errors
    ]
    assert [one.confidence for one in found.errors] == pytest.approx([one.confidence for one in drawn.errors], abs=0.05)


def test_every_link_into_the_project_leads_somewhere() -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_configuration_and_option_that_is_named_exists(capsys: pytest.CaptureFixture[str]) -> None:
    shipped = {path.stem for path in (ROOT / "configs").glob("*.yaml")}
    paragraph = next(part for part in README.split("\n\n") if part.startswith("`configs/` holds"))
    assert set(re.findall(r"`([a-z0-9-]+)`", paragraph)) == shipped
    helps = []
    for command in ("tag", "score", "train"):
        assert main([command, "--help"]) == 0
        helps.append(capsys.readouterr().out)
    named = set(re.findall(r"`(--[a-z-]+)", README))
    assert named
    assert named <= set(re.findall(r"--[a-z-]+", "".join(helps)))


def test_readme_leads_newcomers() -> None:
    positions = [
        README.index(text) for text in ("pytorch.org", "pip install .", "make demo", "make test", "matese tag")
    ]
    assert positions == sorted(positions)
