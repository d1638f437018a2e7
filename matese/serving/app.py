"""The web application: `/annotate` for programs, described by `/docs`, and a page for people.

Pages of other sites cannot use it: cross-origin requests and requests for other hosts are refused (`middleware`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
from collections.abc import AsyncIterator
from dataclasses import replace
from http import HTTPStatus
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from matese.annotation import Segment, SegmentKey
from matese.errors import InputError
from matese.formats import detection, languages, segments
from matese.formats.format import ReadOptions
from matese.formats.tables import columns, jsonl
from matese.render import html_page
from matese.serving.batcher import Batcher
from matese.serving.middleware import RETRY_AFTER, Guard, LimitedBody, RequestLimits
from matese.version import __version__

if TYPE_CHECKING:
    from matese.model.annotator import Annotator


class RequestSegment(msgspec.Struct, forbid_unknown_fields=True):
    """A segment to annotate."""

    hypothesis: Annotated[str, msgspec.Meta(description="The translation; may be empty.")]
    source: Annotated[str | None, msgspec.Meta(description="Its source; null if there is none.")] = None
    references: Annotated[list[str], msgspec.Meta(description="Any number of references.")] = []


class AnnotateRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The segments of a request."""

    segments: list[RequestSegment]


class _Rows(msgspec.Struct, forbid_unknown_fields=True):
    segments: list[dict[str, str | list[str] | None]]


_PROBLEMS = {
    408: "The request took too long to arrive.",
    421: "The server listens on this machine only, and the request asks for a host of another name.",
    413: "The request is too large: its bytes, its segments or its characters.",
    422: "The request is not JSON, lacks a text, or lacks what the model needs.",
    500: "An internal error of the server; its log has the traceback.",
    503: "The answer took too long, or too many requests are waiting.",
}
_DECODER = msgspec.json.Decoder(AnnotateRequest)


def make_app(annotator: Annotator, limits: RequestLimits, *, is_loopback: bool = True) -> Starlette:
    """Returns the application, which alone uses the annotator; `is_loopback`: whether only this machine reaches it."""
    batcher = Batcher(annotator.annotate_segments, enough=limits.segments)
    weights = annotator.options.weights
    facts = {"Model": annotator.name, "Reads": ", ".join(annotator.config.inputs), "Weights": weights.name}
    page, reference = html_page.render_live("matese: find translation errors", facts), html_page.render_api_reference()
    description = describe()

    async def annotate(request: Request) -> Response:
        wanted = _read(request.headers.get("content-type", ""), await request.body())
        limits.check(wanted)
        _check_inputs(annotator, wanted)
        try:
            async with asyncio.timeout(limits.seconds):
                ratings = await batcher.annotate(wanted)
        except TimeoutError:
            problem = f"no answer within {limits.seconds} s: ask again later, or for fewer segments at once"
            raise HTTPException(503, problem, RETRY_AFTER) from None
        untrained = {languages.untrained(segment, annotator.config.lang_pairs) for segment in wanted} - {None}
        sentences = [languages.untrained_warning(map(str, untrained))] if untrained else []
        if n_blank := sum(segment.without_blanks() is not segment for segment in wanted):
            sentences.append(f"{n_blank} of {len(wanted)} segments have a blank source or reference: it is missing")
        warning = "; ".join(sentences)
        rows = [jsonl.to_json(rating, weights=weights) for rating in ratings]
        return JSONResponse({"ratings": rows, **({"warning": warning} if warning else {})})

    async def show(request: Request) -> Response:
        return HTMLResponse(page if request.url.path == "/" else reference)

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok", "model": annotator.name, "version": __version__})

    async def openapi(request: Request) -> Response:
        return JSONResponse(description)

    @contextlib.asynccontextmanager
    async def working(app: Starlette) -> AsyncIterator[None]:
        worker = asyncio.create_task(batcher.run())
        yield
        worker.cancel()

    return Starlette(
        routes=[
            *(Route(path, show) for path in ("/", "/docs")),
            Mount("/docs/swagger", StaticFiles(directory=_swagger())),
            Route("/health", health),
            Route("/openapi.json", openapi),
            Route("/annotate", annotate, methods=["POST"]),
        ],
        middleware=[Middleware(Guard, is_loopback=is_loopback), Middleware(LimitedBody, limits=limits)],
        exception_handlers={HTTPException: _refuse, Exception: _fail},
        lifespan=working,
    )


def describe() -> dict[str, Any]:
    """Returns the OpenAPI description of the application."""
    references = "#/components/schemas/"
    (request,), schemas = msgspec.json.schema_components([AnnotateRequest], ref_template=f"{references}{{name}}")
    text = resources.files("matese.formats").joinpath("rating.schema.json").read_text(encoding="utf-8")
    rating = json.loads(text.replace("#/$defs/", references))
    schemas |= {**rating.pop("$defs"), "Rating": rating}
    ratings = {"type": "array", "items": {"$ref": f"{references}Rating"}}
    problem = {"type": "object", "required": ["detail"], "properties": {"detail": {"type": "string"}}}

    def answer(description: str, schema: dict[str, Any]) -> dict[str, Any]:
        return {"description": description, "content": {"application/json": {"schema": schema}}}

    answers = {str(code): answer(reason, problem) for code, reason in _PROBLEMS.items()}
    table = {
        "type": "string",
        "description": "A table with a header, whose columns are recognised by their names.",
        "example": "source,hypothesis\nThe dog sleeps.,Die Katze schläft.\n",
    }
    said = {
        "type": "string",
        "description": "Present if the model was not trained on the languages of the texts, or a text is blank.",
    }
    body = {"type": "object", "required": ["ratings"], "properties": {"ratings": ratings, "warning": said}}
    operation = {
        "summary": "Marks the errors of translations. A rating is what `matese tag --format jsonl` writes in a line.",
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": request}, "text/csv": {"schema": table}},
        },
        "responses": {"200": answer("A rating for each segment, in order.", body), **answers},
    }
    health = {
        "summary": "Answers as soon as the model is loaded.",
        "responses": {"200": answer("The server works.", {"type": "object"})},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "matese", "version": __version__},
        "paths": {"/annotate": {"post": operation}, "/health": {"get": health}},
        "components": {"schemas": schemas},
    }


def _read(content_type: str, body: bytes) -> list[Segment]:
    # No plain text: pages of other sites may send it without the preflight request of the browser.
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "text/csv":
        return _read_table(body)
    if kind != "application/json":
        raise HTTPException(422, f"content type is {content_type or 'missing'!r}: must be application/json or text/csv")
    try:
        request = _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if (rows := _read_rows(body)) is not None:
            return rows
        raise HTTPException(422, f"{error}: must be as /openapi.json describes") from None
    return [
        Segment(
            segment.hypothesis,
            segment.source,
            tuple(segment.references),
            SegmentKey(index=index),
            name=f"line {index + 1}",
        )
        for index, segment in enumerate(request.segments)
    ]


def _read_rows(body: bytes) -> list[Segment] | None:
    """Returns the segments of a request whose texts have other usual names, such as `mt`; None for other requests."""
    try:
        rows = msgspec.json.decode(body, type=_Rows).segments
        if any("hypothesis" in row for row in rows):
            return None
        return [
            replace(rating.segment, key=SegmentKey(index=index), extra=None, name=f"line {index + 1}")
            for index, rating in enumerate(columns.ratings(enumerate(rows), "segments", {}))
        ]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, InputError):
        return None


def _read_table(body: bytes) -> list[Segment]:
    is_text = False
    with contextlib.suppress(UnicodeDecodeError):
        is_text = "\0" not in body.decode()
    if not is_text:  # compressed data in particular: their size is not limited
        raise HTTPException(422, "the table is not UTF-8: must be CSV")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(body)
        try:
            systems, _ = segments.from_file(str(path), ReadOptions(naming="the header {}"), name=_table_format(path))
            translated = [segment for _, segment in segments.in_order(systems)]
        except InputError as error:
            raise HTTPException(422, str(error).replace(str(path), path.name)) from None
    return [
        replace(segment, key=replace(segment.key or SegmentKey(), index=index))
        for index, segment in enumerate(translated)
    ]


def _table_format(path: Path) -> str:
    """Returns the format of a table; errors of texts that are none are those of CSV."""
    try:
        return detection.detect(path)
    except InputError:
        return "csv"


def _swagger() -> Path:
    """Returns the directory of Swagger's page, which is served from here: no network is needed."""
    package = find_spec("swagger_ui")
    assert package is not None
    return Path(str(package.origin)).parent / "static"


def _check_inputs(annotator: Annotator, wanted: list[Segment]) -> None:
    """Refuses a segment that lacks what the model needs, before it fails a batch that others wait for."""
    for index, segment in enumerate(wanted):
        try:
            annotator.choose_inputs(segment)
        except InputError as error:
            raise HTTPException(422, f"segments[{index}]: {error}") from None


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail = error.detail or HTTPStatus(error.status_code).phrase
    return JSONResponse({"detail": detail}, error.status_code, error.headers)


async def _fail(request: Request, error: Exception) -> Response:
    return JSONResponse({"detail": _PROBLEMS[500]}, 500)
