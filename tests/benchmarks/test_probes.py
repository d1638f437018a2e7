"""The probes' settings are valid, and the table shows the spread between seeds or the ruler's error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from benchmarks import probes
from matese.training import config


@pytest.mark.parametrize("name", probes.PROBES)
def test_settings(name: str, tmp_path: Path) -> None:
    prepared = tmp_path / "prepared"
    prepared.mkdir()
    kinds = ["sts", "cannot", "ntrex", "own"]
    (prepared / "contrasts.jsonl").write_text("".join(json.dumps({"test_set": kind}) + "\n" for kind in kinds))
    settings = probes.settings_of(probes.PROBES[name], tmp_path, prepared, encoder="mini", steps=9, seed=3)
    file = tmp_path / "probe.yaml"
    file.write_text(yaml.safe_dump(settings))
    read = config.load(file)
    assert (read.start, read.training.max_steps, read.training.seed) == (None, 9, 3)
    if name == "sts":
        lines = Path(read.data.files[-1]).read_text().splitlines()
        assert [json.loads(line)["test_set"] for line in lines] == ["sts"]


def test_table(tmp_path: Path) -> None:
    for run, value in (("people.1", 0.50), ("gpt4.1", 0.52), ("gpt4.2", 0.54)):
        (tmp_path / run).mkdir()
        figure = {"acc*eq": {"value": value, "error": 0.011, "n": 9}}
        columns = {"model@1 | reference": figure, "model@1 + 0.3 similarity | source": figure}
        (tmp_path / run / "ruler.json").write_text(json.dumps({"figures": columns}))
    heads, _, *rows = [[cell.strip() for cell in line.split("|")] for line in probes.table(probes.read(tmp_path))]
    alone = heads.index("acc*eq")
    blend = heads.index("acc*eq, with similarity")
    assert [(row[1], row[alone], row[blend]) for row in rows] == [
        ("people", "0.500 / -", "- / 0.500"),
        ("gpt4", "0.530 / -", "- / 0.530"),
        ("standard error", "0.011 / -", "- / 0.011"),
        ("gpt4, deviation between seeds", "0.014 / -", "- / 0.014"),
    ]
