from __future__ import annotations

import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
import torch

from matese.annotation import Segment
from matese.errors import ModelError
from matese.model import predictor as predictor_module
from matese.model.engines.batch_engine import BatchEngine
from matese.model.heads.networks import NetworkOutput
from matese.model.heads.score.decoding import ExpectedScore
from matese.model.heads.score.settings import PieceScore
from matese.model.heads.tags.network import TagLogits
from matese.model.inputs import Inputs
from matese.model.interpreter import Interpreter
from matese.model.model_input import ModelInput, Row
from matese.model.prediction import Outputs, Prediction, TagProbabilities, WindowOutput
from matese.model.predictor import Predictor
from matese.model.texts.encoding import Encoding, TextEncoder
from tests.conftest import make_config, make_tokenizer


def window(n_tokens: int, *kept: int) -> Encoding:
    ids = np.zeros(n_tokens + 2, np.int32)
    ranges = np.zeros((n_tokens, 2), np.int32)
    return Encoding(ids, np.zeros_like(ids), None, 1, ranges, (kept[0], kept[1]), is_cut=True)


ROWS = np.arange(2 * 10 * 5, dtype=np.float64).reshape(2, 10, 5)
INTERPRETER = Interpreter(make_config(score={}))


def join(*windows: tuple[Encoding, Any, float]) -> Prediction:
    each = [
        WindowOutput(encoding, Outputs.of([TagProbabilities(rows), ExpectedScore(score)]))
        for encoding, rows, score in windows
    ]
    (joined,) = INTERPRETER.join({Row(("x",)): each}).values()
    return joined


def test_windows_count_in_a_score_by_what_is_kept_of_them() -> None:
    joined = join((window(10, 0, 8), ROWS[0], -5.0), (window(8, 2, 8), ROWS[1], -4.0))
    np.testing.assert_array_equal(joined.log_probabilities, np.concatenate([ROWS[0, :8], ROWS[1, 2:8]]))
    assert joined.outputs[ExpectedScore].value == pytest.approx(-5 * 8 / 10 - 4 * 6 / 8)
    assert joined.is_windowed


def test_the_score_of_windows_has_the_floor_of_all_scores() -> None:
    joined = join((window(10, 0, 10), ROWS[0], -20.0), (window(10, 0, 10), ROWS[1], -20.0))
    assert joined.outputs[ExpectedScore].value == -25


def test_pieces_say_what_is_in_them_and_the_whole_says_the_rest() -> None:
    whole = window(10, 0, 10)._replace(is_cut=False, ranges=np.stack([np.arange(10), np.arange(10) + 1], 1))
    first, last = (
        whole._replace(ranges=whole.ranges[start:end], kept=(0, end - start), start=start, is_piece=True)
        for start, end in ((2, 5), (8, 10))
    )
    joined = join((whole, ROWS[0], -3.0), (last, ROWS[1, 8:], -1.0), (first, ROWS[1, 2:5], -4.0))
    expected = [ROWS[0, :2], ROWS[1, 2:5], ROWS[0, 5:8], ROWS[1, 8:]]
    np.testing.assert_array_equal(joined.log_probabilities, np.concatenate(expected))
    assert joined.ranges.tolist() == whole.ranges.tolist()
    assert joined.n_pieces == 2
    assert not joined.is_windowed
    assert joined.outputs[ExpectedScore] == ExpectedScore(PieceScore().score(-3.0, [-4.0, -1.0]), -3.0, (-4.0, -1.0))


def test_runs_count_in_the_score_of_the_whole_by_their_length() -> None:
    runs = [window(n_tokens, 0, n_tokens)._replace(start=start) for start, n_tokens in ((0, 8), (8, 2))]
    piece = runs[1]._replace(is_piece=True)
    joined = join((runs[0], ROWS[0, :8], -1.0), (runs[1], ROWS[0, 8:], -6.0), (piece, ROWS[1, 8:], 0.0))
    assert joined.outputs[ExpectedScore].whole == pytest.approx(-2.0)


def test_an_output_that_is_no_number_is_refused() -> None:
    rows = ROWS[0].copy()
    rows[3, 2] = math.nan
    for logs, score in ((rows, -1.0), (ROWS[0], math.nan)):
        with pytest.raises(ModelError, match="NaN"):
            join((window(10, 0, 10), logs, score))


class Recorder:
    """A runner that says of each token what follows from its id alone, and notes what it was given."""

    def __init__(self, *, room: int = 10**9) -> None:
        self.room = room
        self.batches = list[Inputs]()

    def __call__(self, batch: Inputs) -> NetworkOutput:
        if batch.mask.numel() > self.room:
            raise torch.OutOfMemoryError("CUDA out of memory")
        self.batches.append(batch)
        assert batch.decoder_ids is not None
        ids = batch.decoder_ids.gather(1, batch.positions)
        logits = torch.stack([ids * (tag + 1) % 7 for tag in range(5)], -1).float()
        return NetworkOutput.of([TagLogits(logits)])


def make_predictor(runner: Recorder, batch_tokens: int = 60) -> Predictor:
    texts = TextEncoder(make_tokenizer(), max_tokens=32, decoder_start=2)
    engine = BatchEngine(runner, pad_id=texts.pad_id, batch_tokens=batch_tokens)
    return Predictor(Interpreter(make_config()), engine, texts)


def inputs_of(*pairs: tuple[str, str]) -> list[ModelInput]:
    return [ModelInput.of(Segment(hypothesis, source), "source") for hypothesis, source in pairs]


def row(hypothesis: str, source: str) -> Row:
    return Row((hypothesis, source), "source")


MODEL_INPUTS = inputs_of(*((f"{word} {n}", source) for n in range(6) for word in ("good", "ist") for source in "abc"))


def predict(predictor: Predictor, model_inputs: list[ModelInput]) -> dict[Row, Prediction]:
    return predictor.compute(predictor.prepare(model_inputs))


def numbers(predictions: dict[Row, Prediction]) -> dict[Row, list[list[float]]]:
    return {reading: prediction.log_probabilities.tolist() for reading, prediction in predictions.items()}


def test_equal_rows_are_computed_once() -> None:
    runner = Recorder()
    predictor = make_predictor(runner)
    first = predict(predictor, inputs_of(("the", "a"), ("the", "b"), ("the", "a")))
    assert (len(first), sum(len(batch.positions) for batch in runner.batches)) == (2, 2)
    again = predict(predictor, inputs_of(("the", "b"), ("good", "b")))
    assert sum(len(batch.positions) for batch in runner.batches) == 3
    assert again[row("the", "b")] is first[row("the", "b")]


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictor_module, "REMEMBERED", 3000)
    runner = Recorder()
    predictor = make_predictor(runner)
    for model_input in MODEL_INPUTS:
        predict(predictor, [model_input])
    assert 0 < predictor._memory.n_bytes <= 3000
    assert predictor.prepare(MODEL_INPUTS[-1:]).rows == []
    assert predictor.prepare(MODEL_INPUTS[:1]).rows == [row("good 0", "a")]


@pytest.mark.parametrize("n_tokens", [3, 300])
def test_what_is_remembered_is_counted_in_full(n_tokens: int) -> None:
    tracemalloc.start()
    memory = predictor_module.Memory()
    ranges = np.zeros((n_tokens, 2), np.int32)
    scores = np.zeros((n_tokens, 5), np.float32)
    rows = {}
    for n in range(1000):
        outputs = Outputs.of([TagProbabilities(scores.copy())])
        rows[row(f"a {n}", f"b {n}")] = Prediction(f"a {n}", ranges.copy(), outputs, -1.0)
    memory.add(rows)
    del rows, outputs
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert taken == pytest.approx(memory.n_bytes, rel=0.2)


def test_what_has_nothing_to_tag_is_left_out() -> None:
    predictor = make_predictor(Recorder())
    assert list(predict(predictor, inputs_of(("", "a"), (" ", "a"), ("x", "a")))) == [row("x", "a")]


def test_batches_keep_within_the_budget() -> None:
    runner = Recorder()
    predictor = make_predictor(runner)
    scored = predict(predictor, MODEL_INPUTS)
    assert all(batch.mask.numel() + batch.positions.numel() <= 60 for batch in runner.batches)
    assert len(runner.batches) > 3
    alone = make_predictor(Recorder(), batch_tokens=1)
    assert numbers(predict(alone, MODEL_INPUTS)) == numbers(scored)


def test_a_batch_that_is_large_enough_ends_before_it_is_padded_much() -> None:
    runner = Recorder()
    predictor = make_predictor(runner, batch_tokens=1000)
    predict(predictor, inputs_of(*(("a " * 9 + str(n), "d") for n in range(30)), ("a b", "d")))
    assert [len(batch.positions) for batch in runner.batches] == [30, 1]
    few = Recorder()
    predictor = make_predictor(few, batch_tokens=10**5)
    predict(predictor, inputs_of(*(("a " * 9 + str(n), "d") for n in range(30)), ("a b", "d")))
    assert [len(batch.positions) for batch in few.batches] == [31]


def test_out_of_memory_halves_the_batches() -> None:
    runner = Recorder(room=6)
    predictor = make_predictor(runner, 1000)
    roomy = make_predictor(Recorder(), 1000)
    scored = predict(predictor, MODEL_INPUTS)
    assert numbers(scored) == numbers(predict(roomy, MODEL_INPUTS))
    assert predictor.engine.lowered_batch_tokens is not None
    assert predictor.engine.lowered_batch_tokens < predictor.engine.batch_tokens == 1000
    assert all(batch.mask.numel() <= 6 for batch in runner.batches)
    n_before = len(runner.batches)
    predict(predictor, inputs_of(*((f"the {n}", "d") for n in range(9))))
    assert len(runner.batches) > n_before


def test_a_row_that_the_memory_does_not_hold_is_an_error() -> None:
    predictor = make_predictor(Recorder(room=0))
    with pytest.raises(torch.OutOfMemoryError, match="CUDA out of memory"):
        predict(predictor, MODEL_INPUTS)
