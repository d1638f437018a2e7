"""Two processes that train together on the CPU, as the GPUs of one machine or of several do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import torch

import matese
from matese.cli import main
from tests.training.material import RATINGS, SETTINGS, write_ratings, write_settings

ROOT = Path(__file__).resolve().parents[2]
# Two batches a pass, and nothing at random, so that two processes with one each do what one does with both.
TOGETHER = SETTINGS.replace(
    "  max_position_embeddings: 130\n",
    "  max_position_embeddings: 130\n  hidden_dropout_prob: 0.0\n  attention_probs_dropout_prob: 0.0\n",
).replace("batch_tokens: 256", "batch_tokens: 300")
STEPS = ("--set", "training.max_steps=3")


def weights(directory: Path) -> dict[str, torch.Tensor]:
    state: dict[str, torch.Tensor] = torch.load(directory / "last.ckpt", weights_only=True)["state_dict"]
    return state


def test_two_processes_learn_what_one_learns_of_both_batches(tmp_path: Path) -> None:
    ratings = str(write_ratings(tmp_path / "ratings.jsonl"))
    # So few that they are one batch, for two processes.
    dev = str(write_ratings(tmp_path / "dev.jsonl", RATINGS[1:4]))
    settings = str(write_settings(tmp_path / "settings.yaml", TOGETHER))
    command = ["train", "--config", settings, "--train", ratings, "--dev", dev, *STEPS, "--output"]
    assert main([*command, str(tmp_path / "one"), "--set", "training.accumulate=2"]) == 0
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    ran = subprocess.run(
        [sys.executable, "-m", "matese", *command, str(tmp_path / "two"), "--set", "training.devices=2"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    of_one_process = weights(tmp_path / "one")
    of_two_processes = weights(tmp_path / "two")
    assert of_one_process.keys() == of_two_processes.keys()
    for name, tensor in of_one_process.items():
        torch.testing.assert_close(of_two_processes[name], tensor, rtol=1e-3, atol=1e-4, msg=name)

    # One process speaks and writes for both, and the figures are of all segments.
    assert ran.stdout.count("dev/macro_f1") == 1
    assert ran.stderr.count("train: 16 ratings") == 1
    figures = [json.loads((tmp_path / name / "result.json").read_text()) for name in ("one", "two")]
    assert {name: round(value, 3) for name, value in figures[0].items()} == {
        name: round(value, 3) for name, value in figures[1].items()
    }
    assert matese.load(tmp_path / "two" / "model", device="cpu").annotate(["Der Hund."], references=["Der Hund."])
