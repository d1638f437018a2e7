from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import matese
from matese.annotation import Rating, Segment, SegmentKey
from matese.model.arrays import Ints
from matese.model.heads import registry
from matese.model.heads.learning import vectors_of
from matese.model.heads.quality.network import RowVectors
from matese.model.texts.encoding import TextEncoder
from matese.training import batching, corpus_building
from matese.training.batching import BatchLimits, BatchStream, TrainingLoader, make_batch
from matese.training.corpus import Corpus, Draw
from tests.model.test_rows import COMET, LONG
from tests.training.material import HEADS, RATINGS

BUDGET = 160


@pytest.fixture(scope="module")
def corpus(tokenizer: Any) -> Corpus:
    lacking = (Rating(Segment("der Hund", "the dog"), "r", ()), Rating(Segment("das", None, ("was",)), "r", ()))
    encoder = TextEncoder(tokenizer, max_tokens=128)
    return corpus_building.build((*RATINGS, *lacking), encoder, ("reference", "source", "source+reference"), HEADS)


def stream(corpus: Corpus, *, rank: int = 0, n_devices: int = 1, seed: int = 1) -> BatchStream:
    return BatchStream(corpus, BatchLimits(BUDGET, 128, rank, n_devices), seed=seed)


def plan(corpus: Corpus, epoch: int = 0, *, n_devices: int = 1, seed: int = 1) -> batching.EpochPlan:
    return batching.plan_epoch(corpus, BatchLimits(BUDGET, 128, n_devices=n_devices), seed=seed, epoch=epoch)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40), st.integers(1, 120))
def test_batches_keep_within_the_budget(widths: list[int], budget: int) -> None:
    widths.sort()
    batches = batching.cut_batches(np.array(widths), budget).tolist()
    assert [row for start, end in batches for row in range(start, end)] == list(range(len(widths)))
    for (start, end), after in zip(batches, [*batches[1:], None], strict=True):
        assert end - start == 1 or widths[end - 1] * (end - start) <= budget
        if after is not None:  # no batch could have held one row more
            assert widths[end] * (end - start + 1) > budget


def test_a_pass_reads_every_segment_once_as_something_it_has(corpus: Corpus) -> None:
    usable = corpus.usable()
    for epoch in range(5):
        made = plan(corpus, epoch)
        draws = [draw for number in range(len(made.batches)) for draw in made[number]]
        assert sorted(draw.segment for draw in draws) == list(range(len(corpus)))
        for draw in draws:
            assert usable[draw.segment, draw.inputs]
            assert draw.reference < max(1, corpus.n_references[draw.segment])
            assert 0 <= draw.window < 1


def test_padded_batches_keep_within_the_budget(corpus: Corpus) -> None:
    made = plan(corpus)
    for number in range(len(made.batches)):
        lengths = [len(corpus.windows(draw)[0].ids) for draw in made[number]]
        assert len(lengths) == 1 or max(lengths) * len(lengths) <= BUDGET


def test_all_kinds_and_references_are_drawn(corpus: Corpus) -> None:
    drawn = {(draw.inputs, draw.reference) for epoch in range(6) for batch in _batches(corpus, epoch) for draw in batch}
    assert {kind for kind, _ in drawn} == {0, 1, 2}
    assert {reference for _, reference in drawn} == {0, 1}


def _batches(corpus: Corpus, epoch: int) -> list[list[Draw]]:
    made = plan(corpus, epoch)
    return [made[number] for number in range(len(made.batches))]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(1, 5))
def test_units_are_of_one_group_and_no_more_than_needed(groups: list[int], size: int) -> None:
    units = batching.draw_units(np.array(groups), np.arange(len(groups)), size, np.random.default_rng(1)).tolist()
    members = {unit: [groups[row] for row, row_unit in enumerate(units) if row_unit == unit] for unit in units}
    assert sorted(members) == list(range(len(members)))
    assert all(len(set(unit_groups)) == 1 and len(unit_groups) <= size for unit_groups in members.values())
    assert len(members) == sum(-(-groups.count(group) // size) for group in set(groups))


@pytest.mark.parametrize("seed", range(5))
def test_a_translation_and_its_changed_selves_are_drawn_together(tokenizer: Any, seed: int) -> None:
    systems = ["A", "B", "A", "B+C", "B", "B+C"]
    ratings = [
        Rating(Segment(f"der Hund {number}", "dog", (), SegmentKey("set", "en-de", system)), "r", ())
        for number, system in enumerate(systems)
    ]
    corpus = corpus_building.build(ratings, TextEncoder(tokenizer, max_tokens=128), ("source",), HEADS)
    units = batching.draw_units(corpus.groups, corpus.originals, 2, np.random.default_rng(seed)).tolist()
    assert units[0] == units[2]
    assert units[1] == units[4]
    assert units[3] == units[5]
    assert len(set(units)) == 3


def test_translations_that_are_drawn_together_are_read_alike_in_one_batch(tokenizer: Any) -> None:
    ratings = [
        Rating(Segment(f"der Hund {row}", f"dog {row % 4}", (f"a {row % 4}", f"b {row % 4}")), "r", ())
        for row in range(12)
    ]
    encoder = TextEncoder(tokenizer, max_tokens=128)
    corpus = corpus_building.build(ratings, encoder, ("reference", "source", "source+reference"), HEADS)
    made = batching.plan_epoch(corpus, BatchLimits(10_000, 128), seed=1, epoch=0, group_size=3)
    [batch] = [made[number] for number in range(len(made.batches))]
    assert sorted(draw.segment for draw in batch) == list(range(12))
    for group in {draw.group for draw in batch}:
        together = [draw for draw in batch if draw.group == group]
        assert len({(draw.segment % 4, draw.inputs, draw.reference) for draw in together}) == 1
        assert len(together) == 3


def test_plan_is_a_function_of_seed_and_epoch(corpus: Corpus) -> None:
    assert _batches(corpus, 0) == _batches(corpus, 0)
    assert _batches(corpus, 0) != _batches(corpus, 1)
    other_seed = plan(corpus, 0, seed=2)
    assert [other_seed[number] for number in range(len(other_seed.batches))] != _batches(corpus, 0)


@pytest.mark.parametrize("n_devices", [2, 3, 7])
def test_devices_share_a_pass(corpus: Corpus, n_devices: int) -> None:
    streams = [stream(corpus, rank=rank, n_devices=n_devices) for rank in range(n_devices)]
    assert len({len(stream) for stream in streams}) == 1
    batches = [list(stream) for stream in streams]
    drawn = {draw.segment for batch in itertools.chain.from_iterable(batches) for draw in batch}
    assert drawn == set(range(len(corpus)))
    # What is repeated to give each device as many is less than one batch each.
    distinct = {tuple(batch) for batch in itertools.chain.from_iterable(batches)}
    assert sum(map(len, batches)) - len(distinct) < n_devices


def test_periods_deal_out_one_stream_whatever_their_length(corpus: Corpus) -> None:
    long = stream(corpus)
    long.period_length = 3 * long.epoch_length + 1
    expected = list(long)
    short = stream(corpus)
    short.period_length = 4
    dealt: list[list[Draw]] = []
    for period in range(len(expected) // 4):
        short.set_epoch(period)
        dealt += short
    assert dealt == expected[: len(dealt)]
    segments = [draw.segment for batch in expected[: long.epoch_length] for draw in batch]
    assert sorted(segments) == list(range(len(corpus)))


@pytest.mark.parametrize("workers", [0, 1])
def test_loader_goes_on_where_another_stopped(corpus: Corpus, workers: int) -> None:
    def loader() -> TrainingLoader:
        made = stream(corpus)
        made.period_length = 4
        return TrainingLoader(corpus, made, workers=workers)

    first = loader()
    first.sampler.set_epoch(2)
    batches = list(first)
    first.sampler.set_epoch(3)
    assert first.state_dict() == {"period": 3, "done": 0}
    stopped = loader()
    stopped.sampler.set_epoch(2)
    iterator = iter(stopped)
    next(iterator)
    next(iterator)
    state = stopped.state_dict()
    resumed = loader()
    resumed.load_state_dict(state)
    resumed.sampler.set_epoch(2)  # as Lightning does before the first batch
    rest = list(resumed)
    assert state == {"period": 2, "done": 2}
    assert [batch.inputs.ids.tolist() for batch in rest] == [batch.inputs.ids.tolist() for batch in batches[2:]]


@pytest.mark.parametrize(("name", "references"), [("estimator", (LONG[:40],)), ("unite", ())])
def test_windows_of_whole_segments_are_joined_as_in_prediction(name: str, references: tuple[str, ...]) -> None:
    annotator = matese.load(COMET / name, device="cpu", precision="float32")
    segment = Segment(LONG, LONG[::-1], references)
    (rating,) = annotator.annotate_segments([segment])
    assert annotator.counts.windowed == 1
    predictor = annotator.predictor
    heads = registry.targets(annotator.config)
    corpus = corpus_building.build(
        [Rating(segment, "r", ())], predictor.text_encoder, annotator.config.texts.inputs, heads
    )
    inputs = corpus.inputs.index("source+reference" if references else "source")
    batch = make_batch(corpus, [Draw(0, inputs, 0, 0.0)])
    with torch.inference_mode():
        rows = predictor.module(batch.inputs)[RowVectors].values
        (score,) = predictor.module.score(vectors_of(rows, batch.targets.shares)).tolist()
    assert rating.estimate is not None
    assert score == pytest.approx(rating.estimate.value, abs=2e-6)


def test_spawned_workers_make_the_same_batches(corpus: Corpus) -> None:
    """As on Windows and macOS, which do not fork: what a worker needs is pickled."""
    here, spawned = (TrainingLoader(corpus, stream(corpus), workers=workers) for workers in (0, 1))
    spawned.multiprocessing_context = "spawn"
    assert [batch.inputs.ids.tolist() for batch in spawned] == [batch.inputs.ids.tolist() for batch in here]


def test_widths_of_long_texts_are_those_of_their_windows(corpus: Corpus) -> None:
    kinds: Ints = np.zeros(len(corpus), np.int64)
    assert batching.input_lengths(corpus, kinds, kinds, 20).max() == 20
