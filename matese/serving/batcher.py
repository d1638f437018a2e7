"""Batches of waiting requests: while the model annotates one, the next requests are collected."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

from matese.annotation import Rating, Segment


@dataclass(frozen=True, slots=True)
class _Waiting:
    segments: Sequence[Segment]
    answer: asyncio.Future[list[Rating]]


class Batcher:
    """Annotates together the requests that arrived while the previous ones were annotated."""

    def __init__(self, annotate: Callable[[Iterable[Segment]], Iterable[Rating]], *, enough: int) -> None:
        """Stores the function, which runs in a thread; a batch of `enough` segments takes no further request."""
        self._annotate = annotate
        self._enough = enough
        self._queue: asyncio.Queue[_Waiting] = asyncio.Queue()

    async def annotate(self, segments: Sequence[Segment]) -> list[Rating]:
        """Returns a Rating for each segment, in order. A batch ends early once all its requests are cancelled.

        Raises:
            Exception: what the function raised for the batch.
        """
        waiting = _Waiting(segments, asyncio.get_running_loop().create_future())
        self._queue.put_nowait(waiting)
        return await waiting.answer

    async def run(self) -> None:
        """Annotates waiting requests until it is cancelled."""
        while True:
            batch = [await self._queue.get()]
            while not self._queue.empty() and sum(len(request.segments) for request in batch) < self._enough:
                batch.append(self._queue.get_nowait())
            await self._work([request for request in batch if not request.answer.done()])

    async def _work(self, batch: Sequence[_Waiting]) -> None:
        segments = [segment for request in batch for segment in request.segments]

        def is_wanted(_: Rating) -> bool:
            return not all(request.answer.done() for request in batch)

        try:
            # A thread cannot be cancelled, and the process does not end before it: it stops when nobody waits.
            ratings = iter(await asyncio.to_thread(lambda: list(takewhile(is_wanted, self._annotate(segments)))))
        except Exception as error:
            for request in batch:
                if not request.answer.done():
                    request.answer.set_exception(error)
            return
        for request in batch:
            answer = list(islice(ratings, len(request.segments)))
            if not request.answer.done():  # cancelled meanwhile
                request.answer.set_result(answer)
