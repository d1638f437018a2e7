"""Models with a smaller vocabulary."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

import matese
from matese.annotation import Segment
from matese.cli import main
from matese.model.storage import checkpoint
from matese.model.texts import vocabulary
from matese.model.texts.tokenizer import read
from tests.conftest import TinyModelFactory

TEXTS = ["the good ist", "the the en"]


def prune(directory: Path, n_pieces: int) -> tuple[checkpoint.Checkpoint[torch.Tensor], dict[str, int]]:
    tokenizer = read(directory)
    assert tokenizer is not None
    model, small = vocabulary.prune(checkpoint.load(directory), tokenizer, TEXTS, n_pieces)
    return model, small.backend_tokenizer.get_vocab()


def test_frequent_pieces_and_all_characters_are_kept(tiny_model_dir: Path) -> None:
    tokenizer = read(tiny_model_dir)
    assert tokenizer is not None
    old = tokenizer.backend_tokenizer.get_vocab()
    short = {piece for piece in old if len(piece.removeprefix("▁")) <= 1 or piece.startswith("<")}
    model, new = prune(tiny_model_dir, len(short) + 2)
    assert set(new) == {*short, "▁the", "▁ist"} or set(new) == {*short, "▁the", "▁der"}
    table = "encoder.embeddings.word_embeddings.weight"
    before = checkpoint.load(tiny_model_dir).tensors[table]
    assert model.config.encoder["vocab_size"] == len(new) == len(model.tensors[table])
    for piece, number in new.items():
        assert torch.equal(model.tensors[table][number], before[old[piece]]), piece


@pytest.mark.parametrize("n_pieces", [10, 10**6])
def test_a_vocabulary_cannot_lose_its_characters_or_grow(n_pieces: int, tiny_model_dir: Path) -> None:
    with pytest.raises(
        ValueError, match=rf"{n_pieces:,} pieces: must be from \d+ \(special pieces and single characters\) to \d+"
    ):
        prune(tiny_model_dir, n_pieces)


def test_texts_of_the_pieces_that_are_left_are_read_as_before(
    tiny_model_factory: TinyModelFactory, tmp_path: Path
) -> None:
    directory = tiny_model_factory(inputs=("reference",), separate_layers=1, score={})
    data = tmp_path / "texts.jsonl"
    small = tmp_path / "small"
    rows = [{"hypothesis": text, "references": ["the good"], "errors": []} for text in TEXTS]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    n_pieces = len(json.loads((directory / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]) - 1
    main(["shrink", str(directory), "--pieces", str(n_pieces), "--data", str(data), "--output", str(small)])
    segments = [Segment(text, None, ("the good",)) for text in TEXTS]
    ratings = [
        matese.load(path, device="cpu", precision="float32").annotate_segments(segments) for path in (directory, small)
    ]
    for pruned_rating, whole_rating in zip(*map(list, ratings), strict=True):
        assert pruned_rating.errors == whole_rating.errors
        assert pruned_rating.overall == whole_rating.overall
