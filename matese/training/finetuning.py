"""A finished model learns from further ratings, and is calibrated on those that were held out."""

from __future__ import annotations

from pathlib import Path

from matese import files
from matese.formats.tables import jsonl
from matese.training import calibration, run, run_setup
from matese.training.config import Config
from matese.training.reading import read_dev
from matese.training.reporting import SILENT, Reporter
from matese.training.run import Result

CALIBRATED = "calibrated"
HELD_OUT = "held_out.jsonl"
FEWEST = 300
"""Fewest ratings with spans that a model is calibrated on; with fewer, the calibration stays as it was."""


def finetune(config: Config, *, resume: bool = False, reporter: Reporter = SILENT) -> Result:
    """Trains a model further and calibrates it on the ratings that it was validated on, if they are enough.

    Args:
        config: the settings; `start` is the model.
        resume: whether to resume the run in the output directory.
        reporter: is told progress and counts.

    Raises:
        InputError: as `run.train`, or if the ratings cannot be calibrated on.
        OSError: if a file cannot be read or written.
        Interrupted: as `run.train`.
    """
    result = run.train(config, resume=resume, reporter=reporter)
    if not run_setup.is_first_process():
        return result
    output = Path(config.output)
    ratings = read_dev(config.data, report=lambda _: None)  # the run has told which rows are skipped
    with_spans = [rating for rating in ratings if rating.errors is not None]
    if config.model.heads.tags is None or len(with_spans) < FEWEST:
        reporter.tell(f"not calibrated: {len(with_spans):,} held-out ratings with spans, {FEWEST} are needed")
        return result
    files.write_lines(output / HELD_OUT, map(jsonl.dumps, with_spans))
    calibration.calibrate(
        result.directory,
        [output / HELD_OUT],
        output / CALIBRATED,
        progress=lambda _: None,
    )
    return Result(output / CALIBRATED, result.figures)
