"""A released model as a directory of ours."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from matese.errors import UsageError
from matese.tasks import annotators, models, notices
from matese.tasks.models import NewModel


@dataclass(frozen=True)
class Request(NewModel):
    """Write a COMET, MetricX or MaTESe model as a model directory."""


def run(request: Request, stream: TextIO | None = None) -> Path:
    """Converts a released model; returns the directory of the new one."""
    from matese.model.storage import checkpoint

    source, target = models.source_and_target(request)
    if checkpoint.is_ours(source):
        raise UsageError(f"{request.model} is a model of matese already: give a released model")
    with notices.undisturbed():
        from matese.model import loading
    with notices.quiet():
        loading.convert(source, target, name=request.model)
    annotators.tell_licences([request.model])
    if stream is not None:
        stream.write(f"model\t{target}\n")
    return target
