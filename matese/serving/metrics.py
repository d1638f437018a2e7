"""What the server has done, for Prometheus: requests by status, their time, segments, and requests under way."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from matese.serving.batcher import Batcher

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
"""Upper ends of the groups of answering times."""


class Metrics:
    """The metrics of one application."""

    def __init__(self, batcher: Batcher) -> None:
        """Makes the metrics; those of the batcher are read when they are shown."""
        self._registry = CollectorRegistry()
        self.requests = Counter(
            "matese_requests", "Requests to /annotate, by status.", ["status"], registry=self._registry
        )
        self.seconds = Histogram(
            "matese_request_seconds", "Seconds until the answer.", buckets=_SECONDS, registry=self._registry
        )
        self.segments = Counter("matese_segments", "Segments that were annotated.", registry=self._registry)
        self.running = Gauge("matese_requests_running", "Requests to /annotate under way.", registry=self._registry)
        waiting = "Segments that wait for the model."
        Gauge("matese_segments_waiting", waiting, registry=self._registry).set_function(lambda: batcher.n_waiting)
        computed = "Segments that the model works on, also those for which nobody waits any more."
        Gauge("matese_segments_running", computed, registry=self._registry).set_function(lambda: batcher.n_running)

    async def show(self, request: Request) -> Response:
        """Answers with all metrics in the text format of Prometheus."""
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)


class Measured:
    """Middleware that measures requests to `/annotate`, refused ones, too."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        """Stores the application, and the metrics that requests change."""
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Runs the application."""
        if scope["type"] != "http" or scope["path"] != "/annotate":
            await self._app(scope, receive, send)
            return
        start = time.monotonic()

        async def measured(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._metrics.requests.labels(str(message["status"])).inc()
                self._metrics.seconds.observe(time.monotonic() - start)
            await send(message)

        with self._metrics.running.track_inprogress():
            await self._app(scope, receive, measured)
