"""A small model trained on the ratings of a large one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from matese import mqm
from matese.errors import check_installed
from matese.tasks import annotators, notices, texts, train
from matese.tasks.annotators import parse_settings
from matese.validation.options import File, Folder, Options, option

if TYPE_CHECKING:
    from matese.training.distillation import Teacher
    from matese.training.run import Result


@dataclass(frozen=True)
class Request(Options):
    """Train a small model to agree with a large one.

    Attributes:
        model: an embedded model, a model directory, a hub id (ORG/NAME), or a file of published scores of --data;
            several vote for spans, and their scores are averaged.
        student: YAML file of settings, as for matese train.
        data: translations to label: CSV, TSV, JSON, JSONL, Parquet, or any format that matese convert reads.
        dev: other translations, to validate on (default: every twentieth source of --data).
        output: directory of labels and model.
        set: replace any setting of the student, such as training.seed=2; repeatable.
        columns: columns of the table with unusual names, such as hypothesis=mtA,mtB reference=gold.
        device: of the teacher: auto, cpu, cuda, cuda:N or mps (default: auto).
    """

    model: Sequence[str] = option(metavar="TEACHER")
    _: KW_ONLY
    student: File
    data: File
    dev: File | None = None
    output: Folder
    set: Sequence[str] = option((), metavar="KEY=VALUE", is_repeated=True)
    columns: Sequence[str] = option((), metavar="NAME=COLUMN")
    device: str = option("auto", take=annotators.device, metavar="DEVICE")


def run(request: Request, stream: TextIO | None = None) -> Result | None:
    """Trains the student; returns its figures and its directory, None in other processes than the first.

    The same is written to `stream`, if there is one.

    Raises:
        matese.training.run.Interrupted: after Ctrl-C, when the state of the run is saved.
    """
    check_installed("matese distil", "pytorch_lightning", extra="train")
    from matese.model.annotator import load
    from matese.training import config, distillation, run_setup
    from matese.training.published_scores import PublishedScores

    overrides = [("output", json.dumps(request.output)), *parse_settings(request.set)]
    settings = config.load(request.student, overrides=overrides)
    reading = texts.FileReading(columns=request.columns)
    segments = texts.all_segments(request.data, reading)
    dev = [] if request.dev is None else texts.all_segments(request.dev, reading)
    annotators.tell_licences(model for model in request.model if not Path(model).is_file())
    with notices.quiet():
        teachers: list[Teacher] = [
            PublishedScores(model) if Path(model).is_file() else load(model, device=request.device, weights=mqm.MATESE)
            for model in request.model
        ]
    result = distillation.distil(teachers, settings, segments, dev, reporter=train.listening())
    if not run_setup.is_first_process():
        return None
    train.show(result, stream)
    return result
