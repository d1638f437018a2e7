"""The web application that shows one file of ratings to be corrected, and saves what a reader corrects in another file.

It writes that file, and beside it what the reader accepts of the findings of rules (`formats.accepted_findings`). It is
for this machine only. Pages of other sites cannot use it: see `middleware`, and the
content type of what is saved needs a preflight request, which is refused.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from matese import mqm
from matese.annotation import AnnotationError, Rating, Segment
from matese.errors import InputError
from matese.files import replacing
from matese.formats import accepted_findings
from matese.formats.accepted_findings import words_of
from matese.formats.corrections import corrected
from matese.formats.tables import jsonl
from matese.formats.tables.headings import COMMENT
from matese.render import report_page
from matese.render.page_data import Saving
from matese.serving.limits import Limits
from matese.serving.middleware import Guard, LimitedBody, refuse
from matese.version import __version__

CONTENT_TYPE = "application/jsonl"


class OutdatedPageError(Exception):
    """The output is no longer what the page was made of."""


class Review:
    """The ratings of a file, and those that a reader saves."""

    def __init__(self, systems: Mapping[str, Sequence[Rating]], output: Path, weights: mqm.Weights) -> None:
        """Stores the ratings by system.

        Raises:
            InputError: if the output exists and holds anything but reviews of these translations.
        """
        self._systems = systems
        self._output = output
        self._weights = weights
        self._segments = Counter(
            report_page.named_segment(rating, [name]) for name, ratings in systems.items() for rating in ratings
        )
        self._check(self._saved(), f"{output}: ")

    @property
    def limits(self) -> Limits:
        """Limits of what is saved at once: more than all ratings of the file."""
        n_characters = sum(
            len(text) * count
            for segment, count in self._segments.items()
            for text in (segment.hypothesis, segment.source or "", *segment.references)
        )
        return Limits(segments=self._segments.total(), characters=1_000_000 + 20 * n_characters)

    def page(self) -> str:
        """Returns the page with what has been saved."""
        saved = self._saved()
        reviewer = next((rating.rater for rating in saved), None)
        reviews = report_page.Reviews(Saving(self._output.name, self._version(), reviewer), saved)
        return report_page.render(", ".join(self._systems), self._systems, weights=self._weights, reviews=reviews)

    def save(self, lines: str, version: str | None) -> tuple[int, str]:
        """Replaces the output by ratings in JSONL; returns their number and the new version of the output.

        Raises:
            InputError: for any other text.
            OutdatedPageError: if another page has saved since the one that knows this version; never for None.
        """
        ratings = []
        for number, line in enumerate(filter(None, lines.split("\n")), start=1):
            try:
                ratings.append(jsonl.loads(line))
            except (InputError, AnnotationError) as error:
                raise InputError(f"line {number}: {error}") from None
        self._check(ratings)
        if version not in (None, self._version()):
            raise OutdatedPageError
        with replacing(self._output) as target:
            text = "".join(f"{jsonl.dumps(rating, weights=self._weights)}\n" for rating in ratings)
            target.write_text(text, encoding="utf-8", newline="\n")
        self._accept(ratings)
        return len(ratings), self._version()

    def _accept(self, reviews: Sequence[Rating]) -> None:
        """Writes which findings of rules the reader has removed without correcting the translation."""
        shown: dict[Segment, list[Rating]] = {}
        for name, ratings in self._systems.items():
            for rating in ratings:
                shown.setdefault(report_page.named_segment(rating, [name]), []).append(rating)
        accepted = []
        for review in reviews:
            if corrected(review.segment) is not None:
                continue
            kept = {(type(error), words_of(error, review.segment)) for error in review.all_errors}
            why = str((review.segment.extra or {}).get(COMMENT) or "")
            for rating in shown.get(report_page.named_segment(review, self._systems), ()):
                accepted += [
                    accepted_findings.acceptance(error, rating.segment, review.rater, why)
                    for error in rating.all_errors
                    if error.rule is not None and (type(error), words_of(error, rating.segment)) not in kept
                ]
        path = self._output.with_name(accepted_findings.USUAL_NAME)
        texts = set(map(accepted_findings.digest, shown))
        accepted_findings.add_to_file(path, accepted, instead_of=texts)

    def _version(self) -> str:
        """Returns a digest of the output: pages that show another one must not replace it."""
        content = self._output.read_bytes() if self._output.exists() else b""
        return f'"{hashlib.sha256(content).hexdigest()}"'

    def _saved(self) -> list[Rating]:
        return list(jsonl.read(self._output)) if self._output.exists() else []

    def _check(self, ratings: Sequence[Rating], name: str = "") -> None:
        """Raises InputError for ratings of other translations, or several of one."""
        counts: Counter[Segment] = Counter(report_page.named_segment(rating, self._systems) for rating in ratings)
        if foreign := counts - self._segments:
            allowed = "must be one rating at most of each translation of the file that is reviewed"
            n_foreign = foreign.total()
            problem = f"{n_foreign:,} ratings of other translations"
            if n_foreign == 1:
                problem = "1 rating of another translation"
            raise InputError(f"{name}{problem}: {allowed}")


def make_app(review: Review) -> Starlette:
    """Returns the application."""
    lock = asyncio.Lock()
    limits = review.limits

    async def show(request: Request) -> Response:
        async with lock:
            return HTMLResponse(await asyncio.to_thread(review.page))

    async def save(request: Request) -> Response:
        if request.headers.get("content-type") != CONTENT_TYPE:  # no plain text: other sites may send that
            raise HTTPException(415, f"the content type must be {CONTENT_TYPE}")
        body = await request.body()
        page_version = request.headers.get("if-match")
        try:
            async with lock:
                count, version = await asyncio.to_thread(review.save, body.decode(), page_version)
            return JSONResponse({"saved": count, "version": version})
        except OutdatedPageError:
            raise HTTPException(412, "another page has saved in the file since: reload this page") from None
        except (InputError, UnicodeDecodeError) as error:
            raise HTTPException(422, str(error)) from None
        except OSError as error:
            raise HTTPException(500, f"cannot be written ({error.strerror})") from None

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok", "version": __version__})

    return Starlette(
        routes=[Route("/", show), Route("/ratings", save, methods=["POST"]), Route("/health", health)],
        middleware=[Middleware(Guard, limits=limits, is_loopback=True), Middleware(LimitedBody, limits=limits)],
        exception_handlers={HTTPException: refuse},
    )
