"""The application: `/annotate` for programs, described by `/openapi.json`, and a page for people.

FastAPI's own pages of the description load their scripts from elsewhere, and are left out: the server needs no network.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from importlib import resources
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

import matese
from matese.annotation import Segment, SegmentKey
from matese.formats import jsonl
from matese.render import html
from matese.serving.batching import Batcher
from matese.serving.limits import LimitedBody, Limits

if TYPE_CHECKING:
    from matese.annotator import Annotator


def _whole(text: str) -> str:
    text.encode()  # half of a character has no UTF-8, and no tokens; pydantic tells of the error
    return text


_Text = Annotated[str, AfterValidator(_whole)]


class Texts(BaseModel):
    """A segment to annotate."""

    model_config = ConfigDict(extra="forbid", strict=True)

    hypothesis: _Text = Field(description="The translation; may be empty.")
    source: _Text | None = Field(default=None, description="Its source; null where there is none.")
    references: list[_Text] = Field(default=[], description="References, any number of them.")


class Question(BaseModel):
    """The segments of a request."""

    model_config = ConfigDict(extra="forbid", strict=True)

    segments: list[Texts]


class Problem(BaseModel):
    """Why a request has no other answer."""

    detail: str = Field(description="What is wrong, and what is allowed.")


_PROBLEMS = {
    400: "The request is JSON beyond what can be read, such as lists in lists without end.",
    408: "The request took too long to come.",
    413: "The request is too large: its bytes, its segments or its characters.",
    422: "The request is not JSON, lacks a text, or lacks what the model needs.",
    500: "A fault of the server, whose log has the traceback.",
    503: "The answer took too long to make, or too many requests are waiting.",
}
_RATINGS = {
    "type": "object",
    "required": ["ratings"],
    "properties": {"ratings": {"type": "array", "items": {"$ref": "#/components/schemas/Rating"}}},
}


def make(annotator: Annotator, limits: Limits) -> FastAPI:
    """Returns the application of an annotator, which it alone uses from now on."""
    batcher = Batcher(annotator.annotate_segments, enough=limits.segments)

    @contextlib.asynccontextmanager
    async def working(app: FastAPI) -> AsyncIterator[None]:
        worker = asyncio.create_task(batcher.run())
        yield
        worker.cancel()

    app = FastAPI(title="matese", version=matese.__version__, docs_url=None, redoc_url=None, lifespan=working)
    app.add_middleware(LimitedBody, limits=limits)
    app.add_exception_handler(RequestValidationError, _refuse)
    app.add_exception_handler(Exception, _fail)
    facts = {"Model": annotator.name, "Reads": ", ".join(annotator.config.inputs), "Weights": annotator.weights.name}
    page = html.live("Errors of translations", facts, f"matese {matese.__version__}")

    @app.get("/", include_in_schema=False)
    async def show() -> HTMLResponse:
        return HTMLResponse(page)

    answers: dict[int | str, dict[str, Any]] = {
        200: {
            "description": "A rating for each segment, in order.",
            "content": {"application/json": {"schema": _RATINGS}},
        },
        **{code: {"description": told, "model": Problem} for code, told in _PROBLEMS.items()},
    }

    @app.post("/annotate", responses=answers)
    async def annotate(question: Question) -> JSONResponse:
        """Marks the errors of translations. A rating is what `matese tag --format jsonl` writes in a line."""
        segments = [
            Segment(one.hypothesis, one.source, tuple(one.references), SegmentKey(index=index))
            for index, one in enumerate(question.segments)
        ]
        limits.check(segments)
        _check_inputs(annotator, segments)
        try:
            async with asyncio.timeout(limits.seconds):
                ratings = await batcher.annotate(segments)
        except TimeoutError:
            told = f"no answer within {limits.seconds} s: must be asked again later, or for fewer segments at once"
            raise HTTPException(503, told) from None
        return JSONResponse({"ratings": [jsonl.to_json(rating, weights=annotator.weights) for rating in ratings]})

    _describe_rating(app.openapi())
    return app


def _check_inputs(annotator: Annotator, segments: list[Segment]) -> None:
    """Raises the HTTPException of a segment that lacks what the model needs: others, too, wait for the batch."""
    for index, segment in enumerate(segments):
        try:
            annotator.choose_inputs(segment)
        except ValueError as error:
            raise HTTPException(422, f"segments[{index}]: {error}") from None


def _describe_rating(described: dict[str, Any]) -> None:
    """Adds the JSON Schema of a Rating to a description in OpenAPI, which keeps the parts of schemas elsewhere."""
    text = resources.files("matese.formats").joinpath("rating.schema.json").read_text(encoding="utf-8")
    rating = json.loads(text.replace("#/$defs/", "#/components/schemas/"))
    described["components"]["schemas"] |= {**rating.pop("$defs"), "Rating": rating}


async def _refuse(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        problem = f"not JSON ({first['ctx']['error']} at character {first['loc'][1]})"
    else:
        place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"][1:])
        problem = f"{place.lstrip('.') or 'request'}: {first['msg']}"
    return JSONResponse({"detail": f"{problem}: must be as /openapi.json says, sent as application/json"}, 422)


async def _fail(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": _PROBLEMS[500]}, 500)
