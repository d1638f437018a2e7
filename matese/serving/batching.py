"""Requests that wait for the model, annotated together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from matese.annotation import Rating, Segment


@dataclass(frozen=True, slots=True)
class _Job:
    segments: Sequence[Segment]
    future: asyncio.Future[list[Rating]]


class Batcher:
    """One worker that gathers the requests that came while it annotated the ones before."""

    def __init__(self, annotate: Callable[[Iterable[Segment]], Iterable[Rating]], *, enough: int) -> None:
        """Takes what annotates, in a thread beside the event loop; `enough` segments wait for no further request."""
        self._annotate, self._enough = annotate, enough
        self._waiting: asyncio.Queue[_Job] = asyncio.Queue()

    async def annotate(self, segments: Sequence[Segment]) -> list[Rating]:
        """Returns a Rating for each segment, in order. Cancelled before its turn, it is not annotated.

        Raises:
            Exception: what annotating them, together with those of other requests, has raised.
        """
        job = _Job(segments, asyncio.get_running_loop().create_future())
        self._waiting.put_nowait(job)
        return await job.future

    async def run(self) -> None:
        """Works until it is cancelled."""
        while True:
            jobs = [await self._waiting.get()]
            while not self._waiting.empty() and sum(len(job.segments) for job in jobs) < self._enough:
                jobs.append(self._waiting.get_nowait())
            await self._work([job for job in jobs if not job.future.done()])

    async def _work(self, jobs: Sequence[_Job]) -> None:
        segments = [segment for job in jobs for segment in job.segments]
        try:
            ratings = iter(await asyncio.to_thread(lambda: list(self._annotate(segments))))
        except Exception as error:
            for job in jobs:
                if not job.future.done():
                    job.future.set_exception(error)
            return
        for job in jobs:
            own = [next(ratings) for _ in job.segments]
            if not job.future.done():  # nobody waits for it any more
                job.future.set_result(own)
