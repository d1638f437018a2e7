"""What ratings hold, and what is known about a model."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, TextIO

from matese.annotation import Rating
from matese.render.labels import show
from matese.tasks import files, rated, sinks, texts
from matese.tasks.convert import read_formats
from matese.tasks.request import function
from matese.validation.options import option

if TYPE_CHECKING:
    from matese.tasks.texts import RatingsOrFile


@dataclass(frozen=True)
class Request(texts.FileReading):
    """Describe a file or a model.

    Attributes:
        input: ratings (- is standard input), or the name, directory or hub id of a model.
        from_: format of the input (default: detected).
    """

    input: RatingsOrFile | None = option(None, take=rated.ratings_given, metavar="FILE|MODEL")
    _: KW_ONLY
    from_: str | None = option(None, names=read_formats, metavar="FORMAT")


def run(request: Request, stream: TextIO | None = None) -> str:
    """Returns what is in a file of ratings, or the facts about a model; without either, the embedded models.

    The text is written to `stream`, if there is one.

    Raises:
        InputError: if the file cannot be read, or there is no such model.
    """
    text = _text(request)
    if stream is not None:
        with sinks.opened(None, stream) as output:
            output.write(text)
    return text


info = function(Request, run)


def _text(request: Request) -> str:
    from matese.formats import detection
    from matese.formats.registry import BY_NAME

    path = request.input
    if path is None:
        return _models()
    if not isinstance(path, str):
        return _summary("ratings", files.listed(path, "input"))
    if request.from_ is None and not _is_ratings(path):
        return _card(path)
    with texts.counting_issues(texts.read_options(request)) as options:
        name = request.from_ or detection.detect(path)
        ratings = detection.read(path, options, name=request.from_)
        return _summary(f"{name} ({BY_NAME[name].title})", ratings)


def _summary(form: str, ratings: Iterable[Rating]) -> str:
    from matese.render import file_summary

    rows = list(file_summary.rows(form, ratings))
    width = max(len(label) for label, _ in rows)
    return "".join(f"{label:<{width}}  {show(value)}\n" for label, value in rows)


def _is_ratings(path: str) -> bool:
    """Whether a path is to be read as ratings: also one that does not exist but looks like the name of a file."""
    if path == "-" or os.path.isfile(path):
        return True  # without models, whose import takes longer than reading many ratings
    from matese.model.storage import checkpoint

    if os.path.exists(path):
        return not os.path.isfile(os.path.join(path, checkpoint.CONFIG))
    return path not in checkpoint.embedded() and bool(os.path.splitext(path)[1])


def _models() -> str:
    from matese.model.storage import checkpoint, model_card

    models = [model_card.describe(name, checkpoint.resolve(name)) for name in checkpoint.embedded()]
    return "\n".join(map(model_card.text, models))


def _card(model: str) -> str:
    from matese.model.storage import checkpoint, model_card

    lines = model_card.card(checkpoint.resolve(model)).splitlines() or [f"{model} has no model card"]
    return "".join(f"{show(line)}\n" for line in lines)
