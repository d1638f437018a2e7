"""The directory of a run: what is in it, and how it is made and found again."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from collections.abc import Iterator
from pathlib import Path

from matese import files
from matese.errors import InputError
from matese.training import config as settings
from matese.training.config import Config

SETTINGS = "config.yaml"
STATE = "last.ckpt"
RESULT = "result.json"
MODEL = "model"
LOGS = "logs"
UNRATED = "unrated_scores.npy"
"""The model's own scores of the translations that nobody rated, in the order of the files."""


def load_settings(directory: Path) -> Config:
    """Returns the settings of the run in a directory.

    Raises:
        InputError: if there is no run, or if it is complete.
    """
    path = directory / SETTINGS
    if not path.is_file():
        raise InputError(f"{directory} has no {SETTINGS}; give the directory of a training run")
    if (directory / RESULT).is_file():
        raise InputError(f"{directory} is complete, with its model in {directory / MODEL}; there is nothing to resume")
    # The directory may have been moved.
    return dataclasses.replace(settings.load(path), output=str(directory))


def check_new(output: Path) -> None:
    """Raises an InputError if the directory of a new run is a file or not empty."""
    is_there = output.is_dir()
    if output.exists() and not is_there:
        raise InputError(f"{output} is a file; choose a new or empty directory")
    if is_there and not all(map(files.is_temporary, output.iterdir())):
        raise InputError(
            f"{output} is not empty; choose a new or empty directory (to resume the run in it: "
            f"matese train --resume {output})"
        )


@contextlib.contextmanager
def new_output(config: Config) -> Iterator[None]:
    """Creates the run's directory with its settings; removes everything again if the body fails.

    Raises:
        InputError: if the directory is a file or not empty.
    """
    output = Path(config.output)
    check_new(output)
    is_there = output.is_dir()
    output.mkdir(parents=True, exist_ok=True)
    try:
        with files.replacing(output / SETTINGS) as path:
            path.write_text(settings.dump(config), encoding="utf-8")
        yield
    except BaseException:
        for left in output.iterdir():
            if left.is_dir():
                shutil.rmtree(left)
            else:
                left.unlink()
        if not is_there:
            output.rmdir()
        raise
