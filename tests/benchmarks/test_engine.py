"""The benchmarks of parts of a model, of products in 8 bits and of many rows run on a few segments."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

import matese
from benchmarks import eight_bits, host_path, many_rows, part_costs
from matese.annotation import Rating
from matese.formats.tables import jsonl
from tests.conftest import TinyModelFactory


def test_every_part_is_timed_and_left_as_it_was(tiny_model_factory: TinyModelFactory) -> None:
    directory = tiny_model_factory(score={}, meaning={})
    annotator = matese.load(directory, device="cpu", precision="float32", engine="torch")
    before = list(annotator.annotate_segments(host_path.segments(None, 3)))
    parts = part_costs.measure(annotator, host_path.segments(None, 3))
    assert list(parts) == ["encoder", "extra layers", "head: tags", "head: score", "head: meaning", "rest"]
    assert min(parts.values()) > 0
    assert list(annotator.annotate_segments(host_path.segments(None, 3))) == before
    assert "run" not in vars(annotator.predictor.engine.module.encoder)


@pytest.mark.parametrize("kind", [eight_bits.OfBatch, eight_bits.OfToken])
def test_products_in_8_bits_are_nearly_those_in_float32(kind: type[nn.Module]) -> None:
    torch.manual_seed(0)
    layer = nn.Linear(64, 32)
    states = torch.randn(5, 64)
    with torch.inference_mode():
        expected = layer(states)
        error = (kind(layer)(states) - expected).norm() / expected.norm()
    assert 0 < error < 0.03


def test_agreement_of_marks_and_scores() -> None:
    rating = many_rows.rating(0, host_path.segments(None, 1)[0])
    with_fewer_marks = replace(rating, errors=(rating.errors or ())[:1])
    assert eight_bits.agreement([rating, rating], [rating, with_fewer_marks]) == ["50.0 %", "0.000", "0.00"]


def test_rows_are_ratings_as_we_write_them() -> None:
    made: list[Rating] = [many_rows.rating(*each) for each in enumerate(host_path.segments(None, 3))]
    assert [jsonl.complete(jsonl.dumps(rating).encode()) for rating in made] == made
    assert len({rating.segment.key for rating in made}) == len(made)
