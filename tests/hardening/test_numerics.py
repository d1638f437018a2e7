"""Numbers: odd inputs in both precisions, weights that overflow, and any number of threads."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

import matese
from matese.errors import ModelError

COMET = Path(__file__).parents[1] / "model" / "released" / "comet"
EXAMPLES = Path(__file__).parents[2] / "examples"
ODD = [
    "",
    " ",
    "a",
    "😀" * 50,
    "\x00\x1b\x07\x9b\u202e\ufeff",
    "\u0301" * 30,
    "\ud7ff\ue000",
    "ab" * 5000,
]
"""Nothing but special tokens, one token, only emoji, control characters, only combining marks, 10,000 tokens."""


def test_odd_texts_in_both_precisions(tiny_model_dir: Path) -> None:
    found = {
        (precision, threads): matese.load(tiny_model_dir, precision=precision, threads=threads).annotate(
            ODD, references=["der Text", *ODD[-2:1:-1], "a b", "der Text"]
        )
        for precision, threads in (("float32", 1), ("bf16", 1), ("float32", None))  # None: numpy
    }
    scores = {key: [one.estimate.value for one in own if one.estimate] for key, own in found.items()}
    assert [len(own) for own in scores.values()] == [len(ODD)] * 3
    assert scores["float32", None] == pytest.approx(scores["float32", 1], abs=1e-3)
    assert scores["bf16", 1] == pytest.approx(scores["float32", 1], abs=0.5)  # points
    assert found["float32", 1][0].errors == ()


def test_float32_does_not_depend_on_the_number_of_threads() -> None:
    texts = {name: (EXAMPLES / f"{name}.txt").read_text(encoding="utf-8").splitlines()[:3] for name in ("mt", "ref")}
    one, three = (
        matese.load("mini", precision="float32", threads=threads).annotate(texts["mt"], references=texts["ref"])
        for threads in (1, 3)
    )
    assert [[(e.start, e.end, e.severity) for e in own.errors or ()] for own in one] == [
        [(e.start, e.end, e.severity) for e in own.errors or ()] for own in three
    ]
    assert [own.estimate.value for own in one if own.estimate] == pytest.approx(
        [own.estimate.value for own in three if own.estimate], abs=1e-4
    )


@pytest.mark.parametrize(
    ("factor", "problem"),
    [
        (float("nan"), "quality_head.0.weight holds NaN or infinity"),
        (float("inf"), "quality_head.0.weight holds NaN or infinity"),
        (3e38, "the model's output is NaN or infinite"),
    ],
)
def test_weights_of_a_model_that_scores(tmp_path: Path, factor: float, problem: str) -> None:
    shutil.copytree(COMET / "encoders", tmp_path / "encoders")
    path = Path(shutil.copytree(COMET / "estimator", tmp_path / "estimator")) / "checkpoints" / "model.ckpt"
    stored = torch.load(path, weights_only=True)
    for name in stored["state_dict"]:
        if name.startswith("estimator") and name.endswith("weight"):
            weight = stored["state_dict"][name]
            stored["state_dict"][name] = weight / weight.abs().max() * factor
    torch.save(stored, path)
    with pytest.raises(ModelError, match=problem):
        matese.load(tmp_path / "estimator").annotate(["a b"], references=["b c"], sources=["c d"])


@pytest.mark.parametrize("n_segments", [1, 10_000])
def test_the_tensor_is_named(tiny_model_dir: Path, tmp_path: Path, n_segments: int) -> None:
    """In numpy, which small jobs use, and in torch; an embedding is looked at when its token appears."""
    path = Path(shutil.copytree(tiny_model_dir, tmp_path / "model")) / "model.safetensors"
    tensors = load_file(path)
    name = "encoder.embeddings.word_embeddings.weight"
    tensors[name][tensors[name].shape[0] // 8 :] = float("nan")
    save_file(tensors, path)
    with pytest.raises(ModelError, match=f"{name} holds NaN or infinity"):
        matese.load(path.parent, n_segments=n_segments).annotate(["der Text"], references=["das Haus"])
