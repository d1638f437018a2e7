from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Iterator

import pytest

from matese.annotation import Rating, Segment
from matese.serving.batcher import Batcher


class Worker:
    """Rates segments as free of errors, once it may; keeps what it was given at once."""

    def __init__(self) -> None:
        self.may_work = threading.Event()
        self.batches: list[list[str]] = []

    def annotate(self, segments: Iterable[Segment]) -> Iterator[Rating]:
        batch = list(segments)
        self.batches.append([segment.hypothesis for segment in batch])
        assert self.may_work.wait(timeout=60)
        if any(segment.hypothesis == "bad" for segment in batch):
            raise RuntimeError("no")
        return (Rating(segment, "m", ()) for segment in batch)


async def until_busy(worker: Worker) -> None:
    while not worker.batches:
        await asyncio.sleep(0.001)


def run(*texts: tuple[str, ...], enough: int = 100, cancel: int | None = None) -> tuple[list[object], list[list[str]]]:
    """Asks for the texts of each request while the first one is under way; returns the answers and the batches."""
    worker = Worker()
    batcher = Batcher(worker.annotate, enough=enough)

    async def ask() -> list[object]:
        running = asyncio.create_task(batcher.run())
        first, *later = texts
        asked = [asyncio.create_task(batcher.annotate([Segment(text) for text in first]))]
        await until_busy(worker)
        asked += [asyncio.create_task(batcher.annotate([Segment(text) for text in texts])) for texts in later]
        await asyncio.sleep(0)  # each is in the queue
        if cancel is not None:
            asked[cancel].cancel()
        worker.may_work.set()
        answers = await asyncio.gather(*asked, return_exceptions=True)
        running.cancel()
        return [
            [rating.segment.hypothesis for rating in answer] if isinstance(answer, list) else answer
            for answer in answers
        ]

    return asyncio.run(ask()), worker.batches


def test_what_waits_is_annotated_together_and_goes_back_to_who_asked() -> None:
    answers, batches = run(("a",), ("b", "c"), (), ("d",))
    assert answers == [["a"], ["b", "c"], [], ["d"]]
    assert batches == [["a"], ["b", "c", "d"]]


def test_a_batch_ends_where_it_has_enough() -> None:
    answers, batches = run(("a",), ("b",), ("c", "d", "e"), ("f",), enough=2)
    assert answers == [["a"], ["b"], ["c", "d", "e"], ["f"]]
    assert batches == [["a"], ["b", "c", "d", "e"], ["f"]]


@pytest.mark.parametrize(("cancel", "expected"), [(0, [["a"], ["b", "c"]]), (1, [["a"], ["c"]])])
def test_what_nobody_waits_for_is_left_out(cancel: int, expected: list[list[str]]) -> None:
    answers, batches = run(("a",), ("b",), ("c",), cancel=cancel)
    assert isinstance(answers[cancel], asyncio.CancelledError)
    assert answers[2] == ["c"]
    assert batches == expected


def test_what_nobody_waits_for_any_more_is_given_up() -> None:
    may_go_on = threading.Event()
    begun = threading.Event()
    rated = list[str]()

    def annotate(segments: Iterable[Segment]) -> Iterator[Rating]:
        for segment in segments:
            rated.append(segment.hypothesis)
            begun.set()
            assert may_go_on.wait(timeout=60)
            yield Rating(segment, "m", ())

    async def ask() -> list[Rating]:
        batcher = Batcher(annotate, enough=100)
        running = asyncio.create_task(batcher.run())
        asked = asyncio.create_task(batcher.annotate([Segment("a")] * 50))
        await asyncio.to_thread(begun.wait, 60)
        asked.cancel()
        await asyncio.wait([asked])
        may_go_on.set()
        try:
            return await batcher.annotate([Segment("b")])
        finally:
            running.cancel()

    assert [rating.segment.hypothesis for rating in asyncio.run(ask())] == ["b"]
    assert rated == ["a", "b"]


def test_an_error_goes_to_the_requests_of_its_batch_only() -> None:
    answers, batches = run(("a",), ("bad",), ("c",), ("d",), enough=2)
    assert [str(answer) for answer in answers] == ["['a']", "no", "no", "['d']"]
    assert batches == [["a"], ["bad", "c"], ["d"]]


def test_the_rest_of_abandoned_work_is_not_done() -> None:
    begun = threading.Event()
    go_on = threading.Event()
    done: list[int] = []

    def annotate(segments: Iterable[Segment]) -> Iterator[Rating]:
        batch = list(segments)
        begun.set()
        assert go_on.wait(timeout=60)
        done.append(len(batch))
        return iter([Rating(segment, "m", ()) for segment in batch])

    async def ask() -> None:
        batcher = Batcher(annotate, enough=100)
        running = asyncio.create_task(batcher.run())
        long = asyncio.create_task(batcher.annotate([Segment("a" * 20_000)] * 5))
        assert await asyncio.to_thread(begun.wait, 60)
        later = asyncio.create_task(batcher.annotate([Segment("b")]))
        await asyncio.sleep(0)
        assert (batcher.n_running, batcher.n_waiting) == (5, 1)
        long.cancel()
        await asyncio.sleep(0)
        assert batcher.n_running == 5
        go_on.set()
        assert len(await later) == 1
        await asyncio.sleep(0)
        assert (batcher.n_running, batcher.n_waiting) == (0, 0)
        running.cancel()

    asyncio.run(ask())
    assert done == [1, 1]
