"""The web application: `/annotate` for programs, described by `/docs`, and a page for people.

Pages of other sites cannot use it: cross-origin requests and requests for other hosts are refused (`middleware`).
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
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

from matese.annotation import Rating, Segment, SegmentKey
from matese.errors import FormatError, InputError, agreeing, unknown
from matese.formats.format import ReadOptions
from matese.formats.tables import columns, csv_table, headings, jsonl
from matese.model import trained_languages
from matese.render import html_page
from matese.serving.batcher import Batcher
from matese.serving.limits import Limits
from matese.serving.metrics import Measured, Metrics
from matese.serving.middleware import RETRY_AFTER, Guard, LimitedBody, refuse
from matese.validation import plain_values
from matese.version import __version__

if TYPE_CHECKING:
    from matese.model.annotator import Annotator


_SCHEMAS = "#/components/schemas/"
_NAMING = "the header {}"
"""How a client names a column of a CSV table."""


def _list_of(name: str) -> msgspec.Meta:
    return msgspec.Meta(extra_json_schema={"items": {"$ref": f"{_SCHEMAS}{name}"}})


class RequestSegment(msgspec.Struct, forbid_unknown_fields=True):
    """A segment to annotate. Other usual names of columns, such as `mt`, `src` and `ref`, are accepted too."""

    hypothesis: Annotated[str, msgspec.Meta(description="The translation; may be empty.")]
    source: Annotated[str | None, msgspec.Meta(description="Its source; null if there is none.")] = None
    references: Annotated[list[str], msgspec.Meta(description="Any number of references.")] = []


class AnnotateRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The segments of a request."""

    segments: Annotated[list[Any], _list_of("RequestSegment")]


class AnnotateResponse(msgspec.Struct):
    """A rating for each segment, in order, and a warning about languages and blank texts."""

    ratings: Annotated[list[Any], _list_of("Rating")]
    warning: str | msgspec.UnsetType = msgspec.UNSET


class Problem(msgspec.Struct):
    """What is wrong, and what is allowed."""

    detail: str


class Health(msgspec.Struct):
    """The server works."""

    status: str
    model: str
    version: str


_PROBLEMS = {
    408: "The request took too long to arrive.",
    400: "The server listens on this machine only, and the request asks for a host of another name (plain text).",
    413: "The request is too large: its bytes, its segments or its characters.",
    422: "The request is not JSON, lacks a text, or lacks what the model needs.",
    500: "An internal error of the server; its log has the traceback.",
    503: "The answer took too long, or too many requests are waiting.",
}


def make_app(annotator: Annotator, limits: Limits, *, is_loopback: bool = True) -> Starlette:
    """Returns the application, which alone uses the annotator; `is_loopback`: whether only this machine reaches it."""
    batcher = Batcher(annotator.annotate_segments, enough=limits.segments)
    weights = annotator.weights
    facts = {"Model": annotator.name, "Reads": ", ".join(annotator.config.texts.inputs), "Weights": weights.name}
    page = html_page.render_live("matese: find translation errors", facts)
    reference = html_page.render_api_reference()
    description = describe()
    metrics = Metrics(batcher)

    async def annotate(request: Request) -> Response:
        wanted = _read(request.headers.get("content-type", ""), await request.body())
        if problem := limits.problem(wanted):
            raise HTTPException(413, problem)
        _check_inputs(annotator, wanted)
        try:
            async with asyncio.timeout(limits.seconds):
                ratings = await batcher.annotate(wanted)
        except TimeoutError:
            problem = f"no answer within {limits.seconds} s: ask again later, or for fewer segments at once"
            raise HTTPException(503, problem, RETRY_AFTER) from None
        sentences = trained_languages.sentences(filter(None, map(annotator.doubt, wanted)))
        if n_blank := sum(segment.without_blanks() is not segment for segment in wanted):
            blank = "segments have a blank source or reference: it is missing"
            sentences.append(agreeing(n_blank, len(wanted), blank))
        warning = "; ".join(sentences) or msgspec.UNSET
        metrics.segments.inc(len(wanted))
        return _json(AnnotateResponse([jsonl.to_json(rating, weights=weights) for rating in ratings], warning))

    async def show(request: Request) -> Response:
        return HTMLResponse(page if request.url.path == "/" else reference)

    async def health(request: Request) -> Response:
        return _json(Health("ok", annotator.name, __version__))

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
            Route("/metrics", metrics.show),
            Route("/openapi.json", openapi),
            Route("/annotate", annotate, methods=["POST"]),
        ],
        middleware=[
            Middleware(Measured, metrics=metrics),
            Middleware(Guard, limits=limits, is_loopback=is_loopback),
            Middleware(LimitedBody, limits=limits),
        ],
        exception_handlers={HTTPException: refuse, Exception: _fail},
        lifespan=working,
    )


def describe() -> dict[str, Any]:
    """Returns the OpenAPI description of the application, with the schemas of the types above and of our JSONL."""
    types = (AnnotateRequest, AnnotateResponse, Health, Problem, RequestSegment)
    _, schemas = msgspec.json.schema_components(types, ref_template=f"{_SCHEMAS}{{name}}")
    text = resources.files("matese.formats").joinpath("rating.schema.json").read_text(encoding="utf-8")
    rating = json.loads(text.replace("#/$defs/", _SCHEMAS))
    schemas |= {**rating.pop("$defs"), "Rating": rating}

    def content(kind: type) -> dict[str, Any]:
        return {"application/json": {"schema": {"$ref": f"{_SCHEMAS}{kind.__name__}"}}}

    table = {
        "type": "string",
        "description": "A table with a header, whose columns are recognised by their names.",
        "example": "source,hypothesis\nThe dog sleeps.,Die Katze schläft.\n",
    }
    problems = {str(code): {"description": reason, "content": content(Problem)} for code, reason in _PROBLEMS.items()}
    ratings = {"description": "A rating for each segment, in order.", "content": content(AnnotateResponse)}
    annotate = {
        "summary": "Marks the errors of translations. A rating is what `matese tag --format jsonl` writes in a line.",
        "requestBody": {"required": True, "content": {**content(AnnotateRequest), "text/csv": {"schema": table}}},
        "responses": {"200": ratings, **problems},
    }
    health = {
        "summary": "Answers as soon as the model is loaded.",
        "responses": {"200": {"description": "The server works.", "content": content(Health)}},
    }
    text_format = {"text/plain": {"schema": {"type": "string"}}}
    metrics = {
        "summary": "Counts and times of requests, in the text format of Prometheus.",
        "responses": {"200": {"description": "The metrics.", "content": text_format}},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "matese", "version": __version__},
        "paths": {"/annotate": {"post": annotate}, "/health": {"get": health}, "/metrics": {"get": metrics}},
        "components": {"schemas": schemas},
    }


def _json(value: msgspec.Struct) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")


def _read(content_type: str, body: bytes) -> list[Segment]:
    """Returns the segments of a request, which are rows of a table, whether JSON or CSV."""
    # No plain text: pages of other sites may send it without the preflight request of the browser.
    kind = content_type.partition(";")[0].strip().lower()
    try:
        if kind == "application/json":
            objects = plain_values.from_json(body, AnnotateRequest).segments
            _check_translations(objects)
            rows: Iterable[tuple[int, object]] = enumerate(objects)
            return _numbered(columns.ratings(rows, "segments", {}, naming=""), knows_all=True)
        if kind == "text/csv":
            text = io.StringIO(body.decode("utf-8-sig"), newline="")
            rows = csv_table.read_rows(text, "table.csv", ReadOptions(naming=_NAMING))
            return _numbered(columns.ratings(rows, "table.csv", {}, naming=_NAMING))
    except FormatError as error:
        place = f"segments[{error.line}]: {error.problem}" if kind == "application/json" else str(error)
        raise HTTPException(422, place) from None
    except UnicodeDecodeError:
        raise HTTPException(422, "the body is not UTF-8: must be text, and not compressed") from None
    except plain_values.InvalidValueError as error:
        raise HTTPException(422, f"{error}; /openapi.json describes requests") from None
    raise HTTPException(422, f"content type is {content_type or 'missing'!r}: must be application/json or text/csv")


def _check_translations(rows: Iterable[object]) -> None:
    """Refuses an object without a translation in the words of a request, which has keys and no columns."""
    for index, row in enumerate(rows):
        if isinstance(row, dict) and "hypothesis" not in map(headings.role_of, row):
            keys = ", ".join(map(str, row)) or "none"
            raise HTTPException(422, f"segments[{index}]: no key of translations among {keys}: must be hypothesis")


def _numbered(ratings: Iterable[Rating], *, knows_all: bool = False) -> list[Segment]:
    """Returns the segments, counted from 0; `knows_all` refuses columns that are not recognised."""
    numbered = []
    for index, segment in enumerate(rating.segment for rating in ratings):
        for name in segment.extra or () if knows_all else ():
            role = headings.role_of(name)
            if role is None:
                problem = unknown("key", name, RequestSegment.__struct_fields__)
                raise HTTPException(422, f"segments[{index}]: {problem}")
            if role in RequestSegment.__struct_fields__:
                raise HTTPException(422, f"segments[{index}]: {name} is another {role}: must be given once")
        key = replace(segment.key or SegmentKey(), index=index)
        if knows_all:  # objects of JSON, which have no line
            segment = replace(segment, extra=None, line=None, name=f"line {index + 1}")
        numbered.append(replace(segment, key=key))
    if not numbered and not knows_all:
        raise HTTPException(422, "the table has no row: must have a header and a row for each translation")
    return numbered


def _swagger() -> Path:
    """Returns the directory of Swagger's page, which is served from here: no network is needed."""
    package = find_spec("swagger_ui")
    assert package is not None
    return Path(str(package.origin)).parent / "static"


def _check_inputs(annotator: Annotator, wanted: list[Segment]) -> None:
    """Refuses a segment that lacks what the model needs, before it fails a batch that others wait for."""
    for index, segment in enumerate(wanted):
        try:
            annotator.choose_inputs(replace(segment, line=None, name=None, key=None))  # the index names it
        except InputError as error:
            raise HTTPException(422, f"segments[{index}]: {error}") from None


async def _fail(request: Request, error: Exception) -> Response:
    return JSONResponse({"detail": _PROBLEMS[500]}, 500)
