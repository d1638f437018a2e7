"""Batches of waiting requests: while the model annotates one, the next requests are collected."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

from matese.annotation import Rating, Segment


@dataclass(frozen=True, slots=True)
class _Waiting:
    segments: Sequence[Segment]
    answer: asyncio.Future[list[Rating]]


_PIECE = 20_000
"""Characters that are annotated before the batcher looks again whether anybody still waits for the rest."""


class Batcher:
    """Annotates together the requests that arrived while the previous ones were annotated.

    Attributes:
        n_waiting: segments that nobody has begun to annotate.
        n_running: segments of the batch that is being annotated, also while nobody waits for it any more.
    """

    def __init__(self, annotate: Callable[[Iterable[Segment]], Iterable[Rating]], *, enough: int) -> None:
        """Stores the function, which runs in a thread; a batch of `enough` segments takes no further request."""
        self._annotate = annotate
        self._enough = enough
        self._queue: asyncio.Queue[_Waiting] = asyncio.Queue()
        self.n_waiting = 0
        self.n_running = 0

    async def annotate(self, segments: Sequence[Segment]) -> list[Rating]:
        """Returns a Rating for each segment, in order. A batch ends early once all its requests are cancelled.

        Raises:
            Exception: what the function raised for the batch.
        """
        waiting = _Waiting(segments, asyncio.get_running_loop().create_future())
        self._queue.put_nowait(waiting)
        self.n_waiting += len(segments)
        return await waiting.answer

    async def run(self) -> None:
        """Annotates waiting requests until it is cancelled."""
        while True:
            batch = [await self._queue.get()]
            while not self._queue.empty() and sum(len(request.segments) for request in batch) < self._enough:
                batch.append(self._queue.get_nowait())
            n_taken = sum(len(request.segments) for request in batch)
            self.n_waiting -= n_taken
            self.n_running = n_taken
            await self._work([request for request in batch if not request.answer.done()])
            self.n_running = 0

    async def _work(self, batch: Sequence[_Waiting]) -> None:
        segments = [segment for request in batch for segment in request.segments]

        def is_wanted(_: Rating) -> bool:
            return not all(request.answer.done() for request in batch)

        def annotated() -> list[Rating]:
            pieces = (rating for piece in _pieces(segments) for rating in self._annotate(piece))
            return list(takewhile(is_wanted, pieces))

        try:
            # A thread cannot be cancelled, and the process does not end before it: it stops when nobody waits.
            ratings = iter(await asyncio.to_thread(annotated))
        except Exception as error:
            for request in batch:
                if not request.answer.done():
                    request.answer.set_exception(error)
            return
        for request in batch:
            answer = list(islice(ratings, len(request.segments)))
            if not request.answer.done():  # cancelled meanwhile
                request.answer.set_result(answer)


def _pieces(segments: Sequence[Segment]) -> Iterator[list[Segment]]:
    """Yields the segments in lists; a list ends when its texts have `_PIECE` characters."""
    piece: list[Segment] = []
    n_characters = 0
    for segment in segments:
        piece.append(segment)
        n_characters += sum(map(len, (segment.hypothesis, segment.source or "", *segment.references)))
        if n_characters >= _PIECE:
            yield piece
            piece = []
            n_characters = 0
    if piece:
        yield piece
