"""A finished model learns from further ratings, and is calibrated on those that were held out."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from matese import files
from matese.formats.tables import jsonl
from matese.training import calibration, run, run_setup
from matese.training.config import Config
from matese.training.reading import read
from matese.training.run import Result

CALIBRATED = "calibrated"
HELD_OUT = "held_out.jsonl"
FEWEST = 300
"""Fewest ratings with spans that a model is calibrated on; with fewer, the calibration stays as it was."""


def finetune(config: Config, *, resume: bool = False, console: Console | None = None) -> Result:
    """Trains a model further and calibrates it on the ratings that it was validated on, if they are enough.

    Args:
        config: the settings; `start` is the model.
        resume: whether to resume the run in the output directory.
        console: shows progress and counts; None to show nothing.

    Raises:
        InputError: as `run.train`, or if the ratings cannot be calibrated on.
        OSError: if a file cannot be read or written.
        Interrupted: as `run.train`.
    """
    shown = console or Console(quiet=True)
    result = run.train(config, resume=resume, console=console)
    if not run_setup.is_first_process():
        return result
    data = config.data
    output = Path(config.output)
    ratings = read(data.dev_files, rater=data.rater, merge=data.merge, hashes=(data.least_dev_hash, 1))
    with_spans = [rating for rating in ratings if rating.errors is not None]
    if config.model.heads.tags is None or len(with_spans) < FEWEST:
        shown.print(
            f"not calibrated: {len(with_spans):,} held-out ratings with spans, {FEWEST} are needed", highlight=False
        )
        return result
    files.write_lines(output / HELD_OUT, map(jsonl.dumps, with_spans))
    calibration.calibrate(
        result.directory,
        [output / HELD_OUT],
        output / CALIBRATED,
        progress=lambda _: None,
    )
    return Result(output / CALIBRATED, result.figures)
